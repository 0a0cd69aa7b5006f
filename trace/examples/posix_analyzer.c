/*
 * Shows the events of a log, and counts them by type.
 *
 *     cc -o analyzer posix_analyzer.c $(pkg-config --cflags --libs utrail-trace)
 *     ./analyzer LOG
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <trace.h>

static void check(int error, const char *what)
{
	if (!error)
		return;
	fprintf(stderr, "%s: %s\n", what, strerror(error));
	exit(1);
}

/* Count the events of type @id. If @shows is not 0, show the events of all types. */
static long count(trace_id_t trid, trace_event_id_t id, int shows)
{
	struct posix_trace_event_info info;
	char name[TRACE_EVENT_NAME_MAX + 1];
	unsigned char data[16];
	int unavailable;
	size_t len, i;
	long nr = 0;

	check(posix_trace_rewind(trid), "posix_trace_rewind");
	for (;;) {
		check(posix_trace_getnext_event(trid, &info, data, sizeof(data), &len,
						&unavailable),
		      "posix_trace_getnext_event");
		if (unavailable)
			return nr;
		nr += posix_trace_eventid_equal(trid, info.posix_event_id, id) != 0;
		if (!shows)
			continue;
		check(posix_trace_eventid_get_name(trid, info.posix_event_id, name),
		      "posix_trace_eventid_get_name");
		printf("%s", name);
		for (i = 0; i < len; i++)
			printf(i ? "%02x" : " %02x", data[i]);
		printf("%s\n",
		       info.posix_truncation_status == POSIX_TRACE_NOT_TRUNCATED ? "" : "...");
	}
}

int main(int argc, char *argv[])
{
	char name[TRACE_EVENT_NAME_MAX + 1];
	trace_event_id_t id;
	int fd, unavailable;
	trace_id_t trid;
	long nr;

	if (argc != 2) {
		fprintf(stderr, "usage: analyzer LOG\n");
		return 2;
	}
	fd = open(argv[1], O_RDONLY);
	if (fd < 0) {
		perror(argv[1]);
		return 1;
	}
	check(posix_trace_open(fd, &trid), argv[1]);
	count(trid, 0, 1);
	for (;;) {
		check(posix_trace_eventtypelist_getnext_id(trid, &id, &unavailable),
		      "posix_trace_eventtypelist_getnext_id");
		if (unavailable)
			break;
		nr = count(trid, id, 0);
		check(posix_trace_eventid_get_name(trid, id, name), "posix_trace_eventid_get_name");
		if (nr)
			printf("%ld times %s\n", nr, name);
	}
	check(posix_trace_close(trid), "posix_trace_close");
	return 0;
}
