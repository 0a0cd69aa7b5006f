/* cmds/show/parts/text_store.c: texts and their numbers. */
#include "cmds/show/parts/text_store.h"

#include <errno.h>

#include "tests/unit/lib/unit.h"

static struct text_store store;

static int setup(void **state)
{
	store = (struct text_store){ .file = CALL_FILE_CLOSED };
	return 0;
}

static int teardown(void **state)
{
	text_store_deinit(&store);
	return 0;
}

static void assert_text(uint64_t number, const char *expected)
{
	struct strbuf out cleanup_strbuf = { 0 };

	assert_int_equal(text_store_get(&store, number, &out), 0);
	assert_string_equal(strbuf_str(&out), expected);
}

TEST_WITH(many_texts, setup, teardown)
{
	enum {
		NR = 50000
	};
	static uint64_t numbers[NR];
	char text[64];

	for (int i = 0; i < NR; i++) {
		snprintf(text, sizeof(text), "(%d, \"%.*s\")", i, i % 50, "0123456789abcdef");
		assert_int_equal(text_store_add(&store, text, &numbers[i]), 0);
		assert_int_not_equal(numbers[i], 0);
	}
	/* The first texts are in the file already, the last ones are not. */
	assert_true(store.file.bytes > 0 && store.tail.len > 0);
	for (int i = NR; i-- > 0;) {
		snprintf(text, sizeof(text), "(%d, \"%.*s\")", i, i % 50, "0123456789abcdef");
		assert_text(numbers[i], text);
	}
}

TEST_WITH(the_same_text_is_there_once, setup, teardown)
{
	uint64_t first, second, other;

	assert_int_equal(text_store_add(&store, "(1)", &first), 0);
	assert_int_equal(text_store_add(&store, "(2)", &other), 0);
	assert_int_equal(text_store_add(&store, "(1)", &second), 0);
	assert_int_equal(first, second);
	assert_int_not_equal(first, other);
	assert_int_equal(text_store_add(&store, "", &other), 0);
	assert_text(other, "");
}

TEST_WITH(long_texts_have_their_beginning, setup, teardown)
{
	char *text = malloc(3 * TEXT_BYTES_MAX);
	uint64_t number, after;

	memset(text, 'x', 3 * TEXT_BYTES_MAX);
	text[3 * TEXT_BYTES_MAX - 1] = '\0';
	assert_int_equal(text_store_add(&store, text, &number), 0);
	assert_int_equal(text_store_add(&store, "after", &after), 0);
	text[TEXT_BYTES_MAX] = '\0';
	assert_text(number, text);
	assert_text(after, "after");
	free(text);
}

/* Numbers come from any client that has the page's address, so they may be wrong. */
TEST_WITH(numbers_of_no_text, setup, teardown)
{
	struct strbuf out cleanup_strbuf = { 0 };
	uint64_t number;

	assert_int_equal(text_store_get(&store, 1, &out), -ENOENT);
	for (int i = 0; i < 20000; i++) {
		char text[32];

		snprintf(text, sizeof(text), "text %d", i);
		assert_int_equal(text_store_add(&store, text, &number), 0);
	}
	assert_int_equal(text_store_get(&store, 0, &out), -ENOENT);
	assert_int_equal(text_store_get(&store, UINT64_MAX, &out), -ENOENT);
	assert_int_equal(text_store_get(&store, number + 100, &out), -ENOENT);
	for (uint64_t n = 1; n < number + 100; n += 7) {
		strbuf_reset(&out);
		assert_true(text_store_get(&store, n, &out) <= 0);
		assert_true(out.len <= TEXT_BYTES_MAX);
	}
}

TEST_WITH(no_room, setup, teardown)
{
	uint64_t number;
	int ret = 0;

	assert_int_equal(text_store_add(&store, "first", &number), 0);
	for (int i = 0; ret == 0 && i < 100000; i++) {
		char text[32];

		snprintf(text, sizeof(text), "text %d", i);
		ret = text_store_add(&store, text, &number);
		if (store.file.fd >= 0)
			store.file.max_bytes = store.file.bytes;
	}
	assert_int_equal(ret, -ENOSPC);
}
