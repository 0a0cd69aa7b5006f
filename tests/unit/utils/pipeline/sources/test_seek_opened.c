/*
 * The calls that are open at a place of a compact file: the search finds the same ones as reading
 * from the start.
 */
#include "utils/pipeline/sources/seek_opened.h"

#include "tests/unit/lib/read/recording.h"
#include "tests/unit/lib/unit.h"
#include "utils/pipeline/sources/seek.h"

#define START_NS    50000000000000
#define BLOCK_BYTES 2000
#define NR_RECORDS  80000
#define NR_TIMES    25
#define DEPTH_MOST  1000

/*
 * The path of a task: up and down at random, but seldom below @floor.
 *
 * @begins: the number of calls open at its start
 * @climbs: one record in @climbs enters a call that stays open
 * @lost: one record in @lost is lost; @jumps: one in @jumps ends several calls at once
 */
struct way {
	unsigned floor;
	unsigned begins;
	unsigned climbs;
	unsigned lost;
	unsigned jumps;
};

struct scene {
	struct recording rec;
	struct strbuf bytes;
	struct trace_data data;
	uint64_t addrs[DEPTH_MOST];
	unsigned depth;
	uint64_t last_ns;
	uint64_t seed;
};

static uint64_t draw(struct scene *s, uint64_t below)
{
	s->seed = s->seed * 6364136223846793005 + 1442695040888963407;
	return (s->seed >> 33) % below;
}

static bool one_in(struct scene *s, unsigned nr)
{
	return nr && draw(s, nr) == 0;
}

static void put_record(struct scene *s, enum record_type type)
{
	s->last_ns += 1 + draw(s, 40);
	if (type == RECORD_ENTRY)
		s->addrs[s->depth] = 0x400000 + 64 * draw(s, 400);
	else
		s->depth--;
	recording_put(&s->rec, &s->bytes, s->last_ns,
		      record_data(type, s->depth, s->addrs[s->depth]));
	s->depth += type == RECORD_ENTRY;
}

static void put_way(struct scene *s, const struct way *way)
{
	unsigned floor = way->floor;

	s->depth = way->begins;
	for (size_t i = 0; i < NR_RECORDS; i++) {
		bool may_leave = s->depth > floor || (s->depth && one_in(s, 5000));

		if (way->climbs && i % way->climbs == 0)
			floor = s->depth + 1;
		put_record(s, !may_leave || (s->depth < floor + 5 && draw(s, 2)) ? RECORD_ENTRY
										 : RECORD_EXIT);
		if (one_in(s, way->lost))
			recording_put(&s->rec, &s->bytes, 0, record_data(RECORD_LOST, 0, 7));
		if (one_in(s, way->jumps))
			s->depth = draw(s, s->depth + 1);
	}
}

static void begin(struct scene *s, const struct way *way)
{
	*s = (struct scene){ .seed = 5, .last_ns = START_NS };
	recording_init(&s->rec);
	recording_add_task(&s->rec, 100, "", START_NS);
	put_way(s, way);
	recording_finish(&s->rec);
	recording_add_file(&s->rec, "100.dat", s->bytes.data, s->bytes.len);
	recording_pack(&s->rec, 100, BLOCK_BYTES);
	assert_int_equal(data_open(&s->data, s->rec.dir, DEMANGLE_SIMPLE, NULL), 0);
	s->data.tasks[0].first_ns = START_NS;
}

static void end(struct scene *s)
{
	data_close(&s->data);
	recording_deinit(&s->rec);
	strbuf_deinit(&s->bytes);
}

static void open_source(struct scene *s, struct src_user *src)
{
	struct src_user_plan plan = src_user_plan(1);

	assert_int_equal(src_user_open(src, &s->data, 100, &plan, NULL), 0);
	src->end_offset = s->data.tasks[0].data_bytes;
}

