/*
 * Unit tests of cmds/record/attach/call.c: calls that a child is made to do, its state afterwards,
 * and calls that cannot be made.
 */
#include "tests/unit/lib/attach/attached_children.h"

#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cmds/record/attach/maps.h"
#include "utils/base/cleanup.h"
#include "utils/base/compiler.h"

/* A limit of waiting: a busy machine may take long. */
#define AWAIT_MS 60000

#define CODE_BYTES  4096
#define STACK_BYTES (256 << 10)
#define ROOM_BYTES  (CODE_BYTES + STACK_BYTES + (24 << 10) + ATTACHED_ARGS_BYTES)

/* Memory that child and test share. */
static struct shared {
	_Atomic int is_ready;
	_Atomic uint64_t turns;
	_Atomic unsigned handled[64]; /* runs of the handler, by signal */
	_Atomic int runs;
	_Atomic uintptr_t sp;
	_Atomic uint64_t args[6];
} * shared;

/* --- functions that the child is made to call --- */

NOINLINE static uint64_t sum(uint64_t a, uint64_t b, uint64_t c, uint64_t d, uint64_t e, uint64_t f)
{
	const uint64_t args[] = { a, b, c, d, e, f };

	for (size_t i = 0; i < 6; i++)
		atomic_store(&shared->args[i], args[i]);
	atomic_store(&shared->sp, (uintptr_t)__builtin_frame_address(0));
	return a + b + c + d + e + f;
}

/* Signals that come during a call wait until it ends. */
NOINLINE static uint64_t signal_itself(uint64_t sig)
{
	kill(getpid(), sig);
	return atomic_load(&shared->handled[sig]);
}

NOINLINE static uint64_t meet_fault(void)
{
	volatile uint64_t *volatile nowhere = (void *)8;

	return *nowhere;
}

NOINLINE static uint64_t stay(void)
{
	while (atomic_load(&shared->runs))
		usleep(1000);
	return 0;
}

/* --- the child --- */

static void handle(int sig)
{
	atomic_fetch_add(&shared->handled[sig], 1);
}

static void handle_all(const int *signals)
{
	for (; *signals; signals++) {
		struct sigaction action = { .sa_handler = handle, .sa_flags = SA_RESTART };

		sigaction(*signals, &action, NULL);
	}
}

/*
 * Start a child that blocks SIGUSR2, and has handlers for @signals, a list that ends with 0. With
 * @is_poor the kernel gives it no further memory.
 */
static pid_t start_with(const int *signals, bool is_poor)
{
	pid_t pid;

	memset(shared, 0, sizeof(*shared));
	pid = fork();
	if (pid == 0) {
		const struct rlimit none = { 0 };
		sigset_t set;

		prctl(PR_SET_PDEATHSIG, SIGKILL);
		sigemptyset(&set);
		sigaddset(&set, SIGUSR2);
		sigprocmask(SIG_SETMASK, &set, NULL);
		handle_all(signals);
		if (is_poor)
			setrlimit(RLIMIT_AS, &none);
		atomic_store(&shared->is_ready, 1);
		for (;;)
			atomic_fetch_add(&shared->turns, 1);
	}
	while (!atomic_load(&shared->is_ready))
		usleep(1000);
	return pid;
}

static pid_t start(void)
{
	return start_with((const int[]){ 0 }, false);
}

/* Wait until the thread computes again. */
static void await_turn(void)
{
	uint64_t before = atomic_load(&shared->turns);

	for (int i = 0; i < AWAIT_MS && atomic_load(&shared->turns) == before; i++)
		usleep(1000);
	assert_true(atomic_load(&shared->turns) > before);
}

static void end(struct attached *w, pid_t pid)
{
	int status;

	attached_close(w);
	await_turn();
	assert_int_equal(waitpid(pid, &status, WNOHANG | __WALL), 0);
	kill(pid, SIGKILL);
	waitpid(pid, &status, __WALL);
}

