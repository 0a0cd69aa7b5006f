/*
 * Preloaded into the recorder. A few of its writes last until the program, storm_shared.c, has
 * handled a given number of further signals. $HANDLED is the file with the counter. When the
 * counter stands still, a handler may itself wait for the recorder: then a later write is delayed.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#define SLOW_WRITES 2
#define SIGNALS	    4000
#define POLLS	    200 /* polls of a millisecond or more */

static volatile long *open_counter(void)
{
	const char *path = getenv("HANDLED");
	int fd = path ? open(path, O_RDONLY) : -1;
	void *p = fd < 0 ? MAP_FAILED : mmap(NULL, 4096, PROT_READ, MAP_SHARED, fd, 0);

	if (fd >= 0)
		close(fd);
	return p == MAP_FAILED ? NULL : p;
}

/* Waits until SIGNALS more signals were handled. Returns false if the counter stands still. */
static int wait_for_signals(volatile long *handled)
{
	long until = *handled + SIGNALS;
	long last = 0;

	for (int still = 0; *handled < until && still < POLLS; still++) {
		if (*handled != last)
			still = 0;
		last = *handled;
		usleep(1000);
	}
	return *handled >= until;
}

ssize_t write(int fd, const void *data, size_t len)
{
	static int slow;
	static volatile long *handled;

	if (strcmp(program_invocation_short_name, "utrail") == 0 && len >= 8192 &&
	    slow < SLOW_WRITES) {
		if (!handled)
			handled = open_counter();
		if (handled && *handled) {
			slow += wait_for_signals(handled);
		}
	}
	return syscall(SYS_write, fd, data, len);
}
