/* compile_commands.json (see compdb.h). */
#include "utils/procs/compdb.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "utils/base/escape.h"
#include "utils/base/path.h"
#include "utils/base/vec.h"
#include "utils/procs/arguments.h"
#include "utils/procs/compile.h"
#include "utils/procs/json.h"

/* So many bytes are written at once. */
#define WRITTEN_BYTES (1U << 20)
/* Work counts as bytes, too: to open a response file, and to look at a word. */
#define FILE_COST     1024U
#define WORD_COST     8U

void compdb_deinit(struct compdb *db)
{
	for (size_t i = 0; i < db->nr; i++) {
		free(db->entries[i]);
		free(db->keys[i]);
	}
	free(db->entries);
	free(db->keys);
	strmap_deinit(&db->by_key);
	*db = (struct compdb){ 0 };
}

/* False when a word cannot be written as it is. */
static bool put_entry(struct strbuf *out, const char *directory, const char *file,
		      const char *output, const struct words *argv)
{
	bool is_exact = true;

	strbuf_addstr(out, "{\n  \"directory\": ");
	is_exact &= json_string(out, directory);
	strbuf_addstr(out, ",\n  \"file\": ");
	is_exact &= json_string(out, file);
	if (output) {
		strbuf_addstr(out, ",\n  \"output\": ");
		is_exact &= json_string(out, output);
	}
	strbuf_addstr(out, ",\n  \"arguments\": [");
	for (size_t i = 0; i < argv->nr; i++) {
		strbuf_addstr(out, i ? ", " : "");
		is_exact &= json_string(out, argv->words[i]);
	}
	strbuf_addstr(out, "]\n}");
	return is_exact;
}

/* A newline between the parts; one within them does no more harm than an entry too few. */
static void put_key(struct strbuf *out, const char *directory, const char *file, const char *output,
		    const struct words *argv)
{
	strbuf_addstr(out, directory);
	strbuf_addch(out, '\n');
	strbuf_addstr(out, file);
	strbuf_addch(out, '\n');
	if (output) {
		strbuf_addstr(out, output);
		return;
	}
	for (size_t i = 0; i < argv->nr; i++) {
		strbuf_addch(out, '\n');
		strbuf_addstr(out, argv->words[i]);
	}
}

static int make_room(struct compdb *db)
{
	char **entries = vec_grow(db->entries, db->nr, sizeof(*entries));

	if (!entries)
		return -ENOMEM;
	db->entries = entries;

	char **keys = vec_grow(db->keys, db->nr, sizeof(*keys));

	if (!keys)
		return -ENOMEM;
	db->keys = keys;
	return 0;
}

/* Takes the texts of both. */
static int add(struct compdb *db, struct strbuf *entry, struct strbuf *key)
{
	size_t same = (uintptr_t)strmap_get(&db->by_key, key->data);

	if (same) {
		free(db->entries[same - 1]);
		db->entries[same - 1] = NULL;
		db->nr_left--;
	}

	int ret = make_room(db);

	/* The table's key stays where it is: that of the first one. */
	if (ret == 0)
		ret = strmap_put(&db->by_key, same ? db->keys[same - 1] : key->data,
				 (void *)(uintptr_t)(db->nr + 1));
	if (ret < 0)
		return ret;
	if (same) {
		/* So that the next one finds the table's own text here. */
		db->keys[db->nr] = db->keys[same - 1];
		db->keys[same - 1] = NULL;
	} else {
		db->keys[db->nr] = take_ptr(key->data);
		*key = (struct strbuf){ 0 };
	}
	db->entries[db->nr++] = take_ptr(entry->data);
	*entry = (struct strbuf){ 0 };
	db->nr_left++;
	return 0;
}

/* @bytes: of what it keeps, which may be more than those of the words: a control character becomes six. */
static int add_entry(struct compdb *db, const char *directory, const char *file, const char *output,
		     const struct words *argv, uint64_t *bytes)
{
	struct strbuf entry cleanup_strbuf = { 0 };
	struct strbuf key cleanup_strbuf = { 0 };
	bool is_exact = put_entry(&entry, directory, file, output, argv);

	put_key(&key, directory, file, output, argv);
	if (strbuf_oom(&entry) || strbuf_oom(&key))
		return -ENOMEM;
	if (!is_exact) {
		db->nr_not_text++;
		return 0;
	}
	*bytes = entry.len + key.len;
	return add(db, &entry, &key);
}

int compdb_add(struct compdb *db, const char *directory, const char *file, const char *output,
	       const struct words *argv)
{
	uint64_t bytes;

	return add_entry(db, directory, file, output, argv, &bytes);
}

