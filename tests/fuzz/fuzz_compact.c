/*
 * Fuzz target: <tid>.cdat. The first byte chooses the kind of the rest: a whole file; the body of
 * one block, whose checksums the target corrects; or a <tid>.dat, which is packed and must come
 * back unchanged.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/fuzz/fuzz.h"
#include "tests/unit/lib/read/by_calls.h"
#include "utils/base/cleanup.h"
#include "utils/pipeline/recording/compact_file.h"

#define FILE_NAME "1.cdat"

static int open_file(const uint8_t *data, size_t size)
{
	char path[512];

	snprintf(path, sizeof(path), "%s/" FILE_NAME, fuzz_empty_dir());
	fuzz_write_file(FILE_NAME, data, size);
	return open(path, O_RDONLY | O_CLOEXEC);
}

/* Read the whole file, at most @room bytes at a time. Returns a sum of its bytes. */
static uint64_t read_all(const struct compact_file *file, int fd, size_t room)
{
	struct compact_read read = { 0 };
	uint8_t *buf cleanup_free = malloc(room);
	uint64_t sum = 0;
	uint64_t offset = 0;
	ssize_t got;

	FUZZ_CHECK(buf);
	while ((got = compact_file_read(file, fd, buf, room, UINT64_MAX, &read)) > 0) {
		FUZZ_CHECK((size_t)got <= room && read.skip == 0 && read.offset > offset);
		offset = read.offset;
		for (ssize_t i = 0; i < got; i++)
			sum = (sum ^ buf[i]) * 0x100000001b3ULL;
	}
	FUZZ_CHECK(got == 0 && offset == file->raw_bytes);
	return sum;
}

static void read_file(const uint8_t *data, size_t size)
{
	struct compact_file file = { 0 };
	int fd cleanup_fd = open_file(data, size);

	FUZZ_CHECK(fd >= 0 && compact_file_look(&file, fd) == 0);
	FUZZ_CHECK(file.end <= size && (file.end < size) == file.is_torn);
	for (size_t i = 1; i < file.nr; i++)
		FUZZ_CHECK(file.places[i].raw > file.places[i - 1].raw);
	FUZZ_CHECK(read_all(&file, fd, 4096) == read_all(&file, fd, 2 * COMPACT_RAW_MAX));
	compact_file_deinit(&file);
}

/* Reads the body alone: a fuzzer never gets the checksums in front of it right. */
static void read_body(struct fuzz_input *in)
{
	struct compact_coder *coder cleanup_compact_coder = compact_coder_create();
	struct compact_head head = {
		.raw_len = 1 + fuzz_u16(in),
		.nr_funcs = fuzz_u8(in),
		.body_len = in->size,
	};
	uint8_t *body cleanup_free = calloc(1, in->size + COMPACT_SLACK);
	uint8_t *raw cleanup_free = malloc(head.raw_len);
	uint8_t *same cleanup_free = malloc(head.raw_len);

	FUZZ_CHECK(coder && body && raw && same);
	head.tokens_len = MIN((uint32_t)fuzz_u16(in), (uint32_t)in->size);
	head.body_len = in->size;
	memcpy(body, in->data, in->size);
	head.sum = compact_sum(body, head.body_len);

	bool is_good = compact_decode(coder, &head, body, raw);

	FUZZ_CHECK(decode_by_calls(coder, &head, body, UINT64_MAX, same) == is_good);
	FUZZ_CHECK(!is_good || memcmp(raw, same, head.raw_len) == 0);
}

static void pack_and_unpack(const uint8_t *data, size_t size)
{
	struct compact_coder *coder cleanup_compact_coder = compact_coder_create();
	uint8_t *out cleanup_free = malloc(compact_bound(COMPACT_RAW_MAX) + COMPACT_SLACK);
	uint8_t *raw cleanup_free = malloc(COMPACT_RAW_MAX);

	FUZZ_CHECK(coder && out && raw);
	for (size_t done = 0; done < size;) {
		struct compact_head head;
		size_t len;
		size_t used = compact_encode(coder, 1, data + done, size - done, false, out, &len);

		FUZZ_CHECK(used > 0 && len <= compact_bound(used));
		FUZZ_CHECK(compact_head_decode(out, &head) && head.raw_len == used);
		memset(out + len, 0, COMPACT_SLACK);
		FUZZ_CHECK(compact_decode(coder, &head, out + COMPACT_HEAD_BYTES, raw));
		FUZZ_CHECK(memcmp(raw, data + done, used) == 0);
		memset(raw, 0, used);
		FUZZ_CHECK(decode_by_calls(coder, &head, out + COMPACT_HEAD_BYTES, head.first_ns,
					   raw));
		FUZZ_CHECK(memcmp(raw, data + done, used) == 0);
		done += used;
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	struct fuzz_input in = { bytes, size };

	switch (fuzz_u8(&in) % 3) {
	case 0:
		read_file(in.data, in.size);
		break;
	case 1:
		read_body(&in);
		break;
	default:
		pack_and_unpack(in.data, in.size);
	}
	return 0;
}
