/* Which known words are offered for a misspelt one. */
#include "tests/unit/lib/unit.h"

#include "utils/base/nearest.h"

static void check(const char *typed, const char *expected)
{
	static const char *const words[] = { "total", "total-avg", "self", "call", "size", "cpu" };
	struct strbuf text cleanup_strbuf = { 0 };
	struct nearest near;

	nearest_init(&near, typed);
	for (size_t i = 0; i < ARRAY_SIZE(words); i++)
		nearest_offer(&near, words[i]);
	nearest_text(&near, "-", &text);
	assert_string_equal(strbuf_str(&text), expected);
}

static void misspelt(void **state)
{
	check("totl", "-total");
	check("toatl", "-total");
	check("sefl", "-self");
	check("avg", "-total-avg");
	check("cal", "-call");
}

static void nothing_offered(void **state)
{
	struct strbuf text cleanup_strbuf = { 0 };
	struct nearest near;
	char huge[1000];

	memset(huge, 'y', sizeof(huge) - 1);
	huge[sizeof(huge) - 1] = '\0';
	nearest_init(&near, "");
	nearest_text(&near, "-", &text);
	assert_string_equal(strbuf_str(&text), "");
	nearest_init(&near, huge);
	nearest_offer(&near, huge);
	nearest_offer(&near, "");
	nearest_text(&near, "", &text);
	assert_int_equal(text.len, strlen(huge));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(misspelt),
		cmocka_unit_test(nothing_offered),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
