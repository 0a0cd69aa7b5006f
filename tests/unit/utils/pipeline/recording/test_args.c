/*
 * Sources of a function's argument types: rules of the user, debug information, and tables of the
 * recorder.
 */
#include "tests/unit/lib/unit.h"

#include "tests/unit/lib/read/recording.h"
#include "utils/pipeline/recording/data.h"

static struct recording rec;
static struct trace_data data;

/* The functions of the test, with 16 bytes each. */
enum {
	PLAIN,
	PAIRS,
	MKDIR,
	NEW_SIZED,
	DELETE_SIZED,
	SHAPES,
	PRINTF,
	ONE_KEY,
	RESULT_KEY,
	WRONG,
	NR_FUNCS,
};

static const char syms[] = "# path name: /x/prog\n"
			   "1000 10 T plain\n"
			   "1010 10 T pairs\n"
			   "1020 10 P mkdir\n"
			   "1030 10 P _Znwm\n"
			   "1040 10 P _ZdlPvm\n"
			   "1050 10 T shapes\n"
			   "1060 10 P printf\n"
			   "1070 10 T one_key\n"
			   "1080 10 T result_key\n"
			   "1090 10 T wrong\n";

static const char debug[] = "# path name: /x/prog\n"
			    "E: enum color {RED,GREEN=4}\n"
			    "# S: key_p 8 x@0/i4,y@4/i4\n"
			    "# S: q 8 z@0/i8\n"
			    "F: 1000 plain\n"
			    "A: @arg1/i32\n"
			    "F: 1010 pairs\n"
			    "A: @arg1/t8:p%rdi,arg2/i32,arg3/t8:q%rsi\n"
			    "R: @retval/t8:r\n"
			    "# T: key_p,,key_q;key_r\n"
			    "F: 1050 shapes\n"
			    "A: @arg1/i32,arg2/t8:q%rsi\n"
			    "R: @retval/i32\n"
			    "# T: key_a,key_b;key_c\n"
			    "F: 1070 one_key\n"
			    "A: @arg1/t8:p%rdi,arg2/t8:q%rsi\n"
			    "R: @retval/t8:r\n"
			    "# T: only\n"
			    "F: 1080 result_key\n"
			    "A: @arg1/t8:p%rdi,arg2/t8:q%rsi\n"
			    "R: @retval/t8:r\n"
			    "# T: ;res\n"
			    "F: 1090 wrong\n"
			    "A: @nonsense\n"
			    "R: @retval/i32\n";

static int setup(void **state)
{
	recording_init(&rec);
	recording_add_task(&rec, 100, "a{}", 1000);
	recording_finish(&rec);
	recording_add_file(&rec, "prog.sym", syms, strlen(syms));
	recording_add_file(&rec, "prog.dbg", debug, strlen(debug));
	assert_int_equal(data_open(&data, rec.dir, DEMANGLE_SIMPLE, NULL), 0);
	arg_book_close(&data.args);
	return 0;
}

static int teardown(void **state)
{
	data_close(&data);
	recording_deinit(&rec);
	return 0;
}

/* Open a recording as made with -a. Each rule may be NULL. */
static void open_book(const char *argspec, const char *argauto, const char *retauto)
{
	data.info.auto_args = true;
	data.info.argspec = argspec ? strdup(argspec) : NULL;
	data.info.argauto = argauto ? strdup(argauto) : NULL;
	data.info.retauto = retauto ? strdup(retauto) : NULL;
	assert_int_equal(arg_book_open(&data.args, &data, NULL), 0);
}

static const struct func *func_of(int nr)
{
	uint64_t until_ns;
	struct addr_space *space = session_space(data.sessions[0], 0, 1000, &until_ns);
	const struct func *func = space_func(space, 0x401000 + nr * 0x10, NULL);

	assert_non_null(func);
	return func;
}

static const struct func_args *args_of(int nr)
{
	return arg_book_find(&data.args, func_of(nr));
}

/* Definitions of structs are found by the place of the value: for arguments and for the result. */
TEST_WITH(structs, setup, teardown)
{
	const struct func_args *known;

	open_book(NULL, NULL, NULL);
	known = args_of(PAIRS);
	assert_non_null(known);
	assert_int_equal(known->args.nr, 3);
	assert_string_equal(known->args.specs[0].fields, "key_p");
	assert_null(known->args.specs[1].fields);
	assert_string_equal(known->args.specs[2].fields, "key_q");
	assert_int_equal(known->retval.nr, 1);
	assert_string_equal(known->retval.specs[0].fields, "key_r");
	assert_false(known->is_known);
	assert_int_equal(args_of(PLAIN)->args.nr, 1);
	assert_int_equal(args_of(PLAIN)->retval.nr, 0);
	/* A second call returns the same answer. */
	assert_ptr_equal(args_of(PAIRS), known);
	assert_null(args_of(MKDIR));
}

