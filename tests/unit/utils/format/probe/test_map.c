/* sid-*.map: round trip, merging of segments, build-ids, cut lines and wrong ones. */
#include "tests/unit/lib/unit.h"

#include <errno.h>

#include "utils/format/probe/map.h"

static const char sample[] =
	"5627dbabe000-5627dbac3000 r-xp 00000000 00:00 0                          "
	"/tmp/w/p g build-id:e4687ae744ba53df908f930dd69e0c21d4f05164\n"
	"7f0d7ee58000-7f0d7ee78000 r-xp 00000000 00:00 0                          /lib/x.so\n"
	"7ffc7a232000-7ffc7a253000 rw-p 00000000 00:00 0                          [stack]\n";

TEST(round_trip)
{
	struct module_map map cleanup_module_map = { 0 };
	struct strbuf out cleanup_strbuf = { 0 };

	assert_int_equal(module_map_decode(sample, strlen(sample), &map, NULL), 0);
	assert_int_equal(map.nr, 3);
	assert_string_equal(map.entries[0].path, "/tmp/w/p g");
	assert_string_equal(map.entries[0].build_id, "e4687ae744ba53df908f930dd69e0c21d4f05164");
	assert_string_equal(map.entries[1].build_id, "");
	module_map_encode(&map, &out);
	assert_string_equal(strbuf_str(&out), sample);
}

TEST(segments_merge)
{
	static const char text[] = "1000-2000 r--p 00000000 fe:00 123 /bin/a\n"
				   "2000-3000 r-xp 00001000 fe:00 123 /bin/a\n"
				   "4000-5000 rw-p 00000000 00:00 0\n"
				   "6000-7000 r-xp 00000000 fe:00 124 /bin/b";
	struct module_map map cleanup_module_map = { 0 };

	assert_int_equal(module_map_decode(text, strlen(text), &map, NULL), 0);
	assert_int_equal(map.nr, 2);
	assert_int_equal(map.entries[0].start, 0x1000);
	assert_int_equal(map.entries[0].end, 0x3000);
	assert_string_equal(map.entries[0].prot, "r-xp");
	assert_string_equal(map.entries[1].path, "/bin/b");
}

/* Other recorders may write empty segments. The modules around them are read all the same. */
TEST(empty_segments)
{
	static const char text[] = "1000-1000 r-xp 00000000 fe:00 123 /bin/a\n"
				   "2000-3000 r-xp 00000000 fe:00 124 /bin/b\n";
	struct module_map map cleanup_module_map = { 0 };

	assert_int_equal(module_map_decode(text, strlen(text), &map, NULL), 0);
	assert_string_equal(map.entries[map.nr - 1].path, "/bin/b");
	assert_int_equal(map.entries[map.nr - 1].start, 0x2000);
}

TEST(cut_anywhere)
{
	for (size_t len = 0; len < strlen(sample); len++) {
		struct module_map map cleanup_module_map = { 0 };
		struct uft_err err = { 0 };
		char *copy = exact_copy(sample, len);

		if (module_map_decode(copy, len, &map, &err) < 0)
			assert_string_not_equal(err.text, "");
		free(copy);
	}
}

TEST(bad_lines)
{
	static const char *const bad[] = { "hello\n", "2000-1000 r-xp 0 0:0 0 /a\n",
					   "1000-2000 r-x 0 0:0 0 /a\n",
					   "1000-2000 r-xp 0 0:0 x /a\n",
					   "1000-2000 r%sp 0 0:0 0 /a\n" };

	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		struct module_map map cleanup_module_map = { 0 };
		struct uft_err err = { 0 };

		assert_int_equal(module_map_decode(bad[i], strlen(bad[i]), &map, &err), -EINVAL);
		assert_non_null(strstr(err.text, "line 1"));
	}
}

