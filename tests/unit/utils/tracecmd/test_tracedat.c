/*
 * trace.dat files made here: both versions and both byte orders, cut at many places; wrong files;
 * and times.
 */
#include "tests/unit/lib/unit.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "tests/unit/lib/read/kernel_page.h"
#include "utils/base/containers/strbuf.h"
#include "utils/tracecmd/cursor.h"
#include "utils/tracecmd/records.h"

static char path[] = "/tmp/utrail-trace-XXXXXX";
static const char header_page[] = "\tfield: u64 timestamp;\toffset:0;\tsize:8;\tsigned:0;\n"
				  "\tfield: local_t commit;\toffset:8;\tsize:8;\tsigned:1;\n";
static const char format[] = "name: wakes\nID: 77\nformat:\n";

/* A file in the making. */
struct maker {
	struct strbuf out;
	bool big;
};

static void add_u16(struct maker *m, uint16_t value)
{
	uint8_t bytes[2];

	put_u16(bytes, value, m->big);
	strbuf_add(&m->out, bytes, sizeof(bytes));
}

static void add_u32(struct maker *m, uint32_t value)
{
	uint8_t bytes[4];

	put_u32(bytes, value, m->big);
	strbuf_add(&m->out, bytes, sizeof(bytes));
}

static void add_u64(struct maker *m, uint64_t value)
{
	uint8_t bytes[8];

	put_u64(bytes, value, m->big);
	strbuf_add(&m->out, bytes, sizeof(bytes));
}

static void set_u64(struct maker *m, size_t at, uint64_t value)
{
	put_u64(m->out.data + at, value, m->big);
}

static void begin(struct maker *m, const char *version)
{
	strbuf_add(&m->out, "\x17\x08\x44tracing", 10);
	strbuf_add(&m->out, version, 2);
	strbuf_addch(&m->out, m->big);
	strbuf_addch(&m->out, 8);
	add_u32(m, KERNEL_PAGE_BYTES);
}

/* Add the content of section @id. */
static void add_section(struct maker *m, unsigned id)
{
	switch (id) {
	case 16:
		strbuf_add(&m->out, "header_page", 12);
		add_u64(m, sizeof(header_page) - 1);
		strbuf_addstr(&m->out, header_page);
		strbuf_add(&m->out, "header_event", 13);
		add_u64(m, 3);
		strbuf_add(&m->out, "abc", 3);
		break;
	case 18:
		add_u32(m, 1);
		strbuf_add(&m->out, "sched", 6);
		add_u32(m, 1);
		add_u64(m, sizeof(format) - 1);
		strbuf_addstr(&m->out, format);
		break;
	case 21:
		add_u64(m, 4);
		strbuf_add(&m->out, "1 a\n", 4);
		break;
	default:
		add_u32(m, 0);
	}
}

static void add_page(struct maker *m)
{
	static const uint32_t words[] = { 1, 2 };
	struct kernel_page_maker page;

	kernel_page_begin(&page, 5000, 8, m->big);
	kernel_page_record(&page, 10, 77, 1, words, 2);
	kernel_page_end(&page, 0);
	strbuf_add(&m->out, page.bytes, KERNEL_PAGE_BYTES);
}

static void make_v6(struct maker *m)
{
	static const char clock[] = "local [boot]";
	size_t table;

	begin(m, "6");
	for (unsigned id = 16; id <= 21; id++)
		add_section(m, id);
	add_u32(m, 1);
	strbuf_add(&m->out, "options  ", 10);
	add_u16(m, 5);
	add_u32(m, 6);
	strbuf_add(&m->out, "Linux", 6);
	add_u16(m, 0);
	strbuf_add(&m->out, "flyrecord", 10);
	table = m->out.len;
	add_u64(m, 0);
	add_u64(m, KERNEL_PAGE_BYTES);
	add_u64(m, sizeof(clock));
	strbuf_add(&m->out, clock, sizeof(clock));
	set_u64(m, table, m->out.len);
	add_page(m);
}

static size_t begin_section(struct maker *m, unsigned id)
{
	add_u16(m, id);
	add_u16(m, 0);
	add_u32(m, 0);
	add_u64(m, 0);
	return m->out.len;
}

static void end_section(struct maker *m, size_t from)
{
	set_u64(m, from - 8, m->out.len - from);
}

