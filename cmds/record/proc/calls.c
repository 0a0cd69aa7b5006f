/* What system calls have done (see calls.h). */
#include "cmds/record/proc/calls.h"

#include <fcntl.h>
#include <linux/openat2.h>
#include <linux/sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cmds/record/proc/paths.h"
#include "utils/base/compiler.h"
#include "utils/base/fd.h"

/* The longest name of a task, with its NUL (prctl(2), PR_SET_NAME). */
#define NAME_BYTES 16

#define CLOSE_RANGE_KEEPS 4U /* CLOSE_RANGE_CLOEXEC: nothing is closed yet */

/* What a task gave as the name of a file. @dirfd: what it is relative to */
struct given {
	int dirfd;
	uint64_t name;
};

/* Where calls have the file that they are about, and the name that is made. Negative: not, or the working directory. */
struct shape {
	int8_t from_dir;
	int8_t from;
	int8_t to_dir;
	int8_t to;
	int8_t flags;
};

static const struct shape shapes[SYSCALL_NOT_WATCHED] = {
	[SYSCALL_OPEN] = { -1, 0, -1, -1, 1 },
	[SYSCALL_CREAT] = { -1, 0, -1, -1, -1 },
	[SYSCALL_OPENAT] = { 0, 1, -1, -1, 2 },
	[SYSCALL_OPENAT2] = { 0, 1, -1, -1, -1 },
	[SYSCALL_OPEN_BY_HANDLE_AT] = { -1, -1, -1, -1, 2 },
	[SYSCALL_RENAME] = { -1, 0, -1, 1, -1 },
	[SYSCALL_RENAMEAT] = { 0, 1, 2, 3, -1 },
	[SYSCALL_RENAMEAT2] = { 0, 1, 2, 3, 4 },
	[SYSCALL_LINK] = { -1, 0, -1, 1, -1 },
	[SYSCALL_LINKAT] = { 0, 1, 2, 3, 4 },
	[SYSCALL_SYMLINK] = { -1, 0, -1, 1, -1 },
	[SYSCALL_SYMLINKAT] = { -1, 0, 1, 2, -1 },
	[SYSCALL_UNLINK] = { -1, 0, -1, -1, -1 },
	[SYSCALL_UNLINKAT] = { 0, 1, -1, -1, 2 },
	[SYSCALL_RMDIR] = { -1, 0, -1, -1, -1 },
	[SYSCALL_MOUNT] = { -1, 1, -1, 0, 3 },
	[SYSCALL_UMOUNT] = { -1, 0, -1, -1, -1 },
	[SYSCALL_UMOUNT2] = { -1, 0, -1, -1, 1 },
	[SYSCALL_DUP3] = { -1, -1, -1, -1, 2 },
	[SYSCALL_PIPE2] = { -1, -1, -1, -1, 1 },
	[SYSCALL_CLOSE_RANGE] = { -1, -1, -1, -1, 2 },
};

static int dirfd_of(const struct traced_call *call, int arg)
{
	return arg < 0 ? AT_FDCWD : (int)call->args[arg];
}

static uint32_t flags_of(const struct traced_call *call)
{
	const struct shape *shape = &shapes[call->id];

	return shape->flags > 0 ? call->args[shape->flags] : 0;
}

static struct text text_of_buf(const struct strbuf *buf)
{
	return text_of(buf->data, buf->len);
}

void call_reset(struct traced_call *call)
{
	call->id = SYSCALL_NONE;
	strbuf_reset(&call->path);
}

static bool is_open_at(pid_t tid, int fd)
{
	char link[64];
	struct stat st;

	snprintf(link, sizeof(link), "/proc/%d/fd/%d", tid, fd);
	return lstat(link, &st) == 0;
}

