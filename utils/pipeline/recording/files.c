/* Names, contents and uses of files (see files.h). */
#include "utils/pipeline/recording/files.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "utils/base/compiler.h"
#include "utils/base/path.h"
#include "utils/base/containers/strbuf.h"
#include "utils/base/containers/vec.h"

#define DELETED " (deleted)"

/*
 * The maximum number of directories that are stored for one path. The limit keeps a damaged file
 * from taking much memory.
 */
#define DIRECTORIES_MAX 64

/*
 * Approximate sizes, in bytes. NAME_BYTES: a struct file_name without the path, plus an entry of
 * files.by_path. USE_BYTES: a struct file_use, plus an entry of files.by_place.
 */
#define NAME_BYTES 150
#define USE_BYTES  200
/* The approximate number of steps for finding a name. */
#define FIND_COST  200

bool files_is_beyond(const struct files *files)
{
	return files->cost_max && files->cost > files->cost_max;
}

int files_spend(struct files *files, uint64_t steps)
{
	if (!files->cost_max)
		return 0;
	files->cost += MIN(steps, files->cost_max);
	return files_is_beyond(files) ? -EDQUOT : 0;
}

int files_tell_limit(const struct files *files, const char *what, struct uft_err *err)
{
	return err_set(err, -EDQUOT,
		       "%s takes more than %" PRIu64
		       " steps, which is the limit for a file of this size; if you trust it, use "
		       "--no-limit",
		       what, files->cost_max);
}

static bool starts_with(const char *text, const char *start)
{
	return strncmp(text, start, strlen(start)) == 0;
}

static bool is_deleted(const char *path)
{
	size_t len = strlen(path);

	return len >= strlen(DELETED) && strcmp(path + len - strlen(DELETED), DELETED) == 0;
}

/*
 * Find the kind of a file by its path. A path GMfifo* is a FIFO of the jobserver of GNU make. The
 * bytes in this FIFO do not make one file depend on another, so the kind is CONTENT_OTHER.
 */
static enum content_kind kind_of(const char *path)
{
	static const char *const others[] = { "/dev/", "/proc/", "/sys/" };

	if (starts_with(path, "pipe:["))
		return CONTENT_PIPE;
	if (path[0] != '/' || starts_with(path_base(path), "GMfifo"))
		return CONTENT_OTHER;
	for (size_t i = 0; i < ARRAY_SIZE(others) && !starts_with(path, "/dev/shm/"); i++) {
		if (starts_with(path, others[i]))
			return CONTENT_OTHER;
	}
	return CONTENT_FILE;
}

static uint32_t find_name(const struct files *files, const char *path)
{
	size_t at = (uintptr_t)strmap_get(&files->by_path, path);

	return at ? at - 1 : FILES_NONE;
}

/* Add a name, but do not put the name into the tree of directories. */
static uint32_t add_name(struct files *files, const char *path)
{
	uint64_t bytes = NAME_BYTES + strlen(path);
	struct file_name *names;
	char *copy;

	if (files_spend(files, bytes * FILES_HELD_COST) < 0)
		return FILES_NONE;
	names = vec_grow(files->names, files->nr_names, sizeof(*names));
	copy = strdup(path);

	if (names)
		files->names = names;
	if (!names || !copy || files->nr_names >= FILES_NONE - 1 ||
	    strmap_put(&files->by_path, copy, (void *)(uintptr_t)(files->nr_names + 1)) < 0) {
		free(copy);
		return FILES_NONE;
	}
	names[files->nr_names] = (struct file_name){
		.path = copy,
		.content = FILES_NONE,
		.directory = FILES_NONE,
		.first_child = FILES_NONE,
		.next_child = FILES_NONE,
	};
	return files->nr_names++;
}

/*
 * Adds @path as a name, and then the directories above @path, from the innermost one outwards.
 * Stops at a path that is already a name.
 */
uint32_t files_name(struct files *files, const char *path)
{
	char *rest cleanup_free = strdup(path);
	uint32_t found = find_name(files, path);
	uint32_t child = FILES_NONE;
	uint32_t last = FILES_NONE;
	char *slash;

	for (size_t nr = 0; rest && found == FILES_NONE; nr++) {
		uint32_t name = add_name(files, rest);

		if (name == FILES_NONE)
			return FILES_NONE;
		if (last == FILES_NONE)
			last = name;
		if (child != FILES_NONE) {
			files->names[name].first_child = child;
			files->names[child].directory = name;
		}
		child = name;
		slash = rest[0] == '/' ? strrchr(rest, '/') : NULL;
		if (!slash || slash == rest || nr == DIRECTORIES_MAX)
			return last;
		*slash = '\0';
		found = find_name(files, rest);
	}
	if (!rest)
		return FILES_NONE;
	if (child != FILES_NONE) {
		files->names[child].directory = found;
		files->names[child].next_child = files->names[found].first_child;
		files->names[found].first_child = child;
	}
	return last == FILES_NONE ? found : last;
}

