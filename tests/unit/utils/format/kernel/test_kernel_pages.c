/* Pages of kernel-cpu*.dat that are made here are read as the same records. */
#include "tests/unit/lib/unit.h"

#include <errno.h>

#include "utils/base/compiler.h"
#include "utils/base/containers/strbuf.h"
#include "utils/format/kernel/kernel_pages.h"

#define NR_MAX 4000

static int keep(void *self, const uint8_t *page, size_t len)
{
	strbuf_add(self, page, len);
	return 0;
}

static int refuse(void *self, const uint8_t *page, size_t len)
{
	return -ENOSPC;
}

/* Data of all sizes, steps of time, and losses of all kinds. */
static const struct step {
	uint32_t len;
	uint64_t delta;
	uint64_t missed;
} steps[] = {
	{ 8, 0, 0 },
	{ 12, 1, 0 },
	{ 112, (1 << 27) - 1, 0 },
	{ 113, 1 << 27, 0 },
	{ 116, 5, 7 },
	{ 2000, 1ULL << 40, 0 },
	{ 4072, 3, UINT64_MAX },
	{ 4060, 3, 9 },
	{ 17, 1ULL << 60, 0 },
	{ 8, 2, UINT64_MAX },
};

static void make(struct kernel_pages *pages, unsigned nr)
{
	uint8_t data[KERNEL_RECORD_HEAD_BYTES + 8192] = { 0 };
	uint64_t time_ns = 1000;

	for (unsigned i = 0; i < nr; i++) {
		const struct step *step = &steps[i % ARRAY_SIZE(steps)];
		struct kernel_record rec = { .data = data, .len = step->len };

		if (step->delta < 1ULL << 60 || i < ARRAY_SIZE(steps))
			time_ns += step->delta;
		put_u16(data, 300 + i % 7, pages->layout.is_big_endian);
		data[step->len - 1] = step->len > KERNEL_RECORD_HEAD_BYTES ? i : 0;
		assert_int_equal(kernel_pages_add(pages, &rec, time_ns, i + 1, step->missed), 0);
	}
}

static void check(const struct strbuf *bytes, const struct kernel_layout *layout, unsigned nr)
{
	uint64_t time_ns = 1000;
	unsigned i = 0;

	assert_int_equal(bytes->len % layout->page_bytes, 0);
	for (size_t at = 0; at < bytes->len; at += layout->page_bytes) {
		struct kernel_page page;
		struct kernel_record rec;

		assert_int_equal(kernel_page_open(&page, layout, (uint8_t *)bytes->data + at,
						  layout->page_bytes, NULL),
				 0);
		for (unsigned k = 0; kernel_page_next(&page, &rec, NULL) > 0; k++, i++) {
			const struct step *step = &steps[i % ARRAY_SIZE(steps)];
			uint64_t missed = step->missed;

			if (step->delta < 1ULL << 60 || i < ARRAY_SIZE(steps))
				time_ns += step->delta;
			assert_int_equal(rec.time_ns, time_ns);
			assert_int_equal(rec.pid, i + 1);
			assert_int_equal(rec.id, 300 + i % 7);
			assert_in_range(rec.len, step->len, step->len + 3);
			if (step->len > KERNEL_RECORD_HEAD_BYTES)
				assert_int_equal(rec.data[step->len - 1], i & 255);
			assert_true(!missed || k == 0);
			if (k == 0)
				assert_int_equal(page.missed, missed);
		}
	}
	assert_int_equal(i, nr);
}

TEST(round_trip)
{
	for (unsigned variant = 0; variant < 4; variant++) {
		struct strbuf bytes cleanup_strbuf = { 0 };
		struct kernel_pages pages = {
			.layout = { 4096, variant & 1 ? 4 : 8, variant & 2 },
			.write = keep,
			.self = &bytes,
		};

		make(&pages, NR_MAX);
		assert_int_equal(kernel_pages_finish(&pages), 0);
		assert_int_equal(kernel_pages_finish(&pages), 0);
		kernel_pages_deinit(&pages);
		check(&bytes, &pages.layout, NR_MAX);
	}
}

