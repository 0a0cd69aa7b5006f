/* Filters and triggers, applied to the functions of a recording. */
#include "tests/unit/lib/unit.h"

#include <errno.h>

#include "tests/unit/lib/read/recording.h"
#include "utils/pipeline/stages/rules.h"

struct scene {
	struct recording rec;
	struct trace_data data;
	struct filters filters;
	struct func_rules rules;
};

static const char debug[] = "# path name: /x/prog\nF: 1000 a\nL: 7 /src/one.c\n"
			    "F: 1040 b\nL: 9 /src/two.c\n";

/*
 * @option, @specs: specs as users write them; @actions: the actions that count
 */
static void begin_with(struct scene *s, enum spec_option option, const char *specs,
		       uint32_t actions)
{
	*s = (struct scene){ 0 };
	recording_init(&s->rec);
	recording_add_task(&s->rec, 100, "a{}", 1000);
	recording_finish(&s->rec);
	recording_add_file(&s->rec, "prog.dbg", debug, strlen(debug));
	assert_int_equal(data_open(&s->data, s->rec.dir, DEMANGLE_SIMPLE, NULL), 0);
	if (specs)
		assert_int_equal(filters_add(&s->filters, option, MATCH_GLOB, specs, NULL), 0);
	assert_int_equal(filters_prepare(&s->filters, NULL), 0);
	assert_int_equal(func_rules_init(&s->rules, &s->data, &s->filters, actions, NULL), 0);
}

static void begin(struct scene *s, const char *specs)
{
	begin_with(s, SPEC_TRIGGER, specs, UINT32_MAX);
}

static void end(struct scene *s)
{
	func_rules_deinit(&s->rules);
	assert_null(s->rules.filters);
	filters_deinit(&s->filters);
	data_close(&s->data);
	recording_deinit(&s->rec);
}

static const struct func *func(struct scene *s, const char *name)
{
	uint64_t until_ns;
	struct addr_space *space = session_space(s->data.sessions[0], 0, 1000, &until_ns);

	return space_func(space, recording_addr(name), NULL);
}

TEST(without_filters_nothing_is_said)
{
	const struct trigger *trigger;
	struct scene s;

	begin(&s, NULL);
	assert_int_equal(s.rules.uses, 0);
	assert_null(s.rules.filters);
	trigger = func_rule(&s.rules, 0, func(&s, "a"));
	assert_int_equal(trigger->flags, 0);
	func_rules_deinit(&s.rules);
	assert_int_equal(func_rules_init(&s.rules, &s.data, NULL, 7, NULL), 0);
	assert_null(s.rules.filters);
	assert_ptr_equal(s.rules.data, &s.data);
	assert_int_equal(s.rules.actions, 7);
	assert_int_equal(func_rule(&s.rules, 3, func(&s, "a"))->flags, 0);
	end(&s);
}

TEST(what_is_said_is_looked_up_once_for_each_reader)
{
	const struct trigger *a;
	struct scene s;

	begin(&s, "a@depth=3;z@trace");
	a = func_rule(&s.rules, 0, func(&s, "a"));
	assert_int_equal(a->flags, TRIGGER_DEPTH);
	assert_int_equal(a->depth, 3);
	assert_ptr_equal(func_rule(&s.rules, 0, func(&s, "a")), a);
	assert_ptr_not_equal(func_rule(&s.rules, READERS_MAX - 1, func(&s, "a")), a);
	assert_int_equal(func_rule(&s.rules, READERS_MAX - 1, func(&s, "a"))->depth, 3);
	assert_int_equal(func_rule(&s.rules, 0, func(&s, "z"))->flags, TRIGGER_TRACE);
	assert_int_equal(func_rule(&s.rules, 0, func(&s, "b"))->flags, 0);
	assert_ptr_equal(func_rule(&s.rules, 0, func(&s, "b")),
			 func_rule(&s.rules, 1, func(&s, "c")));
	end(&s);
}

/*
 * A spec that matches no function of the recording does not count as used. Each spec notes whether
 * it has matched.
 */
TEST(what_is_used)
{
	struct scene s;

	begin(&s, "a@depth=3;nothing@trace");
	assert_int_equal(s.rules.uses, TRIGGER_DEPTH);
	assert_true(s.filters.entries[0].has_match);
	assert_false(s.filters.entries[1].has_match);
	end(&s);
	/* A filter counts as used even if it matches nothing: then nothing is kept. */
	begin_with(&s, SPEC_FILTER, "nothing", UINT32_MAX);
	assert_int_equal(s.rules.uses, TRIGGER_FILTER);
	end(&s);
	begin_with(&s, SPEC_FILTER, "nothing", ~(uint32_t)TRIGGER_FILTER);
	assert_int_equal(s.rules.uses, 0);
	end(&s);
}

