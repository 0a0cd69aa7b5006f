/*
 * A program that traces itself: it records events, stops the stream, and reads the newest events.
 *
 *     cc posix_self.c $(pkg-config --cflags --libs utrail-trace)
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <trace.h>

static trace_event_id_t frame_done;

static void check(int error, const char *what)
{
	if (!error)
		return;
	fprintf(stderr, "%s: %s\n", what, strerror(error));
	exit(1);
}

static void draw(int frame)
{
	/* the program does its work here */
	posix_trace_event(frame_done, &frame, sizeof(frame));
}

int main(void)
{
	struct posix_trace_event_info info;
	char name[TRACE_EVENT_NAME_MAX + 1];
	int unavailable, frame, i;
	trace_id_t trid;
	size_t len;

	/* A stream of the standard size keeps the newest events. */
	check(posix_trace_create(0, NULL, &trid), "posix_trace_create");
	check(posix_trace_eventid_open("frame done", &frame_done), "posix_trace_eventid_open");
	check(posix_trace_start(trid), "posix_trace_start");
	for (i = 1; i <= 3; i++)
		draw(i);
	check(posix_trace_stop(trid), "posix_trace_stop");

	for (;;) {
		check(posix_trace_trygetnext_event(trid, &info, &frame, sizeof(frame), &len,
						   &unavailable),
		      "posix_trace_trygetnext_event");
		if (unavailable)
			break;
		check(posix_trace_eventid_get_name(trid, info.posix_event_id, name),
		      "posix_trace_eventid_get_name");
		if (posix_trace_eventid_equal(trid, info.posix_event_id, frame_done))
			printf("%s: %d\n", name, frame);
		else
			printf("%s\n", name);
	}
	check(posix_trace_shutdown(trid), "posix_trace_shutdown");
	return 0;
}
