/* Fuzz target: extern.dat. Lines come out by time, and short enough. */
#include "tests/fuzz/fuzz.h"
#include "utils/trace/src_extern.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	struct trace_data data = { .dir = (char *)fuzz_empty_dir() };
	struct src_extern src;
	struct uft_err err = { 0 };

	fuzz_write_file("extern.dat", bytes, size);

	int ret = src_extern_load(&src, &data, &err);

	fuzz_check_error(ret < 0, &err);
	if (ret < 0)
		return 0;
	for (size_t i = 0; i < src.nr; i++) {
		FUZZ_CHECK(i == 0 || src.events[i - 1].time_ns <= src.events[i].time_ns);
		FUZZ_CHECK(src.events[i].data_len <= 1023);
	}
	src_extern_deinit(&src);
	return 0;
}
