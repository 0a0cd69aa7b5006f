/* The sources of a function's argument specifications, and the order in which they are asked. */
#include "tests/unit/lib/unit.h"

#include <errno.h>

#include "utils/spec/args/argfind.h"

/*
 * A source of specifications.
 *
 * @args, @retval: the specifications that it has for the function; NULL: none
 * @told: the result of a question. @asked: the flags of the last question
 */
struct source {
	const char *args;
	const char *retval;
	int told;
	int asked;
};

struct sources {
	struct source debug;
	struct source table;
};

static int ask(struct source *source, int about, struct argfound *found)
{
	source->asked = about;
	if ((about & ARGRULES_ARGS) && source->args)
		argspecs_parse(source->args, strlen(source->args), 8, &found->args, NULL);
	if ((about & ARGRULES_RETVAL) && source->retval)
		argspecs_parse(source->retval, strlen(source->retval), 8, &found->retval, NULL);
	return source->told;
}

static int ask_debug(void *self, int about, struct argfound *found)
{
	return ask(&((struct sources *)self)->debug, about, found);
}

static int ask_table(void *self, int about, struct argfound *found)
{
	return ask(&((struct sources *)self)->table, about, found);
}

static int find(const char *rules_text, bool is_auto, struct sources *sources,
		struct argfound *found)
{
	struct argrules rules cleanup_argrules = { 0 };
	struct argrules_source language = { MATCH_REGEX, ARGRULES_BOTH, 8 };
	struct argfind how = { &rules, is_auto, ask_debug, ask_table, sources };
	struct argrules_subject subject = { .name = "f", .module = "m" };

	assert_int_equal(argrules_parse(&rules, rules_text, &language, NULL), 0);
	return argfind_function(&how, &subject, found);
}

TEST(what_was_said_counts)
{
	struct sources sources = { { "arg1/s", "retval/s", ARGRULES_BOTH } };
	struct argfound found cleanup_argfound = { 0 };

	assert_int_equal(find("f@arg1/x,arg2", true, &sources, &found), 0);
	assert_int_equal(sources.debug.asked, ARGRULES_RETVAL);
	assert_int_equal(found.args.nr, 2);
	assert_int_equal(found.args.specs[0].type.format, ARG_HEX);
	assert_int_equal(found.retval.nr, 1);
	assert_int_equal(found.from_debug, ARGRULES_RETVAL);
	assert_int_equal(sources.table.asked, 0);
}

TEST(table_is_asked_for_the_rest)
{
	struct sources sources = { { "arg1/s", NULL, ARGRULES_ARGS },
				   { "arg1", "retval/x", ARGRULES_BOTH } };
	struct argfound found cleanup_argfound = { 0 };

	assert_int_equal(find("g@arg1", true, &sources, &found), 0);
	assert_int_equal(sources.debug.asked, ARGRULES_BOTH);
	assert_int_equal(sources.table.asked, ARGRULES_RETVAL);
	assert_int_equal(found.args.specs[0].type.format, ARG_STRING);
	assert_int_equal(found.retval.specs[0].type.format, ARG_HEX);
	assert_int_equal(found.from_debug, ARGRULES_ARGS);
	assert_int_equal(found.from_table, ARGRULES_RETVAL);
}

/*
 * A source that decides that nothing is captured ends the search. An unreadable line of .dbg does
 * so.
 */
TEST(told_to_be_nothing)
{
	struct sources sources = { { NULL, NULL, ARGRULES_BOTH },
				   { "arg1", "retval", ARGRULES_BOTH } };
	struct argfound found cleanup_argfound = { 0 };

	assert_int_equal(find("f", false, &sources, &found), 0);
	assert_int_equal(sources.table.asked, 0);
	assert_int_equal(found.args.nr + found.retval.nr, 0);
}

TEST(nobody_is_asked_without_need)
{
	struct sources sources = { { "arg1", NULL, ARGRULES_ARGS } };
	struct argfound found cleanup_argfound = { 0 };

	assert_int_equal(find("g", false, &sources, &found), 0);
	assert_int_equal(sources.debug.asked + sources.table.asked, 0);
	assert_int_equal(found.args.nr, 0);
}

TEST(failure_is_handed_on)
{
	struct sources sources = { { NULL, NULL, -ENOMEM } };
	struct argfound found cleanup_argfound = { 0 };

	assert_int_equal(find("f", false, &sources, &found), -ENOMEM);
	assert_int_equal(sources.table.asked, 0);
}
