/* Fuzz target: the decompressor of .gnu_debugdata. Its output never exceeds the limit. */
#include "tests/fuzz/fuzz.h"
#include "utils/object/names/xz.h"

#define LIMIT (1 << 20)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct strbuf out cleanup_strbuf = { 0 };

	if (xz_decode(data, size, LIMIT, &out) == 0)
		FUZZ_CHECK(out.len <= LIMIT);
	return 0;
}
