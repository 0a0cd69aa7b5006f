/*
 * The traced process' side of a recording: the process reports to the recorder, and takes over the
 * plan and the shared memory.
 */
#include "libmcount/hot/probe.h"

#include <errno.h>
#include <linux/futex.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "libmcount/system/arena.h"
#include "libmcount/program/backtrace.h"
#include "libmcount/system/channel.h"
#include "libmcount/program/exec.h"
#include "libmcount/system/fault.h"
#include "libmcount/hot/frames.h"
#include "libmcount/system/modules.h"
#include "libmcount/program/own_libc.h"
#include "libmcount/plan/plans.h"
#include "libmcount/system/seal.h"
#include "libmcount/system/session.h"
#include "libmcount/plan/plan_update.h"
#include "libmcount/system/signal_switches.h"
#include "utils/format/probe/attach.h"

struct probe probe;

static const struct control_page *map_control(int fd)
{
	struct stat st;

	if (fd < 0 || fstat(fd, &st) < 0 || st.st_size < (off_t)sizeof(struct control_page))
		return NULL;

	const struct control_page *page = (void *)syscall(
		SYS_mmap, NULL, sizeof(struct control_page), PROT_READ, MAP_SHARED, fd, 0L);

	if (page == MAP_FAILED || page->nr_writers < 1 || page->nr_writers > CONTROL_WRITERS_MAX)
		return NULL;
	own_syscall(SYS_madvise, page, sizeof(struct control_page), MADV_DONTDUMP);
	return page;
}

/*
 * Maps the shared memory, whose descriptors came with the message WELCOME. Returns false when the
 * mapping fails. In this case, the process is not traced.
 */
static bool adopt_arena(const int fds[CONTROL_FD_MAX])
{
	if (!probe.control)
		probe.control = map_control(fds[CONTROL_FD_PAGE]);

	if (!probe.control || !arena_adopt(fds[CONTROL_FD_ARENA]))
		return false;
	probe.nr_writers = probe.control->nr_writers;
	probe.news = &probe.control->finished;
	return true;
}

/*
 * The free address space that a recorded process needs. The probe's ring, frames and tables take a
 * part of this space. The rest is for the program. If the limit of a process (ulimit -v) leaves
 * less, the process is not recorded.
 */
#define ADDRESS_SPACE_NEEDED (32UL << 20)

static bool has_address_space(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_AS, &limit) < 0 || limit.rlim_cur == RLIM_INFINITY)
		return true;

	void *p = (void *)own_syscall(SYS_mmap, NULL, ADDRESS_SPACE_NEEDED, PROT_NONE,
				      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (p == MAP_FAILED)
		return false;
	own_syscall(SYS_munmap, p, ADDRESS_SPACE_NEEDED);
	return true;
}

/*
 * Defined in glibc, whose jmp_buf, dynamic linker and thread-local storage the probe knows. With
 * another C library the probe does nothing.
 */
extern const char *gnu_get_libc_version(void) __attribute__((weak));

/*
 * Defined by Valgrind's preloaded library. Under Valgrind the probe does nothing: replaced
 * return addresses would cut Valgrind's backtraces short, and thereby change its reports.
 */
extern void _vgnU_freeres(void) __attribute__((weak));

/* Returns the reason why this process cannot be traced, or 0 when it can be traced. */
static enum control_hello_kind why_not(bool has_shadow_stack)
{
	if (!gnu_get_libc_version)
		return CONTROL_OTHER_LIBC;
	if (has_shadow_stack)
		return CONTROL_SHADOW_STACK;
	if (_vgnU_freeres)
		return CONTROL_IN_VALGRIND;
	return has_address_space() ? 0 : CONTROL_NO_ADDRESS_SPACE;
}

/*
 * Sends HELLO, the modules and READY, and waits for WELCOME. Returns false when this process is not
 * traced.
 */
static bool report_exec(struct channel *ch, bool has_shadow_stack, struct control_welcome *welcome)
{
	enum control_hello_kind why = why_not(has_shadow_stack);

	if (!channel_greet(ch, why ? why : CONTROL_EXEC))
		return false;
	if (why) {
		/* Wait until the recorder has read HELLO and has closed the connection. */
		channel_wait(ch, CONTROL_WELCOME, welcome, sizeof(*welcome));
		return false;
	}
	arch_init();
	return modules_report_all(ch) &&
	       channel_finish(ch, CONTROL_WELCOME, welcome, sizeof(*welcome));
}