/* Of an entry without output: how much of its key is about directory and file. 0: it has one. */
static size_t bare_key_len(const char *key)
{
	const char *file = strchr(key, '\n');
	const char *end = file ? strchr(file + 1, '\n') : NULL;

	return end && end[1] == '\n' ? (size_t)(end - key) : 0;
}

/* Texts of @keys, which the map borrows. */
static int put_bare_keys(struct compdb *db, size_t from, struct words *keys, struct strmap *bare)
{
	int ret = 0;

	for (size_t i = from; i < db->nr && ret == 0; i++) {
		size_t len = db->entries[i] ? bare_key_len(db->keys[i]) : 0;

		if (!len)
			continue;
		ret = arguments_add(keys, db->keys[i], len);
		if (ret == 0)
			ret = strmap_put(bare, keys->words[keys->nr - 1], db);
	}
	return ret;
}

int compdb_drop_earlier(struct compdb *db, size_t nr_earlier)
{
	struct words keys cleanup_words = { 0 };
	struct strmap bare cleanup_strmap = { 0 };
	int ret = put_bare_keys(db, nr_earlier, &keys, &bare);

	for (size_t i = 0; i < nr_earlier && ret == 0; i++) {
		size_t len = db->entries[i] ? bare_key_len(db->keys[i]) : 0;
		struct strbuf key cleanup_strbuf = { 0 };

		if (!len)
			continue;
		strbuf_add(&key, db->keys[i], len);
		if (strbuf_oom(&key))
			return -ENOMEM;
		if (!strmap_get(&bare, strbuf_str(&key)))
			continue;
		free(db->entries[i]);
		db->entries[i] = NULL;
		db->nr_left--;
	}
	return ret;
}

int compdb_write(const struct compdb *db, int (*write)(void *self, const void *data, size_t len),
		 void *self)
{
	struct strbuf out cleanup_strbuf = { 0 };
	bool is_first = true;
	int ret = 0;

	strbuf_addch(&out, '[');
	for (size_t i = 0; i < db->nr && ret == 0; i++) {
		if (!db->entries[i])
			continue;
		strbuf_addstr(&out, is_first ? "\n" : ",\n");
		strbuf_addstr(&out, db->entries[i]);
		is_first = false;
		if (out.len < WRITTEN_BYTES || strbuf_oom(&out))
			continue;
		ret = write(self, out.data, out.len);
		strbuf_reset(&out);
	}
	strbuf_addstr(&out, "\n]\n");
	if (strbuf_oom(&out))
		return -ENOMEM;
	return ret < 0 ? ret : write(self, out.data, out.len);
}

/*
 * How many of the first words are in front of what the script was called with: the kernel puts the interpreter, what else stands in the script's first line, and
 * the script's name there.
 */
static size_t words_of_interpreter(const struct execution *execution, const struct words *argv)
{
	const char *script = path_base(execution->program);

	if (!*script || !*execution->interpreter ||
	    strcmp(execution->program, execution->interpreter) == 0)
		return 0;
	for (size_t i = 1; i < argv->nr && i <= 2; i++) {
		if (strcmp(path_base(argv->words[i]), script) == 0)
			return i;
	}
	/* By the name of a symbolic link. */
	return argv->nr > 1 ? 1 : 0;
}

/* What the program was called with. */
static int command_of(const struct execution *execution, struct words *argv)
{
	int ret = 0;

	for (const char *arg = NULL;
	     ret == 0 && (arg = execution_next_arg(execution, arg)) != NULL;)
		ret = arguments_add(argv, arg, strlen(arg));
	if (ret == 0 && argv->nr)
		arguments_drop(argv, words_of_interpreter(execution, argv));
	return ret;
}

/* ccache and the like in front of it go, and what they are told themselves (NAME=VALUE). */
static void drop_launchers(struct words *argv)
{
	while (argv->nr > 1 && compiler_is_launcher(argv->words[0])) {
		size_t next = 1;

		while (next + 1 < argv->nr && strchr(argv->words[next], '='))
			next++;
		if (!compiler_is_launcher(argv->words[next]) &&
		    !compiler_is_driver(compiler_kind(argv->words[next])))
			return;
		arguments_drop(argv, next);
	}
}

/* Its name is what it was called by, or that of its file. */
static enum compiler_kind kind_of(const struct execution *execution, const struct words *argv)
{
	if (argv->nr > 1 && compiler_name_words(argv->words[0], argv->words[1]) > 1)
		return COMPILER_DRIVER;

	enum compiler_kind kind = argv->nr ? compiler_kind(argv->words[0]) : COMPILER_NONE;

	return kind == COMPILER_NONE ? compiler_kind(execution->program) : kind;
}

static uint64_t cost_of_words(const struct words *argv)
{
	return argv->nr * WORD_COST;
}

