/*
 * Unit tests of cmds/record/attach/attached.c and call.c: a child with threads is stopped, made to
 * call, moved, and let go.
 */
#include "tests/unit/lib/attach/attached_children.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "cmds/record/attach/attached_private.h"
#include "utils/base/compiler.h"

#define THREADS 6

/* A limit of waiting: a busy machine may take long. */
#define AWAIT_MS 60000

/*
 * Memory that child and test share.
 *
 * @turns: rounds of each thread that computes
 * @bad: a thread has found its vector registers changed
 */
struct shared {
	_Atomic int is_ready;
	_Atomic uint64_t turns[THREADS];
	_Atomic int bad;
	_Atomic int slept_ms;
	_Atomic int sleep_result;
	_Atomic int stays;
	_Atomic uint64_t called_with;
	_Atomic int never;
	_Atomic int handled;
};

static struct shared *shared;

/* The function that the test makes the child call. */
NOINLINE static uint64_t callee(uint64_t a, uint64_t b, uint64_t c, uint64_t d, uint64_t e,
				uint64_t f)
{
	/* Change registers that any call may change. */
	__asm__ volatile("pxor %%xmm6, %%xmm6\n\tpxor %%xmm7, %%xmm7" ::: "xmm6", "xmm7");
	atomic_store(&shared->called_with, a + 10 * b + 100 * c + 1000 * d + 10000 * e);
	return f + 1;
}

NOINLINE static uint64_t slow_callee(uint64_t ms)
{
	struct timespec time = { 0, ms * 1000000 };

	__asm__ volatile("pxor %%xmm6, %%xmm6\n\tpxor %%xmm7, %%xmm7" ::: "xmm6", "xmm7");
	atomic_store(&shared->called_with, 1);
	nanosleep(&time, NULL);
	atomic_store(&shared->called_with, 2);
	return 0;
}

/* Stays until the test lets it go. */
NOINLINE static uint64_t staying_callee(void)
{
	const struct timespec time = { 0, 1000000 };

	__asm__ volatile("pxor %%xmm6, %%xmm6\n\tpxor %%xmm7, %%xmm7" ::: "xmm6", "xmm7");
	atomic_store(&shared->called_with, 1);
	while (!atomic_load(&shared->stays))
		nanosleep(&time, NULL);
	atomic_store(&shared->called_with, 2);
	return 0;
}

NOINLINE static uint64_t bad_callee(void)
{
	volatile uint64_t *volatile nowhere = (void *)8;

	return *nowhere;
}

static void *compute(void *arg)
{
	_Atomic uint64_t *turns = arg;
	uint64_t rounds = 0;

	for (;;) {
		uint64_t low, flags_kept;

		/*
		 * Vector registers, general registers and a flag keep their values, although
		 * signals and calls interrupt the loop.
		 */
		__asm__ volatile("movq %2, %%xmm6\n\tmovq %2, %%xmm7\n\tmov $2000, %%ecx\n\tstc\n"
				 "1:\tdec %%ecx\n\tjnz 1b\n\tsetc %b1\n\tpand %%xmm7, "
				 "%%xmm6\n\tmovq %%xmm6, %0"
				 : "=&r"(low), "=&q"(flags_kept)
				 : "r"(rounds)
				 : "xmm6", "xmm7", "ecx", "cc");
		if (low != rounds || (flags_kept & 0xff) != 1)
			atomic_store(&shared->bad, 1);
		rounds++;
		atomic_store(turns, rounds);
	}
	return NULL;
}

static void *end_at_once(void *arg)
{
	return arg;
}

static void *come_and_go(void *arg)
{
	for (;;) {
		pthread_t thread;

		if (pthread_create(&thread, NULL, end_at_once, NULL) == 0)
			pthread_join(thread, NULL);
	}
	return NULL;
}

#define SLEEP_MS 300

static uint64_t now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000ULL + now.tv_nsec / 1000000;
}

static void be_child(int nr_threads)
{
	pthread_t thread;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	for (int i = 0; i < nr_threads; i++)
		pthread_create(&thread, NULL, compute, &shared->turns[i]);
	if (nr_threads > 1)
		pthread_create(&thread, NULL, come_and_go, NULL);
	atomic_store(&shared->is_ready, 1);
	for (;;) {
		const struct timespec time = { 0, SLEEP_MS * 1000000L };
		uint64_t begin = now_ms();

		atomic_store(&shared->sleep_result, nanosleep(&time, NULL));
		atomic_store(&shared->slept_ms, (int)(now_ms() - begin));
	}
}

