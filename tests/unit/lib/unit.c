#include "tests/unit/lib/unit.h"

/*
 * The most tests that a program may have. They are in an array, since some tests replace malloc().
 */
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

uint64_t unit_random(uint64_t *state)
{
	uint64_t z = (*state += 0x9e3779b97f4a7c15);

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
	z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
	return z ^ (z >> 31);
}
