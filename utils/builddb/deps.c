/* Writes the dependencies of files on each other (see deps.h). */
#include "utils/builddb/deps.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "utils/base/cleanup.h"
#include "utils/base/escape.h"
#include "utils/builddb/deps_walk.h"

/*
 * The cost of sorting one path into the list, in steps (files_spend()). The cost assumes about
 * fifteen comparisons for each path.
 */
#define SORT_COST 200

/*
 * A file that was made. Two files have the same @key if the same executions have written both
 * files. The upper 32 bits of @key are the index of the file's first writer (next_writer()).
 */
struct made {
	uint64_t key;
	uint32_t content;
};

/*
 * The state while rules are written.
 *
 * @declared: NULL: write all dependencies, as rules. Otherwise: write, as comments, only the
 *         dependencies that are missing in @declared
 * @marks: true for files that the current rule does not show; indexed like files.contents
 */
struct rules {
	struct deps_walk walk;
	const struct make_rules *declared;
	uint8_t *marks;
	struct sink *sink;
};

static const char *relative(const struct executions *executions, const char *path)
{
	const char *dir = executions->nr ? executions->all[0].cwd : "";
	size_t len = strlen(dir);

	if (len > 1 && strncmp(path, dir, len) == 0 && path[len] == '/' && path[len + 1])
		return path + len + 1;
	return path;
}

void deps_put_path(const struct executions *executions, const char *path, struct sink *sink)
{
	sink_str(sink, relative(executions, path));
}

void deps_put_word(const struct executions *executions, const char *path, struct sink *sink)
{
	struct strbuf text cleanup_strbuf = { 0 };

	escape_addstr(&text, MEDIUM_TERMINAL, relative(executions, path));
	for (const char *at = strbuf_str(&text); *at; at++) {
		if (strchr(" #:%\\", *at))
			sink_lit(sink, "\\");
		if (*at == '$')
			sink_lit(sink, "$");
		sink_put_raw(sink, at, 1);
	}
}

static const char *path_of(const struct files *files, uint32_t content)
{
	return files->names[files->contents[content].name].path;
}

