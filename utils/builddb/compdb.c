/* compile_commands.json (see compdb.h). */
#include "utils/builddb/compdb.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "utils/base/compiler.h"
#include "utils/base/escape.h"
#include "utils/base/containers/vec.h"
#include "utils/builddb/compiler/arguments.h"
#include "utils/builddb/compiler/command.h"
#include "utils/builddb/compiler/compile.h"

/* The costs of opening a file and of processing a word. The cost of reading a byte is 1. */
#define FILE_COST 1024U
#define WORD_COST 8U

/*
 * The state while a command's response files are read.
 *
 * @at: index of the command's execution
 * @nr_unread: number of words "@FILE" that remain because the file was not read
 * @why, @name: the error and the name of the first unread file
 */
struct reading {
	struct arguments_source source;
	struct compdb *db;
	const struct execution *execution;
	size_t at;
	size_t nr_unread;
	int why;
	struct strbuf name;
};

void compdb_deinit(struct compdb *db)
{
	for (size_t i = 0; i < db->nr; i++) {
		free(db->entries[i]);
		free(db->keys[i]);
	}
	free(db->entries);
	free(db->keys);
	free(db->unread);
	strmap_deinit(&db->by_key);
	*db = (struct compdb){ 0 };
}

/*
 * Write the JSON of an entry. Returns false when a text is not UTF-8, because JSON cannot represent
 * such a text exactly.
 */
static bool put_entry(struct strbuf *out, const char *directory, const char *file,
		      const char *output, const struct words *argv)
{
	bool is_exact = true;

	strbuf_addstr(out, "{\n  \"directory\": ");
	is_exact &= escape_quoted(out, directory);
	strbuf_addstr(out, ",\n  \"file\": ");
	is_exact &= escape_quoted(out, file);
	if (output) {
		strbuf_addstr(out, ",\n  \"output\": ");
		is_exact &= escape_quoted(out, output);
	}
	strbuf_addstr(out, ",\n  \"arguments\": [");
	for (size_t i = 0; i < argv->nr; i++) {
		strbuf_addstr(out, i ? ", " : "");
		is_exact &= escape_quoted(out, argv->words[i]);
	}
	strbuf_addstr(out, "]\n}");
	return is_exact;
}

/*
 * Write the key of an entry. Newlines separate the parts of the key. If a part contains a newline,
 * two different entries may have the same key. In that case the older entry is lost.
 */
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

/*
 * Add an entry under its key, in place of an older entry with this key. On success, the table takes
 * over the text of @entry and, if there was no older entry, the text of @key. All other texts stay
 * with the caller.
 */
