/* Finds dependencies of the files that a build has made (see build_deps.h). */
#include "cmds/build/build_deps.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "utils/base/cleanup.h"
#include "utils/base/fd.h"
#include "utils/base/path.h"
#include "utils/builddb/deps.h"
#include "utils/builddb/deps_ignored.h"
#include "utils/builddb/make_rules.h"

/* The largest size of a file of make rules. Large projects have rules of some megabytes. */
#define RULES_MAX (256U << 20)

/*
 * Resolves the links of a path. When the file is missing, only the links of its directory are
 * resolved.
 */
static void find_real(const char *dir, const char *given, struct strbuf *out)
{
	struct strbuf path cleanup_strbuf = { 0 };
	char *real cleanup_free = NULL;
	char *place cleanup_free = NULL;

	strbuf_reset(out);
	if (given[0] != '/')
		strbuf_addf(&path, "%s/", dir);
	strbuf_addstr(&path, given);
	real = realpath(strbuf_str(&path), NULL);
	if (real) {
		strbuf_addstr(out, real);
		return;
	}

	const char *base = path_base(strbuf_str(&path));

	place = strndup(strbuf_str(&path), base - strbuf_str(&path));
	real = place ? realpath(place, NULL) : NULL;
	strbuf_addf(out, "%s/%s", real && strcmp(real, "/") != 0 ? real : "", base);
	if (!real) {
		strbuf_reset(out);
		strbuf_addstr(out, strbuf_str(&path));
	}
}

/*
 * Finds the file that a path names. A relative path is tried from the working directory first, and
 * then from the directory where the build began.
 */
static uint32_t find_file(const struct executions *executions, const struct files *files,
			  const char *given)
{
	const char *dirs[] = { ".", executions->nr ? executions->all[0].cwd : "." };
	struct strbuf path cleanup_strbuf = { 0 };
	uint32_t content = FILES_NONE;

	for (size_t i = 0; i < 2 && content == FILES_NONE; i++) {
		find_real(dirs[i], given, &path);
		if (!strbuf_oom(&path))
			content = files_find(files, strbuf_str(&path));
	}
	return content;
}

/*
 * Sets @err to "cannot tell what @what" for the error @ret. @what is a text such as "depends on
 * 'FILE'".
 */
static int explain(const struct files *files, int ret, const char *what, struct uft_err *err)
{
	struct strbuf text cleanup_strbuf = { 0 };

	if (ret != -EDQUOT)
		return err_set_errno(err, ret, "cannot tell what %s", what);
	strbuf_addf(&text, "cannot tell what %s: that", what);
	return files_tell_limit(files, strbuf_str(&text), err);
}

static int answer(const struct opts *opts, const struct executions *executions, struct files *files,
		  struct sink *sink, struct uft_err *err)
{
	const char *given = opts->needs ? opts->needs : opts->used_by;
	uint32_t content = find_file(executions, files, given);
	struct strbuf what cleanup_strbuf = { 0 };
	int ret;

	if (content == FILES_NONE)
		return err_set(err, -ENODATA,
			       "'%s' is not a file that the build has opened and that still exists",
			       given);
	ret = opts->needs ? deps_needs(executions, files, content, sink)
			  : deps_used_by(executions, files, content, sink);
	strbuf_addf(&what, "depends on '%s'", given);
	return ret < 0 ? explain(files, ret, strbuf_str(&what), err) : 0;
}

/* Does the work of --declared: prints dependencies that the make rules do not declare. */
static int tell_undeclared(const struct opts *opts, const struct executions *executions,
			   struct files *files, struct sink *sink, struct uft_err *err)
{
	struct make_rules declared cleanup_make_rules = { 0 };
	struct strbuf text cleanup_strbuf = { 0 };
	int ret = file_read_all(opts->declared, RULES_MAX, &text, err);

	if (ret < 0)
		return ret;
	ret = make_rules_parse(&declared, executions->nr ? executions->all[0].cwd : ".",
			       strbuf_str(&text));
	if (ret < 0)
		return err_set_errno(err, ret, "cannot read '%s'", opts->declared);
	sink_lit(sink, "\n# Read, and not declared:\n");
	ret = deps_undeclared(executions, files, &declared, sink);
	return ret < 0 ? explain(files, ret, "is not declared", err) : 0;
}

static int tell_all(const struct executions *executions, struct files *files, struct sink *sink)
{
	int ret;

	sink_lit(sink, "# What was made, and of what");
	if (executions->nr) {
		sink_lit(sink, "; in ");
		deps_put_path(executions, executions->all[0].cwd, sink);
	}
	sink_lit(sink, "\n");
	ret = deps_rules(executions, files, sink);
	if (ret < 0)
		return ret;
	sink_lit(sink, "\n# Made, and then read:\n");
	deps_read_again(executions, files, sink);
	sink_lit(sink, "\n# Run again with the same inputs:\n");
	return deps_run_again(executions, files, sink);
}

int build_deps(const struct opts *opts, const struct executions *executions, struct files *files,
	       struct sink *sink, struct uft_err *err)
{
	int ret;

	if (!files->has_events)
		return err_set(
			err, -ENODATA,
			"cannot tell what depends on what: '%s' has no records of files; record "
			"them with: utrail build --as=deps COMMAND",
			opts->data_dir);
	ret = deps_ignored_hide(files, executions, opts->ignored_files);
	if (ret < 0)
		return explain(files, ret, "depends on what", err);
	if (opts->needs || opts->used_by)
		return answer(opts, executions, files, sink, err);
	ret = tell_all(executions, files, sink);
	if (ret < 0)
		return explain(files, ret, "depends on what", err);
	return opts->declared ? tell_undeclared(opts, executions, files, sink, err) : 0;
}
