/* Events declared by programs (see declared.h). Definitions and payloads are untrusted. */
#include "utils/pipeline/kinds/declared.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "trace/seam/reader.h"
#include "utils/base/fd.h"
#include "utils/base/containers/order.h"
#include "utils/base/containers/vec.h"
#include "utils/format/event_data.h"
#include "utils/format/fstrace/line.h"
#include "utils/pipeline/kinds/declared_line.h"
#include "utils/pipeline/kinds/declared_probe.h"

#define DEFS_MAX_BYTES	  (16UL << 20)
/*
 * The limits of a format. A longer format is cut, and "..." follows. The limits bound the work:
 * each line of a log contains the text of the format, and a search for a field reads the whole
 * format.
 */
#define PIECES_MAX	  256U
#define LITERAL_MAX_BYTES 1024U

static void free_event(struct declared_event *event)
{
	for (size_t i = 0; i < event->nr_fields; i++) {
		free((char *)event->fields[i].name);
		strbuf_deinit(&event->texts[i]);
	}
	free(event->fields);
	free(event->texts);
	free(event->probe_types);
	free(event->types);
	free(event->name);
	fst_format_free(event->common);
	fst_format_free(event->format);
}

void declared_events_deinit(struct declared_events *declared)
{
	for (size_t i = 0; i < declared->nr; i++)
		free_event(&declared->events[i]);
	free(declared->events);
	*declared = (struct declared_events){ 0 };
}

/* --- fields --- */

int declared_make_room(struct declared_event *event, size_t nr)
{
	event->fields = calloc(nr, sizeof(*event->fields));
	event->texts = calloc(nr, sizeof(*event->texts));
	return event->fields && event->texts ? 0 : -ENOMEM;
}

int declared_add_field(struct declared_event *event, char *name, enum event_field_type type)
{
	if (!name)
		return -ENOMEM;
	event->fields[event->nr_fields++] = (struct event_field){ name, type, 0, NULL };
	return 0;
}

static enum event_field_type field_type(enum fst_kind kind)
{
	switch (kind) {
	case FST_HEX:
	case FST_HEX64:
	case FST_HEX_LLONG:
		return FIELD_HEX;
	case FST_POINTER:
		return FIELD_ADDR;
	case FST_BOOL:
	case FST_ERRNO:
	case FST_ERRNO_ARG:
		return FIELD_TEXT;
	default:
		break;
	}
	switch (fst_form_of(kind)) {
	case FST_FORM_SIGNED32:
	case FST_FORM_SIGNED64:
		return FIELD_INT;
	case FST_FORM_UNSIGNED32:
	case FST_FORM_UNSIGNED64:
		return FIELD_UINT;
	default:
		return FIELD_TEXT;
	}
}

/* Find the "KEY" of a "KEY=" at the end of literal text. Returns an empty text if there is none. */
static struct text key_of(const struct fst_piece *piece)
{
	const char *end = piece->text + piece->len - 1;
	const char *at = end;

	if (piece->kind != FST_LITERAL || *end != '=')
		return text_of(piece->text, 0);
	while (at > piece->text && fst_is_key_char(at[-1]))
		at--;
	return text_of(at, end - at);
}

static bool has_field(const struct declared_event *event, const char *name)
{
	for (size_t i = 0; i < event->nr_fields; i++) {
		if (strcmp(event->fields[i].name, name) == 0)
			return true;
	}
	return false;
}

static const char *usual_name(enum fst_kind kind)
{
	static const char *const names[] = {
		[FST_PID] = "pid",   [FST_THREAD] = "thread", [FST_FILE] = "file",
		[FST_LINE] = "line", [FST_ERRNO] = "errno",
	};

	return kind < ARRAY_SIZE(names) ? names[kind] : NULL;
}

/*
 * Make a unique name for the field of a directive. If the format has "KEY=" before the directive,
 * the name is KEY. Otherwise, the name is the usual name of the directive's kind. If the kind has
 * no usual name, or if the chosen name is used already, the name is "arg" and a number.
 */
static char *name_field(const struct declared_event *event, const struct fst_piece *before,
			enum fst_kind kind)
{
	struct text key = before ? key_of(before) : text_of("", 0);
	char *name = text_left(&key)	? text_dup(&key)
		     : usual_name(kind) ? strdup(usual_name(kind))
					: NULL;
	char number[32];

	if (name && !has_field(event, name))
		return name;
	free(name);
	for (size_t nr = event->nr_fields + 1;; nr++) {
		snprintf(number, sizeof(number), "arg%zu", nr);
		if (!has_field(event, number))
			return strdup(number);
	}
}

static int add_fields(struct declared_event *event, const struct fst_format *format)
{
	for (size_t i = 0; i < format->nr_pieces; i++) {
		const struct fst_piece *piece = &format->pieces[i];

		if (piece->kind == FST_LITERAL)
			continue;

		char *name = name_field(event, i ? piece - 1 : NULL, piece->kind);
		int ret = declared_add_field(event, name, field_type(piece->kind));

		if (ret < 0)
			return ret;
	}
	return 0;
}

