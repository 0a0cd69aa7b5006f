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

/* Page sizes are powers of two from 4 to 64 kB. A long has 4 or 8 bytes. */
TEST(layouts_at_their_borders)
{
	static const struct {
		const char *text;
		uint32_t page_bytes;
		uint32_t long_size;
		bool is_big;
	} good[] = {
		{ "PAGE_SIZE: 4096\nLONG_SIZE: 4\nENDIAN: LE\n", 4096, 4, false },
		{ "PAGE_SIZE: 16384\nLONG_SIZE: 8\nENDIAN: BE\n", 16384, 8, true },
		{ "PAGE_SIZE: 65536\nLONG_SIZE: 8\nENDIAN: LE\n", 65536, 8, false },
	};
	static const struct {
		const char *text;
		const char *expected;
	} bad[] = {
		{ "PAGE_SIZE: 2048\nLONG_SIZE: 8\nENDIAN: LE\n", "expected 'PAGE_SIZE: '" },
		{ "PAGE_SIZE: 4097\nLONG_SIZE: 8\nENDIAN: LE\n", "expected 'PAGE_SIZE: '" },
		{ "PAGE_SIZE: 12288\nLONG_SIZE: 8\nENDIAN: LE\n", "expected 'PAGE_SIZE: '" },
		{ "PAGE_SIZE: 65537\nLONG_SIZE: 8\nENDIAN: LE\n", "expected 'PAGE_SIZE: '" },
		{ "PAGE_SIZE: 4096 LONG_SIZE: 8\nENDIAN: LE\n", "expected 'PAGE_SIZE: '" },
		{ "PAGE_SIZE: 4096\nLONG_SIZE: 5\nENDIAN: LE\n", "expected 'LONG_SIZE: '" },
		{ "PAGE_SIZE: 4096\nLONG_SIZE: 0\nENDIAN: LE\n", "expected 'LONG_SIZE: '" },
		{ "PAGE_SIZE: 4096\nLONG_SIZE: \nENDIAN: LE\n", "expected 'LONG_SIZE: '" },
		{ "PAGE_SIZE: 4096\nLONG_SIZE: 8\nENDIAN: L\n",
		  "offset 29: expected 'ENDIAN: LE'" },
		{ "PAGE_SIZE: 4096\nLONG_SIZE: 8\n", "offset 29: expected 'ENDIAN: LE'" },
		{ "", "offset 0: expected 'PAGE_SIZE: '" },
	};
	struct kernel_header header cleanup_kernel_header = { 0 };
	bool is_cut;

	for (size_t i = 0; i < ARRAY_SIZE(good); i++) {
		struct text text = text_of(good[i].text, strlen(good[i].text));

		is_cut = true;
		assert_int_equal(kernel_header_decode(&header, text, &is_cut, NULL), 0);
		assert_false(is_cut);
		assert_int_equal(header.nr_files, 0);
		assert_int_equal(header.layout.page_bytes, good[i].page_bytes);
		assert_int_equal(header.layout.long_size, good[i].long_size);
		assert_int_equal(header.layout.is_big_endian, good[i].is_big);
	}
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		struct text text = text_of(bad[i].text, strlen(bad[i].text));
		struct uft_err err = { 0 };

		assert_int_equal(kernel_header_decode(&header, text, &is_cut, &err), -EBADMSG);
		assert_non_null(strstr(err.text, bad[i].expected));
	}
}

/*
 * A header that ends within a file is cut. A line that is wrong, whatever bytes follow, is an
 * error.
 */
