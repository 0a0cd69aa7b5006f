/*
 * The ring from both sides: committed records are in the files, in order, and lost ones are counted
 * at their place. The test schedules both sides: it decides which of them makes the next step.
 */
#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>

#include "cmds/record/base/rights.h"
#include "libmcount/values/declared.h"
#include "tests/unit/lib/probe/pair.h"
#include "tests/unit/lib/unit.h"
#include "utils/base/cleanup.h"

#define NR_PRODUCERS 3
#define PAYLOAD_MAX  (RING_PAGE - 4 * sizeof(struct record))

/*
 * A traced thread and the expected content of its file.
 *
 * @untold: the number of records lost after the last one in the file
 */
struct producer {
	struct thread *t;
	int32_t tid;
	struct strbuf expected;
	uint64_t untold;
};

static void expect_record(struct strbuf *expected, uint64_t time_ns, uint64_t data)
{
	struct record record = { time_ns, data };

	strbuf_add(expected, &record, sizeof(record));
}

static void expect_lost(struct producer *p)
{
	if (p->untold)
		expect_record(&p->expected, 0, record_data(RECORD_LOST, 0, p->untold));
	p->untold = 0;
}

static bool producer_begin(struct producer *p)
{
	*p = (struct producer){ .t = pair_thread() };
	if (p->t)
		p->tid = p->t->ring->tid;
	return p->t;
}

static void producer_emit(struct producer *p, uint64_t time_ns, uint32_t len)
{
	char payload[PAYLOAD_MAX];
	uint64_t data = record_data(RECORD_ENTRY, time_ns % 50, time_ns * 16);

	memset(payload, (char)time_ns, len);
	if (!emit_record(p->t, time_ns, data, payload, len)) {
		note_lost(p->t, 1);
		p->untold++;
		return;
	}
	expect_lost(p);
	expect_record(&p->expected, time_ns, data | (len ? RECORD_MORE : 0));
	strbuf_add(&p->expected, payload, len);
	strbuf_add(&p->expected, "\0\0\0\0\0\0\0", -len % 8);
}

static void check_file(const struct pair *pair, int32_t tid, const struct strbuf *expected)
{
	struct strbuf found cleanup_strbuf = pair_data(pair, tid);

	assert_int_equal(found.len, expected->len);
	assert_memory_equal(strbuf_str(&found), strbuf_str(expected), found.len);
}

/*
 * Check which records the writer has taken when it has last looked at the ring, and which it has
 * left there. @everything: it has left none
 */
static void check_taken(struct pair *pair, const struct producer *p, bool everything)
{
	const struct ring *r = p->t->ring;
	uint64_t head = r->head;
	uint64_t tail = r->tail;

	assert_true(tail <= head);
	assert_true(tail >= head - head % RING_PAGE);
	assert_int_equal(tail, pair->proc->sinks[pair_ring_index(pair, r)].records.tail);
	if (everything) {
		assert_int_equal(tail, head);
		check_file(pair, p->tid, &p->expected);
	}
}

static uint32_t choose_length(uint64_t *state)
{
	uint64_t n = unit_random(state);

	switch (n % 8) {
	case 0:
		return n / 8 % 300;
	case 1:
		return PAYLOAD_MAX - n / 8 % 100;
	default:
		return 0;
	}
}

/* The consumer that runs when a producer has to wait. */
struct consumer {
	struct pair *pair;
	uint64_t *state;
	unsigned nr_waits;
};

static void look_meanwhile(void *arg)
{
	struct consumer *c = arg;

	c->nr_waits++;
	if (unit_random(c->state) % 3 == 0)
		pair_look(c->pair, unit_random(c->state) % 2);
}

/*
 * Runs one order of steps. Returns the number of lost records; @nr_waits gets the number of waits
 */
