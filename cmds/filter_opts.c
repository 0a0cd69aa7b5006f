/* The options that speak of functions (see filter_opts.h). */
#include "cmds/filter_opts.h"

#include <errno.h>
#include <stdlib.h>

#include "cmds/opts.h"
#include "utils/spec/regex_plan.h"

static const char *const option_names[] = {
	[SPEC_FILTER] = "filter",	 [SPEC_TRIGGER] = "trigger",
	[SPEC_ARGUMENT] = "argument",	 [SPEC_RETVAL] = "retval",
	[SPEC_CALLER] = "caller-filter", [SPEC_HIDE] = "hide",
	[SPEC_LOCATION] = "loc-filter",
};

struct typed_spec filter_as_typed(enum spec_option option, const char *text)
{
	if (option == SPEC_FILTER && *text == '!')
		return (struct typed_spec){ "notrace", text + 1 };
	return (struct typed_spec){ option_names[option], text };
}

/* The order in which options count, whatever the order on the command line (doc/facts/language.md, "Specifications"). */
static const enum spec_option order[] = {
	SPEC_FILTER, SPEC_TRIGGER, SPEC_ARGUMENT, SPEC_RETVAL,
	SPEC_CALLER, SPEC_HIDE,	   SPEC_LOCATION,
};

static int parse_all(const struct opts *opts, struct filters *filters, struct uft_err *err)
{
	for (size_t i = 0; i < ARRAY_SIZE(order); i++) {
		const char *text = opts->specs[order[i]];
		int ret = text ? filters_add(filters, order[i], opts->match, text, err) : 0;

		if (ret < 0) {
			err_prefix(err, "option '--%s'", option_names[order[i]]);
			return ret;
		}
	}
	return filters_prepare(filters, err);
}

int filter_opts_parse(struct opts *opts, struct uft_err *err)
{
	filter_opts_free(opts);
	opts->filters = calloc(1, sizeof(*opts->filters));
	if (!opts->filters)
		return err_set_errno(err, -ENOMEM, "cannot read the filters");

	int ret = parse_all(opts, opts->filters, err);

	if (ret == 0 && opts->signal_specs) {
		ret = signal_switches_parse(opts->signal_specs, &opts->signals, err);
		if (ret < 0)
			err_prefix(err, "option '--signal'");
	}
	if (ret == 0 && opts->watch_specs) {
		watch_spec_deinit(&opts->watch);
		ret = watch_spec_parse(opts->watch_specs, &opts->watch, err);
		if (ret < 0)
			err_prefix(err, "option '--watch'");
	}
	if (ret == 0 && opts->event_specs) {
		ret = event_rules_parse(opts->event_specs, opts->match, &opts->events, err);
		if (ret < 0)
			err_prefix(err, "option '--Event'");
	}
	return ret;
}

void filter_opts_free(struct opts *opts)
{
	if (opts->filters)
		filters_deinit(opts->filters);
	free(opts->filters);
	opts->filters = NULL;
	watch_spec_deinit(&opts->watch);
	event_rules_deinit(&opts->events);
}

/* -ERR_USAGE when @term cannot be judged as a function begins. */
static int check_term(const struct cond_term *term, struct uft_err *err)
{
	struct automaton automaton;

	if (term->subject == COND_RETVAL)
		return err_set(err, -ERR_USAGE,
			       "return values cannot be known when the function begins");
	if (term->type == COND_STRING && term->op == COND_MATCH)
		return regex_plan(term->text.text, &automaton, err);
	return 0;
}

static int check_cond(const struct cond *cond, struct uft_err *err)
{
	int ret = 0;

	for (size_t i = 0; ret == 0 && i < cond->nr; i++)
		ret = check_term(&cond->terms[i], err);
	return ret;
}

int filter_opts_check_recording(const struct opts *opts, struct uft_err *err)
{
	for (size_t i = 0; i < opts->filters->nr; i++) {
		const struct filter_entry *entry = &opts->filters->entries[i];
		const struct typed_spec typed = filter_as_typed(entry->option, entry->spec.text);
		struct uft_err why = { 0 };

		if ((entry->spec.trigger.flags & TRIGGER_IF) &&
		    check_cond(&entry->spec.cond, &why) < 0)
			return err_set(err, -ERR_USAGE,
				       "option '--%s': '%s': %s: record the values, and give the "
				       "condition when reading",
				       typed.option, typed.text, why.text);
	}
	return 0;
}
