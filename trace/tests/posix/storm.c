/*
 * Eight processes with eight threads each write into two streams for SECONDS. One stream loops, the
 * other stops when it is full; both are read, and filters change. In the second half processes are
 * killed, too, and others take their place.
 *
 * No event may be torn, come twice, or come out of its thread's order. All written events must have
 * been read or counted as lost. Only two may be missing of each killed thread: the event that it
 * was about to write, and the one that it dropped to make room.
 *
 * 	posix_storm SECONDS
 */
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <trace.h>
#include <unistd.h>

#define NR_PROCESSES 8
#define NR_THREADS   8
#define NR_STREAMS   2
#define NR_LIVES     8192 /* the number of processes that may run, one after the other */
#define BATCH	     2000 /* events of a stream that are read before the other stream is read */
#define KILL_NS	     50000000
#define HANGS_AFTER  180 /* the test hangs if it takes this many seconds more than it should */

/* The data of an event; the length and bytes of @more follow from the numbers. */
struct drop {
	uint32_t life, thread, number;
	unsigned char more[80];
};

/* For each thread, in shared memory: the number of events begun and written. */
struct count {
	_Atomic uint32_t begun, done;
};

/* @is_over: writers are to end */
static struct shared {
	_Atomic uint32_t is_over;
	struct count counts[NR_LIVES][NR_THREADS];
} * shared;

/* @next: for each thread, the least number that its next event may have */
struct reading {
	const char *name;
	trace_id_t trid;
	uint64_t nr_read;
	uint32_t next[NR_LIVES][NR_THREADS];
};

static trace_event_id_t drop_id, other_id;
static struct reading readings[NR_STREAMS] = { { .name = "loops" }, { .name = "stops when full" } };
static pid_t pids[NR_PROCESSES];
static uint32_t next_life, first_life, own_life;
static uint64_t nr_killed, nr_filters;
static unsigned int seconds_max;

static void check(int is_good, const char *what)
{
	if (is_good)
		return;
	fprintf(stderr, "storm: %s\n", what);
	for (int nr = 0; nr < NR_PROCESSES; nr++) {
		if (pids[nr] > 0)
			kill(pids[nr], SIGKILL);
	}
	exit(1);
}

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

/* --- writers --- */

static size_t size_of(const struct drop *drop)
{
	return offsetof(struct drop, more) + (drop->number * 7 + drop->thread) % sizeof(drop->more);
}

static void *blow(void *thread)
{
	struct drop drop = { own_life, (uint32_t)(uintptr_t)thread, 0, { 0 } };
	struct count *count = &shared->counts[drop.life][drop.thread];

	for (; !atomic_load_explicit(&shared->is_over, memory_order_relaxed); drop.number++) {
		memset(drop.more, (int)(drop.number & 255), sizeof(drop.more));
		atomic_store(&count->begun, drop.number + 1);
		posix_trace_event(drop_id, &drop, size_of(&drop));
		atomic_store(&count->done, drop.number + 1);
	}
	return NULL;
}

static pid_t begin_process(void)
{
	pthread_t threads[NR_THREADS];
	pid_t pid;

	own_life = next_life++;
	check(own_life < NR_LIVES, "too many processes");
	pid = fork();
	check(pid >= 0, "cannot fork");
	if (pid)
		return pid;
	alarm(seconds_max);
	memset(pids, 0, sizeof(pids));
	for (uintptr_t nr = 0; nr < NR_THREADS; nr++)
		check(!pthread_create(&threads[nr], NULL, blow, (void *)nr), "no thread");
	for (int nr = 0; nr < NR_THREADS; nr++)
		pthread_join(threads[nr], NULL);
	_exit(0);
}

/* --- readers --- */

static void check_drop(struct reading *reading, const unsigned char *data, size_t len)
{
	struct drop drop;

	memset(&drop, 0, sizeof(drop));
	check(len >= offsetof(struct drop, more) && len <= sizeof(drop),
	      "an event has no such size");
	memcpy(&drop, data, len);
	check(drop.life < next_life && drop.thread < NR_THREADS, "an event is of nobody");
	check(len == size_of(&drop), "an event is torn: its size");
	for (size_t at = 0; at < len - offsetof(struct drop, more); at++)
		check(drop.more[at] == (drop.number & 255), "an event is torn: its data");
	check(drop.number >= reading->next[drop.life][drop.thread],
	      "an event comes twice, or out of order");
	reading->next[drop.life][drop.thread] = drop.number + 1;
	reading->nr_read++;
}

/* Read some events. False when there were no more. */
static int read_some(struct reading *reading)
{
	struct posix_trace_event_info info;
	unsigned char data[256];
	int unavailable = 0;
	size_t len;

	for (int nr = 0; nr < BATCH; nr++) {
		check(!posix_trace_trygetnext_event(reading->trid, &info, data, sizeof(data), &len,
						    &unavailable),
		      "cannot read");
		if (unavailable)
			return 0;
		if (info.posix_event_id == drop_id)
			check_drop(reading, data, len);
	}
	return 1;
}

/*
 * Change the filters while other threads read them. The event that is filtered is never written, so
 * that all events still come.
 */
static void change_filters(void)
{
	trace_event_set_t set;

	posix_trace_eventset_empty(&set);
	posix_trace_eventset_add(other_id, &set);
	for (int nr = 0; nr < NR_STREAMS; nr++)
		posix_trace_set_filter(readings[nr].trid, &set,
				       ++nr_filters & 1 ? POSIX_TRACE_ADD_EVENTSET
							: POSIX_TRACE_SUB_EVENTSET);
}

