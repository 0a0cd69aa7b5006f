/* Makes the payloads of records in proc.dat from system calls (see calls.h). */
#include "cmds/record/proc/calls.h"

#include <fcntl.h>
#include <string.h>
#include <sys/prctl.h>

#define CLOSE_RANGE_KEEPS 4U /* CLOSE_RANGE_CLOEXEC: the call itself closes no descriptor */
#define UMOUNT_STAYS	  8U /* UMOUNT_NOFOLLOW: the call does not follow a link */

/*
 * The first and the last of the kernel's restart errors: ERESTARTSYS and ERESTART_RESTARTBLOCK. The
 * kernel sets such an error when a signal interrupts a system call. The system call is then
 * restarted, or fails with EINTR.
 */
#define RESTART_FIRST 512
#define RESTART_LAST  516

/*
 * For each system call, indexes of arguments, in the order of the members of struct call_shape. The
 * first argument has the index 0. If call_shape.choice is -1, the system call is always watched.
 */
const struct call_shape call_shapes[SYSCALL_NOT_WATCHED] = {
	[SYSCALL_NONE] = { -1, -1, -1, -1, -1, -1, -1 },
	[SYSCALL_OPEN] = { -1, 0, -1, -1, -1, 1, -1 },
	[SYSCALL_CREAT] = { -1, 0, -1, -1, -1, -1, -1 },
	[SYSCALL_OPENAT] = { 0, 1, -1, -1, -1, 2, -1 },
	[SYSCALL_OPENAT2] = { 0, 1, -1, -1, -1, -1, -1 },
	[SYSCALL_OPEN_BY_HANDLE_AT] = { -1, -1, -1, -1, -1, 2, -1 },
	[SYSCALL_CLOSE] = { -1, -1, -1, -1, -1, -1, -1 },
	[SYSCALL_CLOSE_RANGE] = { -1, -1, -1, -1, -1, 2, -1 },
	[SYSCALL_DUP] = { -1, -1, -1, -1, -1, -1, -1 },
	[SYSCALL_DUP2] = { -1, -1, -1, -1, -1, -1, -1 },
	[SYSCALL_DUP3] = { -1, -1, -1, -1, -1, 2, -1 },
	[SYSCALL_FCNTL] = { -1, -1, -1, -1, -1, -1, 1, { F_DUPFD, F_DUPFD_CLOEXEC } },
	[SYSCALL_FCNTL64] = { -1, -1, -1, -1, -1, -1, 1, { F_DUPFD, F_DUPFD_CLOEXEC } },
	[SYSCALL_PIPE] = { -1, -1, -1, -1, -1, -1, -1 },
	[SYSCALL_PIPE2] = { -1, -1, -1, -1, -1, 1, -1 },
	[SYSCALL_RENAME] = { -1, 0, -1, 1, -1, -1, -1 },
	[SYSCALL_RENAMEAT] = { 0, 1, 2, 3, -1, -1, -1 },
	[SYSCALL_RENAMEAT2] = { 0, 1, 2, 3, -1, 4, -1 },
	[SYSCALL_LINK] = { -1, 0, -1, 1, -1, -1, -1 },
	[SYSCALL_LINKAT] = { 0, 1, 2, 3, -1, 4, -1 },
	[SYSCALL_SYMLINK] = { -1, -1, -1, 1, 0, -1, -1 },
	[SYSCALL_SYMLINKAT] = { -1, -1, 1, 2, 0, -1, -1 },
	[SYSCALL_UNLINK] = { -1, 0, -1, -1, -1, -1, -1 },
	[SYSCALL_UNLINKAT] = { 0, 1, -1, -1, -1, 2, -1 },
	[SYSCALL_RMDIR] = { -1, 0, -1, -1, -1, -1, -1 },
	[SYSCALL_MOUNT] = { -1, 1, -1, 2, 0, 3, -1 },
	[SYSCALL_UMOUNT] = { -1, 0, -1, -1, -1, -1, -1 },
	[SYSCALL_UMOUNT2] = { -1, 0, -1, -1, -1, 1, -1 },
	[SYSCALL_PRCTL] = { -1, -1, -1, -1, -1, -1, 0, { PR_SET_NAME, PR_SET_NAME } },
};

/*
 * For each system call, the kind of record for a failure. The kind 0 means that failures are not
 * recorded.
 */
