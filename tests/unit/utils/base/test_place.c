/* Paths and their links: links that are followed, and their targets. */
#include "tests/unit/lib/unit.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "utils/base/place.h"

#define STRANGER 65533

static char top[] = "/tmp/utrail-test-place-XXXXXX";

static int make_dir(void **state)
{
	return mkdtemp(top) && chdir(top) == 0 && mkdir("public", 0777) == 0 &&
			       chmod("public", 01777) == 0 && mkdir("own", 0755) == 0
		       ? 0
		       : -1;
}

static int remove_dir(void **state)
{
	char command[64];

	snprintf(command, sizeof(command), "rm -rf %s", top);
	return chdir("/") == 0 && system(command) == 0 ? 0 : -1;
}

/*
 * Returns the result of place_find(). @name gets the last name of the path, or "(none)" if the path
 * ends before it.
 */
static int find(const char *path, char name[NAME_MAX + 1])
{
	struct place place;
	int ret = place_find(&place, path, NULL);

	snprintf(name, NAME_MAX + 1, "%s", place.name);
	place_deinit(&place);
	return ret;
}

static void make_link(const char *to, const char *path, uid_t owner)
{
	assert_int_equal(symlink(to, path), 0);
	assert_int_equal(lchown(path, owner, owner), 0);
}

TEST(names_and_slashes)
{
	static const struct {
		const char *path;
		int code;
		const char *name;
	} rows[] = {
		{ "own/new", 0, "new" },
		{ "./own//./new", 0, "new" },
		{ "own/../own/new", 0, "new" },
		{ "own", -EISDIR, "own" },
		{ "own/", -EISDIR, "." },
		{ "own/.", -EISDIR, "." },
		{ "/", -EISDIR, "" },
		{ "", -ENOENT, "" },
		{ "absent/new", -ENOENT, "absent" },
	};
	char name[NAME_MAX + 1];

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		assert_int_equal(find(rows[i].path, name), rows[i].code);
		if (*rows[i].name)
			assert_string_equal(name, rows[i].name);
	}
}

TEST(own_links_are_followed)
{
	char name[NAME_MAX + 1];

	make_link("../own/far", "public/near", geteuid());
	assert_int_equal(find("public/near", name), 0);
	assert_string_equal(name, "far");
	make_link("near", "public/nearer", geteuid());
	assert_int_equal(find("public/nearer", name), 0);
	assert_string_equal(name, "far");
	make_link("round", "public/round", geteuid());
	assert_int_equal(find("public/round", name), -ELOOP);
}

TEST(links_of_a_stranger)
{
	char name[NAME_MAX + 1];

	if (geteuid() != 0)
		skip_because("files of other users need root");
	make_link("../own/far", "public/his", STRANGER);
	assert_int_equal(find("public/his", name), -EACCES);
	make_link("../own", "public/his-dir", STRANGER);
	assert_int_equal(find("public/his-dir/far", name), -EACCES);
	/* A link of root's that leads to a stranger's file. */
	make_link("his", "public/ours", 0);
	assert_int_equal(find("public/ours", name), -EACCES);
	/* In a stranger's directory, links lead to the stranger's own files only. */
	assert_int_equal(mkdir("his", 0755), 0);
	assert_int_equal(chown("his", STRANGER, STRANGER), 0);
	make_link("new", "his/to-own", STRANGER);
	assert_int_equal(find("his/to-own", name), 0);
	make_link("../own/far", "his/to-ours", STRANGER);
	assert_int_equal(find("his/to-ours", name), -EACCES);
	/* The sticky bit of a stranger's directory does not make links in it trusted. */
	assert_int_equal(chmod("his", 01777), 0);
	assert_int_equal(find("his/to-own", name), -EACCES);
}

/* A stranger's link to a link of another stranger cannot choose a file of the latter. */
TEST(links_of_two_strangers)
{
	char name[NAME_MAX + 1];

	if (geteuid() != 0)
		skip_because("files of other users need root");
	assert_int_equal(mkdir("one", 0755), 0);
	assert_int_equal(chown("one", STRANGER, STRANGER), 0);
	assert_int_equal(mkdir("two", 0755), 0);
	assert_int_equal(mknod("two/file", S_IFREG | 0644, 0), 0);
	assert_int_equal(chown("two/file", STRANGER - 1, STRANGER - 1), 0);
	assert_int_equal(chown("two", STRANGER - 1, STRANGER - 1), 0);
	make_link("file", "two/link", STRANGER - 1);
	assert_int_equal(find("two/link", name), 0);
	make_link("../two/link", "one/link", STRANGER);
	assert_int_equal(find("one/link", name), -EACCES);
	/* A link of root's on the way makes no difference: the links of other users decide. */
	make_link("../two/link", "own/to-two", 0);
	assert_int_equal(find("own/to-two", name), 0);
	make_link("../own/to-two", "one/through-own", STRANGER);
	assert_int_equal(find("one/through-own", name), -EACCES);
}

TEST(files_of_a_stranger)
{
	struct place place;

	if (geteuid() != 0)
		skip_because("files of other users need root");
	assert_int_equal(mknod("public/file", S_IFREG | 0666, 0), 0);
	assert_int_equal(chown("public/file", STRANGER, STRANGER), 0);
	assert_int_equal(place_find(&place, "public/file", NULL), 0);
	assert_true(place.is_there && place.is_shared);
	assert_int_equal(place_check_owner(&place, "public/file", NULL), -EACCES);
	place_deinit(&place);
	assert_int_equal(chown("public/file", 0, 0), 0);
	assert_int_equal(place_find(&place, "public/file", NULL), 0);
	assert_int_equal(place_check_owner(&place, "public/file", NULL), 0);
	place_deinit(&place);
}

TEST(parents)
{
	struct place place;

	make_link("nowhere", "own/last", geteuid());
	assert_int_equal(place_find_parent(&place, "own/last//", NULL), 0);
	assert_string_equal(place.name, "last");
	place_deinit(&place);
	assert_int_equal(place_find_parent(&place, "own/..", NULL), -EISDIR);
	place_deinit(&place);
}

TEST(parents_by_links_of_a_stranger)
{
	/* Directories of the stranger, and of others. */
	const char *const texts[] = { ".", "sub", "..", "/", "//", "../own" };
	struct place place;

	if (geteuid() != 0)
		skip_because("files of other users need root");
	assert_int_equal(mkdir("strange", 0755), 0);
	assert_int_equal(mkdir("strange/sub", 0755), 0);
	assert_int_equal(chown("strange", STRANGER, STRANGER), 0);
	assert_int_equal(chown("strange/sub", STRANGER, STRANGER), 0);
	for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
		make_link(texts[i], "strange/link", STRANGER);
		assert_int_equal(place_find_parent(&place, "strange/link/new", NULL),
				 i < 2 ? 0 : -EACCES);
		place_deinit(&place);
		assert_int_equal(unlink("strange/link"), 0);
	}
}

TEST_GROUP(make_dir, remove_dir)
