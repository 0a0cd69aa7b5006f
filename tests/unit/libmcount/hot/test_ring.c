/*
 * The slow part of writing to a ring: segments, waiting for room, giving up, and messages to the
 * writer.
 */
#include <errno.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/unit/lib/own_name.h"
#include "tests/unit/lib/probe/pair.h"
#include "tests/unit/lib/unit.h"
#include "utils/base/unix_name.h"

#define NR_SEGMENTS	    8
#define DATA_BYTES	    (NR_SEGMENTS * RING_PAGE)
#define RECORDS_PER_SEGMENT (RING_PAGE / sizeof(struct record) - 1)

static void begin(struct pair *pair, struct thread **t)
{
	pair_init(pair);
	pair_open(pair);
	assert_int_equal(pair->proc->nr_segments, NR_SEGMENTS);
	*t = pair_thread();
	assert_non_null(*t);
}

static void end(struct pair *pair)
{
	pair_when_waiting(NULL, NULL);
	pair_stop(pair);
	pair_close(pair);
}

static void set_recorder(struct pair *pair, pid_t pid)
{
	pair->rec.control->recorder_pid = probe.recorder_here = pid;
}

static bool emit(struct thread *t)
{
	return emit_record(t, 1, record_data(RECORD_ENTRY, 0, 16), NULL, 0);
}

static void fill(struct thread *t)
{
	for (size_t i = 0; i < NR_SEGMENTS * RECORDS_PER_SEGMENT; i++)
		assert_true(emit(t));
}

/*
 * Each segment is filled until its last record does not fit. The next segment begins when it is
 * needed.
 */
TEST(test_segments)
{
	struct pair pair;
	struct thread *t;

	begin(&pair, &t);
	fill(t);
	for (size_t i = 0; i + 1 < NR_SEGMENTS; i++)
		assert_int_equal(t->ring->segment_used[i], RING_PAGE - sizeof(struct record));
	assert_int_equal(t->ring->head, DATA_BYTES - sizeof(struct record));
	assert_int_equal((uint64_t)t->at + t->position, t->ring->head);
	end(&pair);
}

/*
 * The longest record that fits into a segment is written. A longer record is lost, and the loss is
 * counted later.
 */
TEST(test_longest_record)
{
	const uint32_t longest = RING_PAGE - 3 * sizeof(struct record);
	static const char payload[RING_PAGE];
	const uint64_t data = record_data(RECORD_ENTRY, 0, 16);
	struct pair pair;
	struct thread *t;

	begin(&pair, &t);
	assert_true(emit_record(t, 1, data, payload, longest));
	assert_int_equal(t->ring->head, longest + sizeof(struct record));
	assert_true(emit_record(t, 2, data, payload, longest));
	assert_int_equal(t->ring->head, RING_PAGE + longest + sizeof(struct record));
	assert_false(emit_record(t, 3, data, payload, longest + 1));
	assert_int_equal(t->ring->head, RING_PAGE + longest + sizeof(struct record));
	note_lost(t, 1);
	assert_int_equal(t->ring->lost, 1);
	/* The longest record still fits with a LOST record before it. */
	assert_true(emit_record(t, 4, data, payload, longest));
	assert_int_equal(t->ring->lost_told, 1);
	assert_int_equal(t->ring->head, 2 * RING_PAGE + longest + 2 * sizeof(struct record));
	end(&pair);
}

/*
 * When half of the ring is full, the writer is woken for each further segment. While the writer is
 * awake, no futex call is made.
 */
TEST(test_wakes_writer)
{
	struct pair pair;
	struct thread *t;
	struct control_page *control;

	begin(&pair, &t);
	control = pair.rec.control;
	for (size_t i = 0; i < NR_SEGMENTS; i++) {
		unsigned before = pair_wakes();

		control->writers[0].sleeping = i != 5;
		for (size_t j = 0; j < RECORDS_PER_SEGMENT; j++)
			assert_true(emit(t));
		assert_int_equal(pair_wakes() - before, i >= NR_SEGMENTS / 2 && i != 5);
	}
	end(&pair);
}

/* Ring i belongs to writer i % nr_writers. */
TEST(test_wakes_its_writer)
{
	struct pair pair;
	struct thread *t;

	begin(&pair, &t);
	probe.nr_writers = 2;

	struct ring *second = pair_thread()->ring;
	struct ring *third = pair_thread()->ring;
	unsigned before = pair_wakes();

	pair.rec.control->writers[1].sleeping = 1;
	ring_wake_writer(t->ring);
	ring_wake_writer(third);
	assert_int_equal(pair_wakes(), before);
	ring_wake_writer(second);
	assert_int_equal(pair_wakes(), before + 1);
	pair.rec.control->writers[0].sleeping = 1;
	ring_wake_writer(third);
	assert_int_equal(pair_wakes(), before + 2);
	end(&pair);
}

struct waiting {
	struct pair *pair;
	struct ring *ring;
	unsigned nr;
	unsigned room_at; /* the number of the wait in which the recorder makes room; 0: in none */
	bool crawls;	  /* a writer takes a few bytes now and then */
};

