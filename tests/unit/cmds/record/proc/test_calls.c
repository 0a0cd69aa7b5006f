/*
 * The record of each system call: its numbers, its names as given, and the places that they lead
 * to.
 */
#include "tests/unit/lib/unit.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cmds/record/proc/calls.h"
#include "tests/unit/lib/own_folder.h"

/* Make a file, a folder, a link to each of them, and a link that leads nowhere. */
static int begin(void **state)
{
	if (own_folder_make() < 0)
		return -1;
	return mkdir(own_file("/dir"), 0700) || symlink("dir", own_file("/link")) ||
	       symlink("file", own_file("/file-link")) || symlink("none", own_file("/dangling"));
}

static int end(void **state)
{
	unlink(own_file("/file-link"));
	unlink(own_file("/dangling"));
	unlink(own_file("/link"));
	unlink(own_file("/file"));
	rmdir(own_file("/dir"));
	return rmdir(top);
}

static struct given_name given(const char *name)
{
	return (struct given_name){ name, { getpid(), AT_FDCWD, top, "/", false } };
}

static struct strbuf encoded;
static struct proc_act act;

/* Encode the call's record, and decode it into @act. */
static enum proc_kind encode(const struct call_facts *facts)
{
	enum proc_kind kind;

	strbuf_reset(&encoded);
	act = (struct proc_act){ 0 };
	kind = call_encode(facts, &encoded);
	if (kind)
		assert_true(proc_act_decode((const uint8_t *)strbuf_str(&encoded), encoded.len,
					    __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__, &act));
	else
		assert_int_equal(encoded.len, 0);
	return kind;
}

static void check_numbers(uint32_t first, uint32_t second, uint32_t third)
{
	assert_int_equal(act.numbers[0], first);
	assert_int_equal(act.numbers[1], second);
	assert_int_equal(act.numbers[2], third);
}

static void check_text(int nr, const char *wanted)
{
	size_t len = act.texts[nr].end - act.texts[nr].at;

	assert_int_equal(len, strlen(wanted));
	assert_memory_equal(act.texts[nr].at, wanted, len);
}

TEST(a_directory_is_an_argument_or_the_working_directory)
{
	const uint64_t args[6] = { 7, 0xfffffff600000008, 9 };

	assert_int_equal(call_directory(args, 0), 7);
	assert_int_equal(call_directory(args, 1), 8);
	assert_int_equal(call_directory(args, -1), AT_FDCWD);
}

TEST(what_moves_or_removes_has_a_source)
{
	static const enum syscall_id moving[] = {
		SYSCALL_RENAME, SYSCALL_RENAMEAT, SYSCALL_RENAMEAT2, SYSCALL_LINK,
		SYSCALL_LINKAT, SYSCALL_UNLINK,	  SYSCALL_UNLINKAT,  SYSCALL_RMDIR,
		SYSCALL_MOUNT,	SYSCALL_UMOUNT,	  SYSCALL_UMOUNT2,
	};

	for (enum syscall_id id = 0; id < SYSCALL_NOT_WATCHED; id++) {
		bool moves = false;

		for (size_t i = 0; i < sizeof(moving) / sizeof(moving[0]); i++)
			moves |= moving[i] == id;
		assert_int_equal(call_moves_source(id), moves);
	}
}

static void check_source(enum syscall_id id, uint64_t flags, const char *name, const char *wanted)
{
	struct strbuf out cleanup_strbuf = { 0 };
	struct call_facts facts = { .id = id, .from = given(name) };

	if (call_shapes[id].flags >= 0)
		facts.args[call_shapes[id].flags] = flags;
	strbuf_addstr(&out, "what was there");
	call_source(&facts, &out);
	assert_string_equal(strbuf_str(&out), wanted);
}

