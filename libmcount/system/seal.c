/* Decides which system calls the probe makes in a sealed program (see seal.h). */
#include "libmcount/system/seal.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <stdlib.h>
#include <string.h>

#include "libmcount/program/exec.h"
#include "libmcount/system/fault.h"
#include "libmcount/system/own_syscall.h"
#include "libmcount/hot/probe.h"
#include "libmcount/system/seal_filter.h"
#include "libmcount/system/session.h"
#include "utils/format/probe/control.h"

#define PAGE 4096UL

/*
 * System calls with which the probe gives a new thread a state, and a ring for its records. The
 * ring stores the id of the thread.
 */
static const uint16_t to_begin[] = { SYS_rt_sigprocmask, SYS_mmap, SYS_mremap, SYS_gettid };

/* System calls that the probe's signal handlers need (fault.c). */
static const uint16_t to_handle[] = { SYS_rt_sigaction, SYS_rt_sigprocmask, SYS_rt_sigreturn,
				      SYS_tgkill,	SYS_getpid,	    SYS_gettid };

/*
 * System calls that the probe needs to talk with the recorder, and to obey the recorder's orders.
 * The probe makes some of them through functions of libc. A program is recorded from its beginning
 * only if the program's filters allow all these system calls.
 */
static const uint16_t to_talk[] = {
	SYS_socket,	   SYS_connect,	       SYS_sendto,	 SYS_recvmsg,
	SYS_setsockopt,	   SYS_getsockopt,     SYS_close,	 SYS_prlimit64,
	SYS_mmap,	   SYS_munmap,	       SYS_mremap,	 SYS_mprotect,
	SYS_madvise,	   SYS_fstat,	       SYS_newfstatat,	 SYS_getpid,
	SYS_getppid,	   SYS_gettid,	       SYS_getuid,	 SYS_geteuid,
	SYS_clock_gettime, SYS_rt_sigprocmask, SYS_rt_sigaction, SYS_rt_sigreturn,
	SYS_tgkill,	   SYS_openat,	       SYS_read,	 SYS_pwrite64,
	SYS_readlink,	   SYS_lstat,	       SYS_getcwd,	 SYS_brk,
	SYS_futex,	   SYS_sched_yield,
};

/*
 * System calls that the probe can do without. kill(2) tells whether the recorder still runs.
 * prctl(2) tells whether a thread may read the CPU's time-stamp counter. The other system calls
 * read values that the user asks for.
 */
static const uint16_t others[] = { SYS_kill, SYS_getrusage, SYS_perf_event_open, SYS_ioctl,
				   SYS_prctl };

struct numbers {
	uint8_t bits[SEAL_NUMBERS / 8];
};

static bool has_syscall(const struct numbers *set, uint32_t nr)
{
	return set->bits[nr / 8] & 1U << nr % 8;
}

static bool allows_all(const struct numbers *forbidden, const uint16_t *numbers, unsigned nr)
{
	for (unsigned i = 0; i < nr; i++) {
		if (has_syscall(forbidden, numbers[i]))
			return false;
	}
	return true;
}

/*
 * For each system call in @numbers: removes the call's number from @forbidden if the filter
 * @program and all earlier filters allow the call. A system call that is in none of the arrays
 * above stays in @forbidden.
 */
static void judge_numbers(struct numbers *forbidden, const struct sock_fprog *program,
			  const uint16_t *numbers, unsigned nr)
{
	for (unsigned i = 0; i < nr; i++) {
		uint16_t number = numbers[i];

		if (seal_allows(number) &&
		    seal_filter_allows(program->filter, program->len, number))
			forbidden->bits[number / 8] &= ~(1U << number % 8);
	}
}

static struct numbers judge_all(const struct sock_fprog *program)
{
	struct numbers forbidden;

	memset(&forbidden, UINT8_MAX, sizeof(forbidden));
	judge_numbers(&forbidden, program, to_begin, ARRAY_SIZE(to_begin));
	judge_numbers(&forbidden, program, to_handle, ARRAY_SIZE(to_handle));
	judge_numbers(&forbidden, program, to_talk, ARRAY_SIZE(to_talk));
	judge_numbers(&forbidden, program, others, ARRAY_SIZE(others));
	return forbidden;
}

/*
 * If the recorder's address contains the number of system call filters (control_address_filters()),
 * adds 1 to this number. Changes each copy of the address in this process. A program that this
 * process executes finds the address in its environment, and inherits the counted filters.
 */
static void expect_one_more(void)
{
	char *address = getenv(CONTROL_ENV_SOCKET);

	if (address)
		control_address_add_filter(address);
	control_address_add_filter(probe.address);
	exec_expect_filter();
}

/* True when the vDSO reads the kernel's clock source, so that libc makes no system call. */
static bool has_fast_clock(void)
{
	static const char *const fast[] = { "tsc", "kvm-clock", "hyperv_clocksource_tsc_page" };
	char name[64] = "";
	const char *path = "/sys/devices/system/clocksource/clocksource0/current_clocksource";
	long len = own_read_file(path, name, sizeof(name) - 1);

	for (unsigned i = 0; i < ARRAY_SIZE(fast); i++) {
		size_t n = strlen(fast[i]);

		if (len > (long)n && strncmp(name, fast[i], n) == 0 && name[n] == '\n')
			return true;
	}
	return false;
}

