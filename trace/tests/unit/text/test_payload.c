/* Unit tests of text/payload.c: values taken from a payload, and their text. */
#include "tests/unit/lib/unit.h"

#include <sys/mman.h>
#include <unistd.h>

#include "text/payload.h"

/* Format @len bytes by @format; returns whether the payload is complete. */
static bool show(const char *format, const void *bytes, size_t len, char out[static 200])
{
	struct fst_format *pieces = fst_format_make(format);
	/* The copy has no byte more than the payload. */
	unsigned char *copy = malloc(len ? len : 1);
	struct fst_bytes from = { copy, copy + len };
	struct fst_text text;

	assert_non_null(pieces);
	assert_non_null(copy);
	memcpy(copy, bytes, len);
	fst_text_init(&text);

	bool is_whole = fst_put_payload(&text, pieces, &from);

	assert_true(text.len < 200);
	memcpy(out, text.base, text.len);
	out[text.len] = '\0';
	fst_text_free(&text);
	fst_format_free(pieces);
	free(copy);
	return is_whole && from.at == from.end;
}

static const struct {
	const char *format;
	const char *text;
	size_t len;
	const char *bytes;
} cases[] = {
	{ "", "", 0, "" },
	{ "only text", "only text", 0, "" },
	{ "N=%d", "N=-2", 4, "\xfe\xff\xff\xff" },
	{ "N=%u", "N=4294967294", 4, "\xfe\xff\xff\xff" },
	{ "%x", "fffffffe", 4, "\xfe\xff\xff\xff" },
	{ "%b %b", "true false", 8, "\2\0\0\0\0\0\0\0" },
	{ "%e %E", "ENOENT 0", 8, "\2\0\0\0\0\0\0\0" },
	{ "%P %L", "258 -1", 4, "\2\1\0\0" },
	{ "%64d %64u", "-1 1", 16, "\xff\xff\xff\xff\xff\xff\xff\xff\1\0\0\0\0\0\0\0" },
	{ "%llx %z", "10 -1", 16, "\x10\0\0\0\0\0\0\0\xff\xff\xff\xff\xff\xff\xff\xff" },
	{ "%p %T", "a 10", 16, "\12\0\0\0\0\0\0\0\12\0\0\0\0\0\0\0" },
	{ "%f", "0.5", 8, "\0\0\0\0\0\0\xe0\x3f" },
	{ "%s %S", "a+b %00", 11, "\3\0\0\0a b\xff\xff\xff\xff" },
	{ "%I/%F", "/%07", 9, "\0\0\0\0\1\0\0\0\7" },
	{ "%A %B", "a%00 6100", 12, "\2\0\0\0a\0\2\0\0\0a\0" },
	{ "%J", "[]", 4, "\0\0\0\0" },
	{ "%J", "[a,%2C,%00]", 18, "\3\0\0\0\1\0\0\0a\1\0\0\0,\xff\xff\xff\xff" },
	{ "%a", "-", 4, "\xff\xff\xff\xff" },
	{ "%a", "AF_UNIX`unnamed", 6, "\2\0\0\0\1\0" },
	{ "100%% %d", "100% 1", 4, "\1\0\0\0" },
};

TEST(whole)
{
	char out[200];

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		/* "%P %L" is tested with truncated bytes, below. */
		if (strcmp(cases[i].format, "%P %L") == 0)
			continue;
		assert_true(show(cases[i].format, cases[i].bytes, cases[i].len, out));
		assert_string_equal(out, cases[i].text);
	}
}

/* Payloads are cut at each byte: the available part is shown, and reported as incomplete. */
TEST(cut)
{
	char out[200];

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		for (size_t len = 0; len < cases[i].len; len++) {
			assert_false(show(cases[i].format, cases[i].bytes, len, out));
			assert_int_equal(strncmp(out, cases[i].text, strlen(out)), 0);
		}
	}
	assert_false(show("%P %L", "\2\1\0\0", 4, out));
	assert_string_equal(out, "258 ");
}

/*
 * Lengths and counts go beyond the end. The available part of a text is shown; nothing is shown of
 * other values.
 */
TEST(too_long)
{
	char out[200];

	assert_false(show("%s", "\4\0\0\0abc", 7, out));
	assert_string_equal(out, "abc");
	assert_false(show("A %B %d", "\4\0\0\0abc", 7, out));
	assert_string_equal(out, "A 616263");
	assert_false(show("%s", "\4\0\0\0", 4, out));
	assert_string_equal(out, "");
	assert_false(show("%a", "\4\0\0\0\1\0\0", 7, out));
	assert_string_equal(out, "");
	assert_false(show("%s",
			  "\xfe\xff\xff\xff"
			  "abc",
			  7, out));
	assert_false(show("%J", "\xff\xff\xff\xff", 4, out));
	assert_false(show("%J", "\2\0\0\0\0\0\0\0", 8, out));
	/* Bytes after the last value make the payload invalid. */
	assert_false(show("%d", "\1\0\0\0\0", 5, out));
	assert_string_equal(out, "1");
}

