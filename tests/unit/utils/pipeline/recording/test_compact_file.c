/*
 * Records in compact blocks are read as if they were in a plain file: from any place, with any
 * buffer, and around damage.
 */
#include "tests/unit/lib/unit.h"

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
 * One record replaces a damaged block, and reports the damage. All others are read, with any
 * buffer.
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
 * After a damaged head the next one is searched at each place. The blocks before and after are
 * read.
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
