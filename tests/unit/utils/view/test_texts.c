/* Texts in the languages that exporters write. */
#include "tests/unit/lib/unit.h"

#include "utils/view/texts.h"

static struct strbuf out;

static int teardown(void **state)
{
	strbuf_deinit(&out);
	return 0;
}

TEST_WITH(base64, NULL, teardown)
{
	static const char *const pairs[][2] = {
		{ "", "" },
		{ "f", "Zg==" },
		{ "fo", "Zm8=" },
		{ "foo", "Zm9v" },
		{ "foob", "Zm9vYg==" },
		{ "fooba", "Zm9vYmE=" },
		{ "\xff\xfe", "//4=" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(pairs); i++) {
		strbuf_reset(&out);
		text_put_base64(&out, pairs[i][0], strlen(pairs[i][0]));
		assert_string_equal(strbuf_str(&out), pairs[i][1]);
	}
}
