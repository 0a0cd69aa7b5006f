/* Acts of processes on files and names. */
#include "tests/unit/lib/read/kinds.h"

#include "utils/format/proc_dat.h"

#define TEXT(str) text_of(str, sizeof(str) - 1)

static const bool is_big = __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__;

static void check(enum proc_kind kind, uint32_t a, uint32_t b, uint32_t c, const char *one,
		  const char *two, const char *three, const char *text, const char *fields)
{
	const struct proc_act act = { { a, b, c },
				      { text_of(one, strlen(one)), text_of(two, strlen(two)),
					text_of(three, strlen(three)) } };
	struct strbuf payload cleanup_strbuf = { 0 };

	proc_act_encode(&act, &payload);
	kind_check_data(EVENT_ID_PROC + kind, payload.data, payload.len, is_big, text, fields);
	kind_check_data(EVENT_ID_PROC + kind, payload.data, PROC_ACT_BYTES - 1, is_big, "", "");
	kind_check_data(EVENT_ID_PROC + kind, NULL, payload.len, is_big, "", "");
}

/* Numbers that mean nothing are left out, and so are empty texts. */
TEST(acts)
{
	check(PROC_OPEN, 3, 01, 0644, "/a b", "/x/../a", "",
	      "fd=3 flags=O_WRONLY mode=0644 path=\"/a b\" given=/x/../a",
	      "fd:i=3 flags:x=0x1 mode:x=0x1a4 path:t=/a b given:t=/x/../a");
	check(PROC_OPEN, -1, 0, 0, "/a", "", "", "fd=-1 flags=O_RDONLY path=/a",
	      "fd:i=-1 path:t=/a");
	check(PROC_CLOSE, 3, 3, 0, "", "", "", "fd=3", "fd:i=3");
	check(PROC_CLOSE, 3, 0xffffffff, 4, "", "", "", "fd=3 last=4294967295 flags=0x4",
	      "fd:i=3 last:u=0xffffffff flags:x=0x4");
	check(PROC_DUP, 3, 4, 02000000, "", "", "", "old=3 new=4 flags=0x80000",
	      "old:i=3 new:i=4 flags:x=0x80000");
	check(PROC_PIPE, 3, 4, 0, "", "", "", "read=3 write=4", "read:i=3 write:i=4");
	check(PROC_RENAME, 1, 2, 3, "/a", "/b", "/c", "flags=0x1 from=/a to=/b",
	      "flags:x=0x1 from:t=/a to:t=/b");
	check(PROC_LINK, 0, 2, 3, "/a", "/b", "/c", "from=/a to=/b", "from:t=/a to:t=/b");
	check(PROC_SYMLINK, 1, 2, 3, "a", "/b", "/c", "target=a path=/b resolved=/c",
	      "target:t=a path:t=/b resolved:t=/c");
	check(PROC_UNLINK, 0x200, 2, 3, "/a", "/b", "/c", "flags=0x200 path=/a",
	      "flags:x=0x200 path:t=/a");
	check(PROC_MOUNT, 1, 2, 3, "a", "/b", "c", "flags=0x1 source=a path=/b type=c",
	      "flags:x=0x1 source:t=a path:t=/b type:t=c");
	check(PROC_UMOUNT, 0, 2, 3, "/a", "/b", "/c", "path=/a", "path:t=/a");
	check(PROC_INHERIT, 2, 1, 3, "/a", "/b", "/c", "fd=2 flags=O_WRONLY path=/a",
	      "fd:i=2 flags:x=0x1 path:t=/a");
	check(PROC_INHERIT, 2, 0, 3, "/a", "/b", "/c", "fd=2 flags=O_RDONLY path=/a",
	      "fd:i=2 path:t=/a");
	check(PROC_NAME, 1, 2, 3, "it's", "/b", "/c", "name=\"it's\"", "name:t=it's");
	check(PROC_NAME, 1, 2, 3, "", "/b", "/c", "", "");
}

