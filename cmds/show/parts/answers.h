/*
 * Answers for the page of a recording in parts: the progress of reading, calls of a range, sums of
 * a range (doc/internals/show.md, "Recordings in parts").
 */
#ifndef UTRAIL_CMDS_SHOW_ANSWERS_H
#define UTRAIL_CMDS_SHOW_ANSWERS_H

#include <pthread.h>

#include "cmds/show/parts/index.h"
#include "utils/base/containers/strbuf.h"
#include "utils/base/escape.h"

/* Write @text between quotes, with its control characters escaped, for JSON or a script. */
void answer_put_string(struct strbuf *out, enum medium medium, const char *text);

/* Write the page itself, without calls. */
void answer_page(const struct index *index, struct strbuf *out);

/*
 * Write JSON: the progress of reading, the tasks and the functions so far, and the number of calls
 * of each function once all is read.
 *
 * @generation: changes when the recording was read again
 * @known: the number of the first function to write
 */
void answer_state(struct index *index, unsigned generation, uint64_t known, struct strbuf *out);

/* A range in the page's time. @is_set: false: the whole recording is meant */
struct part_range {
	uint64_t from_ns;
	uint64_t to_ns;
	bool is_set;
};

/*
 * Write binary data: the calls in a range that can be seen on @width pixels. @tasks: numbers of
 * tasks, between commas. Returns 0 or a negative errno.
 */
int answer_calls(struct index *index, const struct part_range *range, uint64_t width,
		 const char *tasks, struct strbuf *out);

/*
 * A search for the next call after a place, or for the last one before it.
 *
 * @functions: numbers between commas
 * @kinds: kinds (depths) of events to search instead, between commas; or NULL
 */
struct part_search {
	const char *functions;
	const char *kinds;
	uint64_t task;
	uint64_t at_ns;
	int depth;
	bool is_backwards;
};

/*
 * Write JSON: the call's task, begin, duration, depth and text, or {} without a call. Calls are
 * ordered by time, then by task. Returns 0 or a negative errno.
 */
int answer_search(struct index *index, const struct part_search *search, struct strbuf *out);

/*
 * Write JSON: texts of calls and events. @numbers: their numbers, between commas. A text that does
 * not exist is "". No more than 64 are written. Returns 0 or a negative errno.
 */
int answer_texts(struct index *index, const char *numbers, struct strbuf *out);

/*
 * Write JSON. answer_processes(): executions in the form of the whole page. answer_sources(): the
 * members of sources_put(), once everything was read.
 */
void answer_processes(struct index *index, struct strbuf *out);
void answer_sources(struct index *index, struct strbuf *out);

/*
 * Ends the making of sums. Starts as zeros; the owner makes and destroys @lock.
 *
 * @lock: protects the other members
 * @pipe: the pipeline of the running sum, or NULL
 * @is_stopped: the running sum must end, and no other may begin
 * @is_left: the running sum must end: its reader has left
 */
struct sums_stop {
	pthread_mutex_t lock;
	struct pipeline *pipe;
	bool is_stopped;
	bool is_left;
};

/* Call it before a sum is made. */
void sums_begin(struct sums_stop *stop);

/*
 * Any thread: the running sum ends soon, with -ECANCELED. So do all later ones with @stops_all.
 */
void sums_stop(struct sums_stop *stop, bool stops_all);

/*
 * Returns the part of the recording that the running sum has read, 0 to 1, or -1 when no sum is
 * running. Any thread.
 */
double sums_progress(struct sums_stop *stop);

/*
 * A recording for sums.
 *
 * @data: no other thread reads it meanwhile
 * @base_ns: the beginning of the page's time, by the recording's clock
 */
struct sums_source {
	const struct opts *opts;
	struct trace_data *data;
	uint64_t base_ns;
	struct sums_stop *stop;
};

/* Write JSON: the rows of `report -r` for the range. Returns 0, or a negative errno with @err. */
int answer_functions(const struct sums_source *from, const struct part_range *range,
		     struct strbuf *out, struct uft_err *err);

/*
 * Write JSON: the call tree of the range, without nodes too short to be seen. Returns 0, or a
 * negative errno with @err.
 *
 * @name: write the callers and callees of this function instead; or NULL
 */
int answer_tree(const struct sums_source *from, const struct part_range *range, const char *name,
		struct strbuf *out, struct uft_err *err);

#endif
