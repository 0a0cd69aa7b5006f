/* Specifications of arguments as steps of capture programs: source, number of bytes, order. */
#include "tests/unit/lib/unit.h"

#include "arch/isa.h"
#include "cmds/record/plan/values/capture_steps.h"

#define WORD_BYTES 8

static const char *const ops[] = {
	[CAPTURE_HEAD] = "head",
	[CAPTURE_WORD] = "word",
	[CAPTURE_VECTOR] = "vector",
	[CAPTURE_X87] = "x87",
	[CAPTURE_STACK] = "stack",
	[CAPTURE_POINTED] = "pointed",
	[CAPTURE_STRING] = "string",
	[CAPTURE_STD_STRING] = "std",
	[CAPTURE_STD_STRING_LLVM] = "llvm",
	[CAPTURE_ZEROS] = "zeros",
	[CAPTURE_BOX] = "box",
};

/*
 * Returns "OP BYTES@INDEX" for each step. "~NARROW" follows when only some of the bytes are valid.
 * Zeros have no source, and so no index.
 */
static const char *text_of(const struct strbuf *steps, size_t from)
{
	static char text[1024];
	const struct capture_step *list = (const struct capture_step *)steps->data;
	size_t at = 0;

	text[0] = '\0';
	for (size_t i = from; i < steps->len / sizeof(*list); i++) {
		at += snprintf(text + at, sizeof(text) - at, "%s%s %u", at ? ", " : "",
			       ops[list[i].op], list[i].bytes);
		if (list[i].op != CAPTURE_ZEROS)
			at += snprintf(text + at, sizeof(text) - at, "@%u", list[i].index);
		if (list[i].narrow)
			at += snprintf(text + at, sizeof(text) - at, "~%u", list[i].narrow);
	}
	return text;
}

static void parse(const char *text, struct argspecs *list)
{
	if (text[0])
		assert_int_equal(argspecs_parse(text, strlen(text), WORD_BYTES, list, NULL), 0);
}

static const struct {
	const char *args;
	const char *retval;
	const char *steps;
} rows[] = {
	/*
	 * The head counts the steps of both lists. A word is narrow when it has fewer bytes than a
	 * register.
	 */
	{ "arg1", "", "head 1@0, word 8@1" },
	{ "arg1/i32,arg2/u16,arg6/x8", "retval/i32",
	  "head 3@1, word 4@1~4, word 2@2~2, word 1@6~1, word 4@0~4" },
	{ "", "retval", "head 0@1, word 8@0" },
	/*
	 * An argument beyond the registers is still a word: for the probe, the words on the stack
	 * have the numbers after those of the registers.
	 */
	{ "arg7", "", "head 1@0, word 8@7" },
	{ "arg1/p%stack+1,arg2/i32%stack+3", "", "head 2@0, word 8@7, word 4@9~4" },
	{ "arg1%rdi,arg2%r9,arg3%rsi", "", "head 3@0, word 8@1, word 8@6, word 8@2" },
	/* Strings. */
	{ "arg2/s,arg3/S", "retval/s", "head 2@1, string 2@2, std 2@3, string 2@0" },
	{ "arg1/s%rdx,arg2/s%stack+2", "", "head 2@0, string 2@3, string 2@8" },
	{ "arg1/s%xmm0,arg2/s%xmm7", "", "head 2@0, zeros 2, zeros 2" },
	/* Floating point: eight registers, then the stack. */
	{ "fparg1,fparg8/32,fparg9", "retval/f32",
	  "head 3@1, vector 8@0, vector 4@7, stack 8@1, vector 4@0" },
	{ "fparg1/80,fparg2/80", "retval/f80", "head 2@1, stack 10@1, stack 10@3, x87 10@0" },
	{ "", "retval/f64", "head 0@1, vector 8@0" },
	{ "fparg1%stack+5,fparg2%xmm3,fparg3/32%rcx", "",
	  "head 3@0, stack 8@5, vector 8@3, word 4@4" },
	/* An integer in a vector register. */
	{ "arg1%xmm0,arg2/i32%xmm7", "", "head 2@0, vector 8@0, vector 4@7" },
	/* Structs: in one register when they fit, else after the return address on the stack. */
	{ "arg1/t8:a,arg6/t4:b", "", "head 2@0, word 8@1, word 4@6" },
	{ "arg7/t8:a,arg1/t9:b", "", "head 2@0, stack 8@1, stack 9@1" },
	{ "arg1/t24:a%stack+3", "", "head 1@0, stack 24@3" },
	{ "", "retval/t8:a", "head 0@1, word 8@0" },
	{ "", "retval/t9:a", "head 0@2, word 8@0, word 1@1" },
	{ "", "retval/t16:a", "head 0@2, word 8@0, word 8@1" },
	{ "", "retval/t17:a", "head 0@1, pointed 17@0" },
};

