/*
 * Capture programs, step by step: the bytes that each step adds to a payload, the end of a payload,
 * and missing values.
 */
#include "libmcount/values/capture.h"

#include <sys/mman.h>

#include "libmcount/system/fault.h"
#include "tests/unit/lib/unit.h"

#define PAGE 4096

/* The end of a readable page; the next page is unreadable. */
static char *edge;
static uint64_t words[16]; /* the return slot, and the stack above it */
static uint8_t got[CAPTURE_ROOM];
static struct capture_step program[64];

static int setup(void **state)
{
	char *pages = mmap(NULL, 2 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
			   0);

	assert_ptr_not_equal(pages, MAP_FAILED);
	edge = pages + PAGE;
	assert_int_equal(mprotect(edge, PAGE, PROT_NONE), 0);
	fault_guard_begin();
	return 0;
}

static int teardown(void **state)
{
	return munmap(edge - PAGE, 2 * PAGE);
}

/*
 * Run @nr steps for the arguments of a call. @first and @second are in registers.
 */
static uint32_t take(uint64_t first, uint64_t second, const struct capture_step *steps, unsigned nr)
{
	struct arch_regs regs = arch_regs_of(first, second, 0);
	uint8_t quick[CAPTURE_ROOM];
	uint64_t *slot = words;
	uint32_t len;

	/* The compiler must not know where the slot is, as it does not for the program's stack. */
	__asm__("" : "+r"(slot));
	program[0] = (struct capture_step){ .op = CAPTURE_HEAD, .bytes = nr };
	memcpy(program + 1, steps, nr * sizeof(*steps));
	memset(got, 0xee, sizeof(got));
	len = capture_args(program, &regs, slot, got);
	/* capture_args_quick() must give the same bytes. */
	assert_int_equal(capture_args_quick(program, &regs, slot, quick), len);
	assert_memory_equal(quick, got, len);
	return len;
}

/* Check that the captured bytes are these, with zeros up to a multiple of 8. */
static void check(uint32_t len, const void *bytes, uint32_t nr)
{
	uint8_t expected[CAPTURE_ROOM] = { 0 };

	memcpy(expected, bytes, nr);
	assert_int_equal(len, (nr + 7) / 8 * 8);
	assert_memory_equal(got, expected, len);
}

static void check_word(uint64_t word, uint8_t narrow, uint16_t bytes, uint64_t expected)
{
	const struct capture_step step = {
		.op = CAPTURE_WORD,
		.narrow = narrow,
		.bytes = bytes,
		.index = 1,
	};

	check(take(word, 0, &step, 1), &expected, 8);
}

TEST(a_word_is_as_wide_as_its_type)
{
	const uint64_t word = 0x8182838485868788;

	check_word(word, 0, 8, word);
	check_word(word, 8, 8, word);
	check_word(word, 1, 1, 0x88);
	check_word(word, 2, 2, 0x8788);
	check_word(word, 4, 4, 0x85868788);
	check_word(word, 1 | CAPTURE_SIGNED, 4, 0xffffff88);
	check_word(word, 2 | CAPTURE_SIGNED, 4, 0xffff8788);
	check_word(0x7f, 1 | CAPTURE_SIGNED, 4, 0x7f);
	check_word(word, 1 | CAPTURE_WIDE, 8, 0xffffffffffffff88);
	check_word(word, 4 | CAPTURE_WIDE, 8, 0xffffffff85868788);
	check_word(word, 7, 8, word & (~0ULL >> 8));
	check_word(word, 8 | CAPTURE_SIGNED, 8, word);
}