TEST(files_that_are_cut)
{
	static const char layout[] = "PAGE_SIZE: 4096\nLONG_SIZE: 8\nENDIAN: LE\n";
	static const struct {
		const char *files;
		int ret;
		bool is_cut;
		size_t nr_files;
	} rows[] = {
		{ "", 0, false, 0 },
		{ "T", 0, true, 0 },
		{ "TRACEFS: ", 0, true, 0 },
		{ "TRACEFS: a: 1", 0, true, 0 },
		{ "TRACEFS: a: 1\n", 0, true, 0 },
		{ "TRACEFS: a: 1\nx", 0, false, 1 },
		{ "TRACEFS: a: 0\n", 0, false, 1 },
		{ "TRACEFS: a: 3\nxyzT", 0, true, 1 },
		{ "TRACEFS: a: 3\nxyzTRACEFS: b: 1\n\n", 0, false, 2 },
		{ "TRACEFS: a: 3\nxyzTRACEFS: b: 2\n\n", 0, true, 1 },
		{ "TRACEFS: a: 2\nxyz", -EBADMSG, false, 0 },
		{ "U", -EBADMSG, false, 0 },
		{ "TRACEFS; a: 1\nx", -EBADMSG, false, 0 },
		{ "TRACEFS: a 1\nx", -EBADMSG, false, 0 },
		{ "TRACEFS: a:1\nx", -EBADMSG, false, 0 },
		{ "TRACEFS: a: 1 \nx", -EBADMSG, false, 0 },
		{ "TRACEFS: a: 1x\nx", -EBADMSG, false, 0 },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct kernel_header header cleanup_kernel_header = { 0 };
		struct strbuf text cleanup_strbuf = { 0 };
		bool is_cut = true;

		strbuf_addstr(&text, layout);
		strbuf_addstr(&text, rows[i].files);
		assert_int_equal(kernel_header_decode(&header, text_of_buf(&text), &is_cut, NULL),
				 rows[i].ret);
		assert_int_equal(is_cut, rows[i].is_cut);
		assert_int_equal(header.nr_files, rows[i].nr_files);
		if (!rows[i].nr_files)
			continue;
		assert_text(header.files[0].name, "a");
		assert_int_equal(text_left(&header.files[0].content), rows[i].files[12] - '0');
	}
}

/* The name of a file is invalid, and the error shows it. */
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

/* The number of an event, and the offset of the task that an event of the scheduler is about. */
TEST(types_of_events)
{
#define NEXT_PID(size) "\tfield:x next_pid;\toffset:40;\tsize:" size ";\n"
#define PID(size)      "\tfield:x pid;\toffset:24;\tsize:" size ";\n"
	static const struct {
		const char *name;
		const char *format;
		bool is_good;
		uint16_t id;
		uint32_t task_offset;
		bool is_tracer;
	} rows[] = {
		{ "events/sched/a/format", "ID: 5\n" NEXT_PID("4") PID("4"), true, 5, 40, false },
		{ "events/sched/a/format", "ID: 5\n" PID("4") NEXT_PID("4"), true, 5, 40, false },
		{ "events/sched/a/format", "ID: 5\n" PID("4"), true, 5, 24, false },
		{ "events/sched/a/format", "ID: 5\n" NEXT_PID("8") PID("4"), true, 5, 24, false },
		{ "events/sched/a/format", "ID: 5\n" PID("2"), true, 5, 0, false },
		{ "events/sched/a/format", "ID: 5\n", true, 5, 0, false },
		{ "events/scheds/a/format", "ID: 5\n" PID("4"), true, 5, 0, false },
		{ "events/ftrace/a/format", "ID: 5\n" PID("4"), true, 5, 0, true },
		{ "events/!/~/format", "ID: 65535\n", true, 65535, 0, false },
		{ "events/a/b/format", "x\nID: 7\nID: 8\n", true, 7, 0, false },
		{ "events/a/b/format", "ID: 0", true, 0, 0, false },
		{ "events/a/b/format", "ID: 65536\n", false, 0, 0, false },
		{ "events/a/b/format", "ID: x\nID: 5\n", false, 0, 0, false },
		{ "events/a/b/format", " ID: 5\n", false, 0, 0, false },
		{ "events/a/b/format", "", false, 0, 0, false },
		{ "events/a/b\x7f/format", "ID: 5\n", false, 0, 0, false },
		{ "events/a/ /format", "ID: 5\n", false, 0, 0, false },
		{ "events/a//format", "ID: 5\n", false, 0, 0, false },
		{ "events/a", "ID: 5\n", false, 0, 0, false },
		{ "events/", "ID: 5\n", false, 0, 0, false },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct kernel_event_type type;
		struct kernel_file file = { text_of(rows[i].name, strlen(rows[i].name)),
					    text_of(rows[i].format, strlen(rows[i].format)) };

		memset(&type, 0xaa, sizeof(type));
		assert_int_equal(kernel_event_type_of(&file, &type), rows[i].is_good);
		if (!rows[i].is_good)
			continue;
		assert_int_equal(type.id, rows[i].id);
		assert_int_equal(type.task_offset, rows[i].task_offset);
		assert_int_equal(type.is_tracer, rows[i].is_tracer);
		assert_int_equal(type.graph.kind, KERNEL_GRAPH_NONE);
		assert_int_equal(type.graph.plain_bytes, 0);
	}
}

