/*
 * Fuzz target: demangled names in all modes. They are never empty, and --demangle=no leaves them as
 * they were.
 */
#include <string.h>

#include "tests/fuzz/fuzz.h"
#include "utils/object/names/demangle.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *name cleanup_free = strndup((const char *)data, size);
	struct strbuf simple cleanup_strbuf = { 0 };
	struct strbuf full cleanup_strbuf = { 0 };
	struct strbuf no cleanup_strbuf = { 0 };

	if (!name || !*name)
		return 0;
	demangle(name, DEMANGLE_SIMPLE, &simple);
	demangle(name, DEMANGLE_FULL, &full);
	demangle(name, DEMANGLE_NO, &no);
	FUZZ_CHECK(simple.len && strlen(simple.data) == simple.len);
	FUZZ_CHECK(full.len && strlen(full.data) == full.len);
	FUZZ_CHECK(strcmp(no.data, name) == 0);
	return 0;
}