static int make_fields(struct declared_event *event)
{
	size_t max = event->format->nr_pieces + (event->common ? event->common->nr_pieces : 0);

	int ret = declared_make_room(event, max + 1);

	if (ret == 0 && event->common)
		ret = add_fields(event, event->common);
	return ret < 0 ? ret : add_fields(event, event->format);
}

/* --- events.def --- */

static int hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'A' && c <= 'F')
		return c - 'A' + 10;
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/*
 * Parse one word that the recorder has written, and copy it to the heap. "%00" is NULL, "%" is an
 * empty word, and other words are URL-encoded. Returns false if the word is invalid or memory is
 * short.
 */
static bool take_word(struct text *line, char **word)
{
	struct strbuf out cleanup_strbuf = { 0 };
	const char *end = memchr(line->at, ' ', text_left(line));
	const char *at = line->at;

	end = end ? end : line->end;
	line->at = end < line->end ? end + 1 : end;
	*word = NULL;
	if (end - at == 3 && memcmp(at, "%00", 3) == 0)
		return true;
	if (at == end)
		return false;
	if (end - at == 1 && *at == '%')
		at++;
	for (; at < end; at++) {
		int high = *at == '%' && end - at > 2 ? hex_digit(at[1]) : -1;
		int low = high >= 0 ? hex_digit(at[2]) : -1;

		if (*at == '%' && (low < 0 || !(high << 4 | low)))
			return false;
		strbuf_addch(&out, *at == '%' ? high << 4 | low : *at == '+' ? ' ' : *at);
		at += *at == '%' ? 2 : 0;
	}
	if (strbuf_oom(&out))
		return false;
	*word = strdup(strbuf_str(&out));
	return *word;
}

/* Parse "line NAME KEYS". */
static bool take_line(struct text *line, struct declared_event *event)
{
	char *keys cleanup_free = NULL;

	event->is_line = true;
	return take_word(line, &event->name) && event->name && take_word(line, &keys) && keys &&
	       declared_line_set_keys(event, keys) == 0;
}

/* Parse "sdt NAME TYPES". */
static bool take_probe(struct text *line, struct declared_event *event)
{
	char *types;

	if (!take_word(line, &event->name) || !event->name || !take_word(line, &types) || !types)
		return false;
	return declared_probe_set_types(event, types) == 0;
}

static struct fst_format *make_format(const char *text)
{
	static const char dots[] = "...";
	struct fst_format *format = fst_format_make(text);
	size_t literal_bytes = 0;

	for (size_t i = 0; format && i < format->nr_pieces; i++) {
		struct fst_piece *piece = &format->pieces[i];

		if (piece->kind == FST_LITERAL)
			literal_bytes += piece->len;
		if (i < PIECES_MAX && literal_bytes <= LITERAL_MAX_BYTES)
			continue;
		*piece = (struct fst_piece){ .kind = FST_LITERAL,
					     .text = dots,
					     .len = strlen(dots) };
		format->nr_pieces = i + 1;
	}
	return format;
}

/* Parse "fstrace NAME COMMON FORMAT". */
static bool take_formats(struct text *line, struct declared_event *event)
{
	char *common cleanup_free = NULL;
	char *format cleanup_free = NULL;

	if (!take_word(line, &event->name) || !event->name || !take_word(line, &common) ||
	    !take_word(line, &format) || !format)
		return false;
	event->format = make_format(format);
	event->common = common ? make_format(common) : NULL;
	return event->format && (event->common || !common) && make_fields(event) == 0;
}

/* Parse the definition that follows the id of @event. Returns false if it is invalid. */
static bool take_definition(struct text *line, struct declared_event *event)
{
	if (text_word(line, "fstrace "))
		return take_formats(line, event);
	if (text_word(line, "sdt "))
		return take_probe(line, event);
	return text_word(line, "line ") && take_line(line, event);
}

static int add_line(struct declared_events *declared, struct text line)
{
	struct declared_event event = { 0 };
	struct declared_event *events;

	if (text_word(&line, "CLOCK: ")) {
		text_i64(&line, &declared->offset_ns);
		return 0;
	}
	if (!text_word(&line, "DECLARED: ") || !text_dec(&line, &event.id) ||
	    !text_word(&line, " ") || !take_definition(&line, &event)) {
		free_event(&event);
		return 0;
	}
	events = vec_grow(declared->events, declared->nr, sizeof(*events));
	if (!events) {
		free_event(&event);
		return -ENOMEM;
	}
	declared->events = events;
	events[declared->nr++] = event;
	return 0;
}