static void await(_Atomic uint64_t *value, uint64_t above)
{
	for (int i = 0; i < AWAIT_MS && atomic_load(value) <= above; i++)
		usleep(1000);
	assert_true(atomic_load(value) > above);
}

/* Waits until the child has slept again. */
static void await_sleep(void)
{
	for (int i = 0; i < AWAIT_MS && !atomic_load(&shared->slept_ms); i++)
		usleep(1000);
	assert_true(atomic_load(&shared->slept_ms) > 0);
}

static pid_t start(int nr_threads)
{
	memset(shared, 0, sizeof(*shared));

	pid_t pid = fork();

	if (pid == 0)
		be_child(nr_threads);
	while (!atomic_load(&shared->is_ready))
		usleep(1000);
	for (int i = 0; i < nr_threads; i++)
		await(&shared->turns[i], 0);
	return pid;
}

static void stop(pid_t pid)
{
	int status;

	assert_int_equal(waitpid(pid, &status, WNOHANG | __WALL), 0);
	kill(pid, SIGKILL);
	waitpid(pid, &status, __WALL);
	assert_int_equal(atomic_load(&shared->bad), 0);
}

TEST(test_stops_all)
{
	pid_t pid = start(THREADS);
	struct attached w = ATTACHED_CLOSED;

	open_stopped_child(&w, pid);
	for (int round = 0; round < 20; round++) {
		uint64_t before[THREADS];

		assert_int_equal(attached_stop(&w, NULL), 0);
		for (int i = 0; i < THREADS; i++)
			before[i] = atomic_load(&shared->turns[i]);
		usleep(3000);
		for (int i = 0; i < THREADS; i++)
			assert_int_equal(before[i], atomic_load(&shared->turns[i]));
		attached_let_go(&w);
		for (int i = 0; i < THREADS; i++)
			await(&shared->turns[i], before[i]);
	}
	attached_close(&w);
	stop(pid);
}

TEST(test_calls)
{
	pid_t pid = start(2);
	struct attached w = ATTACHED_CLOSED;
	const uint64_t args[6] = { 1, 2, 3, 4, 5, 6 };
	const uint64_t none[6] = { 0 };

	open_stopped_child(&w, pid);
	for (int round = 0; round < 20; round++) {
		uint64_t result = 0;
		int64_t pid_there = 0;

		assert_int_equal(attached_stop(&w, NULL), 0);

		struct attached_thread *t = w.threads[round % w.nr];

		if (t->is_gone) {
			attached_let_go(&w);
			continue;
		}
		assert_int_equal(attached_syscall(&w, t, SYS_getpid, none, &pid_there, NULL), 0);
		assert_int_equal(pid_there, pid);
		assert_int_equal(attached_make_room(&w, t, NULL), 0);
		attached_let_others_go(&w, t);
		assert_int_equal(
			attached_call(&w, t, (uint64_t)callee, args, AWAIT_MS, &result, NULL), 0);
		assert_int_equal(result, 7);
		assert_int_equal(atomic_load(&shared->called_with), 54321);
		assert_int_equal(
			attached_call(&w, t, (uint64_t)bad_callee, none, AWAIT_MS, &result, NULL),
			-EFAULT);
		assert_int_equal(
			attached_call(&w, t, (uint64_t)callee, args, AWAIT_MS, &result, NULL), 0);
		assert_int_equal(attached_drop_room(&w, t, NULL), 0);
		attached_let_go(&w);
		usleep(2000);
	}
	attached_close(&w);
	stop(pid);
}

