/*
 * Stores texts in a file (see text_store.h). The two bytes before each text hold the text's length.
 */
#include "cmds/show/parts/text_store.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "utils/base/cleanup.h"
#include "utils/base/compiler.h"
#include "utils/base/escape.h"
#include "utils/base/fd.h"

/* When text_store.tail has this many bytes, the tail is written to the file. */
#define TAIL_BYTES   (1 << 16)
#define LENGTH_BYTES 2

void text_store_deinit(struct text_store *store)
{
	call_file_close(&store->file);
	strbuf_deinit(&store->tail);
	free(store->slots);
	*store = (struct text_store){ .file = CALL_FILE_CLOSED };
}

static int write_tail(struct text_store *store)
{
	uint64_t offset;
	int ret = call_file_append(&store->file, store->tail.data, store->tail.len, &offset);

	strbuf_reset(&store->tail);
	return ret;
}

static struct text_slot *find_slot(struct text_store *store, const char *text, size_t len)
{
	uint32_t hash = 2166136261U;

	if (len > TEXT_SLOT_BYTES)
		return NULL;
	if (!store->slots)
		store->slots = calloc(TEXT_SLOTS, sizeof(*store->slots));
	for (size_t i = 0; i < len; i++)
		hash = (hash ^ (uint8_t)text[i]) * 16777619U;
	return store->slots ? &store->slots[(hash ^ hash >> 16) % TEXT_SLOTS] : NULL;
}

int text_store_add(struct text_store *store, const char *text, uint64_t *number)
{
	size_t all = strlen(text), len = escape_cut(text, TEXT_BYTES_MAX);
	struct text_slot *slot = find_slot(store, text, len);
	const uint8_t length[LENGTH_BYTES] = { len & 255, len >> 8 };

	if (slot && slot->number && slot->len == len && memcmp(slot->text, text, len) == 0) {
		*number = slot->number;
		return 0;
	}
	*number = store->file.bytes + store->tail.len + 1;
	strbuf_add(&store->tail, length, sizeof(length));
	strbuf_add(&store->tail, text, len);
	if (strbuf_oom(&store->tail))
		return -ENOMEM;
	if (slot && len == all) {
		slot->number = *number;
		slot->len = len;
		memcpy(slot->text, text, len);
	}
	return store->tail.len >= TAIL_BYTES ? write_tail(store) : 0;
}

/*
 * Reads bytes at @offset, from the file or from the tail. Returns the number of bytes, 0 after the
 * last byte, or a negative errno.
 */
static ssize_t read_bytes(const struct text_store *store, uint64_t offset, void *to, size_t nr)
{
	if (offset < store->file.bytes)
		return fd_pread_full(store->file.fd, to, nr, offset);
	offset -= store->file.bytes;
	if (offset >= store->tail.len)
		return 0;
	nr = MIN(nr, store->tail.len - offset);
	memcpy(to, store->tail.data + offset, nr);
	return nr;
}

int text_store_get(const struct text_store *store, uint64_t number, struct strbuf *out)
{
	uint8_t length[LENGTH_BYTES];
	ssize_t got = number ? read_bytes(store, number - 1, length, sizeof(length)) : 0;

	if (got != sizeof(length))
		return got < 0 ? got : -ENOENT;

	size_t len = MIN((size_t)(length[0] | length[1] << 8), (size_t)TEXT_BYTES_MAX);
	char *text cleanup_free = malloc(len + 1);

	if (!text)
		return -ENOMEM;
	got = read_bytes(store, number - 1 + sizeof(length), text, len);
	if (got != (ssize_t)len)
		return got < 0 ? got : -ENOENT;
	text[len] = '\0';
	/* If @number is wrong, there may be a NUL in the bytes. The result ends at the NUL. */
	strbuf_addstr(out, text);
	return strbuf_oom(out) ? -ENOMEM : 0;
}
