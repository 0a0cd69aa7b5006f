/*
 * Boxes of containers: hand-made objects with the layouts of GNU's and LLVM's libraries, and the
 * elements captured of them. Some objects are torn, cyclic, or point to nothing.
 */
#include <errno.h>
#include <sys/mman.h>
#include <unistd.h>

#include "libmcount/values/capture_box.h"
#include "libmcount/hot/probe.h"
#include "tests/unit/lib/unit.h"
#include "utils/base/containers/strbuf.h"

#define BOX_BYTES_MAX 256

/* The end of a readable page; the next page is unreadable. */
static uint8_t *edge;
static struct strbuf expected;

static const struct box_step an_int = { .op = BOX_BYTES, .b = 4 };

static int setup(void **state)
{
	size_t page = sysconf(_SC_PAGESIZE);
	uint8_t *pages = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
			      -1, 0);

	assert_true(pages != MAP_FAILED);
	edge = pages + page;
	assert_return_code(mprotect(edge, page, PROT_NONE), errno);
	return 0;
}

static int teardown(void **state)
{
	size_t page = sysconf(_SC_PAGESIZE);

	munmap(edge - page, 2 * page);
	strbuf_deinit(&expected);
	return 0;
}

/* --- expected bytes --- */

static void expect_bytes(const void *bytes, size_t len)
{
	strbuf_add(&expected, bytes, len);
}

static void expect_int(int32_t value)
{
	expect_bytes(&value, sizeof(value));
}

static void expect_byte(uint8_t value)
{
	expect_bytes(&value, sizeof(value));
}

static void expect_text(const char *text)
{
	uint16_t len = strlen(text);

	expect_bytes(&len, sizeof(len));
	expect_bytes(text, len);
}

static void expect_count(uint32_t number, uint16_t stored)
{
	expect_bytes(&number, sizeof(number));
	expect_bytes(&stored, sizeof(stored));
}

/*
 * Expect a box of @number elements, all captured: @first, @first + 1 and so on.
 */
static void expect_ints(uint32_t number, int32_t first)
{
	expect_count(number, number);
	for (uint32_t i = 0; i < number; i++)
		expect_int(first + i);
}

/*
 * Run @nr steps on @object, and compare the box with the bytes expected since the last comparison.
 * @room: the size of the box
 */
static void check_room(const struct box_step *steps, uint32_t nr, const void *object, uint32_t room)
{
	uint8_t box[BOX_BYTES_MAX + 1];

	memset(box, 0xa5, sizeof(box));
	capture_box(steps, nr, (uint64_t)object, box, room);
	assert_int_equal(box[0], BOX_GOOD);
	assert_memory_equal(box + 1, strbuf_str(&expected), expected.len);
	for (uint32_t i = 1 + expected.len; i < room; i++)
		assert_int_equal(box[i], 0);
	assert_int_equal(box[room], 0xa5);
	strbuf_reset(&expected);
}

static void check(const struct box_step *steps, uint32_t nr, const void *object)
{
	check_room(steps, nr, object, BOX_BYTES_MAX);
}

static void check_nothing(const struct box_step *steps, uint32_t nr, const void *object)
{
	uint8_t box[64];

	memset(box, 0xa5, sizeof(box));
	capture_box(steps, nr, (uint64_t)object, box, sizeof(box));
	for (size_t i = 0; i < sizeof(box); i++)
		assert_int_equal(box[i], BOX_NOTHING);
}

/* --- one value --- */

TEST(bytes)
{
	const struct box_step step = { .op = BOX_BYTES, .a = 2, .b = 5 };
	uint8_t untouched = 0xa5;

	expect_bytes("cdefg", 5);
	check(&step, 1, "abcdefghij");
	/* The value is as large as the box, and then one byte larger. */
	expect_bytes("cdefg", 5);
	check_room(&step, 1, "abcdefghij", 6);
	capture_box(&step, 1, (uint64_t) "abcdefghij", &untouched, 0);
	assert_int_equal(untouched, 0xa5);

	uint8_t small[5];

	capture_box(&step, 1, (uint64_t) "abcdefghij", small, sizeof(small));
	assert_memory_equal(small, ((uint8_t[5]){ BOX_NOTHING }), sizeof(small));

	memcpy(edge - 7, "ABCDEFG", 7);
	expect_bytes("CDEFG", 5);
	check(&step, 1, edge - 7);
	check_nothing(&step, 1, edge - 6);
	check_nothing(&step, 1, edge);
	check_nothing(&step, 0, "abcdefghij");
}

