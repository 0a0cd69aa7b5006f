/* Colours in each mode, and the page around the text. */
#include "tests/unit/lib/unit.h"

#include "utils/base/color.h"

static void check(enum color_mode mode, const char *expected)
{
	struct strbuf out cleanup_strbuf = { 0 };

	color_page_begin(&out, mode);
	color_begin(&out, mode, COLOR_RED);
	strbuf_addstr(&out, "x");
	color_end(&out, mode);
	color_begin(&out, mode, COLOR_BOLD);
	color_end(&out, mode);
	color_page_end(&out, mode);
	assert_string_equal(strbuf_str(&out), expected);
}

TEST(modes)
{
	check(COLOR_MODE_OFF, "x");
	check(COLOR_MODE_TERM, "\033[91mx\033[0m\033[1m\033[0m");
	check(COLOR_MODE_HTML,
	      "<html>\n<head></head>\n<body style='background-color:black;color:white;'>\n<pre>\n"
	      "<span style='color:red'>x</span><span style='font-weight:bold'></span>"
	      "</pre>\n</body>\n</html>\n");
}
