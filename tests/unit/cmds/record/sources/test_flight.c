/*
 * Flight recorder: a snapshot of a ring has the last records of its thread, without a gap, even if
 * the thread runs meanwhile.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <unistd.h>

#include "libmcount/values/declared.h"
#include "tests/unit/lib/probe/pair.h"
#include "tests/unit/lib/unit.h"

#define NR_SEGMENTS 32

static void begin(struct pair *pair, uint64_t max_bytes)
{
	pair_init(pair);
	pair->settings.flight_bytes = NR_SEGMENTS * RING_PAGE;
	pair->settings.max_bytes = max_bytes;
	pair_open(pair);
	assert_int_equal(pair->proc->nr_segments, NR_SEGMENTS);
	assert_int_equal(pair->proc->segment_bytes, RING_PAGE);
}

static void end(struct pair *pair)
{
	pair_stop(pair);
	pair_close(pair);
}

static uint64_t data_of(uint64_t nr)
{
	return record_data(RECORD_ENTRY, 1, nr);
}

/* Emits records @from to @to - 1: record n has time n and address n. */
static void emit(struct thread *t, uint64_t from, uint64_t to)
{
	for (uint64_t nr = from; nr < to; nr++)
		assert_true(emit_record(t, nr, data_of(nr), NULL, 0));
}

/*
 * Check that the file ends with record @last, and that records missing before its first one are
 * counted. Returns the number of records in it.
 */
static uint64_t check_file(const struct pair *pair, int32_t tid, uint64_t last)
{
	struct strbuf file cleanup_strbuf = pair_data(pair, tid);
	const struct record *r = (const struct record *)strbuf_str(&file);
	size_t nr = file.len / sizeof(*r);
	uint64_t missing = 0;

	assert_int_equal(file.len % sizeof(*r), 0);
	assert_true(nr > 0);
	if (record_type(r->data) == RECORD_LOST) {
		missing = record_addr(r->data);
		assert_int_equal(r->time_ns, 0);
		assert_true(missing > 0);
		r++;
		nr--;
	}
	for (size_t i = 0; i < nr; i++) {
		assert_int_equal(r[i].time_ns, missing + i);
		assert_int_equal(r[i].data, data_of(missing + i));
	}
	assert_int_equal(missing + nr, last + 1);
	return nr;
}

TEST(test_short_run)
{
	struct pair pair;
	struct thread *t;

	begin(&pair, 1 << 30);
	t = pair_thread();
	emit(t, 0, 1000);
	assert_int_equal(flight_save_all(&pair.rec.writers), 1);
	assert_int_equal(check_file(&pair, t->ring->tid, 999), 1000);
	assert_int_equal(pair.rec.tasks.nr_tids, 1);
	/* The second snapshot has one more record. The task is announced once. */
	emit(t, 1000, 1001);
	assert_int_equal(flight_save_all(&pair.rec.writers), 1);
	assert_int_equal(check_file(&pair, t->ring->tid, 1000), 1001);
	assert_int_equal(pair.rec.tasks.nr_tids, 1);
	assert_int_equal(pair.rec.writers.flight.nr, 1);
	assert_int_equal(pair.rec.writers.flight.bytes, 1001 * 16);

	/* The file has the usual mode: readable by all, written by its owner. */
	char name[32];
	struct stat st;
	mode_t mask = umask(0);

	flight_save_all(&pair.rec.writers);
	umask(mask);
	snprintf(name, sizeof(name), "%d.dat", t->ring->tid);
	assert_return_code(fstatat(pair.dir_fd, name, &st, 0), errno);
	assert_int_equal(st.st_mode & 07777, 0644);
	end(&pair);
}

/* The newest payloads are saved, too, each with its record. */
TEST(test_payloads)
{
	const size_t entry_bytes = sizeof(struct event_data) + sizeof(uint64_t);
	struct pair pair;
	struct thread *t;
	char name[32];

	begin(&pair, 1 << 30);
	t = pair_thread();
	for (uint64_t nr = 0; nr < 20000; nr++)
		assert_true(declared_record(t, EVENT_ID_USER, &nr, sizeof(nr)));
	flight_save_all(&pair.rec.writers);
	snprintf(name, sizeof(name), "%d.evt", t->ring->tid);

	struct strbuf records cleanup_strbuf = pair_data(&pair, t->ring->tid);
	struct strbuf entries cleanup_strbuf = pair_file(&pair, name);
	size_t nr_records = records.len / sizeof(struct record);
	size_t nr = entries.len / entry_bytes;

	assert_in_range(nr, 2000, nr_records);
	assert_int_equal(entries.len % entry_bytes, 0);
	assert_int_equal(pair.rec.writers.flight.bytes, records.len + entries.len);
	for (size_t i = 0; i < nr; i++) {
		const struct record *r = (const struct record *)strbuf_str(&records) + nr_records -
					 nr + i;
		const struct event_data *entry = (const struct event_data *)(strbuf_str(&entries) +
									     i * entry_bytes);

		assert_int_equal(entry->time_ns, r->time_ns);
		assert_int_equal(*(const uint64_t *)(entry + 1), 20000 - nr + i);
	}
	end(&pair);
}

