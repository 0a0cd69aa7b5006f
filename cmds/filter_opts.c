/* The options about functions (see filter_opts.h). */
#include "cmds/filter_opts.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cmds/opts.h"

static const char *const option_names[] = {
	[SPEC_FILTER] = "filter",	 [SPEC_TRIGGER] = "trigger",
	[SPEC_ARGUMENT] = "argument",	 [SPEC_RETVAL] = "retval",
	[SPEC_CALLER] = "caller-filter", [SPEC_HIDE] = "hide",
	[SPEC_LOCATION] = "loc-filter",
};

struct typed_spec filter_as_typed(const struct filter_entry *entry)
{
	if (entry->is_notrace)
		return (struct typed_spec){ "notrace", entry->spec.text + 1 };
	return (struct typed_spec){ option_names[entry->option], entry->spec.text };
}

static int parse_all(const struct opts *opts, struct filters *filters, struct uft_err *err)
{
	enum spec_option option;
	int ret = filters_make(filters, opts->specs, opts->match, &option, err);

	if (ret < 0 && option < SPEC_OPTIONS)
		err_prefix(err, "option '--%s'", option_names[option]);
	return ret;
}

/* Puts the name of the option before the error text. Returns @ret. */
static int of_option(const char *name, int ret, struct uft_err *err)
{
	if (ret < 0)
		err_prefix(err, "option '--%s'", name);
	return ret;
}

/* Parses a regular expression for the ids of events that the program declares. */
static int parse_ids(const char *name, const char *text, struct pattern *out, struct uft_err *err)
{
	return text ? of_option(name, pattern_init_regex(out, text, strlen(text), err), err) : 0;
}

static void mark_unpatch(const struct strbuf *marks, struct patch_rules *rules)
{
	for (size_t i = 0; i < rules->nr && i < marks->len; i++)
		rules->rules[i].is_unpatch = marks->data[i] == SPEC_MARK_NEGATED;
}

/*
 * Marks the entries of @filters that come from --notrace. Byte i of @marks tells the option of
 * entry i: SPEC_MARK_NEGATED is --notrace, and SPEC_MARK_PLAIN is --filter. An entry for which
 * @marks has no byte does not come from --notrace.
 */
static void mark_notrace(const struct strbuf *marks, struct filters *filters)
{
	for (size_t i = 0; i < filters->nr && i < marks->len; i++)
		filters->entries[i].is_notrace = marks->data[i] == SPEC_MARK_NEGATED;
}

int filter_opts_parse(struct opts *opts, struct uft_err *err)
{
	filter_opts_free(opts);
	opts->filters = calloc(1, sizeof(*opts->filters));
	opts->rec.patches = calloc(1, sizeof(*opts->rec.patches));
	if (!opts->filters || !opts->rec.patches)
		return err_set_errno(err, -ENOMEM, "cannot read the filters");

	int ret = parse_all(opts, opts->filters, err);

	if (ret == 0)
		mark_notrace(&opts->filter_marks, opts->filters);
	if (ret == 0 && opts->signal_specs)
		ret = of_option("signal",
				signal_switches_parse(opts->signal_specs, &opts->rec.signals, err),
				err);
	if (ret == 0 && opts->watch_specs)
		ret = of_option("watch", watch_spec_parse(opts->watch_specs, &opts->watch, err),
				err);
	if (ret == 0 && opts->event_specs)
		ret = of_option(
			"Event",
			event_rules_parse(opts->event_specs, opts->match, &opts->events, err), err);
	if (ret == 0)
		ret = parse_ids("trace-include", opts->trace_include_spec, &opts->trace_include,
				err);
	if (ret == 0)
		ret = parse_ids("trace-exclude", opts->trace_exclude_spec, &opts->trace_exclude,
				err);
	if (ret == 0 && opts->patch_specs)
		ret = of_option(
			"patch",
			patch_rules_parse(opts->patch_specs, opts->match, opts->rec.patches, err),
			err);
	if (ret == 0)
		mark_unpatch(&opts->patch_marks, opts->rec.patches);
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
	pattern_deinit(&opts->trace_include);
	pattern_deinit(&opts->trace_exclude);
	if (opts->rec.patches)
		patch_rules_deinit(opts->rec.patches);
	free(opts->rec.patches);
	opts->rec.patches = NULL;
}

int filter_opts_check_recording(const struct opts *opts, struct uft_err *err)
{
	for (size_t i = 0; i < opts->filters->nr; i++) {
		const struct filter_entry *entry = &opts->filters->entries[i];
		const struct typed_spec typed = filter_as_typed(entry);
		struct uft_err why = { 0 };

		if (spec_check_recording(&entry->spec, &why) < 0)
			return err_set(err, -ERR_USAGE,
				       "option '--%s': '%s': %s: record the values, and give the "
				       "condition when reading",
				       typed.option, typed.text, why.text);
	}
	return 0;
}
