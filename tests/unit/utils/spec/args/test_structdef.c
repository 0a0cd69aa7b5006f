/* Unit tests of utils/spec/args/structdef.c. */
#include "tests/unit/lib/unit.h"

#include <errno.h>

#include "utils/base/compiler.h"
#include "utils/spec/args/structdef.h"

TEST(test_good)
{
	static const char text[] = "box#2 40 x@0/i4,name@4/c1*8,e@12/e4:color,in@16/t8:pair*2,"
				   "b@32/u2.3+7,m@34/i1:color.0+8,f@36/f4,all@0/p8";
	struct struct_defs defs cleanup_struct_defs = { 0 };
	char *copy = exact_copy(text, strlen(text));

	assert_int_equal(struct_defs_parse(&defs, copy, strlen(text)), 0);
	free(copy);

	const struct struct_def *def = struct_defs_find(&defs, "box#2");

	assert_non_null(def);
	assert_int_equal(def->bytes, 40);
	assert_int_equal(def->nr, 8);
	assert_string_equal(def->fields[0].name, "x");
	assert_int_equal(def->fields[0].type.format, ARG_SIGNED);
	assert_int_equal(def->fields[0].type.size, 4);
	assert_null(def->fields[0].ref);
	assert_int_equal(def->fields[1].count, 8);
	assert_int_equal(def->fields[1].type.format, ARG_CHAR);
	assert_string_equal(def->fields[2].ref, "color");
	assert_string_equal(def->fields[3].ref, "pair");
	assert_int_equal(def->fields[3].count, 2);
	assert_int_equal(def->fields[3].offset, 16);
	assert_int_equal(def->fields[4].shift, 3);
	assert_int_equal(def->fields[4].width, 7);
	assert_string_equal(def->fields[5].ref, "color");
	assert_int_equal(def->fields[5].width, 8);
	assert_int_equal(def->fields[6].type.format, ARG_FLOAT);
	assert_null(struct_defs_find(&defs, "box"));
}

/* Numbers of 128 bits, pairs and vectors are defined by parts that have no name. */
TEST(test_without_names)
{
	static const char *const good[] = { "wide 16 @0/i16", "quad 16 @0/f16",
					    "complex 32 @0/f10,@16/f10", "vector 16 @0/f4*4" };
	struct struct_defs defs cleanup_struct_defs = { 0 };

	for (size_t i = 0; i < ARRAY_SIZE(good); i++)
		assert_int_equal(struct_defs_parse(&defs, good[i], strlen(good[i])), 0);
	assert_string_equal(struct_defs_find(&defs, "wide")->fields[0].name, "");
	assert_int_equal(struct_defs_find(&defs, "wide")->fields[0].type.size, 16);
	assert_int_equal(struct_defs_find(&defs, "complex")->fields[1].offset, 16);
	assert_int_equal(struct_defs_find(&defs, "vector")->fields[0].count, 4);
}

/* If two definitions have the same key, the later one counts. */
TEST(test_several)
{
	struct struct_defs defs cleanup_struct_defs = { 0 };
	char text[64];

	for (unsigned i = 0; i < 100; i++) {
		snprintf(text, sizeof(text), "s%u 4 x%u@0/i4", i % 50, i);
		assert_int_equal(struct_defs_parse(&defs, text, strlen(text)), 0);
	}
	assert_string_equal(struct_defs_find(&defs, "s7")->fields[0].name, "x57");
}

TEST(test_wrong)
{
	static const char *const bad[] = {
		"",
		"a",
		"a 4",
		"a 4 ",
		" 4 x@0/i4",
		"a x@0/i4",
		"a 4 x",
		"a 16 x@0/i15",
		"a 16 x@0/c16",
		"a 16 x@0/i16.0+64",
		"a 4 x@/i4",
		"a 4 x@0",
		"a 4 x@0/",
		"a 4 x@0/q4",
		"a 4 x@0/i",
		"a 4 x@0/i9",
		"a 4 x@0/i0",
		"a 4 x@1/i4",
		"a 4 x@0/i8",
		"a 4 x@0/i4z",
		"a 4 x@0/i4,",
		"a 4 x@0/i4*",
		"a 4 x@0/i4*2",
		"a 4 x@0/i1*5",
		"a 4 x@0/c2",
		"a 4 x@0/f3",
		"a 4 x@0/i4.8+1",
		"a 4 x@0/i4.1+",
		"a 4 x@0/i4.1+0",
		"a 4 x@0/i4.1+32",
		"a 4 x@0/i4.1",
		"a 4 x@0/i4*2.1+1",
		"a 4 x@65536/i1",
		"a 4 x@99999999999999999999/i1",
		"a 99999999999 x@0/i4",
	};

	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		struct struct_defs defs cleanup_struct_defs = { 0 };
		char *copy = exact_copy(bad[i], strlen(bad[i]));

		if (struct_defs_parse(&defs, copy, strlen(bad[i])) != -EINVAL)
			fail_msg("'%s' is taken", bad[i]);
		assert_int_equal(defs.nr, 0);
		free(copy);
	}
}