TEST(where_the_convention_has_them)
{
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct argspecs args cleanup_argspecs = { 0 };
		struct argspecs retval cleanup_argspecs = { 0 };
		struct strbuf steps cleanup_strbuf = { 0 };
		uint32_t index = 99;

		parse(rows[i].args, &args);
		parse(rows[i].retval, &retval);
		assert_true(capture_steps_add(&steps, &args, &retval, &index));
		assert_int_equal(index, 0);
		assert_string_equal(text_of(&steps, 0), rows[i].steps);
	}
}

/* A further program follows the present ones. Its index is the number of the steps before it. */
TEST(programs_follow_each_other)
{
	struct argspecs args cleanup_argspecs = { 0 };
	struct argspecs none = { 0 };
	struct strbuf steps cleanup_strbuf = { 0 };
	uint32_t index;

	parse("arg1,arg2/s", &args);
	assert_true(capture_steps_add(&steps, &args, &none, &index));
	assert_int_equal(index, 0);
	assert_true(capture_steps_add(&steps, &none, &args, &index));
	assert_int_equal(index, 3);
	/* The second program has only the result. */
	assert_string_equal(text_of(&steps, 3), "head 0@1, word 8@1");
}

/* If there is nothing to capture, the steps do not change. */
TEST(nothing_to_capture)
{
	struct argspecs none = { 0 };
	struct argspec empty = { .type = { ARG_STRUCT, 0 }, .index = 1 };
	struct argspecs nothing = { &empty, 1 };
	struct strbuf steps cleanup_strbuf = { 0 };
	uint32_t index = 99;

	strbuf_addstr(&steps, "12345678");
	assert_false(capture_steps_add(&steps, &none, &none, &index));
	assert_int_equal(steps.len, 8);
	assert_false(capture_steps_add(&steps, &nothing, &none, &index));
	assert_int_equal(steps.len, 8);
	assert_int_equal(index, 99);
}

/* A program may have as many steps as this; one more is an error. */
TEST(too_much)
{
	static struct argspec specs[CAPTURE_STEPS_MAX + 1];
	struct argspecs args = { specs, CAPTURE_STEPS_MAX };
	struct argspecs none = { 0 };
	struct strbuf steps cleanup_strbuf = { 0 };
	uint32_t index;

	for (size_t i = 0; i < ARRAY_SIZE(specs); i++)
		specs[i] = (struct argspec){ .type = { ARG_HEX, 8 }, .index = i + 1 };
	assert_true(capture_steps_add(&steps, &args, &none, &index));
	assert_int_equal(steps.len, (CAPTURE_STEPS_MAX + 1) * sizeof(struct capture_step));
	args.nr++;
	assert_false(capture_steps_add(&steps, &args, &none, &index));
	assert_int_equal(steps.len, (CAPTURE_STEPS_MAX + 1) * sizeof(struct capture_step));
}

/* Returns the steps of one specification that has no text form. */
static const char *steps_of(struct argspec spec)
{
	struct argspecs list = { &spec, 1 };
	struct argspecs none = { 0 };
	struct strbuf steps cleanup_strbuf = { 0 };
	uint32_t index;
	bool is_retval = spec.kind == ARG_KIND_RETVAL;

	assert_true(capture_steps_add(&steps, is_retval ? &none : &list, is_retval ? &list : &none,
				      &index));
	return text_of(&steps, 1);
}

static uint8_t reg(const char *name)
{
	int number = isa_reg_find(name, strlen(name));

	assert_true(number >= 0);
	return number;
}

/* Registers that this machine does not have: zeros take the place of the value. */
TEST(registers_of_other_machines)
{
	struct argspec spec = {
		.place = ARG_IN_REGISTER,
		.nr_regs = 1,
		.regs = { reg("xmm7") + 1 },
		.type = { ARG_HEX, 5 },
	};
	struct argspecs list = { &spec, 1 };
	struct argspecs none = { 0 };
	struct strbuf steps cleanup_strbuf = { 0 };
	uint32_t index;

	assert_string_equal(steps_of(spec), "zeros 8");
	/* A result in a register that is missing is not captured at all. */
	spec.kind = ARG_KIND_RETVAL;
	assert_false(capture_steps_add(&steps, &none, &list, &index));
	assert_int_equal(steps.len, 0);
	spec.regs[0] = reg("xmm7");
	assert_true(capture_steps_add(&steps, &none, &list, &index));
}

