/* Reads sources of all tasks without a pipeline (see sources.h). */
#include "tests/unit/lib/read/sources.h"

#include "tests/unit/lib/read/events.h"
#include "tests/unit/lib/unit.h"

void sources_begin(struct sources *s)
{
	*s = (struct sources){ 0 };
	recording_init(&s->rec);
	recording_add_task(&s->rec, 100, "a{}", 1000);
	s->context = (struct source_context){
		.data = &s->data,
		.broken = &s->broken,
		.losses = &s->losses,
		.newcomers = &s->newcomers,
		.takes_notes = true,
		.wants_points = true,
	};
}

void sources_open_data(struct sources *s, bool grows)
{
	recording_finish(&s->rec);
	if (!grows) {
		assert_int_equal(data_open(&s->data, s->rec.dir, DEMANGLE_SIMPLE, NULL), 0);
		return;
	}
	assert_int_equal(data_open_growing(&s->data, s->rec.dir, DEMANGLE_SIMPLE, NULL), 0);
	assert_true(data_read_more(&s->data, NULL) >= 0);
	assert_int_equal(data_grow(&s->data, NULL), 1);
}

int sources_open(struct sources *s, const struct source_kind *kind, struct uft_err *err)
{
	int ret;

	if (!s->data.dir)
		sources_open_data(s, false);
	ret = kind->open(&s->context, &s->list, err);
	return ret < 0 ? ret : (int)s->list.nr;
}

void sources_close(struct sources *s)
{
	for (size_t i = 0; i < s->list.nr; i++)
		source_close(s->list.all[i]);
	free(s->list.all);
	s->list = (struct source_list){ 0 };
}

void sources_end(struct sources *s)
{
	sources_close(s);
	task_list_deinit(&s->newcomers);
	data_close(&s->data);
	recording_deinit(&s->rec);
}

void sources_read(struct source *src, size_t max, uint64_t until_ns, struct strbuf *out)
{
	struct strbuf events_text cleanup_strbuf = { 0 };
	struct event events[64];
	struct uft_err err = { 0 };
	uint64_t next_ns = source_next_ns(src);
	ssize_t nr;

	assert_true(max <= ARRAY_SIZE(events));
	nr = source_read(src, events, max, until_ns, &err);
	if (nr < 0) {
		assert_int_equal(err.code, nr);
		strbuf_addf(out, "error %zd", nr);
		return;
	}
	assert_true((size_t)nr <= max);
	assert_int_equal(nr > 0, max > 0 && next_ns <= until_ns && next_ns != UINT64_MAX);
	if (!nr)
		return;
	assert_true(next_ns <= events[0].time_ns);
	events_put(events, nr, &events_text);
	strbuf_addf(out, "%d/%d%s: %s", src->tid, src->other_tid, src->task ? "" : "!",
		    strbuf_str(&events_text));
}

void sources_check(struct source *src, size_t max, uint64_t until_ns, const char *expected)
{
	struct strbuf out cleanup_strbuf = { 0 };

	for (;;) {
		size_t before = out.len;

		if (source_next_ns(src) > until_ns || source_next_ns(src) == UINT64_MAX)
			break;
		if (before)
			strbuf_addstr(&out, "; ");
		sources_read(src, max, until_ns, &out);
		if (strstr(strbuf_str(&out) + before, "error"))
			break;
	}
	assert_string_equal(strbuf_str(&out), expected);
}
