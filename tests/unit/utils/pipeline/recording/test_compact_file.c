/*
 * Records in compact blocks are read as if they were in a plain file: from any place, with any
 * buffer, and around damage.
 */
#include "tests/unit/lib/unit.h"

#include <errno.h>
#include <sys/mman.h>
#include <unistd.h>

#include "utils/base/fd.h"
#include "utils/base/containers/strbuf.h"
#include "utils/format/bytes.h"
#include "utils/format/calls/compact.h"
#include "utils/format/calls/compact_tokens.h"
#include "utils/format/record.h"
#include "utils/pipeline/recording/compact_file.h"

#define NR_BLOCKS 3
#define NR_EACH	  50
#define RAW_EACH  (NR_EACH * sizeof(struct record))

/*
 * @raw: the bytes that the file stands for; @blocks: the bytes of the file
 */
struct scene {
	struct strbuf raw;
	struct strbuf blocks;
	size_t block_at[NR_BLOCKS];
	struct compact_file file;
	int fd;
};

static void begin(struct scene *s)
{
	struct compact_coder *coder cleanup_compact_coder = compact_coder_create();
	uint8_t *out = malloc(compact_bound(COMPACT_RAW_MAX));

	*s = (struct scene){ .fd = memfd_create("cdat", MFD_CLOEXEC) };
	assert_true(coder && out && s->fd >= 0);
	for (size_t i = 0; i < NR_BLOCKS * NR_EACH; i++) {
		uint8_t bytes[sizeof(struct record)];

		put_u64(bytes, 1000 + 10 * i, false);
		put_u64(bytes + 8, record_data(i & 1, i % 7, 0x401000 + i * i), false);
		strbuf_add(&s->raw, bytes, sizeof(bytes));
	}
	for (size_t i = 0; i < NR_BLOCKS; i++) {
		size_t len;

		s->block_at[i] = s->blocks.len;
		assert_int_equal(compact_encode(coder, 100, (uint8_t *)s->raw.data + i * RAW_EACH,
						RAW_EACH, false, out, &len),
				 RAW_EACH);
		strbuf_add(&s->blocks, out, len);
	}
	free(out);
}

static void look(struct scene *s)
{
	assert_int_equal(ftruncate(s->fd, 0), 0);
	assert_int_equal(lseek(s->fd, 0, SEEK_SET), 0);
	assert_int_equal(fd_write_all(s->fd, s->blocks.data, s->blocks.len), 0);
	assert_int_equal(compact_file_look(&s->file, s->fd), 0);
	assert_int_equal(s->file.nr, NR_BLOCKS);
	assert_int_equal(s->file.end, s->blocks.len);
	assert_false(s->file.is_torn);
}

static void end(struct scene *s)
{
	compact_file_deinit(&s->file);
	strbuf_deinit(&s->raw);
	strbuf_deinit(&s->blocks);
	close(s->fd);
}

/*
 * Reads the bytes [@start, @end) with a buffer of @room. Returns how many times damage was
 * reported.
 */
static unsigned read_range(const struct scene *s, uint64_t start, uint64_t end, size_t room,
			   bool may_skip, struct strbuf *out)
{
	struct compact_read read = { .offset = start, .may_skip = may_skip };
	uint8_t *buf = malloc(room);
	unsigned damaged = 0;
	uint64_t before = start;
	ssize_t n;

	assert_non_null(buf);
	while ((n = compact_file_read(&s->file, s->fd, buf, room, end, &read)) > 0) {
		assert_true((size_t)n <= room && read.skip < (size_t)n);
		assert_true(read.offset > before && read.offset <= s->file.raw_bytes);
		before = read.offset;
		damaged += read.damaged_at != UINT64_MAX;
		strbuf_add(out, buf + read.skip, n - read.skip);
	}
	assert_int_equal(n, 0);
	free(buf);
	return damaged;
}

/*
 * Whole blocks are read if the buffer has room for them, otherwise parts. The bytes are the same.
 */
TEST(any_range)
{
	static const size_t rooms[] = {
		16, 100, RAW_EACH - 1, RAW_EACH, 2 * RAW_EACH + 5, 1 << 16
	};
	struct scene s;

	begin(&s);
	look(&s);
	assert_int_equal(s.file.raw_bytes, s.raw.len);
	for (size_t i = 0; i < ARRAY_SIZE(rooms); i++) {
		for (size_t start = 0; start < s.raw.len; start += 80) {
			size_t stop = MIN(s.raw.len, start + 1 + start * 3);
			struct strbuf got cleanup_strbuf = { 0 };

			assert_int_equal(read_range(&s, start, stop, rooms[i], i & 1, &got), 0);
			assert_int_equal(got.len, stop - start);
			assert_memory_equal(got.data, s.raw.data + start, got.len);
		}
	}
	end(&s);
}

