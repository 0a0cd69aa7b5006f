/*
 * A test recorder that writes down its calls, preloaded in place of the probe. TRACE_RECORDER_OUT
 * names the file. TRACE_RECORDER_CHOICE is the recorder's choice for each event, TRACE_RECORDER_ABI
 * the version that it knows. With TRACE_RECORDER_FULL it takes no event. TRACE_RECORDER_ROOM is the
 * room for a payload in its place; without that it has no place, and records are emitted.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

#include "seam/recorder.h"

static long from_environment(const char *name, long otherwise)
{
	const char *text = getenv(name);

	return text ? strtol(text, NULL, 10) : otherwise;
}

static FILE *open_notes(void)
{
	const char *path = getenv("TRACE_RECORDER_OUT");

	return fopen(path ? path : "/dev/null", "a");
}

static uint32_t declare(const char *id, const char *format, const char *common)
{
	static uint32_t last = 1000000;
	FILE *notes = open_notes();

	if (from_environment("TRACE_RECORDER_FULL", 0))
		return 0;
	fprintf(notes, "declare %u %s|%s|%s\n", ++last, id, format, common ? common : "(none)");
	fclose(notes);
	return last;
}

static int choose(uint32_t event, const char *id)
{
	return from_environment("TRACE_RECORDER_CHOICE", 1);
}

static void note(const char *what, uint32_t event, const unsigned char *bytes, size_t len)
{
	FILE *notes = open_notes();

	fprintf(notes, "%s %u ", what, event);
	for (size_t i = 0; i < len; i++)
		fprintf(notes, "%02x", bytes[i]);
	fprintf(notes, "\n");
	fclose(notes);
}

static bool emit(uint32_t event, const void *payload, size_t len)
{
	note("emit", event, payload, len);
	return true;
}

static unsigned char room[4096];

static int begin(uint32_t event, struct utrail_trace_place *place)
{
	place->room = from_environment("TRACE_RECORDER_ROOM", 0);
	place->at = room;
	return place->room ? 1 : -1;
}

static bool end(uint32_t event, const struct utrail_trace_place *place, size_t len)
{
	if (len > place->room)
		return false;
	note("place", event, room, len);
	return true;
}

/* The function to call when a signal says that choices have changed. */
static bool (*watcher)(void);

static void tell(int sig)
{
	if (watcher && !watcher())
		note("busy", 0, room, 0);
}

static bool watch(bool (*fn)(void), bool is_on)
{
	watcher = is_on ? fn : NULL;
	signal(SIGUSR1, is_on ? tell : SIG_DFL);
	return true;
}

const struct utrail_trace_recorder *utrail_trace_recorder(uint32_t abi)
{
	static const struct utrail_trace_recorder recorder = {
		.abi = UTRAIL_TRACE_ABI,
		.size = sizeof(recorder),
		.declare = declare,
		.choose = choose,
		.emit = emit,
		.begin = begin,
		.end = end,
		.watch = watch,
	};

	return abi == from_environment("TRACE_RECORDER_ABI", UTRAIL_TRACE_ABI) ? &recorder : NULL;
}