TEST(words_come_from_registers_and_then_from_the_stack)
{
	static const struct capture_step steps[] = {
		{ .op = CAPTURE_WORD, .bytes = 8, .index = 1 },
		{ .op = CAPTURE_WORD, .bytes = 8, .index = 2 },
		{ .op = CAPTURE_WORD, .bytes = 8, .index = ARCH_INT_ARG_REGS + 1 },
		{ .op = CAPTURE_WORD, .bytes = 8, .index = ARCH_INT_ARG_REGS + 3 },
		{ .op = CAPTURE_STACK, .bytes = 12, .index = 2 },
		{ .op = CAPTURE_ZEROS, .bytes = 8 },
	};
	uint64_t expected[] = { 11, 22, 101, 103, 102, 103, 0 };
	uint8_t bytes[52] = { 0 };

	for (unsigned i = 0; i < ARRAY_SIZE(words); i++)
		words[i] = 100 + i;
	memcpy(bytes, expected, 44);
	check(take(11, 22, steps, ARRAY_SIZE(steps)), bytes, sizeof(bytes));
	for (unsigned i = 0; i < 4; i++) {
		check(take(11, 22, &steps[i], 1), &expected[i], 8);
		assert_int_equal(got[8], 0xee);
	}
}

/* Each value begins at a multiple of 4. */
TEST(values_are_padded)
{
	static const struct capture_step steps[] = {
		{ .op = CAPTURE_WORD, .narrow = 1, .bytes = 1, .index = 1 },
		{ .op = CAPTURE_WORD, .narrow = 2, .bytes = 2, .index = 1 },
		{ .op = CAPTURE_POINTED, .bytes = 5, .index = 2 },
		{ .op = CAPTURE_ZEROS, .bytes = 3 },
		{ .op = CAPTURE_WORD, .narrow = 4, .bytes = 4, .index = 1 },
	};

	check(take(0x01020304, (uint64_t) "abcdefgh", steps, ARRAY_SIZE(steps)),
	      "\4\0\0\0\4\3\0\0abcde\0\0\0\0\0\0\0\4\3\2\1", 24);
}

TEST(what_is_pointed_to_is_zeros_where_it_cannot_be_read)
{
	static const struct capture_step step = { .op = CAPTURE_POINTED, .bytes = 6, .index = 1 };

	memcpy(edge - 8, "01234567", 8);
	check(take((uint64_t)edge - 6, 0, &step, 1), "234567", 6);
	check(take((uint64_t)edge - 4, 0, &step, 1), "4567\0\0", 6);
	check(take((uint64_t)edge, 0, &step, 1), "\0\0\0\0\0\0", 6);
	check(take(0, 0, &step, 1), "\0\0\0\0\0\0", 6);
}

/* Check that the payload has a text after its length. */
static void check_text(uint32_t len, const char *text, uint16_t text_len)
{
	uint8_t expected[512];

	memcpy(expected, &text_len, sizeof(text_len));
	memcpy(expected + sizeof(text_len), text, text_len);
	check(len, expected, sizeof(text_len) + text_len);
}

static const struct capture_step a_string = { .op = CAPTURE_STRING, .index = 1 };
static const struct capture_step a_std_string = { .op = CAPTURE_STD_STRING, .index = 1 };
static const struct capture_step an_llvm_string = { .op = CAPTURE_STD_STRING_LLVM, .index = 1 };

#define TEXT_OF(step, at, text) \
	check_text(take((uint64_t)(at), 0, &(step), 1), text, sizeof(text) - 1)

TEST(a_string_ends_at_its_nul)
{
	char text[300];

	TEXT_OF(a_string, "hello", "hello");
	TEXT_OF(a_string, "", "");
	TEXT_OF(a_string, NULL, ARGBLOB_NULL);
	TEXT_OF(a_string, 16, "<0x10>");
	TEXT_OF(a_string, 0xabc, "<0xabc>");
	TEXT_OF(a_string, 0x1f23456789abcdef, "<0x1f23456789abcdef>");
	/* These strings end at the end of readable memory. */
	memcpy(edge - 3, "xyz", 3);
	TEXT_OF(a_string, edge - 3, "xyz");
	TEXT_OF(a_string, edge - 1, "z");
	/* The longest string that fits, and longer strings. */
	memset(text, 'a', sizeof(text));
	text[ARGBLOB_STRING_MAX - 1] = '\0';
	check_text(take((uint64_t)text, 0, &a_string, 1), text, ARGBLOB_STRING_MAX - 1);
	for (unsigned more = 0; more < 2; more++) {
		char cut[ARGBLOB_STRING_MAX];

		memset(text, 'a', sizeof(text));
		text[ARGBLOB_STRING_MAX + more] = '\0';
		memset(cut, 'a', sizeof(cut));
		memcpy(cut + sizeof(cut) - 3, "...", 3);
		check_text(take((uint64_t)text, 0, &a_string, 1), cut, sizeof(cut));
	}
}

