/* Events of a task that wait for its lane: they are added, sorted, taken and dropped. */
#include "tests/unit/lib/unit.h"

#include "utils/base/containers/strbuf.h"
#include "utils/pipeline/merger.h"

static void add(struct queue *queue, uint64_t time_ns, unsigned source, uint64_t addr)
{
	struct queued event = { .time_ns = time_ns, .source = source, .addr = addr };

	assert_int_equal(queue_add(queue, event), 0);
}

/* Check "TIME/SOURCE/ADDR ..." of all events. */
static void check(const struct queue *queue, const char *expected)
{
	struct strbuf out cleanup_strbuf = { 0 };

	for (size_t i = 0; i < queue->nr; i++) {
		const struct queued *event = &queue->events[i];

		strbuf_addf(&out, "%s%llu/%u/%llu", i ? " " : "",
			    (unsigned long long)event->time_ns, event->source,
			    (unsigned long long)event->addr);
	}
	assert_string_equal(strbuf_str(&out), expected);
}

TEST(events_come_by_time_or_are_sorted)
{
	struct queue queue = { 0 };

	add(&queue, 10, 1, 0);
	assert_false(queue.is_unsorted);
	add(&queue, 10, 1, 1);
	add(&queue, 10, 2, 2);
	add(&queue, 20, 0, 3);
	assert_false(queue.is_unsorted);
	assert_int_equal(queue_settle(&queue), 0);
	check(&queue, "10/1/0 10/1/1 10/2/2 20/0/3");
	/* At equal times, the event of the lower source is first. */
	add(&queue, 20, 0, 4);
	add(&queue, 10, 1, 5);
	assert_true(queue.is_unsorted);
	add(&queue, 10, 0, 6);
	add(&queue, 30, 0, 7);
	assert_true(queue.is_unsorted);
	assert_int_equal(queue_settle(&queue), 0);
	assert_false(queue.is_unsorted);
	check(&queue, "10/0/6 10/1/0 10/1/1 10/1/5 10/2/2 20/0/3 20/0/4 30/0/7");
	queue_deinit(&queue);
	assert_null(queue.events);
	assert_int_equal(queue.cap, 0);
}

TEST(a_lower_source_at_the_same_time_is_earlier)
{
	struct queue queue = { 0 };

	add(&queue, 10, 1, 0);
	add(&queue, 10, 0, 1);
	assert_true(queue.is_unsorted);
	assert_int_equal(queue_settle(&queue), 0);
	check(&queue, "10/0/1 10/1/0");
	queue_deinit(&queue);
}

/* Events that were taken keep their places. New events are not compared with them. */
TEST(what_was_taken_is_not_sorted_again)
{
	struct queue queue = { 0 };

	add(&queue, 50, 0, 0);
	add(&queue, 60, 0, 1);
	queue.nr_taken = 2;
	add(&queue, 40, 0, 2);
	assert_false(queue.is_unsorted);
	add(&queue, 30, 0, 3);
	assert_true(queue.is_unsorted);
	assert_int_equal(queue_settle(&queue), 0);
	check(&queue, "50/0/0 60/0/1 30/0/3 40/0/2");
	queue_deinit(&queue);
}

TEST(calls_are_added_with_their_source)
{
	const struct queued calls[] = {
		{ .time_ns = 10, .source = 77, .depth = 3, .type = EVENT_EXIT },
		{ .time_ns = 20, .addr = 5 },
		{ .time_ns = 20 },
	};
	const struct queued back[] = { { .time_ns = 25 }, { .time_ns = 24 } };
	struct queue queue = { 0 };

	assert_int_equal(queue_add_calls(&queue, calls, 3, 2), 0);
	check(&queue, "10/2/0 20/2/5 20/2/0");
	assert_int_equal(queue.events[0].depth, 3);
	assert_int_equal(queue.events[0].type, EVENT_EXIT);
	assert_false(queue.is_unsorted);
	assert_int_equal(queue_add_calls(&queue, calls + 1, 1, 2), 0);
	assert_false(queue.is_unsorted);
	assert_int_equal(queue_add_calls(&queue, calls, 0, 2), 0);
	assert_false(queue.is_unsorted);
	/*
	 * An event that is earlier than one in the queue marks the queue unsorted, and this stays
	 * so.
	 */
	assert_int_equal(queue_add_calls(&queue, calls + 1, 1, 1), 0);
	assert_true(queue.is_unsorted);
	assert_int_equal(queue_add_calls(&queue, calls + 2, 1, 1), 0);
	assert_true(queue.is_unsorted);
	assert_int_equal(queue_settle(&queue), 0);
	check(&queue, "10/2/0 20/1/5 20/1/0 20/2/5 20/2/0 20/2/5");
	/* The added calls are not in order among themselves. */
	assert_int_equal(queue_add_calls(&queue, back, 2, 0), 0);
	assert_true(queue.is_unsorted);
	queue_deinit(&queue);
	/* After all calls were taken, new ones are compared only with each other. */
	assert_int_equal(queue_add_calls(&queue, calls, 3, 2), 0);
	queue.nr_taken = 3;
	assert_int_equal(queue_add_calls(&queue, calls, 1, 2), 0);
	assert_false(queue.is_unsorted);
	queue.nr_taken = 4;
	assert_int_equal(queue_add_calls(&queue, back, 2, 2), 0);
	assert_true(queue.is_unsorted);
	queue_deinit(&queue);
}