TEST(texts)
{
	char longest[ARGBLOB_STRING_MAX + 2];
	struct {
		uint64_t pad;
		const char *text;
		uint64_t len;
	} object = { 0, "a text", 4 };
	const struct box_step string = { .op = BOX_STRING, .a = 8 };
	const struct box_step counted = { .op = BOX_TEXT, .a = 8, .b = 16 };
	const struct box_step gnu = { .op = BOX_STD_STRING, .a = 8 };

	expect_text("a text");
	check(&string, 1, &object);
	expect_text("a te");
	check(&counted, 1, &object);
	expect_text("a te");
	check(&gnu, 1, &object);

	object.len = 0;
	expect_text("");
	check(&counted, 1, &object);
	object.len = 1ULL << 40;
	check_nothing(&counted, 1, &object);
	check_nothing(&gnu, 1, &object);

	memset(longest, 'x', sizeof(longest));
	object.text = longest;
	object.len = ARGBLOB_STRING_MAX;
	strbuf_addf(&expected, "%c%c%.*s", ARGBLOB_STRING_MAX & 0xff, ARGBLOB_STRING_MAX >> 8,
		    ARGBLOB_STRING_MAX, longest);
	check_room(&counted, 1, &object, 1 + 2 + ARGBLOB_STRING_MAX);
	object.len++;
	strbuf_addf(&expected, "%c%c%.*s%s", ARGBLOB_STRING_MAX & 0xff, ARGBLOB_STRING_MAX >> 8,
		    ARGBLOB_STRING_MAX - 3, longest, ARGBLOB_STRING_CUT);
	check_room(&gnu, 1, &object, 1 + 2 + ARGBLOB_STRING_MAX);

	/* A string that ends in NUL is cut at the same length. */
	longest[ARGBLOB_STRING_MAX + 1] = '\0';
	strbuf_addf(&expected, "%c%c%.*s%s", ARGBLOB_STRING_MAX & 0xff, ARGBLOB_STRING_MAX >> 8,
		    ARGBLOB_STRING_MAX - 3, longest, ARGBLOB_STRING_CUT);
	check_room(&string, 1, &object, 1 + 2 + ARGBLOB_STRING_MAX);
	longest[ARGBLOB_STRING_MAX] = '\0';
	expect_text(longest);
	check_room(&string, 1, &object, 1 + 2 + ARGBLOB_STRING_MAX);

	object.text = NULL;
	expect_text(ARGBLOB_NULL);
	check(&string, 1, &object);
	object.text = (const char *)edge - 3;
	memcpy(edge - 3, "xyz", 3);
	check_nothing(&string, 1, &object);
	object.len = 3;
	expect_text("xyz");
	check(&counted, 1, &object);
	object.len = 4;
	check_nothing(&counted, 1, &object);
}

TEST(texts_of_llvm)
{
	const struct box_step step = { .op = BOX_STD_STRING_LLVM, .a = 8 };
	/* A short string is in the object. The byte before it is twice the string's length. */
	union {
		uint64_t words[4];
		char bytes[32];
	} object = { 0 };

	object.bytes[8] = 5 * 2;
	memcpy(object.bytes + 9, "short", 5);
	expect_text("short");
	check(&step, 1, &object);
	object.words[1] = 64 | 1;
	object.words[2] = 6;
	object.words[3] = (uint64_t) "longer";
	expect_text("longer");
	check(&step, 1, &object);
	check_nothing(&step, 1, edge - 24);
}

TEST(members)
{
	struct {
		int pad, a, b;
	} object = { 1, 2, 3 };
	const struct box_step both[] = {
		{ .op = BOX_MEMBERS, .a = 4, .b = 2, .skip = 2 },
		{ .op = BOX_BYTES, .a = 4, .b = 4 },
		{ .op = BOX_BYTES, .a = 0, .b = 4 },
	};
	const struct box_step fields[] = {
		{ .op = BOX_FIELDS, .a = 4, .b = 8, .c = 1, .skip = 1 },
		{ .op = BOX_BYTES, .a = 4, .b = 4 },
	};

	expect_int(3);
	expect_int(2);
	check(both, 3, &object);
	expect_int(2);
	expect_int(3);
	expect_int(3);
	check(fields, 2, &object);
	check_nothing(fields, 2, edge - 8);
}