void probe_stop(void)
{
	probe.plain = probe.tracing = false;
}

/*
 * probe_finish() waits until the recorder has ended the recording, but at most 0.1 seconds. During
 * the wait, other processes may still record.
 */
#define FINISH_STEPS   10
#define FINISH_STEP_NS 10000000

void probe_finish(void)
{
	const struct timespec step = { 0, FINISH_STEP_NS };
	int saved = errno;

	probe.is_finished = true;
	probe_stop();
	atomic_store(&probe.arena->finish_wanted, 1);
	/* Every writer thread of the recorder reads finish_wanted, so waking one is enough. */
	own_syscall(SYS_futex, &probe.control->writers[0].wake, FUTEX_WAKE, 1, NULL, NULL, 0);
	for (int i = 0; i < FINISH_STEPS && !atomic_load(&probe.control->finished); i++)
		own_syscall(SYS_futex, &probe.control->finished, FUTEX_WAIT, 0, &step, NULL, 0);
	errno = saved;
}

static bool is_waiting; /* all is prepared for session_go() */

bool session_is_waiting(void)
{
	return is_waiting;
}

void session_end_wait(void)
{
	is_waiting = false;
}

void session_go(void)
{
	is_waiting = false;
	__atomic_store_n(&probe.ready, true, __ATOMIC_RELEASE);
}

/*
 * Begin to be recorded. In an attached probe, only prepare all that session_go() needs. Returns
 * enum attach_result.
 */
static int64_t begin_being_recorded(const char *address)
{
	struct channel ch cleanup(channel_close);
	struct control_welcome welcome;

	channel_init(&ch);
	/*
	 * arch_has_shadow_stack() calls syscall(2). If a library interposes syscall(2), the library
	 * must get this call, as it gets the program's calls of syscall(2). After own_libc_bind(),
	 * the call would go directly to libc, so arch_has_shadow_stack() comes first.
	 */
	bool has_shadow_stack = arch_has_shadow_stack();

	own_libc_bind();
	if (!probe.is_attached && seal_was_before(control_address_filters(address)))
		return ATTACH_REFUSED;
	strcpy(probe.address, address);
	probe.pid = getpid();
	if (!report_exec(&ch, has_shadow_stack, &welcome) || !adopt_arena(ch.fds))
		return ATTACH_REFUSED;

	memcpy(probe.token, welcome.token, sizeof(probe.token));
	if (plans_begin(ch.fds[CONTROL_FD_PLAN]) < 0)
		return ATTACH_NO_MEMORY;
	plan_update_begin();
	clock_setup();
	if (!probe.is_attached) {
		exec_setup();
		backtrace_setup();
	}
	thread_setup();
	is_waiting = probe.is_attached;
	/*
	 * An attached probe begins at session_go(). Before that, the recorder patches the code, and
	 * tells the probe which calls are open. An attached probe can be removed later, so no
	 * signal handlers are installed here.
	 */
	if (probe.is_attached)
		return ATTACH_DONE;
	session_go();
	if (probe.plan.flags & PLAN_ESTIMATE)
		fault_guard_begin();
	/*
	 * Without a handler, a crash would lose held-back ENTRY records: those of the calls that
	 * led to the crash.
	 */
	if (probe.plan.threshold_ns || (probe.plan.flags & (PLAN_CRASH_REPORT | PLAN_SELECTIVE)))
		fault_watch_crashes();
	signal_switches_begin();
	/* Make the first thread's state now, so that the thread's first call is not slowed down. */
	if (!(probe.plan.flags & PLAN_BEGINS_LATE))
		thread_begin();
	return ATTACH_DONE;
}

/*
 * Each shared library contains code from the C library's start file crti.o. When the library is
 * loaded, this code calls __gmon_start__(). In the probe, the code calls the hidden function below,
 * which does nothing. Without the hidden function, the code would call the __gmon_start__() of a
 * program that was built with -pg, although the program has not started yet.
 */