/*
 * A struct in several registers, as debug information describes it: eight bytes in each but the
 * last.
 */
TEST(structs_in_parts)
{
	struct argspec spec = {
		.place = ARG_IN_REGISTER,
		.nr_regs = 2,
		.regs = { reg("rdi"), reg("xmm1") },
		.type = { ARG_STRUCT, 12 },
	};

	assert_string_equal(steps_of(spec), "word 8@1, vector 4@1");
	spec.type.size = 16;
	assert_string_equal(steps_of(spec), "word 8@1, vector 8@1");
	spec.type.size = 8;
	assert_string_equal(steps_of(spec), "word 8@1");
	/* A value larger than the registers hold. */
	spec.type.size = 24;
	assert_string_equal(steps_of(spec), "word 8@1, vector 16@1");
	spec.type.size = 25;
	assert_string_equal(steps_of(spec), "word 8@1, vector 17@1, zeros 1");
	spec.regs[1] = reg("rsi");
	assert_string_equal(steps_of(spec), "word 8@1, word 8@2, zeros 9");
	spec.type.size = 16;
	assert_string_equal(steps_of(spec), "word 8@1, word 8@2");
	spec.type.size = 7;
	spec.nr_regs = 1;
	assert_string_equal(steps_of(spec), "word 7@1");
	/* The first word of a result has number 0. */
	spec.kind = ARG_KIND_RETVAL;
	spec.nr_regs = 2;
	spec.type.size = 13;
	assert_string_equal(steps_of(spec), "word 8@0, word 5@1");
	spec.nr_regs = 0;
	assert_string_equal(steps_of(spec), "zeros 13");
}

/*
 * Facts that only debug information has: a pointer to a struct, the number of bytes, and the
 * library of a std::string.
 */
TEST(how_it_is_there)
{
	struct argspec spec = {
		.how = ARG_HOW_POINTED,
		.index = 3,
		.type = { ARG_STRUCT, 40 },
	};

	assert_string_equal(steps_of(spec), "pointed 40@3");
	spec.place = ARG_ON_STACK;
	assert_string_equal(steps_of(spec), "pointed 40@9");
	spec = (struct argspec){
		.index = 2,
		.narrow = 2 | CAPTURE_SIGNED,
		.type = { ARG_SIGNED, 4 },
	};
	assert_string_equal(steps_of(spec), "word 4@2~130");
	spec = (struct argspec){ .how = ARG_HOW_LLVM, .index = 1, .type = { ARG_STD_STRING, 8 } };
	assert_string_equal(steps_of(spec), "llvm 2@1");
}