static uint64_t blocked_by(pid_t pid)
{
	char path[64], line[256];
	unsigned long long mask = 0;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/status", pid);
	file = fopen(path, "re");
	assert_non_null(file);
	while (fgets(line, sizeof(line), file)) {
		if (sscanf(line, "SigBlk: %llx", &mask) == 1)
			break;
	}
	fclose(file);
	return mask;
}

static struct attached_thread *stop_it(struct attached *w, pid_t pid)
{
	open_stopped_child(w, pid);
	assert_int_equal(attached_stop(w, NULL), 0);
	assert_non_null(main_thread(w));
	return main_thread(w);
}

static const uint64_t none[6];

/* --- system calls --- */

TEST(a_system_call_leaves_all_as_it_was)
{
	pid_t pid = start();
	struct attached w = ATTACHED_CLOSED;
	struct attached_thread *t = stop_it(&w, pid);
	const struct arch_remote before = t->regs;
	const uint64_t signal_args[6] = { SIG_SETMASK, 0, 0, 8 };
	struct uft_err err = { 0 };
	int64_t result = 0;

	assert_int_equal(attached_syscall(&w, t, SYS_getpid, none, &result, &err), 0);
	assert_string_equal(err.text, "");
	assert_int_equal(result, pid);
	assert_memory_equal(t->regs.words, before.words, before.bytes);
	assert_int_equal(blocked_by(pid), 1ULL << (SIGUSR2 - 1));
	assert_true(t->is_stopped);
	/* A system call that fails in the child is no error of attached_syscall(). */
	assert_int_equal(attached_syscall(&w, t, SYS_close, (uint64_t[6]){ 4000 }, &result, NULL),
			 0);
	assert_int_equal(result, -EBADF);
	assert_int_equal(attached_syscall(&w, t, SYS_rt_sigprocmask, signal_args, &result, NULL),
			 0);
	assert_int_equal(result, 0);
	end(&w, pid);
}

/* Returns how many words of the stack below the thread's stack pointer have the value @word. */
static size_t words_below(const struct attached *w, const struct attached_thread *t, uint64_t word)
{
	uint64_t sp = arch_remote_sp(&t->regs) & ~(uint64_t)7;
	struct maps maps cleanup_maps = { 0 };
	size_t found = 0;

	assert_int_equal(maps_read(&maps, w->pid), 0);

	const struct mapping *stack = maps_find(&maps, sp);

	assert_non_null(stack);

	uint64_t *words cleanup_free = malloc(sp - stack->start);

	assert_non_null(words);
	assert_int_equal(attached_read(w, stack->start, words, sp - stack->start),
			 sp - stack->start);
	for (size_t i = 0; i < (sp - stack->start) / sizeof(*words); i++)
		found += words[i] == word;
	return found;
}

/*
 * A later function may have a variable at the place of the frame, and not set it. If the frame were
 * still there, the function would look as if a handler had called it.
 */
TEST(a_system_call_leaves_no_frame_of_a_handler)
{
	pid_t pid = start();
	struct attached w = ATTACHED_CLOSED;
	struct attached_thread *t = stop_it(&w, pid);
	/* The child has a copy of this stack. Earlier tests may have left the word on the stack. */
	size_t before = words_below(&w, t, w.return_gadget);
	int64_t result = 0;

	assert_int_equal(attached_syscall(&w, t, SYS_getpid, none, &result, NULL), 0);
	assert_int_equal(result, pid);
	assert_true(words_below(&w, t, w.return_gadget) <= before);
	end(&w, pid);
}

TEST(each_argument_reaches_the_system_call)
{
	pid_t pid = start();
	struct attached w = ATTACHED_CLOSED;
	struct attached_thread *t = stop_it(&w, pid);
	/* Anonymous memory at an address that we choose, then at any other. */
	uint64_t map[6] = { 0x10000000,
			    8192,
			    PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE,
			    UINT64_MAX,
			    0 };
	struct maps maps cleanup_maps = { 0 };
	const struct mapping *m;
	int64_t result;

	assert_int_equal(attached_syscall(&w, t, SYS_mmap, map, &result, NULL), 0);
	assert_int_equal(result, 0x10000000);
	assert_int_equal(maps_read(&maps, pid), 0);
	m = maps_find(&maps, 0x10000000);
	assert_non_null(m);
	assert_int_equal(m->end - m->start, 8192);
	assert_int_equal(attached_write(&w, 0x10000000, "abc", 3), 3);
	end(&w, pid);
}