/* The file that linkat(2) is about may be a descriptor's, or what a symbolic link leads to. */
static void find_source(pid_t tid, struct traced_call *call)
{
	const struct shape *shape = &shapes[call->id];
	struct strbuf name cleanup_strbuf = { 0 };
	int dirfd = dirfd_of(call, shape->from_dir);
	uint32_t flags = flags_of(call);

	strbuf_reset(&call->path);
	if (!paths_string(tid, call->args[shape->from], &name))
		return;
	if (call->id == SYSCALL_LINKAT && !name.len && flags & AT_EMPTY_PATH)
		paths_of_fd(tid, dirfd, &call->path);
	else if (call->id == SYSCALL_LINKAT && flags & AT_SYMLINK_FOLLOW)
		paths_target(tid, dirfd, strbuf_str(&name), &call->path);
	else if (call->id == SYSCALL_MOUNT ||
		 ((call->id == SYSCALL_UMOUNT || call->id == SYSCALL_UMOUNT2) &&
		  !(flags & 8 /* UMOUNT_NOFOLLOW */)))
		paths_target(tid, dirfd, strbuf_str(&name), &call->path);
	if (!call->path.len)
		paths_place(tid, dirfd, strbuf_str(&name), &call->path);
}

bool call_begin(pid_t tid, struct traced_call *call)
{
	switch (call->id) {
	case SYSCALL_CLOSE:
		return false;
	case SYSCALL_RENAME:
	case SYSCALL_RENAMEAT:
	case SYSCALL_RENAMEAT2:
	case SYSCALL_LINK:
	case SYSCALL_LINKAT:
	case SYSCALL_UNLINK:
	case SYSCALL_UNLINKAT:
	case SYSCALL_RMDIR:
	case SYSCALL_MOUNT:
	case SYSCALL_UMOUNT:
	case SYSCALL_UMOUNT2:
		find_source(tid, call);
		return true;
	default:
		return call->id != SYSCALL_NONE;
	}
}

/* The kernel ends what is closed whatever close(2) returns, but for what was not open. */
static enum proc_kind encode_close(pid_t tid, const struct traced_call *call, struct strbuf *out)
{
	uint32_t fd = call->args[0];
	struct proc_act act = { .numbers = { fd, fd } };

	if (!is_open_at(tid, fd))
		return 0;
	proc_act_encode(&act, out);
	return PROC_CLOSE;
}

static enum proc_kind encode_close_range(const struct traced_call *call, struct strbuf *out)
{
	struct proc_act act = { .numbers = { call->args[0], call->args[1], flags_of(call) } };

	if (act.numbers[2] & CLOSE_RANGE_KEEPS)
		return 0;
	proc_act_encode(&act, out);
	return PROC_CLOSE;
}

static enum proc_kind encode_open(pid_t tid, const struct traced_call *call, int fd,
				  struct strbuf *out)
{
	const struct shape *shape = &shapes[call->id];
	struct strbuf path cleanup_strbuf = { 0 };
	struct strbuf given cleanup_strbuf = { 0 };
	struct strbuf name cleanup_strbuf = { 0 };
	struct proc_act act = { .numbers = { fd, flags_of(call) } };
	struct open_how how = { 0 };

	if (call->id == SYSCALL_OPEN)
		act.numbers[2] = call->args[2];
	else if (call->id == SYSCALL_OPENAT)
		act.numbers[2] = call->args[3];
	else if (call->id == SYSCALL_CREAT) {
		act.numbers[1] = O_CREAT | O_WRONLY | O_TRUNC;
		act.numbers[2] = call->args[1];
	} else if (call->id == SYSCALL_OPENAT2 &&
		   paths_memory(tid, call->args[2], &how, sizeof(how))) {
		act.numbers[1] = how.flags;
		act.numbers[2] = how.mode;
	}
	/* Otherwise the kernel does not look at it, and it may be anything. */
	if (!(act.numbers[1] & (O_CREAT | (O_TMPFILE & ~O_DIRECTORY))))
		act.numbers[2] = 0;
	paths_of_fd(tid, fd, &path);
	if (shape->from >= 0 && paths_string(tid, call->args[shape->from], &name))
		paths_given(tid, dirfd_of(call, shape->from_dir), strbuf_str(&name), &given);
	act.texts[0] = text_of_buf(&path);
	if (strcmp(strbuf_str(&given), strbuf_str(&path)) != 0)
		act.texts[1] = text_of_buf(&given);
	proc_act_encode(&act, out);
	return PROC_OPEN;
}

