/* Definitions of enums: accepted ones, refused ones, and names of values. */
#include "tests/unit/lib/unit.h"

#include <errno.h>

#include "utils/base/compiler.h"
#include "utils/spec/args/enumdef.h"

static void check_name(const struct enum_defs *defs, const char *name, int64_t value,
		       const char *want)
{
	const struct enum_def *def = enum_defs_find(defs, name);
	struct strbuf out cleanup_strbuf = { 0 };

	assert_non_null(def);
	assert_int_equal(enum_def_put(def, value, "|", &out), want != NULL);
	assert_string_equal(strbuf_str(&out), want ? want : "");
}

TEST(read_and_named)
{
	static const char text[] = "enum color { RED, GREEN, BLUE = 2, BIG = 0x40, };"
				   "enum a::b {X=010,Y,Z=-1};enum none {}; enum last { L }";
	struct enum_defs defs cleanup_enum_defs = { 0 };

	assert_int_equal(enum_defs_parse(&defs, text, strlen(text), NULL), 0);
	assert_int_equal(defs.nr, 4);
	check_name(&defs, "color", 0, "RED");
	check_name(&defs, "color", 2, "BLUE");
	check_name(&defs, "color", 3, "GREEN|BLUE");
	check_name(&defs, "color", 0x43, "GREEN|BLUE|BIG");
	check_name(&defs, "color", 0x44, "GREEN|BLUE|BIG+0x1");
	check_name(&defs, "color", -5, NULL);
	check_name(&defs, "a::b", 8, "X");
	check_name(&defs, "a::b", 9, "Y");
	check_name(&defs, "a::b", -1, "Z");
	check_name(&defs, "a::b", 7, NULL);
	check_name(&defs, "none", 0, NULL);
	check_name(&defs, "last", 0, "L");
	assert_null(enum_defs_find(&defs, "other"));
}

TEST(first_of_equals)
{
	static const char text[] = "enum e {A=1,B=1,C=2}";
	struct enum_defs defs cleanup_enum_defs = { 0 };

	assert_int_equal(enum_defs_parse(&defs, text, strlen(text), NULL), 0);
	check_name(&defs, "e", 1, "A");
	check_name(&defs, "e", 3, "A|C");
	/* A newer definition hides an older one. */
	assert_int_equal(enum_defs_parse(&defs, "enum e {Q=1}", 12, NULL), 0);
	check_name(&defs, "e", 1, "Q");
}

/* The access mode of open() is a number among flags. It has a name even when it is 0. */
TEST(access_modes)
{
	static const char text[] =
		"enum ut_open {O_RDONLY=0,O_WRONLY=1,O_RDWR=2,O_CREAT=0x40,O_SYNC=0x101000}"
		"enum mask {LOW=1,MASK=0xffff,SIGN=0xffff0000}";
	struct enum_defs defs cleanup_enum_defs = { 0 };

	assert_int_equal(enum_defs_parse(&defs, text, strlen(text), NULL), 0);
	check_name(&defs, "ut_open", 0, "O_RDONLY");
	check_name(&defs, "ut_open", 0x40, "O_RDONLY|O_CREAT");
	check_name(&defs, "ut_open", 0x101040, "O_RDONLY|O_CREAT|O_SYNC");
	check_name(&defs, "ut_open", 0x42, "O_RDWR|O_CREAT");
	check_name(&defs, "mask", 0xffff, "MASK");
	check_name(&defs, "mask", 0xffff0000, "SIGN");
}

TEST(refused)
{
	static const char *const bad[] = {
		"num e {A}",	"enum {A}",
		"enum e A}",	"enum e {A",
		"enum e {A=}",	"enum e {A=x}",
		"enum e {A B}", "enum e {,}",
		"enum e {=1}",	"enum e {A=99999999999999999999}",
		"enum",		"enum e",
	};

	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		struct enum_defs defs cleanup_enum_defs = { 0 };
		struct uft_err err = { 0 };
		char *text = exact_copy(bad[i], strlen(bad[i]));

		assert_int_equal(enum_defs_parse(&defs, text, strlen(bad[i]), &err), -EINVAL);
		assert_non_null(strstr(err.text, "column"));
		free(text);
	}
}