TEST(a_link_is_followed_where_the_call_follows_it)
{
	check_source(SYSCALL_RENAME, 0, "link", own_file("/link"));
	check_source(SYSCALL_UNLINKAT, 0, "link", own_file("/link"));
	check_source(SYSCALL_MOUNT, 0, "link", own_file("/dir"));
	check_source(SYSCALL_UMOUNT, 0, "link", own_file("/dir"));
	check_source(SYSCALL_UMOUNT2, 0, "link", own_file("/dir"));
	check_source(SYSCALL_UMOUNT2, 8, "link", own_file("/link"));
	check_source(SYSCALL_UMOUNT2, 4, "link", own_file("/dir"));
	check_source(SYSCALL_LINKAT, 0, "link", own_file("/link"));
	check_source(SYSCALL_LINKAT, AT_SYMLINK_FOLLOW, "link", own_file("/dir"));
	check_source(SYSCALL_LINKAT, AT_EMPTY_PATH, "link", own_file("/link"));
	check_source(SYSCALL_LINKAT, AT_EMPTY_PATH, "", top);
	check_source(SYSCALL_RENAMEAT2, AT_EMPTY_PATH, "dir", own_file("/dir"));
	/* A missing file has a place, too. */
	check_source(SYSCALL_MOUNT, 0, "none", own_file("/none"));
	check_source(SYSCALL_RENAME, 0, NULL, "");
}

TEST(close_tells_of_one_descriptor)
{
	assert_int_equal(encode(&(struct call_facts){ .id = SYSCALL_CLOSE, .args = { 7, 8, 9 } }),
			 PROC_CLOSE);
	check_numbers(7, 7, 0);
}

TEST(close_range_tells_of_what_is_closed_now)
{
	assert_int_equal(
		encode(&(struct call_facts){ .id = SYSCALL_CLOSE_RANGE, .args = { 3, 9, 2 } }),
		PROC_CLOSE);
	check_numbers(3, 9, 2);
	assert_int_equal(
		encode(&(struct call_facts){ .id = SYSCALL_CLOSE_RANGE, .args = { 3, 9, 4 } }), 0);
	assert_int_equal(
		encode(&(struct call_facts){ .id = SYSCALL_CLOSE_RANGE, .args = { 3, 9, 6 } }), 0);
}

TEST(open_tells_of_descriptor_flags_and_mode)
{
	struct call_facts facts = {
		.id = SYSCALL_OPEN,
		.args = { 1, O_CREAT | O_RDWR, 0640, 0777 },
		.result = 5,
		.file = own_file("/file"),
		.from = given(own_file("/file")),
	};

	assert_int_equal(encode(&facts), PROC_OPEN);
	check_numbers(5, O_CREAT | O_RDWR, 0640);
	check_text(0, own_file("/file"));
	check_text(1, "");
	/* The kernel uses the mode only when it makes a file. */
	facts.args[1] = O_RDWR;
	encode(&facts);
	check_numbers(5, O_RDWR, 0);
	facts.args[1] = O_DIRECTORY;
	encode(&facts);
	check_numbers(5, O_DIRECTORY, 0);
	facts.args[1] = O_TMPFILE | O_RDWR;
	encode(&facts);
	check_numbers(5, O_TMPFILE | O_RDWR, 0640);
}

TEST(each_way_to_open_has_its_arguments)
{
	struct call_facts facts = {
		.id = SYSCALL_OPENAT,
		.args = { 1, 2, O_CREAT | O_WRONLY, 0604, 0777 },
		.result = 6,
		.out = { O_CREAT | O_APPEND, 0602 },
		.file = "/x",
	};

	assert_int_equal(encode(&facts), PROC_OPEN);
	check_numbers(6, O_CREAT | O_WRONLY, 0604);
	facts.id = SYSCALL_OPENAT2;
	assert_int_equal(encode(&facts), PROC_OPEN);
	check_numbers(6, O_CREAT | O_APPEND, 0602);
	facts.id = SYSCALL_CREAT;
	facts.args[1] = 0601;
	assert_int_equal(encode(&facts), PROC_OPEN);
	check_numbers(6, O_CREAT | O_WRONLY | O_TRUNC, 0601);
	facts.id = SYSCALL_OPEN_BY_HANDLE_AT;
	facts.args[2] = O_RDWR;
	assert_int_equal(encode(&facts), PROC_OPEN);
	check_numbers(6, O_RDWR, 0);
	check_text(0, "/x");
}