static void make_v7(struct maker *m)
{
	size_t places[22];
	size_t pages;
	size_t at;

	begin(m, "7");
	strbuf_add(&m->out, "none\0", 6);
	add_u64(m, 0);
	for (unsigned id = 16; id <= 21; id++) {
		places[id] = m->out.len;
		at = begin_section(m, id);
		add_section(m, id);
		end_section(m, at);
	}
	at = begin_section(m, 3);
	pages = m->out.len;
	add_page(m);
	end_section(m, at);
	set_u64(m, 24, m->out.len);
	places[3] = at - 16;
	at = begin_section(m, 0);
	for (unsigned id = 16; id <= 21; id++) {
		add_u16(m, id);
		add_u32(m, 8);
		add_u64(m, places[id]);
	}
	add_u16(m, 5);
	add_u32(m, 6);
	strbuf_add(&m->out, "Linux", 6);
	add_u16(m, 3);
	add_u32(m, 8 + 1 + 5 + 4 + 4 + 20);
	add_u64(m, places[3]);
	strbuf_add(&m->out, "\0boot", 6);
	add_u32(m, KERNEL_PAGE_BYTES);
	add_u32(m, 1);
	add_u32(m, 0);
	add_u64(m, pages);
	add_u64(m, KERNEL_PAGE_BYTES);
	add_u16(m, 0);
	add_u32(m, 8);
	add_u64(m, 0);
	end_section(m, at);
}

static void write_file(const char *data, size_t len)
{
	FILE *file = fopen(path, "w");

	assert_non_null(file);
	assert_int_equal(fwrite(data, 1, len, file), len);
	fclose(file);
}

static unsigned count_records(struct tracedat *file)
{
	unsigned nr = 0;

	for (size_t i = 0; i < file->nr_buffers; i++) {
		for (size_t k = 0; k < file->buffers[i].nr_cpus; k++) {
			struct tracedat_stream stream;
			struct kernel_record rec;
			uint64_t missed;

			if (tracedat_stream_open(&stream, file, &file->buffers[i],
						 &file->buffers[i].cpus[k], NULL) == 0) {
				while (tracedat_stream_next(&stream, &rec, &missed, NULL) > 0) {
					assert_int_equal(rec.time_ns, 5010);
					assert_int_equal(rec.id, 77);
					assert_int_equal(rec.pid, 1);
					nr++;
				}
			}
			tracedat_stream_close(&stream);
		}
	}
	return nr;
}

/* Make version 6 or 7, in either byte order. */
static void make(struct maker *m, unsigned variant)
{
	*m = (struct maker){ .big = variant & 1 };
	if (variant & 2)
		make_v7(m);
	else
		make_v6(m);
	assert_false(strbuf_oom(&m->out));
}

TEST(whole_files)
{
	for (unsigned variant = 0; variant < 4; variant++) {
		struct tracedat file;
		struct maker m;

		make(&m, variant);
		write_file(m.out.data, m.out.len);
		assert_int_equal(tracedat_open(&file, path, TRACEDAT_LIMITED, NULL), 0);
		assert_int_equal(file.version, variant & 2 ? 7 : 6);
		assert_int_equal(file.nr_damage, 0);
		assert_int_equal(file.long_size, 8);
		assert_int_equal(file.nr_events, 1);
		assert_non_null(strstr(file.files.data, "TRACEFS: events/sched/wakes/format: "));
		assert_string_equal(file.uname, "Linux");
		assert_string_equal(file.cmdlines.data, "1 a\n");
		assert_int_equal(file.nr_buffers, 1);
		assert_string_equal(file.buffers[0].clock, "boot");
		assert_int_equal(count_records(&file), 1);
		assert_int_equal(file.nr_damage, 0);
		tracedat_close(&file);
		strbuf_deinit(&m.out);
	}
}

TEST(cut_anywhere)
{
	for (unsigned variant = 0; variant < 4; variant++) {
		struct maker m;

		make(&m, variant);
		/* Version 7 is cut at each 7th byte, version 6 in steps that grow from one byte. */
		for (size_t len = 0; len < m.out.len; len += variant & 2 ? 7 : 1 + len / 700 * 16) {
			struct tracedat file;
			struct uft_err err = { 0 };

			write_file(m.out.data, len);

			int ret = tracedat_open(&file, path, TRACEDAT_LIMITED, &err);

			assert_int_equal(ret, err.code);
			if (ret == 0) {
				count_records(&file);
				assert_true(file.nr_damage);
			}
			tracedat_close(&file);
		}
		strbuf_deinit(&m.out);
	}
}

