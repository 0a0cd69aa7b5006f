/* Files whose return addresses are replaced, or are not: by names, by options, by their frames. */
#include "tests/unit/lib/unit.h"

#include "cmds/record/plan/callers.h"
#include "utils/base/compiler.h"
#include "utils/object/code/own_frames.h"

TEST(words_of_a_list)
{
	static const struct {
		const char *names;
		bool has_jit;
	} rows[] = {
		{ NULL, false },       { "", false },	    { "jit", true },
		{ "ji", false },       { "jits", false },   { "jix", false },
		{ "a,jit", true },     { "a,jit,b", true }, { "jit,b", true },
		{ "a,jits,b", false }, { ",jit", true },    { "jit,", true },
		{ "a,b,c", false },    { "a,ji,t", false }, { "jits,jit", true },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		assert_int_equal(callers_have_word(rows[i].names, "jit"), rows[i].has_jit);
}

TEST(names_of_files)
{
	static const struct {
		const char *names;
		const char *path;
		bool is_program;
		bool is_named;
	} rows[] = {
		{ NULL, "/lib/libx.so", false, false },
		{ "", "/lib/libx.so", false, false },
		{ ",", "/lib/libx.so", true, false },
		{ ".", "/bin/prog", true, true },
		{ ".", "/lib/libx.so", false, false },
		{ ".", "/lib/.so", false, false },
		{ ".s", "/lib/.so", false, true },
		{ "l", "/lib/libx.so", false, true },
		{ "libx", "/lib/libx.so", false, true },
		{ "libx", "/lib/libx.so", true, true },
		{ "libx.so", "/lib/libx.so", false, true },
		{ "libx.so.1", "/lib/libx.so", false, false },
		{ "lib", "/lib/prog", false, false },
		{ "liba,libx", "/lib/libx.so", false, true },
		{ "liba,libb", "/lib/libx.so", false, false },
		{ "liba,.", "/bin/prog", true, true },
		{ "libx,liba", "/lib/libx.so", false, true },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		assert_int_equal(callers_are_named(rows[i].names, rows[i].path, rows[i].is_program),
				 rows[i].is_named);
}

static const struct control_module place = { .start = 0x1000, .end = 0x3000, .load_bias = 0x900 };

/*
 * Choose the code in which return addresses stay in place. The file has two ranges of code whose
 * run time finds its frames by return addresses. Returns the number of the chosen ranges.
 */
static size_t bind(const struct record_settings *settings, struct strbuf *out, const char **why)
{
	static const struct own_frames frames[] = {
		{ .start = 0x10, .end = 0x20, .why = "the first" },
		{ .start = 0x30, .end = 0x40, .is_everywhere = true, .why = "the second" },
	};
	struct known_module known = {
		.path = "/lib/libx.so",
		.has_own_frames_known = true,
		.own_frames = { .data = (char *)frames, .len = sizeof(frames) },
	};

	strbuf_reset(out);
	callers_bind(settings, &known, &place, false, out);
	*why = known.callers_why;
	return out->len / sizeof(struct plan_callers);
}

static void check_piece(const struct strbuf *pieces, size_t i, uint64_t start, uint64_t end)
{
	const struct plan_callers *list = (const struct plan_callers *)pieces->data;

	assert_int_equal(list[i].start, start);
	assert_int_equal(list[i].end, end);
}

TEST(pieces_of_a_file)
{
	struct record_settings settings = { 0 };
	struct strbuf out cleanup_strbuf = { 0 };
	const char *why;

	assert_int_equal(bind(&settings, &out, &why), 2);
	check_piece(&out, 0, 0x910, 0x920);
	check_piece(&out, 1, 0, UINT64_MAX);
	assert_string_equal(why, "the second");

	settings.keep_returns = "liba,libx";
	assert_int_equal(bind(&settings, &out, &why), 1);
	check_piece(&out, 0, 0x1000, 0x3000);
	assert_string_equal(why, "--keep-returns says so");

	/* --keep-returns counts more than --replace-returns. */
	settings.replace_returns = "libx";
	assert_int_equal(bind(&settings, &out, &why), 1);
	settings.keep_returns = "liba";
	assert_int_equal(bind(&settings, &out, &why), 0);
	assert_null(why);

	settings.keep_returns = "libx";
	settings.estimates_return = true;
	assert_int_equal(bind(&settings, &out, &why), 0);
	assert_null(why);
}

/* A file is searched once. A file that is gone has no code with frames of its own. */
TEST(a_file_is_searched_once)
{
	const struct record_settings settings = { 0 };
	struct known_module known = { .path = "/nothing/libx.so" };
	struct strbuf out cleanup_strbuf = { 0 };

	callers_bind(&settings, &known, &place, false, &out);
	assert_true(known.has_own_frames_known);
	assert_int_equal(out.len, 0);
	assert_null(known.callers_why);
}