/*
 * One record replaces a damaged block, and reports the damage. All other blocks are read, with a
 * buffer of any size.
 */
TEST(damage)
{
	static const size_t rooms[] = { 16, 100, RAW_EACH, 1 << 16 };
	struct scene s;

	begin(&s);
	s.blocks.data[s.block_at[2] - 1] ^= 1;
	look(&s);
	for (size_t i = 0; i < ARRAY_SIZE(rooms); i++) {
		struct strbuf got cleanup_strbuf = { 0 };

		assert_int_equal(read_range(&s, 0, UINT64_MAX, rooms[i], false, &got), 1);
		assert_int_equal(got.len, s.raw.len - RAW_EACH + sizeof(struct record));
		assert_memory_equal(got.data, s.raw.data, RAW_EACH);
		assert_int_equal(record_type(get_u64((uint8_t *)got.data + RAW_EACH + 8, false)),
				 RECORD_LOST);
		assert_memory_equal(got.data + RAW_EACH + sizeof(struct record),
				    s.raw.data + 2 * RAW_EACH, RAW_EACH);
	}
	end(&s);
}

/*
 * After a damaged head the next head is searched for at each byte. The blocks before and after the
 * damaged one are read.
 */
TEST(damaged_heads)
{
	for (size_t nr = 0; nr < NR_BLOCKS - 1; nr++) {
		struct strbuf got cleanup_strbuf = { 0 };
		size_t lost = sizeof(struct record);
		struct scene s;

		begin(&s);
		s.blocks.data[s.block_at[nr] + 5] ^= 1;
		look(&s);
		assert_int_equal(s.file.places[nr].at, s.block_at[nr]);
		assert_int_equal(s.file.places[nr + 1].at, s.block_at[nr + 1]);
		assert_int_equal(read_range(&s, 0, UINT64_MAX, 1 << 16, false, &got), 1);
		assert_int_equal(got.len, s.raw.len - RAW_EACH + lost);
		assert_memory_equal(got.data, s.raw.data, nr * RAW_EACH);
		assert_memory_equal(got.data + nr * RAW_EACH + lost,
				    s.raw.data + (nr + 1) * RAW_EACH,
				    (NR_BLOCKS - 1 - nr) * RAW_EACH);
		end(&s);
	}
}

/*
 * Any number of bytes may be overwritten. The next head may lie across the end of a piece that is
 * searched.
 */
TEST(much_damage)
{
	static const size_t sizes[] = { 1 << 12, 1 << 16 };

	for (size_t i = 0; i < ARRAY_SIZE(sizes); i++) {
		for (size_t bytes = sizes[i] - 60; bytes < sizes[i] + 10; bytes++) {
			struct strbuf damaged = { 0 };
			struct scene s;

			begin(&s);
			for (size_t k = 0; k < bytes; k++)
				strbuf_addch(&damaged, 0x55);
			strbuf_add(&damaged, s.blocks.data, s.blocks.len);
			strbuf_deinit(&s.blocks);
			s.blocks = damaged;
			assert_int_equal(fd_write_all(s.fd, s.blocks.data, s.blocks.len), 0);
			assert_int_equal(compact_file_look(&s.file, s.fd), 0);
			assert_int_equal(s.file.nr, NR_BLOCKS + 1);
			assert_int_equal(s.file.places[1].at, bytes);
			end(&s);
		}
	}
}

/*
 * The last block has fewer bytes than the LOST record that replaces it. The buffer may have room for
 * the block only.
 */