/* A build-id is hexadecimal, and not too long. Anything else belongs to the path. */
TEST(build_ids)
{
#define DIGITS "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
	static const struct {
		const char *rest;
		const char *path;
		const char *build_id;
	} cases[] = {
		{ "/a build-id:0", "/a", "0" },
		{ "/a build-id:", "/a build-id:", "" },
		{ "/a build-id:0g", "/a build-id:0g", "" },
		{ "/a build-id:AB", "/a build-id:AB", "" },
		{ "/abc", "/abc", "" },
		{ "/a build-ie:ab", "/a build-ie:ab", "" },
		{ "/a build-id:1 build-id:2", "/a build-id:1", "2" },
		{ "abcdef", "abcdef", "" },
		{ "build-id:12", "build-id:12", "" },
		{ "\t /a\tb", "/a\tb", "" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct module_map map cleanup_module_map = { 0 };
		char text[128];

		snprintf(text, sizeof(text), "1000-2000 r-xp 0 0:0 0 %s\n", cases[i].rest);
		assert_int_equal(module_map_decode(text, strlen(text), &map, NULL), 0);
		assert_int_equal(map.nr, 1);
		assert_string_equal(map.entries[0].path, cases[i].path);
		assert_string_equal(map.entries[0].build_id, cases[i].build_id);
	}
	for (int len = MAP_BUILD_ID_MAX - 1; len <= MAP_BUILD_ID_MAX + 1; len++) {
		struct module_map map cleanup_module_map = { 0 };
		char text[256];

		snprintf(text, sizeof(text), "1000-2000 r-xp 0 0:0 0 /a build-id:%.*s\n", len,
			 DIGITS DIGITS);
		assert_int_equal(module_map_decode(text, strlen(text), &map, NULL), 0);
		assert_int_equal(strlen(map.entries[0].build_id),
				 len <= MAP_BUILD_ID_MAX ? len : 0);
		assert_int_equal(strlen(map.entries[0].path),
				 len <= MAP_BUILD_ID_MAX ? strlen("/a")
							 : strlen("/a build-id:") + len);
	}
#undef DIGITS
}

/* Segments of one module follow each other. The module has the protection of its code. */
TEST(which_segments_merge)
{
	static const char text[] = "1000-2000 r-xp 0 0:0 0 /bin/a\n"
				   "3000-4000 rw-p 0 0:0 0 /bin/a\n"
				   "3000-3800 rw-p 0 0:0 0 /bin/a\n"
				   "5000-6000 r--p 0 0:0 0 /bin/ab\n"
				   "6000-7000 r--p 0 0:0 0 /bin/a\n"
				   "7000-7000 r--s 0 0:0 0 /bin/\n"
				   "8000-9000 r--p 0 0:0 0 \n"
				   "\n"
				   "9000-a000 --xs 0 0:0 0 /bin/\n";
	static const struct {
		uint64_t start;
		uint64_t end;
		const char *prot;
		const char *path;
	} expected[] = {
		{ 0x1000, 0x4000, "r-xp", "/bin/a" },
		{ 0x5000, 0x6000, "r--p", "/bin/ab" },
		{ 0x6000, 0x7000, "r--p", "/bin/a" },
		{ 0x7000, 0xa000, "--xs", "/bin/" },
	};
	struct module_map map cleanup_module_map = { 0 };

	assert_int_equal(module_map_decode(text, strlen(text), &map, NULL), 0);
	assert_int_equal(map.nr, ARRAY_SIZE(expected));
	for (size_t i = 0; i < map.nr; i++) {
		assert_int_equal(map.entries[i].start, expected[i].start);
		assert_int_equal(map.entries[i].end, expected[i].end);
		assert_string_equal(map.entries[i].prot, expected[i].prot);
		assert_string_equal(map.entries[i].path, expected[i].path);
	}
}

/* The message has the number of the line. No entry is left. */
TEST(each_part_of_a_line)
{
	static const char *const bad[] = {
		"x-2000 r-xp 0 0:0 0 /a",    "1000 2000 r-xp 0 0:0 0 /a",
		"1000-x r-xp 0 0:0 0 /a",    "1000-2000r-xp 0 0:0 0 /a",
		"1000-2000 rxxq 0 0:0 0 /a", "1000-2000 r-xp0 0:0 0 /a",
		"1000-2000 r-xp x 0:0 0 /a", "1000-2000 r-xp 0,0:0 0 /a",
		"1000-2000 r-xp 0 x:0 0 /a", "1000-2000 r-xp 0 0 0 /a",
		"1000-2000 r-xp 0 0:x 0 /a", "1000-2000 r-xp 0 0:0,0 /a",
		"1000-2000 r-xp 0 0:0 x /a", "1000-2000 r-x",
		"1000-2000 zwxp 0 0:0 0 /a", "1000-0fff r-xp 0 0:0 0 /a",
	};

	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		struct module_map map = { 0 };
		struct uft_err err = { 0 };
		char text[128];

		snprintf(text, sizeof(text), "1000-2000 rwxp 0 0:0 0 /a\n\n%s\n", bad[i]);
		assert_int_equal(module_map_decode(text, strlen(text), &map, &err), -EINVAL);
		assert_string_equal(err.text,
				    "line 3: expected '<start>-<end> <prot> <offset> <dev> "
				    "<inode> <path>'");
		assert_int_equal(map.nr, 0);
		assert_null(map.entries);
	}
}

/* Entries that are added one by one have paths of their own. */
TEST(added_one_by_one)
{
	struct module_map map cleanup_module_map = { 0 };
	struct strbuf out cleanup_strbuf = { 0 };
	char path[] = "/a\nb";
	struct map_entry entry = { .start = 0x10, .end = 0x20, .prot = "r-xp", .path = path };

	assert_int_equal(module_map_add(&map, &entry), 0);
	strcpy(entry.build_id, "ab");
	assert_int_equal(module_map_add(&map, &entry), 0);
	path[1] = 'x';
	assert_int_equal(map.nr, 2);
	assert_string_equal(map.entries[0].path, "/a\nb");
	module_map_encode(&map, &out);
	assert_string_equal(strbuf_str(&out),
			    "10-20 r-xp 00000000 00:00 0                          /a\\012b\n"
			    "10-20 r-xp 00000000 00:00 0                          /a\\012b "
			    "build-id:ab\n");
}
