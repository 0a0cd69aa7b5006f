/*
 * Captured values of a function's calls: by rules, by debug information, by tables; and the .dbg
 * file that describes them to readers.
 */
#include "tests/unit/lib/unit.h"

#include <errno.h>

#include "cmds/record/plan/values/captures.h"
#include "utils/format/probe/capture.h"
#include "utils/format/probe/plan.h"
#include "utils/spec/args/argrules.h"

/* --- debug information of the function at 0x100, simulated --- */

static struct dwarf_param params[] = {
	{ { .kind = DWARF_INT, .is_signed = true, .bytes = 4 }, 5 },
	{ { .kind = DWARF_INT, .bytes = 8 }, 4 },
};
static struct dwarf_inline inlined[] = {
	{ "_Z5innerv", "in.c", 12 },
	{ "other", NULL, 0 },
};
static struct dwarf_func func;
static struct dwarf_info info;
static bool has_info;

const struct dwarf_info *__wrap_debuginfo_of(struct debuginfo *debug, const char *path);
const struct dwarf_info *__wrap_debuginfo_of(struct debuginfo *debug, const char *path)
{
	return has_info ? &info : NULL;
}

const struct dwarf_func *__wrap_debuginfo_func(const struct dwarf_info *of,
					       const struct symbol *sym);
const struct dwarf_func *__wrap_debuginfo_func(const struct dwarf_info *of,
					       const struct symbol *sym)
{
	return of && sym->addr == func.addr ? &func : NULL;
}

static struct argrules rules;
static struct capture_settings settings;
static struct strbuf steps;

static int setup(void **state)
{
	static const char *enums[] = { "enum color {RED,BLUE}" };
	static const char *structs[] = { "struct point#1 {i0.4:x}" };

	settings = (struct capture_settings){ .rules = &rules, .elements = 8 };
	func = (struct dwarf_func){
		.addr = 0x100,
		.file = "a.c",
		.line = 7,
		.nr_params = 2,
		.params = params,
		.result = { .kind = DWARF_INT, .is_signed = true, .bytes = 4 },
		.inlined = inlined,
		.nr_inlined = 2,
	};
	info = (struct dwarf_info){
		.funcs = &func,
		.nr_funcs = 1,
		.enums = enums,
		.nr_enums = 1,
		.structs = structs,
		.nr_structs = 1,
	};
	has_info = true;
	return 0;
}

static int teardown(void **state)
{
	argrules_deinit(&rules);
	rules = (struct argrules){ 0 };
	strbuf_deinit(&steps);
	return 0;
}

static void add(const char *text, enum argrules_about about)
{
	const struct argrules_source source = { MATCH_GLOB, about, 8, false, false };

	assert_int_equal(argrules_parse(&rules, text, &source, NULL), 0);
}

/* Returns the captures of the function @name. If @debug, there is debug information about it. */
static const char *captured(char *name, char type, bool debug, bool has_llvm)
{
	static char text[4096];
	const struct symbol sym = { .addr = 0x100, .name = name, .type = type };
	const struct capture_subject subject = { name, &sym, "prog", debug ? &func : NULL,
						 has_llvm };
	const struct capture_step *list;
	size_t at = 0;
	uint32_t index = 0;

	strbuf_reset(&steps);
	index = captures_add(&settings, &subject, &steps);
	if (index == PLAN_NO_CAPTURE) {
		assert_int_equal(steps.len, 0);
		return "nothing";
	}
	assert_int_equal(index, 0);
	list = (const struct capture_step *)steps.data;
	at = sprintf(text, "%u,%u:", list[0].bytes, list[0].index);
	for (size_t i = 1; i < steps.len / sizeof(*list); i++)
		at += sprintf(text + at, " %u/%u@%u%s", list[i].op, list[i].bytes, list[i].index,
			      list[i].narrow == (4 | CAPTURE_SIGNED)		      ? "i"
			      : list[i].narrow == (4 | CAPTURE_SIGNED | CAPTURE_WIDE) ? "w"
			      : list[i].narrow					      ? "~"
										      : "");
	return text;
}

