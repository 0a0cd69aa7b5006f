/*
 * Stores a task's calls in blocks of a nameless file, for quick searches by time. For each block,
 * the store keeps a short list of the block's calls in memory. This list is called a sum. The sums
 * of the blocks are the lowest level. On each higher level, a sum is a short list of the calls in
 * several sums of the level below. A sum leaves out calls that are too short to be seen
 * (doc/internals/show.md, "Recordings in parts").
 */
#ifndef UTRAIL_CMDS_SHOW_CALL_STORE_H
#define UTRAIL_CMDS_SHOW_CALL_STORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * A call or an event. An event has no duration. Times are relative to the beginning of the
 * recording.
 *
 * @self_ns: the part of the call's time that was not spent in nested calls
 * @text: the number of a text in the text store (text_store.h), or 0 if there is no text. A call's
 *        text has the arguments and the result
 * @node: for a call, the number of its node in the tree of contexts (contexts.h); for an event, its
 *        kind
 * @depth: the depth of the call; for an event, see INDEX_KINDS_MAX
 * @is_open: the call did not return; its end is the last known time
 */
struct stored_call {
	uint64_t start_ns;
	uint64_t dur_ns;
	uint64_t self_ns;
	uint64_t text;
	uint32_t node;
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
 * A nameless file, shared by several stores.
 *
 * @fd: the descriptor, or -1 before the file is made
 * @max_bytes: the maximum size of the file: a quarter of the free space that the file system had
 *         when the file was made; UINT64_MAX: unknown
 */
struct call_file {
	int fd;
	uint64_t bytes;
	uint64_t max_bytes;
};

#define CALL_FILE_CLOSED ((struct call_file){ .fd = -1 })

void call_file_close(struct call_file *file);

/*
 * Append bytes. Makes the file first, if necessary. @offset gets the offset of the bytes. Returns
 * 0, -ENOSPC when the disk is full or the file would be longer than @max_bytes, or another negative
 * errno.
 */
int call_file_append(struct call_file *file, const void *bytes, size_t nr, uint64_t *offset);

/* The number of calls in a block. */
#define STORE_BLOCK_CALLS 65536
/* A sum covers STORE_GROUP sums of the level below. A sum of the lowest level covers one block. */
#define STORE_GROUP	  16
#define STORE_LEVELS	  8
#define STORE_NODE_BITS	  256

/*
 * A sum: a short list of the calls that began and ended between @from_ns and @to_ns. The time from
 * @from_ns to @to_ns is divided into cells of @cell_ns.
 *
 * @list: all calls of @cell_ns or longer. If shorter calls began in one cell at one depth, the list
 *        has the longest of these calls
 * @offset, @bytes: in the sum of a block, the block's place in the file
 * @nodes: in the sum of a block, a bit for each node of the block's calls. The index of the bit is
 *         the number of the node, modulo STORE_NODE_BITS
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
 * The caller sets @file. All other members start as zeros. call_store_deinit() frees the members.
 *
 * @last: the latest calls, which are not in a block
 * @crossing: the calls that began before the time range of their block. The range starts at the
 *         earliest end of a call in the block (store_sum.from_ns)
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

/*
 * True when the caller should call publish() of index.c. The result is true during the first 512 of
 * every 4096 added calls. So a caller that checks at least once per 512 added calls publishes at
 * least once per 4096 added calls.
 */
static inline bool call_store_is_fresh(const struct call_store *store)
{
	return store->last.nr % (STORE_BLOCK_CALLS / 16) < 512;
}

/*
 * Append the calls in a range, sorted by start time. Calls that are shorter than a pixel are
 * thinned out: for each pixel and depth, only the longest of these calls is appended. Returns 0,
 * -ENOMEM, or a negative errno when reading fails.
 *
 * @pixel_ns: at least 1. If more than @most calls would be appended, pixels are made longer, until
 *         there are at most @most calls or until a pixel is as long as the range
 */
int call_store_find(const struct call_store *store, uint64_t from_ns, uint64_t to_ns,
		    uint64_t pixel_ns, size_t most, struct call_list *out);

/*
 * A search for the next call after a position. If @is_backwards is set, a search for the last call
 * before the position. Calls are ordered by start time. Calls with the same start time are ordered
 * by depth. Only calls of chosen nodes are searched.
 *
 * @wanted: for each node, not 0 if calls of the node are searched
 * @depth: the depth of the position. -1: the position is before all calls that begin at @at_ns.
 *         INT_MAX: the position is after all these calls
 */
struct store_search {
	const uint8_t *wanted;
	size_t nr_wanted;
	uint64_t at_ns;
	int depth;
	bool is_backwards;
};

/*
 * Search for a call. Returns 1 with @found, 0 when there is none, or a negative errno when reading
 * fails.
 */
int call_store_search(const struct call_store *store, const struct store_search *search,
		      struct stored_call *found);

#endif
