/* View: times from one event to another (see report_between.h). */
#include "utils/view/report/report_between.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "utils/base/containers/vec.h"
#include "utils/pipeline/kinds/declared.h"

/* For between_kind.fields: the pid and tid of the event's task. Every event has these fields. */
#define FIELD_OF_PID  -1
#define FIELD_OF_TID  -2
/* For between_kind.fields: the event does not have this field. */
#define FIELD_MISSING -3

/*
 * @is_begin: the event has the name report_between.names[0]
 * @is_end: the event has the name report_between.names[1]. An event can have both names
 * @fields: the place of each chosen field in the event
 */
struct between_kind {
	uint64_t id;
	bool is_begin;
	bool is_end;
	int fields[BETWEEN_FIELDS_MAX];
};

/* --- the requested events --- */

int report_between_init(struct report_between *between, const char *text, enum color_mode color,
			enum report_format format, struct uft_err *err)
{
	size_t nr = 0;

	*between = (struct report_between){ .color = color, .format = format };
	between->text = strdup(text);
	if (!between->text)
		return err_set_errno(err, -ENOMEM, "cannot report on '%s'", text);
	for (char *rest = between->text, *word; (word = strsep(&rest, ","));) {
		if (!*word)
			return err_set(err, -ERR_USAGE,
				       "option '--between': expected ID1,ID2[,FIELD...]: '%s'",
				       text);
		if (nr == 2 + BETWEEN_FIELDS_MAX)
			return err_set(err, -ERR_USAGE,
				       "option '--between': more than %d fields: '%s'",
				       BETWEEN_FIELDS_MAX, text);
		if (nr < 2)
			between->names[nr] = word;
		else
			between->fields[between->nr_fields++] = word;
		nr++;
	}
	if (nr < 2)
		return err_set(err, -ERR_USAGE,
			       "option '--between': expected two events, ID1,ID2[,FIELD...]: '%s'",
			       text);
	return 0;
}

void report_between_deinit(struct report_between *between)
{
	for (size_t i = 0; i < between->nr_kinds; i++)
		free(between->all[i]);
	free(between->all);
	free(between->text);
	intmap_deinit(&between->kinds);
	strbuf_deinit(&between->key);
	strbuf_deinit(&between->value);
	pending_deinit(&between->pending);
	hist_deinit(&between->times);
	event_texts_deinit(&between->texts);
}

/* @name is "provider:ID" or "ID". */
static bool has_name(const struct event_kind *kind, const char *name)
{
	const char *colon = strchr(kind->name, ':');

	return strcmp(kind->name, name) == 0 || (colon && strcmp(colon + 1, name) == 0);
}

static int find_field(const struct event_kind *kind, const char *name)
{
	for (size_t i = 0; i < kind->nr_fields; i++) {
		if (strcmp(kind->fields[i].name, name) == 0)
			return i;
	}
	if (strcmp(name, "pid") == 0)
		return FIELD_OF_PID;
	return strcmp(name, "tid") == 0 ? FIELD_OF_TID : FIELD_MISSING;
}

/* Add @kind to between->kinds if between->names has the name of @kind (has_name()). */
static int note_kind(void *self, const struct event_kind *kind)
{
	struct report_between *between = self;
	struct between_kind found = {
		.id = kind->id,
		.is_begin = has_name(kind, between->names[0]),
		.is_end = has_name(kind, between->names[1]),
	};

	if (!found.is_begin && !found.is_end)
		return 0;
	for (size_t i = 0; i < between->nr_fields; i++)
		found.fields[i] = find_field(kind, between->fields[i]);

	struct between_kind **all = vec_grow(between->all, between->nr_kinds,
					     sizeof(struct between_kind *));
	struct between_kind *copy = malloc(sizeof(*copy));

	if (all)
		between->all = all;
	if (!all || !copy || intmap_put(&between->kinds, kind->id, copy) < 0) {
		free(copy);
		return -ENOMEM;
	}
	*copy = found;
	all[between->nr_kinds++] = copy;
	return 0;
}

static int no_field(struct report_between *between, const char *event, const char *field,
		    const struct between_kind *kind, struct uft_err *err)
{
	const struct event_kind *known = event_kinds_find(&between->texts.kinds, kind->id);
	struct strbuf names cleanup_strbuf = { 0 };

	for (size_t i = 0; i < known->nr_fields; i++)
		strbuf_addf(&names, "%s, ", known->fields[i].name);
	return err_set(err, -ENOENT, "event '%s' has no field '%s': it has %spid, tid", event,
		       field, strbuf_str(&names));
}

/* Returns the first of between->fields that events of @kind lack, or NULL. */
static const char *missing_field(const struct report_between *between,
				 const struct between_kind *kind)
{
	for (size_t i = 0; i < between->nr_fields; i++) {
		if (kind->fields[i] == FIELD_MISSING)
			return between->fields[i];
	}
	return NULL;
}

