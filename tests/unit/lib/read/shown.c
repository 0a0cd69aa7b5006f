/* A recording and the text of a view (see shown.h). */
#include "tests/unit/lib/unit.h"

#include "tests/unit/lib/read/shown.h"

void shown_init(struct shown *s)
{
	*s = (struct shown){ 0 };
	recording_init(&s->rec);
	pipeline_config_init(&s->stages);
}

void shown_deinit(struct shown *s)
{
	recording_deinit(&s->rec);
	strbuf_deinit(&s->out);
}

void shown_begin(struct shown *s)
{
	recording_finish(&s->rec);
	strbuf_reset(&s->out);
	assert_int_equal(data_open(&s->data, s->rec.dir, DEMANGLE_SIMPLE, NULL), 0);
	assert_int_equal(pipeline_open(&s->pipe, &s->data, &s->stages, NULL), 0);
	assert_int_equal(sink_init_text(&s->sink, &s->out), 0);
}

void shown_run(struct shown *s,
	       int (*events)(void *self, const struct event_span *span, struct uft_err *err),
	       void *self)
{
	assert_int_equal(pipeline_run(&s->pipe, &(struct view){ events, self }, NULL), 0);
}

const char *shown_end(struct shown *s)
{
	assert_int_equal(sink_flush(&s->sink), 0);
	sink_deinit(&s->sink);
	pipeline_close(&s->pipe);
	data_close(&s->data);
	return strbuf_str(&s->out);
}
