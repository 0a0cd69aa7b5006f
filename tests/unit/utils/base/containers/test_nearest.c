/* The known words that are offered for a misspelt one. */
#include "tests/unit/lib/unit.h"

#include "utils/base/containers/nearest.h"
#include "utils/base/unknown.h"

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

TEST(misspelt)
{
	check("totl", "-total");
	check("toatl", "-total");
	check("sefl", "-self");
	check("avg", "-total-avg");
	check("cal", "-call");
}

TEST(nothing_offered)
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

/*
 * Returns the distance that nearest.c should find. This is the algorithm of textbooks, with a table
 * of the distances between all prefixes of both words.
 */
static unsigned distance_of(const char *a, const char *b)
{
	size_t la = strlen(a);
	size_t lb = strlen(b);
	unsigned d[64][64];

	for (size_t i = 0; i <= la; i++) {
		for (size_t j = 0; j <= lb; j++) {
			if (i == 0 || j == 0) {
				d[i][j] = i + j;
				continue;
			}
			d[i][j] = MIN(MIN(d[i - 1][j], d[i][j - 1]) + 1,
				      d[i - 1][j - 1] + (a[i - 1] != b[j - 1]));
			if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
				d[i][j] = MIN(d[i][j], d[i - 2][j - 2] + 1);
		}
	}
	return d[la][lb];
}

static void make_word(char *word, size_t max, unsigned *seed)
{
	size_t len = rand_r(seed) % max;

	for (size_t i = 0; i < len; i++)
		word[i] = 'a' + rand_r(seed) % 3;
	word[len] = '\0';
}

/* The words use few letters, so that they have much in common. */
TEST(distances)
{
	unsigned seed = 1;

	for (int i = 0; i < 20000; i++) {
		struct nearest near;
		char typed[64];
		char word[64];
		unsigned expected;

		make_word(typed, i % 2 ? 8 : 64, &seed);
		make_word(word, i % 2 ? 8 : 64, &seed);
		expected = distance_of(typed, word);
		/* A word that contains the typed one counts as nearly right. */
		if (*typed && strstr(word, typed))
			expected = MIN(expected, 1U);
		nearest_init(&near, typed);
		nearest_offer(&near, word);
		if (near.best[0].distance != expected)
			fail_msg("'%s' '%s': %u, expected %u", typed, word, near.best[0].distance,
				 expected);
	}
}

TEST(unknown_words)
{
	static const char *const cases[][2] = {
		{ "totl,self", "unknown field 'totl': expected some of total, self, or more; the "
			       "nearest: total" },
		{ "zzzz", "unknown field 'zzzz': expected some of total, self, or more" },
		{ "", "unknown field '': expected some of total, self, or more" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct unknown unknown cleanup_unknown = { 0 };
		struct uft_err err = { 0 };

		unknown_init(&unknown, cases[i][0], strcspn(cases[i][0], ","));
		unknown_offer(&unknown, "total");
		unknown_offer(&unknown, "self");
		assert_int_equal(
			unknown_set(&unknown, &err, -ERR_USAGE, "field", "some of", ", or more"),
			-ERR_USAGE);
		assert_string_equal(err.text, cases[i][1]);
		err_clear(&err);
	}
}
