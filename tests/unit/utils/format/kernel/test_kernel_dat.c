/*
 * kernel_header and the pages of kernel-cpu*.dat: round trips, both byte orders and both sizes of
 * long, cut files and wrong ones.
 */
#include "tests/unit/lib/unit.h"

#include <errno.h>

#include "tests/unit/lib/read/kernel_page.h"
#include "utils/base/compiler.h"
#include "utils/format/kernel/kernel_dat.h"

static const char switch_format[] = "name: sched_switch\n"
				    "ID: 372\n"
				    "format:\n"
				    "\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n"
				    "\n"
				    "\tfield:pid_t prev_pid;\toffset:24;\tsize:4;\tsigned:1;\n"
				    "\tfield:pid_t next_pid;\toffset:56;\tsize:4;\tsigned:1;\n"
				    "\n"
				    "print fmt: \"x\"\n";

static const char page_format[] = "\tfield: u64 timestamp;\toffset:0;\tsize:8;\tsigned:0;\n"
				  "\tfield: local_t commit;\toffset:8;\tsize:4;\tsigned:1;\n";

static struct text text_copy(const void *data, size_t len)
{
	return (struct text){ data, (const char *)data + len };
}

static void make_header(struct strbuf *out, bool big)
{
	kernel_header_put_layout(out, &(struct kernel_layout){ 4096, 8, big });
	kernel_header_put_file(out, "events/header_page", page_format, sizeof(page_format) - 1);
	kernel_header_put_file(out, "events/empty/one/format", "", 0);
	kernel_header_put_file(out, "events/sched/sched_switch/format", switch_format,
			       sizeof(switch_format) - 1);
}

static void assert_text(struct text text, const char *expected)
{
	assert_int_equal(text_left(&text), strlen(expected));
	assert_memory_equal(text.at, expected, strlen(expected));
}

TEST(header_round_trip)
{
	for (int big = 0; big < 2; big++) {
		struct strbuf text cleanup_strbuf = { 0 };
		struct kernel_header header cleanup_kernel_header = { 0 };
		struct kernel_event_type type = { 0 };
		bool is_cut;

		make_header(&text, big);
		assert_int_equal(
			kernel_header_decode(&header, text_of(text.data, text.len), &is_cut, NULL),
			0);
		assert_false(is_cut);
		assert_int_equal(header.layout.page_bytes, 4096);
		assert_int_equal(header.layout.long_size, 8);
		assert_int_equal(header.layout.is_big_endian, big);
		assert_int_equal(header.nr_files, 3);
		assert_text(header.files[0].name, "events/header_page");
		assert_int_equal(kernel_header_page_long(header.files[0].content), 4);
		assert_false(kernel_event_type_of(&header.files[0], &type));
		assert_false(kernel_event_type_of(&header.files[1], &type));
		assert_true(kernel_event_type_of(&header.files[2], &type));
		assert_text(type.system, "sched");
		assert_text(type.event, "sched_switch");
		assert_text(type.format, switch_format);
		assert_int_equal(type.id, 372);
		assert_int_equal(type.task_offset, 56);
	}
}

/* After a header was given up, it can be used again, or be given up once more. */
TEST(header_is_empty_afterwards)
{
	static const struct kernel_header empty;
	struct strbuf text cleanup_strbuf = { 0 };
	struct kernel_header header = { 0 };
	bool is_cut;

	make_header(&text, true);
	assert_int_equal(kernel_header_decode(&header, text_of(text.data, text.len), &is_cut, NULL),
			 0);
	kernel_header_deinit(&header);
	assert_memory_equal(&header, &empty, sizeof(empty));
	kernel_header_deinit(&header);
	strbuf_addstr(&text, "nonsense\n");
	assert_true(kernel_header_decode(&header, text_of(text.data, text.len), &is_cut, NULL) < 0);
	assert_memory_equal(&header, &empty, sizeof(empty));
}

