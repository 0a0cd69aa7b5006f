/* Stores all calls of a task (see call_store.h). */
#include "cmds/show/parts/call_store.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "utils/base/cleanup.h"
#include "utils/base/compiler.h"
#include "utils/base/containers/vec.h"
#include "utils/base/fd.h"

/*
 * A sum is a list of calls without most of the short calls. The sum's range of time is divided into
 * cells. The sum keeps one short call of each cell and depth. If the sum would have more than
 * SUM_CALLS_MAX calls, the range is divided into fewer and longer cells.
 */
#define SUM_CELLS      128
#define SUM_CALLS_MAX  8192
/*
 * The maximum number of bytes of a call in a block. A block stores six numbers for each call: the
 * end, the duration, the time in nested calls, the node, the depth and the text.
 */
#define CALL_BYTES_MAX (10 + 10 + 10 + 5 + 3 + 10)

void call_list_deinit(struct call_list *list)
{
	free(list->calls);
	*list = (struct call_list){ 0 };
}
#define cleanup_call_list cleanup(call_list_deinit)

static bool add_call(struct call_list *list, const struct stored_call *call)
{
	struct stored_call *calls = vec_room(list->calls, list->nr, &list->cap, sizeof(*calls));

	if (!calls)
		return false;
	list->calls = calls;
	calls[list->nr++] = *call;
	return true;
}

void call_file_close(struct call_file *file)
{
	if (file->fd >= 0)
		close(file->fd);
	*file = CALL_FILE_CLOSED;
}

/*
 * Makes the file in $TMPDIR. If TMPDIR is unset or empty, makes the file in /var/tmp, which usually
 * has much room. If open() fails, makes the file in memory.
 */
