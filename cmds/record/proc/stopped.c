/* Reads the state of a stopped task (see stopped.h). */
#include "cmds/record/proc/stopped.h"

#include <fcntl.h>
#include <linux/openat2.h>
#include <linux/sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cmds/record/proc/calls.h"
#include "cmds/record/proc/paths.h"
#include "utils/base/fd.h"

/* The maximum size of a task's name with its NUL (prctl(2), PR_SET_NAME). */
#define NAME_BYTES 16

/* The file names in a system call's arguments. A struct call_facts refers to these strings. */
struct read_names {
	struct strbuf from;
	struct strbuf from_base;
	struct strbuf to;
	struct strbuf to_base;
	struct strbuf text;
	struct strbuf file;
};

static void read_names_deinit(struct read_names *names)
{
	strbuf_deinit(&names->from);
	strbuf_deinit(&names->from_base);
	strbuf_deinit(&names->to);
	strbuf_deinit(&names->to_base);
	strbuf_deinit(&names->text);
	strbuf_deinit(&names->file);
}
#define cleanup_read_names cleanup(read_names_deinit)

void stopped_reset(struct traced_call *call)
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

static const char *read_string(pid_t tid, const struct traced_call *call, int arg,
			       struct strbuf *out)
{
	return arg >= 0 && paths_string(tid, call->args[arg], out) ? strbuf_str(out) : NULL;
}

static struct given_name read_name(pid_t tid, const struct traced_call *call, int arg, int dir,
				   struct strbuf *name, struct strbuf *base)
{
	struct given_name given = { .name = read_string(tid, call, arg, name) };
	int dirfd = call_directory(call->args, dir);

	if (given.name && *given.name != '/')
		paths_directory(tid, dirfd, base);
	given.view = (struct view){ .tid = tid, .dirfd = dirfd, .base = strbuf_str(base) };
	return given;
}

static struct call_facts facts_of(const struct traced_call *call, int64_t result)
{
	struct call_facts facts = { .id = call->id, .result = result };

	memcpy(facts.args, call->args, sizeof(facts.args));
	return facts;
}

bool stopped_begin(pid_t tid, struct traced_call *call)
{
	const struct call_shape *shape = &call_shapes[call->id];
	struct read_names names cleanup_read_names = { 0 };
	struct call_facts facts = facts_of(call, 0);

	if (call_moves_source(call->id)) {
		facts.from = read_name(tid, call, shape->from, shape->from_dir, &names.from,
				       &names.from_base);
		call_source(&facts, &call->path);
	}
	return call->id != SYSCALL_NONE && call->id != SYSCALL_CLOSE;
}

/* Returns the name of the task from /proc, because the kernel may have cut prctl(2)'s argument. */
static const char *read_comm(pid_t tid, struct strbuf *out)
{
	char name[NAME_BYTES + 2];
	ssize_t len = paths_read_of(tid, "comm", name, sizeof(name));

	if (len <= 0)
		return NULL;
	strbuf_add(out, name, len - 1);
	return strbuf_str(out);
}

/* Returns the flags of a clone call. Every version of clone3(2)'s struct clone_args has them. */
static uint64_t clone_flags(pid_t tid, enum syscall_id id, uint64_t arg)
{
	struct clone_args given = { 0 };

	if (id == SYSCALL_CLONE)
		return (uint32_t)arg;
	if (id == SYSCALL_CLONE3 && paths_memory(tid, arg, &given, CLONE_ARGS_SIZE_VER0))
		return given.flags | given.exit_signal;
	return 0;
}

/*
 * Read facts that only the memory of the task has: the descriptors that pipe(2) has made, or the
 * flags and the mode of openat2(2). Returns false when the descriptors cannot be read.
 */
static bool read_memory(pid_t tid, const struct traced_call *call, uint64_t out[2])
{
	struct open_how how;

	if (call->id == SYSCALL_PIPE || call->id == SYSCALL_PIPE2)
		return paths_memory(tid, call->args[0], out, 2 * sizeof(int));
	if (call->id == SYSCALL_OPENAT2 && paths_memory(tid, call->args[2], &how, sizeof(how))) {
		out[0] = how.flags;
		out[1] = how.mode;
	}
	return true;
}

static enum proc_kind encode_clone(pid_t tid, const struct traced_call *call, int64_t result,
				   struct strbuf *out)
{
	struct call_facts facts = facts_of(call, result);

	facts.out[0] = clone_flags(tid, call->id, call->args[0]) & ~(uint64_t)CLONE_UNTRACED;
	return call_encode(&facts, out);
}

enum proc_kind stopped_encode(pid_t tid, const struct traced_call *call, int64_t result,
			      struct strbuf *out)
{
	if (result < 0 && !call_fails_openly(call->id, result))
		return 0;
	if (call->id >= SYSCALL_NOT_WATCHED)
		return encode_clone(tid, call, result, out);

	const struct call_shape *shape = &call_shapes[call->id];
	struct read_names names cleanup_read_names = { 0 };
	struct call_facts facts = facts_of(call, result);

	if (call->id == SYSCALL_CLOSE && !is_open_at(tid, call->args[0]))
		return 0;
	if (!read_memory(tid, call, facts.out))
		return 0;
	if (call_moves_source(call->id))
		facts.place = strbuf_str(&call->path);
	/*
	 * Read the name argument if the path of the file is unknown, or if the system call has
	 * failed. After a failed rename(2) or link(2), call_encode() needs the name to check
	 * whether the file exists.
	 */
	if (!facts.place || result < 0)
		facts.from = read_name(tid, call, shape->from, shape->from_dir, &names.from,
				       &names.from_base);
	facts.to = read_name(tid, call, shape->to, shape->to_dir, &names.to, &names.to_base);
	facts.text = call->id == SYSCALL_PRCTL ? read_comm(tid, &names.text)
					       : read_string(tid, call, shape->text, &names.text);
	if (call->id <= SYSCALL_OPEN_BY_HANDLE_AT && paths_of_fd(tid, result, &names.file))
		facts.file = strbuf_str(&names.file);
	return call_encode(&facts, out);
}

/*
 * Appends a descriptor. The mode of the link /proc/PID/fd/FD shows how the descriptor may be used.
 */
bool stopped_encode_inherited(pid_t pid, int fd, struct strbuf *out)
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
	call_encode_inherited(fd, access, &(struct text){ path.data, path.data + path.len }, out);
	return true;
}

void stopped_encode_environment(pid_t pid, struct strbuf *out)
{
	struct strbuf text cleanup_strbuf = { 0 };
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/environ", pid);
	if (file_read_all(path, PROC_TEXT_MAX, &text, NULL) < 0)
		strbuf_reset(&text);
	proc_act_encode(&(struct proc_act){ .texts = { text_of(text.data, text.len) } }, out);
}

/* /proc/TID/syscall has "<number> 0x<argument> ..." for the current system call of the task. */
uint64_t stopped_clone_flags(pid_t tid)
{
	char text[256];
	char *at = text;
	uint64_t number, arg;

	if (paths_read_of(tid, "syscall", text, sizeof(text)) <= 0)
		return 0;
	number = strtoull(text, &at, 10);
	arg = strtoull(at, NULL, 16);
	if (syscall_may_be(number, SYSCALL_CLONE))
		return clone_flags(tid, SYSCALL_CLONE, arg);
	return syscall_may_be(number, SYSCALL_CLONE3) ? clone_flags(tid, SYSCALL_CLONE3, arg) : 0;
}
