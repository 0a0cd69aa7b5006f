/* Unit tests of utils/spec/trigger.c: the grammar of filters and triggers, good and bad. */
#include "tests/unit/lib/unit.h"

#include "utils/base/compiler.h"
#include "utils/spec/trigger.h"

static struct spec parse_good(enum spec_option option, const char *text)
{
	struct uft_err err = { 0 };
	struct spec spec;

	if (spec_parse(option, MATCH_REGEX, text, strlen(text), &spec, &err) < 0)
		fail_msg("'%s': %s", text, err.text);
	return spec;
}

/* Each action, with the options that accept it. */
TEST(test_flags)
{
	static const struct {
		enum spec_option option;
		const char *text;
		uint32_t flags;
	} cases[] = {
		{ SPEC_FILTER, "f", TRIGGER_FILTER },
		{ SPEC_FILTER, "!f", TRIGGER_NOTRACE },
		{ SPEC_FILTER, "f@notrace", TRIGGER_FILTER },
		{ SPEC_FILTER, "!f@filter", TRIGGER_NOTRACE },
		{ SPEC_FILTER, "f@depth=1", TRIGGER_FILTER | TRIGGER_DEPTH },
		{ SPEC_FILTER, "f@time=1us", TRIGGER_FILTER | TRIGGER_TIME },
		{ SPEC_FILTER, "f@size=10", TRIGGER_FILTER | TRIGGER_SIZE },
		{ SPEC_FILTER, "f@caller", TRIGGER_FILTER | TRIGGER_CALLER },
		{ SPEC_FILTER, "f@hide", TRIGGER_FILTER | TRIGGER_HIDE },
		{ SPEC_FILTER, "f@if:arg1==1", TRIGGER_FILTER | TRIGGER_IF },
		{ SPEC_FILTER, "f@clear", TRIGGER_CLEAR },
		{ SPEC_FILTER, "f@backtrace", TRIGGER_FILTER },
		{ SPEC_FILTER, "f@trace_on", TRIGGER_FILTER },
		{ SPEC_CALLER, "f", TRIGGER_CALLER },
		{ SPEC_CALLER, "f@depth=1", TRIGGER_CALLER },
		{ SPEC_HIDE, "f", TRIGGER_HIDE },
		{ SPEC_LOCATION, "a.c", TRIGGER_LOCATION },
		{ SPEC_LOCATION, "!a.c", TRIGGER_LOCATION_OUT },
		{ SPEC_LOCATION, "a.c@hide", TRIGGER_LOCATION_OUT },
		{ SPEC_ARGUMENT, "f@arg1,fparg2/32", TRIGGER_ARG },
		{ SPEC_ARGUMENT, "f", TRIGGER_AUTO_ARGS },
		{ SPEC_RETVAL, "f@retval/s", TRIGGER_RETVAL },
		{ SPEC_RETVAL, "f", TRIGGER_AUTO_ARGS },
		{ SPEC_TRIGGER, "f", 0 },
		{ SPEC_TRIGGER, "f@filter", TRIGGER_FILTER },
		{ SPEC_TRIGGER, "f@notrace", TRIGGER_NOTRACE },
		{ SPEC_TRIGGER, "f@filter,notrace", TRIGGER_NOTRACE },
		{ SPEC_TRIGGER, "f@depth=0", TRIGGER_DEPTH },
		{ SPEC_TRIGGER, "f@caller", TRIGGER_CALLER },
		{ SPEC_TRIGGER, "f@hide", TRIGGER_HIDE },
		{ SPEC_TRIGGER, "f@trace", TRIGGER_TRACE },
		{ SPEC_TRIGGER, "f@trace_on", TRIGGER_TRACE_ON },
		{ SPEC_TRIGGER, "f@trace-on", TRIGGER_TRACE_ON },
		{ SPEC_TRIGGER, "f@traceon", TRIGGER_TRACE_ON },
		{ SPEC_TRIGGER, "f@trace_off", TRIGGER_TRACE_OFF },
		{ SPEC_TRIGGER, "f@trace-off", TRIGGER_TRACE_OFF },
		{ SPEC_TRIGGER, "f@traceoff", TRIGGER_TRACE_OFF },
		{ SPEC_TRIGGER, "f@trace_on,trace_off", TRIGGER_TRACE_OFF },
		{ SPEC_TRIGGER, "f@finish", TRIGGER_FINISH },
		{ SPEC_TRIGGER, "f@callsite", TRIGGER_CALLSITE },
		{ SPEC_TRIGGER, "f@recover", TRIGGER_RECOVER },
		{ SPEC_TRIGGER, "f@backtrace", TRIGGER_BACKTRACE },
		{ SPEC_TRIGGER, "f@auto-args", TRIGGER_AUTO_ARGS },
		{ SPEC_TRIGGER, "f@arg1,retval", TRIGGER_ARG | TRIGGER_RETVAL },
		{ SPEC_TRIGGER, "f@read=proc/statm", TRIGGER_READ },
		{ SPEC_TRIGGER, "f@color=red", TRIGGER_COLOR },
		{ SPEC_TRIGGER, "f@BackTrace,COLOR=Red", TRIGGER_BACKTRACE | TRIGGER_COLOR },
		{ SPEC_TRIGGER, "f@libfoo,backtrace", TRIGGER_BACKTRACE },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct spec spec = parse_good(cases[i].option, cases[i].text);

		if (spec.trigger.flags != cases[i].flags)
			fail_msg("'%s': %x", cases[i].text, spec.trigger.flags);
		assert_string_equal(spec.text, cases[i].text);
		spec_deinit(&spec);
	}
}