TEST(time_that_goes_back)
{
	struct strbuf bytes cleanup_strbuf = { 0 };
	struct kernel_pages pages = { { 4096, 8, false }, keep, &bytes };
	uint8_t data[8] = { 0 };
	struct kernel_record rec = { .data = data, .len = sizeof(data) };
	struct kernel_page page;

	assert_int_equal(kernel_pages_add(&pages, &rec, 50, 1, 0), 0);
	assert_int_equal(kernel_pages_add(&pages, &rec, 40, 1, 0), 0);
	assert_int_equal(kernel_pages_finish(&pages), 0);
	kernel_pages_deinit(&pages);
	assert_int_equal(kernel_page_open(&page, &pages.layout, (uint8_t *)bytes.data, 4096, NULL),
			 0);
	for (int i = 0; i < 2; i++) {
		assert_int_equal(kernel_page_next(&page, &rec, NULL), 1);
		assert_int_equal(rec.time_ns, 50);
	}
}

TEST(no_room)
{
	struct kernel_pages pages = { { 4096, 8, false }, refuse, NULL };
	static const uint8_t data[8192];
	struct kernel_record rec = { .data = data, .len = 4096 };

	assert_int_equal(kernel_pages_add(&pages, &rec, 1, 1, 0), -EMSGSIZE);
	rec.len = 4;
	assert_int_equal(kernel_pages_add(&pages, &rec, 1, 1, 0), -EMSGSIZE);
	rec.len = 4000;
	assert_int_equal(kernel_pages_add(&pages, &rec, 1, 1, 0), 0);
	assert_int_equal(kernel_pages_add(&pages, &rec, 1, 1, 0), -ENOSPC);
	kernel_pages_deinit(&pages);
}

/* Add records of @len bytes until the first page is written. Returns their number on that page. */
static unsigned fill_page(uint32_t long_size, uint32_t len)
{
	struct strbuf bytes cleanup_strbuf = { 0 };
	struct kernel_pages pages = { { 4096, long_size, false }, keep, &bytes };
	static const uint8_t data[4096];
	struct kernel_record rec = { .data = data, .len = len };
	unsigned nr = 0;

	for (; !bytes.len; nr++)
		assert_int_equal(kernel_pages_add(&pages, &rec, 1000, 1, 0), 0);
	kernel_pages_deinit(&pages);
	assert_null(pages.page);
	return nr - 1;
}

/* A page keeps room for the number of lost records. */
TEST(pages_are_filled)
{
	assert_int_equal(fill_page(8, 8), 339);
	assert_int_equal(fill_page(4, 8), 340);
	assert_int_equal(fill_page(8, 2032), 1);
	assert_int_equal(fill_page(8, 2028), 2);
	assert_int_equal(fill_page(4, 2032), 2);
	assert_int_equal(fill_page(4, 112), 35);
	assert_int_equal(fill_page(4, 113), 32);
}

/* The largest record that a page may have, and the smallest one. */
TEST(lengths_of_records)
{
	static const struct {
		uint32_t long_size;
		uint32_t len;
		int ret;
	} rows[] = {
		{ 8, 7, -EMSGSIZE },
		{ 8, 8, 0 },
		{ 8, 4072, 0 },
		{ 8, 4073, -EMSGSIZE },
		{ 8, UINT32_MAX, -EMSGSIZE },
		{ 4, 7, -EMSGSIZE },
		{ 4, 8, 0 },
		{ 4, 4076, 0 },
		{ 4, 4077, -EMSGSIZE },
	};
	static const uint8_t data[4096];

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct strbuf bytes cleanup_strbuf = { 0 };
		struct kernel_pages pages = { { 4096, rows[i].long_size, false }, keep, &bytes };
		struct kernel_record rec = { .data = data, .len = rows[i].len };

		assert_int_equal(kernel_pages_add(&pages, &rec, 1000, 1, 0), rows[i].ret);
		assert_int_equal(kernel_pages_finish(&pages), 0);
		assert_int_equal(bytes.len, rows[i].ret ? 0 : 4096);
		kernel_pages_deinit(&pages);
	}
}

