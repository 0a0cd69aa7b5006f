/* Shapes of containers: accepted ones, refused ones, and sizes of boxes. */
#include "tests/unit/lib/unit.h"

#include <stdio.h>

#include "utils/base/compiler.h"
#include "utils/spec/args/shape.h"

TEST(taken_apart)
{
	struct shape shape;

	assert_true(shape_parse(&shape, "r0.8.32:vector;m0.2:pair;s0;t32.8:P#2;"));
	assert_int_equal(shape.nr, 4);
	assert_int_equal(shape.nodes[0].letter, 'r');
	assert_int_equal(shape.nodes[0].numbers[2], 32);
	assert_memory_equal(shape.nodes[0].name, "vector", 6);
	assert_int_equal(shape.nodes[0].name_len, 6);
	assert_int_equal(shape.nodes[0].nr_children, 1);
	assert_int_equal(shape.nodes[0].skip, 3);
	assert_int_equal(shape.nodes[1].nr_children, 2);
	assert_int_equal(shape.nodes[1].skip, 2);
	assert_int_equal(shape.nodes[2].skip, 0);
	assert_null(shape.nodes[2].name);
	assert_true(shape_parse(&shape, "x8.32.2:P#2;s0;L8.0.8:forward_list;i0.4;"));
	assert_int_equal(shape.nodes[0].nr_children, 2);
	assert_int_equal(shape.nodes[0].skip, 3);
	assert_int_equal(shape.nodes[2].nr_children, 1);
	assert_true(shape_parse(&shape, "v16.1.2;i0.4;o8.1;u0.8;"));
	assert_int_equal(shape.nodes[0].skip, 3);
}

TEST(refused)
{
	static const char *const bad[] = {
		"",
		"x0;",
		"i0;",
		"i0.4",
		"i0.9;",
		"i.4;",
		"i0.4;i0.4;",
		"r0.8.4;",
		"r0.8;i0.4;",
		"r0.8.0;i0.4;",
		"m0.99;",
		"m0.2;i0.4;",
		"f0.3;",
		"o0.3;i0.4;",
		"i0.4x;",
		"i9999999.4;",
		"i-1.4;",
		"c0.2;",
		"t0.60000:P;",
		"x0.0.1;s0;",
		"x0.8.1;",
		"d0.32.0;i0.4;",
		"D0.8.16.0;i0.4;",
		"D0.8.16.70000;i0.4;",
		"Q0.8.8.2.0;i0.4;",
		"L0.8;i0.4;",
	};
	struct shape shape;
	char deep[256] = "";

	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		if (shape_parse(&shape, bad[i]))
			fail_msg("taken: %s", bad[i]);
	}
	for (int i = 0; i < 40; i++)
		strcat(deep, "q0;");
	assert_false(shape_parse(&shape, strcat(deep, "i0.4;")));
}

static uint32_t box(const char *text, unsigned elements, uint32_t max)
{
	struct shape shape;

	assert_true(shape_parse(&shape, text));
	return shape_box_bytes(&shape, elements, max);
}

TEST(boxes)
{
	assert_int_equal(box("r0.8.4;i0.4;", 8, 800), 40);
	assert_int_equal(box("r0.8.4;i0.4;", 0, 800), 8);
	assert_int_equal(box("a0.3.4;i0.4;", 8, 800), 20);
	assert_int_equal(box("w0.8;", 8, 800), 104);
	assert_int_equal(box("v8.1.2;i0.4;u0.8;", 8, 800), 12);
	assert_int_equal(box("r0.8.32;s0;", 255, 400), 400);
	assert_int_equal(box("x0.24.1:P;r0.8.4;i0.4;", 2, 800), 40);
	assert_int_equal(box("b0.16;u0.1;", 8, 800), 16);
	assert_int_equal(box("d16.48.4;i0.4;", 8, 800), 40);
	assert_int_equal(box("Q0.8.8.4.0;i0.4;", 8, 800), 8);
}
