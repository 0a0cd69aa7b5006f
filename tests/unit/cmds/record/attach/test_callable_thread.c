/*
 * Unit tests of cmds/record/attach/callable_thread.c: places where a thread may be made to load a
 * library, and places where it must not.
 */
#include "tests/unit/lib/sanitized.h"
#include "tests/unit/lib/unit.h"

#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cmds/record/attach/callable_thread.h"
#include "utils/base/cleanup.h"

/* Memory that child and test share. @gate: 0 as long as the child must wait */
struct shared {
	_Atomic int is_ready;
	_Atomic int gate;
	_Atomic int turns;
	pthread_mutex_t lock;
};

static struct shared *shared;

static void wait_for_bits(void)
{
	syscall(SYS_futex, &shared->gate, FUTEX_WAIT_BITSET, 0, NULL, NULL, 1);
}

/* Waits as the allocator and the dynamic linker do, but by syscall(3). */
static void wait_without_end(void)
{
	syscall(SYS_futex, &shared->gate, FUTEX_WAIT, 0, NULL, NULL, 0);
}

/* Waits for a lock as the allocator and the dynamic linker do. */
static void wait_for_lock(void)
{
	pthread_mutex_lock(&shared->lock);
	pthread_mutex_unlock(&shared->lock);
}

static void wait_for_signal(void)
{
	pause();
}

static void compute(void)
{
	atomic_fetch_add(&shared->turns, 1);
}

static void handle(int sig)
{
	while (!atomic_load(&shared->gate))
		syscall(SYS_futex, &shared->gate, FUTEX_WAIT_BITSET, 0, NULL, NULL, 1);
}

/* A signal interrupts the thread. Its handler waits with FUTEX_WAIT_BITSET, as wait_for_bits(). */
static void be_interrupted(void)
{
	signal(SIGUSR1, handle);
	if (!atomic_load(&shared->gate))
		raise(SIGUSR1);
	wait_for_signal();
}

/* The handler blocks no signal, not even its own. */
static void be_interrupted_openly(void)
{
	struct sigaction act = { .sa_handler = handle, .sa_flags = SA_NODEFER };

	sigaction(SIGUSR1, &act, NULL);
	if (!atomic_load(&shared->gate))
		raise(SIGUSR1);
	wait_for_signal();
}

/* The handler runs once. Meanwhile the process has no handler, and no signal is blocked. */
static void be_interrupted_once(void)
{
	struct sigaction act = { .sa_handler = handle, .sa_flags = SA_NODEFER | SA_RESETHAND };

	sigaction(SIGUSR1, &act, NULL);
	if (!atomic_load(&shared->gate))
		raise(SIGUSR1);
	wait_for_signal();
}

/* Wait until the process waits in the kernel. */
static void await_sleep(pid_t pid)
{
	char path[64];
	char text[512] = "";

	snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	while (!strstr(text, ") S ")) {
		FILE *f = fopen(path, "r");

		assert_non_null(f);
		assert_non_null(fgets(text, sizeof(text), f));
		fclose(f);
		sched_yield();
	}
}

static pid_t start(void (*what)(void))
{
	pid_t pid = fork();

	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		atomic_store(&shared->is_ready, 1);
		for (;;) {
			what();
			if (atomic_load(&shared->gate))
				what = wait_for_signal;
		}
	}
	while (!atomic_load(&shared->is_ready))
		sched_yield();
	if (what != compute)
		await_sleep(pid);
	return pid;
}

struct looks {
	const struct attached *w;
	int nr;
	int patience;
};

/*
 * Count the looks: between two of them no thread is stopped. After @patience failed looks the child
 * may go on.
 */
static void count_looks(void *arg)
{
	struct looks *looks = arg;

	if (looks->w->nr || ++looks->nr < looks->patience)
		return;
	atomic_store(&shared->gate, 1);
	syscall(SYS_futex, &shared->gate, FUTEX_WAKE, 1, NULL, NULL, 0);
	if (looks->nr == looks->patience)
		pthread_mutex_unlock(&shared->lock);
}

/* Returns how many looks failed before the only thread of a child could be called. */
static int looks_until_quiet(void (*what)(void), int patience)
{
	struct attached w cleanup_world = ATTACHED_CLOSED;
	struct maps maps cleanup_maps = { 0 };
	struct attached_thread *thread = NULL;
	struct uft_err err = { 0 };
	struct looks looks = { .w = &w, .patience = patience };
	pid_t pid;

	*shared = (struct shared){ .lock = PTHREAD_MUTEX_INITIALIZER };
	pthread_mutex_lock(&shared->lock);
	pid = start(what);
	assert_int_equal(maps_read(&maps, pid), 0);
	assert_int_equal(attached_open(&w, pid, &err), 0);

	const struct mapping *libc = maps_module(&maps, callable_thread_libc_names);

	assert_non_null(libc);
	libc = maps_code(&maps, libc);
	assert_non_null(libc);
	assert_int_equal(attached_find_gadgets(&w, libc->start, libc->end, &err), 0);
	w.wait = count_looks;
	w.wait_arg = &looks;
	assert_int_equal(callable_thread_stop(&w, &maps, &thread, &err), 0);
	assert_non_null(thread);
	assert_int_equal(thread->tid, pid);
	assert_true(thread->is_stopped);
	attached_let_go(&w);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	return looks.nr;
}

/* A thread that waits for events holds no lock. */
TEST(waiting_for_events_is_quiet)
{
	assert_int_equal(looks_until_quiet(wait_for_bits, 3), 0);
	assert_int_equal(looks_until_quiet(wait_for_signal, 3), 0);
}

/* The thread may hold the allocator's lock, or be about to get it. */
TEST(waiting_for_locks_is_not)
{
	assert_true(looks_until_quiet(wait_for_lock, 60) >= 60);
}

/*
 * The thread waits by syscall(3), where neither the allocator nor the dynamic linker waits. So it
 * can be called, but only after a few looks for another thread. A sanitizer has an allocator of its
 * own, which may wait by syscall(3).
 */
TEST(waiting_past_the_c_librarys_locks_is)
{
	int looks = looks_until_quiet(wait_without_end, 60);

	assert_true(looks >= 3);
	if (!IS_SANITIZED)
		assert_true(looks < 60);
}

TEST(the_programs_own_code_is_quiet)
{
	assert_int_equal(looks_until_quiet(compute, 3), 0);
}

/* A thread in a signal handler is not quiet: it is unknown what the handler has interrupted. */
TEST(handlers_are_not)
{
	assert_true(looks_until_quiet(be_interrupted, 3) >= 3);
	assert_true(looks_until_quiet(be_interrupted_openly, 3) >= 3);
	assert_true(looks_until_quiet(be_interrupted_once, 3) >= 3);
}

int main(void)
{
	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
		      0);
	if (shared == MAP_FAILED)
		return 1;
	return unit_run();
}
