/*
 * Fuzz target: extern.dat. Lines come out in order of time, up to limits of their number and
 * length.
 */
#include "tests/fuzz/fuzz.h"
#include "utils/pipeline/sources/src_extern.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	struct trace_data data = { .dir = (char *)fuzz_empty_dir() };
	struct source *src;
	struct uft_err err = { 0 };
	struct event event;
	uint64_t last_ns = 0;
	size_t nr_shown = 0;
	ssize_t nr;

	fuzz_write_file("extern.dat", bytes, size);

	int ret = src_extern_open(&data, &src, &err);

	fuzz_check_error(ret < 0, &err);
	if (ret < 0 || !src)
		return 0;
	while (source_next_ns(src) != UINT64_MAX &&
	       (nr = source_read(src, &event, 1, UINT64_MAX, &err)) > 0) {
		FUZZ_CHECK(nr_shown++ >= EXTERN_HELD_MAX || last_ns <= event.time_ns);
		FUZZ_CHECK(event.data_len <= 1023);
		last_ns = event.time_ns;
	}
	source_close(src);
	return 0;
}