static int add_db_entry(struct compdb *db, struct strbuf *entry, struct strbuf *key)
{
	size_t same = (uintptr_t)strmap_get(&db->by_key, key->data);

	if (same) {
		free(db->entries[same - 1]);
		db->entries[same - 1] = NULL;
		db->nr_left--;
	}

	int ret = make_room(db);

	/* If an older entry has the same key, the map keeps the older entry's copy of the key. */
	if (ret == 0)
		ret = strmap_put(&db->by_key, same ? db->keys[same - 1] : key->data,
				 (void *)(uintptr_t)(db->nr + 1));
	if (ret < 0)
		return ret;
	if (same) {
		/* The new entry takes over the older entry's copy of the key. */
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

/*
 * @bytes: if the entry is stored, becomes the size of the entry's JSON and key. Escapes make the
 *         JSON longer than the texts: most control characters become six bytes
 */
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
	return add_db_entry(db, &entry, &key);
}

int compdb_add(struct compdb *db, const char *directory, const char *file, const char *output,
	       const struct words *argv)
{
	uint64_t bytes;

	return add_entry(db, directory, file, output, argv, &bytes);
}

/*
 * If a key has no output, returns the length of the key's first two parts (directory and file).
 * Returns 0 for a key with an output.
 */
static size_t bare_key_len(const char *key)
{
	const char *file = strchr(key, '\n');
	const char *end = file ? strchr(file + 1, '\n') : NULL;

	return end && end[1] == '\n' ? (size_t)(end - key) : 0;
}

/*
 * Look at the entries with the index @from or higher. If such an entry has no output, put the
 * entry's directory and file into @bare. The strings in @bare belong to @keys.
 */
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

void compdb_write(const struct compdb *db, struct sink *sink)
{
	bool is_first = true;

	sink_lit(sink, "[");
	for (size_t i = 0; i < db->nr; i++) {
		if (!db->entries[i])
			continue;
		sink_either(sink, is_first, "\n", ",\n");
		sink_put_raw(sink, db->entries[i], strlen(db->entries[i]));
		is_first = false;
	}
	sink_lit(sink, "\n]\n");
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

/*
 * True when the source does not exist, or is not a regular file but, for example, a device such as
 * /dev/null. If @is_build_temporary is false, a source below /tmp also counts as gone.
 */
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

static int read_response(struct arguments_source *source, const char *name, size_t max,
			 struct strbuf *text)
{
	struct reading *reading = container_of(source, struct reading, source);
	struct compdb *db = reading->db;
	int why = 0;
	int ret = responses_get(db->responses, reading->at, name, max, text, &why);

	/*
	 * Read the file as it is now if the recorder has not tried to read the file, or if the
	 * process had ended before the recorder could read the file.
	 */
	if (ret == -ENOENT && (!why || why == -ESRCH))
		ret = arguments_read_file(reading->execution->cwd, name, max, text);
	if (ret < 0 && ret != -ENOMEM && !reading->why) {
		reading->why = why ? why : ret;
		strbuf_reset(&reading->name);
		strbuf_addstr(&reading->name, name);
	}
	return ret;
}

/*
 * Expand the command's response files. Returns 0 on success, or -ENOMEM. Returns 1 when the limit
 * of compdb.cost is exceeded: the command must get no entries.
 */
static int expand_responses(struct compdb *db, struct reading *reading, struct words *argv)
{
	struct arguments_read read;
	int ret;

	if (!may_cost(db, 0)) {
		db->nr_beyond++;
		return 1;
	}
	ret = arguments_expand_from(argv, &reading->source, &read);
	reading->nr_unread = read.nr_unread;
	db->cost += read.nr_bytes + read.nr_tried * FILE_COST;
	if (read.nr_tried)
		db->cost += cost_of_words(argv);
	return ret;
}

static void note_unread(struct compdb *db, struct reading *reading)
{
	if (!db->nr_unread && reading->why) {
		db->unread_why = reading->why;
		db->unread = strdup(strbuf_str(&reading->name));
	}
	db->nr_unread += reading->nr_unread;
}

/*
 * Add the entries of an execution. Returns 0 or a negative errno. Returns 1 when the caller must
 * ignore the later executions of the same process, and all executions of the child processes. For
 * example, a launcher such as ccache starts the compiler, or the compiler starts the compiler
 * proper (cc1). In both cases the source already has an entry.
 */
static int add_command(struct compdb *db, struct reading *reading)
{
	const struct execution *execution = reading->execution;
	struct words argv cleanup_words = { 0 };
	struct compile compile cleanup_compile = { 0 };
	enum compiler_kind kind = COMPILER_NONE;
	int ret = compiler_command(execution, &argv, &kind);

	if (ret < 0 || kind == COMPILER_NONE ||
	    (compiler_is_assembler(kind) && !db->has_assemblers))
		return ret;
	ret = expand_responses(db, reading, &argv);
	if (ret > 0)
		return 0;
	if (ret == 0)
		ret = compile_parse(&compile, kind, &argv);
	if (ret == 0)
		ret = add_sources(db, execution, &compile, &argv);
	if (ret < 0)
		return ret;
	/*
	 * An unreadable response file may have named the sources. If the rest of the command names
	 * no source, do not ignore the child processes: the compiler proper is a child process, and
	 * its arguments contain the words of the response files. This does not apply to a command
	 * that only preprocesses, because its child processes compile nothing.
	 */
	if (reading->nr_unread && !compile.nr_sources && compile.until != COMPILE_PREPROCESSED) {
		note_unread(db, reading);
		return 0;
	}
	return compiler_is_driver(kind);
}

static int add_execution(struct compdb *db, const struct executions *executions, size_t at)
{
	struct reading reading = {
		.source = { read_response },
		.db = db,
		.execution = &executions->all[at],
		.at = at,
	};
	int ret = add_command(db, &reading);

	strbuf_deinit(&reading.name);
	return ret;
}

int compdb_add_executions(struct compdb *db, const struct executions *executions)
{
	/*
	 * covered[i] is true if add_command() has returned 1 for execution i. Later executions of
	 * the same process are also covered, and so are the executions of all processes that a
	 * covered execution has forked.
	 */
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
		ret = add_execution(db, executions, i);
		covered[i] = ret > 0;
	}
	return MIN(ret, 0);
}