TEST(a_thread_without_a_stack_is_left_alone)
{
	pid_t pid = start();
	struct attached w = ATTACHED_CLOSED;
	struct attached_thread *t = stop_it(&w, pid);
	const struct arch_remote before = t->regs;
	struct uft_err err = { 0 };
	char expected[128];
	int64_t result;

	/* Move the stack pointer to where nothing is mapped. */
	t->regs.words[19] = 0x10000;
	assert_int_equal(attached_syscall(&w, t, SYS_getpid, none, &result, &err), -EAGAIN);
	snprintf(expected, sizeof(expected),
		 "cannot have thread %d make a system call: Resource temporarily unavailable", pid);
	assert_string_equal(err.text, expected);
	t->regs = before;
	assert_int_equal(attached_syscall(&w, t, SYS_getpid, none, &result, NULL), 0);
	end(&w, pid);
}

TEST(who_has_ended_makes_no_calls)
{
	pid_t pid = start();
	struct attached w = ATTACHED_CLOSED;
	struct attached_thread *t = stop_it(&w, pid);
	struct uft_err err = { 0 };
	char expected[128];
	siginfo_t info;
	int64_t result;
	int status;

	kill(pid, SIGKILL);
	assert_int_equal(waitid(P_PID, pid, &info, WEXITED | WNOWAIT), 0);
	assert_int_equal(attached_syscall(&w, t, SYS_getpid, none, &result, &err), -ESRCH);
	snprintf(expected, sizeof(expected),
		 "cannot have thread %d make a system call: No such process", pid);
	assert_string_equal(err.text, expected);
	attached_close(&w);
	/* The child's status goes to its parent. */
	assert_int_equal(waitpid(pid, &status, WNOHANG), pid);
	assert_int_equal(WTERMSIG(status), SIGKILL);
}

TEST(a_library_that_is_not_known_is_told)
{
	static uint8_t nothing[4096];
	pid_t pid = start();
	struct attached w = ATTACHED_CLOSED;
	struct uft_err err = { 0 };
	char expected[128];
	uint64_t call, back;

	open_stopped_child(&w, pid);
	call = w.call_gadget;
	back = w.return_gadget;
	assert_true(call && back && call != back);
	assert_int_equal(attached_find_gadgets(&w, (uintptr_t)nothing,
					       (uintptr_t)nothing + sizeof(nothing), &err),
			 -ENOEXEC);
	snprintf(expected, sizeof(expected), "the C library of process %d is not known here", pid);
	assert_string_equal(err.text, expected);
	assert_int_equal(attached_find_gadgets(&w, 0x1000, 0x2000, &err), -ENOEXEC);
	/* A failed search keeps the results of an earlier one. */
	assert_int_equal(w.call_gadget, call);
	assert_int_equal(w.return_gadget, back);
	end(&w, pid);
}

/* --- memory for calls --- */

TEST(room_is_made_and_unmade)
{
	pid_t pid = start();
	struct attached w = ATTACHED_CLOSED;
	struct attached_thread *t = stop_it(&w, pid);
	struct maps maps cleanup_maps = { 0 };
	uint8_t args[ATTACHED_ARGS_BYTES] = { 0 };
	const struct mapping *m;
	uint64_t room;

	/* At first there is no room to give back. */
	assert_int_equal(attached_drop_room(&w, t, NULL), 0);
	assert_int_equal(attached_make_room(&w, t, NULL), 0);
	room = w.room;
	assert_true(room && room % 4096 == 0);
	assert_int_equal(w.context, room + CODE_BYTES + STACK_BYTES);
	assert_int_equal(attached_args(&w) + ATTACHED_ARGS_BYTES, room + ROOM_BYTES);
	assert_int_equal(attached_write(&w, attached_args(&w), args, sizeof(args)), sizeof(args));
	assert_int_equal(maps_read(&maps, pid), 0);
	m = maps_find(&maps, room);
	assert_true(m && m->is_code);
	assert_int_equal(m->end, room + CODE_BYTES);
	m = maps_find(&maps, room + CODE_BYTES);
	assert_true(m && !m->is_code);
	m = maps_find(&maps, room + ROOM_BYTES - 1);
	assert_true(m && !m->is_code);
	assert_int_equal(attached_drop_room(&w, t, NULL), 0);
	assert_int_equal(w.room, 0);
	assert_int_equal(maps_read(&maps, pid), 0);
	assert_null(maps_find(&maps, room));
	assert_null(maps_find(&maps, room + ROOM_BYTES - 1));
	end(&w, pid);
}

