/*
 * Records the events of another process into a log, and stops after some seconds. Both processes
 * must belong to the same user.
 *
 *     cc -o controller posix_controller.c $(pkg-config --cflags --libs utrail-trace)
 *     ./controller PID SECONDS LOG
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <trace.h>
#include <unistd.h>

static void check(int error, const char *what)
{
	if (!error)
		return;
	fprintf(stderr, "%s: %s\n", what, strerror(error));
	exit(1);
}

int main(int argc, char *argv[])
{
	struct posix_trace_status_info status;
	trace_event_set_t boring;
	trace_attr_t attr;
	trace_id_t trid;
	int fd;

	if (argc != 4) {
		fprintf(stderr, "usage: controller PID SECONDS LOG\n");
		return 2;
	}
	fd = open(argv[3], O_RDWR | O_CREAT | O_TRUNC, 0600);
	if (fd < 0) {
		perror(argv[3]);
		return 1;
	}
	check(posix_trace_attr_init(&attr), "posix_trace_attr_init");
	check(posix_trace_attr_setname(&attr, "controller"), "posix_trace_attr_setname");
	check(posix_trace_attr_setlogfullpolicy(&attr, POSIX_TRACE_APPEND),
	      "posix_trace_attr_setlogfullpolicy");
	check(posix_trace_create_withlog((pid_t)atol(argv[1]), &attr, fd, &trid),
	      "posix_trace_create_withlog");
	posix_trace_attr_destroy(&attr);

	/* Only named events are wanted, so the filter drops all unnamed events. */
	posix_trace_eventset_empty(&boring);
	posix_trace_eventset_add(POSIX_TRACE_UNNAMED_USER_EVENT, &boring);
	check(posix_trace_set_filter(trid, &boring, POSIX_TRACE_SET_EVENTSET),
	      "posix_trace_set_filter");

	check(posix_trace_start(trid), "posix_trace_start");
	sleep((unsigned int)atoi(argv[2]));
	check(posix_trace_get_status(trid, &status), "posix_trace_get_status");
	check(posix_trace_shutdown(trid), "posix_trace_shutdown");
	if (status.posix_stream_overrun_status == POSIX_TRACE_OVERRUN)
		printf("events were lost\n");
	close(fd);
	return 0;
}