TEST(a_std_string_is_as_long_as_it_says)
{
	const struct {
		const char *text;
		uint64_t len;
	} good = { "a\0b", 3 }, empty = { "x", 0 }, bad = { (const char *)32, 4 };
	char *torn = edge - sizeof(uint64_t);
	char expected[32];
	char text[200];
	struct {
		const char *text;
		uint64_t len;
	} longer = { text, ARGBLOB_STRING_MAX - 1 };

	TEXT_OF(a_std_string, &good, "a\0b");
	TEXT_OF(a_std_string, &empty, "");
	TEXT_OF(a_std_string, NULL, ARGBLOB_NULL);
	TEXT_OF(a_std_string, 0x20, "<0x20>");
	/*
	 * If the text cannot be read, the object's address is captured in its place. The same is
	 * done if a part of the object cannot be read.
	 */
	snprintf(expected, sizeof(expected), "<0x%lx>", (uint64_t)&bad);
	check_text(take((uint64_t)&bad, 0, &a_std_string, 1), expected, strlen(expected));
	memcpy(torn, &good, 8);
	snprintf(expected, sizeof(expected), "<0x%lx>", (uint64_t)torn);
	check_text(take((uint64_t)torn, 0, &a_std_string, 1), expected, strlen(expected));
	memset(text, 'b', sizeof(text));
	check_text(take((uint64_t)&longer, 0, &a_std_string, 1), text, longer.len);
	for (longer.len = ARGBLOB_STRING_MAX; longer.len < ARGBLOB_STRING_MAX + 2; longer.len++) {
		char cut[ARGBLOB_STRING_MAX];

		memset(cut, 'b', sizeof(cut));
		memcpy(cut + sizeof(cut) - 3, "...", 3);
		check_text(take((uint64_t)&longer, 0, &a_std_string, 1), cut, sizeof(cut));
	}
}

TEST(a_std_string_of_llvm_is_short_or_long)
{
	const uint64_t long_one[3] = { 33, 5, (uint64_t) "hello!" };
	const uint64_t empty[3] = { 33, 0, (uint64_t) "hello" };
	char short_one[24] = { 4 * 2, 'a', 'b', '\0', 'd', 'e' };
	char *torn = edge - 16;
	char expected[32];

	TEXT_OF(an_llvm_string, long_one, "hello");
	TEXT_OF(an_llvm_string, empty, "");
	TEXT_OF(an_llvm_string, short_one, "ab\0d");
	short_one[0] = 22 * 2;
	check_text(take((uint64_t)short_one, 0, &an_llvm_string, 1), short_one + 1, 22);
	short_one[0] = 0;
	TEXT_OF(an_llvm_string, short_one, "");
	TEXT_OF(an_llvm_string, NULL, ARGBLOB_NULL);
	memcpy(torn, long_one, 16);
	snprintf(expected, sizeof(expected), "<0x%lx>", (uint64_t)torn);
	check_text(take((uint64_t)torn, 0, &an_llvm_string, 1), expected, strlen(expected));
}