TEST(perhaps)
{
	struct {
		int value;
		uint8_t is_there;
	} object = { 7, 1 };
	const int *pointers[] = { &object.value, &object.value };
	const struct box_step optional[] = { { .op = BOX_OPTIONAL, .a = 4, .b = 1, .skip = 1 },
					     an_int };
	const struct box_step follow[] = { { .op = BOX_FOLLOW, .a = 8, .skip = 1 }, an_int };

	expect_byte(1);
	expect_int(7);
	check(optional, 2, &object);
	object.is_there = 0;
	expect_byte(0);
	check(optional, 2, &object);
	check_nothing(optional, 2, edge - 4);

	expect_byte(1);
	expect_int(7);
	check(follow, 2, pointers);
	pointers[1] = NULL;
	expect_byte(0);
	check(follow, 2, pointers);
	pointers[1] = (const int *)edge;
	check_nothing(follow, 2, pointers);
	check_nothing(follow, 2, edge);
}

TEST(variants)
{
	struct {
		int value;
		uint8_t which;
	} object = { 9, 0 };
	const struct box_step steps[] = {
		{ .op = BOX_VARIANT, .a = 4, .b = 1, .c = 2, .skip = 4 },
		{ .op = BOX_MEMBERS, .b = 2, .skip = 2 },
		an_int,
		an_int,
		{ .op = BOX_BYTES, .b = 1 },
	};

	expect_byte(0);
	expect_int(9);
	expect_int(9);
	check(steps, 5, &object);
	object.which = 1;
	expect_byte(1);
	expect_byte(9);
	check(steps, 5, &object);
	object.which = 2;
	expect_byte(BOX_NO_CASE);
	check(steps, 5, &object);
	check_nothing(steps, 5, edge);
}

TEST(weak)
{
	struct control {
		uint64_t pad;
		uint32_t owners;
		uint32_t others;
	} control = { 0, 1, 77 };
	int value = 5;
	struct {
		const int *pointer;
		const struct control *control;
	} object = { &value, &control };
	struct box_step steps[] = {
		{ .op = BOX_FOLLOW_WEAK, .a = 0, .b = 8, .c = 8, .d = 4, .skip = 1 },
		an_int,
	};

	expect_byte(1);
	expect_int(5);
	check(steps, 2, &object);
	control.owners = 0;
	expect_byte(BOX_EXPIRED);
	check(steps, 2, &object);
	/* The counter of LLVM's library is one less than the number of owners. */
	steps[0].e = 1;
	expect_byte(1);
	expect_int(5);
	check(steps, 2, &object);
	control.owners = UINT32_MAX;
	expect_byte(BOX_EXPIRED);
	check(steps, 2, &object);

	object.control = (const struct control *)edge;
	check_nothing(steps, 2, &object);
	object.control = NULL;
	expect_byte(0);
	check(steps, 2, &object);
	object.control = &control;
	object.pointer = NULL;
	expect_byte(0);
	check(steps, 2, &object);
}

/* --- elements in a row --- */

TEST(rows)
{
	static const int numbers[] = { 10, 11, 12, 13, 14 };
	struct {
		const void *first, *end;
		uint64_t number;
	} object = { numbers, numbers + 5, 4 };
	struct box_step steps[] = {
		{ .op = BOX_RANGE, .limit = 8, .skip = 1, .a = 0, .b = 8, .c = 4 },
		an_int,
	};

	expect_ints(5, 10);
	check(steps, 2, &object);
	steps[0].limit = 2;
	expect_count(5, 2);
	expect_int(10);
	expect_int(11);
	check(steps, 2, &object);
	steps[0].limit = 8;
	/*
	 * The box takes as many elements as fit: one byte is for the box, six are for the numbers.
	 */
	expect_count(5, 2);
	expect_int(10);
	expect_int(11);
	check_room(steps, 2, &object, 1 + 6 + 11);
	expect_count(BOX_WILD, 0);
	check(steps, 2, edge);

	object.end = (const char *)object.first + 6;
	expect_count(BOX_WILD, 0);
	check(steps, 2, &object);
	object.end = (const char *)object.first - 4;
	expect_count(BOX_WILD, 0);
	check(steps, 2, &object);
	object.end = object.first;
	expect_count(0, 0);
	check(steps, 2, &object);
	object.first = edge - 4;
	object.end = edge + 4;
	memcpy(edge - 4, numbers, 4);
	expect_count(2, 1);
	expect_int(10);
	check(steps, 2, &object);

	object.first = numbers;
	steps[0] = (struct box_step){ .op = BOX_COUNTED, .limit = 8, .skip = 1, .b = 16, .c = 4 };
	expect_ints(4, 10);
	check(steps, 2, &object);
	object.number = 1ULL << 40;
	expect_count(BOX_WILD, 0);
	check(steps, 2, &object);
	/* The number of elements is larger than a box can state. */
	object.number = (1ULL << 40) - 1;
	steps[0].limit = 1;
	expect_count(BOX_MANY, 1);
	expect_int(10);
	check(steps, 2, &object);

	steps[0] = (struct box_step){ .op = BOX_FIXED, .limit = 8, .skip = 1, .b = 3, .c = 4 };
	expect_ints(3, 10);
	check(steps, 2, &object);
	steps[0] =
		(struct box_step){ .op = BOX_ARRAY, .limit = 8, .skip = 1, .a = 4, .b = 3, .c = 4 };
	expect_ints(3, 11);
	check(steps, 2, numbers);
}