/* The thread sleeps for its full time, and does not notice the interruption. */
TEST(test_system_call_goes_on)
{
	pid_t pid = start(1);
	struct attached w = ATTACHED_CLOSED;
	const uint64_t none[6] = { 0 };
	uint64_t result;

	open_stopped_child(&w, pid);
	for (int i = 0; i < 2; i++) {
		atomic_store(&shared->slept_ms, 0);
		while (!atomic_load(&shared->slept_ms))
			usleep(1000);
		atomic_store(&shared->slept_ms, 0);
		usleep(SLEEP_MS * 700);
		assert_int_equal(attached_stop(&w, NULL), 0);
		assert_int_equal(attached_make_room(&w, main_thread(&w), NULL), 0);
		assert_int_equal(attached_call(&w, main_thread(&w), (uint64_t)callee, none,
					       AWAIT_MS, &result, NULL),
				 0);
		assert_int_equal(attached_drop_room(&w, main_thread(&w), NULL), 0);
		attached_let_go(&w);
		while (!atomic_load(&shared->slept_ms))
			usleep(1000);
		assert_int_equal(atomic_load(&shared->sleep_result), 0);
		assert_true(atomic_load(&shared->slept_ms) >= SLEEP_MS);
		/*
		 * If the sleep had begun anew it would take 1.7 times as long. A busy machine may
		 * be late, which proves nothing.
		 */
		if (atomic_load(&shared->slept_ms) > SLEEP_MS * 3 / 2)
			print_message("slept %d ms of %d\n", atomic_load(&shared->slept_ms),
				      SLEEP_MS);
	}
	attached_close(&w);
	stop(pid);
}

/* The tracer dies while a call runs: the call ends, and the thread goes on. */
TEST(test_tracer_dies)
{
	for (int round = 0; round < 12; round++) {
		pid_t pid = start(2);
		pid_t tracer = fork();

		if (tracer == 0) {
			struct attached w = ATTACHED_CLOSED;
			const uint64_t none[6] = { 0 };
			const uint64_t ms[6] = { 20 };
			uint64_t result;

			open_stopped_child(&w, pid);
			for (;;) {
				if (attached_stop(&w, NULL) < 0)
					_exit(1);

				struct attached_thread *t = w.threads[round % w.nr];

				if (t->is_gone) {
					attached_let_go(&w);
					continue;
				}
				attached_make_room(&w, t, NULL);
				attached_let_others_go(&w, t);
				attached_call(&w, t, (uint64_t)slow_callee, round % 2 ? ms : none,
					      AWAIT_MS, &result, NULL);
				attached_drop_room(&w, t, NULL);
				attached_let_go(&w);
			}
		}
		if (round % 4 == 1) {
			while (atomic_load(&shared->called_with) != 1)
				usleep(500);
		} else {
			usleep(1000 + round * 531);
		}
		kill(tracer, SIGKILL);
		waitpid(tracer, NULL, 0);

		uint64_t before[2] = { atomic_load(&shared->turns[0]),
				       atomic_load(&shared->turns[1]) };

		await(&shared->turns[0], before[0] + 3);
		await(&shared->turns[1], before[1] + 3);
		atomic_store(&shared->slept_ms, 0);
		await_sleep();
		assert_int_equal(atomic_load(&shared->sleep_result), 0);
		stop(pid);
	}
}

/*
 * The first stop interrupts the sleep, so the second one interrupts restart_syscall(2), which
 * cannot be begun anew. Then the tracer dies.
 */
TEST(test_tracer_dies_at_second_stop)
{
	pid_t pid = start(1);
	pid_t tracer = fork();

	if (tracer == 0) {
		struct attached w = ATTACHED_CLOSED;
		const uint64_t ms[6] = { 100 };
		uint64_t result;

		open_stopped_child(&w, pid);
		for (int i = 0; i < 2; i++) {
			attached_let_go(&w);
			usleep(5000);
			assert_int_equal(attached_stop(&w, NULL), 0);
		}
		attached_make_room(&w, main_thread(&w), NULL);
		attached_let_others_go(&w, main_thread(&w));
		attached_call(&w, main_thread(&w), (uint64_t)slow_callee, ms, AWAIT_MS, &result,
			      NULL);
		_exit(1);
	}
	await(&shared->called_with, 0);
	kill(tracer, SIGKILL);
	waitpid(tracer, NULL, 0);
	atomic_store(&shared->slept_ms, 0);
	await_sleep();
	assert_int_equal(atomic_load(&shared->called_with), 2);
	assert_int_equal(atomic_load(&shared->sleep_result), 0);
	stop(pid);
}