static void take_name_away(struct files *files, uint32_t name)
{
	uint32_t content = files->names[name].content;

	if (content != FILES_NONE)
		files->contents[content].nr_names--;
	files->names[name].content = FILES_NONE;
}

static void give_name(struct files *files, uint32_t name, uint32_t content)
{
	take_name_away(files, name);
	files->names[name].content = content;
	files->contents[content].name = name;
	files->contents[content].nr_names++;
}

uint32_t files_new_content(struct files *files, uint32_t name, enum content_kind kind)
{
	struct file_content *all = vec_grow(files->contents, files->nr_contents, sizeof(*all));

	if (!all || files->nr_contents >= FILES_NONE - 1)
		return FILES_NONE;
	files->contents = all;
	all[files->nr_contents] = (struct file_content){
		.name = name,
		.first_use = FILES_NONE,
		.last_use = FILES_NONE,
		.kind = kind,
	};
	if (name != FILES_NONE)
		give_name(files, name, files->nr_contents);
	return files->nr_contents++;
}

uint32_t files_content(struct files *files, uint32_t name)
{
	const char *path = files->names[name].path;
	uint32_t content = files->names[name].content;

	if (content != FILES_NONE)
		return content;
	content = files_new_content(files, name, kind_of(path));
	if (content == FILES_NONE)
		return FILES_NONE;
	files->contents[content].is_outside = !files->names[name].was_removed;
	return content;
}

static int reach_execution(struct files *files, size_t execution)
{
	size_t before = files->nr_of;
	struct files_of_execution *of = vec_reach(files->of, &files->nr_of, execution, sizeof(*of));

	if (!of)
		return -ENOMEM;
	files->of = of;
	for (size_t i = before; i < files->nr_of; i++)
		of[i] = (struct files_of_execution){ FILES_NONE, FILES_NONE };
	return 0;
}

static void link_use(struct files *files, uint32_t at)
{
	struct file_use *use = &files->uses[at];
	struct files_of_execution *of = &files->of[use->execution];
	struct file_content *content = &files->contents[use->content];

	if (of->last_use == FILES_NONE)
		of->first_use = at;
	else
		files->uses[of->last_use].next_of_execution = at;
	of->last_use = at;
	if (content->last_use == FILES_NONE)
		content->first_use = at;
	else
		files->uses[content->last_use].next_of_content = at;
	content->last_use = at;
}

uint32_t files_use(struct files *files, size_t execution, uint32_t name, uint32_t content,
		   uint64_t now_ns)
{
	/*
	 * A pipe may have no name yet. In this case the key contains the index of the content
	 * instead of the index of the name.
	 */
	uint64_t place = (uint64_t)execution << 32 | (name == FILES_NONE ? content : name);
	uint64_t key = name == FILES_NONE ? ~place : place;
	size_t found = (uintptr_t)intmap_get(&files->by_place, key);
	struct file_use *uses;

	if (found && files->uses[found - 1].content == content)
		return found - 1;
	if (files_spend(files, USE_BYTES * FILES_HELD_COST) < 0)
		return FILES_NONE;
	uses = vec_grow(files->uses, files->nr_uses, sizeof(*uses));
	if (!uses || files->nr_uses >= FILES_NONE - 1)
		return FILES_NONE;
	files->uses = uses;
	if (execution >= FILES_NONE || reach_execution(files, execution) < 0 ||
	    intmap_put(&files->by_place, key, (void *)(uintptr_t)(files->nr_uses + 1)) < 0)
		return FILES_NONE;
	uses[files->nr_uses] = (struct file_use){
		.open_ns = now_ns,
		.close_ns = now_ns,
		.read_ns = UINT64_MAX,
		.write_ns = UINT64_MAX,
		.execution = execution,
		.content = content,
		.name = name,
		.next_of_execution = FILES_NONE,
		.next_of_content = FILES_NONE,
	};
	link_use(files, files->nr_uses);
	return files->nr_uses++;
}

void file_use_note(struct file_use *use, bool reads, bool writes, uint64_t now_ns)
{
	if (reads)
		use->read_ns = MIN(use->read_ns, now_ns);
	if (writes)
		use->write_ns = MIN(use->write_ns, now_ns);
}

