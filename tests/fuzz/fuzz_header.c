/*
 * Fuzz target: the binary header of `info`. A header that is read is written back as the same
 * bytes.
 */
#include <string.h>

#include "tests/fuzz/fuzz.h"
#include "utils/format/header.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct data_header header = { 0 };
	struct uft_err err = { 0 };
	int ret = header_decode(data, size, &header, &err);

	fuzz_check_error(ret < 0, &err);
	if (ret < 0)
		return 0;

	uint8_t bytes[HEADER_SIZE];

	header_encode(&header, bytes);
	FUZZ_CHECK(memcmp(bytes, data, 12) == 0);
	FUZZ_CHECK(memcmp(bytes + 14, data + 14, 34 - 14) == 0);
	return 0;
}