/* A header that is cut anywhere is refused, or is read as far as it is complete. */
TEST(header_cut_everywhere)
{
	struct strbuf text cleanup_strbuf = { 0 };
	const char *files;
	size_t most = 0;

	make_header(&text, false);
	files = strstr(text.data, "TRACEFS");
	for (size_t len = 0; len < text.len; len++) {
		char *copy cleanup_free = exact_copy(text.data, len);
		struct kernel_header header cleanup_kernel_header = { 0 };
		struct uft_err err = { 0 };
		bool is_cut;
		int ret = kernel_header_decode(&header, text_copy(copy, len), &is_cut, &err);

		if (len < (size_t)(files - text.data)) {
			assert_int_equal(ret, -EBADMSG);
			assert_non_null(strstr(err.text, "offset "));
			continue;
		}
		assert_int_equal(ret, 0);
		assert_true(header.nr_files >= most);
		most = header.nr_files;
	}
	assert_int_equal(most, 2);
}

TEST(bad_headers)
{
	static const char *const texts[] = {
		"PAGE_SIZE: 4095\nLONG_SIZE: 8\nENDIAN: LE\n",
		"PAGE_SIZE: 131072\nLONG_SIZE: 8\nENDIAN: LE\n",
		"PAGE_SIZE: 99999999999999999999999\nLONG_SIZE: 8\nENDIAN: LE\n",
		"PAGE_SIZE: 4096\nLONG_SIZE: 6\nENDIAN: LE\n",
		"PAGE_SIZE: 4096\nLONG_SIZE: 8\nENDIAN: XE\n",
		"PAGE_SIZE: 4096\nLONG_SIZE: 8\nENDIAN: LE\nxyz",
		"PAGE_SIZE: 4096\nLONG_SIZE: 8\nENDIAN: LE\nTRACEFS: nothing\n",
		"PAGE_SIZE: 4096\nLONG_SIZE: 8\nENDIAN: LE\nTRACEFS: a: -1\n",
		"PAGE_SIZE: 4096\nLONG_SIZE: 8\nENDIAN: LE\nTRACEFS: : 0\n",
	};

	for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
		struct kernel_header header cleanup_kernel_header = { 0 };
		bool is_cut;

		assert_int_equal(kernel_header_decode(&header, text_of(texts[i], strlen(texts[i])),
						      &is_cut, NULL),
				 -EBADMSG);
	}
}

/* The error shows the file's name, which is wrong. */
TEST(bad_names)
{
	static const char *const names[] = {
		"events/a\nb/c/format",	 "events//c/format",	"events/a/\033/format",
		"events/a/b/formats",	 "events/a/b/c/format", "event/a/b/format",
		"events/a\xff/b/format", "events/a/b c/format", "events/a/b",
	};

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		struct kernel_event_type type;
		struct kernel_file file = { text_of(names[i], strlen(names[i])),
					    text_of("ID: 1\n", 6) };

		assert_false(kernel_event_type_of(&file, &type));
	}
}

TEST(fields)
{
	struct text format = text_of(switch_format, sizeof(switch_format) - 1);
	uint32_t offset;
	uint32_t size;

	assert_true(kernel_format_find_field(format, "prev_pid", &offset, &size));
	assert_int_equal(offset, 24);
	assert_int_equal(size, 4);
	assert_false(kernel_format_find_field(format, "pid", &offset, &size));
	assert_false(kernel_format_find_field(format, "", &offset, &size));
	assert_false(kernel_format_find_field(text_of("\tfield:int x;", 13), "x", &offset, &size));
}

/* A field without a known place is dropped: a value must not be read from a wrong place. */
TEST(fields_without_a_place)
{
	static const char *const formats[] = {
		"\tfield:int x;\toffset:;\tsize:4;\tsigned:1;\n",
		"\tfield:int x;\toffset:8,\tsize:4;\tsigned:1;\n",
		"\tfield:int x;\toffset:65536;\tsize:4;\tsigned:1;\n",
		"\tfield:int x;\toffset:8;\tsize:70000;\tsigned:1;\n",
	};
	uint32_t offset;
	uint32_t size;

	for (size_t i = 0; i < ARRAY_SIZE(formats); i++)
		assert_false(kernel_format_find_field(text_of(formats[i], strlen(formats[i])), "x",
						      &offset, &size));
}

/* --- pages --- */