static bool may_cost(struct compdb *db, uint64_t cost)
{
	db->cost += cost;
	return db->is_unlimited || db->cost <= COMPDB_COST_MAX;
}

static bool is_temporary(const char *path)
{
	return strncmp(path, "/tmp/", strlen("/tmp/")) == 0;
}

/* configure's are gone, and /dev/null is none that anybody edits. */
static bool is_gone(const struct execution *execution, const char *source, bool is_build_temporary)
{
	struct strbuf path cleanup_strbuf = { 0 };
	struct stat st;

	if (*source != '/')
		strbuf_addf(&path, "%s/", execution->cwd);
	strbuf_addstr(&path, source);
	if (strbuf_oom(&path))
		return false;
	return stat(strbuf_str(&path), &st) < 0 || !S_ISREG(st.st_mode) ||
	       (!is_build_temporary && is_temporary(strbuf_str(&path)));
}

static int add_sources(struct compdb *db, const struct execution *execution,
		       const struct compile *compile, const struct words *argv)
{
	int ret = 0;

	for (size_t i = 1; i < argv->nr && ret == 0 && compile->nr_sources; i++) {
		struct words alone cleanup_words = { 0 };
		struct strbuf output cleanup_strbuf = { 0 };
		const char *source = argv->words[i];
		uint64_t bytes = 0;

		if (compile->roles[i] != ROLE_SOURCE)
			continue;
		if (!may_cost(db, cost_of_words(argv))) {
			db->nr_beyond++;
			continue;
		}
		db->cost += db->leaves_out_gone ? FILE_COST : 0;
		if (db->leaves_out_gone && is_gone(execution, source, db->is_build_temporary)) {
			db->nr_gone++;
			continue;
		}

		bool has_output = compile_output(compile, source, &output);

		ret = compile_of_one(compile, argv, i, &alone);
		if (ret == 0)
			ret = add_entry(db, execution->cwd, source,
					has_output ? strbuf_str(&output) : NULL, &alone, &bytes);
		db->cost += bytes;
	}
	return ret;
}

/* Response files. 1 when the command is left out, since they are beyond the limit. */
static int expand(struct compdb *db, const struct execution *execution, struct words *argv,
		  size_t *nr_unread)
{
	struct arguments_read read;
	int ret;

	if (!may_cost(db, 0)) {
		db->nr_beyond++;
		return 1;
	}
	ret = arguments_expand(argv, execution->cwd, &read);
	*nr_unread = read.nr_unread;
	db->cost += read.nr_bytes + read.nr_tried * FILE_COST;
	if (read.nr_tried)
		db->cost += cost_of_words(argv);
	return ret;
}

/*
 * Entries of one execution. 1 when all that it executes is its own business: the compiler that a wrapper calls, the compiler proper. 0, or negative.
 */
static int add_execution(struct compdb *db, const struct execution *execution)
{
	struct words argv cleanup_words = { 0 };
	struct compile compile cleanup_compile = { 0 };
	size_t nr_unread = 0;
	int ret = command_of(execution, &argv);

	if (ret < 0)
		return ret;
	drop_launchers(&argv);

	enum compiler_kind kind = kind_of(execution, &argv);

	if (kind == COMPILER_NONE || !argv.nr)
		return 0;
	ret = expand(db, execution, &argv, &nr_unread);
	if (ret > 0)
		return 0;
	if (ret == 0)
		ret = compile_parse(&compile, kind, &argv);
	if (ret == 0)
		ret = add_sources(db, execution, &compile, &argv);
	if (ret < 0)
		return ret;
	/* Then the compiler proper knows what is not known here. */
	if (nr_unread && !compile.nr_sources && compile.until != COMPILE_PREPROCESSED) {
		db->nr_unread += nr_unread;
		return 0;
	}
	return compiler_is_driver(kind);
}

int compdb_add_executions(struct compdb *db, const struct executions *executions)
{
	/* By execution: it is within one that all is said of. */
	char *covered cleanup_free = calloc(executions->nr + 1, 1);
	int ret = 0;

	if (!covered)
		return -ENOMEM;
	db->is_build_temporary = executions->nr && is_temporary(executions->all[0].cwd);
	for (size_t i = 0; i < executions->nr && ret >= 0; i++) {
		const struct execution *execution = &executions->all[i];
		size_t before = execution->previous == EXECUTION_NONE ? execution->parent
								      : execution->previous;

		if (before != EXECUTION_NONE)
			covered[i] = covered[before];
		if (covered[i] || !execution->index)
			continue;
		ret = add_execution(db, execution);
		covered[i] = ret > 0;
	}
	return MIN(ret, 0);
}