static const enum proc_kind failures[SYSCALL_BEYOND] = {
	[SYSCALL_RENAME] = PROC_RENAME_FAILED,	  [SYSCALL_RENAMEAT] = PROC_RENAME_FAILED,
	[SYSCALL_RENAMEAT2] = PROC_RENAME_FAILED, [SYSCALL_LINK] = PROC_LINK_FAILED,
	[SYSCALL_LINKAT] = PROC_LINK_FAILED,	  [SYSCALL_MOUNT] = PROC_MOUNT_FAILED,
	[SYSCALL_UMOUNT] = PROC_UMOUNT_FAILED,	  [SYSCALL_UMOUNT2] = PROC_UMOUNT_FAILED,
	[SYSCALL_CLONE] = PROC_CLONE_FAILED,	  [SYSCALL_CLONE3] = PROC_CLONE_FAILED,
};

static uint32_t flags_of(const struct call_facts *facts)
{
	int arg = facts->id < SYSCALL_NOT_WATCHED ? call_shapes[facts->id].flags : -1;

	return arg >= 0 ? facts->args[arg] : 0;
}

static struct text text_of_string(const char *string)
{
	return text_of(string, string ? strlen(string) : 0);
}

int call_directory(const uint64_t args[6], int arg)
{
	return arg < 0 ? AT_FDCWD : (int)args[arg];
}

bool call_moves_source(enum syscall_id id)
{
	return (id >= SYSCALL_RENAME && id <= SYSCALL_LINKAT) ||
	       (id >= SYSCALL_UNLINK && id <= SYSCALL_UMOUNT2);
}

/* True when linkat(2) links the file of a descriptor (AT_EMPTY_PATH), and not a named file. */
static bool means_descriptor(const struct call_facts *facts)
{
	return facts->id == SYSCALL_LINKAT && !*facts->from.name && flags_of(facts) & AT_EMPTY_PATH;
}

static bool follows_link(const struct call_facts *facts)
{
	uint32_t flags = flags_of(facts);

	return facts->id == SYSCALL_MOUNT ||
	       (facts->id == SYSCALL_LINKAT && flags & AT_SYMLINK_FOLLOW) ||
	       ((facts->id == SYSCALL_UMOUNT || facts->id == SYSCALL_UMOUNT2) &&
		!(flags & UMOUNT_STAYS));
}

void call_source(const struct call_facts *facts, struct strbuf *out)
{
	const struct given_name *from = &facts->from;

	strbuf_reset(out);
	if (!from->name)
		return;
	if (means_descriptor(facts))
		strbuf_addstr(out, from->view.base);
	else if (follows_link(facts))
		named_files_target(&from->view, from->name, out);
	if (!out->len)
		named_files_of(&from->view, from->name, out);
}

static void find_place(const struct call_facts *facts, struct strbuf *out)
{
	if (facts->place)
		strbuf_addstr(out, facts->place);
	else
		call_source(facts, out);
}

/* Makes the record of close(2). The kernel closes the descriptor even if the call has an error. */
static enum proc_kind encode_close(const struct call_facts *facts, struct strbuf *out)
{
	uint32_t fd = facts->args[0];

	proc_act_encode(&(struct proc_act){ .numbers = { fd, fd } }, out);
	return PROC_CLOSE;
}

static enum proc_kind encode_close_range(const struct call_facts *facts, struct strbuf *out)
{
	struct proc_act act = { .numbers = { facts->args[0], facts->args[1], flags_of(facts) } };

	if (act.numbers[2] & CLOSE_RANGE_KEEPS)
		return 0;
	proc_act_encode(&act, out);
	return PROC_CLOSE;
}

static enum proc_kind encode_open(const struct call_facts *facts, struct strbuf *out)
{
	struct strbuf given cleanup_strbuf = { 0 };
	struct proc_act act = { .numbers = { facts->result, flags_of(facts) },
				.texts = { text_of_string(facts->file) } };