/* A page begins after a loss, and after a time that is too long for a time extend. */
TEST(reasons_for_a_new_page)
{
	static const struct {
		uint64_t delta;
		uint64_t missed;
		size_t nr_pages;
	} rows[] = {
		{ 5, 0, 1 }, { (1ULL << 59) - 1, 0, 1 }, { 1ULL << 59, 0, 2 },
		{ 5, 1, 2 }, { 5, UINT64_MAX, 2 },
	};
	static const uint8_t data[8];

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct strbuf bytes cleanup_strbuf = { 0 };
		struct kernel_pages pages = { { 4096, 8, false }, keep, &bytes };
		struct kernel_record rec = { .data = data, .len = 8 };
		struct kernel_page page;
		uint64_t last_ns = 0;

		assert_int_equal(kernel_pages_add(&pages, &rec, 1000, 1, 0), 0);
		assert_int_equal(
			kernel_pages_add(&pages, &rec, 1000 + rows[i].delta, 1, rows[i].missed), 0);
		assert_int_equal(kernel_pages_finish(&pages), 0);
		assert_int_equal(bytes.len, rows[i].nr_pages * 4096);
		for (size_t at = 0; at < bytes.len; at += 4096) {
			assert_int_equal(kernel_page_open(&page, &pages.layout,
							  (uint8_t *)bytes.data + at, 4096, NULL),
					 0);
			assert_true(page.missed == (at ? rows[i].missed : 0));
			while (kernel_page_next(&page, &rec, NULL) > 0)
				last_ns = rec.time_ns;
		}
		assert_true(last_ns == 1000 + rows[i].delta);
		kernel_pages_deinit(&pages);
	}
}

/* If a number is too large for a field of four bytes, the field has the largest possible number. */
TEST(large_numbers_of_lost_records)
{
	static const struct {
		uint32_t long_size;
		uint64_t missed;
		uint64_t expected;
	} rows[] = {
		{ 4, 0xffffffffULL, 0xffffffffULL },
		{ 4, 0x100000000ULL, 0xffffffffULL },
		{ 8, 0x100000000ULL, 0x100000000ULL },
	};
	static const uint8_t data[8];

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct strbuf bytes cleanup_strbuf = { 0 };
		struct kernel_pages pages = { { 4096, rows[i].long_size, true }, keep, &bytes };
		struct kernel_record rec = { .data = data, .len = 8 };
		struct kernel_page page;

		assert_int_equal(kernel_pages_add(&pages, &rec, 1000, 1, rows[i].missed), 0);
		assert_int_equal(kernel_pages_finish(&pages), 0);
		assert_int_equal(bytes.len, 4096);
		assert_int_equal(
			kernel_page_open(&page, &pages.layout, (uint8_t *)bytes.data, 4096, NULL),
			0);
		assert_true(page.missed == rows[i].expected);
		kernel_pages_deinit(&pages);
	}
}

#define AB4    0xab, 0xab, 0xab, 0xab
#define ZERO4  0, 0, 0, 0
#define ZERO8  ZERO4, ZERO4
#define ZERO16 ZERO8, ZERO8

/* Pages of 64 bytes in both orders of bytes. Each of them has two records. */
static const struct page_row {
	struct kernel_layout layout;
	uint8_t pages[3][64];
} page_rows[] = {
	/* clang-format off */
	{ { 64, 8, false }, {
		{ 8, 7, 6, 5, 4, 3, 2, 1, 0x20, 0, 0, 0, ZERO4,
		  2, 0, 0, 0, AB4, 7, 0, 0, 0,
		  0x60, 0, 0, 0, 13, 0, 0, 0, AB4, 8, 0, 0, 0, 0xab, 0, 0, 0,
		  ZERO16 },
		{ 0, 8, 6, 5, 4, 3, 2, 1, 0x20, 0, 0, 0xc0, ZERO4,
		  2, 0, 0, 0, AB4, 7, 0, 0, 0,
		  0x3e, 0, 0, 0, 1, 0, 0, 0, 2, 0, 0, 0, AB4, 8, 0, 0, 0,
		  5, 0, 0, 0, ZERO4, ZERO8 },
		{ 1, 8, 6, 0xd, 4, 3, 2, 1, 0x18, 0, 0, 0x80, ZERO4,
		  2, 0, 0, 0, AB4, 7, 0, 0, 0,
		  0xe2, 0xff, 0xff, 0xff, AB4, 8, 0, 0, 0,
		  ZERO16, ZERO8 },
	} },
	{ { 64, 4, true }, {
		{ 1, 2, 3, 4, 5, 6, 7, 8, 0, 0, 0, 0x20,
		  0x10, 0, 0, 0, AB4, 0, 0, 0, 7,
		  0, 0, 0, 3, 0, 0, 0, 13, AB4, 0, 0, 0, 8, 0xab, 0, 0, 0,
		  ZERO16, ZERO4 },
		{ 1, 2, 3, 4, 5, 6, 8, 0, 0xc0, 0, 0, 0x20,
		  0x10, 0, 0, 0, AB4, 0, 0, 0, 7,
		  0xf0, 0, 0, 1, 0, 0, 0, 1, 0x10, 0, 0, 0, AB4, 0, 0, 0, 8,
		  0, 0, 0, 5, ZERO16 },
		{ 1, 2, 3, 4, 0xd, 6, 8, 1, 0x80, 0, 0, 0x18,
		  0x10, 0, 0, 0, AB4, 0, 0, 0, 7,
		  0x17, 0xff, 0xff, 0xff, AB4, 0, 0, 0, 8,
		  ZERO16, ZERO8, ZERO4 },
	} },
	/* clang-format on */
};

