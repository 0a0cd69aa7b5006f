/*
 * Exporters write recordings in the formats of other programs. The exporters are in the files
 * exp_*.c. Each exporter of `utrail dump` has a row in EXPORTERS or in PAGE_EXPORTER.
 */
#ifndef UTRAIL_EXPORT_EXPORT_H
#define UTRAIL_EXPORT_EXPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "utils/base/err.h"
#include "utils/export/nest.h"
#include "utils/pipeline/pipeline.h"
#include "utils/view/values/eventtext.h"
#include "utils/base/sink.h"
#include "utils/view/graph/tree.h"

/*
 * The exporters of `utrail dump`, without the exporter of pages. For a row (NAME, WORD), exp_NAME
 * is the exporter, and WORD is the argument of --format. The man page of dump describes the output;
 * doc/formats/exports.md has facts about the formats.
 */
#define EXPORTERS(row)                                                                          \
	row(chrome, "chrome") row(flame_graph, "flame-graph") row(graphviz, "graphviz")         \
		row(mermaid, "mermaid") row(folded, "folded") row(perfetto, "perfetto")         \
			row(speedscope, "speedscope") row(callgrind, "callgrind")               \
				row(pprof, "pprof") row(jsonl, "jsonl") row(firefox, "firefox") \
					row(sqlite, "sqlite") row(svg, "svg")

/*
 * The exporter of pages for `dump`. With --format=html, other commands write their text as a page,
 * without this exporter.
 */
#define PAGE_EXPORTER(row) row(html, "html")

#define EXPORT_NUMBER(name, word) EXPORT_##name,
enum export_number {
	EXPORTERS(EXPORT_NUMBER) PAGE_EXPORTER(EXPORT_NUMBER) EXPORT_NR
};
#undef EXPORT_NUMBER

/*
 * The role of the exported recording in a page. A page that compares two recordings is made by two
 * exports to one sink: first EXPORT_BASE, then EXPORT_PAIR.
 */
enum export_side {
	EXPORT_ALONE,
	EXPORT_BASE,
	EXPORT_PAIR,
};

struct exporter;

/* The exporters of `utrail events`, which are not in EXPORTERS. */
extern const struct exporter exp_event_list;
extern const struct exporter exp_event_lines;
extern const struct exporter exp_event_fstrace;
extern const struct exporter exp_event_json;
extern const struct exporter exp_event_csv;
extern const struct exporter exp_event_posix;

/*
 * @tool: the name and the version of utrail
 * @sample_ns: the duration that one sample of a flame graph stands for; 0: derived from the length
 *         of the recording
 * @counts_outside: true: include all time off the CPU; false: include only time off the CPU within
 *         functions
 * @shows_args: show recorded arguments and return values
 * @shows_paths: for `utrail events`: show the calls around each event
 * @is_served: a server sends the page, and can answer requests for more data
 *         (doc/internals/show.md)
 * @has_calls: for `utrail events`: write entries and exits if the format has events for them
 * @side: for html: the role of the recording in the page
 * @threads: the number of threads that may share the work
 */
struct export_config {
	const char *tool;
	uint64_t sample_ns;
	bool counts_outside;
	bool shows_args;
	bool shows_paths;
	bool has_calls;
	bool is_served;
	enum export_side side;
	size_t threads;
};

/*
 * An export that is being written.
 *
 * @texts: the data from which texts of points are made. Points are events that take no time
 * @nr_dropped: the number of points that were left out
 * @state: the exporter's own data, which starts as zeros
 */
struct export
{
	const struct exporter *exporter;
	const struct export_config *config;
	struct pipeline *pipe;
	struct sink *sink;
	struct event_texts texts;
	uint64_t nr_dropped;
	void *state;
};

/*
 * A format. An exporter writes either the stream of events or the finished call tree. The functions
 * @begin, @events and @end write the stream. The function @show writes the tree. All functions
 * return 0 or a negative errno with @err. The caller checks ex->sink at the end.
 *
 * @medium: tells sink_str() how to escape texts of the recording
 * @is_binary: the output must not be written to a terminal
 * @state_bytes: the size of ex->state
 * @configure: prepare the pipeline's configuration for @events; NULL for call trees
 * @deinit: free the contents of ex->state, even after an error
 *
 * Points (EVENT_POINT) are events that take no time. At least one of the following members tells
 * how a format handles points:
 *
 * @point: writes a point; @events calls export_point() with each point, in the order of time
 * @points_as_calls: in the call tree, points are calls of functions with the points' names
 * @drops_points: the reason why points are left out, for the message "N events are left out of
 *         <name>: <why>"
 */
struct exporter {
	const char *name;
	enum medium medium;
	bool is_binary;
	size_t state_bytes;
	void (*configure)(struct pipeline_config *config);
	int (*begin)(struct export *ex, struct uft_err *err);
	int (*events)(struct export *ex, const struct event_span *span, struct uft_err *err);
	int (*end)(struct export *ex, struct uft_err *err);
	void (*deinit)(struct export *ex);
	int (*show)(struct export *ex, struct tree *tree, struct uft_err *err);
	int (*point)(struct export *ex, const struct task *task, const struct event *event);
	bool points_as_calls;
	const char *drops_points;
};

const struct exporter *exporter_by_number(enum export_number number);

/* Set the members of @stages that the exporter needs. */
void export_configure(const struct exporter *exporter, struct pipeline_config *stages);

/*
 * Write all events of @pipe to @sink. @pipe must have been configured by export_configure().
 * *@nr_dropped gets the number of points (struct exporter) that were left out.
 * exporter->drops_points is the reason why points are left out.
 * Returns 0, or a negative errno with @err.
 */
int export_run(const struct exporter *exporter, const struct export_config *config,
	       struct pipeline *pipe, struct sink *sink, uint64_t *nr_dropped, struct uft_err *err);

/* Write a point, or count it as left out. Returns 0 or a negative errno. */
int export_point(struct export *ex, const struct task *task, const struct event *event);

/*
 * Append the fields of @event as members of a JSON object, such as "vmrss":12,"shared":3. An event
 * without known fields has "data":"its text". Returns the number of members.
 */
size_t export_point_json(struct export *ex, const struct task *task, const struct event *event,
			 struct strbuf *out);

/*
 * Append the values of an ENTRY, such as "(1, 2)", or of an EXIT, such as "3". If there are no
 * values, or the user does not want them, appends nothing and returns false.
 */
bool export_put_payload(const struct export *ex, const struct task *task, const struct event *event,
			struct strbuf *out);

/* Returns the time of the pipeline's first event, or 0 if there is no event. */
static inline uint64_t export_first_ns(const struct export *ex)
{
	return ex->pipe->first_ns == UINT64_MAX ? 0 : ex->pipe->first_ns;
}

/*
 * Returns the time from the pipeline's first event to @time_ns. If @time_ns is before the first
 * event, returns 0.
 */
static inline uint64_t export_since_start(const struct export *ex, uint64_t time_ns)
{
	return time_ns > ex->pipe->first_ns ? time_ns - ex->pipe->first_ns : 0;
}

/* True when the process of the task in @lane has no task in an earlier lane of @pipe. */
bool export_begins_process(const struct pipeline *pipe, size_t lane);

/* Copy the whole file @fd to the sink. Returns 0 or a negative errno. */
int export_copy_file(const struct export *ex, int fd);

/* Begin @nest, which ends with nest_deinit(). */
int export_nest_init(const struct export *ex, struct nest *nest, struct uft_err *err);

#endif