	if (facts->id == SYSCALL_OPEN)
		act.numbers[2] = facts->args[2];
	else if (facts->id == SYSCALL_OPENAT)
		act.numbers[2] = facts->args[3];
	else if (facts->id == SYSCALL_CREAT) {
		act.numbers[1] = O_CREAT | O_WRONLY | O_TRUNC;
		act.numbers[2] = facts->args[1];
	} else if (facts->id == SYSCALL_OPENAT2) {
		act.numbers[1] = facts->out[0];
		act.numbers[2] = facts->out[1];
	}
	/* Without O_CREAT or O_TMPFILE, the kernel ignores the mode. In this case, record 0. */
	if (!(act.numbers[1] & (O_CREAT | (O_TMPFILE & ~O_DIRECTORY))))
		act.numbers[2] = 0;
	if (facts->from.name)
		named_files_given(&facts->from.view, facts->from.name, &given);
	if (strcmp(strbuf_str(&given), facts->file ? facts->file : "") != 0)
		act.texts[1] = text_of_buf(&given);
	proc_act_encode(&act, out);
	return PROC_OPEN;
}

static enum proc_kind encode_dup(const struct call_facts *facts, struct strbuf *out)
{
	struct proc_act act = { .numbers = { facts->args[0], facts->result, flags_of(facts) } };

	if (facts->id == SYSCALL_FCNTL || facts->id == SYSCALL_FCNTL64)
		act.numbers[2] = (int)facts->args[1] == F_DUPFD_CLOEXEC ? O_CLOEXEC : 0;
	proc_act_encode(&act, out);
	return PROC_DUP;
}

static enum proc_kind encode_pipe(const struct call_facts *facts, struct strbuf *out)
{
	struct proc_act act = { .numbers = { 0, 0, flags_of(facts) } };

	memcpy(act.numbers, facts->out, 2 * sizeof(int));
	proc_act_encode(&act, out);
	return PROC_PIPE;
}

/*
 * Returns 1 if the called variant of rename(2) or link(2) has an argument for flags. The argument
 * may be 0.
 */
static uint32_t has_flags(const struct call_facts *facts)
{
	return facts->id == SYSCALL_RENAMEAT2 || facts->id == SYSCALL_LINKAT;
}

/*
 * True when the first name in a failed rename(2) or link(2) is the name of an existing file. The
 * failed call has not moved this file.
 */
static bool has_source(const struct call_facts *facts)
{
	const struct given_name *from = &facts->from;
	struct strbuf target cleanup_strbuf = { 0 };

	if (!from->name)
		return false;
	if (means_descriptor(facts))
		return *from->view.base;
	if (!follows_link(facts))
		return *from->name && named_files_has(&from->view, from->name);
	named_files_target(&from->view, from->name, &target);
	return *from->name && target.len;
}

/*
 * Makes the record of rename(2), link(2) and similar calls. The record has the old path and the new
 * path.
 */
static enum proc_kind encode_move(const struct call_facts *facts, enum proc_kind kind,
				  struct strbuf *out)
{
	struct strbuf from cleanup_strbuf = { 0 };
	struct strbuf to cleanup_strbuf = { 0 };
	struct proc_act act = { .numbers = { flags_of(facts), has_flags(facts),
					     facts->result < 0 ? (uint32_t)-facts->result : 0 } };

	if (facts->result >= 0 || has_source(facts))
		find_place(facts, &from);
	if (facts->to.name)
		named_files_of(&facts->to.view, facts->to.name, &to);
	act.texts[0] = text_of_buf(&from);
	act.texts[1] = text_of_buf(&to);
	proc_act_encode(&act, out);
	return kind;
}

static enum proc_kind encode_symlink(const struct call_facts *facts, struct strbuf *out)
{
	const struct given_name *to = &facts->to;
	struct strbuf place cleanup_strbuf = { 0 };
	struct strbuf resolved cleanup_strbuf = { 0 };

	if (to->name) {
		named_files_of(&to->view, to->name, &place);
		named_files_target(&to->view, to->name, &resolved);
	}
	proc_act_encode(
		&(struct proc_act){ .texts = { text_of_string(facts->text), text_of_buf(&place),
					       text_of_buf(&resolved) } },
		out);
	return PROC_SYMLINK;
}

static enum proc_kind encode_removal(const struct call_facts *facts, enum proc_kind kind,
				     struct strbuf *out)
{
	struct strbuf place cleanup_strbuf = { 0 };
	struct proc_act act = { .numbers = { flags_of(facts) } };

	find_place(facts, &place);
	act.texts[0] = text_of_buf(&place);
	if (facts->id == SYSCALL_RMDIR)
		act.numbers[0] = AT_REMOVEDIR;
	proc_act_encode(&act, out);
	return kind;
}