/* Waits until process @pid has the letter @state in /proc. */
static void await_state(pid_t pid, char state)
{
	char path[64], text[512];

	snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	for (int i = 0; i < AWAIT_MS; i++) {
		int fd = open(path, O_RDONLY | O_CLOEXEC);
		ssize_t n = read(fd, text, sizeof(text) - 1);

		text[n > 0 ? n : 0] = '\0';
		close(fd);

		const char *end = strrchr(text, ')');

		if (end && end[2] == state)
			return;
		usleep(1000);
	}
	_exit(1);
}

/* The number of waits for a stop before the tracer dies. */
static int waits_left;

/*
 * Waits until thread @arg has stopped once more. Then the tracer dies, before it is told of that
 * stop.
 */
static void die_at_stop(void *arg)
{
	if (waits_left-- > 0)
		return;
	await_state(*(const pid_t *)arg, 't');
	kill(getpid(), SIGKILL);
}

/*
 * The tracer dies after a thread has stopped at a system call, and before it has waited for that:
 * no SIGTRAP may end the thread.
 */
TEST(test_tracer_dies_at_system_call)
{
	for (int round = 0; round < 8; round++) {
		pid_t pid = start(1);
		pid_t tracer = fork();
		int status;

		if (tracer == 0) {
			struct attached w = ATTACHED_CLOSED;
			struct attached_thread *t;

			open_stopped_child(&w, pid);
			if (attached_stop_thread(&w, pid, &t, NULL) < 0)
				_exit(1);
			waits_left = round / 2;
			w.wait = die_at_stop;
			w.wait_arg = &pid;
			for (;;) {
				attached_make_room(&w, t, NULL);
				attached_drop_room(&w, t, NULL);
			}
		}
		waitpid(tracer, &status, 0);
		assert_true(WIFSIGNALED(status));
		atomic_store(&shared->slept_ms, 0);
		await_sleep();
		assert_int_equal(waitpid(pid, &status, WNOHANG | __WALL), 0);
		assert_int_equal(atomic_load(&shared->sleep_result), 0);
		stop(pid);
	}
}

#define WAIT_MS 1000

/* A child that waits for events, without a handler of any signal. */
static void be_waiter(void)
{
	struct epoll_event event;
	int fd = epoll_create1(EPOLL_CLOEXEC);

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	atomic_store(&shared->is_ready, 1);

	int nr = epoll_wait(fd, &event, 1, WAIT_MS);

	atomic_store(&shared->sleep_result, nr < 0 ? errno : 0);
	atomic_store(&shared->slept_ms, 1);
	for (;;)
		pause();
}

/* The tracer's number of calls of waitpid() until it dies; 0: it does not die. */
static int waitpids_left;
static pid_t waited_for;
/* The next waitpid() finds nothing. Then this process is paused for so long; 0: it is not. */
static unsigned pause_us;

pid_t __real_waitpid(pid_t pid, int *status, int options);
pid_t __wrap_waitpid(pid_t pid, int *status, int options);
pid_t __wrap_waitpid(pid_t pid, int *status, int options)
{
	if (waitpids_left && pid == waited_for && !--waitpids_left) {
		await_state(pid, 't');
		kill(getpid(), SIGKILL);
	}
	if (pause_us) {
		assert_int_equal(__real_waitpid(pid, status, options), 0);
		assert_int_equal(ptrace(PTRACE_INTERRUPT, pid, 0, 0), 0);
		await_state(pid, 't');
		usleep(pause_us);
		pause_us = 0;
		return 0;
	}
	return __real_waitpid(pid, status, options);
}

/* A thread stops in time, but the recorder does not run until its patience is at an end. */
TEST(test_recorder_is_paused)
{
	pid_t pid = start(1);
	struct attached w = { .pid = pid };
	struct attached_thread t = { .tid = pid };
	int status;

	assert_int_equal(ptrace(PTRACE_SEIZE, pid, 0, 0), 0);
	pause_us = 60000;
	assert_int_equal(world_wait(&w, &t, world_now_ms() + 50, &status), 0);
	assert_int_equal(pause_us, 0);
	assert_true(t.is_stopped);
	assert_int_equal(ptrace(PTRACE_DETACH, pid, 0, 0), 0);
	stop(pid);
}

/*
 * A signal that the program ignores has woken a thread out of a call which the kernel does not
 * begin anew. The tracer delivers the signal, and dies before it sees the thread's next stop.
 */