TEST(a_name_is_told_when_it_is_another_than_the_files)
{
	struct call_facts facts = {
		.id = SYSCALL_OPENAT,
		.file = own_file("/dir"),
		.from = given("link"),
	};

	encode(&facts);
	check_text(0, own_file("/dir"));
	check_text(1, own_file("/link"));
	facts.from = given("dir");
	encode(&facts);
	check_text(1, "");
	/* If the opened file is not known, only the name is recorded. */
	facts.file = NULL;
	encode(&facts);
	check_text(0, "");
	check_text(1, own_file("/dir"));
	facts.from = given(NULL);
	encode(&facts);
	check_text(1, "");
}

TEST(dup_tells_of_both_descriptors)
{
	struct call_facts facts = { .id = SYSCALL_DUP, .args = { 3, 99, O_CLOEXEC }, .result = 8 };

	assert_int_equal(encode(&facts), PROC_DUP);
	check_numbers(3, 8, 0);
	facts.id = SYSCALL_DUP2;
	assert_int_equal(encode(&facts), PROC_DUP);
	check_numbers(3, 8, 0);
	facts.id = SYSCALL_DUP3;
	assert_int_equal(encode(&facts), PROC_DUP);
	check_numbers(3, 8, O_CLOEXEC);
	for (int nr = 0; nr < 2; nr++) {
		facts.id = nr ? SYSCALL_FCNTL64 : SYSCALL_FCNTL;
		facts.args[1] = F_DUPFD;
		assert_int_equal(encode(&facts), PROC_DUP);
		check_numbers(3, 8, 0);
		facts.args[1] = F_DUPFD_CLOEXEC | 1ULL << 32;
		assert_int_equal(encode(&facts), PROC_DUP);
		check_numbers(3, 8, O_CLOEXEC);
	}
}

TEST(pipe_tells_of_both_ends)
{
	struct call_facts facts = { .args = { 0, O_CLOEXEC } };

	memcpy(facts.out, (int[]){ 3, 4 }, 8);
	facts.id = SYSCALL_PIPE;
	assert_int_equal(encode(&facts), PROC_PIPE);
	check_numbers(3, 4, 0);
	facts.id = SYSCALL_PIPE2;
	assert_int_equal(encode(&facts), PROC_PIPE);
	check_numbers(3, 4, O_CLOEXEC);
}

TEST(rename_and_link_tell_of_both_places)
{
	static const struct {
		enum syscall_id id;
		enum proc_kind kind;
		uint32_t flags;
		uint32_t has_flags;
	} calls[] = {
		{ SYSCALL_RENAME, PROC_RENAME, 0 },	  { SYSCALL_RENAMEAT, PROC_RENAME, 0 },
		{ SYSCALL_RENAMEAT2, PROC_RENAME, 2, 1 }, { SYSCALL_LINK, PROC_LINK, 0 },
		{ SYSCALL_LINKAT, PROC_LINK, 2, 1 },
	};

	for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++) {
		struct call_facts facts = {
			.id = calls[i].id,
			.args = { 9, 9, 9, 9, 2 },
			.from = given("link/x"),
			.to = given("link"),
		};

		assert_int_equal(encode(&facts), calls[i].kind);
		check_numbers(calls[i].flags, calls[i].has_flags, 0);
		check_text(0, own_file("/dir/x"));
		check_text(1, own_file("/link"));
		facts.place = "/where/it/was";
		facts.to = given(NULL);
		assert_int_equal(encode(&facts), calls[i].kind);
		check_text(0, "/where/it/was");
		check_text(1, "");
	}
}

