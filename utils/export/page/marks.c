/* Writes quoted strings, and the texts of events and of lost records (see marks.h). */
#include "utils/export/page/marks.h"

void page_put_string(struct strbuf *out, enum medium medium, const char *text)
{
	struct strbuf shown cleanup_strbuf = { 0 };

	escape_addstr(&shown, MEDIUM_TERMINAL, text);
	strbuf_addch(out, '"');
	escape_add(out, medium, strbuf_str(&shown), shown.len);
	strbuf_addch(out, '"');
	out->oom |= strbuf_oom(&shown);
}

static void put_gap(const struct event *event, struct strbuf *kind, struct strbuf *text)
{
	strbuf_addstr(kind, "lost records");
	strbuf_addstr(text, "lost records");
	/* The kernel does not always state the number of lost records. */
	if (event->addr)
		strbuf_addf(text, " (%llu)", (unsigned long long)event->addr);
}

void mark_put(struct event_texts *texts, const struct task *task, const struct event *event,
	      struct strbuf *kind, struct strbuf *text)
{
	struct strbuf data cleanup_strbuf = { 0 };

	if (event->type == EVENT_LOST) {
		put_gap(event, kind, text);
		return;
	}
	event_put_name(texts, event, kind);
	event_put_data(texts, task, event, &data);
	strbuf_addstr(text, strbuf_str(kind));
	if (data.len) {
		/* The callers keep texts as C strings, so a zero byte is escaped here. */
		strbuf_addstr(text, " (");
		escape_add(text, MEDIUM_TERMINAL, strbuf_str(&data), data.len);
		strbuf_addstr(text, ")");
	}
	text->oom |= strbuf_oom(&data);
}
