/* --list-event (see list_events.h). */
#include "cmds/events/list_events.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "cmds/cmd.h"
#include "cmds/libraries.h"
#include "cmds/record/run/launch.h"
#include "cmds/record/sources/tracefs.h"
#include "trace/seam/reader.h"
#include "utils/base/cleanup.h"
#include "utils/format/text.h"
#include "utils/object/fstrace_decl.h"
#include "utils/object/sdt.h"

static bool is_wanted(const struct opts *opts, enum event_origin origin, const char *name)
{
	return !opts->events.nr || event_rules_match(&opts->events, origin, name);
}

static void list_kernel_events(const struct opts *opts)
{
	struct strbuf events cleanup_strbuf = { 0 };
	struct uft_err err = { 0 };
	struct text name;

	if (opts->events.nr && !event_rules_want(&opts->events, EVENT_OF_KERNEL))
		return;
	if (tracefs_list_events(&events, &err) < 0) {
		msg_warn(&opts->msg, "%s", err.text);
		return;
	}

	struct text left = text_of(events.data, events.len);

	while (tracefs_next_event(&left, &name)) {
		char *event cleanup_free = text_dup(&name);

		if (event && is_wanted(opts, EVENT_OF_KERNEL, event))
			msg_list("[kernel event] %s", event);
	}
}

/*
 * True when another probe with the name and arguments of probe @index is already listed. Such
 * probes share one line.
 */
static bool is_told(const struct sdt_probes *probes, size_t index)
{
	const struct sdt_probe *probe = &probes->probes[index];

	for (size_t i = 0; i < index; i++) {
		const struct sdt_probe *other = &probes->probes[i];

		if (strcmp(other->provider, probe->provider) == 0 &&
		    strcmp(other->name, probe->name) == 0 && strcmp(other->args, probe->args) == 0)
			return true;
	}
	return false;
}

/* @nr_found: grows by the number of probes, including those that are not listed */
static int list_probes(const struct opts *opts, const char *path, size_t *nr_found,
		       struct uft_err *err)
{
	struct sdt_probes probes cleanup_sdt_probes = { 0 };
	int ret = object_sdt_load(path, &probes, err);

	for (size_t i = 0; i < probes.nr; i++) {
		const struct sdt_probe *probe = &probes.probes[i];
		struct strbuf name cleanup_strbuf = { 0 };

		strbuf_addf(&name, "%s:%s", probe->provider, probe->name);
		if (is_wanted(opts, EVENT_OF_PROGRAM, strbuf_str(&name)) && !is_told(&probes, i))
			msg_list("[SDT event] %s %s", strbuf_str(&name), probe->args);
	}
	*nr_found += probes.nr;
	return ret;
}

static void list_declared(const struct opts *opts, const char *path,
			  const struct fstrace_decl *decl)
{
	struct strbuf name cleanup_strbuf = { 0 };

	strbuf_addf(&name, "trace:%s", decl->id);
	if (!is_wanted(opts, EVENT_OF_PROGRAM, strbuf_str(&name)))
		return;
	msg_list("[fstrace event] %s %s", strbuf_str(&name),
		 decl->format ?: "(only the program knows the format)");
	if (decl->format && fst_count_pieces(decl->format) < 0)
		msg_warn(&opts->msg, "'%s': the event %s is never on: its format is wrong", path,
			 decl->id);
}

static int list_declarations(const struct opts *opts, const char *path, size_t *nr_found,
			     struct uft_err *err)
{
	struct fstrace_decls decls cleanup_fstrace_decls = { 0 };
	int ret = object_fstrace_load(path, &decls, err);

	for (size_t i = 0; i < decls.nr; i++)
		list_declared(opts, path, &decls.decls[i]);
	if (decls.has_others)
		msg_line(&opts->msg,
			 "'%s' declares events while it runs, too (fstrace_declare()), and not in "
			 "its file: "
			 "record it, and 'utrail events list' shows them",
			 path);
	*nr_found += decls.nr + decls.has_others;
	return ret;
}

/*
 * Lists the declared events of libraries. The static probes of libraries are listed only on
 * request, because most of these probes have nothing to do with the program.
 */
static void list_libraries(const struct opts *opts, const char *path, size_t *nr_found)
{
	struct strbuf paths cleanup_strbuf = { 0 };

	/* If the libraries are unknown, only the events of the program itself are listed. */
	if (libraries_of(path, &paths) > 0)
		libraries_warn(path, &opts->msg);
	strbuf_list_each (&paths, library) {
		struct uft_err err = { 0 };
		int ret = list_declarations(opts, library, nr_found, &err);

		if (ret == 0 && event_rules_want(&opts->events, EVENT_OF_PROGRAM))
			ret = list_probes(opts, library, nr_found, &err);
		if (ret < 0)
			msg_warn(&opts->msg, "%s", err.text);
	}
}

int list_events(const struct opts *opts, struct uft_err *err)
{
	char path[PATH_MAX];
	size_t nr_found = 0;
	int ret = 0;

	list_kernel_events(opts);
	if (!opts->nr_args)
		return CMD_DONE;
	ret = launch_find_program(opts->args[0], path, err);
	if (ret == 0)
		ret = list_probes(opts, path, &nr_found, err);
	if (ret == 0)
		ret = list_declarations(opts, path, &nr_found, err);
	if (ret < 0)
		return ret;
	list_libraries(opts, path, &nr_found);
	if (!nr_found && !opts->events.nr)
		msg_line(&opts->msg,
			 "'%s' has no events of its own: neither static probes (SDT) nor declared "
			 "ones (fstrace)",
			 path);
	return CMD_DONE;
}