TEST(test_tracer_dies_after_a_signal)
{
	pid_t pid, tracer;
	int status;

	memset(shared, 0, sizeof(*shared));
	pid = fork();
	if (pid == 0)
		be_waiter();
	while (!atomic_load(&shared->is_ready))
		usleep(1000);
	await_state(pid, 'S');
	tracer = fork();
	if (tracer == 0) {
		struct attached w = ATTACHED_CLOSED;
		struct attached_thread *t;

		open_stopped_child(&w, pid);
		if (attached_stop_thread(&w, pid, &t, NULL) < 0)
			_exit(1);
		/* Let the thread wait again. A signal will stop it there. */
		if (ptrace(PTRACE_CONT, pid, NULL, NULL) < 0)
			_exit(1);
		t->is_stopped = false;
		await_state(pid, 'S');
		kill(pid, SIGCHLD);
		await_state(pid, 't');
		waited_for = pid;
		waitpids_left = 2; /* the first waitpid() reports the signal */
		attached_let_go(&w);
		_exit(1);
	}
	assert_int_equal(waitpid(tracer, &status, 0), tracer);
	assert_true(WIFSIGNALED(status));
	await_sleep();
	assert_int_equal(atomic_load(&shared->slept_ms), 1);
	assert_int_equal(atomic_load(&shared->sleep_result), 0);
	stop(pid);
}

TEST(test_call_that_stays)
{
	pid_t pid = start(1);
	struct attached w = ATTACHED_CLOSED;
	const uint64_t none[6] = { 0 };
	uint64_t result;

	open_stopped_child(&w, pid);
	assert_int_equal(attached_stop(&w, NULL), 0);
	assert_int_equal(attached_make_room(&w, main_thread(&w), NULL), 0);
	attached_let_others_go(&w, main_thread(&w));
	assert_int_equal(attached_call(&w, main_thread(&w), (uint64_t)staying_callee, none, 50,
				       &result, NULL),
			 -ETIMEDOUT);
	attached_close(&w);
	atomic_store(&shared->slept_ms, 0);
	atomic_store(&shared->stays, 1);
	await_sleep();
	assert_int_equal(atomic_load(&shared->called_with), 2);
	stop(pid);
}

/* The code of loop(). A thread that is stopped at a few of its instructions walks out of them. */
static uint8_t *loops;

static void handle(int sig)
{
	atomic_fetch_add(&shared->handled, 1);
}

static void *loop(void *arg)
{
	((void (*)(_Atomic uint64_t *, _Atomic int *))loops)(&shared->turns[0], &shared->stays);
	atomic_store(&shared->stays, 2);
	return NULL;
}

TEST(test_steps_out)
{
	/* 1: incq (%rdi); cmpl $0, (%rsi); je 1b; ret */
	static const uint8_t code[] = { 0x48, 0xff, 0x07, 0x83, 0x3e, 0x00, 0x74, 0xf8, 0xc3 };
	size_t nr_within = 0;
	struct attached w = ATTACHED_CLOSED;
	pid_t pid;

	loops = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	memcpy(loops, code, sizeof(code));
	mprotect(loops, 4096, PROT_READ | PROT_EXEC);
	memset(shared, 0, sizeof(*shared));
	pid = fork();
	if (pid == 0) {
		pthread_t thread;

		prctl(PR_SET_PDEATHSIG, SIGKILL);
		signal(SIGUSR1, handle);
		pthread_create(&thread, NULL, loop, NULL);
		for (;;)
			pause();
	}
	await(&shared->turns[0], 100);
	open_stopped_child(&w, pid);

	/* The thread leaves the last instructions soon. It never leaves the whole loop. */
	assert_int_equal(attached_stop(&w, NULL), 0);
	for (size_t i = 0; i < w.nr; i++) {
		struct attached_thread *t = w.threads[i];
		uint64_t at = (uint64_t)loops;

		if (arch_remote_pc(&t->regs) - at >= sizeof(code))
			continue;
		assert_int_equal(attached_step_out(&w, t, at + 3, at + 6), 0);
		assert_false(arch_remote_pc(&t->regs) - at - 3 < 3);

		/* A thread right after the range, or right before it, makes no step. */
		uint64_t pc = arch_remote_pc(&t->regs);

		assert_int_equal(attached_step_out(&w, t, pc - 3, pc), 0);
		assert_int_equal(arch_remote_pc(&t->regs), pc);
		assert_int_equal(attached_step_out(&w, t, pc + 1, pc + 100), 0);
		assert_int_equal(arch_remote_pc(&t->regs), pc);
		assert_int_equal(attached_step_out(&w, t, pc, pc), 0);
		assert_int_equal(arch_remote_pc(&t->regs), pc);
		assert_int_equal(attached_step_out(&w, t, pc, pc + 1), 0);
		assert_true(arch_remote_pc(&t->regs) != pc);
		assert_int_equal(attached_step_out(&w, t, at, at + sizeof(code)), -EBUSY);
		/* A signal makes the thread leave the loop: the handler is elsewhere. */
		assert_int_equal(syscall(SYS_tgkill, pid, t->tid, SIGUSR1), 0);
		assert_int_equal(attached_step_out(&w, t, at, at + sizeof(code)), 0);
		assert_true(t->is_stopped);
		nr_within++;
	}
	assert_int_equal(nr_within, 1);
	attached_let_go(&w);
	await(&shared->turns[0], atomic_load(&shared->turns[0]) + 100);
	assert_int_equal(atomic_load(&shared->handled), 1);
	atomic_store(&shared->stays, 1);
	for (int i = 0; i < AWAIT_MS && atomic_load(&shared->stays) != 2; i++)
		usleep(1000);
	assert_int_equal(atomic_load(&shared->stays), 2);
	attached_close(&w);
	stop(pid);
	munmap(loops, 4096);
}