static void note_wait(void *arg)
{
	struct waiting *w = arg;

	w->nr++;
	assert_int_equal(w->ring->waiting, 1);
	if (w->crawls && w->nr % 50 == 0)
		w->ring->tail += 8;
	if (w->nr == w->room_at) {
		uint32_t room = w->ring->room;
		unsigned before = pair_wakes();

		pair_look(w->pair, false);
		/* Each segment that the writer takes wakes a waiting thread. */
		assert_true(w->ring->room - room >= 1);
		assert_int_equal(pair_wakes() - before, w->ring->room - room);
	}
}

/* A thread waits as long as the recorder makes progress, however slow it is. */
TEST(test_waits)
{
	struct pair pair;
	struct thread *t;

	begin(&pair, &t);

	struct waiting w = { &pair, t->ring, .room_at = 10000, .crawls = true };

	set_recorder(&pair, getpid());
	fill(t);
	pair_when_waiting(note_wait, &w);
	assert_true(emit(t));
	assert_int_equal(w.nr, 10000);
	assert_int_equal(t->ring->waiting, 0);
	assert_int_equal(t->ring->lost, 0);
	end(&pair);
}

/*
 * The recorder does nothing for half a minute. After that the thread no longer waits for room in
 * the ring, until there is room again.
 */
TEST(test_gives_up)
{
	struct pair pair;
	struct thread *t;

	begin(&pair, &t);

	struct waiting w = { &pair, t->ring };

	set_recorder(&pair, getpid());
	fill(t);
	pair_when_waiting(note_wait, &w);
	assert_false(emit(t));
	assert_in_range(w.nr, 2900, 3100);
	assert_int_equal(t->ring->waiting, 0);
	assert_true(probe.tracing);
	for (int i = 0; i < 10; i++) {
		w.nr = 0;
		assert_false(emit(t));
		assert_int_equal(w.nr, 0);
		note_lost(t, 1);
	}
	pair_look(&pair, false);
	assert_true(emit(t));
	assert_int_equal(t->ring->lost_told, 10);
	end(&pair);
}

static pid_t make_recorder(void)
{
	pid_t pid = fork();

	if (pid == 0) {
		for (;;)
			pause();
	}
	assert_true(pid > 0);
	return pid;
}

/*
 * A stopped recorder (SIGSTOP) is noticed after a second. The program goes on, and is traced again
 * later.
 */
TEST(test_stopped_recorder)
{
	struct pair pair;
	struct thread *t;
	int status;

	begin(&pair, &t);

	struct waiting w = { &pair, t->ring };
	pid_t recorder = make_recorder();

	kill(recorder, SIGSTOP);
	assert_int_equal(waitpid(recorder, &status, WUNTRACED), recorder);
	set_recorder(&pair, recorder);
	fill(t);
	pair_when_waiting(note_wait, &w);
	assert_false(emit(t));
	assert_in_range(w.nr, 50, 150);
	assert_true(probe.tracing);
	pair_look(&pair, false);
	assert_true(emit(t));
	kill(recorder, SIGKILL);
	waitpid(recorder, &status, 0);
	end(&pair);
}

/* The recorder has ended, or is a zombie: tracing ends. */
TEST(test_dead_recorder)
{
	for (int is_buried = 0; is_buried < 2; is_buried++) {
		struct pair pair;
		struct thread *t;
		siginfo_t info;

		begin(&pair, &t);

		struct waiting w = { &pair, t->ring };
		pid_t recorder = make_recorder();

		kill(recorder, SIGKILL);
		waitid(P_PID, recorder, &info, WEXITED | (is_buried ? 0 : WNOWAIT));
		set_recorder(&pair, recorder);
		fill(t);
		pair_when_waiting(note_wait, &w);
		assert_false(emit(t));
		assert_in_range(w.nr, 50, 150);
		assert_false(probe.tracing);
		assert_false(probe.plain);
		if (!is_buried)
			waitpid(recorder, NULL, 0);
		end(&pair);
	}
}

/* Listens at probe.address, as a recorder does. */
static int listen_for_probes(void)
{
	struct sockaddr_un addr;
	int len = own_name(probe.address, sizeof(probe.address));
	socklen_t addr_len = unix_name_address(&addr, probe.address, len);
	int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);

	assert_return_code(bind(fd, (struct sockaddr *)&addr, addr_len), errno);
	assert_return_code(listen(fd, 100), errno);
	strcat(probe.address, ":0");
	return fd;
}

/*
 * The recorder has no number in the program's pid namespace, and no process there has the
 * recorder's number. The recorder counts as dead only when it does not listen any more.
 */
TEST(test_recorder_in_another_pid_namespace)
{
	for (int has_ended = 0; has_ended < 2; has_ended++) {
		struct pair pair;
		struct thread *t;

		begin(&pair, &t);

		struct waiting w = { &pair, t->ring, .room_at = 250 };
		pid_t unknown = make_recorder();
		int fd = listen_for_probes();

		kill(unknown, SIGKILL);
		waitpid(unknown, NULL, 0);
		pair.rec.control->recorder_pid = unknown;
		probe.recorder_here = 0;
		if (has_ended)
			close(fd);
		fill(t);
		pair_when_waiting(note_wait, &w);
		assert_int_equal(emit(t), !has_ended);
		assert_int_equal(probe.tracing, !has_ended);
		assert_true(has_ended ? w.nr < 150 : w.nr == 250);
		if (!has_ended)
			close(fd);
		end(&pair);
	}
}