static void assert_record(struct kernel_page *page, uint64_t time_ns, uint16_t id, int32_t pid,
			  uint32_t len)
{
	struct kernel_record rec;

	assert_int_equal(kernel_page_next(page, &rec, NULL), 1);
	assert_int_equal(rec.time_ns, time_ns);
	assert_int_equal(rec.id, id);
	assert_int_equal(rec.pid, pid);
	assert_int_equal(rec.len, len);
}

/* Fill a page with each kind of record that there is. */
static void fill(struct kernel_page_maker *maker, uint32_t long_size, bool big)
{
	static const uint32_t words[] = { 0x11, 0x22, 0x33 };

	kernel_page_begin(maker, 1000, long_size, big);
	kernel_page_record(maker, 5, 372, 42, words, 3);
	kernel_page_kind(maker, 30, 7); /* time extend */
	kernel_page_word(maker, 1);
	kernel_page_record(maker, 0, 10, 43, words, 0);
	kernel_page_kind(maker, 29, 3); /* a record that was withdrawn */
	kernel_page_word(maker, 8);
	kernel_page_word(maker, 0);
	kernel_page_kind(maker, 29, 1); /* a withdrawn record that had no time */
	kernel_page_word(maker, 4);
	kernel_page_kind(maker, 31, 9); /* time stamp */
	kernel_page_word(maker, 2);
	kernel_page_kind(maker, 0, 4); /* the length is in a word of its own */
	kernel_page_word(maker, 4 + 12);
	put_u16(maker->bytes + maker->used, 11, big);
	put_u16(maker->bytes + maker->used + 2, 0, big);
	maker->used += 4;
	kernel_page_word(maker, -1);
	kernel_page_word(maker, 0x55);
	kernel_page_end(maker, 0);
}

TEST(page_round_trip)
{
	for (int i = 0; i < 4; i++) {
		struct kernel_page_maker maker;
		struct kernel_page page;
		struct kernel_record rec;

		fill(&maker, i & 1 ? 4 : 8, i & 2);
		assert_int_equal(kernel_page_open(&page, &maker.layout, maker.bytes,
						  sizeof(maker.bytes), NULL),
				 0);
		assert_int_equal(page.missed, 0);
		assert_record(&page, 1005, 372, 42, 20);
		assert_record(&page, 1005 + 7 + (1 << 27), 10, 43, 8);
		assert_record(&page, (2 << 27) + 9 + 4, 11, -1, 12);
		assert_int_equal(kernel_page_next(&page, &rec, NULL), 0);
	}
}

/* Records have 59 bits of the time. The upper bits are those of the time before. */
TEST(long_times)
{
	struct kernel_page_maker maker;
	struct kernel_page page;
	uint64_t high = 3ULL << 59;

	kernel_page_begin(&maker, high + 100, 8, false);
	kernel_page_kind(&maker, 31, 200);
	kernel_page_word(&maker, 0);
	kernel_page_record(&maker, 1, 1, 1, NULL, 0);
	kernel_page_kind(&maker, 31, 50);
	kernel_page_word(&maker, 0);
	kernel_page_record(&maker, 1, 1, 1, NULL, 0);
	kernel_page_end(&maker, 0);
	kernel_page_open(&page, &maker.layout, maker.bytes, sizeof(maker.bytes), NULL);
	assert_record(&page, high + 201, 1, 1, 8);
	assert_record(&page, high + (1ULL << 59) + 51, 1, 1, 8);
}

TEST(missed)
{
	for (int i = 0; i < 4; i++) {
		struct kernel_page_maker maker;
		struct kernel_page page;
		bool big = i & 2;

		kernel_page_begin(&maker, 1000, i & 1 ? 4 : 8, big);
		kernel_page_record(&maker, 5, 372, 42, NULL, 0);
		kernel_page_end(&maker, 1U << 31 | 1U << 30);
		if (i & 1)
			put_u32(maker.bytes + maker.used, 77, big);
		else
			put_u64(maker.bytes + maker.used, 77, big);
		assert_int_equal(kernel_page_open(&page, &maker.layout, maker.bytes,
						  sizeof(maker.bytes), NULL),
				 0);
		assert_int_equal(page.missed, 77);
		assert_record(&page, 1005, 372, 42, 8);
		kernel_page_end(&maker, 1U << 31);
		kernel_page_open(&page, &maker.layout, maker.bytes, sizeof(maker.bytes), NULL);
		assert_true(page.missed == UINT64_MAX);
	}
}

