/*
 * The probe's signal handler, which replaces handlers of the program. The probe's handler serves
 * guarded reads, crashes, --signal and fault_call_after_handlers() (see fault.h).
 */
#include "libmcount/system/fault.h"

#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "libmcount/system/crash.h"
#include "libmcount/program/interpose.h"
#include "libmcount/system/own_syscall.h"
#include "libmcount/system/signal_switches.h"

/*
 * For watched signals the kernel has the probe's handler, with the flags and the mask of the
 * program's action. But for a signal in the bit mask @followed, the kernel has the probe's handler
 * only while the program has a handler. The probe's handler calls the program's handler with the
 * same arguments, or lets the signal end the program (SIG_DFL). If the program ignores the signal
 * (SIG_IGN), the kernel has SIG_IGN instead of the probe's handler, unless --signal names the
 * signal.
 *
 * The probe may read bad memory while a handler of an unwatched signal runs. So SIGSEGV and SIGBUS
 * must not be blocked in such a handler. While SIGSEGV is watched, the probe takes SIGSEGV and
 * SIGBUS out of the mask of each new action of an unwatched signal.
 */

__thread uint8_t fault_state __attribute__((tls_model("initial-exec")));

uint8_t fault_guarded = FAULT_GUARDED;

/*
 * is_unblocked: this thread has unblocked SIGSEGV and SIGBUS for a guarded read of the probe
 * came_early: the signals that came during that read; bit 0: SIGSEGV, bit 1: SIGBUS
 */
static __thread bool is_unblocked __attribute__((tls_model("initial-exec")));
static __thread uint8_t came_early __attribute__((tls_model("initial-exec")));

/*
 * The signals that the probe watches for its own work. When the probe reads memory, the read may
 * cause one of the first NR_READ_SIGNALS signals. The other signals are watched because they end
 * programs.
 */
static const int watched_signals[] = { SIGSEGV, SIGBUS, SIGABRT, SIGFPE, SIGILL };
#define NR_READ_SIGNALS 2

static _Atomic uint64_t watched; /* a bit for each signal with the probe's handler */

/*
 * A bit for each followed signal. fault_call_after_handlers() is the only reason to watch such a
 * signal. While the program has a handler for a followed signal, the kernel has the probe's
 * handler. Otherwise the kernel has the program's action.
 */
static _Atomic uint64_t followed;
static void (*after_handler)(void);

/*
 * The number of entries that keep the latest actions of one signal. A new action goes to the next
 * entry, so that the probe does not change an entry that another thread is reading.
 */
#define KEPT 16

struct disposition {
	struct sigaction kept[KEPT];
	_Atomic uint32_t current;
};

/* dispositions[sig] is the program's action for signal sig. Unused pages cost nothing. */
static struct disposition dispositions[_NSIG];
/*
 * Bit 0 of stripped[sig] is set when SIGSEGV was taken out of the signal mask of the program's
 * action for signal sig. Bit 1 means the same for SIGBUS.
 */
static _Atomic uint8_t stripped[_NSIG];

static bool is_watched(int sig)
{
	return sig > 0 && sig < _NSIG &&
	       (atomic_load_explicit(&watched, memory_order_relaxed) & MASK_BIT(sig));
}

static bool is_followed(int sig)
{
	return atomic_load_explicit(&followed, memory_order_relaxed) & MASK_BIT(sig);
}

static struct sigaction *current_of(struct disposition *d)
{
	return &d->kept[atomic_load(&d->current) % KEPT];
}

static void *next_of_sigaction;

static int next_sigaction(int sig, const struct sigaction *act, struct sigaction *old)
{
	int (*fn)(int, const struct sigaction *,
		  struct sigaction *) = interposed(&next_of_sigaction, "sigaction");

	return fn(sig, act, old);
}

void fault_find_functions(void)
{
	interposed(&next_of_sigaction, "sigaction");
}

static bool has_handler(const struct sigaction *act)
{
	return act->sa_handler != SIG_DFL && act->sa_handler != SIG_IGN;
}

static void on_fault(int sig, siginfo_t *info, void *context);

/* Returns the action that the kernel gets when the program asks for @act. */
static struct sigaction kernel_action(int sig, const struct sigaction *act)
{
	struct sigaction ours = {
		.sa_sigaction = on_fault,
		.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_RESTART,
	};