TEST(a_process_that_may_have_no_more_memory_is_told)
{
	pid_t pid = start_with((const int[]){ 0 }, true);
	struct attached w = ATTACHED_CLOSED;
	struct attached_thread *t = stop_it(&w, pid);
	struct uft_err err = { 0 };
	char expected[128];

	assert_int_equal(attached_make_room(&w, t, &err), -ENOMEM);
	snprintf(expected, sizeof(expected),
		 "process %d cannot have more memory: Cannot allocate memory", pid);
	assert_string_equal(err.text, expected);
	assert_int_equal(w.room, 0);
	end(&w, pid);
}

/* --- calls --- */

TEST(a_call_has_its_arguments_and_the_room_for_a_stack)
{
	const uint64_t args[6] = { 1ULL << 40, 20, 300, 4000, 50000, 600000 };
	pid_t pid = start();
	struct attached w = ATTACHED_CLOSED;
	struct attached_thread *t = stop_it(&w, pid);
	const struct arch_remote before = t->regs;
	uint64_t result = 0;

	assert_int_equal(attached_make_room(&w, t, NULL), 0);
	assert_int_equal(attached_call(&w, t, (uintptr_t)sum, args, AWAIT_MS, &result, NULL), 0);
	assert_int_equal(result, (1ULL << 40) + 654320);
	for (size_t i = 0; i < 6; i++)
		assert_int_equal(atomic_load(&shared->args[i]), args[i]);
	assert_true(atomic_load(&shared->sp) > w.room + CODE_BYTES);
	assert_true(atomic_load(&shared->sp) < w.context);
	assert_memory_equal(t->regs.words, before.words, before.bytes);
	assert_int_equal(blocked_by(pid), 1ULL << (SIGUSR2 - 1));
	assert_true(t->is_stopped);
	assert_int_equal(attached_drop_room(&w, t, NULL), 0);
	end(&w, pid);
}

TEST(signals_wait_until_a_call_is_over)
{
	static const int signals[] = { SIGUSR1, SIGTERM, 0 };
	pid_t pid = start_with(signals, false);
	struct attached w = ATTACHED_CLOSED;
	struct attached_thread *t = stop_it(&w, pid);
	uint64_t result = 1;

	assert_int_equal(attached_make_room(&w, t, NULL), 0);
	for (const int *sig = signals; *sig; sig++) {
		assert_int_equal(attached_call(&w, t, (uintptr_t)signal_itself,
					       (uint64_t[6]){ *sig }, AWAIT_MS, &result, NULL),
				 0);
		assert_int_equal(result, 0);
	}
	assert_int_equal(attached_drop_room(&w, t, NULL), 0);
	attached_let_go(&w);
	await_turn();
	for (int i = 0; i < AWAIT_MS && !atomic_load(&shared->handled[SIGTERM]); i++)
		usleep(1000);
	assert_int_equal(atomic_load(&shared->handled[SIGUSR1]), 1);
	assert_int_equal(atomic_load(&shared->handled[SIGTERM]), 1);
	end(&w, pid);
}

/*
 * The end of a call is reported by a signal for which the program has no handler. The program does
 * not see this signal.
 */
