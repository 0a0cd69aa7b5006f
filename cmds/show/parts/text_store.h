/*
 * Texts of calls and events of a recording in parts: what they say, in a file without a name. A
 * text that came shortly before is the same one.
 */
#ifndef UTRAIL_CMDS_SHOW_TEXT_STORE_H
#define UTRAIL_CMDS_SHOW_TEXT_STORE_H

#include "cmds/show/parts/call_store.h"
#include "utils/base/containers/strbuf.h"

/* Longer texts have their beginning only, in bytes. */
#define TEXT_BYTES_MAX	60000
/* A text of so many bytes may be found again, among as many as there are slots. */
#define TEXT_SLOT_BYTES 48
#define TEXT_SLOTS	4096

struct text_slot {
	uint64_t number; /* 0: the slot is free */
	uint8_t len;
	char text[TEXT_SLOT_BYTES];
};

/*
 * Starts as zeros with @file as CALL_FILE_CLOSED, ends with text_store_deinit().
 *
 * @tail: what is not in the file yet
 * @slots: by hash, or NULL
 */
struct text_store {
	struct call_file file;
	struct strbuf tail;
	struct text_slot *slots;
};

void text_store_deinit(struct text_store *store);

/* 0 with the text's number, from 1 on; -ENOMEM, or an error of writing. */
int text_store_add(struct text_store *store, const char *text, uint64_t *number);

/*
 * Append the text of a number to @out. 0; -ENOENT: there is none; or an error of reading. A number
 * that was never given may be answered by bytes of other texts, at most TEXT_BYTES_MAX.
 */
int text_store_get(const struct text_store *store, uint64_t number, struct strbuf *out);

#endif