/* With one value too many, there is no payload. */
TEST(a_payload_that_is_too_long_is_none)
{
	struct capture_step steps[] = {
		{ .op = CAPTURE_ZEROS, .bytes = CAPTURE_MAX_BYTES - 8 },
		{ .op = CAPTURE_WORD, .bytes = 8, .index = 1 },
		{ .op = CAPTURE_WORD, .narrow = 1, .bytes = 1, .index = 1 },
	};
	char text[200];

	assert_int_equal(take(1, 0, steps, 1), CAPTURE_MAX_BYTES - 8);
	assert_int_equal(take(1, 0, steps, 2), CAPTURE_MAX_BYTES);
	assert_int_equal(take(1, 0, steps, 3), 0);
	steps[0].bytes++;
	assert_int_equal(take(1, 0, steps, 2), 0);
	steps[0].bytes = CAPTURE_MAX_BYTES;
	assert_int_equal(take(1, 0, steps, 1), CAPTURE_MAX_BYTES);
	steps[0].bytes++;
	assert_int_equal(take(1, 0, steps, 1), 0);
	/* A text is captured only if the longest one would fit. */
	memset(text, 'a', sizeof(text));
	for (unsigned more = 0; more < 2; more++) {
		steps[0].bytes = CAPTURE_MAX_BYTES - 100 + 4 * more;
		for (unsigned op = CAPTURE_STRING; op <= CAPTURE_STD_STRING_LLVM; op++) {
			steps[1] = (struct capture_step){ .op = op, .index = 1 };
			assert_int_equal(take(0, 0, steps, 2) != 0, !more);
		}
	}
}

TEST(a_container_is_a_box)
{
	static const struct box_step four = { .op = BOX_BYTES, .a = 2, .b = 4 };
	struct capture_step steps[8] = {
		{ .op = CAPTURE_BOX, .narrow = BOX_POINTED, .bytes = 9, .index = 1 },
		{ .bytes = 0, .index = BOX_STEP_UNITS },
	};
	const unsigned nr = 2 + BOX_STEP_UNITS;

	memcpy(&steps[2], &four, sizeof(four));
	steps[nr] = (struct capture_step){ .op = CAPTURE_WORD, .bytes = 8, .index = 2 };
	check(take((uint64_t) "abcdefgh", 0x39, steps, nr + 1),
	      "\1cdef\0\0\0\0\0\0\0\x39\0\0\0\0\0\0", 20);
	check(take(0, 0x39, steps, nr + 1), "\0\0\0\0\0\0\0\0\0\0\0\0\x39\0\0\0\0\0\0", 20);
	steps[0].narrow = BOX_ON_STACK;
	steps[0].index = 3;
	memcpy(&words[3], "ABCDEFGH", 8);
	check(take(0, 0x39, steps, nr + 1), "\1CDEF\0\0\0\0\0\0\0\x39\0\0\0\0\0\0", 20);
}

/* An object is in two registers, or in a register and in other parts. */
TEST(a_container_is_put_together_from_its_parts)
{
	static const struct box_step eight = { .op = BOX_BYTES, .a = 4, .b = 8 };
	struct capture_step steps[8] = {
		{ .op = CAPTURE_BOX, .narrow = BOX_IN_PARTS, .bytes = 10 },
		{ .bytes = 2, .index = BOX_STEP_UNITS },
		{ .op = CAPTURE_WORD, .bytes = 8, .index = 1 },
		{ .op = CAPTURE_WORD, .bytes = 8, .index = 2 },
	};
	uint64_t first;
	uint64_t second;

	memcpy(&first, "abcdefgh", 8);
	memcpy(&second, "ijklmnop", 8);
	memcpy(&steps[4], &eight, sizeof(eight));
	check(take(first, second, steps, 4 + BOX_STEP_UNITS), "\1efghijkl\0\0\0", 12);
	steps[3] = (struct capture_step){ .op = CAPTURE_ZEROS, .bytes = 8 };
	check(take(first, second, steps, 4 + BOX_STEP_UNITS), "\1efgh\0\0\0\0\0\0\0", 12);
}