/* The kernel pads the unused rest of a page: no record follows the padding. */
TEST(padded)
{
	for (int i = 0; i < 4; i++) {
		struct kernel_page_maker maker;
		struct kernel_page page;
		struct kernel_record rec;

		kernel_page_begin(&maker, 1000, i & 1 ? 4 : 8, i & 2);
		kernel_page_record(&maker, 5, 372, 42, NULL, 0);
		kernel_page_kind(&maker, 29, 0);
		kernel_page_word(&maker, 0);
		kernel_page_record(&maker, 5, 10, 43, NULL, 0);
		kernel_page_end(&maker, 0);
		kernel_page_open(&page, &maker.layout, maker.bytes, sizeof(maker.bytes), NULL);
		assert_record(&page, 1005, 372, 42, 8);
		assert_int_equal(kernel_page_next(&page, &rec, NULL), 0);
	}
}

/* The page is cut at each byte: complete records are read, and no byte after the end is. */
TEST(page_cut_everywhere)
{
	struct kernel_page_maker maker;
	unsigned most = 0;

	fill(&maker, 8, false);
	for (size_t len = 0; len <= maker.used; len++) {
		uint8_t *copy cleanup_free = exact_copy(maker.bytes, len);
		struct kernel_page page;
		struct kernel_record rec;
		unsigned nr = 0;
		int ret = kernel_page_open(&page, &maker.layout, copy, len, NULL);

		assert_int_equal(ret, 0);
		while ((ret = kernel_page_next(&page, &rec, NULL)) > 0)
			nr++;
		assert_true(ret == 0 || ret == -EBADMSG);
		assert_true(nr >= most);
		most = nr;
	}
	assert_int_equal(most, 3);
}

/* A flipped bit never leads out of the page, nor into an endless loop. */
TEST(page_flipped_everywhere)
{
	struct kernel_page_maker maker;

	fill(&maker, 8, true);
	for (size_t i = 0; i < maker.used * 8; i++) {
		uint8_t *copy cleanup_free = exact_copy(maker.bytes, sizeof(maker.bytes));
		struct kernel_page page;
		struct kernel_record rec;
		int ret;

		copy[i / 8] ^= 1U << i % 8;
		ret = kernel_page_open(&page, &maker.layout, copy, sizeof(maker.bytes), NULL);
		for (unsigned nr = 0; ret >= 0 && nr < KERNEL_PAGE_BYTES; nr++) {
			ret = kernel_page_next(&page, &rec, NULL);
			if (ret == 0)
				break;
			if (ret > 0)
				assert_true(rec.data >= copy &&
					    rec.data + rec.len <= copy + sizeof(maker.bytes));
		}
		assert_true(ret == 0 || ret == -EBADMSG);
	}
}

TEST(bad_pages)
{
	struct kernel_page_maker maker;
	struct kernel_page page;
	struct kernel_record rec;
	struct uft_err err = { 0 };

	kernel_page_begin(&maker, 1000, 8, false);
	put_u64(maker.bytes + 8, 4096 - 16 + 1, false);
	assert_int_equal(
		kernel_page_open(&page, &maker.layout, maker.bytes, sizeof(maker.bytes), &err),
		-EBADMSG);
	assert_non_null(strstr(err.text, "4081 bytes"));

	/* This record has no room for a pid. */
	kernel_page_kind(&maker, 1, 0);
	kernel_page_word(&maker, 0);
	kernel_page_end(&maker, 0);
	kernel_page_open(&page, &maker.layout, maker.bytes, sizeof(maker.bytes), NULL);
	err_clear(&err);
	assert_int_equal(kernel_page_next(&page, &rec, &err), -EBADMSG);
	assert_non_null(strstr(err.text, "too short at 16"));
}