TEST_WITH(by_rules, setup, teardown)
{
	assert_string_equal(captured("f", 'T', false, false), "nothing");
	add("f@arg1,arg3/s", ARGRULES_ARGS);
	add("f@retval/i32", ARGRULES_RETVAL);
	assert_string_equal(captured("f", 'T', false, false), "2,1: 1/8@1 6/2@3 1/4@0~");
	assert_string_equal(captured("g", 'T', false, false), "nothing");
	/* A rule counts when the module's name begins with the name in the rule. */
	add("g@other,arg1", ARGRULES_ARGS);
	assert_string_equal(captured("g", 'T', false, false), "nothing");
	add("g@pro,arg1", ARGRULES_ARGS);
	assert_string_equal(captured("g", 'T', false, false), "1,0: 1/8@1");
	/* Arguments of the program's calls into libraries. */
	add("h@PLT,arg2", ARGRULES_ARGS);
	assert_string_equal(captured("h", 'T', false, false), "nothing");
	assert_string_equal(captured("h", 'P', false, false), "1,0: 1/8@2");
}

/* Rules without items use debug information; without it nothing is captured. */
TEST_WITH(by_debug_information, setup, teardown)
{
	add("f", ARGRULES_ARGS);
	assert_string_equal(captured("f", 'T', true, false), "2,0: 1/8@1w 1/8@2");
	assert_string_equal(captured("f", 'T', false, false), "nothing");
	add("g", ARGRULES_RETVAL);
	assert_string_equal(captured("g", 'T', true, false), "0,1: 1/8@0w");
	assert_string_equal(captured("h", 'T', true, false), "nothing");
	settings.is_auto = true;
	assert_string_equal(captured("h", 'T', true, false), "2,1: 1/8@1w 1/8@2 1/8@0w");
}

/* Tables know functions of libraries. */
TEST_WITH(by_tables, setup, teardown)
{
	settings.is_auto = true;
	assert_string_equal(captured("strlen", 'P', false, false), "1,1: 6/2@1 1/8@0");
	assert_string_equal(captured("no_such_function", 'P', false, false), "nothing");
	/* If there is debug information, it is used instead of the tables. */
	assert_string_equal(captured("strlen", 'T', true, false), "2,1: 1/8@1w 1/8@2 1/8@0w");
}

/* The user's /S does not name the library of a std::string: the module decides. */
TEST_WITH(strings_of_the_module, setup, teardown)
{
	char text[32];

	add("f@arg1/S", ARGRULES_ARGS);
	add("f@retval/S", ARGRULES_RETVAL);
	snprintf(text, sizeof(text), "1,1: %u/2@1 %u/2@0", CAPTURE_STD_STRING, CAPTURE_STD_STRING);
	assert_string_equal(captured("f", 'T', false, false), text);
	snprintf(text, sizeof(text), "1,1: %u/2@1 %u/2@0", CAPTURE_STD_STRING_LLVM,
		 CAPTURE_STD_STRING_LLVM);
	assert_string_equal(captured("f", 'T', false, true), text);
}

/* Debug information decides which C++ library has made a string: here it is libstdc++. */
TEST_WITH(strings_that_are_known, setup, teardown)
{
	struct dwarf_param string = { { .kind = DWARF_STD_STRING, .bytes = 32 }, 5 };
	char text[32];

	func.nr_params = 1;
	func.params = &string;
	add("f", ARGRULES_ARGS);
	snprintf(text, sizeof(text), "1,0: %u/2@1", CAPTURE_STD_STRING);
	assert_string_equal(captured("f", 'T', true, true), text);
}

