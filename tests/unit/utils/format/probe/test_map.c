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