static uint64_t run_interleaving(uint64_t seed, uint32_t flags, unsigned *nr_waits)
{
	struct producer producers[64];
	struct producer *now[NR_PRODUCERS];
	size_t nr = 0;
	uint64_t state = seed;
	uint64_t lost = 0;
	struct pair pair;

	pair_init(&pair);
	pair_open(&pair);
	probe.plan.flags |= flags;

	struct consumer consumer = { &pair, &state, 0 };

	pair_when_waiting(look_meanwhile, &consumer);
	for (size_t i = 0; i < NR_PRODUCERS; i++) {
		now[i] = &producers[nr++];
		assert_true(producer_begin(now[i]));
	}
	for (uint64_t step = 1; step < 3000; step++) {
		struct producer **p = &now[unit_random(&state) % NR_PRODUCERS];
		uint64_t what = unit_random(&state) % 1000;
		uint64_t before = (*p)->untold;

		if (what < 970) {
			producer_emit(*p, step, choose_length(&state));
			lost += (*p)->untold > before;
		} else if (what < 992) {
			bool everything = unit_random(&state) % 2;

			pair_look(&pair, everything);
			for (size_t i = 0; i < NR_PRODUCERS; i++)
				check_taken(&pair, now[i], everything);
		} else if (nr < ARRAY_SIZE(producers)) {
			expect_lost(*p); /* the file ends with the number of lost records */
			thread_give_back((*p)->t);
			*p = &producers[nr++];
			assert_true(producer_begin(*p));
		}
	}
	pair_when_waiting(NULL, NULL);
	for (size_t i = 0; i < NR_PRODUCERS; i++)
		expect_lost(now[i]);
	pair_stop(&pair);
	for (size_t i = 0; i < nr; i++) {
		check_file(&pair, producers[i].tid, &producers[i].expected);
		strbuf_deinit(&producers[i].expected);
	}
	assert_int_equal(pair.rec.writers.records_lost, lost);
	assert_int_equal(pair.rec.store->error, 0);
	*nr_waits = consumer.nr_waits;
	pair_close(&pair);
	return lost;
}

TEST(test_interleavings_that_wait)
{
	unsigned nr_waits;
	unsigned sum = 0;

	for (uint64_t seed = 1; seed <= 40; seed++) {
		assert_int_equal(run_interleaving(seed, 0, &nr_waits), 0);
		sum += nr_waits;
	}
	assert_true(sum > 0); /* without waits the test shows nothing */
}

TEST(test_interleavings_that_drop)
{
	unsigned nr_waits;
	uint64_t lost = 0;

	for (uint64_t seed = 1; seed <= 40; seed++) {
		lost += run_interleaving(seed, PLAN_DROP, &nr_waits);
		assert_int_equal(nr_waits, 0);
	}
	assert_true(lost > 0);
}

/* --- both sides at the same time --- */

#define NR_RECORDS 30000

static void *produce(void *arg)
{
	struct producer *p = arg;

	for (uint64_t i = 1; i <= NR_RECORDS; i++)
		producer_emit(p, i, i % 5 ? 0 : 24);
	thread_give_back(p->t);
	return NULL;
}

TEST(test_threads)
{
	struct producer producers[NR_PRODUCERS];
	pthread_t threads[NR_PRODUCERS];
	struct pair pair;

	pair_init(&pair);
	pair.settings.nr_writers = 2;
	pair_open(&pair);
	for (size_t i = 0; i < NR_PRODUCERS; i++) {
		assert_true(producer_begin(&producers[i]));
		assert_int_equal(pthread_create(&threads[i], NULL, produce, &producers[i]), 0);
	}
	for (size_t i = 0; i < NR_PRODUCERS; i++)
		pthread_join(threads[i], NULL);
	pair_stop(&pair);
	for (size_t i = 0; i < NR_PRODUCERS; i++) {
		assert_int_equal(producers[i].untold, 0);
		check_file(&pair, producers[i].tid, &producers[i].expected);
		strbuf_deinit(&producers[i].expected);
	}
	assert_int_equal(pair.rec.writers.records_lost, 0);
	pair_close(&pair);
}

/*
 * Writer threads take committed records without being asked, before a segment is full and before
 * the end.
 */
TEST(test_writers_flush)
{
	struct producer p;
	struct pair pair;

	pair_init(&pair);
	pair.settings.nr_writers = 2;
	pair_open(&pair);
	assert_true(producer_begin(&p));
	producer_emit(&p, 1, 0);

	uint64_t after_ns = settings_now_ns(&pair.settings);

	while (atomic_load(&p.t->ring->tail) != p.t->ring->head)
		usleep(1000);
	check_file(&pair, p.tid, &p.expected);
	/* Readers learn that the files are complete up to that time. */
	while (writers_complete_ns(&pair.rec.writers) < after_ns)
		usleep(1000);
	assert_true(writers_complete_ns(&pair.rec.writers) < settings_now_ns(&pair.settings));
	strbuf_deinit(&p.expected);
	pair_stop(&pair);
	pair_close(&pair);
}

