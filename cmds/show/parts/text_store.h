/*
 * A store for the texts of calls and events. The store keeps the texts in a file without a name.
 * `utrail show` uses this store for a recording that is sent to the browser in parts. A short text
 * that was stored recently is not stored again.
 */
#ifndef UTRAIL_CMDS_SHOW_TEXT_STORE_H
#define UTRAIL_CMDS_SHOW_TEXT_STORE_H

#include "cmds/show/parts/call_store.h"
#include "utils/base/containers/strbuf.h"

/* The maximum length of a stored text, in bytes. A longer text is cut. */
#define TEXT_BYTES_MAX	60000
/*
 * The store remembers recent texts of at most TEXT_SLOT_BYTES bytes, to recognise a text that
 * occurs again. There are TEXT_SLOTS slots, each for one text.
 */
#define TEXT_SLOT_BYTES 48
#define TEXT_SLOTS	4096

struct text_slot {
	uint64_t number; /* 0 when the slot is free */
	uint8_t len;
	char text[TEXT_SLOT_BYTES];
};

/*
 * Starts as zeros except for @file, which starts as CALL_FILE_CLOSED. Ends with
 * text_store_deinit().
 *
 * @tail: bytes that are not in the file yet
 * @slots: recent texts by their hash, or NULL
 */
struct text_store {
	struct call_file file;
	struct strbuf tail;
	struct text_slot *slots;
};

void text_store_deinit(struct text_store *store);

/*
 * Store @text. @number receives the number of the text. Numbers begin at 1. Returns 0, -ENOMEM, or
 * a negative errno when writing fails.
 */
int text_store_add(struct text_store *store, const char *text, uint64_t *number);

/*
 * Append the text @number to @out. Returns 0, -ENOENT when there is no such text, or another
 * negative errno when reading fails. The function does not notice every wrong @number: in the worst
 * case it appends TEXT_BYTES_MAX bytes of other texts.
 */
int text_store_get(const struct text_store *store, uint64_t number, struct strbuf *out);

#endif