/* In a growing recording, a spec without a match may match a function that is loaded later. */
TEST(what_may_be_used_later)
{
	struct scene s;

	begin(&s, "nothing@trace");
	func_rules_deinit(&s.rules);
	s.data.growth = (struct data_growth *)&s;
	assert_int_equal(func_rules_init(&s.rules, &s.data, &s.filters, UINT32_MAX, NULL), 0);
	assert_int_equal(s.rules.uses, TRIGGER_TRACE);
	s.data.growth = NULL;
	end(&s);
}

TEST(actions_that_do_not_count)
{
	struct scene s;

	begin_with(&s, SPEC_TRIGGER, "a@depth=3,trace", TRIGGER_TRACE);
	assert_int_equal(s.rules.uses, TRIGGER_TRACE);
	assert_int_equal(func_rule(&s.rules, 0, func(&s, "a"))->flags, TRIGGER_TRACE);
	end(&s);
}

TEST(functions_of_a_module)
{
	struct scene s;

	begin(&s, "A@prog,trace;b@prog,depth=1;c@other,trace");
	assert_int_equal(func_rule(&s.rules, 0, func(&s, "A"))->flags, TRIGGER_TRACE);
	assert_int_equal(func_rule(&s.rules, 0, func(&s, "b"))->flags, TRIGGER_DEPTH);
	assert_int_equal(func_rule(&s.rules, 0, func(&s, "c"))->flags, 0);
	end(&s);
}

/* Only library calls of the program itself: this needs the program's module. */
TEST(library_calls_of_the_program)
{
	struct scene s;

	for (unsigned i = 0; i < 3; i++) {
		static const char *const names[] = { NULL, "/y/prog", "/x/program" };

		begin(&s, NULL);
		free(s.data.info.exename);
		s.data.info.exename = names[i] ? strdup(names[i]) : NULL;
		func_rules_deinit(&s.rules);
		assert_int_equal(
			filters_add(&s.filters, SPEC_TRIGGER, MATCH_GLOB, "A@plt,trace", NULL), 0);
		assert_int_equal(filters_prepare(&s.filters, NULL), 0);
		assert_int_equal(func_rules_init(&s.rules, &s.data, &s.filters, UINT32_MAX, NULL),
				 0);
		assert_int_equal(func_rule(&s.rules, 0, func(&s, "A"))->flags,
				 i == 1 ? TRIGGER_TRACE : 0);
		end(&s);
	}
}

TEST(source_files)
{
	struct scene s;

	begin_with(&s, SPEC_LOCATION, "*one.c", UINT32_MAX);
	assert_true(s.rules.has_locations);
	assert_int_equal(s.rules.uses, TRIGGER_LOCATION);
	assert_int_equal(func_rule(&s.rules, 0, func(&s, "a"))->flags, TRIGGER_LOCATION);
	assert_int_equal(func_rule(&s.rules, 0, func(&s, "b"))->flags, 0);
	assert_int_equal(func_rule(&s.rules, 0, func(&s, "c"))->flags, 0);
	end(&s);
	begin(&s, "a@trace");
	assert_false(s.rules.has_locations);
	end(&s);
}

/* A function without a symbol has no name. */
TEST(functions_without_symbols)
{
	const struct func *unknown;
	struct scene s;

	begin(&s, "*@trace");
	unknown = module_set_add_unknown(&s.data.modules, 1, NULL);
	assert_int_equal(func_rule(&s.rules, 0, unknown)->flags, 0);
	assert_int_equal(func_rule(&s.rules, 0, func(&s, "a"))->flags, TRIGGER_TRACE);
	end(&s);
}

TEST(symbols_that_cannot_be_read)
{
	static const char bad[] = "# path name: /x/prog\nnonsense\n";
	struct uft_err err = { 0 };
	struct scene s;

	begin(&s, NULL);
	func_rules_deinit(&s.rules);
	data_close(&s.data);
	recording_add_file(&s.rec, "prog.sym", bad, strlen(bad));
	assert_int_equal(data_open(&s.data, s.rec.dir, DEMANGLE_SIMPLE, NULL), 0);
	assert_int_equal(filters_add(&s.filters, SPEC_TRIGGER, MATCH_GLOB, "a@trace", NULL), 0);
	assert_int_equal(filters_prepare(&s.filters, NULL), 0);
	assert_true(func_rules_init(&s.rules, &s.data, &s.filters, UINT32_MAX, &err) < 0);
	assert_non_null(strstr(err.text, "prog.sym"));
	end(&s);
}

/* Symbols of a program with two names for one function. */
static const char two_names[] = "# path name: /x/prog\n1000 40 T one\n1000 40 T two\n";