int files_link(struct files *files, uint32_t from, uint32_t to)
{
	uint32_t content = files_content(files, from);

	if (content == FILES_NONE)
		return -ENOMEM;
	if (from != to && files->names[to].content != content)
		give_name(files, to, content);
	return 0;
}

void files_unlink(struct files *files, uint32_t name)
{
	take_name_away(files, name);
	files->names[name].was_removed = true;
}

static void move_one(struct files *files, uint32_t from, uint32_t to)
{
	uint32_t content = files->names[from].content;

	if (content != FILES_NONE && files->names[to].content != content) {
		take_name_away(files, from);
		give_name(files, to, content);
	} else if (content == FILES_NONE) {
		files_unlink(files, to);
	}
	files->names[from].was_removed = true;
}

/*
 * Returns the name after @at in a walk through all names below @top, or FILES_NONE at the end of
 * the walk. The name of a directory comes before the names in it.
 */
static uint32_t next_below(const struct files *files, uint32_t top, uint32_t at)
{
	if (files->names[at].first_child != FILES_NONE)
		return files->names[at].first_child;
	while (at != top && files->names[at].next_child == FILES_NONE)
		at = files->names[at].directory;
	return at == top ? FILES_NONE : files->names[at].next_child;
}

/*
 * Rename all names below the directory @from, so that they are below the directory @to. List all
 * names before the first name moves, because each move changes the tree.
 */
static int move_below(struct files *files, uint32_t from, uint32_t to)
{
	uint32_t *below cleanup_free = NULL;
	size_t start = strlen(files->names[from].path);
	size_t nr = 0;

	for (uint32_t at = from; (at = next_below(files, from, at)) != FILES_NONE; nr++) {
		uint32_t *more = vec_grow(below, nr, sizeof(*below));

		if (!more || files_spend(files, FILES_HELD_COST) < 0) {
			below = more ? more : below;
			return -ENOMEM;
		}
		below = more;
		below[nr] = at;
	}
	for (size_t i = 0; i < nr; i++) {
		struct strbuf path cleanup_strbuf = { 0 };
		uint32_t name;

		if (files->names[below[i]].content == FILES_NONE)
			continue;
		strbuf_addstr(&path, files->names[to].path);
		strbuf_addstr(&path, files->names[below[i]].path + start);
		if (files_spend(files, FIND_COST + path.len) < 0)
			return -EDQUOT;
		name = strbuf_oom(&path) ? FILES_NONE : files_name(files, strbuf_str(&path));
		if (name == FILES_NONE)
			return -ENOMEM;
		move_one(files, below[i], name);
	}
	return 0;
}

int files_rename(struct files *files, uint32_t from, uint32_t to)
{
	const struct file_name *name = &files->names[from];

	if (from == to)
		return 0;
	/* If no children are known, @from may be a file, which needs a struct file_content. */
	if (name->first_child == FILES_NONE && files_content(files, from) == FILES_NONE)
		return -ENOMEM;
	if (name->content != FILES_NONE && files->names[to].content == name->content)
		return 0;
	move_one(files, from, to);
	return move_below(files, from, to);
}

int files_exchange(struct files *files, uint32_t one, uint32_t other)
{
	uint32_t first = files_content(files, one);
	uint32_t second = files_content(files, other);

	if (first == FILES_NONE || second == FILES_NONE)
		return -ENOMEM;
	if (first != second) {
		give_name(files, one, second);
		take_name_away(files, other);
		give_name(files, other, first);
	}
	return 0;
}

uint32_t files_first_use(const struct files *files, size_t execution)
{
	return execution < files->nr_of ? files->of[execution].first_use : FILES_NONE;
}

uint32_t files_find(const struct files *files, const char *path)
{
	uint32_t name = find_name(files, path);

	return name == FILES_NONE ? FILES_NONE : files->names[name].content;
}

bool files_is_left(const struct files *files, uint32_t content)
{
	const struct file_content *it = &files->contents[content];

	return it->kind == CONTENT_FILE && it->nr_names &&
	       files->names[it->name].first_child == FILES_NONE &&
	       !is_deleted(files->names[it->name].path);
}

bool files_is_shown(const struct files *files, uint32_t content)
{
	return files_is_left(files, content) &&
	       !files->names[files->contents[content].name].is_hidden;
}

void files_deinit(struct files *files)
{
	for (size_t i = 0; i < files->nr_names; i++)
		free(files->names[i].path);
	for (size_t i = 0; i < files->nr_uses; i++)
		free(files->uses[i].given);
	free(files->names);
	free(files->contents);
	free(files->uses);
	free(files->of);
	strmap_deinit(&files->by_path);
	intmap_deinit(&files->by_place);
	*files = (struct files){ 0 };
}
