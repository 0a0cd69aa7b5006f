/*
 * Reading the state of a task that is stopped in a system call. Here this process plays the task.
 */
#include "tests/unit/lib/unit.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/openat2.h>
#include <linux/sched.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cmds/record/proc/stopped.h"
#include "tests/unit/lib/own_folder.h"
#include "utils/base/fd.h"

static int top_fd;

static int begin(void **state)
{
	if (own_folder_make() < 0 || symlink("file", own_file("/link")))
		return -1;
	top_fd = open(top, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	return top_fd < 0;
}

static struct strbuf encoded;
static struct proc_act act;

static int end(void **state)
{
	strbuf_deinit(&encoded);
	close(top_fd);
	unlink(own_file("/link"));
	unlink(own_file("/file"));
	return rmdir(top);
}

static void decode(void)
{
	assert_true(proc_act_decode((const uint8_t *)strbuf_str(&encoded), encoded.len,
				    __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__, &act));
}

static enum proc_kind encode(struct traced_call *call, int64_t result)
{
	enum proc_kind kind;

	strbuf_reset(&encoded);
	kind = stopped_encode(getpid(), call, result, &encoded);
	if (kind)
		decode();
	else
		assert_int_equal(encoded.len, 0);
	strbuf_deinit(&call->path);
	return kind;
}

static void check_text(int nr, const char *wanted)
{
	size_t len = act.texts[nr].end - act.texts[nr].at;

	assert_int_equal(len, strlen(wanted));
	assert_memory_equal(act.texts[nr].at, wanted, len);
}

#define AT(pointer) ((uint64_t)(uintptr_t)(pointer))

TEST(in_front_of_a_move_the_place_is_known)
{
	struct traced_call call = { .id = SYSCALL_RENAMEAT,
				    .args = { top_fd, AT("link"), top_fd, AT("new") } };

	assert_true(stopped_begin(getpid(), &call));
	assert_string_equal(strbuf_str(&call.path), own_file("/link"));
	/* The argument changes during the call. The place from before the call is recorded. */
	call.args[1] = AT("another");
	assert_int_equal(encode(&call, 0), PROC_RENAME);
	check_text(0, own_file("/link"));
	check_text(1, own_file("/new"));
}

TEST(what_has_failed_is_told_when_it_is_asked_for)
{
	struct clone_args given = { .flags = CLONE_UNTRACED | CLONE_VM, .exit_signal = SIGCHLD };
	struct traced_call call = { .id = SYSCALL_RENAMEAT,
				    .args = { top_fd, AT("link"), top_fd, AT("new") } };

	assert_true(stopped_begin(getpid(), &call));
	assert_int_equal(encode(&call, -EISDIR), PROC_RENAME_FAILED);
	assert_int_equal(act.numbers[2], EISDIR);
	check_text(0, own_file("/link"));
	check_text(1, own_file("/new"));
	call.args[1] = AT("none");
	assert_true(stopped_begin(getpid(), &call));
	assert_int_equal(encode(&call, -ENOENT), PROC_RENAME_FAILED);
	check_text(0, "");
	call.id = SYSCALL_OPENAT;
	assert_int_equal(encode(&call, -ENOENT), 0);
	call = (struct traced_call){ .id = SYSCALL_CLONE3, .args = { AT(&given), sizeof(given) } };
	assert_int_equal(encode(&call, -EAGAIN), PROC_CLONE_FAILED);
	assert_int_equal(act.numbers[0], CLONE_VM | SIGCHLD);
	assert_int_equal(act.numbers[2], EAGAIN);
	call = (struct traced_call){ .id = SYSCALL_CLONE, .args = { CLONE_UNTRACED | SIGCHLD } };
	assert_int_equal(encode(&call, -EAGAIN), PROC_CLONE_FAILED);
	assert_int_equal(act.numbers[0], SIGCHLD);
}

TEST(what_moves_nothing_has_no_place)
{
	struct traced_call call = { .id = SYSCALL_OPENAT, .args = { top_fd, AT("link") } };

	assert_true(stopped_begin(getpid(), &call));
	assert_int_equal(call.path.len, 0);
	call.id = SYSCALL_DUP;
	assert_true(stopped_begin(getpid(), &call));
	/* close(2) is recorded before the call, and calls that are not watched not at all. */
	call.id = SYSCALL_CLOSE;
	assert_false(stopped_begin(getpid(), &call));
	call.id = SYSCALL_NONE;
	assert_false(stopped_begin(getpid(), &call));
}

TEST(a_call_that_is_over_is_forgotten)
{
	struct traced_call call = { .id = SYSCALL_UNLINK };

	strbuf_addstr(&call.path, "something");
	stopped_reset(&call);
	assert_int_equal(call.id, SYSCALL_NONE);
	assert_int_equal(call.path.len, 0);
	strbuf_deinit(&call.path);
}

TEST(what_was_opened_is_the_descriptors_file)
{
	int fd = openat(top_fd, "link", O_RDWR | O_CLOEXEC);
	struct traced_call call = { .id = SYSCALL_OPENAT,
				    .args = { top_fd, AT("link"), O_RDWR, 0 } };

	assert_int_equal(encode(&call, fd), PROC_OPEN);
	assert_int_equal(act.numbers[0], fd);
	assert_int_equal(act.numbers[1], O_RDWR);
	check_text(0, own_file("/file"));
	check_text(1, own_file("/link"));
	call = (struct traced_call){ .id = SYSCALL_OPEN_BY_HANDLE_AT, .args = { 0, 0, O_RDONLY } };
	assert_int_equal(encode(&call, fd), PROC_OPEN);
	check_text(0, own_file("/file"));
	close(fd);
}

TEST(a_relative_name_begins_at_the_working_directory)
{
	char cwd[PATH_MAX];
	struct traced_call call = { .id = SYSCALL_UNLINK, .args = { AT("link") } };

	assert_non_null(getcwd(cwd, sizeof(cwd)));
	assert_int_equal(fchdir(top_fd), 0);
	assert_true(stopped_begin(getpid(), &call));
	assert_int_equal(chdir(cwd), 0);
	assert_string_equal(strbuf_str(&call.path), own_file("/link"));
	assert_int_equal(encode(&call, 0), PROC_UNLINK);
	check_text(0, own_file("/link"));
}

TEST(flags_of_openat2_are_in_memory)
{
	struct open_how how = { .flags = O_CREAT | O_APPEND, .mode = 0604 };
	struct traced_call call = { .id = SYSCALL_OPENAT2,
				    .args = { top_fd, AT("none"), AT(&how) } };

	assert_int_equal(encode(&call, 1000), PROC_OPEN);
	assert_int_equal(act.numbers[1], O_CREAT | O_APPEND);
	assert_int_equal(act.numbers[2], 0604);
	/* The call is recorded even if its flags cannot be read. */
	call.args[2] = 8;
	assert_int_equal(encode(&call, 1000), PROC_OPEN);
	assert_int_equal(act.numbers[1], 0);
}

TEST(ends_of_a_pipe_are_in_memory)
{
	int ends[2] = { 11, 12 };
	struct traced_call call = { .id = SYSCALL_PIPE, .args = { AT(ends), O_CLOEXEC } };

	assert_int_equal(encode(&call, 0), PROC_PIPE);
	assert_int_equal(act.numbers[0], 11);
	assert_int_equal(act.numbers[1], 12);
	assert_int_equal(act.numbers[2], 0);
	call.id = SYSCALL_PIPE2;
	assert_int_equal(encode(&call, 0), PROC_PIPE);
	assert_int_equal(act.numbers[1], 12);
	assert_int_equal(act.numbers[2], O_CLOEXEC);
	call.args[0] = 8;
	assert_int_equal(encode(&call, 0), 0);
}

TEST(only_what_is_open_is_closed)
{
	int fd = dup(top_fd);
	struct traced_call call = { .id = SYSCALL_CLOSE, .args = { fd } };

	assert_int_equal(encode(&call, 0), PROC_CLOSE);
	assert_int_equal(act.numbers[0], fd);
	close(fd);
	assert_int_equal(encode(&call, 0), 0);
	/* A dup(2) is recorded even if its result is not open here. */
	call.id = SYSCALL_DUP;
	assert_int_equal(encode(&call, 20), PROC_DUP);
	assert_int_equal(act.numbers[1], 20);
}

TEST(what_a_result_means_depends_on_the_call)
{
	struct traced_call call = { .id = SYSCALL_SYMLINKAT,
				    .args = { AT("file"), top_fd, AT("link") } };

	assert_int_equal(encode(&call, top_fd), PROC_SYMLINK);
	check_text(0, "file");
	check_text(1, own_file("/link"));
	check_text(2, own_file("/file"));
}

TEST(a_name_of_a_task_is_what_the_kernel_has_made_of_it)
{
	char before[17] = "";
	struct traced_call call = { .id = SYSCALL_PRCTL, .args = { PR_SET_NAME, AT("not this") } };

	prctl(PR_GET_NAME, before);
	prctl(PR_SET_NAME, "fifteen letters and more");
	assert_int_equal(encode(&call, 0), PROC_NAME);
	check_text(0, "fifteen letters");
	prctl(PR_SET_NAME, "x");
	assert_int_equal(encode(&call, 0), PROC_NAME);
	check_text(0, "x");
	prctl(PR_SET_NAME, before);
}

static void check_inherited(int flags, uint32_t access)
{
	int fd = openat(top_fd, "link", flags | O_CLOEXEC);

	assert_true(fd >= 0);
	strbuf_reset(&encoded);
	assert_true(stopped_encode_inherited(getpid(), fd, &encoded));
	decode();
	assert_int_equal(act.numbers[0], fd);
	assert_int_equal(act.numbers[1], access);
	check_text(0, own_file("/file"));
	close(fd);
	strbuf_reset(&encoded);
	assert_false(stopped_encode_inherited(getpid(), fd, &encoded));
	assert_int_equal(encoded.len, 0);
}

TEST(how_an_inherited_descriptor_is_used_is_known)
{
	check_inherited(O_RDONLY, O_RDONLY);
	check_inherited(O_WRONLY, O_WRONLY);
	check_inherited(O_RDWR, O_RDWR);
	check_inherited(O_PATH, O_PATH);
}

TEST(the_environment_is_that_of_the_beginning)
{
	struct strbuf wanted cleanup_strbuf = { 0 };

	assert_int_equal(file_read_all("/proc/self/environ", PROC_TEXT_MAX, &wanted, NULL), 0);
	strbuf_reset(&encoded);
	stopped_encode_environment(getpid(), &encoded);
	decode();
	assert_int_equal(act.texts[0].end - act.texts[0].at, wanted.len);
	assert_memory_equal(act.texts[0].at, strbuf_str(&wanted), wanted.len);
	strbuf_reset(&encoded);
	stopped_encode_environment(-1, &encoded);
	decode();
	check_text(0, "");
}

/*
 * Start a child that forks a child of its own by system call @number, and stays in that call. The
 * inner child does not end. A signal ends both.
 */
static pid_t make_parent(long number, void *arg, size_t size)
{
	pid_t pid = fork();

	assert_true(pid >= 0);
	if (pid == 0) {
		setpgid(0, 0);
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (syscall(number, arg, size, 0, 0, 0) == 0)
			prctl(PR_SET_PDEATHSIG, SIGKILL);
		for (;;)
			pause();
	}
	/*
	 * The child calls setpgid(), too. It may not have run yet when flags_in() kills the group,
	 * so the group is also made here.
	 */
	setpgid(pid, pid);
	return pid;
}

/*
 * Returns the flags of the call of clone(2) that the child @pid is in, or 0 if it is not seen in
 * one. Ends the child. @is_seen: the child is expected to be in such a call, so look longer.
 */
static uint64_t flags_in(pid_t pid, bool is_seen)
{
	uint64_t flags = 0;

	for (int nr = 0; !flags && nr < (is_seen ? 60000 : 50); nr++) {
		flags = stopped_clone_flags(pid);
		usleep(1000);
	}
	kill(-pid, SIGKILL);
	waitpid(pid, NULL, 0);
	return flags;
}

TEST(flags_of_clone_are_those_of_the_call)
{
	struct clone_args args = { .flags = CLONE_VFORK | CLONE_FS, .exit_signal = SIGUSR1 };

#if __SIZEOF_LONG__ == 8
	assert_int_equal(
		flags_in(make_parent(SYS_clone, (void *)(1UL << 40 | CLONE_VFORK | SIGCHLD), 0),
			 true),
		CLONE_VFORK | SIGCHLD);
#endif
	assert_int_equal(flags_in(make_parent(SYS_clone3, &args, sizeof(args)), true),
			 CLONE_VFORK | CLONE_FS | SIGUSR1);
}

TEST(in_other_calls_there_are_no_flags)
{
	assert_int_equal(flags_in(make_parent(SYS_pause, NULL, 0), false), 0);
	assert_int_equal(stopped_clone_flags(-1), 0);
}

TEST(nothing_stays_open)
{
	struct traced_call call = { .id = SYSCALL_PRCTL };
	int fd = dup(STDERR_FILENO);

	close(fd);
	stopped_clone_flags(getpid());
	encode(&call, 0);
	assert_int_equal(dup(STDERR_FILENO), fd);
	close(fd);
}

TEST_GROUP(begin, end)