TEST(any_byte_wrong)
{
	for (unsigned variant = 0; variant < 4; variant++) {
		struct maker m;

		make(&m, variant);
		for (size_t at = 0; at<m.out.len; at += at> 700 ? 37 : 3) {
			struct tracedat file;
			char old = m.out.data[at];

			m.out.data[at] = 0xff;
			write_file(m.out.data, m.out.len);
			if (tracedat_open(&file, path, TRACEDAT_LIMITED, NULL) == 0 && at < 600)
				assert_true(file.nr_buffers);
			tracedat_close(&file);
			m.out.data[at] = old;
		}
		strbuf_deinit(&m.out);
	}
}

/*
 * Make a file of version 6 with two instances, whose options name the same table of records. Returns
 * the offset of the first option's place.
 */
static size_t make_instances(struct maker *m)
{
	size_t places[2];
	size_t table;

	begin(m, "6");
	for (unsigned id = 16; id <= 21; id++)
		add_section(m, id);
	add_u32(m, 1);
	strbuf_add(&m->out, "options  ", 10);
	for (unsigned i = 0; i < 2; i++) {
		add_u16(m, 3);
		add_u32(m, 8 + 2);
		places[i] = m->out.len;
		add_u64(m, 0);
		strbuf_add(&m->out, "a", 2);
	}
	add_u16(m, 0);
	strbuf_add(&m->out, "flyrecord", 10);
	for (unsigned i = 0; i < 3; i++)
		add_u64(m, 0);
	set_u64(m, places[0], m->out.len);
	set_u64(m, places[1], m->out.len);
	strbuf_add(&m->out, "flyrecord", 10);
	table = m->out.len;
	add_u64(m, 0);
	add_u64(m, KERNEL_PAGE_BYTES);
	add_u64(m, 0);
	set_u64(m, table, m->out.len);
	add_page(m);
	assert_false(strbuf_oom(&m->out));
	return places[0];
}

/* A damaged option names a place within records. They are read all the same. */
TEST(an_option_that_names_records)
{
	for (unsigned big = 0; big < 2; big++) {
		struct maker m = { .big = big };
		struct tracedat file;
		size_t place = make_instances(&m);

		set_u64(&m, place, m.out.len - KERNEL_PAGE_BYTES + 8);
		write_file(m.out.data, m.out.len);
		assert_int_equal(tracedat_open(&file, path, TRACEDAT_LIMITED, NULL), 0);
		assert_int_equal(file.nr_buffers, 3);
		assert_int_equal(file.buffers[1].nr_cpus, 0);
		assert_int_equal(file.buffers[2].nr_cpus, 1);
		assert_int_equal(file.nr_damage, 1);
		assert_int_equal(count_records(&file), 1);
		tracedat_close(&file);
		strbuf_deinit(&m.out);
	}
}

/* Two instances name the same table of records. It is read for the first one only. */
TEST(a_table_of_two_instances)
{
	for (unsigned big = 0; big < 2; big++) {
		struct maker m = { .big = big };
		struct tracedat file;

		make_instances(&m);
		write_file(m.out.data, m.out.len);
		assert_int_equal(tracedat_open(&file, path, TRACEDAT_LIMITED, NULL), 0);
		assert_int_equal(file.nr_buffers, 3);
		assert_int_equal(file.buffers[1].nr_cpus, 1);
		assert_int_equal(file.buffers[2].nr_cpus, 0);
		assert_int_equal(file.nr_damage, 1);
		/* The table, and not the records that it names, is refused. */
		assert_non_null(strstr(strbuf_str(&file.damage), "these 26 bytes belong"));
		assert_int_equal(count_records(&file), 1);
		tracedat_close(&file);
		strbuf_deinit(&m.out);
	}
}

/* A text of several sections has at most the allowed bytes altogether. */
TEST(several_pieces_of_a_text)
{
	struct tracedat_cursor in = { .fd = -1, .bytes = (const uint8_t *)"abcdef", .end = 6 };
	struct strbuf text cleanup_strbuf = { 0 };

	assert_int_equal(tracedat_take_blob(&in, 3, 4, &text, NULL), 0);
	assert_int_equal(tracedat_take_blob(&in, 2, 4, &text, NULL), -EFBIG);
	assert_int_equal(tracedat_take_blob(&in, 1, 4, &text, NULL), 0);
	assert_int_equal(tracedat_take_blob(&in, 1, 4, &text, NULL), -EFBIG);
	assert_int_equal(tracedat_take_blob(&in, 1, 3, &text, NULL), -EFBIG);
	assert_string_equal(strbuf_str(&text), "abcd");
}

