/* Gives numbers and definitions to declared events (see declared.h). */
#include "cmds/record/plan/declared.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cmds/record/base/rights.h"
#include "cmds/record/store/store.h"
#include "utils/base/cleanup.h"
#include "utils/base/containers/vec.h"
#include "utils/format/probe/control.h"
#include "utils/format/event_data.h"
#include "utils/format/fstrace/definition.h"

#define DECLARED_MAX 65536U

void declared_init(struct declared *declared, const struct record_settings *settings,
		   struct points *points)
{
	*declared = (struct declared){ .settings = settings, .points = points };
	points->declared = declared;
}

void declared_deinit(struct declared *declared)
{
	for (size_t i = 0; i < declared->nr; i++)
		free(declared->lines[i]);
	for (size_t i = 0; i < declared->nr_events; i++)
		free(declared->events[i].id);
	free(declared->lines);
	free(declared->events);
	strmap_deinit(&declared->numbers);
}

/* Returns the difference between the time of day and the recording's clock. */
static int64_t clock_offset_ns(const struct record_settings *settings)
{
	uint64_t before_ns = settings_now_ns(settings);
	uint64_t now_ns = clock_now_ns(CLOCK_REALTIME);

	return (int64_t)(now_ns - (before_ns + (settings_now_ns(settings) - before_ns) / 2));
}

/* Writes the definition at once. Otherwise an interrupted recording would lack the definition. */
static void write_line(struct declared *declared, uint32_t id, const char *words)
{
	struct strbuf line cleanup_strbuf = { 0 };
	struct rights paused cleanup_rights_pause = rights_pause();

	if (declared->nr == 1)
		strbuf_addf(&line, "CLOCK: %lld\n", (long long)clock_offset_ns(declared->settings));
	strbuf_addf(&line, "DECLARED: %u%s\n", id, words);

	int ret = store_append_to(declared->points->store, EVENT_DEFS_FILE, &line);

	if (ret < 0 && !declared->error)
		declared->error = ret;
}

/*
 * Takes over @words, the definition of the event @number. Frees @words on failure. Returns 0 or
 * -ENOMEM.
 */
static int keep_words(struct declared *declared, char *words, uint32_t number)
{
	char **lines = vec_grow(declared->lines, declared->nr, sizeof(*lines));

	if (lines)
		declared->lines = lines;
	if (!lines || strmap_put(&declared->numbers, words, (void *)(uintptr_t)number) < 0) {
		free(words);
		return -ENOMEM;
	}
	lines[declared->nr++] = words;
	declared->bytes += strlen(words);
	return 0;
}

/* Stores the event with its id, because users can choose declared events by their ids. */
static int keep_event(struct declared *declared, const char *id, uint32_t number)
{
	struct known_event *events = vec_grow(declared->events, declared->nr_events,
					      sizeof(*events));
	char *copy = strdup(id);

	if (events)
		declared->events = events;
	if (!events || !copy) {
		free(copy);
		return -ENOMEM;
	}
	events[declared->nr_events++] = (struct known_event){ copy, number };
	return 0;
}

/* Adds a new event. Returns its number, or 0. @name: the name of the event in events.txt */
static uint32_t add_new(struct declared *declared, const char *name, const struct strbuf *words)
{
	char *copy = strdup(strbuf_str(words));
	uint32_t number;

	if (!copy || declared->nr == DECLARED_MAX ||
	    declared->bytes + words->len > FST_DEFINITIONS_MAX ||
	    points_new_event(declared->points, name, &number) < 0) {
		free(copy);
		return 0;
	}
	if (keep_words(declared, copy, number) < 0)
		return 0;
	/*
	 * Write the definition before the event's name in events.txt. A reader that finds this name
	 * needs the definition.
	 */
	write_line(declared, number, copy);
	points_write_event(declared->points, number);
	return number;
}

/*
 * Returns the number of the event that @words define. A new event gets a new number. Returns 0 when
 * the event cannot have a number.
 */
static uint32_t number_of(struct declared *declared, const char *name, const struct strbuf *words)
{
	uint32_t number = 0;

	if (!strbuf_oom(words))
		number = (uint32_t)(uintptr_t)strmap_get(&declared->numbers, strbuf_str(words));
	if (!number && !strbuf_oom(words))
		number = add_new(declared, name, words);
	return number;
}

uint32_t declared_add(struct declared *declared, const char *id, const char *format,
		      const char *common)
{
	struct strbuf words cleanup_strbuf = { 0 };
	struct strbuf name cleanup_strbuf = { 0 };
	size_t nr_before = declared->nr;
	uint32_t number = 0;

	strbuf_addstr(&words, " fstrace");
	fst_definition_word(&words, id);
	fst_definition_word(&words, common);
	fst_definition_word(&words, format);
	fst_definition_name(&name, id);
	if (!strbuf_oom(&name))
		number = number_of(declared, strbuf_str(&name), &words);
	if (declared->nr > nr_before) {
		strbuf_list_add(&declared->points->names, strbuf_str(&name));
		if (keep_event(declared, id, number) < 0)
			number = 0;
	}
	declared->nr_refused += !number;
	return number;
}

uint32_t declared_add_probe(struct declared *declared, const char *name, const char *types)
{
	struct strbuf words cleanup_strbuf = { 0 };

	strbuf_addstr(&words, " sdt");
	fst_definition_word(&words, name);
	fst_definition_word(&words, types);
	return number_of(declared, name, &words);
}

static bool matches_id(const struct pattern *pattern, const char *id)
{
	return pattern && pattern_matches(pattern, id, strlen(id));
}

int declared_choice(struct declared *declared, const char *id)
{
	const struct record_settings *settings = declared->settings;
	struct strbuf name cleanup_strbuf = { 0 };
	bool is_included = matches_id(settings->trace_include, id);

	declared->include_matched |= is_included;
	if (matches_id(settings->trace_exclude, id))
		return -1;
	fst_definition_name(&name, id);
	if (is_included ||
	    (settings->events->nr && !strbuf_oom(&name) &&
	     event_rules_match(settings->events, EVENT_OF_PROGRAM, strbuf_str(&name))))
		return 1;
	return settings->trace_include ? -1 : 0;
}

bool declared_have(const struct declared *declared, const struct pattern *pattern)
{
	for (size_t i = 0; i < declared->nr_events; i++) {
		if (matches_id(pattern, declared->events[i].id))
			return true;
	}
	return false;
}

static void warn_about_include(const struct declared *declared, const struct msg *msg)
{
	if (!declared->settings->trace_include || declared->include_matched)
		return;
	if (declared->nr_events)
		msg_warn(msg,
			 "option '--trace-include': no event that the program declares matches");
	else
		msg_warn(msg, "option '--trace-include': the program declares no events");
}

void declared_warn(const struct declared *declared, unsigned long long nr_untold,
		   bool has_processes, const struct msg *msg)
{
	if (declared->error)
		msg_warn(msg, "cannot write '" EVENT_DEFS_FILE "': %s", strerror(-declared->error));
	msg_warn_nr(msg, declared->nr_refused,
		    "{event|events} that the program declares {is|are} not recorded: there is room "
		    "for %u events, with names and formats of %lu MB in all",
		    DECLARED_MAX, FST_DEFINITIONS_MAX >> 20);
	msg_warn_nr(
		msg, nr_untold,
		"{event|events} that the program declares {is|are} not recorded: {its "
		"name|their names} and {format|formats} are longer than %u bytes, or the "
		"program could not tell the recorder (a seccomp filter, or no descriptor left?)",
		CONTROL_MSG_MAX);
	if (has_processes)
		warn_about_include(declared, msg);
}