static void add_two(struct kernel_pages *pages, uint64_t time_ns, uint64_t missed,
		    uint32_t second_len, uint64_t delta)
{
	uint8_t data[12];
	struct kernel_record rec = { .data = data, .len = 8 };

	memset(data, 0xab, sizeof(data));
	assert_int_equal(kernel_pages_add(pages, &rec, time_ns, 7, missed), 0);
	rec.len = second_len;
	assert_int_equal(kernel_pages_add(pages, &rec, time_ns + delta, 8, 0), 0);
	assert_int_equal(kernel_pages_finish(pages), 0);
}

/* Each byte of a page has the expected value. Nothing of an earlier page stays in a later one. */
TEST(bytes_of_pages)
{
	for (size_t i = 0; i < ARRAY_SIZE(page_rows); i++) {
		const struct page_row *row = &page_rows[i];
		struct strbuf bytes cleanup_strbuf = { 0 };
		struct kernel_pages pages = { row->layout, keep, &bytes };

		add_two(&pages, 0x0102030405060708, 0, 9, 3);
		add_two(&pages, 0x0102030405060800, 5, 8, (1 << 27) + 1);
		add_two(&pages, 0x010203040d060801, UINT64_MAX, 8, (1 << 27) - 1);
		kernel_pages_deinit(&pages);
		assert_int_equal(bytes.len, sizeof(row->pages));
		for (size_t k = 0; k < ARRAY_SIZE(row->pages); k++)
			assert_memory_equal(bytes.data + 64 * k, row->pages[k], 64);
	}
}

/* The number of lost records is stored if the rest of the page has room for it. */
TEST(room_for_the_number_of_lost_records)
{
	static const struct {
		uint32_t long_size;
		uint32_t len;
		uint8_t flags;
	} rows[] = {
		{ 8, 36, 0xc0 },
		{ 8, 40, 0x80 },
		{ 4, 44, 0xc0 },
		{ 4, 48, 0x80 },
	};
	static const uint8_t data[48];

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct strbuf bytes cleanup_strbuf = { 0 };
		struct kernel_pages pages = { { 64, rows[i].long_size, false }, keep, &bytes };
		struct kernel_record rec = { .data = data, .len = rows[i].len };

		assert_int_equal(kernel_pages_add(&pages, &rec, 1, 1, 9), 0);
		assert_int_equal(kernel_pages_finish(&pages), 0);
		kernel_pages_deinit(&pages);
		assert_int_equal(bytes.len, 64);
		assert_int_equal((uint8_t)bytes.data[11], rows[i].flags);
		if (rows[i].flags == 0xc0)
			assert_int_equal(bytes.data[64 - rows[i].long_size], 9);
	}
}

/* A record needs eight more bytes if its time needs a time extend. */
TEST(room_for_a_time_extend)
{
	static const struct {
		uint32_t page_bytes;
		uint64_t delta;
		size_t nr_pages;
	} rows[] = {
		{ 56, 1 << 27, 1 },	  { 52, 1 << 27, 2 },	    { 52, (1 << 27) - 1, 1 },
		{ 48, (1 << 27) - 1, 1 }, { 44, (1 << 27) - 1, 2 },
	};
	static const uint8_t data[8];

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct strbuf bytes cleanup_strbuf = { 0 };
		struct kernel_pages pages = { { rows[i].page_bytes, 8, false }, keep, &bytes };
		struct kernel_record rec = { .data = data, .len = 8 };

		assert_int_equal(kernel_pages_add(&pages, &rec, 1, 1, 0), 0);
		assert_int_equal(kernel_pages_add(&pages, &rec, 1 + rows[i].delta, 1, 0), 0);
		assert_int_equal(kernel_pages_finish(&pages), 0);
		kernel_pages_deinit(&pages);
		assert_int_equal(bytes.len, rows[i].nr_pages * rows[i].page_bytes);
	}
}
