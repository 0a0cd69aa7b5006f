/* -A, -R and argument actions of -T (see arg_opts.h). */
#include "cmds/arg_opts.h"

#include <errno.h>
#include <string.h>

#include "utils/format/callables.h"

#define WORD_BYTES 8

static const struct {
	enum spec_option option;
	const char *name;
	enum argrules_about about;
	bool is_trigger;
} sources[] = {
	{ SPEC_TRIGGER, "trigger", ARGRULES_BOTH, true },
	{ SPEC_ARGUMENT, "argument", ARGRULES_ARGS, false },
	{ SPEC_RETVAL, "retval", ARGRULES_RETVAL, false },
};

int arg_opts_parse(const struct opts *opts, struct argrules *rules, struct uft_err *err)
{
	for (size_t i = 0; i < ARRAY_SIZE(sources); i++) {
		struct argrules_source source = {
			.match = opts->match,
			.about = sources[i].about,
			.word_bytes = WORD_BYTES,
			.is_trigger = sources[i].is_trigger,
		};
		const char *text = opts->specs[sources[i].option];
		int ret = text ? argrules_parse(rules, text, &source, err) : 0;

		if (ret < 0) {
			err_prefix(err, "option '--%s'", sources[i].name);
			return ret == -ENOMEM ? ret : -ERR_USAGE;
		}
	}
	return 0;
}

static bool is_about(const struct argspec *spec, enum argrules_about about)
{
	return about & (spec->kind == ARG_KIND_RETVAL ? ARGRULES_RETVAL : ARGRULES_ARGS);
}

static size_t count_items(const struct argrule *rule, enum argrules_about about)
{
	size_t nr = 0;

	for (size_t i = 0; i < rule->items.nr; i++)
		nr += is_about(&rule->items.specs[i], about);
	return nr;
}

static void put_rule(const struct argrule *rule, enum argrules_about about, struct strbuf *out)
{
	char joint = '@';

	strbuf_addstr(out, rule->pattern.text);
	if (rule->module)
		strbuf_addf(out, "@%s", rule->module);
	if (rule->module)
		joint = ',';
	if (rule->clears & about) {
		strbuf_addf(out, "%cclear=%s", joint, about == ARGRULES_ARGS ? "arg" : "retval");
		joint = ',';
	}
	for (size_t i = 0; i < rule->items.nr; i++) {
		if (!is_about(&rule->items.specs[i], about))
			continue;
		strbuf_addch(out, joint);
		argspec_put(&rule->items.specs[i], WORD_BYTES, out);
		joint = ',';
	}
}

/*
 * Appends a second form of @rule to @out. This form is for functions of Python, which have no
 * addresses (callables.h).
 */
static void put_callable_rule(const struct argrule *rule, enum argrules_about about,
			      struct strbuf *out)
{
	strbuf_addf(out, ";%s@" CALLABLES_MODULE, rule->pattern.text);
	for (size_t i = 0; i < rule->items.nr; i++) {
		const struct argspec *spec = &rule->items.specs[i];

		if (!is_about(spec, about) || !argspec_is_text(spec))
			continue;
		if (spec->kind == ARG_KIND_RETVAL)
			strbuf_addstr(out, ",retval/s");
		else
			strbuf_addf(out, ",arg%u/s", spec->index);
	}
}

void arg_opts_put_auto(enum pattern_match match, struct strbuf *out)
{
	if (match != MATCH_SIMPLE)
		strbuf_addf(out, "%s@" CALLABLES_MODULE, match == MATCH_GLOB ? "*" : ".");
}

void arg_opts_put(const struct argrules *rules, enum argrules_about about, bool has_callables,
		  struct strbuf *out)
{
	for (size_t i = 0; i < rules->nr; i++) {
		const struct argrule *rule = &rules->rules[i];

		if (!(rule->about & about) ||
		    (!rule->is_auto && !(rule->clears & about) && !count_items(rule, about)))
			continue;
		if (out->len)
			strbuf_addch(out, ';');
		/* If @about is the rule's only subject, the user's words are written unchanged. */
		if (rule->about == about)
			strbuf_addstr(out, rule->text);
		else
			put_rule(rule, about, out);
		if (has_callables && !rule->module && count_items(rule, about))
			put_callable_rule(rule, about, out);
	}
}