/*
 * A snapshot is taken at every position of a ring that has wrapped. All is saved but the segment
 * that is overwritten next.
 */
TEST(test_every_place)
{
	const uint64_t per_segment = RING_PAGE / sizeof(struct record) - 1;
	const uint64_t per_ring = per_segment * NR_SEGMENTS;
	struct pair pair;
	struct thread *t;
	uint64_t nr = 0;

	begin(&pair, 1 << 30);
	t = pair_thread();
	for (unsigned i = 0; i < 80; i++) {
		/* The positions are around the ends of segments, and in the middle of some. */
		uint64_t next = per_segment * (i + 1) - 1 + i % 3 + (i % 5 == 0) * 100;

		emit(t, nr, next);
		nr = next;
		flight_save_all(&pair.rec.writers);

		uint64_t found = check_file(&pair, t->ring->tid, nr - 1);

		if (nr <= per_ring - per_segment)
			assert_int_equal(found, nr);
		else
			assert_in_range(found, per_ring - per_segment, per_ring);
	}
	assert_int_equal(pair.rec.store->error, 0);
	end(&pair);
}

/* The thread has noted that it begins the next lap, but has not written there yet. */
TEST(test_next_lap_is_noted)
{
	const uint64_t per_segment = RING_PAGE / sizeof(struct record) - 1;
	struct pair pair;
	struct thread *t;

	begin(&pair, 1 << 30);
	t = pair_thread();
	for (uint64_t lap = 1; lap <= 2; lap++) {
		emit(t, (lap - 1) * NR_SEGMENTS * per_segment, lap * NR_SEGMENTS * per_segment);
		t->ring->segment_before[0] = lap * NR_SEGMENTS * per_segment *
					     sizeof(struct record);
		flight_save_all(&pair.rec.writers);
		assert_int_equal(
			check_file(&pair, t->ring->tid, lap * NR_SEGMENTS * per_segment - 1),
			NR_SEGMENTS * per_segment);
	}
	end(&pair);
}

/* Several tasks share --max-size; each has one segment at least. */
TEST(test_budget)
{
	const uint64_t per_segment = RING_PAGE / sizeof(struct record) - 1;
	struct thread *t[4];
	struct pair pair;

	begin(&pair, 4 * 5 * RING_PAGE + 4 * sizeof(struct record));
	for (size_t i = 0; i < ARRAY_SIZE(t); i++) {
		t[i] = pair_thread();
		emit(t[i], 0, per_segment * 40);
	}
	assert_int_equal(flight_save_all(&pair.rec.writers), 4);
	for (size_t i = 0; i < ARRAY_SIZE(t); i++)
		assert_int_equal(check_file(&pair, t[i]->ring->tid, per_segment * 40 - 1),
				 per_segment * 5);
	assert_true(pair.rec.writers.flight.bytes <= pair.settings.max_bytes);
	end(&pair);

	begin(&pair, 1000);
	t[0] = pair_thread();
	emit(t[0], 0, per_segment * 40);
	flight_save_all(&pair.rec.writers);
	assert_int_equal(check_file(&pair, t[0]->ring->tid, per_segment * 40 - 1), per_segment);
	end(&pair);
}

/* The oldest files are deleted when the limit has no room for them beside the newest one. */
TEST(test_old_files_go)
{
	struct pair pair;
	int32_t tids[6];
	struct stat st;

	begin(&pair, 3 * 100 * sizeof(struct record));
	for (size_t i = 0; i < ARRAY_SIZE(tids); i++) {
		struct thread *t = pair_thread();

		tids[i] = t->ring->tid;
		emit(t, 0, 100);
		thread_give_back(t);
		pair_look(&pair, false);
		for (size_t j = 0; j <= i; j++) {
			char name[32];

			snprintf(name, sizeof(name), "%d.dat", tids[j]);
			assert_int_equal(fstatat(pair.dir_fd, name, &st, 0), j + 3 > i ? 0 : -1);
		}
		assert_int_equal(pair.rec.writers.flight.nr, i < 3 ? i + 1 : 3);
		assert_int_equal(pair.rec.writers.flight.bytes, (i < 3 ? i + 1 : 3) * 100 * 16);
		assert_int_equal(pair.rec.writers.flight.nr_gone, i < 3 ? 0 : i - 2);
	}
	check_file(&pair, tids[5], 99);
	end(&pair);
}

