/* cmds/show/parts/call_store.c: ranges of many calls, compared with a walk over all calls. */
#include "cmds/show/parts/call_store.h"
#include "tests/unit/lib/unit.h"

#include <errno.h>
#include <sys/resource.h>

#include "utils/base/compiler.h"

#define ALL_MAX 400000
#define MOST	250000

/* All calls that were added, in order of their ends. */
static struct stored_call all[ALL_MAX];
static size_t nr_all;
static struct call_file file = { .fd = -1 };
static struct call_store store;

static void add(uint64_t start_ns, uint64_t end_ns, uint16_t depth)
{
	const struct stored_call call = {
		.start_ns = start_ns,
		.dur_ns = end_ns - start_ns,
		.self_ns = (end_ns - start_ns) / 2,
		/* Some calls have no text, and some share the text of an earlier call. */
		.text = nr_all % 3 ? nr_all * 17 + 1 : nr_all % 2 * 5,
		.node = depth + 1,
		.depth = depth,
		.is_open = nr_all % 1000 == 0,
	};

	assert_int_equal(call_store_add(&store, &call), 0);
	all[nr_all++] = call;
}

/* Makes main(), and in it calls that take longer and longer, each with three calls inside. */
static int make_calls(void **state)
{
	uint64_t now = 1000;

	store = (struct call_store){ .file = &file };
	while (nr_all + 4 < ALL_MAX - 1) {
		uint64_t start = now, step = 1 + (nr_all * 7919) % 13 + nr_all / 20000;

		for (int i = 0; i < 3; i++) {
			add(now, now + step, 2);
			now += step + i;
		}
		add(start, now, 1);
		now += nr_all % 5000 == 0 ? 1000000 : 3;
	}
	add(10, now, 0);
	return 0;
}

static int forget_calls(void **state)
{
	call_store_deinit(&store);
	call_file_close(&file);
	return 0;
}

TEST_GROUP(make_calls, forget_calls)

static int compare(const void *first, const void *second)
{
	const struct stored_call *a = first, *b = second;

	if (a->start_ns != b->start_ns)
		return a->start_ns < b->start_ns ? -1 : 1;
	return (a->depth > b->depth) - (a->depth < b->depth);
}

static bool overlaps(const struct stored_call *call, uint64_t from, uint64_t to)
{
	return call->start_ns <= to && call->start_ns + call->dur_ns >= from;
}

static void assert_same(const struct stored_call *a, const struct stored_call *b)
{
	assert_int_equal(a->start_ns, b->start_ns);
	assert_int_equal(a->dur_ns, b->dur_ns);
	assert_int_equal(a->self_ns, b->self_ns);
	assert_int_equal(a->text, b->text);
	assert_int_equal(a->node, b->node);
	assert_int_equal(a->depth, b->depth);
	assert_int_equal(a->is_open, b->is_open);
}

/* Check that each call of the range is found when a pixel stands for one nanosecond. */
static void check_exact(uint64_t from, uint64_t to)
{
	struct stored_call *wanted = calloc(nr_all, sizeof(*wanted));
	struct call_list found = { 0 };
	size_t nr = 0;

	for (size_t i = 0; i < nr_all; i++) {
		if (overlaps(&all[i], from, to))
			wanted[nr++] = all[i];
	}
	qsort(wanted, nr, sizeof(*wanted), compare);
	assert_int_equal(call_store_find(&store, from, to, 1, MOST, &found), 0);
	assert_int_equal(found.nr, nr);
	for (size_t i = 0; i < nr; i++)
		assert_same(&found.calls[i], &wanted[i]);
	free(wanted);
	call_list_deinit(&found);
}

TEST(short_ranges_have_all_calls)
{
	uint64_t end = all[nr_all - 1].dur_ns;

	check_exact(0, 5);
	check_exact(0, 2000);
	check_exact(end - 10, end + 100);
	check_exact(end + 1000, end + 2000);
	for (uint64_t at = 1; at < end; at += end / 97)
		check_exact(at, at + end / 5000);
}

/*
 * Check that all calls of at least one pixel are found. For each shorter call, a call of its depth
 * must be found in the same pixel, or in a neighbouring one.
 */
static void check_picture(uint64_t from, uint64_t to, uint64_t width)
{
	uint64_t pixel = (to - from) / width;
	struct call_list found = { 0 };
	size_t nr_long = 0, nr_found = 0;
	uint8_t *seen = calloc(3 * (width + 2), 1);

	assert_int_equal(call_store_find(&store, from, to, pixel, MOST, &found), 0);
	for (size_t i = 0; i < found.nr; i++) {
		const struct stored_call *call = &found.calls[i];
		uint64_t first = call->start_ns < from ? 0 : (call->start_ns - from) / pixel;
		uint64_t last = MIN((call->start_ns + call->dur_ns - from) / pixel, width);

		assert_true(overlaps(call, from, to));
		assert_true(i == 0 || compare(&found.calls[i - 1], call) <= 0);
		nr_found += call->dur_ns >= pixel;
		for (uint64_t k = first; k <= last; k++)
			seen[call->depth * (width + 2) + k] = 1;
	}
	for (size_t i = 0; i < nr_all; i++) {
		const struct stored_call *call = &all[i];

		if (!overlaps(call, from, to))
			continue;
		nr_long += call->dur_ns >= pixel;
		if (call->start_ns < from || call->start_ns > to)
			continue;

		/* The call that stands for this one may be in a neighbouring pixel. */
		size_t k = (call->start_ns - from) / pixel;
		const uint8_t *row = &seen[call->depth * (width + 2)];

		assert_true(row[k] || row[k + 1] || (k && row[k - 1]));
	}
	assert_int_equal(nr_found, nr_long);
	assert_true(found.nr < 3 * 3 * width + 10);
	free(seen);
	call_list_deinit(&found);
}