static int by_path(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/*
 * Lists the files that a walk has reached and for which files_is_shown() is true. Returns the
 * number of listed files, or a negative errno: -ENOMEM or -EDQUOT.
 *
 * @left_out: true for files that are not listed; indexed like files.contents
 * @paths: gets the sorted paths of the files. The caller frees the array, even after an error
 */
static ssize_t paths_reached(const struct deps_walk *walk, const uint8_t *left_out,
			     const char ***paths)
{
	size_t nr = 0;

	*paths = calloc(walk->nr_reached + 1, sizeof(**paths));
	if (!*paths)
		return -ENOMEM;
	for (size_t i = 0; i < walk->nr_reached; i++) {
		if (files_is_shown(walk->files, walk->reached[i]) && !left_out[walk->reached[i]])
			(*paths)[nr++] = path_of(walk->files, walk->reached[i]);
	}
	if (files_spend(walk->files, nr * SORT_COST) < 0)
		return -EDQUOT;
	qsort(*paths, nr, sizeof(**paths), by_path);
	return nr;
}

static bool is_written(const struct files *files, uint32_t content)
{
	for (uint32_t at = files->contents[content].first_use; at != FILES_NONE;
	     at = files->uses[at].next_of_content) {
		if (files->uses[at].write_ns != UINT64_MAX)
			return true;
	}
	return false;
}

static int put_walked(const struct executions *executions, struct files *files, uint32_t content,
		      bool is_forward, struct sink *sink)
{
	struct deps_walk walk cleanup_deps_walk = { 0 };
	const char **paths cleanup_free = NULL;
	uint8_t *left_out cleanup_free = calloc(files->nr_contents + 1, 1);
	int ret = left_out ? deps_walk_init(&walk, executions, files) : -ENOMEM;
	ssize_t nr;

	if (ret < 0)
		return ret;
	left_out[content] = true;
	walk.is_forward = is_forward;
	deps_walk_begin(&walk);
	ret = deps_walk_from_content(&walk, content);
	if (ret == 0)
		ret = deps_walk_go(&walk);
	nr = ret < 0 ? ret : paths_reached(&walk, left_out, &paths);
	for (ssize_t i = 0; i < nr; i++) {
		if (i && strcmp(paths[i], paths[i - 1]) == 0)
			continue;
		deps_put_path(executions, paths[i], sink);
		sink_lit(sink, "\n");
	}
	return nr < 0 ? nr : 0;
}

int deps_needs(const struct executions *executions, struct files *files, uint32_t content,
	       struct sink *sink)
{
	return put_walked(executions, files, content, false, sink);
}

int deps_used_by(const struct executions *executions, struct files *files, uint32_t content,
		 struct sink *sink)
{
	return put_walked(executions, files, content, true, sink);
}

/*
 * Searches the uses of a file, from the use @at to the end of the list. Returns the first use in
 * which an execution has written to the file, or FILES_NONE.
 */
static uint32_t next_writer(const struct files *files, uint32_t at)
{
	while (at != FILES_NONE && files->uses[at].write_ns == UINT64_MAX)
		at = files->uses[at].next_of_content;
	return at;
}

static uint64_t key_of(const struct files *files, uint32_t content)
{
	uint32_t at = next_writer(files, files->contents[content].first_use);
	uint64_t key = (uint64_t)files->uses[at].execution << 32;
	uint32_t hash = 0;

	while (at != FILES_NONE) {
		hash = hash * 2654435761U + files->uses[at].execution;
		at = next_writer(files, files->uses[at].next_of_content);
	}
	return key | hash;
}

static bool have_same_writers(const struct files *files, uint32_t one, uint32_t other)
{
	uint32_t a = next_writer(files, files->contents[one].first_use);
	uint32_t b = next_writer(files, files->contents[other].first_use);

	while (a != FILES_NONE && b != FILES_NONE &&
	       files->uses[a].execution == files->uses[b].execution) {
		a = next_writer(files, files->uses[a].next_of_content);
		b = next_writer(files, files->uses[b].next_of_content);
	}
	return a == FILES_NONE && b == FILES_NONE;
}

static int by_key(const void *a, const void *b)
{
	const struct made *one = a;
	const struct made *other = b;

	if (one->key != other->key)
		return one->key < other->key ? -1 : 1;
	return (one->content > other->content) - (one->content < other->content);
}

static int walk_from_writers(struct deps_walk *walk, uint32_t content)
{
	const struct files *files = walk->files;
	uint32_t at = next_writer(files, files->contents[content].first_use);
	int ret = 0;

	deps_walk_begin(walk);
	for (; at != FILES_NONE && ret == 0;
	     at = next_writer(files, files->uses[at].next_of_content))
		ret = deps_walk_from_execution(walk, files->uses[at].execution);
	return ret < 0 ? ret : deps_walk_go(walk);
}

static void put_targets(const struct deps_walk *walk, const struct made *made, size_t nr_made,
			struct sink *sink)
{
	for (size_t i = 0; i < nr_made; i++) {
		sink_either(sink, i, " ", "");
		deps_put_word(walk->executions, path_of(walk->files, made[i].content), sink);
	}
	sink_lit(sink, ":");
}

/* For each file that @declared lists as an input of @target, set the mark of the file to @is. */
static void mark_declared(const struct files *files, const struct make_rules *declared,
			  uint32_t target, uint8_t *marks, bool is)
{
	size_t at = declared ? make_rules_first(declared, path_of(files, target)) : MAKE_RULES_NONE;

	for (; at != MAKE_RULES_NONE; at = declared->inputs[at].next) {
		uint32_t content = files_find(files, declared->inputs[at].path);

		if (content != FILES_NONE)
			marks[content] = is;
	}
}

static void mark_made(const struct rules *rules, const struct made *made, size_t nr_made, bool is)
{
	for (size_t i = 0; i < nr_made; i++) {
		rules->marks[made[i].content] = is;
		mark_declared(rules->walk.files, rules->declared, made[i].content, rules->marks,
			      is);
	}
}

/*
 * Write one rule whose targets are the files in @made. All these files must have the same writers
 * (have_same_writers()). For example, if cp(1) copies a directory, all copied files share one rule.
 */
static int put_rule(struct rules *rules, const struct made *made, size_t nr_made)
{
	struct deps_walk *walk = &rules->walk;
	const char **paths cleanup_free = NULL;
	bool has_targets = !rules->declared;
	uint64_t begin = sink_bytes(rules->sink);
	int ret = 0;
	ssize_t nr;

	/*
	 * The walk for one file begins at the last write to it. The walk for several files begins
	 * at the executions that have written them.
	 */
	if (nr_made == 1) {
		deps_walk_begin(walk);
		ret = deps_walk_from_content(walk, made->content);
		ret = ret < 0 ? ret : deps_walk_go(walk);
	} else {
		ret = walk_from_writers(walk, made->content);
	}
	mark_made(rules, made, nr_made, true);
	nr = ret < 0 ? ret : paths_reached(walk, rules->marks, &paths);
	mark_made(rules, made, nr_made, false);
	if (has_targets)
		put_targets(walk, made, nr_made, rules->sink);
	for (ssize_t i = 0; i < nr; i++) {
		if ((i && strcmp(paths[i], paths[i - 1]) == 0) ||
		    (rules->declared && relative(walk->executions, paths[i]) == paths[i]))
			continue;
		if (!has_targets) {
			sink_lit(rules->sink, "#   ");
			put_targets(walk, made, nr_made, rules->sink);
		}
		has_targets = true;
		sink_lit(rules->sink, " ");
		deps_put_word(walk->executions, paths[i], rules->sink);
	}
	if (has_targets)
		sink_lit(rules->sink, "\n");
	if (nr < 0)
		return nr;
	return files_spend(walk->files, (sink_bytes(rules->sink) - begin) * FILES_HELD_COST);
}

static size_t find_made(const struct files *files, struct made *all)
{
	size_t nr = 0;

	for (uint32_t i = 0; i < files->nr_contents; i++) {
		if (files_is_shown(files, i) && is_written(files, i))
			all[nr++] = (struct made){ key_of(files, i), i };
	}
	qsort(all, nr, sizeof(*all), by_key);
	return nr;
}

static int put_rules(const struct executions *executions, struct files *files,
		     const struct make_rules *declared, struct sink *sink)
{
	struct rules rules = { .declared = declared, .sink = sink };
	struct made *all cleanup_free = calloc(files->nr_contents + 1, sizeof(*all));
	uint8_t *marks cleanup_free = calloc(files->nr_contents + 1, 1);
	int ret = all && marks ? deps_walk_init(&rules.walk, executions, files) : -ENOMEM;
	size_t nr = ret < 0 ? 0 : find_made(files, all);
	size_t end;

	rules.marks = marks;
	rules.walk.stops_at_files = true;
	for (size_t i = 0; i < nr && ret == 0; i = end) {
		for (end = i + 1; end < nr && all[end].key == all[i].key &&
				  have_same_writers(files, all[i].content, all[end].content);)
			end++;
		ret = put_rule(&rules, all + i, end - i);
	}
	deps_walk_deinit(&rules.walk);
	return ret;
}

int deps_rules(const struct executions *executions, struct files *files, struct sink *sink)
{
	return put_rules(executions, files, NULL, sink);
}

int deps_undeclared(const struct executions *executions, struct files *files,
		    const struct make_rules *declared, struct sink *sink)
{
	return put_rules(executions, files, declared, sink);
}

void deps_read_again(const struct executions *executions, const struct files *files,
		     struct sink *sink)
{
	for (uint32_t i = 0; i < files->nr_contents; i++) {
		uint32_t writer = next_writer(files, files->contents[i].first_use);
		uint32_t at = files->contents[i].first_use;

		if (!files_is_shown(files, i) || writer == FILES_NONE)
			continue;
		/* Find an execution that has read the file, and has not written to the file. */
		while (at != FILES_NONE && (files->uses[at].read_ns == UINT64_MAX ||
					    files->uses[at].write_ns != UINT64_MAX))
			at = files->uses[at].next_of_content;
		if (at == FILES_NONE)
			continue;
		sink_lit(sink, "#   ");
		deps_put_path(executions, path_of(files, i), sink);
		sink_lit(sink, "\n");
	}
}
