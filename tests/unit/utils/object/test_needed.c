/* The needed libraries (DT_NEEDED) of this very program. */
#include <errno.h>

#include "tests/unit/lib/unit.h"
#include "utils/object/needed.h"

TEST(own_libraries)
{
	struct strbuf names cleanup_strbuf = { 0 };
	struct uft_err err = { 0 };

	assert_int_equal(object_needed_load("/proc/self/exe", &names, &err), 0);
	assert_true(strbuf_list_has(&names, "libc.so.6"));
	assert_true(strbuf_list_has(&names, "libcmocka.so.0"));
	assert_false(strbuf_list_has(&names, "libc.so"));
	assert_false(strbuf_list_has(&names, ""));
}

TEST(none)
{
	struct strbuf names cleanup_strbuf = { 0 };

	assert_false(strbuf_list_has(&names, "libc.so.6"));
	assert_int_equal(object_needed_load("/nonexistent", &names, NULL), -ENOENT);
	assert_int_equal(object_needed_load("/dev/null", &names, NULL), -ENOEXEC);
	assert_int_equal(names.len, 0);
}