static enum proc_kind encode_dup(const struct traced_call *call, int fd, struct strbuf *out)
{
	struct proc_act act = { .numbers = { call->args[0], fd, flags_of(call) } };

	if (call->id == SYSCALL_FCNTL || call->id == SYSCALL_FCNTL64)
		act.numbers[2] = (int)call->args[1] == F_DUPFD_CLOEXEC ? O_CLOEXEC : 0;
	proc_act_encode(&act, out);
	return PROC_DUP;
}

static enum proc_kind encode_pipe(pid_t tid, const struct traced_call *call, struct strbuf *out)
{
	struct proc_act act = { .numbers = { 0, 0, flags_of(call) } };

	if (!paths_memory(tid, call->args[0], act.numbers, 2 * sizeof(int)))
		return 0;
	proc_act_encode(&act, out);
	return PROC_PIPE;
}

/* rename(2), link(2) and their like: from where it was to the place that has it now. */
static enum proc_kind encode_move(pid_t tid, const struct traced_call *call, enum proc_kind kind,
				  struct strbuf *out)
{
	const struct shape *shape = &shapes[call->id];
	struct strbuf name cleanup_strbuf = { 0 };
	struct strbuf to cleanup_strbuf = { 0 };
	struct proc_act act = { .numbers = { flags_of(call) } };

	if (paths_string(tid, call->args[shape->to], &name))
		paths_place(tid, dirfd_of(call, shape->to_dir), strbuf_str(&name), &to);
	act.texts[0] = text_of_buf(&call->path);
	act.texts[1] = text_of_buf(&to);
	proc_act_encode(&act, out);
	return kind;
}

static enum proc_kind encode_symlink(pid_t tid, const struct traced_call *call, struct strbuf *out)
{
	const struct shape *shape = &shapes[call->id];
	struct strbuf name cleanup_strbuf = { 0 };
	struct strbuf place cleanup_strbuf = { 0 };
	struct strbuf target cleanup_strbuf = { 0 };
	struct strbuf resolved cleanup_strbuf = { 0 };
	int dirfd = dirfd_of(call, shape->to_dir);

	if (paths_string(tid, call->args[shape->to], &name)) {
		paths_place(tid, dirfd, strbuf_str(&name), &place);
		paths_target(tid, dirfd, strbuf_str(&name), &resolved);
	}
	paths_string(tid, call->args[shape->from], &target);
	proc_act_encode(&(struct proc_act){ .texts = { text_of_buf(&target), text_of_buf(&place),
						       text_of_buf(&resolved) } },
			out);
	return PROC_SYMLINK;
}

/* What is gone with it. */
static enum proc_kind encode_removal(const struct traced_call *call, enum proc_kind kind,
				     struct strbuf *out)
{
	struct proc_act act = { .numbers = { flags_of(call) },
				.texts = { text_of_buf(&call->path) } };

	if (call->id == SYSCALL_RMDIR)
		act.numbers[0] = AT_REMOVEDIR;
	proc_act_encode(&act, out);
	return kind;
}

static enum proc_kind encode_mount(pid_t tid, const struct traced_call *call, struct strbuf *out)
{
	struct strbuf source cleanup_strbuf = { 0 };
	struct strbuf type cleanup_strbuf = { 0 };
	struct proc_act act = { .numbers = { flags_of(call) } };

	paths_string(tid, call->args[0], &source);
	paths_string(tid, call->args[2], &type);
	act.texts[0] = text_of_buf(&source);
	act.texts[1] = text_of_buf(&call->path);
	act.texts[2] = text_of_buf(&type);
	proc_act_encode(&act, out);
	return PROC_MOUNT;
}

/* A task's name is cut by the kernel; /proc has what has become of it. */
static enum proc_kind encode_name(pid_t tid, struct strbuf *out)
{
	char name[NAME_BYTES + 1];
	int fd = paths_open_of(tid, "comm", O_RDONLY);
	ssize_t len = fd < 0 ? -1 : fd_read_full(fd, name, sizeof(name));

	if (fd >= 0)
		close(fd);
	if (len <= 0)
		return 0;
	proc_act_encode(&(struct proc_act){ .texts = { text_of(name, len - 1) } }, out);
	return PROC_NAME;
}