__attribute__((visibility("hidden"))) void __gmon_start__(void);
void __gmon_start__(void)
{
}

/* Functions that initialise sanitizers. A program has at most one of these sanitizers. */
void __asan_init(void) __attribute__((weak));
void __tsan_init(void) __attribute__((weak));
void __msan_init(void) __attribute__((weak));

/*
 * Initialises the sanitizer before the probe calls libc functions. The sanitizer has replaced some
 * of these functions, and the replacements crash if the sanitizer is not initialised. Later, the
 * sanitizer initialises itself a second time, which does no harm.
 */
static void begin_sanitizer(void)
{
	if (__asan_init)
		__asan_init();
	if (__tsan_init)
		__tsan_init();
	if (__msan_init)
		__msan_init();
}

/*
 * COLD. Runs before all other constructors (-z initfirst), because the plan must exist before other
 * constructors make calls. If `environ` is NULL, sets `environ` to @envp, as the C library does
 * later.
 */
__attribute__((constructor)) static void session_begin(int argc, char **argv, char **envp)
{
	if (!environ)
		environ = envp;
	begin_sanitizer();

	const char *address = getenv(CONTROL_ENV_SOCKET);

	if (address && !probe.is_attached && control_address_parse(address, probe.secret))
		begin_being_recorded(address);
}

int64_t session_attach(const char *address)
{
	bool has_shadow_stack = arch_has_shadow_stack();
	enum control_hello_kind why = why_not(has_shadow_stack);

	if (why == CONTROL_SHADOW_STACK)
		return ATTACH_SHADOW_STACK;
	if (why == CONTROL_OTHER_LIBC)
		return ATTACH_OTHER_LIBC;
	if (why == CONTROL_NO_ADDRESS_SPACE)
		return ATTACH_NO_ADDRESS_SPACE;
	return control_address_parse(address, probe.secret) ? begin_being_recorded(address)
							    : ATTACH_REFUSED;
}

/* COLD. Runs after the program's own destructors, in the thread that calls exit(3). */
__attribute__((destructor)) static void session_end(void)
{
	struct thread *t = self;

	if (!t || t->busy)
		return;
	t->busy = 1;
	frames_close_estimated(t);
	t->busy = 0;
}

void session_cut_off(void)
{
	/* This forked child has no arena of its own, so probe.arena is still the parent's. */
	atomic_fetch_add(&probe.arena->children_cut_off, 1);
	probe.ready = false;
	probe_stop();
}

/* Reports the forked child to the recorder, and replaces the parent's arena by the child's own. */
static bool report_fork(void)
{
	struct control_welcome welcome;
	struct channel ch cleanup(channel_close);

	channel_init(&ch);
	if (!channel_greet(&ch, CONTROL_FORK) ||
	    !channel_finish(&ch, CONTROL_WELCOME, &welcome, sizeof(welcome)) ||
	    !adopt_arena(ch.fds))
		return false;
	memcpy(probe.token, welcome.token, sizeof(probe.token));
	probe.is_elsewhere = false;
	plan_update_begin();
	return true;
}

/*
 * Reports the child, if no other thread does, and gives @t a ring. Returns false while another
 * thread reports the child.
 */
static bool report_and_take_ring(struct thread *t)
{
	uint32_t pending = FORK_PENDING;
	uint64_t mask;
	/*
	 * If a signal handler left report_fork() by a jump, all later hooks would wait for the end
	 * of the report. If a handler forked after the report, the handler's child would take a
	 * ring of this process. Therefore no signal handler may run here.
	 */
	bool is_quiet = own_quiet_begin(&mask);

	if (atomic_compare_exchange_strong(&probe.forked, &pending, FORK_REPORTING)) {
		if (!seal_may_talk() || !report_fork())
			session_cut_off();
		atomic_store(&probe.forked, FORK_NONE);
	}

	bool is_known = atomic_load(&probe.forked) != FORK_REPORTING;

	if (is_known && t && !t->ring && probe.ready)
		thread_take_ring(t);
	if (is_quiet)
		own_quiet_end(mask);
	return is_known;
}

void session_report_fork(struct thread *t)
{
	while (!report_and_take_ring(t))
		own_syscall(SYS_sched_yield);
}
