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
};

static const char syms[] = "# path name: /x/prog\n"
			   "1000 10 T plain\n"
			   "1010 10 T pairs\n"
			   "1020 10 P mkdir\n"
			   "1030 10 P _Znwm\n"
			   "1040 10 P _ZdlPvm\n";

static const char debug[] = "# path name: /x/prog\n"
			    "F: 1000 plain\n"
			    "A: @arg1/i32\n"
			    "F: 1010 pairs\n"
			    "A: @arg1/t8:p%rdi,arg2/i32,arg3/t8:q%rsi\n"
			    "R: @retval/t8:r\n"
			    "# T: key_p,,key_q;key_r\n";

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

static const struct func_args *args_of(int nr)
{
	uint64_t until_ns;
	struct addr_space *space = session_space(data.sessions[0], 0, 1000, &until_ns);
	const struct func *func = space_func(space, 0x401000 + nr * 0x10, NULL);

	assert_non_null(func);
	return arg_book_find(&data.args, func);
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
 * The tables in a recording do not state which modes are octal. Other arguments are shown as
 * recorded.
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
