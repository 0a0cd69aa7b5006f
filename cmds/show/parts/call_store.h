/*
 * All calls of a task, so that any range of time is found in little time: in blocks of a file
 * without a name, and summed up in levels above these, where calls that are too short to be seen
 * are one (doc/internals/show.md, "Recordings in parts").
 */
#ifndef UTRAIL_CMDS_SHOW_CALL_STORE_H
#define UTRAIL_CMDS_SHOW_CALL_STORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Times are since the recording began. Events are stored as calls that take no time: @node is the
 * number of their kind, @depth, too, and those of a kind at one time differ in it (index.h).
 *
 * @self_ns: what none of the calls in it took
 * @text: of its arguments or of the event, by text_store.h; 0: it has none
 * @is_open: it never returned, and was last seen then
 */
struct stored_call {
	uint64_t start_ns;
	uint64_t dur_ns;
	uint64_t self_ns;
	uint64_t text;
	uint32_t node; /* of the task's contexts */
	uint16_t depth;
	bool is_open;
};

struct call_list {
	struct stored_call *calls;
	size_t nr;
	size_t cap;
};

void call_list_deinit(struct call_list *list);

/*
 * A file without a name that several stores share.
 *
 * @fd: -1: none was needed so far
 * @max_bytes: a quarter of the room that there was
 */
struct call_file {
	int fd;
	uint64_t bytes;
	uint64_t max_bytes;
};

#define CALL_FILE_CLOSED ((struct call_file){ .fd = -1 })

void call_file_close(struct call_file *file);

/*
 * Append bytes; the file is made first, if need be. 0 with @offset, where they are; or a negative
 * errno: -ENOSPC when there is no room for more.
 */
int call_file_append(struct call_file *file, const void *bytes, size_t nr, uint64_t *offset);

/* So many calls make a block. */
#define STORE_BLOCK_CALLS 65536
/* So many blocks, or what is above as many of them, have one sum. */
#define STORE_GROUP	  16
#define STORE_LEVELS	  8
#define STORE_NODE_BITS	  256

/*
 * Calls that ended one after the other from @from_ns to @to_ns and began in that time, too: those
 * that are shorter than @cell_ns are the longest of their depth that began in the same cell.
 *
 * @offset: of a block: where it is in the file, with @bytes
 * @nodes: of a block: bits for the nodes of its calls, modulo STORE_NODE_BITS
 */
struct store_sum {
	uint64_t from_ns;
	uint64_t to_ns;
	uint64_t cell_ns;
	struct call_list list;
	uint64_t offset;
	uint32_t bytes;
	uint32_t nr;
	uint64_t nodes[STORE_NODE_BITS / 64];
};

struct store_level {
	struct store_sum *sums;
	size_t nr;
	size_t cap;
};

/*
 * Starts as zeros with @file, ends with call_store_deinit().
 *
 * @last: calls that are no block yet
 * @crossing: calls that began before the first end of their block: no more than are open at a time,
 *            for each block
 * @open: that have not ended, as far as that was told
 */
struct call_store {
	struct call_file *file;
	struct call_list last;
	struct call_list crossing;
	struct call_list open;
	struct store_level levels[STORE_LEVELS];
	uint64_t nr_calls;
};

void call_store_deinit(struct call_store *store);

/* Add a call that ended now or later than all before it. 0, -ENOMEM, or of writing. */
int call_store_add(struct call_store *store, const struct stored_call *call);

/* True now and then, every some thousand calls: so often those who look on are told. */
static inline bool call_store_is_fresh(const struct call_store *store)
{
	return store->last.nr % (STORE_BLOCK_CALLS / 16) < 512;
}

/*
 * Append the calls in a range, sorted by start time: all calls of at least a pixel, and the longest
 * shorter one for each depth and pixel. 0, -ENOMEM, or an error of reading.
 *
 * @pixel_ns: 1 or more; a larger pixel is used if there would be more than @most calls
 */
int call_store_find(const struct call_store *store, uint64_t from_ns, uint64_t to_ns,
		    uint64_t pixel_ns, size_t most, struct call_list *out);

/*
 * A call that is looked for: the next one of some nodes after a place in the order of (time when it
 * began, depth), or the one before it.
 *
 * @wanted: by node below @nr_wanted: not 0: it is one
 * @depth: at @at_ns; -1: ahead of all that begin then; INT_MAX: after them
 */
struct store_search {
	const uint8_t *wanted;
	size_t nr_wanted;
	uint64_t at_ns;
	int depth;
	bool is_backwards;
};

/* 1 with @found, 0 when there is none, or a negative errno of reading. */
int call_store_search(const struct call_store *store, const struct store_search *search,
		      struct stored_call *found);

#endif
