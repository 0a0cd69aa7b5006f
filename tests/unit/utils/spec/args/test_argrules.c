/*
 * Rules about arguments: the functions that they apply to, several rules together, and rules that
 * are refused.
 */
#include "tests/unit/lib/unit.h"

#include <errno.h>

#include "utils/base/compiler.h"
#include "utils/spec/args/actions.h"
#include "utils/spec/args/argrules.h"
#include "utils/spec/args/autoargs_table.h"
#include "utils/spec/args/enumdef.h"

struct question {
	const char *rules;
	const char *name;
	const char *module;
	bool is_plt;
	const char *args; /* the resulting items; "" for nothing */
	int is_auto;
};

static const struct argrules_source for_args = {
	.match = MATCH_REGEX,
	.about = ARGRULES_ARGS,
	.word_bytes = 8,
};

static void put_list(const struct argspecs *list, struct strbuf *out)
{
	for (size_t i = 0; i < list->nr; i++) {
		if (out->len)
			strbuf_addch(out, ',');
		argspec_put(&list->specs[i], 8, out);
	}
}

static void ask(const struct argrules_source *source, const struct question *q)
{
	struct argrules rules cleanup_argrules = { 0 };
	struct argspecs args cleanup_argspecs = { 0 };
	struct argspecs retval cleanup_argspecs = { 0 };
	struct strbuf out cleanup_strbuf = { 0 };
	struct argrules_subject subject = { q->name, q->module ? q->module : "prog", q->is_plt };

	assert_int_equal(argrules_parse(&rules, q->rules, source, NULL), 0);
	assert_int_equal(argrules_collect(&rules, &subject, &args, &retval), q->is_auto);
	put_list(&args, &out);
	put_list(&retval, &out);
	assert_string_equal(strbuf_str(&out), q->args);
}

TEST(collected)
{
	static const struct question questions[] = {
		{ "f@arg1", "f", .args = "arg1" },
		{ "f@arg1", "ff", .args = "" },
		{ "^f@arg1", "ff", .args = "arg1" },
		{ "f@arg2,arg1;g@arg3;f@arg3/x", "f", .args = "arg2,arg1,arg3/x" },
		{ "f@arg1;f@arg1/x8", "f", .args = "arg1/x8" },
		/* A pattern does not change a rule for the exact name, whichever comes first. */
		{ "int_mul@arg2/x;^int_@arg1,arg2", "int_mul", .args = "arg2/x,arg1" },
		{ "^int_@arg2;int_mul@arg2/x", "int_mul", .args = "arg2/x" },
		{ "f@libq,arg1", "f", .module = "libq.so.1", .args = "arg1" },
		{ "f@libq,arg1", "f", .module = "libr.so.1", .args = "" },
		/* Names of modules that begin like actions */
		{ "f@tracer.so,arg1", "f", .module = "tracer.so.1", .args = "arg1" },
		{ "f@tracer.so,arg1", "f", .module = "prog", .args = "" },
		{ "f@timed,arg1", "f", .module = "prog", .args = "" },
		{ "f@filters.so,arg1", "f", .module = "prog", .args = "" },
		{ "f@Trace_On,COLOR=red,time=2us,arg1", "f", .args = "arg1" },
		{ "puts@plt,arg1/s", "puts", .is_plt = true, .args = "arg1/s" },
		{ "puts@PLT,arg1/s", "puts", .args = "" },
		{ "f", "f", .args = "", .is_auto = ARGRULES_ARGS },
		{ "f@libq", "f", .module = "libq", .args = "", .is_auto = ARGRULES_ARGS },
		/* -A ignores items about results. */
		{ "f@arg1,retval/x", "f", .args = "arg1" },
		/* Other actions belong to other options. */
		{ "f@arg1,depth=1,filter", "f", .args = "arg1" },
		{ "operator new@arg1", "operator new", .args = "arg1" },
		/* Separators within a string belong to it. */
		{ "f@if:arg1==\"a,arg3\",arg2/s;g@arg4", "f", .args = "arg2/s" },
		{ "f@if:arg1==\"a;f@arg3;\",arg2/s", "f", .args = "arg2/s" },
		{ "f@if:arg1==\"\\\",arg3\",arg2/s", "f", .args = "arg2/s" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(questions); i++)
		ask(&for_args, &questions[i]);
}

TEST(of_triggers)
{
	static const struct argrules_source for_triggers = {
		.match = MATCH_REGEX,
		.about = ARGRULES_BOTH,
		.word_bytes = 8,
		.is_trigger = true,
	};
	static const struct question questions[] = {
		{ "f@depth=2", "f", .args = "" },
		{ "f@arg1,retval/x", "f", .args = "arg1,retval/x" },
		{ "f@auto-args,depth=2", "f", .args = "", .is_auto = ARGRULES_BOTH },
	};

	for (size_t i = 0; i < ARRAY_SIZE(questions); i++)
		ask(&for_triggers, &questions[i]);
}

/* No action is taken for the name of a module. */
TEST(actions_are_no_modules)
{
	for (const struct action *action = actions; action->word; action++) {
		char rules[64];
		const struct question question = { rules, "f", .args = "arg1" };

		if (action->flag == TRIGGER_CLEAR)
			continue;
		snprintf(rules, sizeof(rules), "f@%s%s,arg1", action->word,
			 action_needs_value(action) ? "=1" : "");
		ask(&for_args, &question);
	}
}

/* `clear` removes earlier rules for the functions that it names. */
TEST(cleared)
{
	static const struct argrules_source source = {
		.match = MATCH_REGEX,
		.about = ARGRULES_BOTH,
		.word_bytes = 8,
		.is_trigger = true,
	};
	static const struct question questions[] = {
		{ "f@arg1,retval;f@clear=arg", "f", NULL, false, "retval", 0 },
		{ "f@arg1,retval;f@clear=fparg+retval", "f", NULL, false, "", 0 },
		{ "f@arg1,retval;f@clear=time", "f", NULL, false, "arg1,retval", 0 },
		{ "f@arg1,retval;^f@CLEAR", "f", NULL, false, "", 0 },
		{ "f@arg1,retval;g@clear", "f", NULL, false, "arg1,retval", 0 },
		{ "f@arg1;f@clear=arg;f@arg2", "f", NULL, false, "arg2", 0 },
		{ "f@auto-args;f@clear=arg", "f", NULL, false, "", ARGRULES_RETVAL },
	};

	for (size_t i = 0; i < ARRAY_SIZE(questions); i++)
		ask(&source, &questions[i]);
}

TEST(globs)
{
	struct argrules_source source = for_args;
	static const struct question question = { "f?o*@arg1", "foobar", .args = "arg1" };

	source.match = MATCH_GLOB;
	ask(&source, &question);
}

TEST(refused)
{
	static const char *const bad[] = { "f@arg1,arg",  "f@argx",  "f@arg1/q",
					   "f@lib1,lib2", "f(@arg1", "f@retvalx" };

	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		struct argrules rules cleanup_argrules = { 0 };
		struct argrules_source lenient = for_args;
		struct uft_err err = { 0 };

		assert_true(argrules_parse(&rules, bad[i], &for_args, &err) < 0);
		assert_non_null(strstr(err.text, bad[i]));
		/* In a recording such a rule is left out. */
		lenient.is_lenient = true;
		assert_int_equal(argrules_parse(&rules, bad[i], &lenient, NULL), 0);
		assert_int_equal(rules.nr, 0);
	}
}

