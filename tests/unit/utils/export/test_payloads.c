/* Arguments of calls that are still open. */
#include <stdint.h>
#include <stdlib.h>

#include "tests/unit/lib/unit.h"

#include "utils/export/payloads.h"

static void put(struct payloads *payloads, size_t depth, const char *text)
{
	struct strbuf buf cleanup_strbuf = { 0 };

	strbuf_addstr(&buf, text);
	assert_int_equal(payloads_put(payloads, depth, &buf), 0);
}

static void expect(struct payloads *payloads, size_t depth, const char *text)
{
	char *got = payloads_take(payloads, depth);

	if (text)
		assert_string_equal(got, text);
	else
		assert_null(got);
	free(got);
}

TEST(the_innermost_first)
{
	struct payloads payloads = { 0 };

	put(&payloads, 0, "(1)");
	put(&payloads, 2, "(2)");
	expect(&payloads, 3, NULL);
	expect(&payloads, 2, "(2)");
	expect(&payloads, 1, NULL);
	expect(&payloads, 0, "(1)");
	expect(&payloads, 0, NULL);
	payloads_deinit(&payloads);
}

TEST(ends_that_were_not_seen)
{
	struct payloads payloads = { 0 };

	put(&payloads, 1, "(1)");
	put(&payloads, 5, "(5)");
	put(&payloads, 3, "(3)");
	expect(&payloads, 5, NULL);
	expect(&payloads, 1, "(1)");
	put(&payloads, 7, "(7)");
	payloads_deinit(&payloads);
}

TEST(any_number)
{
	struct payloads payloads = { 0 };

	for (size_t i = 0; i < 1000; i++)
		put(&payloads, i, "()");
	for (size_t i = 1000; i-- > 0;)
		expect(&payloads, i, "()");
	payloads_deinit(&payloads);
}
