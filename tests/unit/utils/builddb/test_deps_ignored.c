/* Files that dependencies leave out: the default list, globs, and wrong lists. */
#include "tests/unit/lib/unit.h"

#include "utils/base/compiler.h"
#include "utils/builddb/deps_ignored.h"

static const char *const paths[] = {
	"/etc/ld.so.cache",
	"/etc/ld.so.conf",
	"/usr/lib/x/gconv/gconv-modules.cache",
	"/usr/lib32/gconv/UTF-16.so",
	"/usr/lib/x/libc.so.6",
	"/usr/lib/locale/locale-archive",
	"/usr/include/stdio.h",
	"/proc/self/maps",
	"/sys/fs/cgroup/cpu.max",
	"/dev/null",
	"/dev/shm/src/a.c",
	"/dev/shm/sem.x",
	"/etc/passwd",
	"/usr/bin/gcc",
	"/etc/hosts/a.c",
	"/src/proc/a.c",
};

/*
 * Returns a bit for each hidden path; the lowest bit is for the first one. @dir: where the build
 * began
 */
static unsigned hidden(const char *list, const char *dir)
{
	struct files files = { 0 };
	struct execution make = { .cwd = dir };
	struct executions executions = { .all = &make, .nr = 1 };
	unsigned bits = 0;

	for (size_t i = 0; i < ARRAY_SIZE(paths); i++)
		assert_int_equal(files_name(&files, paths[i]) == FILES_NONE, false);
	assert_int_equal(deps_ignored_hide(&files, &executions, list), 0);
	for (size_t i = 0; i < ARRAY_SIZE(paths); i++)
		bits |= (unsigned)files.names[files_name(&files, paths[i])].is_hidden << i;
	files_deinit(&files);
	return bits;
}

#define DEFAULTS 0x1bad

TEST(the_c_librarys_own)
{
	assert_int_equal(hidden(NULL, "/w"), DEFAULTS);
	assert_int_equal(hidden("default", "/w"), DEFAULTS);
	assert_int_equal(hidden("none", "/w"), 0);
	/* Files below the build's directory are not hidden. */
	assert_int_equal(hidden(NULL, "/usr/lib"), DEFAULTS & ~0x24);
	assert_int_equal(hidden(NULL, "/"), DEFAULTS);
}

TEST(globs_are_of_whole_paths)
{
	assert_int_equal(hidden("*.h", "/w"), 0x40);
	assert_int_equal(hidden("/usr/bin/gcc;/etc/p*", "/w"), 0x3000);
	assert_int_equal(hidden("none;/usr/bin/gcc;default", "/w"), DEFAULTS | 0x2000);
	assert_int_equal(hidden("/usr/bin", "/w"), 0);
	assert_int_equal(hidden("/dev/*", "/dev/shm/src"), 0xe00);
}

TEST(lists_that_are_wrong)
{
	static const char *const good[] = { "default", "none;default", "/a;*.h;?x;[/]y" };
	static const char *const bad[] = { "", "usr/*", "defaults", "/a;", ";/a", "/a;;/b" };

	for (size_t i = 0; i < ARRAY_SIZE(good); i++)
		assert_int_equal(deps_ignored_check(good[i], NULL), 0);
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
		assert_int_equal(deps_ignored_check(bad[i], NULL), -ERR_USAGE);
}