	if (!is_watched(sig) || (act->sa_handler == SIG_IGN && !signal_switches_have(sig)))
		return *act;
	if (!has_handler(act) && is_followed(sig))
		return *act;
	if (has_handler(act)) {
		ours.sa_mask = act->sa_mask;
		ours.sa_flags = (act->sa_flags & ~SA_RESETHAND) | SA_SIGINFO;
	}
	return ours;
}

/*
 * A thread holds this lock while it changes the action of a watched signal, or the set of watched
 * signals. So the kernel's action of a watched signal is always made from the action that the
 * program has set last.
 */
static atomic_flag change_lock = ATOMIC_FLAG_INIT;

struct quiet {
	uint64_t mask;
	bool is_quiet;
};

/* Until unlock_changes() no code of the program runs in this thread. */
static struct quiet lock_changes(void)
{
	struct quiet quiet;

	quiet.is_quiet = own_quiet_begin(&quiet.mask);
	while (atomic_flag_test_and_set(&change_lock))
		;
	return quiet;
}

static void unlock_changes(struct quiet quiet)
{
	atomic_flag_clear(&change_lock);
	if (quiet.is_quiet)
		own_quiet_end(quiet.mask);
	fault_state = FAULT_UNKNOWN;
}

void fault_after_fork(void)
{
	atomic_flag_clear(&change_lock);
}

static int change_locked(int sig, const struct sigaction *wanted)
{
	struct disposition *d = &dispositions[sig];
	struct sigaction ours = kernel_action(sig, wanted);
	uint32_t place = atomic_load(&d->current) + 1;

	d->kept[place % KEPT] = *wanted;
	atomic_store(&d->current, place);
	return next_sigaction(sig, &ours, NULL);
}

static int change(int sig, const struct sigaction *act, struct sigaction *old)
{
	struct sigaction wanted = act ? *act : (struct sigaction){ 0 };
	struct quiet quiet = lock_changes();
	struct sigaction before = *current_of(&dispositions[sig]);
	int ret = act ? change_locked(sig, &wanted) : 0;

	unlock_changes(quiet);
	if (ret == 0 && old)
		*old = before;
	return ret;
}

/*
 * Does the work of SA_RESETHAND: sets SIG_DFL. Does nothing if the program has replaced the action
 * at @place.
 */
static void reset_handler(int sig, uint32_t place)
{
	const struct sigaction normal = { .sa_handler = SIG_DFL };
	struct quiet quiet = lock_changes();

	if (atomic_load(&dispositions[sig].current) == place)
		change_locked(sig, &normal);
	unlock_changes(quiet);
}

static void send_to_self(int sig)
{
	long tid = own_syscall(SYS_gettid);

	own_syscall(SYS_tgkill, getpid(), tid, sig);
}

/*
 * True when an instruction caused @sig (sigaction(2)). If the handler returns, the instruction
 * runs again, and may cause @sig again.
 */
static bool is_fault(int sig, const siginfo_t *info)
{
	return info->si_code > 0 &&
	       (sig == SIGSEGV || sig == SIGBUS || sig == SIGFPE || sig == SIGILL);
}

/*
 * True when signal @sig does not end the program, although the program has no handler for @sig. The
 * reason is that the program now ignores @sig, or that --signal names @sig. A fault ends even a
 * program that ignores the signal.
 */
static bool is_harmless(int sig, const siginfo_t *info, const struct sigaction *act)
{
	return !is_fault(sig, info) && (act->sa_handler == SIG_IGN || signal_switches_have(sig));
}

/*
 * Runs the program's handler, or lets the default action happen. For the default action, a signal
 * that a process has sent (code 0 or less, sigaction(2)) is sent again. A fault is not sent again:
 * the instruction runs again, and causes the same fault.
 */
