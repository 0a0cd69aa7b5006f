/* A recording made of strings, and the text that a view makes of it. */
#ifndef UTRAIL_TESTS_SHOWN_H
#define UTRAIL_TESTS_SHOWN_H

#include "tests/unit/lib/read/recording.h"
#include "utils/base/containers/strbuf.h"
#include "utils/pipeline/pipeline.h"
#include "utils/base/sink.h"

/*
 * A test adds tasks to @rec, changes @stages, and runs views as often as it likes. Between
 * shown_begin() and shown_end() a view uses the open @pipe and writes to @sink.
 */
struct shown {
	struct recording rec;
	struct pipeline_config stages;
	struct trace_data data;
	struct pipeline pipe;
	struct sink sink;
	struct strbuf out;
};

void shown_init(struct shown *s);
void shown_deinit(struct shown *s);

void shown_begin(struct shown *s);

/*
 * Run the pipeline, with @events and @self as its view.
 */
void shown_run(struct shown *s,
	       int (*events)(void *self, const struct event_span *span, struct uft_err *err),
	       void *self);

/* Returns the text that the view wrote; valid until the next shown_begin(). */
const char *shown_end(struct shown *s);

#endif