/* --rt-prio is tested where the user may use it. */
TEST(test_priority)
{
	struct sched_param param = { .sched_priority = 1 };
	struct pair pair;

	if (sched_setscheduler(0, SCHED_FIFO | SCHED_RESET_ON_FORK, &param) < 0)
		skip_because("may not have a real-time priority: %s", strerror(errno));
	param.sched_priority = 0;
	sched_setscheduler(0, SCHED_OTHER, &param);
	for (unsigned prio = 0; prio <= 2; prio += 2) {
		pair_init(&pair);
		pair.settings.nr_writers = 2;
		pair.settings.rt_prio = prio;
		pair_open(&pair);
		for (int i = 0; i < 2; i++) {
			int policy;

			pthread_getschedparam(pair.rec.writers.threads[i], &policy, &param);
			assert_int_equal(policy, prio ? SCHED_FIFO : SCHED_OTHER);
			assert_int_equal(param.sched_priority, prio);
		}
		pair_stop(&pair);
		pair_close(&pair);
	}
}

/*
 * The slowest writer counts. The time is a little earlier, since a thread may still be about to
 * commit a record from before.
 */
TEST(test_complete_ns)
{
	_Atomic uint64_t flushed_ns[3] = { 5000000000, 3000000000, 4000000000 };
	struct writers writers = { .flushed_ns = flushed_ns, .nr = 3 };

	assert_int_equal(writers_complete_ns(&writers), 3000000000 - 20000000);
	flushed_ns[1] = 20000000;
	assert_int_equal(writers_complete_ns(&writers), 0);
	flushed_ns[1] = 1;
	assert_int_equal(writers_complete_ns(&writers), 0);
}

/* --- values that a program may have written into the ring's header --- */

struct hostile {
	uint64_t head;
	uint32_t used; /* of the first segment */
	uint64_t taken;
	uint64_t tail;
};

TEST(test_hostile_headers)
{
	const uint64_t data_bytes = 8 * RING_PAGE;
	static const struct hostile cases[] = {
		{ 0, 0, 0, 0 },
		{ 16, 0, 16, 16 },
		{ 4, 0, 0, 0 },
		{ RING_PAGE - 8, 0, RING_PAGE - 8, RING_PAGE - 8 },
		{ RING_PAGE, 64, 64, RING_PAGE },
		{ RING_PAGE, 0, 0, RING_PAGE },
		{ RING_PAGE, RING_PAGE, RING_PAGE, RING_PAGE },
		{ RING_PAGE, RING_PAGE + 8, 0, RING_PAGE },
		{ RING_PAGE, RING_PAGE - 4, 0, RING_PAGE },
		{ RING_PAGE, UINT32_MAX - 7, 0, RING_PAGE },
		{ RING_PAGE + 32, 64, 96, RING_PAGE + 32 },
		{ 8 * RING_PAGE, 64, 64, 8 * RING_PAGE },
		{ 8 * RING_PAGE + 8, 64, 0, 0 },
		{ 8 * RING_PAGE + 1, 64, 0, 0 },
		{ UINT64_MAX - 7, 64, 0, 0 },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		const struct hostile *c = &cases[i];
		struct pair pair;

		pair_init(&pair);
		pair_open(&pair);
		assert_int_equal((uint64_t)pair.proc->nr_segments * pair.proc->segment_bytes,
				 data_bytes);

		struct ring *r = pair_thread()->ring;

		r->segment_used[0] = c->used;
		r->head = c->head;
		assert_int_equal(pair_look(&pair, true), c->taken);
		assert_int_equal(r->tail, c->tail);
		pair_stop(&pair);
		pair_close(&pair);
	}
}

/* The number of parts of each append to a file of records, and the store's own functions. */
static struct {
	int nr_parts[8];
	unsigned nr;
	const struct store_ops *inner;
} appends;

static int count_append(struct store *store, int stream, const struct iovec *parts, int nr)
{
	assert_true(appends.nr < ARRAY_SIZE(appends.nr_parts));
	appends.nr_parts[appends.nr++] = nr;
	return appends.inner->append(store, stream, parts, nr);
}