/* A task id that is used again has one file, the last one. */
TEST(test_same_task_again)
{
	struct pair pair;

	begin(&pair, 1 << 20);
	for (uint64_t i = 1; i <= 3; i++) {
		struct thread *first = pair_thread();
		struct thread *other = pair_thread();

		first->ring->tid = 4999999;
		emit(first, 0, 10 * i);
		emit(other, 0, 7);
		thread_give_back(first);
		thread_give_back(other);
		pair_look(&pair, false);
		assert_int_equal(check_file(&pair, 4999999, 10 * i - 1), 10 * i);
		assert_int_equal(pair.rec.writers.flight.nr, 1 + i);
		assert_int_equal(pair.rec.writers.flight.bytes, (10 * i + 7 * i) * 16);
	}
	end(&pair);
}

/* Damaged segments are left out; whole ones after them are kept. */
TEST(test_damaged_segments)
{
	const uint64_t per_segment = RING_PAGE / sizeof(struct record) - 1;
	static const uint32_t wrong[] = { RING_PAGE + 8, RING_PAGE - 12, UINT32_MAX };

	for (size_t i = 0; i < ARRAY_SIZE(wrong); i++) {
		struct pair pair;
		struct thread *t;

		begin(&pair, 1 << 30);
		t = pair_thread();
		emit(t, 0, per_segment * 10 + 5);
		t->ring->segment_used[4] = wrong[i];
		flight_save_all(&pair.rec.writers);
		assert_int_equal(check_file(&pair, t->ring->tid, per_segment * 10 + 4),
				 per_segment * 5 + 5);
		end(&pair);
	}
}

/* A head that no thread can reach: the recorder neither counts up to it nor uses it. */
TEST(test_damaged_heads)
{
	static const uint64_t heads[] = { UINT64_MAX - 7, UINT64_MAX, UINT64_MAX / 2 + 1,
					  INT64_MAX - 7 };

	for (size_t i = 0; i < ARRAY_SIZE(heads); i++) {
		struct pair pair;
		struct thread *t;

		begin(&pair, 1 << 30);
		t = pair_thread();
		emit(t, 0, 5);
		t->ring->head = heads[i];
		assert_int_equal(flight_save_all(&pair.rec.writers), 1);
		assert_true(pair.rec.writers.flight.bytes <=
			    NR_SEGMENTS * RING_PAGE + sizeof(struct record));
		end(&pair);
	}
}

TEST(test_ring_without_a_task)
{
	struct pair pair;
	struct thread *t;

	begin(&pair, 1 << 30);
	t = pair_thread();
	emit(t, 0, 5);
	t->ring->tid = 0;
	flight_save_all(&pair.rec.writers);
	t->ring->tid = -1;
	flight_save_all(&pair.rec.writers);
	assert_int_equal(pair.rec.writers.flight.nr, 0);
	assert_int_equal(pair.rec.tasks.nr_tids, 0);
	end(&pair);
}

/* The program can begin to use a ring after the rings were counted. */
TEST(test_ring_that_was_not_counted)
{
	struct pair pair;
	struct thread *t;

	begin(&pair, 1 << 30);
	t = pair_thread();
	emit(t, 0, 5);
	flight_save_ring(&pair.rec.writers, pair.proc, 0, 0);
	assert_int_equal(check_file(&pair, t->ring->tid, 4), 5);
	end(&pair);
}

/* The ring of a child of a vfork() gets the line of a child, and not of a thread. */
TEST(test_child_without_a_probe)
{
	struct pair pair;
	struct thread *t;

	begin(&pair, 1 << 30);
	t = pair_thread();
	emit(t, 0, 5);
	t->ring->is_child = true;
	t->ring->tid = getpid();
	flight_save_all(&pair.rec.writers);

	struct strbuf text cleanup_strbuf = pair_file(&pair, "task.txt");

	assert_non_null(strstr(strbuf_str(&text), "FORK timestamp="));
	end(&pair);
}

/* A thread that writes records as fast as it can, while snapshots are saved. */
struct runner {
	struct thread *t;
	_Atomic bool stops;
	uint64_t nr;
};

static void *run(void *arg)
{
	struct runner *r = arg;

	sigset_t alarms;

	sigemptyset(&alarms);
	sigaddset(&alarms, SIGALRM);
	pthread_sigmask(SIG_BLOCK, &alarms, NULL);
	while (!atomic_load(&r->stops)) {
		emit_record(r->t, r->nr, data_of(r->nr), NULL, 0);
		r->nr++;
	}
	return NULL;
}

