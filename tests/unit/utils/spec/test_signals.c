/* Unit tests of utils/spec/signals.c and utils/spec/watch.c. */
#include "tests/unit/lib/unit.h"

#include <signal.h>

#include "utils/base/compiler.h"
#include "utils/spec/signals.h"

#define BIT(sig) (1ULL << ((sig)-1))

TEST(test_good)
{
	struct signal_switches s;

	assert_int_equal(signal_switches_parse("USR1@trace_on;SIGUSR2@trace_off;sigint@finish;"
					       "35@traceon;RTMIN+2@trace-off;RTMAX@finish;"
					       "SIGRTMAX-1@finish;",
					       &s, NULL),
			 0);
	assert_int_equal(s.on, BIT(SIGUSR1) | BIT(35));
	assert_int_equal(s.off, BIT(SIGUSR2) | BIT(SIGRTMIN + 2));
	assert_int_equal(s.finish, BIT(SIGINT) | BIT(SIGRTMAX) | BIT(SIGRTMAX - 1));
}

TEST(test_last_one_counts)
{
	struct signal_switches s;

	assert_int_equal(signal_switches_parse("USR1@trace_on;USR1@finish", &s, NULL), 0);
	assert_int_equal(s.on, 0);
	assert_int_equal(s.finish, BIT(SIGUSR1));
}

TEST(test_wrong)
{
	static const struct {
		const char *text;
		const char *says;
	} cases[] = {
		{ "USR1", "column 1: expected SIGNAL@ACTION" },
		{ "UST1@finish", "column 1: there is no signal 'UST1'; the nearest: USR1" },
		{ "USR1@finish;0@finish", "column 13: there is no signal '0'" },
		{ "65@finish", "there is no signal '65'" },
		{ "RTMIN-1@finish", "there is no signal" },
		{ "RTMIN+99@finish", "there is no signal" },
		{ "USR1@finsh", "column 6: there is no action 'finsh'; the nearest: finish" },
		{ "USR1@", "column 6: there is no action ''" },
		/* Actions of triggers that signals do not have */
		{ "USR1@trace", "there is no action 'trace'; the nearest: trace_on, " },
		{ "USR1@filter", "there is no action 'filter'" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct signal_switches s = { 1, 2, 3 };
		struct uft_err err = { 0 };

		assert_int_equal(signal_switches_parse(cases[i].text, &s, &err), -ERR_USAGE);
		if (!strstr(err.text, cases[i].says))
			fail_msg("'%s': %s", cases[i].text, err.text);
		assert_int_equal(s.on, 1);
	}
}
