/* The records of one task, as a source: what it says of the next one. */
#include "tests/unit/lib/unit.h"

#include "tests/unit/lib/recording.h"
#include "utils/base/compiler.h"
#include "utils/trace/src_user.h"

/* What is in memory says its time. */
static void the_next_time(void **state)
{
	static const uint64_t times[] = { 1000, 1010, 2020 };
	struct src_user_plan plan = src_user_plan(1);
	struct recording rec;
	struct trace_data data;
	struct src_user src;
	struct event event;

	recording_init(&rec);
	recording_add_task(&rec, 100, "a{b{ c{", 1000);
	recording_finish(&rec);
	assert_int_equal(data_open(&data, rec.dir, DEMANGLE_SIMPLE, NULL), 0);
	assert_int_equal(src_user_open(&src, &data, 100, &plan, NULL), 0);
	for (size_t i = 0; i < ARRAY_SIZE(times); i++) {
		/* Before the first one nothing has been read. */
		if (i)
			assert_int_equal(source_next_ns(&src.source), times[i]);
		assert_int_equal(source_read(&src.source, &event, 1, UINT64_MAX, NULL), 1);
		assert_int_equal(event.time_ns, times[i]);
	}
	assert_int_equal(source_read(&src.source, &event, 1, UINT64_MAX, NULL), 0);
	assert_true(source_next_ns(&src.source) == UINT64_MAX);
	src_user_close(&src);
	data_close(&data);
	recording_deinit(&rec);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_next_time),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
