/* The calls that are open at a position in a compact file (see seek_opened.h). */
#include "utils/pipeline/sources/seek_opened.h"

#include <stdlib.h>

#include "utils/pipeline/recording/compact_file.h"

#define READ_AT_ONCE 64
/* The maximum number of blocks to read. Without this limit, some files would be read completely. */
#define BLOCKS_MOST  64

/*
 * A search for the calls that are open at a position. The search goes backwards, from the last
 * block before the position.
 *
 * @probe: reads the blocks
 * @found: the calls that are open at the position
 * @nr_left: the number of calls in @found whose functions are still unknown. These calls are the
 *           outermost calls in @found
 * @nr_read: number of blocks that were read
 */
struct search {
	struct src_user probe;
	struct opened *found;
	size_t nr_left;
	unsigned nr_read;
};

/* Returns the smallest depth of the program's calls in @events, or @least if @least is smaller. */
static size_t fewest_open(const struct event *events, ssize_t nr, size_t least)
{
	for (ssize_t i = 0; i < nr; i++) {
		if (events[i].type <= EVENT_EXIT && !event_is_kernel_call(&events[i]))
			least = MIN(least, (size_t)events[i].depth);
	}
	return least;
}

/*
 * Apply the calls of a block to @opened. *@least becomes the number of calls that are open all
 * through the block, or SIZE_MAX if the block has no calls. Returns false if the block is damaged,
 * if too many blocks were read, or if memory is short.
 */
static bool follow_block(struct search *search, const struct compact_place *place,
			 struct opened *opened, size_t *least)
{
	struct src_user *probe = &search->probe;
	struct event events[READ_AT_ONCE];

	*least = SIZE_MAX;
	if (++search->nr_read > BLOCKS_MOST)
		return false;
	src_user_limit(probe, place->raw, place->raw + place->raw_len, 0);
	while (!probe->at_end) {
		ssize_t nr = src_user_read(probe, events, READ_AT_ONCE, UINT64_MAX, NULL);

		if (nr < 0 || probe->has_lost_block || probe->is_damaged)
			return false;
		*least = fewest_open(events, nr, *least);
		for (ssize_t i = 0; i < nr; i++) {
			if (!opened_note(opened, &events[i]))
				return false;
		}
	}
	return true;
}

/*
 * Begin with the last block that has calls. *@nr becomes the number of blocks before this last
 * block.
 */
static bool begin_at_end(struct search *search, const struct compact_place *places, size_t *nr)
{
	size_t least = SIZE_MAX;

	while (least == SIZE_MAX && *nr > 0) {
		if (!places[--*nr].has_head ||
		    !follow_block(search, &places[*nr], search->found, &least))
			return false;
	}
	search->nr_left = MIN(least, search->found->nr);
	return true;
}

/*
 * The functions of the outermost calls in search->found are unknown; search->nr_left is the number
 * of these calls. Search a block for these functions. Returns false if follow_block() fails.
 */
static bool search_block(struct search *search, const struct compact_place *place)
{
	struct opened opened = { 0 };
	struct opened *found = search->found;
	size_t least;
	bool is_read = follow_block(search, place, &opened, &least);

	if (is_read && least < search->nr_left) {
		for (size_t i = least; i < search->nr_left; i++)
			found->addrs[i] = i < opened.nr ? opened.addrs[i] : 0;
		search->nr_left = least;
	}
	opened_deinit(&opened);
	return is_read;
}

static bool search_blocks(struct search *search, const struct compact_place *places, size_t nr)
{
	if (!begin_at_end(search, places, &nr))
		return false;
	while (search->nr_left && nr > 0) {
		struct compact_head head;

		if (!places[--nr].has_head ||
		    !compact_file_head(&places[nr], search->probe.fd, &head) ||
		    (head.first_ns && head.least < search->nr_left &&
		     !search_block(search, &places[nr])))
			return false;
	}
	return true;
}

/*
 * True when no call is open at the beginning of the task. If a call is open there, seek_opened()
 * fails: the function of this call is unknown until the call returns.
 */
static bool begins_outside(struct src_user *probe)
{
	struct event events[READ_AT_ONCE];

	src_user_limit(probe, 0, UINT64_MAX, 0);

	ssize_t nr = src_user_read(probe, events, READ_AT_ONCE, UINT64_MAX, NULL);

	for (ssize_t i = 0; i < nr; i++) {
		if (events[i].type <= EVENT_EXIT)
			return events[i].type == EVENT_ENTRY && events[i].depth == 0;
	}
	return false;
}

static size_t blocks_ahead(const struct compact_file *file, uint64_t offset)
{
	const struct compact_place *place = compact_file_place(file, offset);

	return place && place->raw == offset ? (size_t)(place - file->places) : 0;
}

bool seek_opened(const struct src_user *src, struct opened *opened)
{
	const struct src_user_plan plan = { .buffer_bytes = SRC_USER_MAX_BUFFER,
					    .keeps_open = true };
	size_t nr = src->compact ? blocks_ahead(src->compact, src_user_offset(src)) : 0;
	struct search search = { .found = opened };
	bool is_found;

	if (!nr || src_user_open(&search.probe, src->data, src->tid, &plan, NULL) < 0)
		return false;
	search.probe.reader = src->reader;
	search.probe.beside.may_be = false;
	is_found = begins_outside(&search.probe) &&
		   search_blocks(&search, src->compact->places, nr);
	src_user_close(&search.probe);
	if (!is_found)
		opened_deinit(opened);
	return is_found;
}
