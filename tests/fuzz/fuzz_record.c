/*
 * Fuzz target: <tid>.dat. The first byte chooses byte order and buffer, the rest is the file. In
 * one variant two bytes give the length of a <tid>.evt, which comes before the file. The same
 * records are read with a buffer of any size.
 */
#include <string.h>

#include "tests/fuzz/fuzz.h"
#include "utils/pipeline/sources/src_user.h"

#define BATCH 64

/* The content that was read from a file: a sum over its events, their number, and the result. */
struct digest {
	uint64_t sum;
	size_t nr;
	int ret;
};

static void add(struct digest *digest, const struct event *event)
{
	const uint64_t words[] = { event->time_ns, event->addr,	 event->type,
				   event->depth,   event->flags, event->data_len };

	for (size_t i = 0; i < ARRAY_SIZE(words); i++)
		digest->sum = (digest->sum ^ words[i]) * 0x100000001b3ULL;
	for (size_t i = 0; event->data && i < event->data_len; i++)
		digest->sum = (digest->sum ^ event->data[i]) * 0x100000001b3ULL;
	digest->nr++;
}

static struct digest read_all(struct trace_data *data, const struct src_user_plan *plan,
			      size_t batch)
{
	struct src_user src;
	struct event events[BATCH];
	struct uft_err err = { 0 };
	struct digest digest = { 0 };
	ssize_t nr;

	FUZZ_CHECK(src_user_open(&src, data, 1, plan, NULL) == 0);
	do {
		nr = src_user_read(&src, events, batch, UINT64_MAX, &err);
		FUZZ_CHECK(nr <= (ssize_t)batch);
		for (ssize_t i = 0; i < nr; i++)
			add(&digest, &events[i]);
	} while (nr > 0 || (nr == 0 && !src.at_end));
	fuzz_check_error(nr < 0, &err);
	digest.ret = nr;
	src_user_close(&src);
	return digest;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	struct fuzz_input in = { bytes, size };
	uint8_t choice = fuzz_u8(&in);
	struct trace_data data = {
		.dir = (char *)fuzz_empty_dir(),
		.header = { .version = 4, .endian = 1, .elf_class = 2 },
		.is_big_endian = choice & 1,
	};
	struct src_user_plan large = { .buffer_bytes = SRC_USER_MAX_BUFFER, .keeps_open = true };
	struct src_user_plan small = { .buffer_bytes = SRC_USER_MIN_BUFFER,
				       .keeps_open = choice & 2 };

	if (choice & 8) {
		size_t len;
		const uint8_t *payloads = fuzz_bytes(&in, fuzz_u16(&in), &len);

		data.has_declared = true;
		fuzz_write_file("1.evt", payloads, len);
	}
	fuzz_write_file("1.dat", in.data, in.size);

	struct digest one = read_all(&data, &large, BATCH);
	struct digest two = read_all(&data, &small, choice & 4 ? 1 : 7);

	FUZZ_CHECK(one.nr == two.nr && one.sum == two.sum);
	FUZZ_CHECK(one.ret == two.ret);
	return 0;
}