/*
 * In rows of rows, the number of memory reads is limited, even if the limits of all rows multiply
 * to more.
 */
TEST(looks_are_limited)
{
	static const char letters[20] = "abcdefghijklmnopqrst";
	static uint8_t box[4096];
	const struct box_step steps[] = {
		{ .op = BOX_ARRAY, .limit = 20, .skip = 2, .b = 20 },
		{ .op = BOX_ARRAY, .limit = 20, .skip = 1, .b = 20, .c = 1 },
		{ .op = BOX_BYTES, .b = 1 },
	};
	unsigned nr = 0;

	capture_box(steps, 3, (uint64_t)letters, box, sizeof(box));
	for (size_t i = 1; i < sizeof(box); i++)
		nr += box[i] >= 'a';
	/* There are 256 reads: 13 of rows, and one of each letter. A row has twenty letters. */
	assert_int_equal(nr, 256 - 13);
}

TEST(bits)
{
	uint64_t words[2] = { 0x8000000000000105ULL, 3 };
	struct {
		const uint64_t *first;
		uint64_t pad;
		const uint64_t *end;
		uint32_t bit, pad2;
		uint64_t number;
	} object = { words, 0, words + 1, 2, 0, 11 };
	struct box_step steps[] = {
		{ .op = BOX_BITS, .limit = 70, .a = 0, .b = 16 },
	};

	expect_count(66, 66);
	for (int i = 0; i < 66; i++)
		expect_byte(words[i / 64] >> i % 64 & 1);
	check(steps, 1, &object);
	object.bit = 64;
	expect_count(BOX_WILD, 0);
	check(steps, 1, &object);
	object.bit = 0;
	object.end = words;
	expect_count(0, 0);
	check(steps, 1, &object);
	object.end = (const uint64_t *)((const char *)words + 4);
	expect_count(BOX_WILD, 0);
	check(steps, 1, &object);
	steps[0] = (struct box_step){ .op = BOX_COUNTED_BITS, .limit = 70, .a = 0, .b = 32 };
	expect_count(11, 11);
	for (int i = 0; i < 11; i++)
		expect_byte(words[0] >> i & 1);
	check(steps, 1, &object);
}

/* --- nodes --- */

struct node {
	struct node *left, *right, *above;
	int value;
};

TEST(chains)
{
	struct node nodes[4];
	struct {
		uint64_t pad;
		struct node *first;
		uint64_t number;
	} object = { 0, nodes, 4 };
	struct box_step steps[] = {
		{ .op = BOX_CHAIN, .limit = 9, .skip = 1, .a = 8, .b = 16, .c = 8, .d = 24 },
		an_int,
	};

	for (int i = 0; i < 4; i++)
		nodes[i] = (struct node){ NULL, i < 3 ? &nodes[i + 1] : NULL, NULL, 30 + i };
	expect_ints(4, 30);
	check(steps, 2, &object);
	/* The stored count is larger than the number of elements. */
	object.number = 6;
	expect_count(6, 4);
	for (int i = 0; i < 4; i++)
		expect_int(30 + i);
	check(steps, 2, &object);

	/* BOX_LINKS is for objects without a stored count. */
	steps[0] = (struct box_step){
		.op = BOX_LINKS, .limit = 9, .skip = 1, .a = 8, .b = 8, .c = 24
	};
	expect_ints(4, 30);
	check(steps, 2, &object);
	nodes[3].right = nodes;
	steps[0].limit = 5;
	expect_count(BOX_MANY, 5);
	for (int i = 0; i < 5; i++)
		expect_int(30 + i % 4);
	check(steps, 2, &object);
	nodes[2].right = (struct node *)edge;
	expect_count(BOX_WILD, 0);
	check(steps, 2, &object);
	object.first = NULL;
	expect_count(0, 0);
	check(steps, 2, &object);
}