static void pass_on(int sig, siginfo_t *info, void *context)
{
	struct disposition *d = &dispositions[sig];
	uint32_t place = atomic_load(&d->current);
	struct sigaction act = d->kept[place % KEPT];
	struct sigaction normal = { .sa_handler = SIG_DFL };

	if (has_handler(&act)) {
		if (act.sa_flags & SA_RESETHAND)
			reset_handler(sig, place);
		/* The program's handler runs with a signal mask that the probe has not read. */
		fault_state = FAULT_UNKNOWN;
		act.sa_sigaction(sig, info, context);
		fault_state = FAULT_UNKNOWN;
		if (after_handler)
			after_handler();
		return;
	}
	/*
	 * A followed signal calls the probe's handler only while the program has a handler for the
	 * signal. So the program had a handler when this signal came, but has no handler now.
	 */
	if (is_followed(sig)) {
		if (act.sa_handler == SIG_DFL)
			send_to_self(sig);
		return;
	}
	if (is_harmless(sig, info, &act))
		return;

	crash_note(sig, info);
	next_sigaction(sig, &normal, NULL);
	if (info->si_code <= 0)
		send_to_self(sig);
}

static void on_fault(int sig, siginfo_t *info, void *context)
{
	bool is_read = sig == SIGSEGV || sig == SIGBUS;

	if (is_read && info->si_code > 0 && arch_fault_resume(context))
		return;
	if (is_read && info->si_code <= 0 && is_unblocked) {
		came_early |= 1U << (sig == SIGBUS);
		return;
	}

	int saved = errno;

	bool has_own = has_handler(current_of(&dispositions[sig]));

	if (signal_switches_have(sig))
		signal_switches_obey(sig, has_own);
	/* A signal of --signal does not end the program, even if the program has no handler. */
	if (!signal_switches_have(sig) || has_own)
		pass_on(sig, info, context);
	if (signal_switches_have(sig))
		signal_switches_end();
	errno = saved;
}

/* Sets the action of a signal that is not watched. Takes SIGSEGV and SIGBUS out of @act's mask. */
static int change_other(int sig, const struct sigaction *act, struct sigaction *old)
{
	struct sigaction copy;
	uint8_t taken = 0;

	if (act) {
		copy = *act;
		taken = (sigismember(&copy.sa_mask, SIGSEGV) == 1) |
			(sigismember(&copy.sa_mask, SIGBUS) == 1) << 1;
		sigdelset(&copy.sa_mask, SIGSEGV);
		sigdelset(&copy.sa_mask, SIGBUS);
	}

	int ret = next_sigaction(sig, act ? &copy : NULL, old);

	if (ret < 0)
		return ret;

	uint8_t before = atomic_load(&stripped[sig]);

	if (act)
		atomic_store(&stripped[sig], taken);
	if (old && (before & 1))
		sigaddset(&old->sa_mask, SIGSEGV);
	if (old && (before & 2))
		sigaddset(&old->sa_mask, SIGBUS);
	return 0;
}

/*
 * True in a vfork(2) child, which shares its parent's memory but has signal actions of its own. The
 * child's requests go to the kernel unchanged.
 */
static bool is_borrower(void)
{
	return seal_allows(SYS_getpid) && getpid() != probe.pid;
}

static int change_borrowed(int sig, const struct sigaction *act, struct sigaction *old)
{
	int ret = next_sigaction(sig, act, old);

	if (ret == 0 && old && old->sa_sigaction == on_fault)
		*old = *current_of(&dispositions[sig]);
	return ret;
}

/*
 * Called after a system call that has set or read the action of signal @sig. Before this system
 * call, the signal was not watched. If another thread has begun to watch the signal meanwhile, @act
 * may have replaced the probe's handler, or the probe's handler may have replaced @act. In both
 * cases, @act is set once more. Returns 0, or -1 with errno.
 *
 * @act: the action that the system call has set; NULL: none
 * @old: the action that the system call has returned; NULL: none
 */
static int change_again(int sig, const struct sigaction *act, struct sigaction *old)
{
	if (!is_watched(sig) || is_borrower())
		return 0;
	if (old && old->sa_sigaction == on_fault)
		*old = *current_of(&dispositions[sig]);
	return act ? change(sig, act, NULL) : 0;
}

/* The work of sigaction(2) for a signal that is not watched. */
static int change_unwatched(int sig, const struct sigaction *act, struct sigaction *old)
{
	/* @old may be the same memory as @act. */
	struct sigaction wanted = act ? *act : (struct sigaction){ 0 };
	int ret = is_watched(SIGSEGV) && !is_borrower() ? change_other(sig, act, old)
							: next_sigaction(sig, act, old);

	return ret < 0 ? ret : change_again(sig, act ? &wanted : NULL, old);
}

