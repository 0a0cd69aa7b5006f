/* Events of logs (see kinds.h). */
#include "cmds/import/kinds.h"

#include <stdlib.h>
#include <string.h>

#include "utils/base/containers/vec.h"
#include "utils/format/event_data.h"
#include "utils/format/event_ids.h"
#include "utils/format/fstrace/definition.h"

/*
 * A line of events.txt or events.def has at most this number of bytes besides the event's name and
 * keys.
 */
#define LINE_BYTES_MAX 48

static void free_kind(struct import_kind *kind)
{
	for (size_t i = 0; i < kind->nr_keys; i++)
		free(kind->keys[i]);
	free(kind->keys);
	free(kind->name);
	free(kind);
}

void import_kinds_deinit(struct import_kinds *kinds)
{
	for (size_t i = 0; i < kinds->nr; i++)
		free_kind(kinds->all[i]);
	free(kinds->all);
	strmap_deinit(&kinds->by_name);
	strbuf_deinit(&kinds->name);
}

static bool take_room(struct import_kinds *kinds, size_t bytes)
{
	if (kinds->bytes + bytes > 2 * FST_DEFINITIONS_MAX)
		return false;
	kinds->bytes += bytes;
	return true;
}

/* --- keys --- */

static size_t key_len(const char *word, size_t len)
{
	size_t at = 0;

	while (at < len && fst_is_key_char(word[at]))
		at++;
	return at < len && word[at] == '=' ? at : 0;
}

static bool is_key(const struct import_kind *kind, size_t index, const char *key, size_t len)
{
	return index < kind->nr_keys && strncmp(kind->keys[index], key, len) == 0 &&
	       !kind->keys[index][len];
}

/* Returns the index of the key. If the key cannot be added, returns an index that no key has. */
static size_t add_key(struct import_kinds *kinds, struct import_kind *kind, const char *key,
		      size_t len)
{
	size_t at = 0;

	while (at < kind->nr_keys && !is_key(kind, at, key, len))
		at++;
	if (at < kind->nr_keys || at == EVENT_LINE_KEYS_MAX || !take_room(kinds, len + 1))
		return at;

	char **keys = vec_grow(kind->keys, at, sizeof(*keys));
	char *copy = strndup(key, len);

	if (keys)
		kind->keys = keys;
	if (keys && copy)
		keys[kind->nr_keys++] = copy;
	else
		free(copy);
	return at;
}

/*
 * Adds the keys of a line to @kind. Most lines have their keys in the order of @kind->keys, so each
 * key is first compared with the next element of @kind->keys.
 */
static void note_keys(struct import_kinds *kinds, struct import_kind *kind, const char *body,
		      size_t len)
{
	const char *end = body + len;
	size_t expected = 0;

	while (body < end) {
		size_t nr = key_len(body, end - body);

		if (nr && !is_key(kind, expected, body, nr))
			expected = add_key(kinds, kind, body, nr);
		expected += nr != 0;
		body = memchr(body + nr, ' ', end - body - nr);
		body = body ? body + 1 : end;
	}
}

/* --- events --- */

static struct import_kind *add_import_kind(struct import_kinds *kinds, bool *is_full)
{
	struct import_kind **all = vec_grow(kinds->all, kinds->nr, sizeof(struct import_kind *));
	struct import_kind *kind;

	if (!all)
		return NULL;
	kinds->all = all;
	/* The encoded name may have three bytes for each byte of the name. */
	*is_full = kinds->next_id >= EVENT_ID_COUNTER ||
		   !take_room(kinds, kinds->name.len * 3 + LINE_BYTES_MAX);
	if (*is_full)
		return NULL;
	kind = calloc(1, sizeof(*kind));
	if (!kind)
		return NULL;
	kind->name = strdup(strbuf_str(&kinds->name));
	if (!kind->name || strmap_put(&kinds->by_name, kind->name, kind) < 0) {
		free_kind(kind);
		return NULL;
	}
	kind->id = kinds->next_id++;
	return all[kinds->nr++] = kind;
}

static struct import_kind *find_import_kind(struct import_kinds *kinds, const char *name,
					    size_t len, bool *is_full)
{
	struct import_kind *kind = kinds->last;

	*is_full = false;
	if (kind && strncmp(kind->name, name, len) == 0 && !kind->name[len])
		return kind;
	strbuf_reset(&kinds->name);
	strbuf_add(&kinds->name, name, len);
	if (strbuf_oom(&kinds->name))
		return NULL;
	kind = strmap_get(&kinds->by_name, strbuf_str(&kinds->name));
	return kinds->last = kind ?: add_import_kind(kinds, is_full);
}

struct import_kind *import_kinds_get(struct import_kinds *kinds, const struct fst_line *line,
				     bool *is_full)
{
	struct import_kind *kind = find_import_kind(kinds, line->id, line->id_len, is_full);

	if (kind)
		note_keys(kinds, kind, line->body, line->body_len);
	return kind;
}

struct import_kind *import_kinds_name(struct import_kinds *kinds, const char *name,
				      const char *format, bool *is_full)
{
	struct import_kind *kind = find_import_kind(kinds, name, strlen(name), is_full);

	if (kind)
		kind->format = format;
	return kind;
}

void import_kinds_put_names(const struct import_kinds *kinds, struct strbuf *out)
{
	for (size_t i = 0; i < kinds->nr; i++) {
		struct strbuf name cleanup_strbuf = { 0 };

		fst_definition_name(&name, kinds->all[i]->name);
		strbuf_addf(out, "EVENT: %u %s\n", kinds->all[i]->id, strbuf_str(&name));
	}
}

void import_kinds_put_definitions(const struct import_kinds *kinds, struct strbuf *out)
{
	for (size_t i = 0; i < kinds->nr; i++) {
		const struct import_kind *kind = kinds->all[i];
		struct strbuf keys cleanup_strbuf = { 0 };

		for (size_t k = 0; k < kind->nr_keys; k++)
			strbuf_addf(&keys, "%s%s", k ? " " : "", kind->keys[k]);
		strbuf_addf(out, "DECLARED: %u %s", kind->id, kind->format ? "fstrace" : "line");
		fst_definition_word(out, kind->name);
		if (kind->format)
			fst_definition_word(out, NULL);
		fst_definition_word(out, kind->format ? kind->format : strbuf_str(&keys));
		strbuf_addch(out, '\n');
	}
}