static void replace(int nr)
{
	int status;

	kill(pids[nr], SIGKILL);
	waitpid(pids[nr], &status, 0);
	nr_killed++;
	pids[nr] = begin_process();
}

static void read_for(uint64_t ns, int kills)
{
	uint64_t begin = now_ns(), killed = begin;

	for (uint64_t now = begin; now - begin < ns; now = now_ns()) {
		int is_more = 0;

		for (int nr = 0; nr < NR_STREAMS; nr++)
			is_more |= read_some(&readings[nr]);
		change_filters();
		if (kills && now - killed > KILL_NS) {
			replace((int)(nr_killed % NR_PROCESSES));
			killed = now_ns();
		}
		if (!is_more)
			usleep(100);
	}
}

/* --- the account --- */

static void settle(struct reading *reading, uint64_t lost_before, uint64_t read_before, int kills)
{
	struct posix_trace_status_info status;
	uint64_t begun = 0, done = 0, found, may_lack;

	while (read_some(reading))
		;
	check(!posix_trace_get_status(reading->trid, &status), "no status");
	for (uint32_t life = first_life; life < next_life; life++) {
		for (int nr = 0; nr < NR_THREADS; nr++) {
			begun += atomic_load(&shared->counts[life][nr].begun);
			done += atomic_load(&shared->counts[life][nr].done);
		}
	}
	found = reading->nr_read - read_before + status.posix_stream_lost_events - lost_before;
	may_lack = kills ? nr_killed * NR_THREADS : 0;
	printf("%-16s %s: %llu written, %llu read, %llu lost, %llu processes killed, %llu "
	       "filters\n",
	       reading->name, kills ? "with kills" : "no kills  ", (unsigned long long)done,
	       (unsigned long long)(reading->nr_read - read_before),
	       (unsigned long long)(status.posix_stream_lost_events - lost_before),
	       (unsigned long long)nr_killed, (unsigned long long)nr_filters);
	check(found + may_lack >= done, "events are neither read nor counted");
	check(found <= begun, "more events are read or counted than were written");
}

static void half(uint64_t ns, int kills)
{
	uint64_t lost[NR_STREAMS], read[NR_STREAMS];
	struct posix_trace_status_info status;
	int ended;

	first_life = next_life;
	atomic_store(&shared->is_over, 0);
	for (int nr = 0; nr < NR_STREAMS; nr++) {
		posix_trace_get_status(readings[nr].trid, &status);
		lost[nr] = status.posix_stream_lost_events;
		read[nr] = readings[nr].nr_read;
	}
	for (int nr = 0; nr < NR_PROCESSES; nr++)
		pids[nr] = begin_process();
	read_for(ns, kills);
	atomic_store(&shared->is_over, 1);
	for (int nr = 0; nr < NR_PROCESSES; nr++) {
		check(waitpid(pids[nr], &ended, 0) == pids[nr] && ended == 0, "a process failed");
		pids[nr] = 0;
	}
	for (int nr = 0; nr < NR_STREAMS; nr++)
		settle(&readings[nr], lost[nr], read[nr], kills);
}

static void begin_stream(struct reading *reading, int policy)
{
	trace_event_set_t set;
	trace_attr_t attr;

	posix_trace_attr_init(&attr);
	posix_trace_attr_setinherited(&attr, POSIX_TRACE_INHERITED);
	posix_trace_attr_setstreamfullpolicy(&attr, policy);
	posix_trace_attr_setstreamsize(&attr, 32 << 10);
	check(!posix_trace_create(0, &attr, &reading->trid), "no stream");
	/* System events are filtered out: lost ones would be counted, too. */
	posix_trace_eventset_fill(&set, POSIX_TRACE_SYSTEM_EVENTS);
	posix_trace_set_filter(reading->trid, &set, POSIX_TRACE_SET_EVENTSET);
	check(!posix_trace_start(reading->trid), "no start");
}

static int run(double seconds)
{
	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
		      0);
	check(shared != MAP_FAILED, "no memory");
	alarm(seconds_max);
	posix_trace_eventid_open("drop", &drop_id);
	posix_trace_eventid_open("other", &other_id);
	begin_stream(&readings[0], POSIX_TRACE_LOOP);
	begin_stream(&readings[1], POSIX_TRACE_UNTIL_FULL);
	half((uint64_t)(seconds / 2 * 1e9), 0);
	half((uint64_t)(seconds / 2 * 1e9), 1);
	for (int nr = 0; nr < NR_STREAMS; nr++)
		check(!posix_trace_shutdown(readings[nr].trid), "cannot shut down");
	return 0;
}

/*
 * The storm runs in a child, and this process watches the folder: the files of a process disappear
 * when it ends.
 */
static int run_in(char *folder, double seconds)
{
	char command[128];
	int status = 0;
	pid_t pid = fork();

	if (pid == 0) {
		setenv("UTRAIL_TRACE_DIR", folder, 1);
		exit(run(seconds));
	}
	if (pid < 0 || waitpid(pid, &status, 0) != pid)
		return 1;
	snprintf(command, sizeof(command), "rm -rf %s", folder);
	if (system(command))
		fprintf(stderr, "storm: '%s' is left\n", folder);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

int main(int argc, char *argv[])
{
	double seconds = argc == 2 ? atof(argv[1]) : 0;
	char folder[] = "/tmp/utrail-storm-XXXXXX";

	if (seconds <= 0) {
		fprintf(stderr, "usage: posix_storm SECONDS\n");
		return 2;
	}
	seconds_max = (unsigned int)seconds + HANGS_AFTER;
	return mkdtemp(folder) ? run_in(folder, seconds) : 1;
}