static void check_failed(struct call_facts facts, enum proc_kind kind, const char *first,
			 const char *second, const char *third)
{
	facts.result = -EEXIST;
	assert_int_equal(encode(&facts), kind);
	assert_int_equal(act.numbers[2], EEXIST);
	check_text(0, first);
	check_text(1, second);
	check_text(2, third);
}

TEST(what_fails_tells_of_what_is_there)
{
	struct call_facts move = { .id = SYSCALL_RENAME, .to = given("link/new") };

	move.from = given("link");
	check_failed(move, PROC_RENAME_FAILED, own_file("/link"), own_file("/dir/new"), "");
	check_numbers(0, 0, EEXIST);
	/* A link that leads nowhere exists; calls that follow it find no file. */
	move.from = given("dangling");
	move.id = SYSCALL_LINKAT;
	check_failed(move, PROC_LINK_FAILED, own_file("/dangling"), own_file("/dir/new"), "");
	check_numbers(0, 1, EEXIST);
	move.args[4] = AT_SYMLINK_FOLLOW;
	check_failed(move, PROC_LINK_FAILED, "", own_file("/dir/new"), "");
	move.args[4] = AT_EMPTY_PATH;
	move.from = given("");
	check_failed(move, PROC_LINK_FAILED, top, own_file("/dir/new"), "");
	/* The name of a missing file, a name that cannot be read, and an empty name. */
	move = (struct call_facts){ .id = SYSCALL_LINK, .from = given("none"), .to = given(NULL) };
	check_failed(move, PROC_LINK_FAILED, "", "", "");
	move.from = given(NULL);
	check_failed(move, PROC_LINK_FAILED, "", "", "");
	move.from = given("");
	check_failed(move, PROC_LINK_FAILED, "", "", "");
	/* The place of the file was found before the call, and is not looked up again. */
	move.from = given("link");
	move.place = "/where/it/was";
	check_failed(move, PROC_LINK_FAILED, "/where/it/was", "", "");
}

TEST(a_mount_that_fails_tells_where)
{
	struct call_facts mount = { .id = SYSCALL_MOUNT,
				    .args = { 0, 0, 0, 6 },
				    .from = given("link"),
				    .to = given("tmpfs"),
				    .text = "src" };

	check_failed(mount, PROC_MOUNT_FAILED, "src", own_file("/dir"), "tmpfs");
	check_numbers(6, 0, EEXIST);
	mount.from = given("dangling");
	check_failed(mount, PROC_MOUNT_FAILED, "src", own_file("/dangling"), "tmpfs");
	mount = (struct call_facts){ .id = SYSCALL_UMOUNT2, .args = { 0, 2 } };
	mount.from = given("dir");
	check_failed(mount, PROC_UMOUNT_FAILED, own_file("/dir"), "", "");
	check_numbers(2, 0, EEXIST);
	mount.id = SYSCALL_UMOUNT;
	mount.from = given("none");
	check_failed(mount, PROC_UMOUNT_FAILED, "", "", "");
}

TEST(what_else_fails)
{
	struct call_facts facts = { .id = SYSCALL_CLONE3, .out = { 0x123456789a } };

	check_failed(facts, PROC_CLONE_FAILED, "", "", "");
	check_numbers(0x3456789a, 0x12, EEXIST);
	facts.id = SYSCALL_CLONE;
	check_failed(facts, PROC_CLONE_FAILED, "", "", "");
	for (enum syscall_id id = SYSCALL_NONE; id < SYSCALL_BEYOND; id++) {
		bool is_open = id >= SYSCALL_RENAME && id <= SYSCALL_LINKAT;

		is_open |= id >= SYSCALL_MOUNT && id <= SYSCALL_UMOUNT2;
		is_open |= id == SYSCALL_CLONE || id == SYSCALL_CLONE3;
		assert_int_equal(call_fails_openly(id, -ENOENT), is_open);
		assert_false(call_fails_openly(id, 0));
		/* These results mean that the kernel begins the call anew. */
		for (int result = -516; result <= -512; result++)
			assert_false(call_fails_openly(id, result));
		assert_int_equal(call_fails_openly(id, -517), is_open);
		assert_int_equal(call_fails_openly(id, -511), is_open);
		facts = (struct call_facts){ .id = id, .result = -ENOENT, .from = given("none") };
		assert_int_equal(encode(&facts) != 0, is_open);
	}
}

