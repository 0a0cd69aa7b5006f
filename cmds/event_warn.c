/* Warns about names in --Event that match no event (see event_warn.h). */
#include "cmds/event_warn.h"

#include "utils/base/containers/nearest.h"

/* A rule of --Event, and the event names that are most similar to the name in the rule. */
struct look {
	const struct event_rule *rule;
	struct nearest near;
	bool has_match;
};

static int look_at(void *self, const struct event_kind *kind)
{
	struct look *look = self;

	look->has_match = look->has_match ||
			  event_rule_matches(look->rule, kind->origin, kind->name) ||
			  event_rule_matches(look->rule, EVENT_OF_PROGRAM, kind->name);
	nearest_offer(&look->near, kind->name);
	return 0;
}

static void warn(const struct opts *opts, const struct look *look)
{
	struct strbuf text cleanup_strbuf = { 0 };

	strbuf_addf(&text, "option '--Event': no event of the recording matches '%s'",
		    look->rule->text);
	if (nearest_is_close(&look->near)) {
		strbuf_addstr(&text, "; the nearest: ");
		nearest_text(&look->near, "", &text);
	}
	msg_warn(&opts->msg, "%s", strbuf_str(&text));
}

void event_warn_unmatched(const struct opts *opts, struct trace_data *data)
{
	struct event_kinds kinds = { 0 };
	struct uft_err broken = { 0 };

	/* A recording that is still being made may get more events. */
	if (!opts->events.nr || data->growth)
		return;
	/* Errors are ignored here: the pipeline also reads kernel_header, and reports errors. */
	kernel_formats_load(&data->kernel, data->dir, &broken, NULL);
	if (event_kinds_load(&kinds, data, NULL) < 0)
		return;
	for (size_t i = 0; i < opts->events.nr; i++) {
		struct look look = { .rule = &opts->events.rules[i] };

		nearest_init(&look.near, look.rule->name.text);
		event_kinds_each(&kinds, look_at, &look);
		if (!look.has_match)
			warn(opts, &look);
	}
	event_kinds_deinit(&kinds);
}