/* Check that seven segments become @nr appends, where the limit on the recording is @max_bytes. */
static void check_appends(uint64_t max_bytes, const int *nr_parts, unsigned nr)
{
	static const uint32_t used[8] = { 16, 32, 0, 48, 64, RING_PAGE, 16, 80 };
	struct store_ops ops;
	struct pair pair;

	pair_init(&pair);
	pair.settings.max_bytes = max_bytes;
	pair_open(&pair);

	struct ring *r = pair_thread()->ring;

	/* The task is named before appends are counted, since task.txt is a file that grows, too. */
	memcpy((void *)r->segment_used, used, sizeof(used));
	r->head = RING_PAGE;
	assert_int_equal(pair_look(&pair, false), 16);
	appends.inner = pair.rec.store->ops;
	appends.nr = 0;
	ops = *appends.inner;
	ops.append = count_append;
	pair.rec.store->ops = &ops;
	r->head = 8 * RING_PAGE;
	assert_int_equal(pair_look(&pair, false), 32 + 48 + 64 + RING_PAGE + 16 + 80);
	assert_int_equal(appends.nr, nr);
	assert_memory_equal(appends.nr_parts, nr_parts, nr * sizeof(*nr_parts));
	assert_int_equal(r->tail, 8 * RING_PAGE);
	assert_int_equal(pair_look(&pair, true), 0);
	assert_int_equal(appends.nr, nr);
	pair.rec.store->ops = appends.inner;
	pair_stop(&pair);
	pair_close(&pair);
}

/* One append has up to half of a ring. A segment without records is no part of it. */
TEST(test_segments_are_written_together)
{
	static const int parts[] = { 4, 2 };

	check_appends(0, parts, ARRAY_SIZE(parts));
}

TEST(test_max_size_counts_each_segment)
{
	static const int parts[] = { 1, 1, 1, 1, 1, 1 };

	check_appends(1 << 20, parts, ARRAY_SIZE(parts));
}

/* A producer cannot make the recorder read records again: the recorder uses its own tail. */
TEST(test_tail_is_the_recorders)
{
	struct producer p;
	struct pair pair;

	pair_init(&pair);
	pair_open(&pair);
	assert_true(producer_begin(&p));
	producer_emit(&p, 1, 0);
	pair_look(&pair, true);
	p.t->ring->tail = 0;
	assert_int_equal(pair_look(&pair, true), 0);
	p.t->ring->head = 0; /* lower than the recorder's tail */
	assert_int_equal(pair_look(&pair, true), 0);
	check_file(&pair, p.tid, &p.expected);
	strbuf_deinit(&p.expected);
	pair_stop(&pair);
	pair_close(&pair);
}

TEST(test_ring_without_a_task)
{
	struct producer p;
	struct pair pair;

	pair_init(&pair);
	pair_open(&pair);
	assert_true(producer_begin(&p));
	for (uint64_t i = 1; i <= 5; i++)
		producer_emit(&p, i, 0);
	p.t->ring->tid = -3;
	pair_look(&pair, true);
	assert_int_equal(pair.rec.writers.records_lost, 5);
	assert_int_equal(pair.rec.tasks.nr_tids, 0);

	/* The ring gets its task's number later. */
	p.t->ring->tid = p.tid;
	strbuf_reset(&p.expected);
	expect_record(&p.expected, 0, record_data(RECORD_LOST, 0, 5));
	producer_emit(&p, 6, 0);
	pair_stop(&pair);
	check_file(&pair, p.tid, &p.expected);
	strbuf_deinit(&p.expected);
	assert_int_equal(pair.rec.writers.records_lost, 5);
	pair_close(&pair);
}

/*
 * The records of a child are taken by a thread that has the rights of another user, who has no
 * right to write in the directory.
 */
TEST(test_child_of_another_user)
{
	const struct peer user = { .pid = INT_MAX, .uid = 65534, .gid = 65534 };
	struct rights before;
	struct producer p;
	struct pair pair;

	if (geteuid() != 0)
		skip_because("needs root, to have the rights of others");
	pair_init(&pair);
	pair_open(&pair);
	assert_true(producer_begin(&p));
	p.t->ring->is_child = 1;
	producer_emit(&p, 1, 0);
	assert_int_equal(rights_enter(&user, &before), 0);
	writer_drain_child(&pair.rec.writers, p.tid);
	rights_leave(&before);
	check_file(&pair, p.tid, &p.expected);
	assert_int_equal(pair.rec.writers.records_lost, 0);
	strbuf_deinit(&p.expected);
	pair_stop(&pair);
	pair_close(&pair);
}

