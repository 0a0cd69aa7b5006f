/*
 * Fuzz target: the languages of filters, triggers, conditions, signals and watches. The first byte
 * chooses the option and how names are matched; the rest is its text.
 */
#include <stdlib.h>
#include <string.h>

#include "tests/fuzz/fuzz.h"
#include "utils/base/cleanup.h"
#include "utils/base/containers/words.h"
#include "utils/spec/events.h"
#include "utils/spec/filters.h"
#include "utils/spec/regex/regex_plan.h"
#include "utils/spec/signals.h"
#include "utils/spec/watch.h"

static const struct filter_subject subjects[] = {
	{ .name = "main", .name_len = 4, .module = "program", .is_program = true },
	{ .name = "puts", .name_len = 4, .module = "program", .is_program = true, .is_plt = true },
	{ .name = "std::vector::push_back", .name_len = 22, .module = "libstdc++.so.6" },
	{ .name = "m::f", .name_len = 4, .others = "m::f.part.0\0f\0" },
	{ .name = "operator new[]", .name_len = 14, .source_file = "src/lib/a.c" },
	{ .name = "", .name_len = 0 },
};

/* Check that the probe's automaton and the C library find the same. */
static void compare(const struct cond_term *term)
{
	static const char *const texts[] = {
		"", "a", "ab", "text", "x1y", "foo.bar", "(a|b)", "^$"
	};
	struct uft_err err = { 0 };
	struct automaton automaton;
	int ret = regex_plan(term->text.text, &automaton, &err);

	fuzz_check_error(ret < 0, &err);
	for (size_t i = 0; ret == 0 && i < ARRAY_SIZE(texts); i++) {
		size_t len = strlen(texts[i]);

		FUZZ_CHECK(automaton_matches(&automaton, (const uint8_t *)texts[i], len) ==
			   pattern_matches(&term->text, texts[i], len));
	}
}

static void judge(const struct cond *cond)
{
	static const struct cond_value values[] = {
		[COND_INT] = { .type = COND_INT, .number = 42 },
		[COND_FLOAT] = { .type = COND_FLOAT, .real = 1.5 },
		[COND_STRING] = { .type = COND_STRING, .text = "text", .text_len = 4 },
	};

	for (size_t i = 0; i < cond->nr; i++) {
		const struct cond_term *term = &cond->terms[i];

		FUZZ_CHECK(term->subject == COND_RETVAL || term->index > 0);
		FUZZ_CHECK(term->type != COND_INT || (term->bytes > 0 && term->bytes <= 8));
		cond_term_holds(term, &values[term->type]);
		if (term->type == COND_STRING && term->op == COND_MATCH)
			compare(term);
	}
}

static void look_at(struct filters *filters)
{
	FUZZ_CHECK(filters_prepare(filters, NULL) == 0);
	for (size_t i = 0; i < filters->nr; i++) {
		FUZZ_CHECK(filters->entries[i].spec.text);
		judge(&filters->entries[i].spec.cond);
	}
	for (size_t i = 0; i < ARRAY_SIZE(subjects); i++) {
		struct trigger trigger;
		bool says = filters_match(filters, &subjects[i], &trigger);

		FUZZ_CHECK(says == (trigger.flags != 0));
		FUZZ_CHECK(!(trigger.flags & TRIGGER_CLEAR));
	}
}

static void parse_filters(enum spec_option option, enum pattern_match match, const char *text)
{
	struct filters filters cleanup_filters = { 0 };
	struct uft_err err = { 0 };
	int ret = filters_add(&filters, option, match, text, &err);

	fuzz_check_error(ret < 0, &err);
	if (ret == 0)
		look_at(&filters);
}

static void parse_others(const char *text)
{
	struct signal_switches signals;
	struct watch_spec watch = { 0 };
	struct event_rules events = { 0 };
	struct words words cleanup_words = { 0 };
	struct uft_err err = { 0 };

	fuzz_check_error(signal_switches_parse(text, &signals, &err) < 0, &err);
	err_clear(&err);
	fuzz_check_error(watch_spec_parse(text, &watch, &err) < 0, &err);
	watch_spec_deinit(&watch);
	err_clear(&err);
	fuzz_check_error(event_rules_parse(text, MATCH_REGEX, &events, &err) < 0, &err);
	event_rules_match(&events, EVENT_OF_KERNEL, text);
	event_rules_deinit(&events);
	err_clear(&err);
	fuzz_check_error(words_add(&words, text, &err) < 0, &err);
}

/*
 * The C library makes automata of gigabytes from nested repetitions. So the text is short here, and
 * has few of them. utrail does not refuse such expressions when a user types them.
 */
#define TEXT_MAX    256
#define REPEATS_MAX 4

static bool is_heavy(const char *text)
{
	size_t nr = 0;

	for (; *text; text++)
		nr += strchr("+*{", *text) != NULL;
	return nr > REPEATS_MAX;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (size < 1 || size > TEXT_MAX)
		return 0;

	char *text cleanup_free = strndup((const char *)data + 1, size - 1);

	FUZZ_CHECK(text);
	if (data[0] % 8 == 7)
		parse_others(text);
	else if (!is_heavy(text))
		parse_filters(data[0] % 8, data[0] / 8 % 3, text);
	return 0;
}