TEST(test_values)
{
	struct spec spec = parse_good(SPEC_TRIGGER, "^f@depth=7,time=1.5ms,size=2k,color=cyan,"
						    "read=page-fault,read=pmu-cycle");

	assert_int_equal(spec.trigger.depth, 7);
	assert_int_equal(spec.trigger.time_ns, 1500000);
	assert_int_equal(spec.trigger.size, 2048);
	assert_int_equal(spec.trigger.color, COLOR_CYAN);
	assert_int_equal(spec.trigger.read, READ_PAGE_FAULT | READ_PMU_CYCLE);
	assert_string_equal(spec.pattern.text, "^f");
	assert_int_equal(spec.pattern.match, MATCH_REGEX);
	spec_deinit(&spec);
}

TEST(test_colors_and_reads)
{
	static const char *const texts[] = {
		"f@color=red",	    "f@color=green",	 "f@color=blue", "f@color=yellow",
		"f@color=magenta",  "f@color=bold",	 "f@color=gray", "f@read=proc/statm",
		"f@read=pmu-cache", "f@read=pmu-branch",
	};

	for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
		struct spec spec = parse_good(SPEC_TRIGGER, texts[i]);

		spec_deinit(&spec);
	}
}

/*
 * A counter gets the name that recordings use. A second mention of the same counter changes
 * nothing.
 */
TEST(test_counters)
{
	struct spec spec = parse_good(SPEC_TRIGGER,
				      "f@read=cs,read=Context-Switches,read=instructions,"
				      "read=R01A8,read=page-fault");

	assert_int_equal(spec.trigger.flags, TRIGGER_READ);
	assert_int_equal(spec.trigger.read, READ_PAGE_FAULT);
	assert_int_equal(spec.counters.nr, 3);
	assert_string_equal(spec.counters.list[0].name, "context-switches");
	assert_string_equal(spec.counters.list[1].name, "instructions");
	assert_string_equal(spec.counters.list[2].name, "r1a8");
	assert_int_equal(spec.counters.list[2].config, 0x1a8);
	spec_deinit(&spec);
}

