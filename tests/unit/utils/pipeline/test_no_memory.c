/*
 * If any single allocation fails, the recording is read correctly, or the caller gets an error.
 */
#include "tests/unit/lib/unit.h"

#include <errno.h>

#include "tests/unit/lib/read/recording.h"
#include "utils/base/compiler.h"
#include "utils/spec/filters.h"
#include "utils/pipeline/sources/split.h"

/* The number of the allocation that fails, from 1 on; 0: none. */
static unsigned failing;
static unsigned nr_allocations;
/* The element size of arrays whose allocation fails; 0: none. */
static size_t failing_size;

static bool fails(void)
{
	if (++nr_allocations != failing)
		return false;
	errno = ENOMEM;
	return true;
}

void *__real_malloc(size_t size);
void *__real_calloc(size_t nr, size_t size);
void *__real_realloc(void *at, size_t size);
void *__real_reallocarray(void *at, size_t nr, size_t size);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t nr, size_t size);
void *__wrap_realloc(void *at, size_t size);
void *__wrap_reallocarray(void *at, size_t nr, size_t size);

void *__wrap_malloc(size_t size)
{
	return fails() ? NULL : __real_malloc(size);
}

void *__wrap_calloc(size_t nr, size_t size)
{
	return fails() || (failing_size && size == failing_size) ? NULL : __real_calloc(nr, size);
}

void *__wrap_realloc(void *at, size_t size)
{
	return fails() ? NULL : __real_realloc(at, size);
}

void *__wrap_reallocarray(void *at, size_t nr, size_t size)
{
	return fails() ? NULL : __real_reallocarray(at, nr, size);
}

static int read_all(const struct recording *rec, const struct pipeline_config *config,
		    struct strbuf *out, struct uft_err *err)
{
	struct recording_writer writer = { .out = out };
	const struct view view = { .events = recording_write, .self = &writer };
	struct trace_data data cleanup(data_close) = { 0 };
	struct pipeline pipe cleanup(pipeline_close) = { 0 };
	int ret = data_open(&data, rec->dir, DEMANGLE_SIMPLE, err);

	if (ret == 0)
		ret = pipeline_open(&pipe, &data, config, err);
	if (ret == 0)
		ret = pipeline_run(&pipe, &view, err);
	return ret < 0 ? ret : pipe.broken.code;
}

/* @nr_silent: the number of allocations whose failure changes the output without an error */
static void check(const struct recording *rec, const struct pipeline_config *config,
		  const char *expected, unsigned nr_silent)
{
	struct strbuf out cleanup_strbuf = { 0 };
	unsigned nr_failed = 0;

	/* The buffer of the output is not tested here, so it gets all its memory now. */
	assert_true(strbuf_grow(&out, 4096));
	failing = 0;
	assert_int_equal(read_all(rec, config, &out, NULL), 0);
	assert_string_equal(strbuf_str(&out), expected);
	for (unsigned i = 1;; i++) {
		struct uft_err err = { 0 };
		int ret;

		strbuf_reset(&out);
		failing = i;
		nr_allocations = 0;
		ret = read_all(rec, config, &out, &err);
		failing = 0;
		if (nr_allocations < i)
			break;
		if (ret < 0) {
			assert_int_equal(ret, -ENOMEM);
			nr_failed++;
		} else if (strcmp(strbuf_str(&out), expected) != 0) {
			assert_true(nr_silent-- > 0);
		}
	}
	assert_int_equal(nr_silent, 0);
	assert_true(nr_failed > 20);
}

TEST(with_a_filter)
{
	struct filters filters cleanup_filters = { 0 };
	char *specs[SPEC_OPTIONS] = { [SPEC_FILTER] = "g" };
	enum spec_option option;
	struct pipeline_config config;
	struct recording rec;

	recording_init(&rec);
	/* At "g" the table of symbols grows for the second time. */
	recording_add_task(&rec, 100, "e{g{b{}}c{}}", 1000);
	recording_finish(&rec);
	assert_int_equal(filters_make(&filters, specs, MATCH_SIMPLE, &option, NULL), 0);
	pipeline_config_init(&config);
	config.stages.wants = STAGE_WANTS_DEPTHS;
	config.stages.filters = &filters;
	config.stages.actions = UINT32_MAX;
	/* If the filter of a function cannot be kept, no filter applies to it (rules.h). */
	check(&rec, &config, "100:g{b{}}", 2);
	recording_deinit(&rec);
}

TEST(several_tasks)
{
	struct pipeline_config config;
	struct recording rec;

	recording_init(&rec);
	recording_add_task(&rec, 100, "a{b{}c{}}", 1000);
	recording_add_task(&rec, 101, "d{}", 1015);
	recording_finish(&rec);
	pipeline_config_init(&config);
	config.stages.wants = STAGE_WANTS_DEPTHS;
	check(&rec, &config, "100:a{b{ 101:d{ 100:} 101:} 100:c{}}", 0);
	recording_deinit(&rec);
}

/* Without the survey, the beginnings and ends of tasks are unknown. The output may be the same. */
TEST(no_survey)
{
	struct strbuf out cleanup_strbuf = { 0 };
	struct pipeline_config config;
	struct recording rec;
	int ret;

	recording_init(&rec);
	recording_add_task(&rec, 100, "a{}", 1000);
	recording_finish(&rec);
	pipeline_config_init(&config);
	failing_size = sizeof(*((struct pipeline *)NULL)->surveys);
	ret = read_all(&rec, &config, &out, NULL);
	failing_size = 0;
	assert_int_equal(ret, -ENOMEM);
	recording_deinit(&rec);
}

static void drop_piece(void *arg, struct piece *piece)
{
	piece_destroy(piece);
}

/* lane_split() makes pieces until there is no memory. After an error there is no last piece. */
TEST(a_split)
{
	struct pipeline_config config;
	struct recording rec;
	unsigned nr_failed = 0;
	unsigned nr = 0;

	recording_init(&rec);
	recording_add_task(&rec, 100, "a{b{}c{}}d{e{}}", 1000);
	recording_finish(&rec);
	pipeline_config_init(&config);
	config.order = PIPELINE_BY_TASK;
	do {
		struct trace_data data cleanup(data_close) = { 0 };
		struct pipeline pipe cleanup(pipeline_close) = { 0 };
		struct piece *last = NULL;
		struct uft_err err = { 0 };
		int ret;

		assert_int_equal(data_open(&data, rec.dir, DEMANGLE_SIMPLE, NULL), 0);
		assert_int_equal(pipeline_open(&pipe, &data, &config, NULL), 0);
		assert_int_equal(pipeline_load_group(&pipe, 0, NULL), 1);
		failing = ++nr;
		nr_allocations = 0;
		ret = lane_split(&pipe.lanes[0], UINT64_MAX, 32, drop_piece, NULL, &last, &err);
		failing = 0;
		assert_true(ret == 0 || ret == -ENOMEM);
		assert_true(!last == (ret < 0));
		piece_destroy(last);
		nr_failed += ret < 0;
	} while (nr_allocations >= nr);
	assert_true(nr_failed > 3);
	recording_deinit(&rec);
}