enum proc_kind call_encode(pid_t tid, struct traced_call *call, int64_t result, struct strbuf *out)
{
	switch (call->id) {
	case SYSCALL_OPEN:
	case SYSCALL_CREAT:
	case SYSCALL_OPENAT:
	case SYSCALL_OPENAT2:
	case SYSCALL_OPEN_BY_HANDLE_AT:
		return encode_open(tid, call, result, out);
	case SYSCALL_CLOSE:
		return encode_close(tid, call, out);
	case SYSCALL_CLOSE_RANGE:
		return encode_close_range(call, out);
	case SYSCALL_DUP:
	case SYSCALL_DUP2:
	case SYSCALL_DUP3:
	case SYSCALL_FCNTL:
	case SYSCALL_FCNTL64:
		return encode_dup(call, result, out);
	case SYSCALL_PIPE:
	case SYSCALL_PIPE2:
		return encode_pipe(tid, call, out);
	case SYSCALL_RENAME:
	case SYSCALL_RENAMEAT:
	case SYSCALL_RENAMEAT2:
		return encode_move(tid, call, PROC_RENAME, out);
	case SYSCALL_LINK:
	case SYSCALL_LINKAT:
		return encode_move(tid, call, PROC_LINK, out);
	case SYSCALL_SYMLINK:
	case SYSCALL_SYMLINKAT:
		return encode_symlink(tid, call, out);
	case SYSCALL_UNLINK:
	case SYSCALL_UNLINKAT:
	case SYSCALL_RMDIR:
		return encode_removal(call, PROC_UNLINK, out);
	case SYSCALL_MOUNT:
		return encode_mount(tid, call, out);
	case SYSCALL_UMOUNT:
	case SYSCALL_UMOUNT2:
		return encode_removal(call, PROC_UMOUNT, out);
	case SYSCALL_PRCTL:
		return encode_name(tid, out);
	default:
		return 0;
	}
}

/* How it may be used is in the mode of the link. */
bool call_encode_inherited(pid_t pid, int fd, struct strbuf *out)
{
	struct strbuf path cleanup_strbuf = { 0 };
	char link[64];
	struct stat st;
	uint32_t access;

	snprintf(link, sizeof(link), "/proc/%d/fd/%d", pid, fd);
	if (lstat(link, &st) < 0 || !paths_of_fd(pid, fd, &path))
		return false;
	access = !(st.st_mode & S_IRUSR) ? O_WRONLY : st.st_mode & S_IWUSR ? O_RDWR : O_RDONLY;
	if (!(st.st_mode & (S_IRUSR | S_IWUSR)))
		access = O_PATH;
	proc_act_encode(
		&(struct proc_act){ .numbers = { fd, access }, .texts = { text_of_buf(&path) } },
		out);
	return true;
}

void call_encode_environment(pid_t pid, struct strbuf *out)
{
	struct strbuf text cleanup_strbuf = { 0 };
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/environ", pid);
	if (file_read_all(path, PROC_TEXT_MAX, &text, NULL) < 0)
		strbuf_reset(&text);
	proc_act_encode(&(struct proc_act){ .texts = { text_of_buf(&text) } }, out);
}

/* /proc has "<number> 0x<argument> ..." of the call that a task is in. */
uint64_t call_clone_flags(pid_t tid)
{
	struct clone_args given = { 0 };
	char text[256] = "";
	char *at = text;
	int fd = paths_open_of(tid, "syscall", O_RDONLY);
	ssize_t len = fd < 0 ? -1 : fd_read_full(fd, text, sizeof(text) - 1);
	uint64_t number, arg;

	if (fd >= 0)
		close(fd);
	if (len <= 0)
		return 0;
	number = strtoull(text, &at, 10);
	arg = strtoull(at, NULL, 16);
	if (syscall_may_be(number, SYSCALL_CLONE))
		return (uint32_t)arg;
	/* The first version of the struct has all of these. */
	if (syscall_may_be(number, SYSCALL_CLONE3) &&
	    paths_memory(tid, arg, &given, CLONE_ARGS_SIZE_VER0))
		return given.flags | given.exit_signal;
	return 0;
}
