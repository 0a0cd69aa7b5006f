/* Colours in each mode, and the page around the text. */
#include "tests/unit/lib/unit.h"

#include "utils/base/sink.h"

static void check(enum color_mode mode, const char *expected)
{
	struct strbuf out cleanup_strbuf = { 0 };
	struct sink sink cleanup_sink = { 0 };

	assert_int_equal(sink_init_text(&sink, &out), 0);
	sink_page_begin(&sink, mode);
	sink_color_begin(&sink, mode, COLOR_RED);
	sink_lit(&sink, "x");
	sink_color_end(&sink, mode);
	sink_color_begin(&sink, mode, COLOR_BOLD);
	sink_color_end(&sink, mode);
	sink_page_end(&sink, mode);
	assert_int_equal(sink_flush(&sink), 0);
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
