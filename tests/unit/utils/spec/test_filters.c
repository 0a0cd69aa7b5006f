/* Unit tests of utils/spec/filters.c: the specs that apply to a function, and their order. */
#include "tests/unit/lib/unit.h"

#include "utils/base/compiler.h"
#include "utils/spec/filters.h"

static void add(struct filters *filters, enum spec_option option, const char *text)
{
	struct uft_err err = { 0 };

	if (filters_add(filters, option, MATCH_REGEX, text, &err) < 0)
		fail_msg("'%s': %s", text, err.text);
}

static uint32_t flags_of(struct filters *filters, const char *name)
{
	struct filter_subject subject = { .name = name, .name_len = strlen(name) };
	struct trigger trigger;

	filters_match(filters, &subject, &trigger);
	return trigger.flags;
}

TEST(test_last_one_counts)
{
	struct filters filters cleanup_filters = { 0 };

	add(&filters, SPEC_FILTER, "ns1::.*;!bar2$;bar2;;");
	assert_int_equal(filters.nr, 3);
	assert_int_equal(filters_prepare(&filters, NULL), 0);
	assert_int_equal(flags_of(&filters, "ns1::foo"), TRIGGER_FILTER);
	assert_int_equal(flags_of(&filters, "ns1::bar2"), TRIGGER_NOTRACE);
	assert_int_equal(flags_of(&filters, "bar2"), TRIGGER_FILTER);
	assert_int_equal(flags_of(&filters, "other"), 0);
}

TEST(test_notrace_is_a_negated_filter)
{
	struct strbuf list cleanup_strbuf = { 0 };

	specs_add_notrace(&list, "a;;b;");
	specs_add_notrace(&list, "");
	specs_add_notrace(&list, "f?arg1==\"x;y\";c");
	assert_string_equal(list.data, "!a;!b;!f?arg1==\"x;y\";!c");
}

TEST(test_exact_and_pattern_in_order)
{
	struct filters filters cleanup_filters = { 0 };
	struct filter_subject subject = { .name = "foo", .name_len = 3 };
	struct trigger trigger;

	add(&filters, SPEC_TRIGGER, "foo@depth=1;^f@depth=2,backtrace;foo@depth=3;^fo@time=5");
	assert_int_equal(filters_prepare(&filters, NULL), 0);
	assert_true(filters_match(&filters, &subject, &trigger));
	assert_int_equal(trigger.flags, TRIGGER_DEPTH | TRIGGER_BACKTRACE | TRIGGER_TIME);
	assert_int_equal(trigger.depth, 3);
	assert_int_equal(trigger.time_ns, 5);
}

TEST(test_clear)
{
	struct filters filters cleanup_filters = { 0 };

	add(&filters, SPEC_TRIGGER, "^f@depth=2,backtrace;foo@clear=depth");
	assert_int_equal(filters_prepare(&filters, NULL), 0);
	assert_int_equal(flags_of(&filters, "fox"), TRIGGER_DEPTH | TRIGGER_BACKTRACE);
	assert_int_equal(flags_of(&filters, "foo"), TRIGGER_BACKTRACE);
}

TEST(test_modules)
{
	static const struct {
		const char *spec;
		struct filter_subject subject;
		bool matches;
	} cases[] = {
		{ "f", { "f", 1, .module = "libabc.so" }, true },
		{ "f@libabc", { "f", 1, .module = "libabc_test.so" }, true },
		{ "f@libabc", { "f", 1, .module = "libxyz.so" }, false },
		{ "f@libabc", { "f", 1 }, false },
		{ "f@plt", { "f", 1, .is_plt = true, .is_program = true }, true },
		{ "f@plt", { "f", 1, .is_plt = true }, false },
		{ "f@plt", { "f", 1, .is_program = true }, false },
		{ "f@kernel", { "f", 1, .is_kernel = true }, true },
		{ "f@kernel", { "f", 1 }, false },
		{ "f", { "f", 1, .is_kernel = true }, false },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct filters filters cleanup_filters = { 0 };
		struct trigger trigger;

		add(&filters, SPEC_FILTER, cases[i].spec);
		assert_int_equal(filters_prepare(&filters, NULL), 0);
		if (filters_match(&filters, &cases[i].subject, &trigger) != cases[i].matches)
			fail_msg("%s", cases[i].spec);
		assert_int_equal(filters.entries[0].has_match, cases[i].matches);
	}
}

TEST(test_locations)
{
	static const struct {
		const char *spec;
		const char *file;
		bool matches;
	} cases[] = {
		{ "a.c", "a.c", true },
		{ "a.c", "/src/lib/a.c", true },
		{ "a.c", "/src/ba.c", false },
		{ "a.c", "/src/a_c", false },
		{ "lib", "src/lib/a.c", true },
		{ "lib", "src/library/a.c", false },
		{ "src/lib", "x/src/lib/a.c", true },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct filters filters cleanup_filters = { 0 };
		struct filter_subject subject = { "f", 1, .source_file = cases[i].file };
		struct trigger trigger;

		add(&filters, SPEC_LOCATION, cases[i].spec);
		assert_int_equal(filters_prepare(&filters, NULL), 0);
		if (filters_match(&filters, &subject, &trigger) != cases[i].matches)
			fail_msg("%s and %s", cases[i].spec, cases[i].file);
	}
}