/* Each name of a function is matched, whichever of them is shown. */
TEST(other_names_of_a_function)
{
	static const struct {
		const char *specs;
		uint32_t uses;
		unsigned matches; /* one bit for each spec */
	} rows[] = {
		{ "one@depth=3;two@trace", TRIGGER_DEPTH | TRIGGER_TRACE, 3 },
		{ "two@trace;one@depth=3", TRIGGER_DEPTH | TRIGGER_TRACE, 3 },
		{ "one@depth=3;three@trace", TRIGGER_DEPTH, 1 },
		{ "three@depth=3;two@trace", TRIGGER_TRACE, 2 },
		{ "three@trace", 0, 0 },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct scene s = { 0 };
		unsigned matches = 0;

		recording_init(&s.rec);
		s.rec.symbols = two_names;
		recording_add_task(&s.rec, 100, "a{}", 1000);
		recording_finish(&s.rec);
		assert_int_equal(data_open(&s.data, s.rec.dir, DEMANGLE_SIMPLE, NULL), 0);
		assert_int_equal(
			filters_add(&s.filters, SPEC_TRIGGER, MATCH_GLOB, rows[i].specs, NULL), 0);
		assert_int_equal(filters_prepare(&s.filters, NULL), 0);
		assert_int_equal(func_rules_init(&s.rules, &s.data, &s.filters, UINT32_MAX, NULL),
				 0);
		for (size_t k = 0; k < s.filters.nr; k++)
			matches |= (unsigned)s.filters.entries[k].has_match << k;
		assert_int_equal(s.rules.uses, rows[i].uses);
		assert_int_equal(matches, rows[i].matches);
		assert_int_equal(func_rule(&s.rules, 0, func(&s, "a"))->flags, rows[i].uses);
		end(&s);
	}
}

/* The names of the kernel's functions are loaded only for a spec about them. */
TEST(functions_of_the_kernel)
{
	static const struct kernel_layout layout = { 4096, 8, false };
	static const char format[] = "ID: 11\n\tfield:unsigned long func;\toffset:8;\tsize:8;\n";
	static const char kallsyms[] = "8000000000001000 T a\n8000000000001040 T sys_b\n";
	static const struct {
		const char *specs;
		uint32_t uses;
		bool is_loaded;
	} rows[] = {
		{ "a@trace", TRIGGER_TRACE, false },
		{ "a@trace;sys_*@kernel,depth=3", TRIGGER_TRACE | TRIGGER_DEPTH, true },
		{ "nothing@kernel,depth=3", 0, true },
		{ "sys_b@trace", 0, false },
		{ "b@kernel,depth=3", 0, true },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct strbuf header cleanup_strbuf = { 0 };
		struct scene s = { 0 };

		recording_init(&s.rec);
		recording_add_task(&s.rec, 100, "a{}", 1000);
		recording_finish(&s.rec);
		kernel_header_put_layout(&header, &layout);
		kernel_header_put_file(&header, "events/ftrace/funcgraph_entry/format", format,
				       strlen(format));
		recording_add_file(&s.rec, "kernel_header", header.data, header.len);
		recording_add_file(&s.rec, "kallsyms", kallsyms, strlen(kallsyms));
		assert_int_equal(data_open(&s.data, s.rec.dir, DEMANGLE_SIMPLE, NULL), 0);
		assert_int_equal(kernel_formats_load(&s.data.kernel, s.rec.dir, NULL, NULL), 1);
		assert_true(kernel_formats_have_calls(&s.data.kernel));
		assert_int_equal(
			filters_add(&s.filters, SPEC_TRIGGER, MATCH_GLOB, rows[i].specs, NULL), 0);
		assert_int_equal(filters_prepare(&s.filters, NULL), 0);
		assert_int_equal(func_rules_init(&s.rules, &s.data, &s.filters, UINT32_MAX, NULL),
				 0);
		assert_non_null(s.data.modules.kernel);
		assert_int_equal(s.data.modules.kernel->is_loaded, rows[i].is_loaded);
		assert_int_equal(s.rules.uses, rows[i].uses);
		end(&s);
	}
}

/*
 * If a spec clears actions, functions are matched even after each spec has matched one. Otherwise
 * the first match of each spec is enough.
 */
TEST(specs_that_clear)
{
	struct scene s;

	begin(&s, "[ab]@trace;b@clear");
	assert_int_equal(func_rule(&s.rules, 0, func(&s, "a"))->flags, TRIGGER_TRACE);
	assert_int_equal(func_rule(&s.rules, 0, func(&s, "b"))->flags & TRIGGER_TRACE, 0);
	assert_int_equal(func_rule(&s.rules, 0, func(&s, "c"))->flags, 0);
	assert_true(s.filters.entries[0].has_match);
	assert_true(s.filters.entries[1].has_match);
	end(&s);
}
