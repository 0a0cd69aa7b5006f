/*
 * Answers to the page of a recording in parts: where the reading is, calls of a range,
 * sums of a range (doc/internals/show.md, "Recordings in parts").
 */
#ifndef UTRAIL_CMDS_SHOW_ANSWERS_H
#define UTRAIL_CMDS_SHOW_ANSWERS_H

#include <pthread.h>

#include "cmds/show/parts/index.h"
#include "utils/base/containers/strbuf.h"

/* The page itself, without calls. */
void answer_page(const struct index *index, struct strbuf *out);

/*
 * JSON: how far the reading is, the tasks so far, functions from the @known-th on, and, at the end,
 * the calls of each.
 *
 * @generation: changes when the recording was read anew
 */
void answer_state(struct index *index, unsigned generation, uint64_t known, struct strbuf *out);

/* A range in the page's time. @is_set: else all of it. */
struct part_range {
	uint64_t from_ns;
	uint64_t to_ns;
	bool is_set;
};

/*
 * Bytes: of tasks (numbers between commas) the calls in a range that are seen on @width pixels. 0
 * or a negative errno.
 */
int answer_calls(struct index *index, const struct part_range *range, uint64_t width,
		 const char *tasks, struct strbuf *out);

/*
 * A call that is looked for: the next one after a place, or the one before it.
 *
 * @functions, @kinds: numbers between commas; with @kinds an event is looked for, whose depth is
 *                     its kind
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
 * JSON: its task, begin, duration, depth and text; {} when there is none. Calls of all tasks are in
 * the order of time, then of tasks. 0 or a negative errno.
 */
int answer_search(struct index *index, const struct part_search *search, struct strbuf *out);

/*
 * JSON: texts of calls and events by their numbers, which stand between commas; "" where there is
 * none. No more than 64. 0 or a negative errno.
 */
int answer_texts(struct index *index, const char *numbers, struct strbuf *out);

/* JSON: executions as the whole page has them; members of sources_put(), when all was read. */
void answer_processes(struct index *index, struct strbuf *out);
void answer_sources(struct index *index, struct strbuf *out);

/*
 * Ends sums. Starts as zeros, but for the lock, which the owner makes and destroys.
 *
 * @lock: of the rest
 * @pipe: of the sum that runs, or NULL
 * @is_stopped: that one is of no use, and none is made any more
 * @is_left: that one is of no use: its asker has left
 */
struct sums_stop {
	pthread_mutex_t lock;
	struct pipeline *pipe;
	bool is_stopped;
	bool is_left;
};

/* Any thread: the sum that runs ends soon, with -ECANCELED, and so do all later ones. */
void sums_stop(struct sums_stop *stop);

/* Another sum is about to be made; and, by any thread: it ends soon, with -ECANCELED. */
void sums_begin(struct sums_stop *stop);
void sums_leave(struct sums_stop *stop);

/* The part of the recording that the running sum has read, 0 to 1; -1: none runs. Any thread. */
double sums_progress(struct sums_stop *stop);

/*
 * A recording that is added up: @data, which no other thread reads meanwhile.
 *
 * @base_ns: where the page's time begins, by the recording's clock
 */
struct sums_source {
	const struct opts *opts;
	struct trace_data *data;
	uint64_t base_ns;
	struct sums_stop *stop;
};

/* JSON: the rows that `report -r` has for the range. 0 or a negative errno with @err. */
int answer_functions(const struct sums_source *from, const struct part_range *range,
		     struct strbuf *out, struct uft_err *err);

/*
 * JSON: the call tree of the range, without nodes that are too short to be seen; with @name,
 * instead, the callers and callees of that function.
 */
int answer_tree(const struct sums_source *from, const struct part_range *range, const char *name,
		struct strbuf *out, struct uft_err *err);

#endif