/* All containers of a call share 800 bytes; each box has a multiple of 4 bytes. */
TEST_WITH(containers_share_the_room, setup, teardown)
{
	static const unsigned expected[] = { 0, 800, 400, 264, 200, 160 };
	static const int16_t regs[] = { 5, 4, 1, 2, 8 };
	struct dwarf_param vectors[5];

	for (size_t i = 0; i < ARRAY_SIZE(vectors); i++)
		vectors[i] = (struct dwarf_param){
			.type = {
				.kind = DWARF_STRUCT,
				.is_reference = true,
				.bytes = 24,
				.name = "vector",
				.shape = "r0.8.8;i0.8;",
			},
			.reg = regs[i],
		};
	settings.elements = 255;
	func.params = vectors;
	add("f", ARGRULES_ARGS);
	for (uint32_t nr = 1; nr < ARRAY_SIZE(expected); nr++) {
		const struct capture_step *list;
		unsigned nr_boxes = 0;

		func.nr_params = nr;
		captured("f", 'T', true, false);
		list = (const struct capture_step *)steps.data;
		for (size_t i = 1; i < steps.len / sizeof(*list); i++) {
			if (list[i].op != CAPTURE_BOX)
				continue;
			assert_int_equal(list[i].bytes, expected[nr]);
			nr_boxes++;
			/* The content of the box follows. */
			i += 1U + list[i + 1].bytes + list[i + 1].index;
		}
		assert_int_equal(nr_boxes, nr);
	}
	/* A box is not larger than its elements need. */
	settings.elements = 1;
	func.nr_params = 1;
	captured("f", 'T', true, false);
	assert_in_range(((const struct capture_step *)steps.data)[1].bytes, 8, 20);
}

TEST_WITH(whose_strings, setup, teardown)
{
	struct symbol syms[] = { { .name = "St3__1" },
				 { .name = "_ZNSt6vectorIiE4sizeEv" },
				 { .name = "plain" } };
	struct symtab symbols = { .syms = syms, .nr = 3 };

	assert_false(captures_llvm_strings(&symbols));
	syms[2].name = "_ZNSt3__16vectorIiE4sizeEv";
	assert_true(captures_llvm_strings(&symbols));
	symbols.nr = 2;
	assert_false(captures_llvm_strings(&symbols));
	symbols.nr = 0;
	assert_false(captures_llvm_strings(&symbols));
}

TEST_WITH(who_needs_debug_information, setup, teardown)
{
	assert_false(capture_is_wanted(&settings));
	assert_false(capture_needs_debug(&settings));
	settings.has_lines = true;
	assert_true(capture_needs_debug(&settings));
	assert_false(capture_is_wanted(&settings));
	settings.has_lines = false;
	settings.is_auto = true;
	assert_true(capture_needs_debug(&settings));
	assert_true(capture_is_wanted(&settings));
	settings.is_auto = false;
	add("f@arg1", ARGRULES_ARGS);
	assert_true(capture_is_wanted(&settings));
	assert_false(capture_needs_debug(&settings));
	add("g", ARGRULES_ARGS);
	assert_true(capture_needs_debug(&settings));
	settings.rules = NULL;
	assert_false(capture_is_wanted(&settings));
	assert_false(capture_needs_debug(&settings));
}

/* Rules of -T without an action about values capture nothing. */
TEST_WITH(triggers_without_values, setup, teardown)
{
	const struct argrules_source trigger = {
		.match = MATCH_SIMPLE,
		.about = ARGRULES_BOTH,
		.word_bytes = 8,
		.is_trigger = true,
	};

	assert_int_equal(argrules_parse(&rules, "f@trace;g@clear;h@libx", &trigger, NULL), 0);
	assert_int_equal(rules.nr, 3);
	assert_false(capture_is_wanted(&settings));
	assert_int_equal(argrules_parse(&rules, "f@trace,retval", &trigger, NULL), 0);
	assert_true(capture_is_wanted(&settings));
}

/* --- for readers --- */

static struct symbol all_syms[] = {
	{ .addr = 0x80, .name = "unknown", .type = 'T' },
	{ .addr = 0x100, .name = "_Z1fil", .type = 'T' },
};
static struct symtab all = { .syms = all_syms, .nr = 2 };

static void put(struct dbg *dbg, struct strbuf *text)
{
	const struct capture_module module = { "/a/prog", "abcd", "prog", &all };

	assert_int_equal(captures_put_dbg(&settings, &module, text), 0);
	assert_true(text->len > 0);
	assert_int_equal(dbg_decode(strbuf_str(text), text->len, dbg, NULL), 0);
}

