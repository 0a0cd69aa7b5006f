/* kallsyms: names for addresses. The file may contain anything else. */
#include "tests/unit/lib/unit.h"

#include <unistd.h>

#include "utils/base/fd.h"
#include "utils/base/outfile.h"
#include "utils/view/values/kernelsyms.h"

static char dir[] = "/tmp/utrail-unit-XXXXXX";

static struct kernelsyms *make(const char *text)
{
	char path[64];

	snprintf(path, sizeof(path), "%s/kallsyms", dir);
	assert_int_equal(outfile_put(path, text, strlen(text), NULL), 0);
	return kernelsyms_create(dir);
}

TEST(names)
{
	struct kernelsyms *syms = make("0000000000000000 A zero\n"
				       "ffffffff81000200 t second\t[module]\n"
				       "ffffffff81000100 T first\n"
				       "ffffffff81000100 T also_first\n"
				       "ffffffff81000180 d data\n"
				       "ffffffff81000190 T\n"
				       "no line\n"
				       "ffffffff81000300 w last");
	uint64_t start;

	assert_null(kernelsyms_find(syms, 0, &start));
	assert_null(kernelsyms_find(syms, 0xffffffff810000ff, &start));
	assert_string_equal(kernelsyms_find(syms, 0xffffffff81000100, &start), "first");
	assert_string_equal(kernelsyms_find(syms, 0xffffffff810001ff, &start), "first");
	assert_true(start == 0xffffffff81000100);
	assert_string_equal(kernelsyms_find(syms, 0xffffffff81000200, &start), "second");
	assert_string_equal(kernelsyms_find(syms, UINT64_MAX, &start), "last");
	assert_true(start == 0xffffffff81000300);
	kernelsyms_destroy(syms);
}

/* Users without the right to see addresses get zeros. A missing file is not an error. */
TEST(nothing_is_known)
{
	struct kernelsyms *syms = make("0000000000000000 T a\n0000000000000000 T b\n");
	uint64_t start;

	assert_null(kernelsyms_find(syms, 1, &start));
	kernelsyms_destroy(syms);
	syms = kernelsyms_create("/nowhere");
	assert_null(kernelsyms_find(syms, 1, &start));
	kernelsyms_destroy(syms);
	assert_null(kernelsyms_find(NULL, 1, &start));
	kernelsyms_destroy(NULL);
}

static int make_dir(void **state)
{
	return mkdtemp(dir) ? 0 : -1;
}

static int remove_dir(void **state)
{
	char path[64];

	snprintf(path, sizeof(path), "%s/kallsyms", dir);
	unlink(path);
	return rmdir(dir);
}

TEST_GROUP(make_dir, remove_dir)
