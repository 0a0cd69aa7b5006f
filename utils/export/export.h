/*
 * Exporters: recordings in the formats of other programs. Each is one file and one row of the list.
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
 * All exporters: the name of the variable (exp_<name>), and the word of --format. The man page of
 * dump describes their output, doc/formats/exports.md has facts about the formats.
 */
#define EXPORTERS(row)                                                                          \
	row(chrome, "chrome") row(flame_graph, "flame-graph") row(graphviz, "graphviz")         \
		row(mermaid, "mermaid") row(folded, "folded") row(perfetto, "perfetto")         \
			row(speedscope, "speedscope") row(callgrind, "callgrind")               \
				row(pprof, "pprof") row(jsonl, "jsonl") row(firefox, "firefox") \
					row(sqlite, "sqlite") row(svg, "svg")

/* The exporter whose name is also a format of other commands, which write their text as a page. */
#define PAGE_EXPORTER(row) row(html, "html")

/* The numbers of exporters. */
#define EXPORT_NUMBER(name, word) EXPORT_##name,
enum export_number {
	EXPORTERS(EXPORT_NUMBER) PAGE_EXPORTER(EXPORT_NUMBER) EXPORT_NR
};
#undef EXPORT_NUMBER

/* The recordings of a page that compares two, in the order of export. */
enum export_side {
	EXPORT_ALONE,
	EXPORT_BASE,
	EXPORT_PAIR,
};

struct exporter;

/* The exporters of `utrail events`: events without calls. They are not in the list. */
extern const struct exporter exp_event_list;
extern const struct exporter exp_event_lines;
extern const struct exporter exp_event_fstrace;
extern const struct exporter exp_event_json;
extern const struct exporter exp_event_csv;
extern const struct exporter exp_event_posix;

/*
 * The user's choices.
 *
 * @tool: name and version of this program
 * @sample_ns: time of a sample in flame graphs; 0: chosen by the length of the recording
 * @counts_outside: count time off the CPU outside of functions too
 * @shows_args: show arguments and return values, if they were recorded
 * @shows_paths: for events alone: show the calls around each
 * @is_served: the page comes from a server and may request more data (doc/internals/show.md)
 * @has_calls: for events alone: show entries and exits of functions, if the format has events for
 *             them
 * @side: for html alone: two exports to one sink make a page that compares; this is the first or
 *        the second of them
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
 * An export being written.
 *
 * @texts: for texts of points
 * @nr_dropped: number of points without a place in the format
 * @state: the exporter's own data, zeroed at the start
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
 * One format. There are two ways to write one: from the stream of events, with @events and, if
 * needed, with @begin and @end; or from the finished call tree, with @show.
 *
 * @medium: the language of its texts, for which sink_str() escapes texts of the recording
 * @is_binary: it is not written to a terminal
 * @state_bytes: the size of ex->state
 * @configure: set the pipeline for its needs; NULL for formats from the call tree
 * @deinit: free the contents of ex->state; called in any case
 *
 * Points (EVENT_POINT) are events that take no time, other than calls and the scheduler's. Each
 * format sets one of the following members for them:
 *
 * @point: writes one. @events calls export_point() with each point at its place in time, between
 *         the calls around it
 * @points_as_calls: the call tree has points as calls: each takes no time, and its function is
 *                   called like the event
 * @drops_points: the reason why the format has no place for them, to be told when there were any:
 *                "N events are left out of <name>: <why>"
 *
 * All return 0 or a negative errno with @err; failures of ex->sink are checked at the end.
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

/* Add the exporter's needs to the user's selection. */
void export_configure(const struct exporter *exporter, struct pipeline_config *stages);

/*
 * Write all events of @pipe, which was opened for it, to @sink. @nr_dropped: the number of points
 * without a place, see drops_points.
 */
int export_run(const struct exporter *exporter, const struct export_config *config,
	       struct pipeline *pipe, struct sink *sink, uint64_t *nr_dropped, struct uft_err *err);

/* Handle a point as the exporter says. Returns 0 or -ENOMEM. */
int export_point(struct export *ex, const struct task *task, const struct event *event);

/*
 * Write members of a JSON object for the values of @event: "vmrss":12,"shared":3 by the names of
 * its fields. An event known only as text has "data":"its text"; one without values has nothing.
 * Returns their number.
 */
size_t export_point_json(struct export *ex, const struct task *task, const struct event *event,
			 struct strbuf *out);

/*
 * Append the values of @event: "(1, 2)" of an ENTRY, "3" of an EXIT. Returns false, with nothing
 * appended, when there are none or they are not wanted.
 */
bool export_put_payload(const struct export *ex, const struct task *task, const struct event *event,
			struct strbuf *out);

/* Begin @nest for the user's choice; ends with nest_deinit(). */
int export_nest_init(const struct export *ex, struct nest *nest, struct uft_err *err);

#endif