/*
 * The tables in a recording call file modes hexadecimal numbers. The reader shows the modes of
 * known functions in octal, and other values as the tables say.
 */
TEST_WITH(modes, setup, teardown)
{
	const struct func_args *known;

	open_book(NULL, "mkdir@arg1/s,arg2/x32", "mkdir@retval/x32");
	known = args_of(MKDIR);
	assert_non_null(known);
	assert_true(known->is_known);
	assert_int_equal(known->args.nr, 2);
	assert_int_equal(known->args.specs[0].type.format, ARG_STRING);
	assert_int_equal(known->args.specs[1].type.format, ARG_OCTAL);
	assert_int_equal(known->retval.specs[0].type.format, ARG_HEX);
}

/*
 * Tables count for all functions with the same shown name: the parameters of one "operator delete"
 * are used for the other one, too.
 */
TEST_WITH(names_that_are_shown_alike, setup, teardown)
{
	const struct func_args *known;

	open_book(NULL, "_Znwm@arg1/u;_ZdlPv@arg1/x", NULL);
	known = args_of(DELETE_SIZED);
	assert_non_null(known);
	assert_int_equal(known->args.nr, 1);
	assert_int_equal(known->args.specs[0].type.format, ARG_HEX);
	assert_int_equal(args_of(NEW_SIZED)->args.specs[0].type.format, ARG_UNSIGNED);
	assert_null(args_of(MKDIR));
}

/* A rule of the user goes before facts that the recorder has found out. */
TEST_WITH(rules_of_the_user, setup, teardown)
{
	open_book("plain@arg1/x64,arg2/s", NULL, NULL);
	assert_int_equal(args_of(PLAIN)->args.nr, 2);
	assert_int_equal(args_of(PLAIN)->args.specs[0].type.format, ARG_HEX);
	assert_int_equal(args_of(PAIRS)->args.nr, 3);
}

/* Names in rules are patterns of the kind that the recorder was given. */
TEST_WITH(patterns_of_the_user, setup, teardown)
{
	static const struct {
		const char *type;
		const char *spec;
		bool matches;
	} cases[] = {
		{ NULL, "pl.in@arg1/x64", true },      { NULL, "pl?in@arg1/x64", false },
		{ "regex", "pl.in@arg1/x64", true },   { "regex", "pl?in@arg1/x64", false },
		{ "glob", "pl?in@arg1/x64", true },    { "glob", "pl.in@arg1/x64", false },
		{ "simple", "plain@arg1/x64", true },  { "simple", "pl.in@arg1/x64", false },
		{ "simple", "pl?in@arg1/x64", false },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		if (i) {
			teardown(state);
			setup(state);
		}
		data.info.pattern_type = cases[i].type ? strdup(cases[i].type) : NULL;
		open_book(cases[i].spec, NULL, NULL);
		/* By debug information this is a signed number, so ARG_HEX comes from the rule. */
		assert_int_equal(args_of(PLAIN)->args.specs[0].type.format == ARG_HEX,
				 cases[i].matches);
	}
}

/* Keys count only for structs. There may be fewer keys than values. */
TEST_WITH(keys_of_structs, setup, teardown)
{
	const struct func_args *known;

	open_book(NULL, NULL, NULL);
	known = args_of(SHAPES);
	assert_null(known->args.specs[0].fields);
	assert_string_equal(known->args.specs[1].fields, "key_b");
	assert_null(known->retval.specs[0].fields);
	known = args_of(ONE_KEY);
	assert_string_equal(known->args.specs[0].fields, "only");
	assert_null(known->args.specs[1].fields);
	assert_null(known->retval.specs[0].fields);
	known = args_of(RESULT_KEY);
	assert_null(known->args.specs[0].fields);
	assert_null(known->args.specs[1].fields);
	assert_string_equal(known->retval.specs[0].fields, "res");
	/* An invalid specification counts as none. */
	known = args_of(WRONG);
	assert_int_equal(known->args.nr, 0);
	assert_int_equal(known->retval.nr, 1);
	assert_null(arg_book_find(&data.args, func_of(NR_FUNCS)));
}