/* Steps of arguments come first. Words of the result are counted from 0. */
TEST(a_return_value_is_what_the_second_part_takes)
{
	struct arch_regs regs = arch_regs_of(1, 2, 0x8586);
	uint8_t quick[CAPTURE_ROOM];
	struct capture_step steps[] = {
		{ .op = CAPTURE_HEAD, .bytes = 2, .index = 1 },
		{ .op = CAPTURE_WORD, .bytes = 8, .index = 1 },
		{ .op = CAPTURE_ZEROS, .bytes = 4 },
		{ .op = CAPTURE_WORD, .narrow = 1, .bytes = 4, .index = 0 },
		{ .op = CAPTURE_WORD, .narrow = 2, .bytes = 4, .index = 0 },
	};
	uint32_t len = capture_retval(steps, &regs, got);

	check(len, "\x86\0\0\0\0\0\0", 8);
	assert_int_equal(capture_retval_quick(steps, &regs, quick), len);
	assert_memory_equal(quick, got, len);
	steps[0].index = 2;
	len = capture_retval(steps, &regs, got);
	check(len, "\x86\0\0\0\x86\x85\0\0", 8);
	assert_int_equal(capture_retval_quick(steps, &regs, quick), len);
	assert_memory_equal(quick, got, len);
	steps[0].index = 1;
	steps[3] = a_string;
	steps[3].index = 0;
	regs = arch_regs_of(1, 2, (uint64_t) "abc");
	len = capture_retval_quick(steps, &regs, got);
	check_text(len, "abc", 3);
#ifdef __x86_64__
	regs.rdx = 0x1234;
	steps[3] = (struct capture_step){ .op = CAPTURE_WORD, .bytes = 8, .index = 1 };
	check(capture_retval(steps, &regs, got), "\x34\x12\0\0\0\0\0", 8);
#endif
}

TEST(a_text_alone_has_its_length)
{
	char text[300];
	struct arch_regs regs = arch_regs_of((uint64_t) "hello", (uint64_t)text, 0);
	struct capture_step second = a_string;

	memset(text, 'a', sizeof(text));
	text[sizeof(text) - 1] = '\0';
	assert_int_equal(capture_text(&a_string, &regs, words, got), 5);
	assert_memory_equal(got, "\5\0hello", 7);
	second.index = 2;
	assert_int_equal(capture_text(&second, &regs, words, got), ARGBLOB_STRING_MAX);
}

#ifdef __x86_64__
/* The captured bytes are those of the value only. */
TEST(a_vector_register_gives_its_low_bytes)
{
	static const uint8_t value[16] = "0123456789abcdef";
	static const uint16_t sizes[] = { 4, 8, 10, 16, 32 };
	struct arch_regs regs = { 0 };
	uint32_t len;

	for (size_t i = 0; i < ARRAY_SIZE(sizes); i++) {
		uint32_t bytes = MIN(sizes[i], (uint16_t)16);

		program[0] = (struct capture_step){ .op = CAPTURE_HEAD, .bytes = 1 };
		program[1] = (struct capture_step){ .op = CAPTURE_VECTOR,
						    .bytes = sizes[i],
						    .index = 5 };
		memset(got, 0xee, sizeof(got));
		__asm__ volatile("movups %0, %%xmm5" ::"m"(value) : "xmm5");
		len = capture_args(program, &regs, words, got);
		check(len, value, bytes);
	}
}

TEST(the_top_of_the_floating_point_stack_is_ten_bytes)
{
	const long double value = 1.25L;
	long double popped;
	struct arch_regs regs = { 0 };
	uint32_t len;

	program[0] = (struct capture_step){ .op = CAPTURE_HEAD, .index = 1 };
	program[1] = (struct capture_step){ .op = CAPTURE_X87, .bytes = 10 };
	__asm__ volatile("fldt %0" ::"m"(value));
	len = capture_retval(program, &regs, got);
	/* The value is still on the stack of the x87. */
	__asm__ volatile("fstpt %0" : "=m"(popped));
	assert_true(popped == value);
	check(len, &value, 10);
}
#endif

TEST_GROUP(setup, teardown)