/* Find the open calls by reading all records up to @offset. */
static void note_all(struct scene *s, uint64_t offset, struct opened *opened)
{
	struct src_user src;
	struct event events[64];
	ssize_t nr;

	open_source(s, &src);
	src_user_limit(&src, 0, offset, 0);
	while ((nr = src_user_read(&src, events, 64, UINT64_MAX, NULL)) > 0) {
		for (ssize_t i = 0; i < nr; i++)
			assert_true(opened_note(opened, &events[i]));
	}
	src_user_close(&src);
}

static void compare(const struct opened *found, const struct opened *all)
{
	assert_int_equal(found->nr, all->nr);
	for (size_t i = 0; i < all->nr; i++)
		assert_int_equal(found->addrs[i], all->addrs[i]);
	assert_int_equal(found->last_ns, all->last_ns);
	assert_int_equal(found->wants_depth, all->wants_depth);
}

/*
 * Search the names at NR_TIMES times of a recording. Returns the number of searches that found them
 * without reading all records. The other searches must leave their results empty.
 */
static unsigned check(const struct way *way)
{
	struct scene s;
	unsigned nr_found = 0;

	begin(&s, way);
	for (unsigned i = 0; i < NR_TIMES; i++) {
		struct opened found = { 0 };
		struct opened all = { 0 };
		struct src_user src;
		uint64_t time_ns = s.last_ns - draw(&s, (s.last_ns - START_NS) / 2);

		open_source(&s, &src);
		assert_true(seek_time(&src, time_ns));
		if (seek_opened(&src, &found)) {
			note_all(&s, src_user_offset(&src), &all);
			compare(&found, &all);
			nr_found++;
		} else {
			assert_null(found.addrs);
			assert_int_equal(found.nr, 0);
		}
		src_user_close(&src);
		opened_deinit(&found);
		opened_deinit(&all);
	}
	end(&s);
	return nr_found;
}

TEST(calls_that_stay_open)
{
	assert_int_equal(check(&(struct way){ .floor = 3 }), NR_TIMES);
	assert_int_equal(check(&(struct way){ .floor = 0 }), NR_TIMES);
	assert_int_equal(check(&(struct way){ .floor = 20, .climbs = 5000 }), NR_TIMES);
}

TEST(calls_that_were_lost)
{
	assert_int_equal(check(&(struct way){ .floor = 3, .lost = 100 }), NR_TIMES);
	assert_int_equal(check(&(struct way){ .floor = 9, .jumps = 300 }), NR_TIMES);
	assert_int_equal(check(&(struct way){ .floor = 9, .jumps = 40, .lost = 30 }), NR_TIMES);
}

/* The entries of open calls are in too many blocks: for some places all is read. */
TEST(staircase)
{
	assert_true(check(&(struct way){ .climbs = 500 }) < NR_TIMES);
}

/* A forked child: the names of the calls around it are known only when it returns. */
TEST(task_within_calls)
{
	assert_int_equal(check(&(struct way){ .floor = 3, .begins = 2 }), 0);
}

static void place_at(struct scene *s, struct src_user *src, uint64_t offset)
{
	open_source(s, src);
	src_user_limit(src, offset, s->data.tasks[0].data_bytes, 0);
}

TEST(places_that_are_no_block)
{
	struct scene s;
	struct src_user src;
	struct opened opened = { 0 };

	begin(&s, &(struct way){ .floor = 3 });
	place_at(&s, &src, 0);
	assert_false(seek_opened(&src, &opened));
	src_user_close(&src);
	place_at(&s, &src, 16);
	assert_false(seek_opened(&src, &opened));
	src_user_close(&src);
	end(&s);
}

/* --- stairs: each block opens one call, which stays open --- */

#define STEP_RECORDS 99

static void put_stair(struct scene *s, enum record_type type, unsigned depth, unsigned func)
{
	s->last_ns += 10;
	recording_put(&s->rec, &s->bytes, s->last_ns,
		      record_data(type, depth, 0x400000 + 64 * func));
}