EXPORTED int sigaction(int sig, const struct sigaction *act, struct sigaction *old)
{
	fault_before_handler();
	if (is_watched(sig))
		return is_borrower() ? change_borrowed(sig, act, old) : change(sig, act, old);
	if (sig <= 0 || sig >= _NSIG)
		return next_sigaction(sig, act, old);
	return change_unwatched(sig, act, old);
}

static struct sigaction simple_action(int sig, __sighandler_t handler, int flags)
{
	struct sigaction act = { .sa_handler = handler, .sa_flags = flags };

	if (!(flags & SA_NODEFER))
		sigaddset(&act.sa_mask, sig);
	return act;
}

/*
 * The work of signal(2) and similar functions. The versions of these functions in libc do not call
 * the sigaction() above.
 */
static __sighandler_t simple_change(int sig, __sighandler_t handler, int flags)
{
	struct sigaction act = simple_action(sig, handler, flags);
	struct sigaction old;

	if (handler == SIG_ERR) {
		errno = EINVAL;
		return SIG_ERR;
	}

	int ret = is_borrower() ? change_borrowed(sig, &act, &old) : change(sig, &act, &old);

	return ret < 0 ? SIG_ERR : old.sa_handler;
}

/*
 * Called after libc's version of signal(2) or of a similar function. Does the work of
 * change_again(). Returns the handler that the program gets as the result.
 *
 * @before: the result of libc's version
 */
static __sighandler_t simple_again(int sig, __sighandler_t handler, int flags,
				   __sighandler_t before)
{
	struct sigaction act = simple_action(sig, handler, flags);
	struct sigaction old = { .sa_handler = before };

	if (before == SIG_ERR || change_again(sig, handler == SIG_HOLD ? NULL : &act, &old) < 0)
		return SIG_ERR;
	return old.sa_handler;
}