TEST_WITH(lines_of_functions, setup, teardown)
{
	struct strbuf text cleanup_strbuf = { 0 };
	struct dbg dbg cleanup_dbg = { 0 };

	put(&dbg, &text);
	assert_string_equal(dbg.path, "/a/prog");
	assert_string_equal(dbg.build_id, "abcd");
	assert_int_equal(dbg.nr_funcs, 1);
	assert_int_equal(dbg.funcs[0].addr, 0x100);
	assert_string_equal(dbg.funcs[0].name, "f");
	assert_string_equal(dbg.funcs[0].file, "a.c");
	assert_int_equal(dbg.funcs[0].line, 7);
	assert_null(dbg.funcs[0].args);
	assert_null(dbg.funcs[0].retval);
	assert_null(dbg.funcs[0].structs);
	assert_int_equal(dbg.nr_inlined, 0);
	assert_int_equal(dbg.nr_enums, 1);
	/* Readers need no definition of values that are not captured. */
	assert_int_equal(dbg.nr_structs, 0);
}

TEST_WITH(inlined_calls, setup, teardown)
{
	struct strbuf text cleanup_strbuf = { 0 };
	struct dbg dbg cleanup_dbg = { 0 };

	settings.has_lines = true;
	put(&dbg, &text);
	assert_int_equal(dbg.nr_inlined, 2);
	assert_int_equal(dbg.funcs[0].nr_inlined, 2);
	assert_string_equal(dbg.inlined[0].name, "inner");
	assert_string_equal(dbg.inlined[0].file, "in.c");
	assert_int_equal(dbg.inlined[0].line, 12);
	assert_string_equal(dbg.inlined[1].name, "other");
	assert_null(dbg.inlined[1].file);
}

/* The file has the specifications that came from debug information, and no others. */
TEST_WITH(specifications, setup, teardown)
{
	struct strbuf text cleanup_strbuf = { 0 };
	struct dbg dbg cleanup_dbg = { 0 };

	settings.is_auto = true;
	put(&dbg, &text);
	assert_string_equal(dbg.funcs[0].args, "arg1/i%rdi,arg2/u%rsi");
	assert_string_equal(dbg.funcs[0].retval, "retval/i");
	assert_int_equal(dbg.nr_structs, 1);
	assert_string_equal(dbg.structs[0], "struct point#1 {i0.4:x}");
}

TEST_WITH(specifications_of_the_user, setup, teardown)
{
	struct strbuf text cleanup_strbuf = { 0 };
	struct dbg dbg cleanup_dbg = { 0 };

	add("f@arg2/x", ARGRULES_ARGS);
	add("f", ARGRULES_RETVAL);
	put(&dbg, &text);
	assert_null(dbg.funcs[0].args);
	assert_string_equal(dbg.funcs[0].retval, "retval/i");
}

/* Readers find structs by keys, which the captured values begin with. */
TEST_WITH(keys_of_structs, setup, teardown)
{
	struct dwarf_param with_struct[] = {
		{ { .kind = DWARF_INT, .is_signed = true, .bytes = 4 }, 5 },
		{ { .kind = DWARF_STRUCT,
		    .bytes = 8,
		    .classes = { DWARF_CLASS_INT },
		    .name = "point",
		    .fields = "point#1" },
		  4 },
	};
	struct strbuf text cleanup_strbuf = { 0 };
	struct dbg dbg cleanup_dbg = { 0 };

	func.params = with_struct;
	settings.is_auto = true;
	put(&dbg, &text);
	assert_string_equal(dbg.funcs[0].structs, ",point#1;");
}

TEST_WITH(modules_without_it, setup, teardown)
{
	const struct capture_module module = { "/a/prog", "", "prog", &all };
	struct strbuf text cleanup_strbuf = { 0 };
	struct dbg dbg cleanup_dbg = { 0 };

	/* Without a function there is no file. */
	func.addr = 0x200;
	assert_int_equal(captures_put_dbg(&settings, &module, &text), 0);
	assert_int_equal(text.len, 0);
	has_info = false;
	assert_int_equal(captures_put_dbg(&settings, &module, &text), -ENOMEM);
	/* The file of a module without a build id has none, either. */
	has_info = true;
	func.addr = 0x100;
	assert_int_equal(captures_put_dbg(&settings, &module, &text), 0);
	assert_int_equal(dbg_decode(strbuf_str(&text), text.len, &dbg, NULL), 0);
	assert_null(dbg.build_id);
}