/* --- rings that are used again --- */

TEST(test_reuse)
{
	struct producer first, second;
	struct pair pair;

	pair_init(&pair);
	pair_open(&pair);
	probe.plan.flags |= PLAN_DROP;
	assert_true(producer_begin(&first));
	for (uint64_t i = 1; i < 5000; i++)
		producer_emit(&first, i, 0);
	assert_true(first.untold > 0);
	expect_lost(&first);

	struct ring *r = first.t->ring;

	r->segment_before[0] = 77;
	r->lost_inside = 1;
	thread_give_back(first.t);
	assert_int_equal(r->state, RING_DONE);
	pair_look(&pair, false);
	assert_int_equal(r->state, RING_FREE);
	assert_int_equal(r->tid, 0);
	assert_int_equal(r->head, 0);
	assert_int_equal(r->tail, 0);
	assert_int_equal(r->lost, 0);
	assert_int_equal(r->lost_told, 0);
	assert_int_equal(r->lost_inside, 0);
	assert_int_equal(r->segment_before[0], 0);
	check_file(&pair, first.tid, &first.expected);

	assert_true(producer_begin(&second));
	assert_ptr_equal(second.t->ring, r);
	assert_int_not_equal(second.tid, first.tid);
	for (uint64_t i = 1; i < 300; i++)
		producer_emit(&second, i, 8);
	pair_stop(&pair);
	check_file(&pair, first.tid, &first.expected);
	check_file(&pair, second.tid, &second.expected);
	strbuf_deinit(&first.expected);
	strbuf_deinit(&second.expected);
	pair_close(&pair);
}

/* --- payloads of declared events --- */

static struct strbuf payloads_of_task(const struct pair *pair, int32_t tid)
{
	char name[32];

	snprintf(name, sizeof(name), "%d.evt", tid);
	return pair_file(pair, name);
}

/* Make the payload of event @nr. Returns its length. Both depend only on @nr. */
static uint16_t event_bytes(uint64_t nr, char *payload)
{
	uint16_t len = nr % 7 ? nr * 13 % 100 : RING_PAGE - 80 - nr % 9;

	for (uint16_t i = 0; i < len; i++)
		payload[i] = (char)(nr + i);
	return len;
}

static bool log_event(struct thread *t, uint64_t nr)
{
	char payload[RING_PAGE];

	return declared_record(t, EVENT_ID_USER + nr, payload, event_bytes(nr, payload));
}

/* Check that each of @nr events has a record, and an entry with the same time and id. */
static void check_events(const struct pair *pair, int32_t tid, uint64_t nr)
{
	struct strbuf records cleanup_strbuf = pair_data(pair, tid);
	struct strbuf entries cleanup_strbuf = payloads_of_task(pair, tid);
	const char *at = strbuf_str(&entries);
	char payload[RING_PAGE];

	assert_int_equal(records.len, nr * sizeof(struct record));
	for (uint64_t i = 0; i < nr; i++) {
		const struct record *r = (const struct record *)strbuf_str(&records) + i;
		const struct event_data *entry = (const struct event_data *)at;

		assert_int_equal(r->data, record_data(RECORD_EVENT, 0, EVENT_ID_USER + i));
		assert_int_equal(entry->time_ns, r->time_ns);
		assert_int_equal(entry->id, EVENT_ID_USER + i);
		assert_int_equal(entry->flags, 0);
		assert_int_equal(entry->len, event_bytes(i, payload));
		assert_memory_equal(entry + 1, payload, entry->len);
		at += sizeof(*entry) + ALIGN_UP((size_t)entry->len, (size_t)8);
	}
	assert_ptr_equal(at, strbuf_str(&entries) + entries.len);
}

static void look_at_all(void *arg)
{
	pair_look(arg, true);
}

/*
 * The second ring is allocated with the first event. The recorder waits for it as for the first
 * ring, and frees both together.
 */
