/*
 * Reads of memory that may be unmapped; and the program's signal handlers, which the probe's
 * handler replaces. The program must not notice the handler. The kernel's actions are read by a
 * direct system call, since sigaction(2) is interposed. The file is long because its tests share
 * their helpers, and the state of the signals that earlier tests leave.
 */
#include "libmcount/system/fault.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

#include "libmcount/values/reads.h"
#include "tests/unit/lib/probe/pair.h"
#include "tests/unit/lib/unit.h"

#define PAGE 4096UL

/* The structure of rt_sigaction(2). */
struct kernel_action {
	void (*handler)(int);
	unsigned long flags;
	void (*restorer)(void);
	uint64_t mask;
};

#define BIT(sig) (1ULL << ((sig)-1))

static struct kernel_action kernel_has(int sig)
{
	struct kernel_action act = { 0 };

	assert_int_equal(syscall(SYS_rt_sigaction, sig, NULL, &act, sizeof(act.mask)), 0);
	return act;
}

static struct sigaction program_has(int sig)
{
	struct sigaction act;

	assert_int_equal(sigaction(sig, NULL, &act), 0);
	return act;
}

static void program_wants(int sig, void (*handler)(int))
{
	struct sigaction act = { .sa_handler = handler };

	assert_int_equal(sigaction(sig, &act, NULL), 0);
}

/* Remove the handlers that cmocka sets for each test. */
static void program_wants_nothing(void)
{
	program_wants(SIGSEGV, SIG_DFL);
	program_wants(SIGBUS, SIG_DFL);
}

/* Two readable pages, and after them an unreadable one. */
static char *pages;
static char *pages_end;

