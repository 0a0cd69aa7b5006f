#include "tests/unit/lib/unit.h"

/* The most tests of a program. They are in an array, since some tests replace malloc(). */
#define MOST 128

static struct CMUnitTest tests[MOST];
static size_t tests_nr;
static CMFixtureFunction group_setup, group_teardown;

void unit_add(struct CMUnitTest test)
{
	if (tests_nr == MOST)
		abort();
	tests[tests_nr++] = test;
}

void unit_group(CMFixtureFunction setup, CMFixtureFunction teardown)
{
	group_setup = setup;
	group_teardown = teardown;
}

int unit_run(void)
{
	return _cmocka_run_group_tests("tests", tests, tests_nr, group_setup, group_teardown);
}