/* Written values are read back. */
TEST(written)
{
	struct fst_text payload;
	char out[200];

	fst_text_init(&payload);
	fst_add_u32(&payload, 7);
	fst_add_u64(&payload, UINT64_MAX);
	fst_add_double(&payload, -0.25);
	fst_add_bytes(&payload, "x y", 3);
	fst_add_bytes(&payload, NULL, 3);
	assert_true(show("%d %64d %f %s %s", payload.base, payload.len, out));
	assert_string_equal(out, "7 -1 -0.25 x+y %00");
	fst_text_free(&payload);

	/* This payload is larger than the room on the stack. */
	static char many[3000];

	fst_text_init(&payload);
	for (unsigned i = 0; i < 1000; i++)
		fst_add_u32(&payload, i);
	fst_add_bytes(&payload, many, sizeof(many));
	fst_add_u64(&payload, 5);
	assert_int_equal(payload.len, 4000 + 4 + 3000 + 8);
	assert_false(payload.has_failed);
	fst_text_free(&payload);
}

/* --- written --- */

/* Check fst_add_string(). The memory of @string ends directly after the string. */
static void check_string(const char *string, size_t len, size_t max, size_t room)
{
	size_t wanted = len < max ? len : max;
	char bytes[64];
	struct fst_text text;

	assert_true(room <= sizeof(bytes));
	memset(bytes, '~', sizeof(bytes));
	fst_text_init_at(&text, bytes, room);
	fst_add_string(&text, string, max);
	assert_int_equal(text.has_failed, 4 + wanted > room);
	if (!text.has_failed) {
		uint32_t known;

		memcpy(&known, bytes, sizeof(known));
		assert_int_equal(le32toh(known), wanted);
		assert_memory_equal(bytes + 4, string, wanted);
		assert_int_equal(text.len, 4 + wanted);
	}
	for (size_t i = room; i < sizeof(bytes); i++)
		assert_int_equal(bytes[i], '~');
	fst_text_free(&text);
}

/*
 * After the end of a string no byte is read that may be in another page. After the end of the room
 * no byte is written.
 */
TEST(strings_at_a_page_end)
{
	size_t page = sysconf(_SC_PAGESIZE);
	char *pages = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
			   0);

	assert_ptr_not_equal(pages, MAP_FAILED);
	assert_int_equal(mprotect(pages + page, page, PROT_NONE), 0);
	for (size_t len = 0; len < 40; len++) {
		char *string = pages + page - len - 1;

		memset(string, 'a' + len % 26, len);
		string[len] = '\0';
		for (size_t max = 0; max < 42; max++) {
			for (size_t room = 0; room < 50; room++)
				check_string(string, len, max, room);
		}
		check_string(string, len, SIZE_MAX, 48);
	}
	munmap(pages, 2 * page);
}

/* The strings have bytes with the sign bit, and bytes of 1 after a zero byte, at each place. */
TEST(strings_with_odd_bytes)
{
	check_string("\x80\xff\x7f\x01\x80\x80\x81\xfe\x01\x01", 10, SIZE_MAX, 64);
	check_string("a\0\x01\x01\x01\x01\x01\x01", 1, SIZE_MAX, 64);
	check_string("\x01\x01\x01\x01\x01\x01\x01\0", 7, SIZE_MAX, 64);
}

TEST(no_string)
{
	struct fst_text text;

	fst_text_init(&text);
	fst_add_string(&text, NULL, SIZE_MAX);
	assert_int_equal(text.len, 4);
	assert_memory_equal(text.base, "\xff\xff\xff\xff", 4);
	fst_text_free(&text);
}

/* A long string gets memory of its own. */
TEST(long_string)
{
	static char string[100000];
	struct fst_text text;

	memset(string, 'x', sizeof(string) - 1);
	fst_text_init(&text);
	fst_add_string(&text, string, SIZE_MAX);
	assert_false(text.has_failed);
	assert_int_equal(text.len, 4 + sizeof(string) - 1);
	assert_memory_equal(text.base + 4, string, sizeof(string) - 1);
	fst_text_free(&text);
}

TEST(plain_formats)
{
	static const struct {
		const char *format;
		bool is_plain;
		const unsigned char values[4];
	} formats[] = {
		{ "A=%d %s.", true, { FST_INT, FST_STRING } },
		{ "", true, { 0 } },
		{ "%P", false, { FST_PID } },
		{ "%d%T", false, { FST_INT, FST_THREAD } },
		{ "%I %d", false, { FST_CALL, FST_INT } },
		{ "%J", false, { FST_CALL_LIST } },
		{ "%e %F:%L", true, { FST_ERRNO, FST_FILE, FST_LINE } },
	};

	for (size_t i = 0; i < sizeof(formats) / sizeof(*formats); i++) {
		struct fst_format *format = fst_format_make(formats[i].format);

		assert_non_null(format);
		assert_int_equal(format->is_plain, formats[i].is_plain);
		assert_string_equal((const char *)format->values, (const char *)formats[i].values);
		fst_format_free(format);
	}
}
