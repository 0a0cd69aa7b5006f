/*
 * Answers to requests of a page that shows a recording in parts. For example, an answer tells how
 * much of the recording has been read, lists the calls in a time range, or has sums of these calls
 * (doc/internals/show.md, "Recordings in parts").
 */
#ifndef UTRAIL_CMDS_SHOW_ANSWERS_H
#define UTRAIL_CMDS_SHOW_ANSWERS_H

#include <pthread.h>

#include "cmds/show/parts/index.h"
#include "utils/base/containers/strbuf.h"

/* Write the HTML page, which contains no calls. The page requests calls later (answer_calls()). */
void answer_page(const struct index *index, struct strbuf *out);

/*
 * Write JSON: the progress of reading, and the tasks and functions that are known by now. When the
 * whole recording has been read, the JSON also has the number of calls of each function.
 *
 * @generation: changes each time the recording is read again
 * @known: the number of functions that the page already knows. These functions are not written
 */
void answer_state(struct index *index, unsigned generation, uint64_t known, struct strbuf *out);

/* A time range, relative to the first event. If @is_set is false, it is the whole recording. */
struct part_range {
	uint64_t from_ns;
	uint64_t to_ns;
	bool is_set;
};

/*
 * Write binary data: the calls of a range, for @width pixels. If calls of one depth are shorter
 * than a pixel, only the longest call of each pixel is written. Returns 0 or a negative errno.
 *
 * @tasks: the tasks whose calls are written, as numbers separated by commas
 */
int answer_calls(struct index *index, const struct part_range *range, uint64_t width,
		 const char *tasks, struct strbuf *out);

/*
 * A search for a call. If @is_backwards is set, the search finds the last call before a place. If
 * not, the search finds the next call after the place.
 *
 * @functions: the numbers of functions, separated by commas. The search finds only calls to these
 *             functions
 * @kinds: NULL, or the numbers of kinds of events, separated by commas. If @kinds is not NULL, the
 *         search finds events of these kinds, and no calls
 * @task, @at_ns, @depth: the place
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
 * Write JSON: the task, the start time, the duration and the depth of the found call or event, and
 * the number of its text (answer_texts()). If nothing was found, write {}. The search takes calls
 * and events in the order of their start times. If two start times are the same, the order is by
 * the number of the task, and then by depth. Returns 0 or a negative errno.
 */
int answer_search(struct index *index, const struct part_search *search, struct strbuf *out);

/*
 * Write JSON: the texts of calls and events. A text that does not exist is written as "". At most
 * 64 texts are written. Returns 0 or a negative errno.
 *
 * @numbers: the numbers of the texts, separated by commas
 */
int answer_texts(struct index *index, const char *numbers, struct strbuf *out);

/*
 * answer_processes(): write the executions as JSON. A page that has all calls contains executions
 * in the same form.
 * answer_sources(): write a JSON object. When the whole recording has been read, the object has the
 * members that sources_put() writes.
 */
void answer_processes(struct index *index, struct strbuf *out);
void answer_sources(struct index *index, struct strbuf *out);

/*
 * A sum is one run of answer_functions() or answer_tree(). With this struct, any thread can end a
 * sum before the sum is complete. The struct starts as zeros. The owner of the struct initializes
 * and destroys @lock.
 *
 * @lock: protects the other members
 * @pipe: the pipeline of the sum that is being made, or NULL
 * @is_stopped: the present sum must end, and no other sum may begin
 * @is_left: the present sum must end, because the browser that requested it has left
 */
struct sums_stop {
	pthread_mutex_t lock;
	struct pipeline *pipe;
	bool is_stopped;
	bool is_left;
};

/*
 * Call this function before each sum. The function clears @is_left. Otherwise a browser that has
 * left during an earlier sum would end the new sum.
 */
void sums_begin(struct sums_stop *stop);

/*
 * Stop the work on the present sum, which then soon ends with -ECANCELED. With @stops_all, all
 * later sums end in the same way. May be called from any thread.
 */
void sums_stop(struct sums_stop *stop, bool stops_all);

/*
 * Returns the progress of the present sum: the fraction of the recording that has been read, from 0
 * to 1. Returns -1 when no recording is being read for a sum. May be called from any thread.
 */
double sums_progress(struct sums_stop *stop);

/*
 * A recording from which sums are made.
 *
 * @data: the recording; no other thread reads it at the same time
 * @base_ns: the time from which struct part_range counts, by the recording's clock
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
 * Write JSON: the call tree of the range, without nodes that are too short to be seen. Returns 0,
 * or a negative errno with @err.
 *
 * @name: a function whose callers and callees are written instead; or NULL
 */
int answer_tree(const struct sums_source *from, const struct part_range *range, const char *name,
		struct strbuf *out, struct uft_err *err);

#endif