/* A row of the tables may be without a name, or without values. */
TEST_WITH(rows_of_tables, setup, teardown)
{
	static const struct {
		const char *args;
		const char *retval;
		int func;
		int nr_args;
		int arg;
		int nr_retval;
		bool is_known;
	} cases[] = {
		{ "printf;@arg1/u;;printf@arg1/s;mkdir", NULL, PRINTF, 1, ARG_STRING, 0, true },
		{ "mkdir@arg1/s;printf@arg1/u", NULL, PRINTF, 1, ARG_UNSIGNED, 0, true },
		{ "@arg1/u;mkdir@arg1/s", "printf@retval/u", PRINTF, 0, 0, 1, false },
		{ "printf@arg1/x32,arg2/u", "printf@retval/u", PRINTF, 2, ARG_HEX, 1, true },
		{ "printf@nonsense", "printf@retval/u", PRINTF, 0, 0, 1, false },
		{ "printf@nonsense", "printf@nonsense", PRINTF, -1, 0, 0, false },
		{ "printf", "printf", PRINTF, -1, 0, 0, false },
		{ NULL, NULL, PRINTF, -1, 0, 0, false },
		{ "_ZdlPv@arg1/x;_ZdlPvSt11align_val_t@arg1/u", NULL, DELETE_SIZED, 1, ARG_HEX, 0,
		  true },
		{ "_ZdlPv@arg1/x;_ZdlPvm@arg1/u", NULL, DELETE_SIZED, 1, ARG_UNSIGNED, 0, true },
		{ "printf@arg1/s", "_ZdlPv@retval/u", DELETE_SIZED, 0, 0, 1, false },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		const struct func_args *known;

		if (i) {
			teardown(state);
			setup(state);
		}
		open_book(NULL, cases[i].args, cases[i].retval);
		known = args_of(cases[i].func);
		assert_int_equal(known != NULL, cases[i].nr_args >= 0);
		if (!known)
			continue;
		assert_int_equal(known->args.nr, cases[i].nr_args);
		if (known->args.nr)
			assert_int_equal(known->args.specs[0].type.format, cases[i].arg);
		assert_int_equal(known->retval.nr, cases[i].nr_retval);
		assert_int_equal(known->is_known, cases[i].is_known);
	}
}

/*
 * If our own table shows a number in octal, and the recording shows it in hexadecimal, it is
 * changed to octal. All other formats are those of the recording.
 */
TEST_WITH(modes_and_other_numbers, setup, teardown)
{
	static const struct {
		const char *args;
		int nr;
		int formats[3];
	} cases[] = {
		{ "mkdir@arg1/s", 1, { ARG_STRING } },
		{ "mkdir@arg1/s,arg2/u32", 2, { ARG_STRING, ARG_UNSIGNED } },
		{ "mkdir@arg1/x64,arg2/x32", 2, { ARG_HEX, ARG_OCTAL } },
		{ "mkdir@arg1/s,arg2/x32,arg3/x32", 3, { ARG_STRING, ARG_OCTAL, ARG_HEX } },
		{ "mkdir@arg1/s,arg2/o32", 2, { ARG_STRING, ARG_OCTAL } },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		if (i) {
			teardown(state);
			setup(state);
		}
		open_book(NULL, cases[i].args, NULL);
		assert_int_equal(args_of(MKDIR)->args.nr, cases[i].nr);
		for (int k = 0; k < cases[i].nr; k++)
			assert_int_equal(args_of(MKDIR)->args.specs[k].type.format,
					 cases[i].formats[k]);
	}
}

/* A wrong rule is skipped. A rule for arguments leaves the result to the debug information. */
TEST_WITH(some_rules_of_the_user, setup, teardown)
{
	const struct func_args *known;

	data.info.retspec = strdup("plain@retval/x64");
	open_book("plain@arg1/nonsense;plain@arg2/x64;pairs@arg1/x64", NULL, NULL);
	known = args_of(PLAIN);
	assert_int_equal(known->args.nr, 1);
	assert_int_equal(known->args.specs[0].index, 2);
	assert_int_equal(known->retval.nr, 1);
	assert_int_equal(known->retval.specs[0].type.format, ARG_HEX);
	known = args_of(PAIRS);
	assert_int_equal(known->args.nr, 1);
	assert_int_equal(known->args.specs[0].type.format, ARG_HEX);
	assert_string_equal(known->retval.specs[0].fields, "key_r");
}