/* A separator within a string does not separate. */
TEST(test_strings_hold_separators)
{
	struct filters filters cleanup_filters = { 0 };

	add(&filters, SPEC_FILTER, "f@if:arg1==\"a;b\";g");
	assert_int_equal(filters.nr, 2);
	assert_string_equal(filters.entries[0].spec.text, "f@if:arg1==\"a;b\"");
}

TEST(test_other_names)
{
	struct filters filters cleanup_filters = { 0 };
	const struct filter_subject subject = { .name = "m::f",
						.name_len = 4,
						.others = "m::f.part.0\0f\0" };
	const struct filter_subject no_others = { .name = "m::f", .name_len = 4, .others = "" };
	struct trigger trigger;

	add(&filters, SPEC_TRIGGER,
	    "f@depth=1;part.@depth=2;m::f@depth=3,color=red;m::@time=5;f@depth=4");
	assert_int_equal(filters_prepare(&filters, NULL), 0);
	assert_true(filters_match(&filters, &subject, &trigger));
	assert_int_equal(trigger.flags, TRIGGER_DEPTH | TRIGGER_COLOR | TRIGGER_TIME);
	assert_int_equal(trigger.depth, 4);
	for (size_t i = 0; i < filters.nr; i++)
		assert_true(filters.entries[i].has_match);
	assert_true(filters_match(&filters, &no_others, &trigger));
	assert_int_equal(trigger.depth, 3);
}

TEST(test_cleared_values_are_not_read)
{
	static const struct {
		const char *specs;
		uint32_t read;
	} cases[] = {
		{ "f@read=proc/statm;f@read=page-fault", READ_STATM | READ_PAGE_FAULT },
		{ "f@read=proc/statm;f@clear=read", 0 },
		{ "f@read=proc/statm;f@clear=read;f@read=page-fault", READ_PAGE_FAULT },
		{ "f@read=proc/statm;f@clear=read,read=page-fault", READ_PAGE_FAULT },
		{ "f@read=proc/statm;f@clear=depth;f@read=page-fault",
		  READ_STATM | READ_PAGE_FAULT },
	};
	const struct filter_subject subject = { .name = "f", .name_len = 1 };

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct filters filters cleanup_filters = { 0 };
		struct trigger trigger;

		add(&filters, SPEC_TRIGGER, cases[i].specs);
		assert_int_equal(filters_prepare(&filters, NULL), 0);
		filters_match(&filters, &subject, &trigger);
		if (trigger.read != cases[i].read)
			fail_msg("%s: %#x", cases[i].specs, trigger.read);
	}
}

/* Counters get bits in the order of their appearance. An option without read= gets none. */
TEST(test_counters)
{
	struct filters filters cleanup_filters = { 0 };
	const struct filter_subject subject = { .name = "f", .name_len = 1 };
	struct trigger trigger;
	struct uft_err err = { 0 };

	add(&filters, SPEC_FILTER, "f@read=cycles");
	add(&filters, SPEC_TRIGGER, "g@read=cs,read=r1;f@read=r2,read=cs,read=page-fault");
	assert_int_equal(filters_prepare(&filters, NULL), 0);
	assert_int_equal(filters.counters.nr, 3);
	assert_string_equal(filters.counters.list[1].name, "r1");
	assert_true(filters_match(&filters, &subject, &trigger));
	assert_int_equal(trigger.read, READ_COUNTER << 0 | READ_COUNTER << 2 | READ_PAGE_FAULT);
	add(&filters, SPEC_TRIGGER, "h@read=r3,read=r4,read=r5,read=r6,read=r7");
	assert_int_equal(filters_add(&filters, SPEC_TRIGGER, MATCH_REGEX, "i@read=r8", &err),
			 -ERR_USAGE);
	assert_string_equal(err.text,
			    "'i@read=r8': at most 8 counters are read by name in one recording");
}

TEST(test_thousand_names)
{
	struct filters filters cleanup_filters = { 0 };
	char name[32];

	for (unsigned i = 0; i < 1000; i++) {
		snprintf(name, sizeof(name), "func_%u", i);
		add(&filters, SPEC_FILTER, name);
	}
	assert_int_equal(filters_prepare(&filters, NULL), 0);
	assert_int_equal(filters.nr_patterns, 0);
	assert_int_equal(flags_of(&filters, "func_999"), TRIGGER_FILTER);
	assert_int_equal(flags_of(&filters, "func_1000"), 0);
}
