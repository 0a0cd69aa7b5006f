/*
 * Stores a task's calls in blocks of a nameless file, for quick searches by time. Levels of sums
 * leave out calls too short to be seen (doc/internals/show.md, "Recordings in parts").
 */
#ifndef UTRAIL_CMDS_SHOW_CALL_STORE_H
#define UTRAIL_CMDS_SHOW_CALL_STORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * A call, or an event, which has no duration. Times are since the recording began.
 *
 * @self_ns: the part of the call's time that was not in nested calls
 * @text: the number of the text of its arguments, or of the event (text_store.h); 0: none
 * @node: a number in the task's contexts; of an event: its kind
 * @depth: of an event: its kind, which also tells events of a kind at one time apart
 *         (INDEX_KINDS_MAX)
 * @is_open: the call did not return: it ends at the last time known
 */
struct stored_call {
	uint64_t start_ns;
	uint64_t dur_ns;
	uint64_t self_ns;
	uint64_t text;
	uint32_t node; /* a number in the task's contexts */
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
 * @fd: -1: no file was needed so far
 * @max_bytes: a quarter of the room that there was when the file was made
 */
struct call_file {
	int fd;
	uint64_t bytes;
	uint64_t max_bytes;
};

#define CALL_FILE_CLOSED ((struct call_file){ .fd = -1 })

void call_file_close(struct call_file *file);

/*
 * Append bytes; the file is made first, if necessary. @offset gets their place. Returns 0 or a
 * negative errno: -ENOSPC when there is no more room.
 */
int call_file_append(struct call_file *file, const void *bytes, size_t nr, uint64_t *offset);

/* The number of calls in a block. */
#define STORE_BLOCK_CALLS 65536
/* The number of blocks, or of sums of a level, that a sum of the next level has. */
#define STORE_GROUP	  16
#define STORE_LEVELS	  8
#define STORE_NODE_BITS	  256

/*
 * A sum: the calls that began and ended between @from_ns and @to_ns.
 *
 * @cell_ns: of shorter calls that began at one depth in the same cell, only the longest stays
 * @offset, @bytes: a block's place in the file
 * @nodes: of a block: a bit for each node of its calls, modulo STORE_NODE_BITS
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
 * @last: calls that are in no block yet
 * @crossing: calls that began before the first end in their block; a block adds at most those that
 *         were open at once
 * @open: calls that have not ended
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

/*
 * Add a call. Calls are added in the order of their ends. Returns 0, -ENOMEM, or an error of
 * writing.
 */
int call_store_add(struct call_store *store, const struct stored_call *call);

/* True every few thousand calls: then the page is told of new calls. */
static inline bool call_store_is_fresh(const struct call_store *store)
{
	return store->last.nr % (STORE_BLOCK_CALLS / 16) < 512;
}

/*
 * Append the calls in a range, sorted by start time. Shorter calls than a pixel are thinned out:
 * for each depth and pixel, only the longest is appended. Returns 0, -ENOMEM, or an error of
 * reading.
 *
 * @pixel_ns: at least 1; is made larger for at most @most calls
 */
int call_store_find(const struct call_store *store, uint64_t from_ns, uint64_t to_ns,
		    uint64_t pixel_ns, size_t most, struct call_list *out);

/*
 * A search for the next call of some nodes after a place, or for the last one before it. Places are
 * ordered by start time, then by depth.
 *
 * @wanted: by node, not 0 for nodes whose calls are searched
 * @depth: the depth of the place; -1: before all calls that begin at @at_ns; INT_MAX: after them
 */
struct store_search {
	const uint8_t *wanted;
	size_t nr_wanted;
	uint64_t at_ns;
	int depth;
	bool is_backwards;
};

/* Search a call. Returns 1 with @found, 0 when there is none, or a negative errno of reading. */
int call_store_search(const struct call_store *store, const struct store_search *search,
		      struct stored_call *found);

#endif