/*
 * Prepares the probe for a new filter. The filter, once set, may forbid system calls that the
 * preparations need.
 */
static void prepare_seal(const struct numbers *forbidden)
{
	/* Make this thread's state now. The filter may forbid system calls of thread_begin(). */
	if (probe.ready && probe.tracing && !self && seal_may_begin() &&
	    !atomic_load(&probe.forked))
		thread_begin();
	if (!allows_all(forbidden, to_handle, ARRAY_SIZE(to_handle)))
		fault_withdraw();
	if (probe.ready && has_syscall(forbidden, SYS_clock_gettime) && !probe.has_counter &&
	    !has_fast_clock()) {
		probe_stop();
		atomic_fetch_add(&probe.arena->threads_caged, 1);
	}
	/*
	 * A forked child that has not reported itself needs all system calls in to_talk[] for its
	 * report. Without them the child cannot be recorded, since it must not use its parent's
	 * arena.
	 */
	if (atomic_load(&probe.forked) && !allows_all(forbidden, to_talk, ARRAY_SIZE(to_talk)))
		session_cut_off();
	if (probe.ready)
		atomic_fetch_add(&probe.arena->seals, 1);
}

/* Makes all threads obey the seal from now on. */
static void begin_seal(const struct numbers *forbidden)
{
	prepare_seal(forbidden);
	if (allows_all(forbidden, to_talk, ARRAY_SIZE(to_talk)))
		expect_one_more();
	for (unsigned i = 0; i < sizeof(seal.forbidden); i++)
		atomic_fetch_or(&seal.forbidden[i], forbidden->bits[i]);
	atomic_store(&seal.may_begin, allows_all(forbidden, to_begin, ARRAY_SIZE(to_begin)));
	atomic_store(&seal.may_talk, allows_all(forbidden, to_talk, ARRAY_SIZE(to_talk)));
	atomic_store(&seal.is_on, true);
}

void seal_all(void)
{
	struct numbers forbidden;

	memset(&forbidden, UINT8_MAX, sizeof(forbidden));
	begin_seal(&forbidden);
}

static bool is_readable(uint64_t from, uint64_t bytes)
{
	for (uint64_t page = from & ~(PAGE - 1); page < from + bytes; page += PAGE) {
		if (!own_is_readable(MAX(page, from)))
			return false;
	}
	return own_is_readable(from + bytes - sizeof(uint64_t));
}

void seal_before_filter(uint64_t address)
{
	const struct sock_fprog *program = (const struct sock_fprog *)address;
	int saved = errno;

	if (!seal_allows(SYS_rt_sigprocmask)) {
		seal_all();
	} else if (is_readable(address, sizeof(*program)) && program->len &&
		   is_readable((uint64_t)program->filter,
			       program->len * sizeof(*program->filter))) {
		struct numbers forbidden = judge_all(program);

		begin_seal(&forbidden);
	}
	/*
	 * If the probe cannot read a filter, no seal begins: the kernel cannot read the filter
	 * either, and refuses the filter.
	 */
	errno = saved;
}

/* Returns the number after @name in @status, or 0 when @status does not contain @name. */
static unsigned find_number(const char *status, const char *name)
{
	const char *at = strstr(status, name);
	unsigned number = 0;

	if (!at)
		return 0;
	at += strlen(name);
	while (*at == '\t' || *at == ' ')
		at++;
	for (; *at >= '0' && *at <= '9'; at++)
		number = number * 10 + (*at - '0');
	return number;
}

unsigned seal_count_filters(const char *status)
{
	/* Kernels before Linux 5.9 tell only whether there are filters, not their number. */
	if (strstr(status, "\nSeccomp_filters:"))
		return find_number(status, "\nSeccomp_filters:");
	return find_number(status, "\nSeccomp:") != 0;
}

/*
 * Makes room in @status, which is full with @len bytes. Drops the lines before the line "Seccomp:".
 * If @status does not contain that line, keeps only the last bytes, since these bytes may be the
 * beginning of the line. Returns the number of bytes that are kept.
 */
static size_t drop_other_lines(char *status, size_t len)
{
	static const char line[] = "\nSeccomp:";
	const char *at = strstr(status, line);
	size_t kept = at ? strlen(at) : sizeof(line);

	memmove(status, status + len - kept, kept);
	status[kept] = '\0';
	return kept;
}

bool seal_was_before(unsigned expected)
{
	/* /proc/self/status lists all groups of the process, so it may exceed this buffer. */
	char status[4096];
	size_t len = 0;
	long n = 0;
	/* All filters allow openat(2) and read(2): the dynamic linker has just used both. */
	int fd = syscall(SYS_openat, AT_FDCWD, "/proc/self/status", O_RDONLY | O_CLOEXEC, 0);

	if (fd < 0)
		return errno != ENOENT; /* ENOENT: there is no /proc */
	while (len < sizeof(status) - 1 &&
	       (n = syscall(SYS_read, fd, status + len, sizeof(status) - 1 - len)) > 0) {
		len += n;
		status[len] = '\0';
		if (len == sizeof(status) - 1)
			len = drop_other_lines(status, len);
	}
	syscall(SYS_close, fd);
	status[len] = '\0';
	return n < 0 || seal_count_filters(status) > expected;
}