TEST(symlink_tells_of_its_text_and_where_it_leads)
{
	for (int nr = 0; nr < 2; nr++) {
		struct call_facts facts = {
			.id = nr ? SYSCALL_SYMLINKAT : SYSCALL_SYMLINK,
			.text = "dir",
			.to = given("link"),
		};

		assert_int_equal(encode(&facts), PROC_SYMLINK);
		check_numbers(0, 0, 0);
		check_text(0, "dir");
		check_text(1, own_file("/link"));
		check_text(2, own_file("/dir"));
		facts.to = given(NULL);
		facts.text = NULL;
		assert_int_equal(encode(&facts), PROC_SYMLINK);
		check_text(0, "");
		check_text(1, "");
		check_text(2, "");
	}
}

TEST(removals_tell_of_the_place)
{
	struct call_facts facts = { .id = SYSCALL_UNLINK,
				    .args = { 1, 5, 6 },
				    .from = given("link") };

	assert_int_equal(encode(&facts), PROC_UNLINK);
	check_numbers(0, 0, 0);
	check_text(0, own_file("/link"));
	facts.id = SYSCALL_UNLINKAT;
	assert_int_equal(encode(&facts), PROC_UNLINK);
	check_numbers(6, 0, 0);
	facts.id = SYSCALL_RMDIR;
	assert_int_equal(encode(&facts), PROC_UNLINK);
	check_numbers(AT_REMOVEDIR, 0, 0);
	facts.place = "/gone";
	facts.id = SYSCALL_UMOUNT;
	assert_int_equal(encode(&facts), PROC_UMOUNT);
	check_numbers(0, 0, 0);
	check_text(0, "/gone");
	facts.id = SYSCALL_UMOUNT2;
	assert_int_equal(encode(&facts), PROC_UMOUNT);
	check_numbers(5, 0, 0);
}

TEST(mount_tells_of_source_place_and_type)
{
	struct call_facts facts = {
		.id = SYSCALL_MOUNT,
		.args = { 1, 2, 3, 4096 },
		.from = given("link"),
		.to = given("tmpfs"),
		.text = "none",
	};

	assert_int_equal(encode(&facts), PROC_MOUNT);
	check_numbers(4096, 0, 0);
	check_text(0, "none");
	check_text(1, own_file("/dir"));
	check_text(2, "tmpfs");
}

TEST(a_name_of_a_task_is_told_if_it_is_known)
{
	struct call_facts facts = { .id = SYSCALL_PRCTL, .text = "worker" };

	assert_int_equal(encode(&facts), PROC_NAME);
	check_numbers(0, 0, 0);
	check_text(0, "worker");
	facts.text = NULL;
	assert_int_equal(encode(&facts), 0);
	assert_int_equal(encode(&(struct call_facts){ .id = SYSCALL_NONE }), 0);
}

TEST(a_descriptor_that_was_open_is_told)
{
	const char *file = "/a/file";

	strbuf_reset(&encoded);
	call_encode_inherited(4, O_RDWR, &(struct text){ file, file + strlen(file) }, &encoded);
	assert_true(proc_act_decode((const uint8_t *)strbuf_str(&encoded), encoded.len,
				    __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__, &act));
	check_numbers(4, O_RDWR, 0);
	check_text(0, file);
	check_text(1, "");
}

static int finish(void **state)
{
	strbuf_deinit(&encoded);
	return end(state);
}

TEST_GROUP(begin, finish)