/* Unpack to a page with one record. The rest of @out is zeros, like a hole of a file. */
static int unpack_holes(const void *data, size_t len, void *out, size_t out_len)
{
	struct kernel_page_maker page;

	kernel_page_begin(&page, 5000, 8, false);
	kernel_page_record(&page, 10, 77, 1, NULL, 0);
	kernel_page_end(&page, 0);
	memset(out, 0, out_len);
	memcpy(out, page.bytes, KERNEL_PAGE_BYTES);
	return 0;
}

/* zstd packs 160 KB of zeros to 23 bytes. */
TEST(a_chunk_with_many_zeros)
{
	const struct tracedat_buffer buffer = { .page_bytes = KERNEL_PAGE_BYTES,
						.is_packed = true };
	const struct tracedat_cpu cpu = { .bytes = 8 + 23 };
	struct tracedat file = { .long_size = 8, .unpack = unpack_holes };
	struct maker m = { 0 };
	struct tracedat_stream stream;
	struct kernel_record rec;
	uint64_t missed;

	add_u32(&m, 1);
	add_u32(&m, 23);
	add_u32(&m, 160 << 10);
	strbuf_addchars(&m.out, 'x', 23);
	write_file(m.out.data, m.out.len);
	file.fd = open(path, O_RDONLY | O_CLOEXEC);
	file.bytes = m.out.len;
	budget_begin(&file.budget, file.bytes, TRACEDAT_LIMITED);
	assert_true(file.fd >= 0);
	assert_int_equal(tracedat_stream_open(&stream, &file, &buffer, &cpu, NULL), 0);
	assert_int_equal(tracedat_stream_next(&stream, &rec, &missed, NULL), 1);
	assert_int_equal(rec.time_ns, 5010);
	assert_int_equal(missed, 0);
	assert_int_equal(tracedat_stream_next(&stream, &rec, &missed, NULL), 0);
	assert_int_equal(file.nr_damage, 0);
	tracedat_stream_close(&stream);
	budget_deinit(&file.budget);
	close(file.fd);
	strbuf_deinit(&m.out);
}

TEST(times)
{
	struct tracedat file = { .fd = -1 };

	assert_int_equal(tracedat_time_ns(&file, 17), 17);
	assert_int_equal(tracedat_time_ns(&file, UINT64_MAX), (uint64_t)INT64_MAX >> 1);
	file.offset = -20;
	assert_int_equal(tracedat_time_ns(&file, 17), 0);
	assert_int_equal(tracedat_time_ns(&file, 37), 17);
	file.offset = 20;
	assert_int_equal(tracedat_time_ns(&file, 17), 37);
	file = (struct tracedat){ .has_tsc = true, .tsc_mult = 3 << 9, .tsc_shift = 10 };
	assert_int_equal(tracedat_time_ns(&file, 1000), 1500);
	assert_int_equal(tracedat_time_ns(&file, 1ULL << 40), (1ULL << 40) + (1ULL << 39));
	file.tsc_mult = UINT32_MAX;
	file.tsc_shift = 0;
	assert_int_equal(tracedat_time_ns(&file, 1ULL << 60), (uint64_t)INT64_MAX >> 1);
	file.tsc_shift = 32;
	assert_int_equal(tracedat_time_ns(&file, 1ULL << 60), (1ULL << 60) - (1ULL << 28));
	assert_true(tracedat_clock_is_time(&file, "x86-tsc"));
	file.has_tsc = false;
	assert_false(tracedat_clock_is_time(&file, "x86-tsc"));
}

TEST(clocks_that_count_nanoseconds)
{
	const char *const times[] = {
		"local", "global", "perf", "mono", "mono_raw", "boot", "tai"
	};
	const char *const others[] = { "counter", "uptime", "ppc-tb", "s390-tod" };

	for (int has_tsc = 0; has_tsc < 2; has_tsc++) {
		const struct tracedat file = { .has_tsc = has_tsc };

		for (size_t i = 0; i < ARRAY_SIZE(times); i++)
			assert_true(tracedat_clock_is_time(&file, times[i]));
		for (size_t i = 0; i < ARRAY_SIZE(others); i++)
			assert_false(tracedat_clock_is_time(&file, others[i]));
	}
}

static int make_file(void **state)
{
	int fd = mkstemp(path);

	return fd < 0 ? -1 : close(fd);
}

static int remove_file(void **state)
{
	unlink(path);
	return 0;
}

TEST_GROUP(make_file, remove_file)
