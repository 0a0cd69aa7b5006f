/*
 * Measures a declared event. Disabled, it is compared with a loop that loads a word and branches.
 * As a line of a log it is compared with snprintf() and write() to a file under a lock, with
 * signals blocked (five system calls). The variants take turns; the best time of each is printed in
 * ns.
 */
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "fstrace.h"

#define NR_QUICK 5000000
#define NR_LINES 5000
#define NR_TURNS 7

static volatile int flag;
static fstrace_event_t *off, *on;
static int lock_fd, log_fd;

static double now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ts);
	return ts.tv_sec * 1e9 + ts.tv_nsec;
}

static int rounds;

/*
 * The time of so short a loop also depends on its place within a cache line. SKIP shifts it, and
 * the caller tries all places.
 */
#if defined(SKIP) && defined(__x86_64__)
#define TEXT_OF(n)	TEXT_OF_(n)
#define TEXT_OF_(n)	#n
#define BEGIN_AT_SKIP() __asm__ volatile(".p2align 6\n\t.nops 1 + " TEXT_OF(SKIP))
#else
#define BEGIN_AT_SKIP() (void)0
#endif

static void run_branch(void)
{
	BEGIN_AT_SKIP();
	for (int i = 0; i < NR_QUICK; i++) {
		if (__builtin_expect(flag, 0))
			rounds++;
	}
}

static void run_disabled(void)
{
	BEGIN_AT_SKIP();
	for (int i = 0; i < NR_QUICK; i++)
		FSTRACE(off, i, "text");
}

static void run_text(void)
{
	for (int i = 0; i < NR_LINES; i++)
		FSTRACE(on, i, "eleven byte");
}

static void run_naive(void)
{
	for (int i = 0; i < NR_LINES; i++) {
		struct flock lock = { .l_type = F_WRLCK, .l_whence = SEEK_SET };
		struct timespec ts;
		sigset_t all, before;
		struct tm tm;
		char line[256];

		sigfillset(&all);
		pthread_sigmask(SIG_SETMASK, &all, &before);
		fcntl(lock_fd, F_SETLKW, &lock);
		clock_gettime(CLOCK_REALTIME, &ts);
		gmtime_r(&ts.tv_sec, &tm);
		int len = snprintf(line, sizeof(line),
				   "%04d-%02d-%02d %02d:%02d:%02d.%06ld BENCH-ON A=%d B=%s\n",
				   tm.tm_year + 1900, tm.tm_mon + 1, tm.tm_mday, tm.tm_hour,
				   tm.tm_min, tm.tm_sec, ts.tv_nsec / 1000, i, "eleven+byte");
		if (write(log_fd, line, len) < 0)
			exit(1);
		lock.l_type = F_UNLCK;
		fcntl(lock_fd, F_SETLK, &lock);
		pthread_sigmask(SIG_SETMASK, &before, NULL);
	}
}

static void keep_best(double *best, void (*run)(void), int nr, int nr_times)
{
	for (int i = 0; i < nr_times; i++) {
		double begin = now_ns();

		run();

		double took = (now_ns() - begin) / nr;

		if (took < *best)
			*best = took;
	}
}

int main(void)
{
	static const struct {
		const char *name;
		void (*run)(void);
		int nr, nr_times;
	} jobs[] = {
		{ "branch", run_branch, NR_QUICK, 10 },
		{ "disabled", run_disabled, NR_QUICK, 10 },
		{ "text", run_text, NR_LINES, 1 },
		{ "naive", run_naive, NR_LINES, 1 },
	};
	double best[4] = { 1e9, 1e9, 1e9, 1e9 };
	fstrace_t *trace = fstrace_open("bench", -1);

	off = fstrace_declare(trace, "BENCH-OFF", "A=%d B=%s");
	on = fstrace_declare(trace, "BENCH-ON", "A=%d B=%s");
	fstrace_select_regex(trace, "-ON$", NULL);
	lock_fd = open("lock", O_RDWR | O_CREAT, 0600);
	log_fd = open("naive.log", O_WRONLY | O_CREAT | O_APPEND, 0600);
	for (int turn = 0; turn < NR_TURNS; turn++) {
		for (int i = 0; i < 4; i++)
			keep_best(&best[i], jobs[i].run, jobs[i].nr, jobs[i].nr_times);
	}
	for (int i = 0; i < 4; i++)
		printf("%s %.3f\n", jobs[i].name, best[i]);
	return 0;
}