static int setup(void **state)
{
	pages = mmap(NULL, 3 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	assert_ptr_not_equal(pages, MAP_FAILED);
	pages_end = pages + 2 * PAGE;
	assert_int_equal(mprotect(pages_end, PAGE, PROT_NONE), 0);
	memset(pages, 'x', 2 * PAGE);
	probe.pid = getpid();
	return 0;
}

/* --- reads --- */

static void check_copies(enum fault_state after)
{
	char to[2 * PAGE + 64];

	for (int there = 1; there < 40; there++) {
		memset(to, 'o', sizeof(to));
		fault_state = FAULT_UNKNOWN;
		assert_int_equal(fault_copy(to, pages_end - there, 20), there < 20 ? there : 20);
		assert_int_equal(fault_state, after);
		assert_int_equal(to[there < 20 ? there - 1 : 19], 'x');
		assert_int_equal(to[20], 'o');
		/* A second copy, when the way of copying has been chosen. */
		assert_int_equal(fault_copy(to, pages_end - there, 20), there < 20 ? there : 20);
		/* A text that ends, a text that goes on, and one at the end of the mapping. */
		pages_end[-1] = there > 1 ? '\0' : 'x';
		assert_int_equal(fault_copy_string(to, pages_end - there, 20),
				 there == 1 ? -1 - 1 : (there - 1 < 20 ? there - 1 : 20));
		pages_end[-1] = 'x';
		assert_int_equal(fault_copy_string(to, pages_end - there, 20),
				 there < 20 ? -1 - there : 20);
	}
	assert_int_equal(fault_copy(to, pages + 10, 2 * PAGE), 2 * PAGE - 10);
	assert_int_equal(fault_copy(to, pages_end, 1), 0);
	assert_int_equal(fault_copy_string(to, pages_end, 1), -1);
	/* No program has these addresses. */
	assert_int_equal(fault_copy(to, NULL, 8), 0);
	assert_int_equal(fault_copy(to, (void *)4095, 8), 0);
	assert_int_equal(fault_copy(to, (void *)ARCH_ADDRESS_END, 8), 0);
	assert_int_equal(fault_copy(to, (void *)UINT64_MAX, 8), 0);
	assert_int_equal(fault_copy_string(to, NULL, 8), -1);
}

TEST(what_cannot_be_read_is_left_out_without_a_handler)
{
	check_copies(FAULT_CAREFUL);
}

TEST(an_attached_probe_watches_nothing)
{
	struct kernel_action before = kernel_has(SIGSEGV);

	probe.is_attached = true;
	fault_guard_begin();
	probe.is_attached = false;
	assert_ptr_equal(kernel_has(SIGSEGV).handler, before.handler);
}

/* From this test on, the probe watches SIGSEGV and SIGBUS. */
TEST(reads_have_the_place_of_two_signals)
{
	struct kernel_action others[] = { kernel_has(SIGABRT), kernel_has(SIGFPE),
					  kernel_has(SIGILL) };
	struct sigaction before = program_has(SIGSEGV);
	struct kernel_action kernels = kernel_has(SIGSEGV);

	assert_ptr_equal(kernels.handler, before.sa_handler);
	fault_guard_begin();
	assert_ptr_not_equal(kernel_has(SIGSEGV).handler, kernels.handler);
	assert_ptr_equal(kernel_has(SIGSEGV).handler, kernel_has(SIGBUS).handler);
	assert_ptr_equal(program_has(SIGSEGV).sa_handler, before.sa_handler);
	assert_ptr_equal(kernel_has(SIGABRT).handler, others[0].handler);
	assert_ptr_equal(kernel_has(SIGFPE).handler, others[1].handler);
	assert_ptr_equal(kernel_has(SIGILL).handler, others[2].handler);
	/* A second call changes nothing. */
	fault_guard_begin();
	assert_ptr_equal(program_has(SIGSEGV).sa_handler, before.sa_handler);
	fault_look();
	assert_int_equal(fault_state, FAULT_GUARDED);
}

TEST(what_cannot_be_read_is_left_out_by_the_handler)
{
	check_copies(FAULT_GUARDED);
}

static uint64_t pending(void)
{
	uint64_t set = 0;

	assert_int_equal(syscall(SYS_rt_sigpending, &set, sizeof(set)), 0);
	return set;
}

/* Pending signals stay pending, and the signal mask does not change. */
TEST(what_cannot_be_read_is_left_out_where_signals_are_blocked)
{
	static const int both[] = { SIGSEGV, SIGBUS };

	for (unsigned i = 0; i < 2; i++) {
		struct sigaction before = program_has(both[i]);
		sigset_t set;
		sigset_t mask;
		sigset_t now;

		sigemptyset(&set);
		sigaddset(&set, both[i]);
		assert_int_equal(pthread_sigmask(SIG_BLOCK, &set, &mask), 0);
		check_copies(FAULT_CAREFUL);
		assert_int_equal(pending(), 0);
		assert_int_equal(raise(both[i]), 0);
		check_copies(FAULT_CAREFUL);
		assert_int_equal(pending(), BIT(both[i]));
		pthread_sigmask(SIG_SETMASK, NULL, &now);
		assert_true(sigismember(&now, both[i]));
		/* With SIG_IGN the kernel drops the pending signal. */
		program_wants(both[i], SIG_IGN);
		assert_int_equal(pending(), 0);
		assert_int_equal(sigaction(both[i], &before, NULL), 0);
		pthread_sigmask(SIG_SETMASK, &mask, NULL);
	}
	check_copies(FAULT_GUARDED);
}

/* After each function that may change the signal mask, the next read looks at the mask again. */
TEST(a_changed_mask_is_noticed)
{
	sigset_t set;
	sigset_t old;

	sigemptyset(&set);
	fault_state = FAULT_GUARDED;
	pthread_sigmask(SIG_BLOCK, &set, &old);
	assert_int_equal(fault_state, FAULT_UNKNOWN);
	fault_state = FAULT_GUARDED;
	assert_int_equal(sigprocmask(SIG_SETMASK, &old, NULL), 0);
	assert_int_equal(fault_state, FAULT_UNKNOWN);
	assert_int_equal(sigprocmask(12345, &old, NULL), -1);
	fault_state = FAULT_GUARDED;
	program_wants(SIGBUS, SIG_DFL);
	assert_int_equal(fault_state, FAULT_UNKNOWN);
}

/* --- the program's handlers --- */

static int seen_signal;
static void *seen_address;
static unsigned nr_seen;
static uint8_t seen_state;

static void on_signal(int sig)
{
	seen_signal = sig;
	nr_seen++;
}

static void on_info(int sig, siginfo_t *info, void *context)
{
	seen_signal = sig;
	seen_address = info->si_addr;
	seen_state = fault_state;
	nr_seen++;
	fault_state = FAULT_GUARDED;
	errno = 4711;
	/* Make the page readable, so that the interrupted access can succeed. */
	if (info->si_code > 0)
		mprotect(pages_end, PAGE, PROT_READ);
}

TEST(the_programs_handler_gets_what_the_kernel_says)
{
	struct sigaction act = { .sa_sigaction = on_info, .sa_flags = SA_SIGINFO | SA_NODEFER };
	struct sigaction old;

	sigaddset(&act.sa_mask, SIGUSR2);
	assert_int_equal(sigaction(SIGSEGV, &act, NULL), 0);
	assert_int_equal(kernel_has(SIGSEGV).flags & (SA_SIGINFO | SA_NODEFER | SA_ONSTACK),
			 SA_SIGINFO | SA_NODEFER);
	assert_int_equal(kernel_has(SIGSEGV).mask, BIT(SIGUSR2));
	nr_seen = 0;
	errno = 5;
	fault_state = FAULT_GUARDED;
	assert_int_equal(*(volatile char *)(pages_end + 12), 0);
	assert_int_equal(errno, 5);
	assert_int_equal(nr_seen, 1);
	assert_int_equal(seen_signal, SIGSEGV);
	assert_ptr_equal(seen_address, pages_end + 12);
	/* The handler runs with another signal mask, and the mask may have changed afterwards. */
	assert_int_equal(seen_state, FAULT_UNKNOWN);
	assert_int_equal(fault_state, FAULT_UNKNOWN);
	mprotect(pages_end, PAGE, PROT_NONE);
	/* The signal comes from kill(2), as from another process. */
	assert_int_equal(raise(SIGSEGV), 0);
	assert_int_equal(nr_seen, 2);
	program_wants(SIGBUS, on_signal);
	assert_int_equal(kill(getpid(), SIGBUS), 0);
	assert_int_equal(seen_signal, SIGBUS);
	assert_int_equal(sigaction(SIGSEGV, &(struct sigaction){ .sa_handler = SIG_DFL }, &old), 0);
	assert_ptr_equal(old.sa_sigaction, on_info);
	assert_int_equal(old.sa_flags & (SA_SIGINFO | SA_NODEFER), SA_SIGINFO | SA_NODEFER);
	assert_int_equal(sigismember(&old.sa_mask, SIGUSR2), 1);
	program_wants(SIGBUS, SIG_DFL);
}

/*
 * If the program has no handler, the probe's handler must not interrupt system calls that wait. It
 * runs on the alternate stack, if there is one.
 */
TEST(without_a_handler_of_the_programs_ours_disturbs_nothing)
{
	program_wants(SIGSEGV, SIG_DFL);
	assert_int_equal(kernel_has(SIGSEGV).flags & (SA_SIGINFO | SA_ONSTACK | SA_RESTART),
			 SA_SIGINFO | SA_ONSTACK | SA_RESTART);
	assert_int_equal(kernel_has(SIGSEGV).mask, 0);
	program_wants(SIGSEGV, SIG_IGN);
	assert_ptr_equal(kernel_has(SIGSEGV).handler, SIG_IGN);
	assert_int_equal(raise(SIGSEGV), 0);
	program_wants(SIGSEGV, SIG_DFL);
}

TEST(a_handler_for_one_time_is_called_once)
{
	struct sigaction act = { .sa_handler = on_signal, .sa_flags = SA_RESETHAND };

	nr_seen = 0;
	assert_int_equal(sigaction(SIGBUS, &act, NULL), 0);
	assert_int_equal(kernel_has(SIGBUS).flags & SA_RESETHAND, 0);
	assert_int_equal(program_has(SIGBUS).sa_flags & SA_RESETHAND, SA_RESETHAND);
	assert_int_equal(raise(SIGBUS), 0);
	assert_int_equal(nr_seen, 1);
	assert_ptr_equal(program_has(SIGBUS).sa_handler, SIG_DFL);
}

TEST(many_changes_are_each_what_was_asked_for)
{
	program_wants_nothing();
	for (unsigned i = 0; i < 100; i++) {
		program_wants(SIGSEGV, i % 2 ? on_signal : SIG_IGN);
		assert_ptr_equal(program_has(SIGSEGV).sa_handler, i % 2 ? on_signal : SIG_IGN);
		assert_ptr_equal(program_has(SIGBUS).sa_handler, SIG_DFL);
	}
	program_wants(SIGSEGV, SIG_DFL);
}

static _Atomic bool is_over;
static _Atomic bool has_changed;

static void *change_again_and_again(void *arg)
{
	const struct sigaction act = { .sa_handler = SIG_DFL };

	while (!is_over) {
		sigaction(SIGBUS, &act, NULL);
		has_changed = true;
	}
	return NULL;
}

/* A child that waits for a thread of its parent would never end. The limit of CPU time ends it. */
static void be_a_child_that_changes(void)
{
	const struct rlimit limit = { 1, 1 };
	const struct sigaction act = { .sa_handler = SIG_DFL };

	setrlimit(RLIMIT_CPU, &limit);
	thread_after_fork();
	probe.pid = getpid();
	_exit(sigaction(SIGBUS, &act, NULL) != 0);
}

TEST(a_child_changes_actions_that_its_parent_was_changing)
{
	pthread_t other;

	program_wants_nothing();
	is_over = false;
	assert_int_equal(pthread_create(&other, NULL, change_again_and_again, NULL), 0);
	while (!has_changed)
		;
	for (unsigned i = 0; i < 50; i++) {
		int status;
		pid_t pid = fork();

		if (pid == 0)
			be_a_child_that_changes();
		assert_true(pid > 0);
		assert_int_equal(waitpid(pid, &status, 0), pid);
		assert_int_equal(status, 0);
	}
	is_over = true;
	assert_int_equal(pthread_join(other, NULL), 0);
}

/* These functions are deprecated, but old programs still call them. */
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"

typedef __sighandler_t simple_fn(int sig, __sighandler_t handler);

__sighandler_t bsd_signal(int sig, __sighandler_t handler);
__sighandler_t sysv_signal(int sig, __sighandler_t handler);
__sighandler_t __sysv_signal(int sig, __sighandler_t handler);

TEST(simple_ways_to_say_it_say_the_same)
{
	static const struct {
		simple_fn *fn;
		int flags;
	} ways[] = { { signal, SA_RESTART },
		     { bsd_signal, SA_RESTART },
		     { ssignal, SA_RESTART },
		     { sysv_signal, SA_RESETHAND | SA_NODEFER },
		     { __sysv_signal, SA_RESETHAND | SA_NODEFER } };
	const int flags = SA_RESTART | SA_RESETHAND | SA_NODEFER;

	program_wants_nothing();
	for (size_t i = 0; i < ARRAY_SIZE(ways); i++) {
		struct sigaction act;

		assert_ptr_equal(ways[i].fn(SIGSEGV, on_signal), SIG_DFL);
		act = program_has(SIGSEGV);
		assert_ptr_equal(act.sa_handler, on_signal);
		assert_int_equal(act.sa_flags & flags, ways[i].flags);
		/* A signal is blocked while its handler runs, except with SA_NODEFER. */
		assert_int_equal(sigismember(&act.sa_mask, SIGSEGV), !(ways[i].flags & SA_NODEFER));
		errno = 0;
		assert_ptr_equal(ways[i].fn(SIGSEGV, SIG_ERR), SIG_ERR);
		assert_int_equal(errno, EINVAL);
		assert_ptr_equal(ways[i].fn(SIGSEGV, SIG_DFL), on_signal);
		/* Actions of signals that are not watched go to libc. */
		assert_ptr_equal(ways[i].fn(SIGUSR1, on_signal), SIG_DFL);
		assert_ptr_equal(kernel_has(SIGUSR1).handler, on_signal);
		assert_ptr_equal(ways[i].fn(SIGUSR1, SIG_DFL), on_signal);
	}
	assert_int_equal(sigignore(SIGBUS), 0);
	assert_ptr_equal(program_has(SIGBUS).sa_handler, SIG_IGN);
	assert_int_equal(sigignore(SIGUSR1), 0);
	assert_ptr_equal(kernel_has(SIGUSR1).handler, SIG_IGN);
	program_wants(SIGBUS, SIG_DFL);
	program_wants(SIGUSR1, SIG_DFL);
}

static bool is_blocked(int sig)
{
	sigset_t now;

	pthread_sigmask(SIG_SETMASK, NULL, &now);
	return sigismember(&now, sig);
}

TEST(sigset_holds_a_signal_and_lets_it_go)
{
	static const int all[] = { SIGSEGV, SIGUSR1 }; /* a watched signal, and another one */

	program_wants_nothing();
	for (unsigned i = 0; i < 2; i++) {
		assert_ptr_equal(sigset(all[i], on_signal), SIG_DFL);
		assert_ptr_equal(program_has(all[i]).sa_handler, on_signal);
		assert_ptr_equal(sigset(all[i], SIG_HOLD), on_signal);
		assert_true(is_blocked(all[i]));
		assert_ptr_equal(program_has(all[i]).sa_handler, on_signal);
		assert_ptr_equal(sigset(all[i], SIG_HOLD), SIG_HOLD);
		assert_ptr_equal(sigset(all[i], SIG_DFL), SIG_HOLD);
		assert_false(is_blocked(all[i]));
		assert_ptr_equal(sigset(all[i], SIG_DFL), SIG_DFL);
		if (i == 0) /* libc takes SIG_ERR for a handler */
			assert_ptr_equal(sigset(all[i], SIG_ERR), SIG_ERR);
	}
}

/* siglongjmp() and setcontext() restore a mask, too. */
TEST(a_mask_that_comes_back_is_noticed)
{
	sigjmp_buf place;
	ucontext_t context = { 0 };
	volatile bool has_mask = false;
	volatile bool has_returned = false;

	fault_state = FAULT_GUARDED;
	assert_int_equal(sighold(SIGUSR2), 0);
	assert_int_equal(fault_state, FAULT_UNKNOWN);
	fault_state = FAULT_GUARDED;
	assert_int_equal(sigrelse(SIGUSR2), 0);
	assert_int_equal(fault_state, FAULT_UNKNOWN);

	do {
		if (sigsetjmp(place, has_mask) == 0) {
			fault_state = FAULT_GUARDED;
			siglongjmp(place, 1);
		}
		assert_int_equal(fault_state, has_mask ? FAULT_UNKNOWN : FAULT_GUARDED);
		has_mask = !has_mask;
	} while (has_mask);

	assert_int_equal(getcontext(&context), 0);
	if (!has_returned) {
		has_returned = true;
		fault_state = FAULT_GUARDED;
		setcontext(&context);
	}
	assert_int_equal(fault_state, FAULT_UNKNOWN);
}

/*
 * A fault in another handler must reach the probe's handler: the mask of the other one does not
 * block it. The program still sees the mask that it has set.
 */
TEST(masks_of_other_signals_have_a_hole)
{
	static const int taken[][2] = { { SIGSEGV, 0 }, { SIGBUS, 0 }, { SIGSEGV, SIGBUS } };
	struct sigaction old;

	for (unsigned i = 0; i < ARRAY_SIZE(taken); i++) {
		struct sigaction act = { .sa_handler = on_signal };

		sigaddset(&act.sa_mask, SIGUSR2);
		for (unsigned k = 0; k < 2 && taken[i][k]; k++)
			sigaddset(&act.sa_mask, taken[i][k]);
		assert_int_equal(sigaction(SIGUSR1, &act, NULL), 0);
		assert_int_equal(kernel_has(SIGUSR1).mask, BIT(SIGUSR2));
		old = program_has(SIGUSR1);
		assert_int_equal(sigismember(&old.sa_mask, SIGUSR2), 1);
		assert_int_equal(sigismember(&old.sa_mask, SIGSEGV),
				 sigismember(&act.sa_mask, SIGSEGV));
		assert_int_equal(sigismember(&old.sa_mask, SIGBUS),
				 sigismember(&act.sa_mask, SIGBUS));
		/* A query does not change the mask. */
		old = program_has(SIGUSR1);
		assert_int_equal(sigismember(&old.sa_mask, SIGSEGV),
				 sigismember(&act.sa_mask, SIGSEGV));
	}
	program_wants(SIGUSR1, SIG_DFL);
	old = program_has(SIGUSR1);
	assert_int_equal(sigismember(&old.sa_mask, SIGSEGV), 0);
}

TEST(no_signal_is_no_signal)
{
	static const int bad[] = { 0, -1, _NSIG, _NSIG + 1, SIGKILL, SIGSTOP };
	struct sigaction act = { .sa_handler = on_signal };

	for (unsigned i = 0; i < ARRAY_SIZE(bad); i++) {
		errno = 0;
		assert_int_equal(sigaction(bad[i], &act, NULL), -1);
		assert_int_equal(errno, EINVAL);
	}
}

/*
 * A vfork(2) child shares the probe's memory, but has signal actions of its own: its changes are
 * not kept.
 */
TEST(a_borrower_changes_nothing_of_ours)
{
	struct sigaction act = { .sa_handler = SIG_IGN };
	struct sigaction old;

	program_wants(SIGSEGV, on_signal);
	probe.pid++;
	assert_ptr_equal(program_has(SIGSEGV).sa_handler, on_signal);
	assert_int_equal(sigaction(SIGSEGV, &act, &old), 0);
	assert_ptr_equal(old.sa_handler, on_signal);
	assert_ptr_equal(kernel_has(SIGSEGV).handler, SIG_IGN);
	assert_ptr_equal(signal(SIGSEGV, SIG_DFL), SIG_IGN);
	assert_ptr_equal(kernel_has(SIGSEGV).handler, SIG_DFL);
	sigaddset(&act.sa_mask, SIGSEGV);
	act.sa_handler = on_signal;
	assert_int_equal(sigaction(SIGUSR1, &act, NULL), 0);
	assert_int_equal(kernel_has(SIGUSR1).mask, BIT(SIGSEGV));
	probe.pid--;
	assert_ptr_equal(program_has(SIGSEGV).sa_handler, on_signal);
	program_wants(SIGSEGV, SIG_DFL);
	program_wants(SIGUSR1, SIG_DFL);
}

/* --- actions that the program sets while the probe changes them, too --- */

/* Returns the exit status of a child that calls @fn(@sig), or -1 if a signal ends the child. */
static int child_says(int (*fn)(int), int sig)
{
	int status;
	pid_t pid = fork();

	if (pid == 0) {
		probe.pid = getpid();
		_exit(fn(sig));
	}
	assert_true(pid > 0);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/* The number of changes of the signal mask that come before the program sets on_signal(). */
static unsigned nr_before;

static int set_in_between(void *arg)
{
	const int *sig = arg;

	if (nr_before--)
		return 0;
	pair_before(0, NULL, NULL);
	program_wants(*sig, on_signal);
	return 0;
}

static int watch_while_a_handler_is_set(int sig)
{
	nr_seen = 0;
	pair_before(SYS_rt_sigprocmask, set_in_between, &sig);
	fault_watch_signal(sig);
	pair_before(0, NULL, NULL);
	if (kernel_has(sig).handler != kernel_has(SIGSEGV).handler)
		return 1;
	if (program_has(sig).sa_handler != on_signal)
		return 2;
	raise(sig);
	return nr_seen == 1 ? 0 : 3;
}

static void check_that_handlers_stay(int sig)
{
	for (unsigned i = 0; i < 2; i++) {
		nr_before = i;
		assert_int_equal(child_says(watch_while_a_handler_is_set, sig), 0);
	}
}

TEST(a_handler_that_is_set_meanwhile_stays)
{
	program_wants_nothing();
	check_that_handlers_stay(SIGUSR2);
}

static void on_other_signal(int sig)
{
}

static _Atomic bool is_lost;

/* Sets two handlers in turn. Each one must be there after it was set. */
static void *set_handlers_in_turn(void *arg)
{
	const int *sig = arg;

	for (unsigned i = 0; !is_over; i++) {
		__sighandler_t handler = i % 2 ? on_signal : on_other_signal;
		__sighandler_t before = i % 2 ? on_other_signal : on_signal;

		if (i % 8 < 4)
			program_wants(*sig, handler);
		else if (signal(*sig, handler) != before)
			is_lost = true;
		if (program_has(*sig).sa_handler != handler)
			is_lost = true;
		has_changed = i > 0;
	}
	return NULL;
}

static void change_meanwhile(int sig, void (*fn)(int))
{
	pthread_t other;

	is_over = is_lost = has_changed = false;
	assert_int_equal(pthread_create(&other, NULL, set_handlers_in_turn, &sig), 0);
	while (!has_changed)
		;
	fn(sig);
	has_changed = false;
	while (!has_changed)
		;
	is_over = true;
	pthread_join(other, NULL);
}

static int watch_meanwhile(int sig)
{
	change_meanwhile(sig, fault_watch_signal);
	return is_lost || kernel_has(sig).handler != kernel_has(SIGSEGV).handler;
}

static void withdraw(int sig)
{
	fault_withdraw();
}

static int withdraw_meanwhile(int sig)
{
	change_meanwhile(sig, withdraw);
	return is_lost || kernel_has(sig).handler != program_has(sig).sa_handler;
}

TEST(handlers_of_other_threads_stay)
{
	for (unsigned i = 0; i < 100; i++) {
		assert_int_equal(child_says(watch_meanwhile, SIGUSR2), 0);
		assert_int_equal(child_says(withdraw_meanwhile, SIGSEGV), 0);
	}
}

TEST(a_handler_for_one_time_takes_no_later_one_away)
{
	struct sigaction act = { .sa_handler = on_signal, .sa_flags = SA_RESETHAND };
	int sig = SIGBUS;

	nr_seen = nr_before = 0;
	assert_int_equal(sigaction(sig, &act, NULL), 0);
	pair_before(SYS_rt_sigprocmask, set_in_between, &sig);
	assert_int_equal(raise(sig), 0);
	pair_before(0, NULL, NULL);
	assert_int_equal(nr_seen, 1);
	assert_ptr_equal(program_has(sig).sa_handler, on_signal);
	assert_int_equal(program_has(sig).sa_flags & SA_RESETHAND, 0);
	program_wants(sig, SIG_DFL);
}

/* --- after the program's handlers --- */

static unsigned nr_after;

static void count_after(void)
{
	nr_after++;
}

/* From this test on, the probe's handler replaces each handler of the program. */
TEST(something_is_called_after_each_handler)
{
	program_wants(SIGUSR1, on_signal);
	assert_true(fault_call_after_handlers(count_after));
	assert_ptr_equal(program_has(SIGUSR1).sa_handler, on_signal);
	assert_ptr_not_equal(kernel_has(SIGUSR1).handler, on_signal);
	nr_seen = 0;
	assert_int_equal(raise(SIGUSR1), 0);
	assert_int_equal(nr_seen, 1);
	assert_int_equal(nr_after, 1);

	/* Handlers that the program sets later, by any function, are replaced, too. */
	assert_ptr_not_equal(signal(SIGUSR2, on_signal), SIG_ERR);
	assert_int_equal(raise(SIGUSR2), 0);
	program_wants(SIGSEGV, on_signal);
	assert_int_equal(raise(SIGSEGV), 0);
	assert_int_equal(nr_seen, 3);
	assert_int_equal(nr_after, 3);
	program_wants(SIGSEGV, SIG_DFL);
}

/*
 * An action without a handler goes to the kernel: it interrupts nothing, and children inherit it.
 */
TEST(without_a_handler_the_action_is_the_programs)
{
	program_wants(SIGUSR1, SIG_IGN);
	assert_ptr_equal(kernel_has(SIGUSR1).handler, SIG_IGN);
	assert_ptr_equal(program_has(SIGUSR1).sa_handler, SIG_IGN);
	program_wants(SIGUSR1, SIG_DFL);
	program_wants(SIGUSR2, SIG_DFL);
	assert_ptr_equal(kernel_has(SIGUSR1).handler, SIG_DFL);
	assert_ptr_equal(kernel_has(SIGURG).handler, SIG_DFL);
	assert_ptr_equal(kernel_has(SIGCHLD).handler, SIG_DFL);
	check_that_handlers_stay(SIGUSR2);
	/* A signal without a handler may be watched later, too. */
	program_wants(SIGABRT, SIG_DFL);
	assert_ptr_equal(kernel_has(SIGABRT).handler, SIG_DFL);
	fault_watch_signal(SIGABRT);
	assert_ptr_not_equal(kernel_has(SIGABRT).handler, SIG_DFL);
	assert_ptr_equal(program_has(SIGABRT).sa_handler, SIG_DFL);
}

/* --- the end of a program --- */

/* Returns how a child ended that has called @fn. */
static int ends_by(void (*fn)(int), int sig, void (*handler)(int))
{
	int status;
	pid_t pid = fork();

	if (pid == 0) {
		probe.pid = getpid();
		program_wants(sig, handler);
		fn(sig);
		_exit(0);
	}
	assert_true(pid > 0);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	return WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status) + 1000;
}

static void send(int sig)
{
	raise(sig);
}

static void run_into(int sig)
{
	*(volatile char *)pages_end = 1;
}

TEST(without_a_handler_the_signal_ends_the_program)
{
	fault_watch_crashes();
	assert_ptr_equal(kernel_has(SIGABRT).handler, kernel_has(SIGSEGV).handler);
	assert_ptr_equal(kernel_has(SIGFPE).handler, kernel_has(SIGSEGV).handler);
	assert_ptr_equal(kernel_has(SIGILL).handler, kernel_has(SIGSEGV).handler);
	for (unsigned i = 0; i < 2; i++) {
		assert_int_equal(ends_by(send, i ? SIGSEGV : SIGABRT, SIG_DFL),
				 i ? SIGSEGV : SIGABRT);
		assert_int_equal(ends_by(send, i ? SIGSEGV : SIGABRT, SIG_IGN), 1000);
		assert_int_equal(ends_by(send, i ? SIGSEGV : SIGABRT, on_signal), 1000);
	}
	assert_int_equal(ends_by(run_into, SIGSEGV, SIG_DFL), SIGSEGV);
	/* The kernel ends a program at a fault even if SIGSEGV is ignored. */
	assert_int_equal(ends_by(run_into, SIGSEGV, SIG_IGN), SIGSEGV);
}

/* come_late() passes a signal with this si_code to the probe's handler. */
static int late_code;

/* Calls the probe's handler as for a signal that came before the program last set a handler. */
static void come_late(int sig)
{
	siginfo_t info = { .si_signo = sig, .si_code = late_code };

	const struct kernel_action kernels = kernel_has(SIGSEGV);
	void (*handler)(int, siginfo_t *, void *);

	memcpy(&handler, &kernels.handler, sizeof(handler));
	handler(sig, &info, NULL);
}

/* Another thread may have set SIG_IGN since the signal has come. */
TEST(a_signal_that_is_ignored_by_now_does_not_end_the_program)
{
	late_code = SI_USER;
	assert_int_equal(ends_by(come_late, SIGABRT, SIG_IGN), 1000);
	assert_int_equal(ends_by(come_late, SIGFPE, SIG_IGN), 1000);
	assert_int_equal(ends_by(come_late, SIGFPE, on_signal), 1000);
	assert_int_equal(ends_by(come_late, SIGFPE, SIG_DFL), SIGFPE);
}

/*
 * A signal of --signal does not end the program, even without a handler. If the program has a
 * handler for it, the handler is called as usual.
 */
TEST(signals_that_switch_are_no_end)
{
	assert_int_equal(ends_by(send, SIGUSR2, SIG_DFL), SIGUSR2);
	probe.plan.signals_off = BIT(SIGUSR2);
	fault_watch_signal(SIGUSR2);
	probe.ready = probe.is_on = true;
	assert_int_equal(raise(SIGUSR2), 0);
	assert_false(probe.is_on);
	nr_seen = 0;
	probe.is_on = true;
	program_wants(SIGUSR2, on_signal);
	assert_int_equal(raise(SIGUSR2), 0);
	assert_false(probe.is_on);
	assert_int_equal(nr_seen, 1);
	/* The probe also handles signals that the program ignores. */
	probe.is_on = true;
	program_wants(SIGUSR2, SIG_IGN);
	assert_ptr_equal(program_has(SIGUSR2).sa_handler, SIG_IGN);
	assert_int_equal(raise(SIGUSR2), 0);
	assert_false(probe.is_on);
	assert_int_equal(nr_seen, 1);
	probe.ready = false;
	probe.plan.signals_off = 0;
}

/* The order of the tests matters: a signal that is watched stays watched. */
TEST_GROUP(setup, NULL)