/*
 * Simulates that the recorder loses its CPU at any moment, for many laps of the ring. This happens
 * a few times only: on busy CPUs the recorder wakes up late, and would find the next alarm pending
 * each time.
 */
static int nr_sleeps;

static void sleep_a_while(int sig)
{
	if (nr_sleeps++ < 5)
		nanosleep(&(struct timespec){ .tv_nsec = 2000000 }, NULL);
}

static void lose_the_cpu(bool begins)
{
	const struct sigaction action = { .sa_handler = sleep_a_while, .sa_flags = SA_RESTART };
	const struct itimerval often = { { 0, begins * 2200 }, { 0, begins * 50 } };

	nr_sleeps = 0;
	assert_return_code(sigaction(SIGALRM, &action, NULL), errno);
	assert_return_code(setitimer(ITIMER_REAL, &often, NULL), errno);
}

/*
 * The recorder loses its CPU while the ring is filled many times. Each snapshot has at least half
 * as many records as the ring has room for.
 */
TEST(test_snapshots_of_a_running_thread)
{
	const uint64_t per_segment = RING_PAGE / sizeof(struct record) - 1;
	struct runner runner = { 0 };
	struct pair pair;
	pthread_t thread;

	begin(&pair, 1 << 30);
	runner.t = pair_thread();
	assert_int_equal(pthread_create(&thread, NULL, run, &runner), 0);
	/* Wait until the ring has gone round once. */
	while (atomic_load(&runner.t->ring->head) < 2 * NR_SEGMENTS * RING_PAGE)
		usleep(1000);
	for (int i = 0; i < 50; i++) {
		lose_the_cpu(true);
		flight_save_all(&pair.rec.writers);
		lose_the_cpu(false);

		struct strbuf file cleanup_strbuf = pair_data(&pair, runner.t->ring->tid);

		assert_true(file.len >= 2 * sizeof(struct record));

		const struct record *records = (const struct record *)strbuf_str(&file);
		const struct record *last = records + file.len / sizeof(*last) - 1;
		uint64_t nr = check_file(&pair, runner.t->ring->tid, last->time_ns);

		assert_in_range(nr, (NR_SEGMENTS / 2 - 1) * per_segment, NR_SEGMENTS * per_segment);
	}
	atomic_store(&runner.stops, true);
	pthread_join(thread, NULL);
	flight_save_all(&pair.rec.writers);
	check_file(&pair, runner.t->ring->tid, runner.nr - 1);
	end(&pair);
}

/* Sources get shares of --max-size; the rest is for tasks. */
TEST(test_shares)
{
	const struct record_settings settings = { .max_bytes = 64 << 10 };
	const struct record_settings large = { .max_bytes = 1ULL << 40 };
	struct sources sources = { .settings = &settings };
	struct source perf, kernel;

	assert_int_equal(sources_kept_bytes(&settings, 2), (64 << 10) / 8 / 2);
	assert_int_equal(sources_kept_bytes(&settings, 4), (64 << 10) / 8 / 4);
	assert_int_equal(sources_kept_bytes(&large, 2), SOURCE_KEPT_BYTES_MAX);
	assert_int_equal(sources_left_bytes(&sources), 64 << 10);
	sources_add(&sources, &perf);
	sources_add(&sources, &kernel);
	assert_ptr_equal(sources.first, &perf);
	assert_ptr_equal(perf.next, &kernel);
	assert_int_equal(sources_left_bytes(&sources), (64 << 10) / 8 * 6);
}

/*
 * There are 1200 threads. Lines of ended threads are removed when a thousand files have been
 * deleted, or as many as are kept, if these are more.
 */
TEST(test_lines_of_old_tasks_go)
{
	struct strbuf text cleanup_strbuf = { 0 };
	struct pair pair;
	unsigned nr = 0;

	begin(&pair, 10 * sizeof(struct record));
	for (int i = 0; i < 1200; i++) {
		struct thread *t = pair_thread();

		emit(t, 0, 1);
		thread_give_back(t);
		pair_look(&pair, false);
	}
	text = pair_file(&pair, "task.txt");
	for (const char *at = strbuf_str(&text); (at = strstr(at, "TASK ")); at++)
		nr++;
	/*
	 * These lines stay: the program's own, those of ten threads that have a file, and those of
	 * later threads.
	 */
	assert_in_range(nr, 190, 220);
	assert_true(pair.rec.writers.flight.nr_gone < 1000);
	assert_int_equal(faccessat(pair.dir_fd, ".task.txt.tmp", F_OK, 0), -1);
	end(&pair);
}