/* Without -a, functions without a rule have no values. */
TEST_WITH(only_rules, setup, teardown)
{
	open_book("plain@arg1/x", "mkdir@arg1/s", NULL);
	arg_book_close(&data.args);
	data.info.auto_args = false;
	assert_int_equal(arg_book_open(&data.args, &data, NULL), 0);
	assert_int_equal(args_of(PLAIN)->args.specs[0].type.size, 8);
	assert_null(args_of(PAIRS));
	assert_null(args_of(MKDIR));
	/* A program of 32 bits has smaller words. */
	arg_book_close(&data.args);
	data.header.elf_class = HEADER_CLASS_32;
	assert_int_equal(arg_book_open(&data.args, &data, NULL), 0);
	assert_int_equal(args_of(PLAIN)->args.specs[0].type.size, 4);
}

TEST_WITH(definitions_of_enums, setup, teardown)
{
	const struct func nowhere = { .name = "nowhere" };

	data.info.enumauto = strdup("enum table { A, B }; enum color { C }");
	open_book(NULL, NULL, NULL);
	args_of(PLAIN);
	assert_int_equal(arg_book_enum(&data.args, func_of(PLAIN), "table")->nr, 2);
	assert_string_equal(arg_book_enum(&data.args, func_of(PLAIN), "color")->values[0].name,
			    "GREEN");
	assert_string_equal(arg_book_enum(&data.args, &nowhere, "color")->values[0].name, "C");
	assert_null(arg_book_enum(&data.args, func_of(PLAIN), "none"));
}

/* A definition is used only if it has the size of the value. */
TEST_WITH(definitions_of_structs, setup, teardown)
{
	static const struct {
		const char *fields;
		const char *name;
		uint16_t bytes;
		const char *found;
	} cases[] = {
		{ "key_p", NULL, 8, "key_p" }, { "key_p", "q", 8, "key_p" },
		{ NULL, "q", 8, "q" },	       { NULL, "q", 4, NULL },
		{ "key_p", NULL, 9, NULL },    { "none", "q", 8, NULL },
		{ NULL, NULL, 8, NULL },       { NULL, "none", 8, NULL },
	};
	const struct func nowhere = { .name = "nowhere" };

	open_book(NULL, NULL, NULL);
	args_of(PLAIN);
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		const struct argspec spec = { .type = { ARG_STRUCT, cases[i].bytes },
					      .fields = (char *)cases[i].fields,
					      .name = (char *)cases[i].name };
		const struct struct_def *def = arg_book_struct(func_of(PLAIN), &spec);

		assert_int_equal(def != NULL, cases[i].found != NULL);
		if (def)
			assert_string_equal(def->key, cases[i].found);
		assert_null(arg_book_struct(&nowhere, &spec));
	}
}

/* A payload has all arguments, or one result. A payload that is cut has no length. */
TEST(lengths_of_payloads)
{
	static const char args[] = "arg1/i32,arg2/s,arg3/i64";
	static const char retval[] = "arg1/i32,arg2/i32";
	static const uint8_t little[] = "\1\0\0\0\3\0abc\0\0\0\1\0\0\0\0\0\0";
	static const uint8_t big[] = "\0\0\0\1\0\3abc\0\0\0\0\0\0\0\0\0\0";
	struct func_args known = { 0 };
	const struct func_args none = { 0 };

	assert_int_equal(argspecs_parse(args, strlen(args), 8, &known.args, NULL), 0);
	assert_int_equal(argspecs_parse(retval, strlen(retval), 8, &known.retval, NULL), 0);
	assert_int_equal(sizeof(little), 20);
	assert_int_equal(func_args_length(&known, false, little, 20, false), 20);
	assert_int_equal(func_args_length(&known, false, big, 20, true), 20);
	assert_int_equal(func_args_length(&known, false, little, 19, false), 0);
	assert_int_equal(func_args_length(&known, false, little, 3, false), 0);
	assert_int_equal(func_args_length(&known, true, little, 20, false), 4);
	assert_int_equal(func_args_length(&known, true, little, 4, false), 4);
	assert_int_equal(func_args_length(&known, true, little, 3, false), 0);
	assert_int_equal(func_args_length(&none, false, little, 20, false), 0);
	assert_int_equal(func_args_length(&none, true, little, 20, false), 0);
	argspecs_deinit(&known.args);
	argspecs_deinit(&known.retval);
}