static int open_call_file(struct call_file *file)
{
	const char *dir = getenv("TMPDIR");

	file->fd = open(dir && *dir ? dir : "/var/tmp", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
	if (file->fd < 0)
		file->fd = memfd_create("calls", MFD_CLOEXEC);
	if (file->fd < 0)
		return -errno;

	struct statvfs room;

	/*
	 * The file may take at most a quarter of the free room. The rest is left for other
	 * programs.
	 */
	file->max_bytes = fstatvfs(file->fd, &room) == 0 && room.f_bavail
				  ? (uint64_t)room.f_bavail * room.f_frsize / 4
				  : UINT64_MAX;
	return 0;
}

int call_file_append(struct call_file *file, const void *bytes, size_t nr, uint64_t *offset)
{
	int ret = file->fd < 0 ? open_call_file(file) : 0;

	if (ret < 0)
		return ret;
	if (file->bytes + nr > file->max_bytes)
		return -ENOSPC;
	/* A write of fewer bytes sets no errno. It means that the disk is full. */
	ssize_t put = pwrite(file->fd, bytes, nr, file->bytes);

	if (put != (ssize_t)nr)
		return put < 0 ? -errno : -ENOSPC;
	*offset = file->bytes;
	file->bytes += nr;
	return 0;
}

/*
 * Leaves out calls that are too short to be seen. Time is divided into cells of @cell_ns. A call is
 * short if it is shorter than a cell.
 *
 * @kept: an element for each depth. If @is_there is true, @call is the longest of the short calls
 *        that began in the cell with the number @cell
 */
struct thinner {
	uint64_t cell_ns;
	struct kept {
		struct stored_call call;
		uint64_t cell;
		bool is_there;
	} * kept;
	size_t nr_kept;
	struct call_list *out;
	bool is_oom;
};

static void thinner_deinit(struct thinner *thinner)
{
	free(thinner->kept);
}
#define cleanup_thinner cleanup(thinner_deinit)

static void flush_kept(struct thinner *thinner, struct kept *kept)
{
	if (kept->is_there && !add_call(thinner->out, &kept->call))
		thinner->is_oom = true;
	kept->is_there = false;
}

/* Passes a call to the thinner. Calls of the same depth must come in the order of time. */
static void thin_call(struct thinner *thinner, const struct stored_call *call)
{
	struct kept *all = vec_reach(thinner->kept, &thinner->nr_kept, call->depth, sizeof(*all));

	if (!all) {
		thinner->is_oom = true;
		return;
	}
	thinner->kept = all;

	struct kept *kept = &all[call->depth];
	uint64_t cell = call->start_ns / thinner->cell_ns;

	if (call->dur_ns < thinner->cell_ns && kept->is_there && kept->cell == cell) {
		if (call->dur_ns > kept->call.dur_ns)
			kept->call = *call;
		return;
	}
	flush_kept(thinner, kept);
	if (call->dur_ns < thinner->cell_ns)
		*kept = (struct kept){ *call, cell, true };
	else if (!add_call(thinner->out, call))
		thinner->is_oom = true;
}

static int thin_end(struct thinner *thinner)
{
	for (size_t i = 0; i < thinner->nr_kept; i++)
		flush_kept(thinner, &thinner->kept[i]);
	return thinner->is_oom ? -ENOMEM : 0;
}

/*
 * Fills sum->list with the calls of @nr lists, without most short calls. In memory, the lists are
 * @stride bytes apart. If sum->list gets too long, the function starts again with longer cells.
 */
static int sum_up(struct store_sum *sum, const struct call_list *lists, size_t nr, size_t stride)
{
	sum->cell_ns = MAX((sum->to_ns - sum->from_ns) / SUM_CELLS, (uint64_t)1);
	for (;; sum->cell_ns *= 2) {
		struct thinner thinner cleanup_thinner = { sum->cell_ns, .out = &sum->list };

		for (size_t i = 0; i < nr; i++) {
			const struct call_list *list = (const void *)((const char *)lists +
								      i * stride);

			for (size_t k = 0; k < list->nr; k++)
				thin_call(&thinner, &list->calls[k]);
		}
		if (thin_end(&thinner) < 0)
			return -ENOMEM;
		/* In damaged data, times may be so far apart that doubling cell_ns overflows. */
		if (sum->list.nr <= SUM_CALLS_MAX || sum->cell_ns > sum->to_ns - sum->from_ns ||
		    sum->cell_ns > UINT64_MAX / 2)
			break;
		sum->list.nr = 0;
	}

	/*
	 * The list stays in memory until the store is freed. Therefore unused memory at the end of
	 * the list is freed now.
	 */
	void *calls = realloc(sum->list.calls, (sum->list.nr + 1) * sizeof(*sum->list.calls));

	if (calls)
		sum->list.calls = calls;
	sum->list.cap = calls ? sum->list.nr + 1 : sum->list.cap;
	return 0;
}

static struct store_sum *add_sum(struct store_level *level)
{
	struct store_sum *sums = vec_room(level->sums, level->nr, &level->cap, sizeof(*sums));

	if (!sums)
		return NULL;
	level->sums = sums;
	sums[level->nr] = (struct store_sum){ 0 };
	return &sums[level->nr++];
}

/*
 * Called after a sum was added to the lowest level. If the number of sums of the lowest level is a
 * multiple of STORE_GROUP, adds a sum to the next level. The new sum covers the last STORE_GROUP
 * sums of the lowest level. These sums stay in the lowest level. The next level is treated in the
 * same way, and so on. The function stops at the first level whose number of sums is no multiple of
 * STORE_GROUP.
 */
static int add_groups(struct call_store *store)
{
	for (size_t l = 0; l + 1 < STORE_LEVELS; l++) {
		const struct store_level *below = &store->levels[l];

		if (below->nr % STORE_GROUP)
			break;

		const struct store_sum *first = &below->sums[below->nr - STORE_GROUP];
		struct store_sum *sum = add_sum(&store->levels[l + 1]);

		if (!sum)
			return -ENOMEM;
		sum->from_ns = first->from_ns;
		sum->to_ns = below->sums[below->nr - 1].to_ns;
		if (sum_up(sum, &first->list, STORE_GROUP, sizeof(*first)) < 0)
			return -ENOMEM;
	}
	return 0;
}

static uint8_t *put_number(uint8_t *to, uint64_t number)
{
	for (; number >= 128; number >>= 7)
		*to++ = (uint8_t)number | 128;
	*to++ = number;
	return to;
}

static uint64_t get_number(const uint8_t **at, const uint8_t *end)
{
	uint64_t number = 0;

	for (unsigned shift = 0; *at < end && shift < 64; shift += 7) {
		uint8_t byte = *(*at)++;

		number |= (uint64_t)(byte & 127) << shift;
		if (byte < 128)
			break;
	}
	return number;
}

/*
 * Returns the difference between @text and @before, the text numbers of two successive calls of a
 * block. The zigzag code stores the sign of the difference in bit 0 of the result. A text gets its
 * number when the call ends, and a block has the calls in the order of their ends. So most
 * differences are small.
 */
static uint64_t text_step(uint64_t text, uint64_t before)
{
	int64_t step = (int64_t)(text - before);

	return ((uint64_t)step << 1) ^ (uint64_t)(step >> 63);
}

static uint64_t text_after(uint64_t step, uint64_t before)
{
	return before + ((step >> 1) ^ -(step & 1));
}

static int write_block(struct call_store *store, struct store_sum *sum)
{
	const struct call_list *list = &store->last;
	uint8_t *bytes cleanup_free = malloc(list->nr * CALL_BYTES_MAX);
	uint8_t *to = bytes;
	uint64_t end_ns = sum->from_ns, text = 0;

	if (!bytes)
		return -ENOMEM;
	for (size_t i = 0; i < list->nr; i++) {
		const struct stored_call *call = &list->calls[i];
		uint64_t ended_ns = call->start_ns + call->dur_ns;

		to = put_number(to, ended_ns - end_ns);
		to = put_number(to, call->dur_ns);
		to = put_number(to, call->dur_ns - call->self_ns);
		to = put_number(to, (uint64_t)call->node << 1 | call->is_open);
		to = put_number(to, call->depth);
		to = put_number(to, text_step(call->text, text));
		text = call->text;
		sum->nodes[call->node % STORE_NODE_BITS / 64] |= 1ULL << call->node % 64;
		end_ns = ended_ns;
	}
	sum->bytes = to - bytes;
	sum->nr = list->nr;
	return call_file_append(store->file, bytes, sum->bytes, &sum->offset);
}

static int read_block(const struct call_store *store, const struct store_sum *sum,
		      struct call_list *out)
{
	uint8_t *bytes cleanup_free = malloc(sum->bytes + 1);
	const uint8_t *at = bytes;
	uint64_t end_ns = sum->from_ns, text = 0;
	ssize_t got;

	if (!bytes)
		return -ENOMEM;
	got = fd_pread_full(store->file->fd, bytes, sum->bytes, sum->offset);
	if (got != (ssize_t)sum->bytes)
		return got < 0 ? got : -EIO;
	for (uint32_t i = 0; i < sum->nr; i++) {
		struct stored_call call;

		end_ns += get_number(&at, bytes + sum->bytes);
		call.dur_ns = get_number(&at, bytes + sum->bytes);
		call.start_ns = end_ns - call.dur_ns;
		call.self_ns = call.dur_ns - get_number(&at, bytes + sum->bytes);
		call.node = get_number(&at, bytes + sum->bytes);
		call.is_open = call.node & 1;
		call.node >>= 1;
		call.depth = get_number(&at, bytes + sum->bytes);
		text = text_after(get_number(&at, bytes + sum->bytes), text);
		call.text = text;
		/* Calls that began before the block are in the list @crossing. */
		if (call.start_ns >= sum->from_ns && !add_call(out, &call))
			return -ENOMEM;
	}
	return 0;
}

/* Moves the calls of store->last to a new block. */
static int end_block(struct call_store *store)
{
	struct call_list inside cleanup_call_list = { 0 };
	const struct call_list *all = &store->last;
	struct store_sum *sum = add_sum(&store->levels[0]);
	int ret;

	if (!sum)
		return -ENOMEM;
	sum->from_ns = all->calls[0].start_ns + all->calls[0].dur_ns;
	sum->to_ns = all->calls[all->nr - 1].start_ns + all->calls[all->nr - 1].dur_ns;
	for (size_t i = 0; i < all->nr; i++) {
		bool is_inside = all->calls[i].start_ns >= sum->from_ns;

		if (!add_call(is_inside ? &inside : &store->crossing, &all->calls[i]))
			return -ENOMEM;
	}
	ret = write_block(store, sum);
	if (ret == 0)
		ret = sum_up(sum, &inside, 1, sizeof(inside));
	store->last.nr = 0;
	return ret < 0 ? ret : add_groups(store);
}

int call_store_add(struct call_store *store, const struct stored_call *call)
{
	if (!add_call(&store->last, call))
		return -ENOMEM;
	store->nr_calls++;
	return store->last.nr == STORE_BLOCK_CALLS ? end_block(store) : 0;
}

void call_store_deinit(struct call_store *store)
{
	call_list_deinit(&store->last);
	call_list_deinit(&store->crossing);
	call_list_deinit(&store->open);
	for (size_t l = 0; l < STORE_LEVELS; l++) {
		for (size_t i = 0; i < store->levels[l].nr; i++)
			call_list_deinit(&store->levels[l].sums[i].list);
		free(store->levels[l].sums);
	}
	*store = (struct call_store){ 0 };
}

/*
 * The state of a search that makes a list of the calls in a range.
 *
 * @most: the maximum number of calls in the list, including the calls that were in the list before
 *         the search; if the list gets longer than @most, the list is useless
 */
struct finding {
	const struct call_store *store;
	uint64_t from_ns;
	uint64_t to_ns;
	struct thinner thinner;
	size_t most;
};

/*
 * True when more calls were found than are wanted. In this case the caller drops all found calls,
 * so the search can end.
 */
static bool has_too_many(const struct finding *f)
{
	return f->thinner.out->nr > f->most;
}

static void find_in_list(struct finding *f, const struct call_list *list)
{
	for (size_t i = 0; i < list->nr; i++) {
		const struct stored_call *call = &list->calls[i];

		if (call->start_ns <= f->to_ns && call->start_ns + call->dur_ns >= f->from_ns)
			thin_call(&f->thinner, call);
	}
}

/*
 * Finds calls in sum @i of @level. If the cells of this sum are longer than a pixel, searches the
 * sums of the lower level instead. At the lowest level, searches the block of the sum instead.
 */
static int find_in_sum(struct finding *f, size_t level, size_t i)
{
	const struct store_level *levels = f->store->levels;
	const struct store_sum *sum = &levels[level].sums[i];
	int ret = 0;

	if (sum->to_ns < f->from_ns || sum->from_ns > f->to_ns || has_too_many(f))
		return 0;
	if (sum->cell_ns <= f->thinner.cell_ns) {
		find_in_list(f, &sum->list);
		return 0;
	}
	if (level == 0) {
		struct call_list calls cleanup_call_list = { 0 };

		ret = read_block(f->store, sum, &calls);
		if (ret == 0)
			find_in_list(f, &calls);
		return ret;
	}
	for (size_t k = i * STORE_GROUP; ret == 0 && k < (i + 1) * STORE_GROUP; k++)
		ret = find_in_sum(f, level - 1, k);
	return ret;
}

/*
 * Searches each sum that is not part of a larger sum. The sums of the highest level come first,
 * because these sums have the earliest calls.
 */
static int find_in_sums(struct finding *f)
{
	const struct store_level *levels = f->store->levels;
	int ret = 0;

	for (size_t l = STORE_LEVELS; ret == 0 && l-- > 0;) {
		size_t above = l + 1 < STORE_LEVELS ? levels[l + 1].nr * STORE_GROUP : 0;

		for (size_t i = above; ret == 0 && i < levels[l].nr; i++)
			ret = find_in_sum(f, l, i);
	}
	return ret;
}

static int compare_starts(const void *first, const void *second)
{
	const struct stored_call *a = first, *b = second;

	if (a->start_ns != b->start_ns)
		return a->start_ns < b->start_ns ? -1 : 1;
	return (a->depth > b->depth) - (a->depth < b->depth);
}

static int find_all(const struct call_store *store, uint64_t from_ns, uint64_t to_ns,
		    uint64_t pixel_ns, size_t most, struct call_list *out)
{
	struct finding f = { store, from_ns, to_ns, { pixel_ns, .out = out }, most };
	struct finding crossing = f;
	int ret = find_in_sums(&f);

	if (ret == 0) {
		find_in_list(&f, &store->last);
		ret = thin_end(&f.thinner);
	}
	/*
	 * A thinner needs the calls of each depth in the order of time. Some calls in the two lists
	 * below are earlier than calls that f.thinner has. So the two lists get a second thinner.
	 */
	find_in_list(&crossing, &store->crossing);
	find_in_list(&crossing, &store->open);
	if (thin_end(&crossing.thinner) < 0)
		ret = -ENOMEM;
	thinner_deinit(&f.thinner);
	thinner_deinit(&crossing.thinner);
	return ret;
}

int call_store_find(const struct call_store *store, uint64_t from_ns, uint64_t to_ns,
		    uint64_t pixel_ns, size_t most, struct call_list *out)
{
	const size_t nr = out->nr;
	int ret;

	for (;; pixel_ns *= 2) {
		/* When a pixel is as long as the range, a longer pixel has no effect. */
		bool is_last = pixel_ns >= to_ns - from_ns;

		ret = find_all(store, from_ns, to_ns, pixel_ns, is_last ? SIZE_MAX : nr + most,
			       out);
		if (ret < 0 || is_last || out->nr - nr <= most)
			break;
		out->nr = nr;
	}
	if (ret == 0 && out->nr > nr)
		qsort(out->calls + nr, out->nr - nr, sizeof(*out->calls), compare_starts);
	return ret;
}

/*
 * True when @call comes after the call where the search starts, or before that call in a backward
 * search. False for the call where the search starts.
 */
static bool is_beyond(const struct store_search *search, const struct stored_call *call)
{
	bool is_after = call->start_ns != search->at_ns ? call->start_ns > search->at_ns
							: call->depth > search->depth;
	bool is_there = call->start_ns == search->at_ns && call->depth == search->depth;

	return !is_there && is_after != search->is_backwards;
}

/*
 * Finds the call of @list that is nearest to the start of the search. Sets @found to this call if
 * @has_found is false, or if this call is nearer to the start of the search than @found. Returns
 * true when @found is set.
 *
 * @has_found: the search of an earlier list has set @found
 */
static bool search_list(const struct store_search *search, const struct call_list *list,
			bool has_found, struct stored_call *found)
{
	for (size_t i = 0; i < list->nr; i++) {
		const struct stored_call *call = &list->calls[i];

		if (call->node >= search->nr_wanted || !search->wanted[call->node] ||
		    !is_beyond(search, call))
			continue;
		if (!has_found || (compare_starts(call, found) < 0) != search->is_backwards)
			*found = *call;
		has_found = true;
	}
	return has_found;
}

static bool may_have(const struct store_sum *block, const uint64_t *nodes)
{
	for (size_t i = 0; i < ARRAY_SIZE(block->nodes); i++) {
		if (block->nodes[i] & nodes[i])
			return true;
	}
	return false;
}

/*
 * Searches the blocks from the first to the last. A backward search goes from the last block to the
 * first block. If a call was found before, the search stops at a block whose calls are all farther
 * from search->at_ns than @found.
 */
static int search_blocks(const struct call_store *store, const struct store_search *search,
			 const uint64_t *nodes, bool has_found, struct stored_call *found)
{
	const struct store_level *blocks = &store->levels[0];

	for (size_t k = 0; k < blocks->nr; k++) {
		const struct store_sum *block =
			&blocks->sums[search->is_backwards ? blocks->nr - 1 - k : k];
		struct call_list calls cleanup_call_list = { 0 };
		bool is_past = search->is_backwards ? block->from_ns > search->at_ns
						    : block->to_ns < search->at_ns;

		bool is_farther = search->is_backwards ? block->to_ns < found->start_ns
						       : block->from_ns > found->start_ns;

		if (has_found && is_farther)
			break;
		if (is_past || !may_have(block, nodes))
			continue;

		int ret = read_block(store, block, &calls);

		if (ret < 0)
			return ret;
		has_found = search_list(search, &calls, has_found, found);
	}
	return has_found;
}

int call_store_search(const struct call_store *store, const struct store_search *search,
		      struct stored_call *found)
{
	uint64_t nodes[STORE_NODE_BITS / 64] = { 0 };
	bool has_found;

	for (size_t i = 0; i < search->nr_wanted; i++) {
		if (search->wanted[i])
			nodes[i % STORE_NODE_BITS / 64] |= 1ULL << i % 64;
	}
	has_found = search_list(search, &store->crossing, false, found);
	has_found = search_list(search, &store->open, has_found, found);
	has_found = search_list(search, &store->last, has_found, found);
	return search_blocks(store, search, nodes, has_found, found);
}