/*
 * A thread has ended, and its file and its line were removed. Then a writer saves the ring of the
 * thread for the last time. The new file has a line, too.
 */
TEST(test_line_of_an_ended_thread_comes_again)
{
	struct pair pair;
	struct thread *ended;

	begin(&pair, 10 * sizeof(struct record));
	ended = pair_thread();
	ended->ring->tid = 4999999; /* no thread has this number */
	emit(ended, 0, 1);
	flight_save_all(&pair.rec.writers);
	for (int i = 0; i < 1100; i++) {
		struct thread *t = pair_thread();

		emit(t, 0, 1);
		thread_give_back(t);
		pair_look(&pair, false);
	}

	struct strbuf before cleanup_strbuf = pair_file(&pair, "task.txt");

	assert_null(strstr(strbuf_str(&before), "tid=4999999"));
	thread_give_back(ended);
	pair_look(&pair, false);
	check_file(&pair, 4999999, 0);

	struct strbuf after cleanup_strbuf = pair_file(&pair, "task.txt");

	assert_non_null(strstr(strbuf_str(&after), "tid=4999999"));
	end(&pair);
}

/* Stacks that a program makes have ids that are in use as long as their rings are. */
TEST(test_lines_of_old_stacks_go)
{
	struct strbuf text cleanup_strbuf = { 0 };
	struct pair pair;
	unsigned nr = 0;

	begin(&pair, 10 * sizeof(struct record));
	for (int i = 0; i < 1200; i++) {
		struct thread *t = pair_thread();

		t->ring->tid = RING_TID_STACK;
		/* A snapshot before the first record writes no line of task.txt. */
		if (i == 0)
			flight_save_all(&pair.rec.writers);
		assert_int_equal(pair.rec.tasks.nr_stacks, 0);
		emit(t, 0, 1);
		flight_save_all(&pair.rec.writers);
		assert_int_equal(pair.rec.tasks.nr_stacks, 1);
		thread_give_back(t);
		pair_look(&pair, false);
		assert_int_equal(pair.rec.tasks.nr_stacks, 0);
	}
	text = pair_file(&pair, "task.txt");
	for (const char *at = strbuf_str(&text); (at = strstr(at, "TASK ")); at++)
		nr++;
	assert_in_range(nr, 190, 220);
	end(&pair);
}

/*
 * Check that no temporary file is left, whether or not the file could be written, and that a later
 * snapshot succeeds.
 */
static void check_failure(struct pair *pair, struct thread *t, int code)
{
	char tmp[32];

	snprintf(tmp, sizeof(tmp), ".%d.dat.tmp", t->ring->tid);
	flight_save_all(&pair->rec.writers);
	assert_int_equal(pair->rec.store->error, code);
	pair->rec.store->error = 0;
	unlinkat(pair->dir_fd, tmp, AT_REMOVEDIR);
	assert_int_equal(faccessat(pair->dir_fd, tmp, F_OK, 0), -1);
	assert_int_equal(pair->rec.writers.flight.nr, 0);
}

TEST(test_files_that_cannot_be_written)
{
	struct rlimit limit;
	struct pair pair;
	struct thread *t;
	char name[32];

	begin(&pair, 1 << 30);
	t = pair_thread();
	emit(t, 0, 5);
	snprintf(name, sizeof(name), ".%d.dat.tmp", t->ring->tid);
	assert_return_code(mkdirat(pair.dir_fd, name, 0700), errno);
	check_failure(&pair, t, -EISDIR);

	snprintf(name, sizeof(name), "%d.dat", t->ring->tid);
	assert_return_code(mkdirat(pair.dir_fd, name, 0700), errno);
	check_failure(&pair, t, -EISDIR);
	assert_return_code(unlinkat(pair.dir_fd, name, AT_REMOVEDIR), errno);

	/* A full disk. */
	signal(SIGXFSZ, SIG_IGN);
	getrlimit(RLIMIT_FSIZE, &limit);
	limit.rlim_cur = 40;
	assert_return_code(setrlimit(RLIMIT_FSIZE, &limit), errno);
	check_failure(&pair, t, -EFBIG);
	limit.rlim_cur = limit.rlim_max;
	assert_return_code(setrlimit(RLIMIT_FSIZE, &limit), errno);

	flight_save_all(&pair.rec.writers);
	check_file(&pair, t->ring->tid, 4);
	assert_int_equal(pair.rec.writers.flight.nr, 1);
	assert_int_equal(pair.rec.store->error, 0);
	end(&pair);
}