static void encode_mount(const struct call_facts *facts, struct proc_act *act, struct strbuf *out)
{
	struct strbuf place cleanup_strbuf = { 0 };

	find_place(facts, &place);
	act->texts[0] = text_of_string(facts->text);
	act->texts[1] = text_of_buf(&place);
	act->texts[2] = text_of_string(facts->to.name);
	proc_act_encode(act, out);
}

static enum proc_kind encode_name(const struct call_facts *facts, struct strbuf *out)
{
	if (!facts->text)
		return 0;
	proc_act_encode(&(struct proc_act){ .texts = { text_of_string(facts->text) } }, out);
	return PROC_NAME;
}

/* --- what has failed --- */

bool call_fails_openly(enum syscall_id id, int64_t result)
{
	if (result >= 0 || (result <= -RESTART_FIRST && result >= -RESTART_LAST))
		return false;
	return id >= SYSCALL_NONE && id < SYSCALL_BEYOND && failures[id];
}

/*
 * Make the record of a failed system call. A failed rename(2), link(2) or umount(2) may name a file
 * that does not exist. In the record, the path of such a file is empty. A record of mount(2) has
 * the path of the mount point, even if the mount point does not exist.
 */
static enum proc_kind encode_failed(const struct call_facts *facts, struct strbuf *out)
{
	enum proc_kind kind = failures[facts->id];
	struct proc_act act = { .numbers = { flags_of(facts), has_flags(facts),
					     (uint32_t)-facts->result } };

	if (kind == PROC_MOUNT_FAILED) {
		encode_mount(facts, &act, out);
	} else if (kind == PROC_CLONE_FAILED) {
		act.numbers[0] = (uint32_t)facts->out[0];
		act.numbers[1] = facts->out[0] >> 32;
		proc_act_encode(&act, out);
	} else {
		encode_move(facts, kind, out);
	}
	return kind;
}

enum proc_kind call_encode(const struct call_facts *facts, struct strbuf *out)
{
	if (facts->result < 0)
		return call_fails_openly(facts->id, facts->result) ? encode_failed(facts, out) : 0;
	switch (facts->id) {
	case SYSCALL_OPEN:
	case SYSCALL_CREAT:
	case SYSCALL_OPENAT:
	case SYSCALL_OPENAT2:
	case SYSCALL_OPEN_BY_HANDLE_AT:
		return encode_open(facts, out);
	case SYSCALL_CLOSE:
		return encode_close(facts, out);
	case SYSCALL_CLOSE_RANGE:
		return encode_close_range(facts, out);
	case SYSCALL_DUP:
	case SYSCALL_DUP2:
	case SYSCALL_DUP3:
	case SYSCALL_FCNTL:
	case SYSCALL_FCNTL64:
		return encode_dup(facts, out);
	case SYSCALL_PIPE:
	case SYSCALL_PIPE2:
		return encode_pipe(facts, out);
	case SYSCALL_RENAME:
	case SYSCALL_RENAMEAT:
	case SYSCALL_RENAMEAT2:
		return encode_move(facts, PROC_RENAME, out);
	case SYSCALL_LINK:
	case SYSCALL_LINKAT:
		return encode_move(facts, PROC_LINK, out);
	case SYSCALL_SYMLINK:
	case SYSCALL_SYMLINKAT:
		return encode_symlink(facts, out);
	case SYSCALL_UNLINK:
	case SYSCALL_UNLINKAT:
	case SYSCALL_RMDIR:
		return encode_removal(facts, PROC_UNLINK, out);
	case SYSCALL_MOUNT:
		encode_mount(facts, &(struct proc_act){ .numbers = { flags_of(facts) } }, out);
		return PROC_MOUNT;
	case SYSCALL_UMOUNT:
	case SYSCALL_UMOUNT2:
		return encode_removal(facts, PROC_UMOUNT, out);
	case SYSCALL_PRCTL:
		return encode_name(facts, out);
	default:
		return 0;
	}
}

void call_encode_inherited(uint32_t fd, uint32_t access, const struct text *file,
			   struct strbuf *out)
{
	proc_act_encode(&(struct proc_act){ .numbers = { fd, access }, .texts = { *file } }, out);
}
