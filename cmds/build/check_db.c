/* Reads compile_commands.json (see check_db.h). */
#include "cmds/build/check_db.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <string.h>

#include "utils/base/fd.h"
#include "utils/base/utf8.h"
#include "utils/base/containers/vec.h"
#include "utils/format/text.h"

/*
 * The maximum number of levels of nested values. A file with more levels is refused. Real files of
 * this format have only a few levels.
 */
#define DEPTH_MAX 32

static bool take_json_char(struct text *t, char c)
{
	while (t->at < t->end && strchr(" \t\r\n", *t->at) && *t->at)
		t->at++;
	if (t->at == t->end || *t->at != c)
		return false;
	t->at++;
	return true;
}

/* Reads the four digits of "\uXXXX". */
static bool take_unit(struct text *t, uint32_t *unit)
{
	uint64_t value;

	if (text_left(t) < 4)
		return false;

	struct text digits = text_of(t->at, 4);

	if (!text_hex(&digits, &value) || text_left(&digits))
		return false;
	*unit = value;
	t->at += 4;
	return true;
}

static bool take_unicode(struct text *t, struct strbuf *out)
{
	uint32_t c;
	uint32_t low;
	char bytes[4];

	if (!take_unit(t, &c))
		return false;
	if (c >= 0xd800 && c < 0xe000) {
		if (c >= 0xdc00 || !text_word(t, "\\u") || !take_unit(t, &low) || low < 0xdc00 ||
		    low > 0xdfff)
			return false;
		c = 0x10000 + ((c - 0xd800) << 10) + (low - 0xdc00);
	}
	/* A NUL is refused: C code would take it for the end of the text. */
	if (!c)
		return false;
	strbuf_add(out, bytes, utf8_encode(bytes, c));
	return true;
}

static bool take_escape(struct text *t, struct strbuf *out)
{
	static const char letters[] = "\"\\/bfnrt";
	static const char values[] = "\"\\/\b\f\n\r\t";

	if (t->at == t->end)
		return false;

	char c = *t->at++;
	const char *letter = c ? strchr(letters, c) : NULL;

	if (c == 'u')
		return take_unicode(t, out);
	if (letter)
		strbuf_addch(out, values[letter - letters]);
	return letter != NULL;
}

static bool take_string(struct text *t, struct strbuf *out)
{
	strbuf_reset(out);
	if (!take_json_char(t, '"'))
		return false;
	while (t->at < t->end && *t->at != '"') {
		char c = *t->at++;

		if (c == '\\' ? !take_escape(t, out) : (unsigned char)c < ' ')
			return false;
		if (c != '\\')
			strbuf_addch(out, c);
	}
	return take_json_char(t, '"');
}

static bool take_strings(struct text *t, struct words *words)
{
	struct strbuf word cleanup_strbuf = { 0 };

	if (!take_json_char(t, '['))
		return false;
	if (take_json_char(t, ']'))
		return true;
	do {
		if (!take_string(t, &word) || words_push(words, strbuf_str(&word)) < 0)
			return false;
	} while (take_json_char(t, ','));
	return take_json_char(t, ']');
}

/* Skips a JSON value of any kind. */
static bool skip_value(struct text *t, int depth)
{
	struct strbuf text cleanup_strbuf = { 0 };
	bool is_object = take_json_char(t, '{');

	if (is_object || take_json_char(t, '[')) {
		char end = is_object ? '}' : ']';

		if (depth == DEPTH_MAX || take_json_char(t, end))
			return depth < DEPTH_MAX;
		do {
			if (is_object && (!take_string(t, &text) || !take_json_char(t, ':')))
				return false;
			if (!skip_value(t, depth + 1))
				return false;
		} while (take_json_char(t, ','));
		return take_json_char(t, end);
	}
	if (t->at < t->end && *t->at == '"')
		return take_string(t, &text);

	const char *start = t->at;

	while (t->at < t->end && *t->at && strchr("+-.0123456789Eaeflnrstu", *t->at))
		t->at++;
	return t->at > start;
}

static bool take_text(struct text *t, char **out)
{
	struct strbuf text cleanup_strbuf = { 0 };

	if (!take_string(t, &text))
		return false;
	free(*out);
	*out = strdup(strbuf_str(&text));
	return *out != NULL;
}

static bool take_member(struct text *t, const char *name, struct check_entry *entry, char **command)
{
	if (strcmp(name, "directory") == 0)
		return take_text(t, &entry->directory);
	if (strcmp(name, "file") == 0)
		return take_text(t, &entry->file);
	if (strcmp(name, "output") == 0)
		return take_text(t, &entry->output);
	if (strcmp(name, "command") == 0)
		return take_text(t, command);
	if (strcmp(name, "arguments") == 0)
		return !entry->argv.nr && take_strings(t, &entry->argv);
	return skip_value(t, 0);
}

static bool take_entry(struct text *t, struct check_entry *entry)
{
	struct strbuf name cleanup_strbuf = { 0 };
	char *command cleanup_free = NULL;

	if (!take_json_char(t, '{'))
		return false;
	do {
		if (!take_string(t, &name) || !take_json_char(t, ':') ||
		    !take_member(t, strbuf_str(&name), entry, &command))
			return false;
	} while (take_json_char(t, ','));
	if (!take_json_char(t, '}') || !entry->directory || !entry->file)
		return false;
	if (!entry->argv.nr && command && words_add(&entry->argv, command, NULL) < 0)
		return false;
	return entry->argv.nr > 0;
}

static void deinit_entry(struct check_entry *entry)
{
	free(entry->directory);
	free(entry->file);
	free(entry->output);
	words_deinit(&entry->argv);
}

int check_db_parse(const char *path, const char *data, size_t len, struct check_db *db,
		   struct uft_err *err)
{
	struct text t = text_of(data, len);
	bool is_right = take_json_char(&t, '[');
	bool is_empty = is_right && take_json_char(&t, ']');

	while (is_right && !is_empty) {
		struct check_entry *more = vec_grow(db->entries, db->nr, sizeof(*more));

		if (!more)
			return err_set_errno(err, -ENOMEM, "cannot read '%s'", path);
		db->entries = more;
		more[db->nr] = (struct check_entry){ 0 };
		is_right = take_entry(&t, &more[db->nr]);
		if (!is_right)
			deinit_entry(&more[db->nr]);
		else if (++db->nr && !take_json_char(&t, ','))
			break;
	}
	if (!is_right || (!is_empty && !take_json_char(&t, ']')))
		return err_set(err, -EINVAL, "'%s' is no compile_commands.json: see byte %zu", path,
			       (size_t)(t.at - data) + 1);
	return 0;
}

int check_db_load(const char *path, struct check_db *db, struct uft_err *err)
{
	struct strbuf text cleanup_strbuf = { 0 };
	int fd cleanup_fd = open(path, O_RDONLY | O_CLOEXEC);
	char buffer[16384];
	ssize_t len;

	if (fd < 0)
		return err_set_errno(err, -errno, "cannot open '%s'", path);
	while ((len = read(fd, buffer, sizeof(buffer))) > 0)
		strbuf_add(&text, buffer, len);
	if (len < 0)
		return err_set_errno(err, -errno, "cannot read '%s'", path);
	if (strbuf_oom(&text))
		return err_set_errno(err, -ENOMEM, "cannot read '%s'", path);
	return check_db_parse(path, strbuf_str(&text), text.len, db, err);
}

void check_db_deinit(struct check_db *db)
{
	for (size_t i = 0; i < db->nr; i++)
		deinit_entry(&db->entries[i]);
	free(db->entries);
	*db = (struct check_db){ 0 };
}