TEST(test_payloads)
{
	struct producer quiet, p;
	struct pair pair;

	pair_init(&pair);
	pair_open(&pair);
	assert_true(producer_begin(&quiet));
	assert_true(producer_begin(&p));
	producer_emit(&quiet, 1, 0);
	assert_int_equal(p.t->ring->payloads, 0);
	pair_when_waiting(look_at_all, &pair);
	for (uint64_t nr = 0; nr < 500; nr++) {
		assert_true(log_event(p.t, nr));
		if (nr % 50 == 0)
			pair_look(&pair, nr % 100 == 0);
	}
	pair_when_waiting(NULL, NULL);

	struct ring *first = p.t->ring;
	struct ring *second = process_ring(pair.proc, first->payloads - 1);

	assert_int_equal(second->state, RING_PAYLOADS);
	assert_int_equal(second->index, first->index);
	assert_int_equal(quiet.t->ring->payloads, 0);
	pair_look(&pair, true);
	check_events(&pair, p.tid, 500);
	thread_give_back(p.t);
	pair_look(&pair, false);
	assert_int_equal(first->state, RING_FREE);
	assert_int_equal(first->payloads, 0);
	assert_int_equal(second->state, RING_FREE);
	assert_int_equal(second->head, 0);
	assert_int_equal(second->tail, 0);

	/* The next thread that uses this state and these rings begins anew. */
	struct thread *next = pair_thread();
	int32_t next_tid = next->ring->tid;

	assert_ptr_equal(next->ring, first);
	for (uint64_t nr = 0; nr < 9; nr++)
		assert_true(log_event(next, nr));
	pair_stop(&pair);
	check_events(&pair, next_tid, 9);
	check_events(&pair, p.tid, 500);
	check_file(&pair, quiet.tid, &quiet.expected);
	assert_int_equal(payloads_of_task(&pair, quiet.tid).len, 0);
	assert_int_equal(pair.rec.writers.records_lost, 0);
	strbuf_deinit(&quiet.expected);
	strbuf_deinit(&p.expected);
	pair_close(&pair);
}

/* A payload longer than a segment is truncated and marked. */
TEST(test_longest_payload)
{
	const uint16_t longest = RING_PAGE - 4 * sizeof(struct record) - sizeof(struct event_data);
	static const char payload[2 * RING_PAGE] = "long";
	struct producer p;
	struct pair pair;

	pair_init(&pair);
	pair_open(&pair);
	assert_true(producer_begin(&p));
	assert_true(declared_record(p.t, EVENT_ID_USER, payload, longest));
	assert_true(declared_record(p.t, EVENT_ID_USER, payload, longest + 1));
	assert_true(declared_record(p.t, EVENT_ID_USER, payload, sizeof(payload)));
	pair_stop(&pair);

	struct strbuf found cleanup_strbuf = payloads_of_task(&pair, p.tid);
	const char *at = strbuf_str(&found);

	assert_int_equal(found.len, 3 * (sizeof(struct event_data) + longest));
	for (size_t i = 0; i < 3; i++, at += sizeof(struct event_data) + longest) {
		const struct event_data *entry = (const struct event_data *)at;

		assert_int_equal(entry->len, longest);
		assert_int_equal(entry->flags, i ? EVENT_DATA_CUT : 0);
		assert_memory_equal(entry + 1, payload, longest);
	}
	pair_close(&pair);
}

/* Events are lost, and counted, when the second ring is full and when there is none. */
TEST(test_no_room_for_payloads)
{
	struct producer p, other;
	struct pair pair;
	uint64_t nr = 0;

	pair_init(&pair);
	pair_open(&pair);
	pair.proc->arena->nr_rings = pair.proc->nr_rings = 3;
	probe.plan.flags |= PLAN_DROP;
	assert_true(producer_begin(&p));
	assert_true(producer_begin(&other));
	while (log_event(p.t, nr))
		nr++;
	assert_int_equal(p.t->ring->lost, 1);
	for (unsigned i = 0; i < 5; i++)
		assert_false(log_event(other.t, i));
	assert_int_equal(other.t->ring->lost, 5);
	assert_int_equal(pair.proc->arena->threads_without_payloads, 1);
	pair_stop(&pair);

	struct strbuf records cleanup_strbuf = pair_data(&pair, p.tid);

	assert_int_equal(records.len,
			 (nr + 1) * sizeof(struct record)); /* one of the records is LOST */
	assert_int_equal(pair.rec.writers.records_lost, 6);
	pair_close(&pair);
}

/*
 * A program may name any of its rings as the second ring of another one. This damages no other
 * program's files.
 */