/* The box is followed by counts, by steps for an object in parts, and by its shape. */
TEST(boxes)
{
	struct argspec spec = {
		.how = ARG_HOW_POINTED,
		.index = 2,
		.elements = 5,
		.object_bytes = 24,
		.type = { ARG_STRUCT, 40 },
		.shape = "r1.2.3;i4.8;",
	};
	struct argspecs list = { &spec, 1 };
	struct argspecs none = { 0 };
	struct strbuf steps cleanup_strbuf = { 0 };
	const struct capture_step *step;
	const struct box_step *node;
	uint32_t index;

	assert_true(capture_steps_add(&steps, &list, &none, &index));
	step = (const struct capture_step *)steps.data;
	assert_int_equal(steps.len, 3 * sizeof(*step) + 2 * sizeof(*node));
	assert_int_equal(step[0].bytes, 2 + 2 * BOX_STEP_UNITS);
	assert_int_equal(step[1].op, CAPTURE_BOX);
	assert_int_equal(step[1].narrow, BOX_POINTED);
	assert_int_equal(step[1].bytes, 40);
	assert_int_equal(step[1].index, 2);
	assert_int_equal(step[2].bytes, 0);
	assert_int_equal(step[2].index, 2 * BOX_STEP_UNITS);
	node = (const struct box_step *)(step + 3);
	assert_int_equal(node[0].op, BOX_RANGE);
	assert_int_equal(node[0].limit, 5);
	assert_int_equal(node[0].skip, 1);
	assert_int_equal(node[0].a, 1);
	assert_int_equal(node[0].b, 2);
	assert_int_equal(node[0].c, 3);
	assert_int_equal(node[1].op, BOX_BYTES);
	assert_int_equal(node[1].skip, 0);
	assert_int_equal(node[1].a, 4);
	assert_int_equal(node[1].b, 8);

	/*
	 * An object in registers: the box has the number of the steps that assemble it. These steps
	 * belong to the object.
	 */
	steps.len = 0;
	spec.how = ARG_HOW_PLAIN;
	spec.place = ARG_IN_REGISTER;
	spec.nr_regs = 2;
	spec.regs[0] = reg("rdi");
	spec.regs[1] = reg("rsi");
	spec.object_bytes = 12;
	assert_true(capture_steps_add(&steps, &list, &none, &index));
	step = (const struct capture_step *)steps.data;
	assert_int_equal(step[1].narrow, BOX_IN_PARTS);
	assert_int_equal(step[2].bytes, 2);
	assert_int_equal(step[3].op, CAPTURE_WORD);
	assert_int_equal(step[3].bytes, 8);
	assert_int_equal(step[4].bytes, 4);
	assert_int_equal(step[4].index, 2);
	assert_int_equal(((const struct box_step *)(step + 5))->op, BOX_RANGE);

	/* An object on the stack is at its stated place, or else at the first word. */
	steps.len = 0;
	spec.place = ARG_ON_STACK;
	spec.index = 4;
	assert_true(capture_steps_add(&steps, &list, &none, &index));
	step = (const struct capture_step *)steps.data;
	assert_int_equal(step[1].narrow, BOX_ON_STACK);
	assert_int_equal(step[1].index, 4);
	steps.len = 0;
	spec.place = ARG_IN_ORDER;
	assert_true(capture_steps_add(&steps, &list, &none, &index));
	step = (const struct capture_step *)steps.data;
	assert_int_equal(step[1].narrow, BOX_ON_STACK);
	assert_int_equal(step[1].index, 1);

	/* An invalid shape still takes up its bytes. */
	spec.shape = "?";
	assert_string_equal(steps_of(spec), "zeros 40");
}

/* Each letter of a shape has its own step; the numbers of a node belong to its step. */
TEST(letters_of_shapes)
{
	static const struct {
		const char *shape;
		enum box_op op;
	} nodes[] = {
		{ "z1;", BOX_STRING },
		{ "s1;", BOX_STD_STRING },
		{ "S1;", BOX_STD_STRING_LLVM },
		{ "w1.2;", BOX_TEXT },
		{ "r1.2.3;i0.4;", BOX_RANGE },
		{ "n1.2.3;i0.4;", BOX_COUNTED },
		{ "k1.2.3;i0.4;", BOX_FIXED },
		{ "a1.2.3;i0.4;", BOX_ARRAY },
		{ "m1.1;i0.4;", BOX_MEMBERS },
		{ "o1.2;i0.4;", BOX_OPTIONAL },
		{ "q1;i0.4;", BOX_FOLLOW },
		{ "v1.2.1;i0.4;", BOX_VARIANT },
		{ "l1.2.3.4;i0.4;", BOX_CHAIN },
		{ "T1.2.3.4.5.6;i0.4;", BOX_TREE },
		{ "L1.2.3;i0.4;", BOX_LINKS },
		{ "b1.2;u0.1;", BOX_BITS },
		{ "B1.2;u0.1;", BOX_COUNTED_BITS },
		{ "d1.2.3;i0.4;", BOX_DEQUE },
		{ "D1.2.3.4;i0.4;", BOX_COUNTED_DEQUE },
		{ "Q1.2.3.4.5;i0.4;", BOX_FOLLOW_WEAK },
		{ "x1.8.1;i0.4;", BOX_FIELDS },
		{ "u1.2;", BOX_BYTES },
	};

	for (size_t i = 0; i < ARRAY_SIZE(nodes); i++) {
		char shape[32];
		struct argspec spec = {
			.index = 1,
			.type = { ARG_STRUCT, 8 },
			.shape = strcpy(shape, nodes[i].shape),
		};
		struct argspecs list = { &spec, 1 };
		struct argspecs none = { 0 };
		struct strbuf steps cleanup_strbuf = { 0 };
		uint32_t index;

		assert_true(capture_steps_add(&steps, &list, &none, &index));

		const struct box_step *node = (const void *)(steps.data +
							     3 * sizeof(struct capture_step));

		assert_int_equal(node->op, nodes[i].op);
		assert_int_equal(node->a, 1);
		if (nodes[i].op == BOX_TREE) {
			assert_int_equal(node->b, 2);
			assert_int_equal(node->c, 3);
			assert_int_equal(node->d, 4);
			assert_int_equal(node->e, 5);
			assert_int_equal(node->f, 6);
		}
	}
}
