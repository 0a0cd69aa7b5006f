/*
 * Points of the conformance suite of POSIX Trace. Each is a function, named after the statement
 * that it checks, and runs in a process of its own.
 */
#ifndef UTRAIL_TESTS_POSIX_POINT_H
#define UTRAIL_TESTS_POSIX_POINT_H

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <trace.h>

struct point {
	const char *name;
	void (*check)(void);
	struct point *next;
};

void point_add(struct point *point);
void point_fail(const char *file, int line, const char *what, long got, long wanted);

#define POINT(point_name)                                                            \
	static void point_name(void);                                                \
	static struct point struct_##point_name = { #point_name, point_name, NULL }; \
	__attribute__((constructor)) static void add_##point_name(void)              \
	{                                                                            \
		point_add(&struct_##point_name);                                     \
	}                                                                            \
	static void point_name(void)

/* A POINT with an attributes object that is initialised: "trace_attr_t *attr". */
#define POINT_WITH_ATTR(point_name)                        \
	static void point_name##_with(trace_attr_t *attr); \
	POINT(point_name)                                  \
	{                                                  \
		trace_attr_t attr;                         \
		CHECK_IS(posix_trace_attr_init(&attr), 0); \
		point_name##_with(&attr);                  \
	}                                                  \
	static void point_name##_with(trace_attr_t *attr)

/* CHECK() and CHECK_IS() end the point when the condition does not hold. */
#define CHECK(condition)                                                  \
	do {                                                              \
		if (!(condition))                                         \
			point_fail(__FILE__, __LINE__, #condition, 0, 1); \
	} while (0)

#define CHECK_IS(got, wanted)                                                \
	do {                                                                 \
		long got_ = (long)(got), wanted_ = (long)(wanted);           \
		if (got_ != wanted_)                                         \
			point_fail(__FILE__, __LINE__, #got, got_, wanted_); \
	} while (0)

/* An event that was read. */
struct seen {
	struct posix_trace_event_info info;
	unsigned char data[1024];
	size_t len;
	int unavailable;
};

/* Helpers of the points; each fails the point on an error. */
trace_id_t make_stream(const trace_attr_t *attr);
trace_id_t make_running(const trace_attr_t *attr);
/* Make a stream with @policy that has room for @nr_small events without data, and a few more. */
trace_id_t make_small(int policy, size_t nr_small);
void small_attr(trace_attr_t *attr, int policy, size_t nr_small);
trace_event_id_t open_id(const char *name);
/* False when there is no event. */
bool try_next(trace_id_t trid, struct seen *seen);
/* Read the next event, which must be of type @id. */
void expect(trace_id_t trid, trace_event_id_t id, struct seen *seen);
/* Read the START of the stream, and then an event, which must be of type @id. */
void expect_started(trace_id_t trid, trace_event_id_t id, struct seen *seen);
void expect_nothing(trace_id_t trid);
struct posix_trace_status_info status_of(trace_id_t trid);
/* Record @nr events of type @id. Their data are numbers: @first, @first + 1, and so on. */
void write_numbers(trace_event_id_t id, int first, int nr);
int number_of(const struct seen *seen);
/* Returns a descriptor of a new file for a log. The file has no name. */
int make_file(void);
trace_id_t make_log(int fd, const trace_attr_t *attr);
uint64_t now_ns(clockid_t clock);
/* Fork, and end the test if this fails: the pid -1 in a later kill() would mean all processes. */
pid_t make_child(void);

#endif