TEST(the_oldest_are_dropped)
{
	struct queue queue = { 0 };

	for (unsigned i = 0; i < 5; i++)
		add(&queue, 10 + i, 0, i);
	for (unsigned i = 0; i < 5; i++)
		queue.events[i].data = malloc(1);
	queue.nr_taken = 3;
	queue_drop(&queue, 0);
	assert_int_equal(queue.nr, 5);
	queue_drop(&queue, 2);
	check(&queue, "12/0/2 13/0/3 14/0/4");
	assert_int_equal(queue.nr_taken, 1);
	queue_drop(&queue, 2);
	check(&queue, "14/0/4");
	assert_int_equal(queue.nr_taken, 0);
	queue_drop(&queue, 1);
	assert_int_equal(queue.nr, 0);
	queue_deinit(&queue);
}

/*
 * The events are few or many, in any order. The result is compared with that of the simplest sort.
 */
TEST(all_orders_are_sorted_and_ties_stay)
{
	unsigned seed = 1;

	for (unsigned round = 0; round < 200; round++) {
		struct queue queue = { 0 };
		unsigned nr = round < 100 ? round : round * 3;
		unsigned range = 1 + round % 7 * 40;

		for (unsigned i = 0; i < nr; i++) {
			uint64_t time_ns;

			seed = seed * 1103515245 + 12345;
			time_ns = (seed >> 16) % range;
			/* Some rounds have the reverse order. */
			if (round % 3 == 0)
				time_ns = nr - i;
			add(&queue, time_ns, (seed >> 8) % 2, i);
		}
		assert_int_equal(queue_settle(&queue), 0);
		for (unsigned i = 1; i < nr; i++) {
			const struct queued *a = &queue.events[i - 1];
			const struct queued *b = &queue.events[i];

			assert_true(a->time_ns <= b->time_ns);
			if (a->time_ns == b->time_ns)
				assert_true(a->source <= b->source);
			if (a->time_ns == b->time_ns && a->source == b->source)
				assert_true(a->addr < b->addr);
		}
		assert_int_equal(queue.nr, nr);
		queue_deinit(&queue);
	}
}

/* There is always room, but not much more than needed. */
TEST(room_grows_by_half)
{
	struct queued calls[40] = { 0 };
	struct queue queue = { 0 };

	add(&queue, 1, 0, 0);
	assert_int_equal(queue.cap, 16);
	for (unsigned i = 1; i < 16; i++)
		add(&queue, 1, 0, i);
	assert_int_equal(queue.cap, 16);
	add(&queue, 1, 0, 16);
	assert_int_equal(queue.cap, 24);
	assert_int_equal(queue_add_calls(&queue, calls, 7, 0), 0);
	assert_int_equal(queue.cap, 24);
	assert_int_equal(queue_add_calls(&queue, calls, 40, 0), 0);
	assert_int_equal(queue.cap, 64);
	queue_deinit(&queue);
}

TEST(a_lane_takes_from_the_queue)
{
	struct task task = { .tid = 7 };
	struct queue_source src;
	struct queue queue = { 0 };
	struct event events[5];
	uint8_t *data = malloc(3);

	add(&queue, 10, 0, 100);
	add(&queue, 20, 0, 200);
	add(&queue, 30, 0, 300);
	queue.events[1].data = data;
	queue.events[1].data_len = 3;
	queue.events[1].type = EVENT_POINT;
	queue.events[1].flags = EVENT_OUTSIDE;
	queue_source_init(&src, &queue, &task);
	assert_ptr_equal(src.source.task, &task);
	assert_int_equal(src.at, 0);
	assert_int_equal(src.end, 3);
	assert_int_equal(source_next_ns(&src.source), 10);
	assert_int_equal(source_read(&src.source, events, 5, 9, NULL), 0);
	assert_int_equal(source_read(&src.source, events, 5, 20, NULL), 2);
	assert_int_equal(events[0].time_ns, 10);
	assert_int_equal(events[0].addr, 100);
	assert_int_equal(events[1].time_ns, 20);
	assert_int_equal(events[1].addr, 200);
	assert_ptr_equal(events[1].data, data);
	assert_int_equal(events[1].data_len, 3);
	assert_int_equal(events[1].type, EVENT_POINT);
	assert_int_equal(events[1].flags, EVENT_OUTSIDE);
	assert_int_equal(source_next_ns(&src.source), 30);
	assert_int_equal(source_read(&src.source, events, 0, UINT64_MAX, NULL), 0);
	assert_int_equal(source_read(&src.source, events, 1, 30, NULL), 1);
	assert_int_equal(source_next_ns(&src.source), UINT64_MAX);
	assert_int_equal(source_read(&src.source, events, 5, UINT64_MAX, NULL), 0);
	queue_source_init(&src, &queue, &task);
	assert_int_equal(source_read(&src.source, events, 2, UINT64_MAX, NULL), 2);
	source_close(&src.source);
	assert_int_equal(queue.nr, 3);
	queue_deinit(&queue);
	queue_source_init(&src, NULL, &task);
	assert_int_equal(source_next_ns(&src.source), UINT64_MAX);
	assert_int_equal(source_read(&src.source, events, 2, UINT64_MAX, NULL), 0);
}
