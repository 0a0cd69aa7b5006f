/* The events of the etrace text, with their keys and texts (doc/formats/etrace.md). */
#ifndef UTRAIL_BUILDDB_ETRACE_GRAMMAR_H
#define UTRAIL_BUILDDB_ETRACE_GRAMMAR_H

#include <stddef.h>
#include <stdint.h>

#include "utils/format/text.h"

#define ETRACE_KEYS  5
#define ETRACE_TEXTS 3

enum etrace_kind {
	ETRACE_NOTHING,
	ETRACE_EXEC,
	ETRACE_CLONE,
	ETRACE_CLONE_FAILED,
	ETRACE_FORK,
	ETRACE_EXIT,
	ETRACE_OPEN,
	ETRACE_CLOSE,
	ETRACE_DUP,
	ETRACE_PIPE,
	ETRACE_RENAME_FROM,
	ETRACE_RENAME_TO,
	ETRACE_RENAME_FAILED,
	ETRACE_LINK_FROM,
	ETRACE_LINK_TO,
	ETRACE_LINK_FAILED,
	ETRACE_SYMLINK,
	ETRACE_SYMLINK_FAILED,
	ETRACE_MOUNT,
	ETRACE_MOUNT_FAILED,
	ETRACE_UMOUNT,
	ETRACE_UMOUNT_FAILED,
	ETRACE_COMM,
};

/*
 * One event.
 *
 * @texts: tags of its texts, in the order of struct proc_act or proc_exec
 * @keys: the keys of the texts' sizes, then all other keys
 * @optional: bits of the keys that may be missing
 */
struct etrace_row {
	const char *tag;
	enum etrace_kind kind;
	const char *keys[ETRACE_KEYS];
	const char *texts[ETRACE_TEXTS];
	uint8_t optional;
};

/* Returns the row of the event with the tag @tag, or NULL. */
const struct etrace_row *etrace_row_find(struct text tag);

/* Returns the index of the key @name in row->keys, or -1. */
int etrace_row_key(const struct etrace_row *row, struct text name);

/* Returns the index of the tag @tag in row->texts, or -1. */
int etrace_row_text(const struct etrace_row *row, struct text tag);

#endif