/* The error is shown by its name, if the name is known. */
TEST(failures)
{
	check(PROC_RENAME_FAILED, 1, 1, 17, "/a", "/b", "/c",
	      "flags=0x1 from=/a to=/b error=EEXIST",
	      "flags:x=0x1 from:t=/a to:t=/b error:t=EEXIST");
	check(PROC_LINK_FAILED, 0, 0, 2, "", "/b", "", "to=/b error=ENOENT",
	      "to:t=/b error:t=ENOENT");
	check(PROC_LINK_FAILED, 0, 0, 0, "", "", "", "", "");
	check(PROC_LINK_FAILED, 0, 0, 123456, "/a", "", "", "from=/a", "from:t=/a");
	check(PROC_SYMLINK_FAILED, 0, 0, 0, "", "", "", "", "");
	check(PROC_MOUNT_FAILED, 5, 0, 19, "a", "/b", "c",
	      "flags=0x5 source=a path=/b type=c error=ENODEV",
	      "flags:x=0x5 source:t=a path:t=/b type:t=c error:t=ENODEV");
	check(PROC_UMOUNT_FAILED, 2, 0, 22, "/a", "", "", "flags=0x2 path=/a error=EINVAL",
	      "flags:x=0x2 path:t=/a error:t=EINVAL");
	check(PROC_CLONE_FAILED, 0x11, 1, 11, "", "", "", "flags=0x100000011 error=EAGAIN",
	      "flags:x=0x100000011 error:t=EAGAIN");
	check(PROC_CLONE_FAILED, 0, 0, 0, "", "", "", "", "");
}

TEST(flags_of_open)
{
	static const struct {
		uint32_t flags;
		const char *text;
	} rows[] = {
		{ 0, "fd=3 flags=O_RDONLY path=/a" },
		{ 1, "fd=3 flags=O_WRONLY path=/a" },
		{ 2, "fd=3 flags=O_RDWR path=/a" },
		{ 3, "fd=3 flags=3 path=/a" },
		{ 0100, "fd=3 flags=O_RDONLY|O_CREAT path=/a" },
		{ 0200, "fd=3 flags=O_RDONLY|O_EXCL path=/a" },
		{ 0400, "fd=3 flags=O_RDONLY|O_NOCTTY path=/a" },
		{ 01000, "fd=3 flags=O_RDONLY|O_TRUNC path=/a" },
		{ 02000, "fd=3 flags=O_RDONLY|O_APPEND path=/a" },
		{ 04000, "fd=3 flags=O_RDONLY|O_NONBLOCK path=/a" },
		{ 02000000, "fd=3 flags=O_RDONLY|O_CLOEXEC path=/a" },
		{ 010000000, "fd=3 flags=O_RDONLY|O_PATH path=/a" },
		{ 0100000, "fd=3 flags=O_RDONLY|0x8000 path=/a" },
		{ 010001102, "fd=3 flags=O_RDWR|O_CREAT|O_TRUNC|O_PATH path=/a" },
		{ 0100005, "fd=3 flags=O_WRONLY|0x8004 path=/a" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		const struct proc_act act = { { 3, rows[i].flags }, { TEXT("/a") } };
		struct strbuf payload cleanup_strbuf = { 0 };
		char fields[100];

		snprintf(fields, sizeof(fields),
			 rows[i].flags ? "fd:i=3 flags:x=%#x path:t=/a" : "fd:i=3 path:t=/a",
			 rows[i].flags);
		proc_act_encode(&act, &payload);
		kind_check_data(EVENT_ID_PROC_OPEN, payload.data, payload.len, is_big, rows[i].text,
				fields);
	}
}

TEST(an_environment)
{
	const struct {
		struct text all;
		const char *text;
		size_t len;
	} rows[] = {
		{ TEXT("A=1\0B=x y\0"), "environment=A=1 \"B=x y\"", 9 },
		{ TEXT("A=1\0B=2"), "environment=A=1 B=2", 7 },
		{ TEXT("A=1"), "environment=A=1", 3 },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		const struct trace_data data = { .is_big_endian = is_big };
		const struct proc_act act = { { 0 }, { rows[i].all } };
		struct strbuf payload cleanup_strbuf = { 0 };
		struct strbuf out cleanup_strbuf = { 0 };
		struct event_value value;

		proc_act_encode(&act, &payload);

		const struct event event = { .id = EVENT_ID_PROC_ENV,
					     .data = (const uint8_t *)payload.data,
					     .data_len = payload.len };
		const struct event_context context = { &data, NULL, &event, false };

		event_kind_put(event_kind_fixed(event.id), &context, &out);
		assert_string_equal(strbuf_str(&out), rows[i].text);
		assert_true(event_kind_get(event_kind_fixed(event.id), &context, 0, &value));
		assert_int_equal(text_left(&value.text), rows[i].len);
	}
	check(PROC_ENV, 0, 0, 0, "", "", "", "", "");
}
