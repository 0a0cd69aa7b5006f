/* Conditions put together from terms: alternatives of all that must hold. */
#include "tests/unit/lib/unit.h"

#include "utils/trace/argcond.h"

static void alternatives(void **state)
{
	/* 0 and 1, or 2, or 3 and 4 */
	struct cond_term terms[5] = {
		[2].starts_alternative = true, [3].starts_alternative = true
	};
	const struct cond cond = { .terms = terms, .nr = 5 };
	const struct cond none = { 0 };

	for (uint64_t bits = 0; bits < 32; bits++) {
		bool holds = (bits & 3) == 3 || (bits & 4) || (bits & 24) == 24;

		assert_int_equal(argcond_holds(&cond, bits), holds);
	}
	assert_true(argcond_holds(&none, 0));
}

/* Terms that have no bit do not hold. */
static void too_many_terms(void **state)
{
	static struct cond_term terms[ARGCOND_TERMS_MAX + 1];
	struct cond cond = { .terms = terms, .nr = ARGCOND_TERMS_MAX };

	assert_true(argcond_holds(&cond, UINT64_MAX));
	assert_false(argcond_holds(&cond, UINT64_MAX >> 1));
	cond.nr++;
	assert_false(argcond_holds(&cond, UINT64_MAX));
	terms[ARGCOND_TERMS_MAX].starts_alternative = true;
	assert_true(argcond_holds(&cond, UINT64_MAX));
	assert_false(argcond_holds(&cond, 1));
	terms[ARGCOND_TERMS_MAX].starts_alternative = false;
}

static void return_values(void **state)
{
	struct cond_term terms[2] = { { .subject = COND_ARG }, { .subject = COND_FPARG } };
	const struct cond cond = { .terms = terms, .nr = 2 };

	assert_false(argcond_needs_retval(&cond));
	terms[1].subject = COND_RETVAL;
	assert_true(argcond_needs_retval(&cond));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(alternatives),
		cmocka_unit_test(too_many_terms),
		cmocka_unit_test(return_values),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