TEST(damaged_block_that_is_shorter_than_a_record)
{
	static const size_t rooms[] = { 16, RAW_EACH + 1, NR_BLOCKS * RAW_EACH + 1, 1 << 16 };

	for (uint32_t raw_len = 1; raw_len <= sizeof(struct record); raw_len++) {
		const struct compact_head head = { .tid = 100, .raw_len = raw_len, .sum = 1 };
		uint8_t bytes[COMPACT_HEAD_BYTES];
		struct scene s;

		begin(&s);
		compact_head_encode(&head, bytes);
		strbuf_add(&s.blocks, bytes, sizeof(bytes));
		assert_int_equal(fd_write_all(s.fd, s.blocks.data, s.blocks.len), 0);
		assert_int_equal(compact_file_look(&s.file, s.fd), 0);
		assert_int_equal(s.file.nr, NR_BLOCKS + 1);
		assert_int_equal(s.file.raw_bytes, s.raw.len + raw_len);
		for (size_t i = 0; i < ARRAY_SIZE(rooms); i++) {
			struct strbuf got cleanup_strbuf = { 0 };

			assert_int_equal(read_range(&s, 0, UINT64_MAX, rooms[i], true, &got), 1);
			assert_int_equal(got.len, s.raw.len + sizeof(struct record));
			assert_memory_equal(got.data, s.raw.data, s.raw.len);
			assert_int_equal(
				record_type(get_u64((uint8_t *)got.data + s.raw.len + 8, false)),
				RECORD_LOST);
		}
		end(&s);
	}
}

/* A block that is still being written is read when it is complete. */
TEST(files_that_grow)
{
	struct scene s;

	begin(&s);
	for (size_t len = 0; len <= s.blocks.len; len++) {
		size_t nr = 0;

		while (nr < NR_BLOCKS &&
		       len >= (nr + 1 < NR_BLOCKS ? s.block_at[nr + 1] : s.blocks.len))
			nr++;
		if (len)
			assert_int_equal(pwrite(s.fd, s.blocks.data + len - 1, 1, len - 1), 1);
		assert_int_equal(compact_file_look(&s.file, s.fd), 0);
		assert_int_equal(s.file.nr, nr);
		assert_int_equal(s.file.raw_bytes, nr * RAW_EACH);
		assert_int_equal(s.file.is_torn, len > s.file.end);
	}
	end(&s);
}

/* The result of a read is whole if it ends at the end of a block, or at the end of the range. */
TEST(ends_of_records)
{
	static const size_t rooms[] = {
		16, 100, RAW_EACH - 1, RAW_EACH, RAW_EACH + 1, 2 * RAW_EACH
	};
	static const uint64_t ends[] = { RAW_EACH - 16, RAW_EACH, RAW_EACH + 32, UINT64_MAX };
	uint8_t buf[2 * RAW_EACH];
	struct scene s;

	begin(&s);
	look(&s);
	for (size_t i = 0; i < ARRAY_SIZE(rooms) * ARRAY_SIZE(ends) * 2; i++) {
		size_t room = rooms[i / 2 % ARRAY_SIZE(rooms)];
		uint64_t stop = ends[i / 2 / ARRAY_SIZE(rooms)];
		struct compact_read read = { .offset = 48, .may_skip = i % 2 };
		ssize_t n;

		while ((n = compact_file_read(&s.file, s.fd, buf, room, stop, &read)) > 0)
			assert_int_equal(read.is_whole,
					 read.offset % RAW_EACH == 0 || read.offset == stop);
		assert_int_equal(n, 0);
		assert_int_equal(read.offset, MIN(stop, s.file.raw_bytes));
		assert_true(read.is_whole);
		assert_int_equal(read.skip, 0);
	}
	end(&s);
}

/* As many whole blocks as fit are read at once. The first one may begin before the offset. */
TEST(whole_blocks)
{
	static const struct {
		uint64_t offset;
		bool may_skip;
		size_t room;
		uint64_t end;
		ssize_t n;
		size_t skip;
	} rows[] = {
		{ 0, false, RAW_EACH, UINT64_MAX, RAW_EACH, 0 },
		{ 0, false, RAW_EACH - 1, UINT64_MAX, RAW_EACH - 1, 0 },
		{ 0, false, 2 * RAW_EACH - 1, UINT64_MAX, RAW_EACH, 0 },
		{ 0, false, 2 * RAW_EACH, UINT64_MAX, 2 * RAW_EACH, 0 },
		{ 0, false, 9 * RAW_EACH, UINT64_MAX, 3 * RAW_EACH, 0 },
		{ 0, false, 9 * RAW_EACH, RAW_EACH, RAW_EACH, 0 },
		{ 0, false, 9 * RAW_EACH, RAW_EACH + 1, RAW_EACH + 1, 0 },
		{ 16, false, 9 * RAW_EACH, UINT64_MAX, RAW_EACH - 16, 0 },
		{ 16, true, 9 * RAW_EACH, UINT64_MAX, 3 * RAW_EACH, 16 },
		{ 16, true, RAW_EACH - 1, UINT64_MAX, RAW_EACH - 16, 0 },
		{ RAW_EACH, false, 9 * RAW_EACH, UINT64_MAX, 2 * RAW_EACH, 0 },
		{ RAW_EACH - 1, true, 9 * RAW_EACH, RAW_EACH, RAW_EACH, RAW_EACH - 1 },
		{ RAW_EACH, true, 9 * RAW_EACH, RAW_EACH, 0, 0 },
		{ 3 * RAW_EACH, true, 9 * RAW_EACH, UINT64_MAX, 0, 0 },
		{ 3 * RAW_EACH - 1, false, 16, UINT64_MAX, 1, 0 },
	};
	struct scene s;

	begin(&s);
	look(&s);
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct compact_read read = {
			.offset = rows[i].offset,
			.may_skip = rows[i].may_skip,
			.skip = 7,
			.damaged_at = 7,
		};
		uint8_t *buf = malloc(rows[i].room);
		uint64_t first = rows[i].offset - rows[i].skip;

		assert_int_equal(
			compact_file_read(&s.file, s.fd, buf, rows[i].room, rows[i].end, &read),
			rows[i].n);
		assert_int_equal(read.skip, rows[i].skip);
		assert_int_equal(read.offset, first + rows[i].n);
		assert_true(read.damaged_at == UINT64_MAX);
		assert_memory_equal(buf, s.raw.data + first, rows[i].n);
		free(buf);
	}
	end(&s);
}