TEST(a_call_is_told_by_a_signal_that_nobody_handles)
{
	static const int handled[][4] = {
		{ 0 },
		{ SIGURG },
		{ SIGURG, SIGWINCH },
		{ SIGURG, SIGWINCH, SIGCONT },
		{ SIGWINCH, SIGCONT, SIGCHLD },
	};

	for (size_t i = 0; i < ARRAY_SIZE(handled); i++) {
		const int signals[5] = { handled[i][0], handled[i][1], handled[i][2],
					 handled[i][3] };
		pid_t pid = start_with(signals, false);
		struct attached w = ATTACHED_CLOSED;
		struct attached_thread *t = stop_it(&w, pid);
		uint64_t result = 0;

		assert_int_equal(attached_make_room(&w, t, NULL), 0);
		assert_int_equal(attached_call(&w, t, (uintptr_t)sum, (uint64_t[6]){ 7 }, AWAIT_MS,
					       &result, NULL),
				 0);
		assert_int_equal(result, 7);
		assert_int_equal(attached_drop_room(&w, t, NULL), 0);
		end(&w, pid);
		for (int sig = 1; sig < 64; sig++)
			assert_int_equal(atomic_load(&shared->handled[sig]), 0);
	}
}

TEST(who_handles_all_of_them_cannot_be_called)
{
	static const int signals[] = { SIGURG, SIGWINCH, SIGCONT, SIGCHLD, 0 };
	pid_t pid = start_with(signals, false);
	struct attached w = ATTACHED_CLOSED;
	struct attached_thread *t = stop_it(&w, pid);
	struct uft_err err = { 0 };
	char expected[256];
	uint64_t result;

	assert_int_equal(attached_make_room(&w, t, NULL), 0);
	assert_int_equal(attached_call(&w, t, (uintptr_t)sum, none, AWAIT_MS, &result, &err),
			 -EBUSY);
	snprintf(expected, sizeof(expected),
		 "process %d handles all signals that others ignore: none is left to announce the "
		 "end of a call",
		 pid);
	assert_string_equal(err.text, expected);
	assert_int_equal(attached_drop_room(&w, t, NULL), 0);
	end(&w, pid);
}

TEST(a_fault_in_a_call_is_told_and_the_thread_goes_on)
{
	pid_t pid = start();
	struct attached w = ATTACHED_CLOSED;
	struct attached_thread *t = stop_it(&w, pid);
	const struct arch_remote before = t->regs;
	struct uft_err err = { 0 };
	char expected[128];
	uint64_t result;

	assert_int_equal(attached_make_room(&w, t, NULL), 0);
	assert_int_equal(attached_call(&w, t, (uintptr_t)meet_fault, none, AWAIT_MS, &result, &err),
			 -EFAULT);
	snprintf(expected, sizeof(expected),
		 "process %d met a fault in a call that it was made to do", pid);
	assert_string_equal(err.text, expected);
	assert_memory_equal(t->regs.words, before.words, before.bytes);
	assert_int_equal(blocked_by(pid), 1ULL << (SIGUSR2 - 1));
	assert_int_equal(attached_drop_room(&w, t, NULL), 0);
	end(&w, pid);
}

/* A call that does not end in time goes on alone; its thread returns to its own code by itself. */
TEST(a_call_that_does_not_come_back_is_let_go)
{
	pid_t pid = start();
	struct attached w = ATTACHED_CLOSED;
	struct attached_thread *t = stop_it(&w, pid);
	struct uft_err err = { 0 };
	char expected[256];
	uint64_t result;
	uint64_t turns;

	assert_int_equal(attached_make_room(&w, t, NULL), 0);
	atomic_store(&shared->runs, 1);
	turns = atomic_load(&shared->turns);
	assert_int_equal(attached_call(&w, t, (uintptr_t)stay, none, 20, &result, &err),
			 -ETIMEDOUT);
	snprintf(expected, sizeof(expected),
		 "process %d did not come back from a call in time: a lock of its C library is "
		 "held, or it is very slow",
		 pid);
	assert_string_equal(err.text, expected);
	assert_int_equal(w.nr, 0);
	assert_int_equal(atomic_load(&shared->turns), turns);
	atomic_store(&shared->runs, 0);
	await_turn();
	assert_int_equal(blocked_by(pid), 1ULL << (SIGUSR2 - 1));
	end(&w, pid);
}

int main(void)
{
	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
		      0);
	return unit_run();
}