/* Only the events of the system "ftrace" are calls. Another system may have events of that name. */
TEST(types_of_calls)
{
	static const char format[] = "ID: 9\n\tfield:x func;\toffset:8;\tsize:8;\n";
	static const char *const names[] = { "events/ftrace/funcgraph_exit/format",
					     "events/other/funcgraph_exit/format" };
	static const enum kernel_graph_kind kinds[] = { KERNEL_GRAPH_EXIT, KERNEL_GRAPH_NONE };

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		struct kernel_event_type type;
		struct kernel_file file = { text_of(names[i], strlen(names[i])),
					    text_of(format, strlen(format)) };

		assert_true(kernel_event_type_of(&file, &type));
		assert_int_equal(type.graph.kind, kinds[i]);
		assert_int_equal(type.is_tracer, i == 0);
	}
}

TEST(sizes_of_longs)
{
	static const struct {
		const char *format;
		uint32_t expected;
	} rows[] = {
		{ "\tfield: local_t commit;\toffset:8;\tsize:4;\n", 4 },
		{ "\tfield: local_t commit;\toffset:8;\tsize:8;\n", 8 },
		{ "\tfield: local_t commit;\toffset:8;\tsize:2;\n", 0 },
		{ "\tfield: local_t commit;\toffset:8;\n", 0 },
		{ "\tfield: local_t commits;\toffset:8;\tsize:8;\n", 0 },
		{ "", 0 },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		assert_int_equal(
			kernel_header_page_long(text_of(rows[i].format, strlen(rows[i].format))),
			rows[i].expected);
}

/* A field's line ends with the name, before which a type is. */
TEST(names_of_fields)
{
	static const struct {
		const char *format;
		bool is_found;
	} rows[] = {
		{ "\tfield:int x;\toffset:65535;\tsize:4;\n", true },
		{ "\tfield: x;\toffset:65535;\tsize:4;\n", true },
		{ "\tfield:x;\toffset:65535;\tsize:4;\n", false },
		{ "\tfield:intx;\toffset:65535;\tsize:4;\n", false },
		{ "\tfield:int xx;\toffset:65535;\tsize:4;\n", false },
		{ "field:int x;\toffset:65535;\tsize:4;\n", false },
		{ "\tfield:int x\toffset:65535\tsize:4\n", false },
		{ "\tfield:int x;\toffset:65535;\n", false },
		{ "\tfield:int x;\tsize:4;\n", false },
		{ "\tfield:int y;\toffset:1;\tsize:8;\n\tfield:int x;\toffset:65535;\tsize:4;",
		  true },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		uint32_t offset = 0;
		uint32_t size = 0;

		assert_int_equal(
			kernel_format_find_field(text_of(rows[i].format, strlen(rows[i].format)),
						 "x", &offset, &size),
			rows[i].is_found);
		if (!rows[i].is_found)
			continue;
		assert_int_equal(offset, 65535);
		assert_int_equal(size, 4);
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

/* Absolute times have 59 bits. The upper bits are those of the previous time. */
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

/* The last item of a page: complete, and cut by the end of the page. */
TEST(items_at_the_end_of_a_page)
{
	static const struct {
		unsigned kind;
		uint32_t delta;
		unsigned nr_words; /* after the first word */
		uint32_t word;
		int ret;
		uint64_t time_ns;
		const char *why;
	} rows[] = {
		{ 30, 7, 1, 1, 0, 1007 + (1 << 27), NULL },
		{ 30, 7, 0, 0, -EBADMSG, 1000, "is cut off at 16" },
		{ 31, 9, 1, 2, 0, (2 << 27) + 9, NULL },
		{ 31, 9, 0, 0, -EBADMSG, 1000, "is cut off at 16" },
		{ 29, 3, 1, 4, 0, 1003, NULL },
		{ 29, 2, 1, 4, 0, 1002, NULL },
		{ 29, 1, 1, 4, 0, 1000, NULL },
		{ 29, 3, 1, 3, -EBADMSG, 1000, "is too long at 16" },
		{ 29, 3, 1, 5, -EBADMSG, 1000, "is too long at 16" },
		{ 29, 3, 2, 5, 0, 1003, NULL },
		{ 29, 3, 2, 8, 0, 1003, NULL },
		{ 29, 3, 2, 9, -EBADMSG, 1000, "is too long at 16" },
		{ 29, 3, 0, 0, -EBADMSG, 1000, "is cut off at 16" },
		{ 29, 0, 0, 0, 0, 1000, NULL },
		{ 29, 0, 5, 77, 0, 1000, NULL },
		{ 0, 5, 0, 0, -EBADMSG, 1005, "is cut off at 16" },
		{ 0, 5, 1, 3, -EBADMSG, 1005, "is too short at 16" },
		{ 0, 5, 1, 4, -EBADMSG, 1005, "is too short at 16" },
		{ 0, 5, 3, 11, -EBADMSG, 1005, "is too short at 16" },
		{ 0, 5, 3, 12, 1, 1005, NULL },
		{ 0, 5, 3, 13, -EBADMSG, 1005, "is too long at 16" },
		{ 0, 5, 4, 13, 1, 1005, NULL },
		{ 1, 5, 1, 0, -EBADMSG, 1005, "is too short at 16" },
		{ 2, 5, 1, 0, -EBADMSG, 1005, "is too long at 16" },
		{ 2, 5, 2, 0, 1, 1005, NULL },
		{ 28, 5, 27, 0, -EBADMSG, 1005, "is too long at 16" },
		{ 28, 5, 28, 0, 1, 1005, NULL },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct kernel_page_maker maker;
		struct kernel_page page;
		struct kernel_record rec;
		struct uft_err err = { 0 };

		kernel_page_begin(&maker, 1000, 8, i % 2);
		kernel_page_kind(&maker, rows[i].kind, rows[i].delta);
		for (unsigned k = 0; k < rows[i].nr_words; k++)
			kernel_page_word(&maker, k ? 0 : rows[i].word);
		kernel_page_end(&maker, 0);
		kernel_page_open(&page, &maker.layout, maker.bytes, sizeof(maker.bytes), NULL);
		assert_int_equal(kernel_page_next(&page, &rec, &err), rows[i].ret);
		assert_int_equal(page.time_ns, rows[i].time_ns);
		if (rows[i].why) {
			assert_non_null(strstr(err.text, rows[i].why));
			continue;
		}
		assert_ptr_equal(page.at, page.end);
		assert_int_equal(kernel_page_next(&page, &rec, &err), 0);
	}
}

/* The short way takes records of 2 to 28 words that are complete, and leaves all others alone. */
TEST(short_records)
{
	for (unsigned i = 0; i < 2 * 32; i++) {
		unsigned kind = i / 2;
		bool is_cut = i % 2;
		unsigned nr_words = kind >= 2 && kind <= 28 ? kind - is_cut : 40 * !is_cut;
		bool is_good = kind >= 2 && kind <= 28 && !is_cut;
		struct kernel_page_maker maker;
		struct kernel_page page;
		struct kernel_page before;
		struct kernel_record rec;

		kernel_page_begin(&maker, 1000, 8, false);
		kernel_page_kind(&maker, kind, 5);
		for (unsigned k = 0; k < nr_words; k++)
			kernel_page_word(&maker, k ? k + 40 : 0x12340177);
		kernel_page_end(&maker, 0);
		kernel_page_open(&page, &maker.layout, maker.bytes, sizeof(maker.bytes), NULL);
		before = page;
		assert_int_equal(kernel_page_next_plain(&page, &rec), is_good);
		if (!is_good) {
			assert_ptr_equal(page.at, before.at);
			assert_int_equal(page.time_ns, before.time_ns);
			continue;
		}
		assert_int_equal(rec.time_ns, 1005);
		assert_int_equal(rec.id, 0x177);
		assert_int_equal(rec.pid, 41);
		assert_int_equal(rec.len, kind * 4);
		assert_ptr_equal(rec.start, before.at);
		assert_ptr_equal(rec.data, before.at + 4);
		assert_int_equal(page.time_ns, 1005);
		assert_ptr_equal(page.at, page.end);
		assert_false(kernel_page_next_plain(&page, &rec));
		/* In the other byte order the kind is elsewhere. */
		page = before;
		page.is_big_endian = true;
		assert_false(kernel_page_next_plain(&page, &rec));
		assert_ptr_equal(page.at, before.at);
	}
}

/*
 * A time stamp lacks the upper bits. It gets those of the last time, or the next higher ones if it
 * would be before the last time.
 */
TEST(stamps_at_their_borders)
{
	static const uint64_t one = 1ULL << 59;
	static const struct {
		uint64_t before_ns;
		uint64_t stamp;
		uint64_t expected;
	} rows[] = {
		{ one + 100, 100, one + 100 }, { one + 100, 99, 2 * one + 99 },
		{ one + 100, 101, one + 101 }, { one, 0, one },
		{ one, one - 1, 2 * one - 1 }, { one - 1, 5, 5 },
		{ 3 * one + 1, 0, 4 * one },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct kernel_page_maker maker;
		struct kernel_page page;

		kernel_page_begin(&maker, rows[i].before_ns, 8, false);
		kernel_page_kind(&maker, 31, rows[i].stamp & ((1 << 27) - 1));
		kernel_page_word(&maker, rows[i].stamp >> 27);
		kernel_page_record(&maker, 0, 1, 1, NULL, 0);
		kernel_page_end(&maker, 0);
		kernel_page_open(&page, &maker.layout, maker.bytes, sizeof(maker.bytes), NULL);
		assert_record(&page, rows[i].expected, 1, 1, 8);
	}
}

/* The number of lost records is after the records, if there is room for it. */
TEST(missed_at_the_end_of_a_page)
{
	for (uint32_t long_size = 4; long_size <= 8; long_size += 4) {
		for (uint32_t room = 0; room <= 8; room += 4) {
			struct kernel_page_maker maker;
			struct kernel_page page;

			kernel_page_begin(&maker, 1000, long_size, false);
			maker.used = sizeof(maker.bytes) - room;
			memset(maker.bytes + maker.used, 7, room);
			kernel_page_end(&maker, 1U << 31 | 1U << 30);
			assert_int_equal(kernel_page_open(&page, &maker.layout, maker.bytes,
							  sizeof(maker.bytes), NULL),
					 0);
			assert_ptr_equal(page.end, maker.bytes + maker.used);
			if (room < long_size)
				assert_true(page.missed == UINT64_MAX);
			else
				assert_true(
					page.missed ==
					(long_size == 4 ? 0x07070707ULL : 0x0707070707070707ULL));
			/* Without the highest bit, no record was lost. */
			kernel_page_end(&maker, 1U << 30);
			kernel_page_open(&page, &maker.layout, maker.bytes, sizeof(maker.bytes),
					 NULL);
			assert_int_equal(page.missed, 0);
		}
	}
}

/* A page without its complete head is empty. */
TEST(pages_without_a_head)
{
	struct kernel_page_maker maker;
	struct kernel_page page;
	struct kernel_record rec;

	fill(&maker, 8, false);
	for (size_t len = 0; len <= 16; len++) {
		assert_int_equal(kernel_page_open(&page, &maker.layout, maker.bytes, len, NULL), 0);
		assert_ptr_equal(page.start, maker.bytes);
		assert_ptr_equal(page.at, maker.bytes + len);
		assert_ptr_equal(page.end, maker.bytes + len);
		assert_int_equal(page.time_ns, len < 16 ? 0 : 1000);
		assert_int_equal(kernel_page_next(&page, &rec, NULL), 0);
		assert_false(kernel_page_next_plain(&page, &rec));
	}
	assert_int_equal(kernel_page_open(&page, &maker.layout, maker.bytes, 20, NULL), 0);
	assert_ptr_equal(page.at, maker.bytes + 16);
	assert_ptr_equal(page.end, maker.bytes + 20);
}