TEST(test_hostile_payloads)
{
	struct producer p[NR_PRODUCERS];
	struct pair pair;

	pair_init(&pair);
	pair_open(&pair);
	for (size_t i = 0; i < NR_PRODUCERS; i++) {
		assert_true(producer_begin(&p[i]));
		producer_emit(&p[i], i, 0);
	}
	p[0].t->ring->payloads = 1 + pair_ring_index(&pair, p[0].t->ring);
	p[1].t->ring->payloads = 1 + pair.proc->nr_rings;
	p[2].t->ring->payloads = 1 + pair_ring_index(&pair, p[0].t->ring);
	pair_look(&pair, true);
	p[1].t->ring->payloads = UINT32_MAX;
	producer_emit(&p[0], 7, 0);
	thread_give_back(p[2].t);
	pair_look(&pair, true);
	/* Only a ring that is marked as a second one is freed with a first one. */
	assert_int_equal(p[0].t->ring->state, RING_LIVE);
	pair_stop(&pair);
	for (size_t i = 0; i < NR_PRODUCERS; i++) {
		struct strbuf entries cleanup_strbuf = payloads_of_task(&pair, p[i].tid);

		check_file(&pair, p[i].tid, &p[i].expected);
		assert_int_equal(entries.len > 0, i == 2);
		strbuf_deinit(&p[i].expected);
	}
	pair_close(&pair);
}

/*
 * A task has several ended rings, since its number was used again. The oldest ring is taken first,
 * wherever it is in the arena.
 */
TEST(test_ended_rings_in_order)
{
	static const uint64_t starts[] = { 300, 100, 200, 400, 50 };
	static const uint64_t order[] = { 50, 100, 200, 300, 400 };
	struct strbuf expected cleanup_strbuf = { 0 };
	struct producer p[ARRAY_SIZE(starts)];
	struct pair pair;

	pair_init(&pair);
	pair_open(&pair);
	for (size_t i = 0; i < ARRAY_SIZE(starts); i++)
		assert_true(producer_begin(&p[i]));
	for (size_t i = 0; i < ARRAY_SIZE(starts); i++) {
		struct ring *r = p[i].t->ring;

		r->tid = 4999999;
		r->start_ns = starts[i];
		producer_emit(&p[i], starts[i], 0);
		strbuf_deinit(&p[i].expected);
		thread_give_back(p[i].t);
	}
	for (size_t i = 0; i < ARRAY_SIZE(order); i++)
		expect_record(&expected, order[i],
			      record_data(RECORD_ENTRY, order[i] % 50, order[i] * 16));
	pair_look(&pair, false);
	check_file(&pair, 4999999, &expected);
	pair_stop(&pair);
	pair_close(&pair);
}

/* Each writer serves rings of its own. */
TEST(test_writers_share_rings)
{
	struct producer p[5];
	struct pair pair;

	pair_init(&pair);
	pair_open(&pair);
	pair.rec.writers.nr = pair.rec.control->nr_writers = 2;
	for (size_t i = 0; i < ARRAY_SIZE(p); i++) {
		assert_true(producer_begin(&p[i]));
		producer_emit(&p[i], 1, 0);
		if (i >= 3)
			thread_give_back(p[i].t);
	}
	assert_int_equal(writer_look(&pair.rec.writers, 1, true), 16);
	for (size_t i = 0; i < ARRAY_SIZE(p); i++) {
		struct strbuf found cleanup_strbuf = pair_data(&pair, p[i].tid);

		assert_int_equal(found.len, i % 2 ? 16 : 0);
	}
	assert_int_equal(writer_look(&pair.rec.writers, 0, true), 32);
	for (size_t i = 0; i < ARRAY_SIZE(p); i++) {
		check_file(&pair, p[i].tid, &p[i].expected);
		strbuf_deinit(&p[i].expected);
	}
	pair.rec.writers.nr = 1;
	pair_stop(&pair);
	pair_close(&pair);
}

/* A thread that finds no free ring is counted. */
TEST(test_untraced_threads)
{
	struct pair pair;

	pair_init(&pair);
	pair_open(&pair);
	pair.proc->arena->nr_rings = pair.proc->nr_rings = 1;
	assert_non_null(pair_thread());
	assert_null(pair_thread());
	assert_null(pair_thread());
	pair_stop(&pair);
	assert_int_equal(pair.rec.writers.threads_untraced, 2);
	pair_close(&pair);
}