TEST(test_modules)
{
	static const struct {
		const char *text;
		enum spec_module kind;
		const char *module;
	} cases[] = {
		{ "f", MODULE_ANY, NULL },
		{ "f@libfoo", MODULE_NAMED, "libfoo" },
		{ "f@libfoo.so.1", MODULE_NAMED, "libfoo.so.1" },
		{ "f@argon", MODULE_NAMED, "argon" },
		{ "f@tracer", MODULE_NAMED, "tracer" },
		{ "f@PLT", MODULE_PLT, NULL },
		{ "f@plt", MODULE_PLT, NULL },
		{ "f@kernel", MODULE_KERNEL, NULL },
		{ "f@k", MODULE_KERNEL, NULL },
		{ "f@depth=1,libfoo", MODULE_NAMED, "libfoo" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct spec spec = parse_good(SPEC_FILTER, cases[i].text);

		assert_int_equal(spec.module_kind, cases[i].kind);
		if (cases[i].module)
			assert_string_equal(spec.module, cases[i].module);
		else
			assert_null(spec.module);
		spec_deinit(&spec);
	}
}

/* Items about arguments are kept as text: utils/spec/args/argspec.c reads them. */
TEST(test_args)
{
	struct spec spec = parse_good(SPEC_TRIGGER, "f@arg1/s,depth=2,fparg1/32%xmm1,retval/i32");

	assert_string_equal(spec.args, "arg1/s,fparg1/32%xmm1,retval/i32");
	spec_deinit(&spec);
	spec = parse_good(SPEC_TRIGGER, "f@if:arg1==\"a,b\" && arg2>1,backtrace");
	assert_int_equal(spec.cond.nr, 2);
	assert_int_equal(spec.trigger.flags, TRIGGER_IF | TRIGGER_BACKTRACE);
	spec_deinit(&spec);
}

TEST(test_clear)
{
	struct spec spec = parse_good(SPEC_TRIGGER, "f@clear=depth+time+if");

	assert_int_equal(spec.cleared, TRIGGER_DEPTH | TRIGGER_TIME | TRIGGER_IF);
	spec_deinit(&spec);
	spec = parse_good(SPEC_FILTER, "f@clear");
	assert_int_equal(spec.cleared, TRIGGER_FILTER | TRIGGER_NOTRACE);
	spec_deinit(&spec);
	/* -A and -R clear only actions that record values. */
	spec = parse_good(SPEC_ARGUMENT, "f@clear");
	assert_int_equal(spec.cleared, TRIGGER_ARG | TRIGGER_RETVAL | TRIGGER_AUTO_ARGS);
	assert_null(spec.ignored);
	spec_deinit(&spec);
	spec = parse_good(SPEC_RETVAL, "f@clear=retval+depth");
	assert_int_equal(spec.cleared, TRIGGER_RETVAL);
	spec_deinit(&spec);
}

TEST(test_ignored)
{
	struct spec spec = parse_good(SPEC_FILTER, "f@depth=1,backtrace,finish");

	assert_string_equal(spec.ignored, "backtrace");
	spec_deinit(&spec);
	spec = parse_good(SPEC_CALLER, "f@arg1");
	assert_string_equal(spec.ignored, "arg");
	spec_deinit(&spec);
	/* The options clear none of these actions. */
	spec = parse_good(SPEC_ARGUMENT, "f@clear=depth");
	assert_string_equal(spec.ignored, "clear");
	assert_int_equal(spec.cleared, 0);
	spec_deinit(&spec);
	spec = parse_good(SPEC_FILTER, "f@clear=depth+time");
	assert_string_equal(spec.ignored, "clear");
	assert_int_equal(spec.cleared, 0);
	spec_deinit(&spec);
	spec = parse_good(SPEC_FILTER, "f@clear=depth+filter");
	assert_null(spec.ignored);
	assert_int_equal(spec.cleared, TRIGGER_FILTER);
	spec_deinit(&spec);
	spec = parse_good(SPEC_HIDE, "f@clear");
	assert_string_equal(spec.ignored, "clear");
	assert_int_equal(spec.trigger.flags, TRIGGER_HIDE);
	assert_int_equal(spec.cleared, 0);
	spec_deinit(&spec);
	spec = parse_good(SPEC_LOCATION, "a.c@clear=depth");
	assert_string_equal(spec.ignored, "clear");
	assert_int_equal(spec.trigger.flags, TRIGGER_LOCATION);
	assert_int_equal(spec.cleared, 0);
	spec_deinit(&spec);
}

TEST(test_wrong)
{
	static const struct {
		enum spec_option option;
		const char *text;
		unsigned column;
		const char *says;
	} cases[] = {
		{ SPEC_FILTER, "@depth=1", 1, "the name of a function" },
		{ SPEC_FILTER, "!", 2, "the name of a function" },
		{ SPEC_FILTER, "f[", 1, "not a regular expression" },
		{ SPEC_FILTER, "f@", 3, "an action or a module" },
		{ SPEC_FILTER, "f@,depth=1", 3, "an action or a module" },
		{ SPEC_FILTER, "f@depth=1,", 11, "an action or a module" },
		{ SPEC_FILTER, "f@depth=", 9, "a depth of 0 to 1024" },
		{ SPEC_FILTER, "f@depth=1025", 9, "a depth of 0 to 1024" },
		{ SPEC_FILTER, "f@depth=-1", 9, "a depth of 0 to 1024" },
		{ SPEC_FILTER, "f@depth=2x", 9, "a depth of 0 to 1024" },
		{ SPEC_FILTER, "f@depth", 3, "needs a value" },
		{ SPEC_FILTER, "f@time", 3, "needs a value" },
		{ SPEC_FILTER, "f@time=abc", 8, "" },
		{ SPEC_FILTER, "f@size=x", 8, "" },
		{ SPEC_FILTER, "f@a,b", 5, "only one module" },
		{ SPEC_TRIGGER, "f@dpeth=1", 3, "did you mean depth" },
		{ SPEC_TRIGGER, "f@color=rde", 9, "did you mean red" },
		{ SPEC_TRIGGER, "f@read=page-falut", 8, "did you mean page-fault" },
		{ SPEC_TRIGGER, "f@read=contxt-switches", 8, "did you mean context-switches" },
		{ SPEC_TRIGGER, "f@read=r", 8, "there is no event 'r'" },
		{ SPEC_TRIGGER, "f@read=r1g8", 8, "there is no event 'r1g8'" },
		{ SPEC_TRIGGER, "f@read=r12345678901234567", 8, "there is no event" },
		{ SPEC_TRIGGER,
		  "f@read=r1,read=r2,read=r3,read=r4,read=r5,read=r6,read=r7,read=r8,read=r1,read="
		  "r9",
		  80, "at most 8 counters" },
		{ SPEC_TRIGGER, "f@backtrace=1", 12, "takes no value" },
		{ SPEC_TRIGGER, "f@if:arg1", 10, "an operator" },
		{ SPEC_TRIGGER, "f@if:arg1==1&&arg2", 19, "an operator" },
		{ SPEC_TRIGGER, "f@depth=1,if:foo==1", 14, "argN" },
		{ SPEC_TRIGGER, "f@clear=dept", 9, "did you mean depth" },
		{ SPEC_TRIGGER, "f@clear=time+colour", 14, "did you mean color" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		const char *text = cases[i].text;
		struct uft_err err = { 0 };
		struct spec spec;
		char column[32];

		if (spec_parse(cases[i].option, MATCH_REGEX, text, strlen(text), &spec, &err) !=
		    -ERR_USAGE)
			fail_msg("'%s' is taken", text);
		snprintf(column, sizeof(column), ": column %u: ", cases[i].column);
		if (!strstr(err.text, column) || !strstr(err.text, cases[i].says))
			fail_msg("'%s': %s", text, err.text);
		assert_null(spec.text);
	}
}

/* Each word of the table is accepted without a value, or the error says that it needs one. */
TEST(test_words)
{
	for (const struct action *action = actions; action->word; action++) {
		struct uft_err err = { 0 };
		struct spec spec;
		char text[64];
		int ret;

		snprintf(text, sizeof(text), "f@%s", action->word);
		ret = spec_parse(SPEC_TRIGGER, MATCH_REGEX, text, strlen(text), &spec, &err);
		if (action_needs_value(action)) {
			assert_int_equal(ret, -ERR_USAGE);
			assert_non_null(strstr(err.text, "needs a value"));
			continue;
		}
		assert_int_equal(ret, 0);
		assert_int_equal(spec.module_kind, MODULE_ANY);
		assert_int_equal(spec.trigger.flags, action->flag);
		spec_deinit(&spec);
	}
}