/*
 * Check that the recording has a kind of event with the name between->names[index] and all of
 * between->fields. Several kinds may have this name. One kind with all fields is enough.
 */
static int check_name(struct report_between *between, unsigned index, struct uft_err *err)
{
	const struct between_kind *kind = NULL;

	for (size_t i = 0; i < between->nr_kinds; i++) {
		struct between_kind *one = between->all[i];

		if (!(index ? one->is_end : one->is_begin))
			continue;
		if (!missing_field(between, one))
			return 0;
		kind = one;
	}
	if (!kind)
		return err_set(err, -ENOENT,
			       "the recording has no event '%s': see 'utrail events list'",
			       between->names[index]);
	return no_field(between, between->names[index], missing_field(between, kind), kind, err);
}

/* --- one event --- */

static bool put_field(const struct report_between *between, int field,
		      const struct event_kind *kind, const struct event_context *context,
		      struct strbuf *out)
{
	struct event_value value;

	if (field == FIELD_OF_PID || field == FIELD_OF_TID) {
		strbuf_addf(out, "%d",
			    field == FIELD_OF_PID ? context->task->pid : context->task->tid);
		return true;
	}
	if (field < 0 || !event_kind_get(kind, context, field, &value))
		return false;
	/*
	 * Leave out the leading zeros in arguments of static probes, so that equal values of
	 * different sizes match.
	 */
	if (value.type == FIELD_HEX && kind->declared && kind->declared->types)
		value.type = FIELD_UINT;
	/*
	 * An imported value is a text from a log. A recorded value is written as a log shows it, so
	 * that equal values match.
	 */
	event_value_put(&value, VALUE_LOGGED, out);
	return true;
}

/*
 * Make the key from the values of all fields. Each value is preceded by its length. Returns false
 * when a value is missing.
 */
static bool make_key(struct report_between *between, const struct between_kind *found,
		     const struct task *task, const struct event *event)
{
	const struct event_kind *kind = event_kinds_find(&between->texts.kinds, event->id);
	const struct event_context context = { between->texts.kinds.data, task, event, false };

	strbuf_reset(&between->key);
	for (size_t i = 0; i < between->nr_fields; i++) {
		strbuf_reset(&between->value);
		if (!put_field(between, found->fields[i], kind, &context, &between->value))
			return false;
		strbuf_add(&between->key, &between->value.len, sizeof(between->value.len));
		strbuf_add(&between->key, strbuf_str(&between->value), between->value.len);
	}
	return true;
}

static int note_end(struct report_between *between, uint64_t time_ns)
{
	uint64_t begin_ns;

	between->nr_ended++;
	if (pending_end(&between->pending, strbuf_str(&between->key), between->key.len, &begin_ns))
		return hist_add(&between->times, time_ns - begin_ns);
	between->nr_alone++;
	return 0;
}

static int note_begin(struct report_between *between, uint64_t time_ns)
{
	int ret = pending_begin(&between->pending, strbuf_str(&between->key), between->key.len,
				time_ns);

	between->nr_begun++;
	between->nr_again += ret == 1;
	between->nr_unfollowed += ret == -ENOSPC;
	return ret == -ENOMEM ? ret : 0;
}

static int note_event(struct report_between *between, const struct task *task,
		      const struct event *event)
{
	const struct between_kind *kind = intmap_get(&between->kinds, event->id);
	int ret = 0;

	if (!kind)
		return 0;
	if (!make_key(between, kind, task, event)) {
		between->nr_without++;
		return 0;
	}
	if (strbuf_oom(&between->key) || strbuf_oom(&between->value))
		return -ENOMEM;
	if (kind->is_end)
		ret = note_end(between, event->time_ns);
	return ret == 0 && kind->is_begin ? note_begin(between, event->time_ns) : ret;
}

static int note_events(void *self, const struct event_span *span, struct uft_err *err)
{
	struct report_between *between = self;
	int ret = 0;

	for (size_t i = 0; ret == 0 && i < span->nr; i++) {
		if (event_is_listed(&span->events[i]))
			ret = note_event(between, span->task, &span->events[i]);
	}
	return ret < 0 ? err_set_errno(err, ret, "cannot follow events") : 0;
}

int report_between_run(struct report_between *between, struct pipeline *pipe, struct uft_err *err)
{
	const struct view view = { note_events, between };
	int ret = event_texts_load(&between->texts, pipe->data, err);

	if (ret < 0)
		return ret;
	if (event_kinds_each(&between->texts.kinds, note_kind, between) < 0)
		return err_set_errno(err, -ENOMEM, "cannot follow events");
	ret = check_name(between, 0, err);
	if (ret == 0)
		ret = check_name(between, 1, err);
	return ret < 0 ? ret : pipeline_run(pipe, &view, err);
}

/* --- the shown numbers --- */

