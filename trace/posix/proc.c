/* Clocks, futexes, and facts that /proc shows about processes. All functions are signal-safe. */
#include "posix/posix.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/futex.h>
#include <signal.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#if !defined(SYS_futex) && defined(SYS_futex_time64)
#define SYS_futex SYS_futex_time64 /* the only futex(2) of some machines */
#endif

char *pxt_add_number(char *at, uint64_t number, unsigned int base)
{
	char digits[24];
	int nr = 0;

	do
		digits[nr++] = "0123456789abcdef"[number % base];
	while (number /= base);
	while (nr > 0)
		*at++ = digits[--nr];
	return at;
}

/* Stores the path "/proc/PID/stat". */
void pxt_process_path(char path[32], pid_t pid)
{
	memcpy(path, "/proc/", 6);
	memcpy(pxt_add_number(path + 6, (uint64_t)pid, 10), "/stat", 6);
}

void pxt_fd_path(char path[32], int fd)
{
	memcpy(path, "/proc/self/fd/", 14);
	*pxt_add_number(path + 14, (uint64_t)fd, 10) = '\0';
}

/*
 * Reads the file "stat" of a process (proc(5)). Returns the fields that follow the command's name,
 * or NULL if there is no such process. The name may contain the character ')'. Therefore the last
 * ')' of the text is the end of the name.
 */
static const char *read_stat(pid_t pid, char text[512])
{
	PXT_NO_CANCEL;
	char path[32], *end;
	ssize_t nr;
	int fd;

	pxt_process_path(path, pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return NULL;
	nr = read(fd, text, 511);
	close(fd);
	if (nr <= 0)
		return NULL;
	text[nr] = '\0';
	end = strrchr(text, ')');
	return end && end[1] == ' ' ? end + 2 : NULL;
}

/* Reads field @wanted of "stat" in proc(5). The text @at begins with field 3. */
static int take_field(const char *at, int wanted, uint64_t *value)
{
	uint64_t number = 0;

	for (int field = 3; field < wanted; field++) {
		at = strchr(at, ' ');
		if (!at++)
			return -ESRCH;
	}
	while (*at >= '0' && *at <= '9')
		number = number * 10 + (uint64_t)(*at++ - '0');
	*value = number;
	return 0;
}

int pxt_process_field(pid_t pid, int wanted, uint64_t *value)
{
	char text[512];
	const char *at = pid > 0 ? read_stat(pid, text) : NULL;
	uint64_t nr_threads;

	if (!at || *at == 'X')
		return -ESRCH;
	/*
	 * The first thread may have ended while others still run. Field 20 is the number of all
	 * threads.
	 */
	if (*at == 'Z' && (take_field(at, 20, &nr_threads) < 0 || nr_threads < 2))
		return -ESRCH;
	return take_field(at, wanted, value);
}

int pxt_process_start(pid_t pid, uint64_t *start)
{
	return pxt_process_field(pid, 22, start);
}

pid_t pxt_process_parent(pid_t pid)
{
	uint64_t parent;

	return pxt_process_field(pid, 4, &parent) < 0 ? 0 : (pid_t)parent;
}

bool pxt_process_first_is_dead(pid_t pid)
{
	char text[512];
	const char *at = read_stat(pid, text);

	return at && (*at == 'Z' || *at == 'X');
}

static bool is_dead(pid_t pid)
{
	uint64_t start;

	if (pid <= 0)
		return false;
	if (kill(pid, 0) < 0)
		return errno == ESRCH;
	/*
	 * kill() succeeds for a zombie. So read the state of the process in /proc. If /proc is
	 * missing, the process counts as alive.
	 */
	return pxt_process_start(pid, &start) < 0 && access("/proc/self/stat", F_OK) == 0;
}

bool pxt_process_is_dead(pid_t pid)
{
	int error = errno;
	bool is = is_dead(pid);

	errno = error;
	return is;
}

bool pxt_process_is_alive(pid_t pid, uint64_t start)
{
	uint64_t now;

	return pxt_process_start(pid, &now) == 0 && now == start;
}

uint64_t pxt_clock_ns(clockid_t clock)
{
	struct timespec now = { 0, 0 };

	clock_gettime(clock, &now);
	return (uint64_t)now.tv_sec * PT_NS_PER_SECOND + (uint64_t)now.tv_nsec;
}

struct timespec pxt_timespec(uint64_t ns)
{
	return (struct timespec){
		.tv_sec = (time_t)(ns / PT_NS_PER_SECOND),
		.tv_nsec = (long)(ns % PT_NS_PER_SECOND),
	};
}

/* SYS_futex reads two values of type long: seconds and nanoseconds. time_t may be wider. */
long pxt_futex(_Atomic uint32_t *word, int op, uint32_t value, const struct timespec *timeout)
{
	long words[2];

	if (!timeout)
		return syscall(SYS_futex, word, op, value, NULL, NULL, FUTEX_BITSET_MATCH_ANY);
	if (sizeof(time_t) > sizeof(long) && timeout->tv_sec > LONG_MAX)
		words[0] = LONG_MAX;
	else
		words[0] = (long)timeout->tv_sec;
	words[1] = timeout->tv_nsec;
	return syscall(SYS_futex, word, op, value, words, NULL, FUTEX_BITSET_MATCH_ANY);
}

void pxt_futex_wake(_Atomic uint32_t *word)
{
	int error = errno;

	pxt_futex(word, FUTEX_WAKE, INT_MAX, NULL);
	errno = error;
}
