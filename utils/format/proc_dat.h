/* The records of proc.dat: events of the program's processes. */
#ifndef UTRAIL_FORMAT_PROC_DAT_H
#define UTRAIL_FORMAT_PROC_DAT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "utils/base/err.h"
#include "utils/base/containers/strbuf.h"
#include "utils/format/text.h"

/* The kinds of records: doc/formats/events.md, "proc.dat". */
enum proc_kind {
	PROC_FORK = 1,
	PROC_EXEC,
	PROC_EXIT,
	/* Acts: from PROC_OPEN to PROC_CLONE_FAILED. Their payload is struct proc_act. */
	PROC_OPEN,
	PROC_CLOSE,
	PROC_DUP,
	PROC_PIPE,
	PROC_RENAME,
	PROC_LINK,
	PROC_SYMLINK,
	PROC_UNLINK,
	PROC_MOUNT,
	PROC_UMOUNT,
	PROC_INHERIT,
	PROC_NAME,
	PROC_ENV,
	PROC_RENAME_FAILED,
	PROC_LINK_FAILED,
	PROC_SYMLINK_FAILED,
	PROC_MOUNT_FAILED,
	PROC_UMOUNT_FAILED,
	PROC_CLONE_FAILED,
	PROC_BEYOND,
	/* These are not events: */
	PROC_CPU = 64, /* the CPU that the task has from now on */
	PROC_RESPONSE, /* a response file of a compiler. The payload is struct proc_act */
};

/* True on a big-endian machine. Records are encoded in the byte order of this machine. */
#define PROC_IS_BIG (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__)

#define PROC_HEAD_BYTES	 24
#define PROC_PAYLOAD_MAX (32U << 20)
#define PROC_FORK_BYTES	 12 /* 8 bytes of flags follow. Earlier versions of utrail wrote no flags */
#define PROC_EXEC_BYTES	 20 /* bytes in front of the texts */
#define PROC_EXIT_BYTES	 4
#define PROC_CPU_BYTES	 4
#define PROC_ACT_NUMBERS 3
#define PROC_ACT_TEXTS	 3
#define PROC_ACT_BYTES	 (4 * (PROC_ACT_NUMBERS + PROC_ACT_TEXTS)) /* bytes in front of the texts */
#define PROC_CPU_MAX	 ((1 << 20) - 1)			   /* Linux: at most 8192 CPUs */
#define PROC_TEXT_MAX	 (8U << 20) /* the longest text; execve(2) permits 6 MiB of arguments */

/*
 * One record. Readers skip records of unknown kinds.
 *
 * @time_ns: a time of the recording's clock
 * @tid, @pid: the task of the record and its process, in the recorder's pid namespace
 * @kind: enum proc_kind
 * @data, @len: the payload, which depends on the kind
 */
struct proc_record {
	uint64_t time_ns;
	int32_t tid;
	int32_t pid;
	uint32_t kind;
	const uint8_t *data;
	uint32_t len;
};

/* The call that made a child. */
enum proc_fork_how {
	PROC_BY_FORK = 1,
	PROC_BY_VFORK,
	PROC_BY_CLONE, /* a thread, or a process whose end sends no SIGCHLD to its parent */
};

/*
 * @child, @child_pid: the new task and its process; a thread has the parent's process
 * @how: enum proc_fork_how
 * @flags: the flags of clone(2) or clone3(2). The lowest byte is the signal that the kernel sends
 *         to the parent when the child ends. The value 0 has two possible causes: the flags are
 *         unknown, or the system call was neither clone(2) nor clone3(2)
 */
struct proc_fork {
	int32_t child;
	int32_t child_pid;
	uint32_t how;
	uint64_t flags;
};

/*
 * A program that a process has executed.
 *
 * @old_tid: the former number of the thread that called execve(2). After execve(2), this thread is
 *           the leader of the process, and has the number proc_record.tid
 * @interpreter: the file that runs. If @program is a script, this is the script's interpreter.
 *               Otherwise it is @program
 * @program: the file that was executed, which may be a script
 * @cwd: the working directory
 * @args: the arguments, each with a NUL after it
 */
struct proc_exec {
	int32_t old_tid;
	struct text interpreter;
	struct text program;
	struct text cwd;
	struct text args;
};

/*
 * The payload of an act. The table in doc/formats/events.md, "proc.dat", has the numbers and texts
 * of each kind of act.
 */
struct proc_act {
	uint32_t numbers[PROC_ACT_NUMBERS];
	struct text texts[PROC_ACT_TEXTS];
};

/*
 * Append a record in the byte order of this machine: the head of the record, and then @rec->data
 * with padding.
 */
void proc_record_encode(const struct proc_record *rec, struct strbuf *out);

/* Append the payload of a record. */
void proc_fork_encode(const struct proc_fork *made, struct strbuf *out);
void proc_exec_encode(const struct proc_exec *exec, struct strbuf *out);
void proc_exit_encode(int status, struct strbuf *out);
void proc_cpu_encode(int cpu, struct strbuf *out);
void proc_act_encode(const struct proc_act *act, struct strbuf *out);

/*
 * Decode the record at the start of @data.
 *
 * Returns the length of the record, 0 if the @len bytes are only a part of the record, or -EBADMSG
 * with @err if the record is invalid. If the result is 0, the caller tries again with *@wanted
 * bytes.
 */
ssize_t proc_record_decode(const uint8_t *data, size_t len, bool big, struct proc_record *rec,
			   size_t *wanted, struct uft_err *err);

/*
 * Decode a payload. Texts point into @data. If the payload was truncated in the middle of its
 * texts, the last texts are shorter or empty. Returns false if @len is below PROC_FORK_BYTES,
 * PROC_EXEC_BYTES or PROC_ACT_BYTES, or if the number of a task is invalid.
 */
bool proc_fork_decode(const uint8_t *data, size_t len, bool big, struct proc_fork *made);
bool proc_exec_decode(const uint8_t *data, size_t len, bool big, struct proc_exec *exec);
bool proc_act_decode(const uint8_t *data, size_t len, bool big, struct proc_act *act);

/* @status: as from wait(2) */
bool proc_exit_decode(const uint8_t *data, size_t len, bool big, int *status);

/* @cpu: in the kernel's numbering, from 0 to PROC_CPU_MAX */
bool proc_cpu_decode(const uint8_t *data, size_t len, bool big, int *cpu);

/*
 * Take the next argument of @args. The last argument of a truncated list may be incomplete. Returns
 * false at the end.
 */
bool proc_next_arg(struct text *args, struct text *arg);

#endif
