/* Fuzz target: the text of `info`. Text that is read and written again reads as the same. */
#include <string.h>

#include "tests/fuzz/fuzz.h"
#include "utils/format/info.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct info info cleanup_info = { 0 };
	struct uft_err err = { 0 };
	int ret = info_decode((const char *)data, size, &info, &err);

	fuzz_check_error(ret < 0, &err);
	if (ret < 0)
		return 0;

	struct strbuf first cleanup_strbuf = { 0 };
	struct strbuf second cleanup_strbuf = { 0 };
	struct info again cleanup_info = { 0 };

	info_encode(&info, &first);
	FUZZ_CHECK(info_decode(first.data, first.len, &again, &err) == 0);
	info_encode(&again, &second);
	FUZZ_CHECK(first.len == second.len);
	FUZZ_CHECK(!first.len || memcmp(first.data, second.data, first.len) == 0);
	return 0;
}