TEST(long_ranges_are_pictures)
{
	uint64_t end = all[nr_all - 1].dur_ns;

	for (uint64_t part = 1; part <= 256; part *= 2) {
		check_picture(0, end / part, 1000);
		check_picture(end - end / part, end, 300);
		check_picture(end / 3, end / 3 + end / part / 2, 2000);
	}
}

/* Check the search for the next call at a depth after a place, or the last one before it. */
static void check_search(uint64_t at, int depth, uint16_t wanted, bool is_backwards)
{
	uint8_t nodes[4] = { 0 };
	const struct store_search search = { nodes, 4, at, depth, is_backwards };
	const struct stored_call place = { .start_ns = at, .depth = depth };
	const struct stored_call *best = NULL;
	struct stored_call found;

	nodes[wanted + 1] = 1;
	for (size_t i = 0; i < nr_all; i++) {
		int side = compare(&all[i], &place);

		if (all[i].depth != wanted || (is_backwards ? side >= 0 : side <= 0))
			continue;
		if (!best || (compare(&all[i], best) < 0) != is_backwards)
			best = &all[i];
	}
	assert_int_equal(call_store_search(&store, &search, &found), best != NULL);
	if (best)
		assert_same(&found, best);
}

TEST(the_next_call_and_the_one_before)
{
	uint64_t end = all[nr_all - 1].dur_ns;

	for (uint16_t wanted = 0; wanted < 3; wanted++) {
		check_search(0, 0, wanted, false);
		check_search(end * 2, 0, wanted, true);
		check_search(0, 0, wanted, true);
		check_search(end * 2, 0, wanted, false);
		for (size_t i = 0; i < nr_all; i += nr_all / 13) {
			check_search(all[i].start_ns, all[i].depth, wanted, false);
			check_search(all[i].start_ns, all[i].depth, wanted, true);
			check_search(all[i].start_ns + 1, 0, wanted, i & 1);
		}
	}
}

/* The number of calls in a picture is limited, whatever the depth. */
TEST(too_many_calls_for_a_picture)
{
	struct call_file other = CALL_FILE_CLOSED;
	struct call_store deep = { .file = &other };
	struct call_list found = { 0 };
	uint64_t now = 0;

	for (int i = 0; i < 40; i++) {
		for (unsigned depth = 20000; depth-- > 0;) {
			const struct stored_call call = { now + depth, 2 * (20000 - depth) - 1,
							  1,	       1,
							  depth,       false };

			assert_int_equal(call_store_add(&deep, &call), 0);
		}
		now += 40000;
	}
	assert_int_equal(call_store_find(&deep, 0, now, 1, MOST, &found), 0);
	assert_true(found.nr > 0 && found.nr <= 250000);
	call_list_deinit(&found);
	call_store_deinit(&deep);
	call_file_close(&other);
}

TEST(no_more_than_wanted)
{
	struct call_list found = { 0 };

	for (size_t most = 20; most < MOST; most *= 5) {
		found.nr = 0;
		assert_int_equal(call_store_find(&store, 0, 1000000000, 1, most, &found), 0);
		assert_true(found.nr > 0 && found.nr <= most);
	}
	call_list_deinit(&found);
}

/* Damaged data may have times that are far apart. */
TEST(times_that_are_far_apart)
{
	struct call_file other = CALL_FILE_CLOSED;
	struct call_store far = { .file = &other };
	struct call_list found = { 0 };

	for (unsigned i = 0; i < STORE_BLOCK_CALLS; i++) {
		const uint64_t end = i < STORE_BLOCK_CALLS - 1 ? i : UINT64_MAX;
		const struct stored_call call = { end, 0, 0, 1, i, false };

		assert_int_equal(call_store_add(&far, &call), 0);
	}
	assert_int_equal(call_store_find(&far, 0, UINT64_MAX, 1, MOST, &found), 0);
	assert_true(found.nr > 0);
	call_list_deinit(&found);
	call_store_deinit(&far);
	call_file_close(&other);
}

TEST(no_room)
{
	const struct rlimit small = { 1000, RLIM_INFINITY };
	const struct stored_call call = { 0, 0, 0, 1, 0, false };
	struct call_file other = CALL_FILE_CLOSED;
	struct call_store full = { .file = &other };
	struct rlimit before;

	assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
	for (unsigned i = 0; i < STORE_BLOCK_CALLS - 1; i++)
		assert_int_equal(call_store_add(&full, &call), 0);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
	errno = ENOENT;

	int ret = call_store_add(&full, &call);

	setrlimit(RLIMIT_FSIZE, &before);
	assert_int_equal(ret, -ENOSPC);
	call_store_deinit(&full);
	call_file_close(&other);
}

TEST(no_calls)
{
	struct call_file none = CALL_FILE_CLOSED;
	struct call_store empty = { .file = &none };
	struct call_list found = { 0 };

	assert_int_equal(call_store_find(&empty, 0, UINT64_MAX / 2, 1, MOST, &found), 0);
	assert_int_equal(found.nr, 0);
	call_store_deinit(&empty);
}