/* Without a stored count, the links are counted up to this number. */
TEST(many_links)
{
	static struct node nodes[BOX_WALK_MAX + 1];
	struct node *first = nodes;
	const struct box_step steps[] = {
		{ .op = BOX_LINKS, .limit = 0, .skip = 1, .a = 0, .b = 8, .c = 24 },
		an_int,
	};

	for (int i = 0; i < BOX_WALK_MAX; i++)
		nodes[i].right = &nodes[i + 1];
	expect_count(BOX_MANY, 0);
	check(steps, 2, &first);
	nodes[BOX_WALK_MAX - 1].right = NULL;
	expect_count(BOX_WALK_MAX, 0);
	check(steps, 2, &first);
}

/* Make a balanced tree of the nodes [first, first + nr) below @above. */
static struct node *grow(struct node *nodes, int first, int nr, struct node *above)
{
	struct node *root = nr ? &nodes[first + nr / 2] : NULL;

	if (!root)
		return NULL;
	*root = (struct node){ .above = above, .value = first + nr / 2 };
	root->left = grow(nodes, first, nr / 2, root);
	root->right = grow(nodes, first + nr / 2 + 1, nr - nr / 2 - 1, root);
	return root;
}

TEST(trees)
{
	struct node nodes[31];
	struct node end;
	struct {
		struct node *first;
		uint64_t number;
	} object = { nodes, 0 };
	const struct box_step steps[] = {
		{ .op = BOX_TREE,
		  .limit = 40,
		  .skip = 1,
		  .a = 0,
		  .b = 8,
		  .c = 0,
		  .d = 24,
		  .e = 8,
		  .f = 16 },
		an_int,
	};

	for (int nr = 1; nr <= 31; nr++) {
		end = (struct node){ 0 };
		end.left = grow(nodes, 0, nr, &end);
		object.number = nr;
		expect_ints(nr, 0);
		check(steps, 2, &object);
	}
	/* The first cycle is to the left, the second one upwards. Reading stops at both. */
	grow(nodes, 0, 3, &end);
	nodes[2].left = &nodes[2];
	object.number = 3;
	expect_count(3, 2);
	expect_int(0);
	expect_int(1);
	check(steps, 2, &object);
	grow(nodes, 0, 3, &end);
	nodes[2].above = &nodes[2];
	object.first = &nodes[2];
	nodes[2].right = NULL;
	object.number = 2;
	expect_count(2, 2);
	expect_int(2);
	expect_int(2);
	check(steps, 2, &object);
}

/* --- blocks --- */

/* GNU: blocks of 512 bytes. The first element is anywhere in the first block. */
TEST(deques)
{
	static int blocks[3][128];
	int *table[] = { blocks[0], blocks[1], blocks[2] };
	struct iterator {
		const int *at, *first, *last;
		int **slot;
	};
	struct {
		struct iterator start, finish;
	} object;
	const struct box_step steps[] = {
		{ .op = BOX_DEQUE,
		  .limit = 40,
		  .skip = 1,
		  .a = 0,
		  .b = sizeof(struct iterator),
		  .c = 4 },
		an_int,
	};

	for (int i = 0; i < 3 * 128; i++)
		blocks[i / 128][i % 128] = i;

	const struct iterator start = { blocks[0] + 120, blocks[0], blocks[0] + 128, table };

	for (int nr = 0; nr <= 8 + 128; nr++) {
		int block = (120 + nr) / 128;

		object.start = start;
		object.finish = (struct iterator){ blocks[block] + (120 + nr) % 128, blocks[block],
						   blocks[block] + 128, table + block };
		expect_count(nr, MIN(nr, 40));
		for (int i = 0; i < MIN(nr, 40); i++)
			expect_int(120 + i);
		check(steps, 2, &object);
	}
	/* None of these values is a deque. */
	for (int i = 0; i < 5; i++) {
		object.start = start;
		object.finish = (struct iterator){ blocks[2], blocks[2], blocks[2] + 128,
						   table + 2 };
		if (i == 0)
			object.start.slot = table + 3;
		if (i == 1)
			object.start.last = object.start.at - 1;
		if (i == 2)
			object.finish.at = object.finish.first - 1;
		if (i == 3)
			object.finish.slot = (int **)((uint64_t)table + (1ULL << 43));
		if (i < 4)
			expect_count(BOX_WILD, 0);
		else
			expect_count(8 + 128, 40);
		for (int k = 0; i == 4 && k < 40; k++)
			expect_int(120 + k);
		check(steps, 2, &object);
	}
	/* A container whose end is before its beginning has no elements. */
	object.finish = object.start = start;
	object.finish.at--;
	expect_count(0, 0);
	check(steps, 2, &object);
	check_nothing(steps, 0, &object);
}