/* The record for a damaged block comes whole, wherever in the block the range begins. */
TEST(damage_in_the_middle_of_a_range)
{
	static const uint64_t starts[] = { RAW_EACH, RAW_EACH + 16, RAW_EACH + 160,
					   2 * RAW_EACH - 16 };
	struct scene s;

	begin(&s);
	s.blocks.data[s.block_at[2] - 1] ^= 1;
	look(&s);
	for (size_t i = 0; i < ARRAY_SIZE(starts) * 2; i++) {
		struct compact_read read = { .offset = starts[i / 2], .may_skip = i % 2 };
		uint8_t *buf = malloc(4 * RAW_EACH);

		assert_int_equal(
			compact_file_read(&s.file, s.fd, buf, 4 * RAW_EACH, UINT64_MAX, &read), 16);
		assert_int_equal(read.skip, 0);
		assert_int_equal(read.offset, 2 * RAW_EACH);
		assert_int_equal(read.damaged_at, s.block_at[1]);
		assert_true(read.is_whole);
		assert_int_equal(get_u64(buf, false), 0);
		assert_int_equal(record_type(get_u64(buf + 8, false)), RECORD_LOST);
		assert_int_equal(record_addr(get_u64(buf + 8, false)), NR_EACH);
		/* A good block before the damage is passed on with it. */
		read = (struct compact_read){ .offset = 32, .may_skip = true };
		assert_int_equal(
			compact_file_read(&s.file, s.fd, buf, 4 * RAW_EACH, UINT64_MAX, &read),
			RAW_EACH + 16);
		assert_int_equal(read.skip, 32);
		assert_int_equal(read.offset, 2 * RAW_EACH);
		assert_int_equal(read.damaged_at, s.block_at[1]);
		free(buf);
	}
	end(&s);
}

/* After a block that ends within a record, the next block is read on its own. */
TEST(a_block_that_is_cut)
{
	struct compact_coder *coder cleanup_compact_coder = compact_coder_create();
	uint8_t *out = malloc(compact_bound(COMPACT_RAW_MAX));
	struct scene s;
	size_t len;

	begin(&s);
	strbuf_reset(&s.blocks);
	for (unsigned i = 0; i < 2; i++) {
		const uint8_t *from = (uint8_t *)s.raw.data + 40 * i;

		assert_int_equal(compact_encode(coder, 100, from, 40, false, out, &len), 40);
		strbuf_add(&s.blocks, out, len);
	}
	assert_int_equal(fd_write_all(s.fd, s.blocks.data, s.blocks.len), 0);
	assert_int_equal(compact_file_look(&s.file, s.fd), 0);
	assert_int_equal(s.file.nr, 2);
	for (size_t room = 16; room <= 80; room += 8) {
		struct compact_read read = { 0 };
		struct strbuf got cleanup_strbuf = { 0 };
		uint8_t buf[80];
		ssize_t n;

		while ((n = compact_file_read(&s.file, s.fd, buf, room, UINT64_MAX, &read)) > 0) {
			assert_true(read.offset <= 40 || (size_t)n <= 40);
			assert_false(read.is_whole && read.offset <= 40);
			strbuf_add(&got, buf, n);
		}
		assert_int_equal(got.len, 80);
		assert_memory_equal(got.data, s.raw.data, 80);
	}
	free(out);
	end(&s);
}