/*
 * Add a block that begins with @first, and @nr_steps blocks that open a call each, and one more
 * block.
 */
static void begin_stairs(struct scene *s, uint64_t first, unsigned nr_steps)
{
	*s = (struct scene){ .seed = 5, .last_ns = START_NS };
	recording_init(&s->rec);
	recording_add_task(&s->rec, 100, "", START_NS);
	recording_put(&s->rec, &s->bytes, START_NS, first);
	for (unsigned i = 1; i < STEP_RECORDS; i++)
		put_stair(s, i % 2 ? RECORD_ENTRY : RECORD_EXIT, 0, 500);
	for (unsigned step = 0; step < nr_steps; step++) {
		put_stair(s, RECORD_ENTRY, step, step);
		for (unsigned i = 1; i < STEP_RECORDS; i++)
			put_stair(s, i % 2 ? RECORD_ENTRY : RECORD_EXIT, step + 1, 500);
	}
	put_stair(s, RECORD_EXIT, nr_steps - 1, nr_steps - 1);
	recording_finish(&s->rec);
	recording_add_file(&s->rec, "100.dat", s->bytes.data, s->bytes.len);
	recording_pack(&s->rec, 100, STEP_RECORDS * sizeof(struct record));
	assert_int_equal(data_open(&s->data, s->rec.dir, DEMANGLE_SIMPLE, NULL), 0);
	s->data.tasks[0].first_ns = START_NS;
}

/* At most 64 blocks are read. */
TEST(blocks_that_are_read)
{
	static const unsigned steps[] = { 1, 2, 63, 64, 65 };
	const uint64_t point = record_data(RECORD_EVENT, 0, 1000001);

	for (size_t i = 0; i < ARRAY_SIZE(steps); i++) {
		struct opened opened = { 0 };
		struct src_user src;
		struct scene s;

		begin_stairs(&s, point, steps[i]);
		place_at(&s, &src, (steps[i] + 1) * STEP_RECORDS * sizeof(struct record));
		assert_int_equal(seek_opened(&src, &opened), steps[i] <= 64);
		assert_int_equal(opened.nr, steps[i] <= 64 ? steps[i] : 0);
		for (size_t k = 0; k < opened.nr; k++)
			assert_int_equal(opened.addrs[k], 0x400000 + 64 * k);
		opened_deinit(&opened);
		src_user_close(&src);
		/* The end of the last but one block, and a place within it. */
		place_at(&s, &src, steps[i] * STEP_RECORDS * sizeof(struct record));
		assert_int_equal(seek_opened(&src, &opened), true);
		assert_int_equal(opened.nr, steps[i] - 1);
		opened_deinit(&opened);
		src_user_close(&src);
		place_at(&s, &src, steps[i] * STEP_RECORDS * sizeof(struct record) + 16);
		assert_false(seek_opened(&src, &opened));
		src_user_close(&src);
		end(&s);
	}
}

/* The first call of a task tells whether the task begins within calls. */
TEST(first_records_of_tasks)
{
	static const struct {
		enum record_type type;
		unsigned depth;
		uint64_t addr;
		bool is_found;
	} rows[] = {
		{ RECORD_EVENT, 0, 1000001, true },   { RECORD_LOST, 0, 7, true },
		{ RECORD_EXIT, 0, 0x400000, false },  { RECORD_EXIT, 1, 0x400000, false },
		{ RECORD_ENTRY, 1, 0x400000, false },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct opened opened = { 0 };
		struct src_user src;
		struct scene s;

		begin_stairs(&s, record_data(rows[i].type, rows[i].depth, rows[i].addr), 3);
		place_at(&s, &src, 4 * STEP_RECORDS * sizeof(struct record));
		assert_int_equal(seek_opened(&src, &opened), rows[i].is_found);
		assert_int_equal(opened.nr, rows[i].is_found ? 3 : 0);
		opened_deinit(&opened);
		src_user_close(&src);
		end(&s);
	}
}