/* LLVM: blocks of 4096 bytes, and the index of the first element in them. */
TEST(deques_of_llvm)
{
	static int blocks[3][1024];
	const int *table[] = { blocks[0], blocks[1], blocks[2] };
	struct {
		const int **table;
		uint64_t start, number;
	} object = { table, 1020, 10 };
	const struct box_step steps[] = {
		{ .op = BOX_COUNTED_DEQUE,
		  .limit = 40,
		  .skip = 1,
		  .a = 0,
		  .b = 8,
		  .c = 16,
		  .d = 4 },
		an_int,
	};

	for (int i = 0; i < 3 * 1024; i++)
		blocks[i / 1024][i % 1024] = i;
	expect_ints(10, 1020);
	check(steps, 2, &object);
	object.start = 2047;
	expect_ints(10, 2047);
	check(steps, 2, &object);
	object.number = 0;
	object.table = NULL;
	expect_count(0, 0);
	check(steps, 2, &object);
	object.number = 1;
	expect_count(BOX_WILD, 0);
	check(steps, 2, &object);
	object.table = table;
	object.number = 1ULL << 40;
	expect_count(BOX_WILD, 0);
	check(steps, 2, &object);
	object.number = 1;
	object.start = 1ULL << 40;
	expect_count(BOX_WILD, 0);
	check(steps, 2, &object);
}

/* Some elements are so large that few of them, or only one, fit into a block. */
TEST(deques_of_large_elements)
{
	static const unsigned sizes[] = { 100, 255, 256, 511, 512, 600 };
	static char memory[3][16 * 600];

	for (size_t i = 0; i < ARRAY_SIZE(sizes); i++) {
		unsigned bytes = sizes[i];
		unsigned gnu = bytes < 512 ? 512 / bytes : 1;
		unsigned llvm = bytes < 256 ? 4096 / bytes : 16;
		char *table[] = { memory[0], memory[1], memory[2] };
		struct {
			char *at, *first, *last, **slot;
		} iterators[2] = {
			{ memory[0] + (gnu - 1) * bytes, memory[0], memory[0] + gnu * bytes,
			  table },
			{ memory[2], memory[2], memory[2] + gnu * bytes, table + 2 },
		};
		struct {
			char **table;
			uint64_t start, number;
		} counted = { table, llvm - 1, 3 };
		struct box_step steps[] = {
			{ .op = BOX_DEQUE, .limit = 40, .skip = 1, .a = 0, .b = 32, .c = bytes },
			{ .op = BOX_BYTES, .b = 1 },
		};

		for (unsigned k = 0; k < 3 * sizeof(memory[0]); k++)
			memory[k / sizeof(memory[0])][k % sizeof(memory[0])] =
				(char)(k / sizeof(memory[0]) * 100 + k % sizeof(memory[0]) / bytes);
		expect_count(1 + gnu, 1 + gnu);
		expect_byte(gnu - 1);
		for (unsigned k = 0; k < gnu; k++)
			expect_byte(100 + k);
		check(steps, 2, iterators);

		steps[0] = (struct box_step){ .op = BOX_COUNTED_DEQUE,
					      .limit = 40,
					      .skip = 1,
					      .a = 0,
					      .b = 8,
					      .c = 16,
					      .d = bytes };
		expect_count(3, 3);
		expect_byte(llvm - 1);
		expect_byte(100);
		expect_byte(101);
		check(steps, 2, &counted);
	}
}

TEST_GROUP(setup, teardown)