TEST(places_of_bytes)
{
	static const struct compact_file empty;
	struct scene s;

	assert_null(compact_file_place(&empty, 0));
	begin(&s);
	look(&s);
	for (uint64_t raw = 0; raw < s.file.raw_bytes + 20; raw++) {
		const struct compact_place *place = compact_file_place(&s.file, raw);

		if (raw >= 3 * RAW_EACH)
			assert_null(place);
		else
			assert_ptr_equal(place, &s.file.places[raw / RAW_EACH]);
	}
	for (unsigned i = 0; i < NR_BLOCKS; i++) {
		assert_int_equal(s.file.places[i].raw, i * RAW_EACH);
		assert_int_equal(s.file.places[i].raw_len, RAW_EACH);
		assert_int_equal(s.file.places[i].at, s.block_at[i]);
		assert_int_equal(s.file.places[i].len,
				 (i < 2 ? s.block_at[i + 1] : s.blocks.len) - s.block_at[i]);
		assert_true(s.file.places[i].has_head);
	}
	compact_file_deinit(&s.file);
	assert_null(s.file.places);
	assert_int_equal(s.file.nr, 0);
	assert_int_equal(s.file.raw_bytes, 0);
	assert_int_equal(s.file.end, 0);
	end(&s);
}

/* The file may change after its blocks were found. */
TEST(blocks_that_are_gone)
{
	struct compact_place none = { .raw_len = 16, .len = 100 };
	uint8_t bytes[4096];
	struct compact_head head;
	struct scene s;

	begin(&s);
	look(&s);

	const struct compact_place *last = &s.file.places[2];
	const size_t len = last->len;

	assert_true(len + COMPACT_SLACK < sizeof(bytes));
	memset(bytes, 0xff, sizeof(bytes));
	assert_true(compact_file_head(last, s.fd, &head));
	assert_int_equal(head.raw_len, RAW_EACH);
	assert_int_equal(compact_file_load(last, s.fd, bytes, &head), 1);
	assert_int_equal(head.first_ns, 2000);
	assert_memory_equal(bytes, s.blocks.data + last->at, len);
	for (size_t i = 0; i < COMPACT_SLACK; i++)
		assert_int_equal(bytes[len + i], 0);
	assert_int_equal(bytes[len + COMPACT_SLACK], 0xff);
	/* No head is read at a place that should have none, even if the file has a head there. */
	assert_false(compact_file_head(&none, s.fd, &head));
	/* Another block than the one that was found. */
	none = *last;
	none.raw_len--;
	assert_int_equal(compact_file_load(&none, s.fd, bytes, &head), 0);
	none = *last;
	none.len--;
	assert_int_equal(compact_file_load(&none, s.fd, bytes, &head), 0);
	/* The file is cut: in the body, and in the head. */
	assert_int_equal(ftruncate(s.fd, last->at + len - 1), 0);
	assert_true(compact_file_head(last, s.fd, &head));
	memset(bytes, 0xff, sizeof(bytes));
	assert_int_equal(compact_file_load(last, s.fd, bytes, &head), 0);
	for (size_t i = len - 1; i < len + COMPACT_SLACK; i++)
		assert_int_equal(bytes[i], 0);
	assert_int_equal(ftruncate(s.fd, last->at + COMPACT_HEAD_BYTES), 0);
	assert_true(compact_file_head(last, s.fd, &head));
	assert_int_equal(ftruncate(s.fd, last->at + COMPACT_HEAD_BYTES - 1), 0);
	assert_false(compact_file_head(last, s.fd, &head));
	assert_int_equal(compact_file_load(last, -1, bytes, &head), -EBADF);
	end(&s);
}

TEST(records_of_losses)
{
	static const uint32_t numbers[][2] = { { 0, 1 }, { 1, 1 }, { 8192, 8192 } };

	for (size_t i = 0; i < ARRAY_SIZE(numbers); i++) {
		uint8_t out[16];
		uint64_t data;

		memset(out, 0xff, sizeof(out));
		assert_int_equal(compact_file_put_lost(numbers[i][0], out), 16);
		data = get_u64(out + 8, false);
		assert_int_equal(get_u64(out, false), 0);
		assert_int_equal(record_type(data), RECORD_LOST);
		assert_int_equal(record_depth(data), 0);
		assert_int_equal(record_addr(data), numbers[i][1]);
	}
}