int declared_events_load(struct declared_events *declared, const char *dir, struct uft_err *err)
{
	_Static_assert(offsetof(struct declared_event, id) == 0, "ordered by order_u64()");
	struct strbuf content cleanup_strbuf = { 0 };
	char path[PATH_MAX];
	struct text line;
	bool whole;

	*declared = (struct declared_events){ 0 };
	snprintf(path, sizeof(path), "%s/" EVENT_DEFS_FILE, dir);
	if (access(path, F_OK) < 0)
		return 0;

	int ret = file_read_all(path, DEFS_MAX_BYTES, &content, err);
	struct text in = text_of(content.data, content.len);

	while (ret == 0 && text_line(&in, &line, &whole)) {
		if (!whole)
			break; /* the recorder is writing the line, or was killed */
		ret = add_line(declared, line);
	}
	if (ret < 0) {
		declared_events_deinit(declared);
		return ret;
	}
	if (declared->nr)
		qsort(declared->events, declared->nr, sizeof(*declared->events), order_u64);
	return 0;
}

struct declared_event *declared_events_find(const struct declared_events *declared, uint64_t id)
{
	size_t at = order_count_below(declared->events, declared->nr, sizeof(*declared->events),
				      id);

	return at < declared->nr && declared->events[at].id == id ? &declared->events[at] : NULL;
}

/* --- payloads --- */

/*
 * Find the value of directive @index. Indexes count the directives of @event->common first, then
 * the directives of @event->format. *@is_cut becomes true if the value was truncated.
 */
static bool find_value(const struct declared_event *event, struct fst_bytes from, size_t index,
		       struct fst_value *value, bool *is_cut)
{
	const struct fst_format *const formats[] = { event->common, event->format };

	for (size_t i = 0; i < ARRAY_SIZE(formats); i++) {
		for (size_t k = 0; formats[i] && k < formats[i]->nr_pieces; k++) {
			enum fst_kind kind = formats[i]->pieces[k].kind;

			if (kind == FST_LITERAL)
				continue;
			*is_cut = !fst_take_value(&from, kind, value);
			if (*is_cut)
				return index == 0 && fst_take_cut_text(&from, kind, value);
			if (index-- == 0)
				return true;
		}
	}
	return false;
}

static struct fst_bytes payload_of(const struct event_context *context)
{
	const uint8_t *data = context->event->data;

	return (struct fst_bytes){ data, data + context->event->data_len };
}

/*
 * Make the text of a value. A string is used without encoding. Any other value gets the form of log
 * lines (fst_put_value()). A truncated value is followed by "...".
 */
static struct text text_of_value(struct strbuf *out, const struct fst_value *value, bool is_cut)
{
	bool is_string = value->kind == FST_STRING || value->kind == FST_STRING_MAX ||
			 value->kind == FST_CALL || value->kind == FST_FILE;
	struct fst_text text;

	if (is_string && !is_cut)
		return text_of((const char *)value->bytes, value->len);
	strbuf_reset(out);
	if (is_string) {
		strbuf_add(out, value->bytes, value->len);
	} else {
		fst_text_init(&text);
		fst_put_value(&text, value);
		strbuf_add(out, text.base, text.len);
		fst_text_free(&text);
	}
	if (is_cut)
		strbuf_addstr(out, "...");
	return text_of(strbuf_str(out), out->len);
}

static bool get_field(const struct event_kind *kind, const struct event_context *context,
		      size_t index, struct event_value *out)
{
	struct declared_event *event = kind->declared;
	struct fst_value value;
	bool is_cut;

	if (!context->event->data ||
	    !find_value(event, payload_of(context), index, &value, &is_cut) || value.is_null)
		return false;
	*out = (struct event_value){ .type = kind->fields[index].type };
	if (out->type == FIELD_TEXT)
		out->text = text_of_value(&event->texts[index], &value, is_cut);
	else
		out->number = value.number;
	return true;
}

/* Write the payload in the form of log lines, without the event's name. */
static void put_text(const struct event_kind *kind, const struct event_context *context,
		     struct strbuf *out)
{
	const struct declared_event *event = kind->declared;
	struct fst_text text;
	bool is_whole = true;

	if (!context->event->data)
		return;

	struct fst_bytes from = payload_of(context);

	fst_text_init(&text);
	if (event->common) {
		is_whole = fst_put_payload(&text, event->common, &from);
		fst_put_char(&text, ' ');
	}
	is_whole = is_whole && fst_put_payload(&text, event->format, &from);
	if (!is_whole || text.has_failed)
		fst_put(&text, "...", 3);
	strbuf_add(out, text.base, text.len);
	fst_text_free(&text);
}

void declared_event_set(struct declared_event *event, struct event_kind *kind)
{
	kind->declared = event;
	kind->fields = event->fields;
	kind->nr_fields = event->nr_fields;
	kind->get = get_field;
	kind->put = put_text;
	if (event->is_line) {
		kind->get = declared_line_get;
		kind->put = declared_line_put;
	} else if (event->types) {
		kind->get = declared_probe_get;
		kind->put = declared_probe_put;
	}
}
