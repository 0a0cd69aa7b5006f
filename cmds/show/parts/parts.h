/*
 * Serves a recording to a web page. The page does not get all calls at once: each request for calls
 * gets a part of the calls. If the recording has grown, reads the recording again.
 */
#ifndef UTRAIL_CMDS_SHOW_PARTS_H
#define UTRAIL_CMDS_SHOW_PARTS_H

#include <pthread.h>
#include <time.h>

#include "cmds/show/parts/answers.h"
#include "cmds/show/parts/index.h"
#include "cmds/show/server.h"

/*
 * The result of reading the files of the recording once.
 *
 * @stamp: the growth_stamp() of the files at @began_s, when the reading began
 */
struct parts_reading {
	struct trace_data data;
	struct index index;
	uint64_t stamp;
	time_t began_s;
};

/*
 * A recording that is served in parts. parts_open() makes the struct, and parts_close() frees it.
 *
 * @lock: protects @now, @next and @generation; the index of a reading has its own lock
 * @now: the reading from which answers are made
 * @next: a newer reading, which will replace @now; or NULL
 * @generation: the number of the reading @now
 * @sums: the recording, opened a second time to compute sums
 * @sums_lock: protects @sums and @sums_generation
 * @stop: through @stop, any thread can stop the computation of sums
 */
struct parts {
	const struct opts *opts;
	const char *dir;
	pthread_rwlock_t lock;
	struct parts_reading *now;
	struct parts_reading *next;
	unsigned generation;
	pthread_mutex_t sums_lock;
	struct trace_data sums;
	unsigned sums_generation; /* 0 when @sums is not open */
	struct sums_stop stop;
};

/*
 * True when the recording should be read in parts: it has too many calls for one page, it is still
 * being recorded, or the options request it. False with --no-parts.
 */
bool parts_are_better(const struct opts *opts, const struct trace_data *data);

/*
 * Begin to read the recording in @dir. @dir and @opts must stay valid. Returns NULL with @err on
 * failure.
 */
struct parts *parts_open(const struct opts *opts, const char *dir, struct uft_err *err);
void parts_close(struct parts *parts);

/*
 * Stop the present computation of a sum (struct sums_stop), and let no later computation begin. The
 * request for the present sum and all later requests for sums get an error. Does not wait for the
 * end of the present computation. May be called from any thread.
 */
void parts_stop(struct parts *parts);

/*
 * Answer a request. @path is relative to the address of the recording, such as "/" or "/state". May
 * be called from any thread.
 */
void parts_answer(struct parts *parts, const char *path, const struct server_query *query,
		  struct server_reply *reply);

#endif