#define INTERPOSE_SIGNAL(name, flags)                                               \
	EXPORTED __sighandler_t name(int sig, __sighandler_t handler);              \
	__sighandler_t name(int sig, __sighandler_t handler)                        \
	{                                                                           \
		static void *next;                                                  \
		__sighandler_t (*fn)(int, __sighandler_t);                          \
                                                                                    \
		if (is_watched(sig))                                                \
			return simple_change(sig, handler, flags);                  \
		fn = interposed(&next, #name);                                      \
		if (fn)                                                             \
			return simple_again(sig, handler, flags, fn(sig, handler)); \
		errno = ENOSYS;                                                     \
		return SIG_ERR;                                                     \
	}

INTERPOSE_SIGNAL(signal, SA_RESTART)
INTERPOSE_SIGNAL(bsd_signal, SA_RESTART)
INTERPOSE_SIGNAL(ssignal, SA_RESTART)
INTERPOSE_SIGNAL(sysv_signal, SA_RESETHAND | SA_NODEFER)
INTERPOSE_SIGNAL(__sysv_signal, SA_RESETHAND | SA_NODEFER)

static __sighandler_t sigset_watched(int sig, __sighandler_t handler)
{
	sigset_t set;
	sigset_t before;
	struct sigaction act;

	sigemptyset(&set);
	sigaddset(&set, sig);
	if (handler == SIG_HOLD) {
		if (sigaction(sig, NULL, &act) < 0 || sigprocmask(SIG_BLOCK, &set, &before) < 0)
			return SIG_ERR;
	} else {
		act.sa_handler = simple_change(sig, handler, 0);
		if (act.sa_handler == SIG_ERR || sigprocmask(SIG_UNBLOCK, &set, &before) < 0)
			return SIG_ERR;
	}
	return sigismember(&before, sig) == 1 ? SIG_HOLD : act.sa_handler;
}

EXPORTED __sighandler_t sigset(int sig, __sighandler_t handler)
{
	static void *next;
	__sighandler_t (*fn)(int, __sighandler_t) = interposed(&next, "sigset");

	if (is_watched(sig))
		return sigset_watched(sig, handler);
	return simple_again(sig, handler, 0, fn(sig, handler));
}

EXPORTED int sigignore(int sig)
{
	static void *next;
	int (*fn)(int) = interposed(&next, "sigignore");

	if (is_watched(sig))
		return simple_change(sig, SIG_IGN, 0) == SIG_ERR ? -1 : 0;
	if (fn(sig) < 0)
		return -1;
	return simple_again(sig, SIG_IGN, 0, SIG_DFL) == SIG_ERR ? -1 : 0;
}

void fault_forget_mask(void)
{
	fault_state = FAULT_UNKNOWN;
}

/*
 * Defines the probe's version of a function that changes this thread's signal mask, or runs
 * handlers with another mask. longjmp.c and contexts.c define the versions of siglongjmp(3),
 * setcontext(3) and swapcontext(3).
 *
 * The probe does not interpose ppoll(2), pselect(2), epoll_pwait(2), sigpause(3), sigblock(3) and
 * sigsetmask(3), because a forked child may call one of these six functions before its exec. If the
 * probe had a version of the function, this version would call dlsym(3) in the child, and dlsym(3)
 * might wait for ever.
 */
#define INTERPOSE_MASK(type, name, params, args)             \
	EXPORTED type name params;                           \
	type name params                                     \
	{                                                    \
		static void *next;                           \
		type(*fn) params = interposed(&next, #name); \
                                                             \
		fault_state = FAULT_UNKNOWN;                 \
                                                             \
		type ret = fn args;                          \
                                                             \
		fault_state = FAULT_UNKNOWN;                 \
		return ret;                                  \
	}

INTERPOSE_MASK(int, sigprocmask, (int how, const sigset_t *set, sigset_t *old), (how, set, old))
INTERPOSE_MASK(int, pthread_sigmask, (int how, const sigset_t *set, sigset_t *old), (how, set, old))
INTERPOSE_MASK(int, sigsuspend, (const sigset_t *set), (set))
INTERPOSE_MASK(int, sighold, (int sig), (sig))
INTERPOSE_MASK(int, sigrelse, (int sig), (sig))

/*
 * False after the probe's handlers were withdrawn. Always false in an attached probe, because such
 * a probe may be unloaded (undo.h). If the probe had replaced a handler, the program would still
 * have the address of the probe's handler after the unloading.
 */
static bool may_replace_handlers(void)
{
	return !probe.is_attached && fault_guarded == FAULT_GUARDED;
}

/*
 * The bit of @sig is set before the kernel is asked for the program's action. So an action that
 * another thread sets meanwhile is either found here, or set once more by change_again().
 */
static void begin_watch(int sig, uint64_t follow)
{
	struct sigaction act;

	if (!may_replace_handlers())
		return;
	atomic_fetch_or(&followed, follow);
	atomic_fetch_or(&watched, MASK_BIT(sig));
	if (change_other(sig, NULL, &act) == 0)
		change_locked(sig, &act);
}

/* From now on @sig has the probe's handler, even if the program has no handler for @sig. */
static void end_follow(int sig)
{
	struct sigaction act = *current_of(&dispositions[sig]);

	atomic_fetch_and(&followed, ~MASK_BIT(sig));
	change_locked(sig, &act);
}

/* True for SIGKILL, SIGSTOP and libc's own signals, whose actions cannot be changed. */
static bool is_fixed(int sig)
{
	struct sigaction act;

	return sig == SIGKILL || sig == SIGSTOP || next_sigaction(sig, NULL, &act) < 0;
}

void fault_watch_signal(int sig)
{
	struct quiet quiet;

	if (!may_replace_handlers() || (is_watched(sig) && !is_followed(sig)) || is_fixed(sig))
		return;
	quiet = lock_changes();
	if (!is_watched(sig))
		begin_watch(sig, 0);
	else if (is_followed(sig))
		end_follow(sig);
	unlock_changes(quiet);
}

static void follow_signal(int sig)
{
	struct quiet quiet;

	if (is_watched(sig) || is_fixed(sig))
		return;
	quiet = lock_changes();
	if (!is_watched(sig))
		begin_watch(sig, MASK_BIT(sig));
	unlock_changes(quiet);
}

bool fault_call_after_handlers(void (*fn)(void))
{
	if (!may_replace_handlers())
		return false;
	after_handler = fn;
	for (int sig = 1; sig < _NSIG; sig++)
		follow_signal(sig);
	return true;
}

static void catch_watched(size_t nr)
{
	for (size_t i = 0; i < nr; i++)
		fault_watch_signal(watched_signals[i]);
}

void fault_guard_begin(void)
{
	catch_watched(NR_READ_SIGNALS);
}

void fault_watch_crashes(void)
{
	catch_watched(ARRAY_SIZE(watched_signals));
}

void fault_withdraw(void)
{
	struct quiet quiet = lock_changes();

	if (fault_guarded == FAULT_GUARDED) {
		fault_guarded = UINT8_MAX;
		for (int sig = 1; sig < _NSIG; sig++) {
			if (is_watched(sig))
				next_sigaction(sig, current_of(&dispositions[sig]), NULL);
		}
	}
	atomic_store(&watched, 0);
	unlock_changes(quiet);
}

/* Asks the kernel by a system call, since libc's sigaction() may be a recorded function. */
static bool has_our_handler(int sig)
{
	struct {
		uint64_t handler;
		uint64_t flags, restorer, mask;
	} act;

	return fault_guarded == FAULT_GUARDED &&
	       own_syscall(SYS_rt_sigaction, sig, NULL, &act, sizeof(act.mask)) == 0 &&
	       act.handler == (uint64_t)on_fault;
}

struct look {
	uint64_t mask;
	bool has_handlers;
};

static void look_at_mask(void *arg)
{
	struct look *l = arg;

	l->mask = UINT64_MAX;
	own_syscall(SYS_rt_sigprocmask, SIG_SETMASK, NULL, &l->mask, sizeof(l->mask));
	l->has_handlers = has_our_handler(SIGSEGV) && has_our_handler(SIGBUS);
	fault_state = FAULT_CAREFUL;
	if (l->has_handlers && !(l->mask & (MASK_BIT(SIGSEGV) | MASK_BIT(SIGBUS))))
		fault_state = FAULT_GUARDED;
}

void fault_look(void)
{
	struct look l;

	slow_call(look_at_mask, &l);
}

struct copy {
	void *to;
	const void *from;
	uint64_t len;
	int64_t result;
	bool is_string;
};

static int64_t copy_now(const struct copy *c)
{
	if (c->is_string)
		return arch_copy_string(c->to, c->from, c->len);
	return arch_copy_guarded(c->to, c->from, c->len);
}

/*
 * Copies memory when the probe's signal handler cannot catch a fault. The function tests each page
 * before the copy, and copies only the bytes before the first unreadable page.
 */
static void copy_looking(struct copy *c)
{
	uint64_t start = (uint64_t)c->from & ~7ULL;
	uint64_t end = (uint64_t)c->from + c->len;
	uint64_t good = start;

	while (good < end && own_is_readable(good))
		good = (good | 4095) + 1;
	if (good < end) {
		uint64_t len = good > (uint64_t)c->from ? good - (uint64_t)c->from : 0;
		bool is_string = c->is_string;

		c->len = len;
		c->result = len ? copy_now(c) : 0;
		/*
		 * If the readable bytes have no NUL, the string goes on in unreadable memory. The
		 * result then says that the copy has failed after these bytes.
		 */
		if (is_string && c->result == (int64_t)len)
			c->result = -1 - c->result;
		return;
	}
	c->result = copy_now(c);
}

/*
 * Makes the copy @c in a thread that blocks SIGSEGV, SIGBUS or both. The two signals are unblocked
 * during the copy. A signal that was pending before the copy is pending again after the copy.
 */
static void copy_unblocked(struct copy *c, uint64_t mask)
{
	uint64_t open = mask & ~(MASK_BIT(SIGSEGV) | MASK_BIT(SIGBUS));

	is_unblocked = true;
	came_early = 0;
	own_quiet_end(open);
	c->result = copy_now(c);
	own_quiet_end(mask);
	is_unblocked = false;
	if (came_early & 1)
		send_to_self(SIGSEGV);
	if (came_early & 2)
		send_to_self(SIGBUS);
}

static void copy_careful(void *arg)
{
	struct copy *c = arg;
	struct look l;

	look_at_mask(&l);
	if (fault_state == fault_guarded)
		c->result = copy_now(c);
	else if (l.has_handlers)
		copy_unblocked(c, l.mask);
	else
		copy_looking(c);
}

uint64_t fault_copy_careful(void *to, const void *from, uint64_t len)
{
	struct copy c = { to, from, len, 0, false };

	slow_call(copy_careful, &c);
	return c.result;
}

int64_t fault_copy_string_careful(void *to, const void *from, uint64_t max)
{
	struct copy c = { to, from, max, 0, true };

	slow_call(copy_careful, &c);
	return c.result;
}