static struct ring *torn_ring;
static uint64_t seen_told;

static void note_told(int sig)
{
	seen_told = torn_ring->lost_told;
	mprotect(ring_data(torn_ring), RING_PAGE, PROT_READ | PROT_WRITE);
}

/*
 * The record that reports losses goes to a page for which there may be no memory. Until the record
 * is written, the losses count as not reported.
 */
TEST(test_losses_are_told_after_their_record)
{
	struct sigaction act = { .sa_handler = note_told };
	struct sigaction before;
	struct pair pair;
	struct thread *t;

	begin(&pair, &t);
	fill(t);
	note_lost(t, 3);
	pair_look(&pair, false);
	torn_ring = t->ring;
	seen_told = UINT64_MAX;
	assert_int_equal(sigaction(SIGSEGV, &act, &before), 0);
	assert_int_equal(mprotect(ring_data(t->ring), RING_PAGE, PROT_NONE), 0);
	assert_true(emit(t));
	assert_int_equal(sigaction(SIGSEGV, &before, NULL), 0);
	assert_int_equal(seen_told, 0);
	assert_int_equal(t->ring->lost_told, 3);
	end(&pair);
}

TEST(test_drops)
{
	struct pair pair;
	struct thread *t;

	begin(&pair, &t);

	struct waiting w = { &pair, t->ring };

	probe.plan.flags |= PLAN_DROP;
	fill(t);

	unsigned wakes = pair_wakes();

	pair.rec.control->writers[0].sleeping = 1;
	pair_when_waiting(note_wait, &w);
	assert_false(emit(t));
	assert_int_equal(pair_wakes(), wakes + 1);
	/* There is still no room: the next attempt does not even wake the writer. */
	assert_false(emit(t));
	assert_int_equal(pair_wakes(), wakes + 1);
	assert_int_equal(w.nr, 0);
	pair_look(&pair, false);
	assert_true(emit(t));
	end(&pair);
}

/* After the end of the recording a thread gives up its ring. */
TEST(test_finished)
{
	struct pair pair;
	struct thread *t;

	begin(&pair, &t);
	assert_true(emit(t));
	probe_finish();
	/* The recorder decides whether the recording ends for all processes. */
	assert_int_equal(pair.proc->arena->finish_wanted, 1);
	assert_int_equal(pair.rec.control->finished, 0);
	t->end = t->at;
	assert_false(emit(t));
	assert_null(t->ring);
	assert_null(t->at);
	assert_null(t->end);
	assert_false(probe.tracing);
	note_lost(t, 1); /* without a ring there is no counter */
	assert_false(emit(t));
	end(&pair);
}

/*
 * Flight recording: threads do not wait, and wake no writer. The number of bytes before each
 * segment is noted.
 */
TEST(test_flight)
{
	struct pair pair;
	struct thread *t;
	uint64_t before = 0;

	pair_init(&pair);
	pair.settings.flight_bytes = 32 * RING_PAGE;
	pair_open(&pair);
	assert_int_equal(pair.proc->nr_segments, 32);
	assert_int_equal(pair.proc->segment_bytes, RING_PAGE);
	t = pair_thread();
	assert_non_null(t);
	pair.rec.control->writers[0].sleeping = 1;

	unsigned wakes = pair_wakes();

	for (uint64_t i = 0; i < 100; i++) {
		assert_true(emit_record(t, i, record_data(RECORD_ENTRY, 0, 16), "1234567", 8));
		before += 24;
		while (t->end - t->at >= 16) {
			assert_true(emit(t));
			before += 16;
		}
		assert_int_equal(t->ring->segment_before[i % 32] + t->ring->head % RING_PAGE,
				 before);
	}
	assert_int_equal(t->ring->tail, 0);
	assert_int_equal(t->ring->lost, 0);
	assert_int_equal(pair_wakes(), wakes);
	end(&pair);
}

/* The writer is told that a thread has ended. */
TEST(test_end_of_thread)
{
	struct pair pair;
	struct thread *t;
	struct ring *r;

	begin(&pair, &t);
	r = t->ring;
	assert_int_equal(r->state, RING_LIVE);
	assert_int_equal(pair.proc->arena->high_water, 1);
	assert_true(r->start_ns > 0);
	pair.rec.control->writers[0].sleeping = 1;

	unsigned wakes = pair_wakes();

	thread_give_back(t);
	assert_null(t->ring);
	assert_int_equal(t->in_use, 0);
	assert_int_equal(r->state, RING_DONE);
	assert_int_equal(pair_wakes(), wakes + 1);
	/* The thread's ring is not free before the writer says so. */
	assert_int_equal(pair_ring_index(&pair, pair_thread()->ring), 1);
	assert_int_equal(pair.proc->arena->high_water, 2);
	end(&pair);
}