/* The built-in table is sorted, and each of its rows can be read. */
TEST(table)
{
	struct enum_defs defs cleanup_enum_defs = { 0 };
	struct strbuf enums cleanup_strbuf = { 0 };

	autoargs_put_enums(&enums);
	assert_int_equal(enum_defs_parse(&defs, enums.data, enums.len, NULL), 0);
	assert_int_equal(defs.nr, autoargs_enums_nr);
	for (size_t i = 0; i < autoargs_table_nr; i++) {
		const struct autoargs *row = &autoargs_table[i];
		struct argspecs list cleanup_argspecs = { 0 };

		assert_true(i == 0 || strcmp(row[-1].name, row->name) < 0);
		assert_ptr_equal(autoargs_find(row->name), row);
		assert_true(row->args || row->retval);
		if (row->args)
			assert_int_equal(
				argspecs_parse(row->args, strlen(row->args), 8, &list, NULL), 0);
		if (row->retval)
			assert_int_equal(
				argspecs_parse(row->retval, strlen(row->retval), 8, &list, NULL),
				0);
		for (size_t k = 0; k < list.nr; k++) {
			const struct argspec *spec = &list.specs[k];

			assert_true(spec->type.format != ARG_ENUM ||
				    enum_defs_find(&defs, spec->name));
		}
	}
	assert_null(autoargs_find("no_such_function"));
}

/* uftrace 0.13 does not know the octal format, and refuses recordings with unknown formats. */
TEST(written_without_octal)
{
	struct strbuf out cleanup_strbuf = { 0 };

	autoargs_put_args(&out);
	autoargs_put_retvals(&out);
	assert_null(strstr(strbuf_str(&out), "/o"));
	assert_non_null(strstr(strbuf_str(&out), ";chmod@arg1/s,arg2/x32;"));
	assert_non_null(strstr(strbuf_str(&out), ";umask@retval/x32;"));
	assert_string_equal(autoargs_find("chmod")->args, "arg1/s,arg2/o32");
}

TEST(variadic_ones)
{
	static const struct {
		const char *name;
		uint64_t values[4];
		size_t count;
	} calls[] = {
		{ "open", { 0, 0x0 }, 2 },
		{ "open", { 0, 0x80002 }, 2 },
		{ "open", { 0, 0x42 }, 3 },
		{ "open64", { 0, 0x410002 }, 3 },
		{ "open", { 0, 0x10000 }, 2 },
		{ "openat", { 0, 0, 0x40 }, 4 },
		{ "openat64", { 0x40, 0x40, 0 }, 3 },
		{ "sem_open", { 0, 0 }, 2 },
		{ "mq_open", { 0, 0x40 }, 4 },
		{ "fcntl", { 0, 1 }, 2 },
		{ "fcntl64", { 0, 4 }, 3 },
		{ "ioctl", { 0, 0x5401 }, 3 },
		{ "ioctl", { 0, 0xffffffff00005451 }, 2 },
		{ "prctl", { 3 }, 1 },
		{ "prctl", { 15 }, 2 },
		{ "prctl", { 22 }, 5 },
		{ "mremap", { 0, 0, 0, 1 }, 4 },
		{ "mremap", { 0, 0, 0, 3 }, 5 },
		{ "semctl", { 0, 0, 12 }, 3 },
		{ "semctl", { 0, 0, 16 }, 4 },
		{ "close", { 0 }, SIZE_MAX },
	};

	for (size_t i = 0; i < ARRAY_SIZE(calls); i++)
		assert_int_equal(autoargs_count(calls[i].name, calls[i].values, 4), calls[i].count);
	/* The value is missing, so it changes nothing. */
	assert_int_equal(autoargs_count("open", calls[0].values, 1), SIZE_MAX);
}