/* Each signal that comes while the process is being stopped is delivered once. */
TEST(test_signals_are_delivered)
{
	struct attached w = ATTACHED_CLOSED;
	pid_t pid;

	memset(shared, 0, sizeof(*shared));
	pid = fork();
	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		signal(SIGUSR1, handle);
		atomic_store(&shared->is_ready, 1);
		for (;;)
			pause();
	}
	while (!atomic_load(&shared->is_ready))
		usleep(1000);
	open_stopped_child(&w, pid);
	for (int round = 1; round <= 20; round++) {
		kill(pid, SIGUSR1);
		assert_int_equal(attached_stop(&w, NULL), 0);
		attached_let_go(&w);
		for (int i = 0; i < AWAIT_MS && atomic_load(&shared->handled) < round; i++)
			usleep(1000);
		assert_int_equal(atomic_load(&shared->handled), round);
	}
	attached_close(&w);
	stop(pid);
}

/* The error for a process that has gone; its parent still gets its status. */
TEST(test_who_is_not_there)
{
	pid_t pid = start(0);
	struct attached w = ATTACHED_CLOSED;
	struct attached_thread *t;
	struct uft_err err = { 0 };
	char expected[128];
	siginfo_t info;
	int status;

	assert_int_equal(attached_open(&w, 0x7fffffff, &err), -ENOENT);
	assert_string_equal(err.text, "cannot open the memory of process 2147483647: No such file "
				      "or directory");
	assert_int_equal(w.memory_fd, -1);
	assert_int_equal(attached_read(&w, (uintptr_t)expected, expected, 1), 0);
	attached_close(&w);

	assert_int_equal(attached_open(&w, pid, NULL), 0);
	assert_int_equal(attached_read(&w, 8, expected, 1), 0);
	assert_int_equal(attached_write(&w, 8, expected, 1), 0);
	err = (struct uft_err){ 0 };
	assert_int_equal(attached_stop_thread(&w, 0x7fffffff, &t, &err), -ESRCH);
	snprintf(expected, sizeof(expected), "cannot stop process %d: No such process", pid);
	assert_string_equal(err.text, expected);
	kill(pid, SIGKILL);
	assert_int_equal(waitid(P_PID, pid, &info, WEXITED | WNOWAIT), 0);
	err = (struct uft_err){ 0 };
	assert_int_equal(attached_stop(&w, &err), -ESRCH);
	assert_string_equal(err.text, expected);
	assert_int_equal(w.nr, 0);
	attached_close(&w);
	assert_int_equal(waitpid(pid, &status, WNOHANG), pid);
	assert_int_equal(WTERMSIG(status), SIGKILL);
}

int main(void)
{
	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
		      0);
	return unit_run();
}
