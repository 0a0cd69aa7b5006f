/* Events from the kernel about tasks and its scheduler. */
#include "tests/unit/lib/read/kinds.h"

TEST(each_record_has_a_number)
{
	assert_int_equal(event_id_of_perf(PERF_REC_OTHER), 0);
	assert_int_equal(event_id_of_perf(PERF_REC_SCHED_IN), EVENT_ID_SCHED_IN);
	assert_int_equal(event_id_of_perf(PERF_REC_SCHED_OUT), EVENT_ID_SCHED_OUT);
	assert_int_equal(event_id_of_perf(PERF_REC_SCHED_OUT_PREEMPT), EVENT_ID_SCHED_OUT_PREEMPT);
	assert_int_equal(event_id_of_perf(PERF_REC_TASK_NEW), EVENT_ID_TASK_NEW);
	assert_int_equal(event_id_of_perf(PERF_REC_TASK_EXIT), EVENT_ID_TASK_EXIT);
	assert_int_equal(event_id_of_perf(PERF_REC_TASK_NAME), EVENT_ID_TASK_NAME);
}

/* The name is the one that the task had at the time of the event. */
TEST(a_name_is_that_of_its_task)
{
	char first[] = "first";
	char second[] = "second";
	struct task_name names[] = { { 100, first }, { 200, second } };
	struct task task = { .names = names, .nr_names = 2 };
	const struct trace_data data = { 0 };
	struct event event = { .id = EVENT_ID_TASK_NAME, .type = EVENT_POINT, .time_ns = 199 };
	struct event_context context = { &data, &task, &event, false };

	kind_check(&context, "comm=\"first\"", "comm:t=first");
	event.time_ns = 200;
	kind_check(&context, "comm=\"second\"", "comm:t=second");
	context.task = NULL;
	kind_check(&context, "", "");
	context.task = &task;
	event.id = EVENT_ID_TASK_NEW;
	kind_check(&context, "", "");
}