static const struct {
	const char *name;
	const char *header;
	unsigned permille;
} shown_times[] = {
	{ "min", "       Min", 0 },   { "p50", "       p50", 500 },  { "p90", "       p90", 900 },
	{ "p99", "       p99", 990 }, { "max", "       Max", 1000 },
};

/* Returns the number of first events that have no second event. */
static uint64_t nr_open(const struct report_between *between)
{
	return between->nr_again + between->nr_unfollowed + between->pending.nr;
}

static void show_text(const struct report_between *between, struct sink *sink)
{
	const struct hist *times = &between->times;

	sink_page_begin(sink, between->color);
	sink_lit(sink, "       Count");
	for (size_t i = 0; i < ARRAY_SIZE(shown_times); i++) {
		sink_lit(sink, "  ");
		sink_str(sink, shown_times[i].header);
	}
	sink_lit(sink, "      No end  No begin  Between\n");
	for (size_t i = 0; i < ARRAY_SIZE(shown_times) + 2; i++)
		sink_lit(sink, "  ==========");
	sink_lit(sink, "  ========  ====================\n");
	sink_putf(sink, "  %10llu", (unsigned long long)times->nr);
	for (size_t i = 0; i < ARRAY_SIZE(shown_times); i++)
		report_put_time(hist_percentile(times, shown_times[i].permille), between->color,
				sink);
	sink_putf(sink, "  %10llu  %8llu  ", (unsigned long long)nr_open(between),
		  (unsigned long long)between->nr_alone);
	sink_str(sink, between->names[0]);
	sink_lit(sink, " and ");
	sink_str(sink, between->names[1]);
	sink_lit(sink, "\n");
	if (times->nr)
		sink_lit(sink, "\n        From     Up to       Count\n"
			       "  ==========  ==========  ==========\n");
	hist_put_rows(times, between->color, sink);
	sink_page_end(sink, between->color);
}

static void show_csv(const struct report_between *between, struct sink *sink)
{
	sink->medium = MEDIUM_CSV;
	sink_lit(sink, "#From,To,Count,No end,No begin,Without fields");
	for (size_t i = 0; i < ARRAY_SIZE(shown_times); i++) {
		const char *header = shown_times[i].header;

		sink_lit(sink, ",");
		sink_str(sink, header + strspn(header, " "));
	}
	sink_lit(sink, "\n");
	sink_str(sink, between->names[0]);
	sink_lit(sink, ",");
	sink_str(sink, between->names[1]);
	sink_putf(sink, ",%llu,%llu,%llu,%llu", (unsigned long long)between->times.nr,
		  (unsigned long long)nr_open(between), (unsigned long long)between->nr_alone,
		  (unsigned long long)between->nr_without);
	for (size_t i = 0; i < ARRAY_SIZE(shown_times); i++)
		sink_putf(sink, ",%llu",
			  (unsigned long long)hist_percentile(&between->times,
							      shown_times[i].permille));
	sink_lit(sink, "\n");
}

static void put_json_hist(const struct hist *hist, struct sink *sink)
{
	unsigned first, last;

	if (!hist_powers(hist, &first, &last))
		return;
	for (unsigned i = first; i <= last; i++) {
		sink_either(sink, i > first, ",", "");
		sink_putf(sink, "{\"from\":%llu,\"up_to\":%llu,\"count\":%llu}",
			  (unsigned long long)hist_power_from(i),
			  (unsigned long long)hist_power_to(i),
			  (unsigned long long)hist_count_power(hist, i));
	}
}

static void show_json(const struct report_between *between, struct sink *sink)
{
	sink->medium = MEDIUM_JSON;
	sink_lit(sink, "{\"from\":\"");
	sink_str(sink, between->names[0]);
	sink_lit(sink, "\",\"to\":\"");
	sink_str(sink, between->names[1]);
	sink_putf(sink,
		  "\",\"count\":%llu,\"no_end\":%llu,\"no_begin\":%llu,\"without_fields\":%llu",
		  (unsigned long long)between->times.nr, (unsigned long long)nr_open(between),
		  (unsigned long long)between->nr_alone, (unsigned long long)between->nr_without);
	for (size_t i = 0; i < ARRAY_SIZE(shown_times); i++) {
		sink_lit(sink, ",\"");
		sink_str(sink, shown_times[i].name);
		sink_putf(sink, "\":%llu",
			  (unsigned long long)hist_percentile(&between->times,
							      shown_times[i].permille));
	}
	sink_lit(sink, ",\"histogram\":[");
	put_json_hist(&between->times, sink);
	sink_lit(sink, "]}\n");
}

void report_between_show(const struct report_between *between, struct sink *sink)
{
	if (between->format == REPORT_CSV)
		show_csv(between, sink);
	else if (between->format == REPORT_JSON)
		show_json(between, sink);
	else
		show_text(between, sink);
}
