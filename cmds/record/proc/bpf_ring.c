/*
 * Reads the records in the eBPF program's ring (see bpf_ring.h). The lengths of a record's texts
 * are checked, because a traced program chooses the texts.
 */
#include "cmds/record/proc/bpf_ring.h"

#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "cmds/record/base/peer.h"
#include "cmds/record/proc/exec_image.h"
#include "cmds/record/proc/calls.h"
#include "cmds/record/proc/named_files.h"
#include "cmds/record/proc/response_files.h"
#include "utils/base/containers/strbuf.h"
#include "utils/format/proc_dat.h"

struct kept_descriptor {
	uint32_t fd;
	uint32_t access;
	uint32_t len;
};

/*
 * An exec of a process, while some records of the exec have not been read yet.
 *
 * @user: the process, and its real user and group at the exec. With the rights of this user and
 *        group, the recorder opens response files (arguments of the form @FILE). The user is kept
 *        here, because the process may execute a setuid program before the recorder opens the files
 * @inherited: a struct kept_descriptor and the path of its file, for each open descriptor
 */
struct bpf_becoming {
	struct bpf_becoming *next;
	uint64_t time_ns;
	pid_t pid;
	pid_t old_tid;
	struct peer user;
	struct exec_image became;
	struct strbuf env;
	struct strbuf inherited;
};

/*
 * The ended threads of a process. The end of the process is recorded when all threads have ended.
 *
 * @ended: the first thread has ended
 * @was_last: all threads other than the first thread have ended
 * @is_of_group: true: @status is the status of the whole process; false: @status is the status of
 *               the first thread
 */
struct bpf_leader {
	bool ended;
	bool was_last;
	bool is_of_group;
	int status;
};

static uint64_t time_of(const struct bpf_ring *ring, const struct wire_record *record)
{
	return record->time_ns + ring->to_clock_ns;
}

/* --- tasks --- */

static struct bpf_leader *leader_get(struct bpf_ring *ring, pid_t pid)
{
	struct bpf_leader *leader = intmap_get(&ring->leaders, pid);

	if (leader)
		return leader;
	leader = calloc(1, sizeof(*leader));
	if (!leader || intmap_put(&ring->leaders, pid, leader) < 0) {
		free(leader);
		return NULL;
	}
	return leader;
}

static void leader_forget(struct bpf_ring *ring, pid_t pid)
{
	struct bpf_leader *leader = intmap_get(&ring->leaders, pid);

	if (leader)
		*leader = (struct bpf_leader){ 0 };
}

static void see_fork(struct bpf_ring *ring, const struct wire_record *record)
{
	struct proc_fork made = {
		.child = record->value,
		.child_pid = record->more,
		.how = record->args[1],
		.flags = record->args[0],
	};

	/* An earlier process may have had the same process ID as the child. */
	leader_forget(ring, made.child);
	proc_fork_encode(&made, &ring->log->payload);
	proc_log_write_at(ring->log, time_of(ring, record), PROC_FORK, record->tid, record->pid);
}

static void write_exit(struct bpf_ring *ring, const struct wire_record *record, pid_t tid,
		       int status)
{
	proc_exit_encode(status, &ring->log->payload);
	proc_log_write_at(ring->log, time_of(ring, record), PROC_EXIT, tid, record->pid);
}

/*
 * Notes the end of a thread. If the first thread does not end last, the first thread's report has
 * WIRE_IS_LEADER, and the report of the thread that ends last has WIRE_IS_LAST. These two reports
 * may come in either order. The end of the first thread is written when both reports have come.
 */
static void see_exit(struct bpf_ring *ring, const struct wire_record *record)
{
	bool is_early = record->flags & WIRE_IS_LEADER;
	bool is_last = record->flags & WIRE_IS_LAST;
	struct bpf_leader *leader = is_early || is_last ? leader_get(ring, record->pid) : NULL;

	if (!is_early || !leader)
		write_exit(ring, record, record->tid, record->value);
	if (!leader)
		return;
	/*
	 * If exit_group(2) or a signal has ended the whole process, the status of the process is
	 * also the status of the first thread.
	 */
	if (is_early ? !leader->is_of_group : record->flags & WIRE_IS_OF_GROUP)
		leader->status = record->value;
	leader->is_of_group |= !!(record->flags & WIRE_IS_OF_GROUP);
	leader->ended |= is_early;
	leader->was_last |= is_last;
	if (leader->ended && leader->was_last) {
		/*
		 * log->cpu is the CPU of the thread record->tid. If record->tid is not the first
		 * thread, the first thread may have ended on another CPU.
		 */
		if (record->tid != record->pid)
			ring->log->cpu = PROC_CPU_UNKNOWN;
		write_exit(ring, record, record->pid, leader->status);
		*leader = (struct bpf_leader){ 0 };
	}
}

/* --- texts --- */

/*
 * Makes a string of each text in a record. The texts follow each other. Returns false when the
 * texts are longer than the record, or the strings do not fit into ring->strings.
 */
static bool read_strings(struct bpf_ring *ring, const struct wire_record *record, size_t size,
			 const char *strings[WIRE_TEXTS])
{
	const char *from = (const char *)(record + 1);
	char *to = ring->strings;
	size_t left = size - sizeof(*record);

	for (size_t i = 0; i < WIRE_TEXTS; i++) {
		size_t len = record->lens[i];

		if (len > left || (size_t)(to - ring->strings) + len + 1 > sizeof(ring->strings))
			return false;
		memcpy(to, from, len);
		to[len] = '\0';
		strings[i] = to;
		to += len + 1;
		from += len;
		left -= len;
	}
	return true;
}

/*
 * Returns the view in which the task resolves names. Everything that the record does not contain is
 * read in /proc, as long as the task exists.
 */
static struct view view_of(const struct wire_record *record, const char *strings[WIRE_TEXTS],
			   enum wire_text base, int dirfd)
{
	bool is_elsewhere = record->flags & WIRE_IS_ELSEWHERE || !*strings[WIRE_ROOT];

	return (struct view){
		.tid = record->tid,
		.dirfd = dirfd,
		.base = strings[base],
		.root = is_elsewhere ? NULL : strings[WIRE_ROOT],
		.is_late = true,
	};
}

/* --- programs --- */

static struct bpf_becoming **find_becoming(struct bpf_ring *ring, pid_t pid)
{
	struct bpf_becoming **at = &ring->becoming;

	while (*at && (*at)->pid != pid)
		at = &(*at)->next;
	return at;
}

static void spare(struct bpf_ring *ring, struct bpf_becoming **at)
{
	struct bpf_becoming *b = *at;

	*at = b->next;
	b->next = ring->spare;
	ring->spare = b;
}

static struct bpf_becoming *begin_becoming(struct bpf_ring *ring, pid_t pid)
{
	struct bpf_becoming **at = find_becoming(ring, pid);
	struct bpf_becoming *b;

	/*
	 * If an earlier exec of the task is still incomplete, the last record of that exec was
	 * lost.
	 */
	if (*at)
		spare(ring, at);
	b = ring->spare;
	if (b)
		ring->spare = b->next;
	else
		b = calloc(1, sizeof(*b));
	if (!b)
		return NULL;
	b->pid = pid;
	strbuf_reset(&b->became.interpreter);
	strbuf_reset(&b->became.program);
	strbuf_reset(&b->became.cwd);
	strbuf_reset(&b->became.args);
	strbuf_reset(&b->env);
	strbuf_reset(&b->inherited);
	b->next = ring->becoming;
	ring->becoming = b;
	return b;
}

/*
 * True for every name in /dev/fd or /proc: the name may refer to a descriptor of the process. The
 * recorder cannot use these names. The descriptor may be closed by now, and "self" would mean the
 * recorder.
 */
static bool is_by_descriptor(const char *name)
{
	return strncmp(name, "/dev/fd/", 8) == 0 || strncmp(name, "/proc/", 6) == 0;
}

static void find_program(const struct wire_record *record, const char *strings[WIRE_TEXTS],
			 struct strbuf *out)
{
	struct view view = view_of(record, strings, WIRE_FROM_DIR, AT_FDCWD);

	if (record->flags & WIRE_IS_SCRIPT && !is_by_descriptor(strings[WIRE_FROM])) {
		named_files_target(&view, strings[WIRE_FROM], out);
		if (!out->len)
			named_files_of(&view, strings[WIRE_FROM], out);
	}
	if (!out->len)
		strbuf_addstr(out, strings[WIRE_FILE]);
}

static void see_exec(struct bpf_ring *ring, const struct wire_record *record,
		     const char *strings[WIRE_TEXTS])
{
	struct bpf_becoming *b = begin_becoming(ring, record->pid);

	if (!b) {
		ring->nr_broken++;
		return;
	}
	/*
	 * If the exec has ended the first thread, do not record the end of the first thread. The
	 * first thread's ID now belongs to the thread that called execve(2).
	 */
	leader_forget(ring, record->pid);
	b->time_ns = time_of(ring, record);
	b->old_tid = record->value;
	b->user = (struct peer){ record->pid, record->args[0], record->args[0] >> 32 };
	strbuf_addstr(&b->became.interpreter, strings[WIRE_FILE]);
	strbuf_addstr(&b->became.cwd, strings[WIRE_FROM_DIR]);
	find_program(record, strings, &b->became.program);
}

/*
 * Appends a part of a text to @out. The parts come in order. After a missing part, all later parts
 * are dropped.
 */
static void see_part(struct bpf_ring *ring, const struct wire_record *record, size_t size,
		     struct strbuf *out)
{
	if (record->flags & WIRE_IS_UNREAD)
		ring->nr_broken++;
	else if ((uint32_t)record->value == out->len)
		strbuf_add(out, record + 1, size - sizeof(*record));
}

static void see_inherited(const struct wire_record *record, const char *strings[WIRE_TEXTS],
			  struct bpf_becoming *b)
{
	static const uint32_t accesses[] = {
		[0] = O_PATH,
		[WIRE_READS] = O_RDONLY,
		[WIRE_WRITES] = O_WRONLY,
		[WIRE_READS | WIRE_WRITES] = O_RDWR,
	};
	struct kept_descriptor kept = {
		.fd = record->value,
		.access = accesses[record->more & (WIRE_READS | WIRE_WRITES)],
		.len = strlen(strings[WIRE_FILE]),
	};

	strbuf_add(&b->inherited, &kept, sizeof(kept));
	strbuf_add(&b->inherited, strings[WIRE_FILE], kept.len);
}

static void write_inherited(struct bpf_ring *ring, const struct bpf_becoming *b)
{
	struct kept_descriptor kept;

	for (size_t at = 0; at < b->inherited.len; at += sizeof(kept) + kept.len) {
		struct text file;

		memcpy(&kept, b->inherited.data + at, sizeof(kept));
		file = text_of(b->inherited.data + at + sizeof(kept), kept.len);
		call_encode_inherited(kept.fd, kept.access, &file, &ring->log->payload);
		proc_log_write_at(ring->log, b->time_ns, PROC_INHERIT, b->pid, b->pid);
	}
}

static void write_exec(struct bpf_ring *ring, const struct bpf_becoming *b)
{
	const struct execution execution = exec_image_execution(&b->became);
	/*
	 * The process is already running, and may remove a response file before the recorder reads
	 * the file.
	 */
	struct view view = {
		.tid = b->pid, .dirfd = AT_FDCWD, .base = execution.cwd, .is_late = true
	};

	exec_image_encode(&b->became, b->old_tid, &ring->log->payload);
	proc_log_write_at(ring->log, b->time_ns, PROC_EXEC, b->pid, b->pid);
	response_files_write(ring->log, &view, &b->user, &execution);
	if (ring->log->settings->traces_environment) {
		proc_act_encode(&(struct proc_act){ .texts = { text_of_buf(&b->env) } },
				&ring->log->payload);
		proc_log_write_at(ring->log, b->time_ns, PROC_ENV, b->pid, b->pid);
	}
	write_inherited(ring, b);
}

static void see_becoming(struct bpf_ring *ring, const struct wire_record *record, size_t size,
			 const char *strings[WIRE_TEXTS])
{
	struct bpf_becoming **at = find_becoming(ring, record->pid);

	/*
	 * If the exec of this record is unknown, the WIRE_EXEC record was lost. The loss has been
	 * counted. Without the WIRE_EXEC record, the later records of the exec are useless.
	 */
	if (!*at)
		return;
	switch (record->kind) {
	case WIRE_ARGS:
		see_part(ring, record, size, &(*at)->became.args);
		break;
	case WIRE_ENV:
		see_part(ring, record, size, &(*at)->env);
		break;
	case WIRE_INHERIT:
		see_inherited(record, strings, *at);
		break;
	default:
		write_exec(ring, *at);
		spare(ring, at);
	}
}

/* --- system calls --- */

/*
 * Returns a name and its base directory. The name is NULL when the system call has no argument for
 * the name, or when the name could not be read. If the name could not be read, the record has
 * neither the name nor the base directory.
 */
static struct given_name name_of(const struct wire_record *record, const char *strings[WIRE_TEXTS],
				 int arg, enum wire_text name, int dirfd)
{
	const char *given = strings[name];
	bool is_read = arg >= 0 && (*given || *strings[name + 1]);

	return (struct given_name){ is_read ? given : NULL,
				    view_of(record, strings, name + 1, dirfd) };
}

static void see_call(struct bpf_ring *ring, const struct wire_record *record,
		     const char *strings[WIRE_TEXTS])
{
	struct call_facts facts = {
		.id = record->id,
		.result = record->value,
		.out = { record->out[0], record->out[1] },
		.file = strings[WIRE_FILE],
		.text = strings[WIRE_TEXT],
	};
	const struct call_shape *shape;
	enum proc_kind kind;

	/* A successful clone(2) has a WIRE_FORK record, and no WIRE_CALL record. */
	if (record->id >= SYSCALL_BEYOND ||
	    (record->id >= SYSCALL_NOT_WATCHED && record->value >= 0)) {
		ring->nr_broken++;
		return;
	}
	memcpy(facts.args, record->args, sizeof(facts.args));
	if (record->id < SYSCALL_NOT_WATCHED) {
		shape = &call_shapes[record->id];
		facts.from = name_of(record, strings, shape->from, WIRE_FROM,
				     call_directory(facts.args, shape->from_dir));
		facts.to = name_of(record, strings, shape->to, WIRE_TO,
				   call_directory(facts.args, shape->to_dir));
	}
	kind = call_encode(&facts, &ring->log->payload);
	if (kind)
		proc_log_write_at(ring->log, time_of(ring, record), kind, record->tid, record->pid);
}

void bpf_ring_take(struct bpf_ring *ring, const void *data, size_t size)
{
	const struct wire_record *record = data;
	const char *strings[WIRE_TEXTS];

	if (size < sizeof(*record) || !read_strings(ring, record, size, strings)) {
		ring->nr_broken++;
		return;
	}
	ring->log->cpu = record->cpu <= PROC_CPU_MAX ? (int)record->cpu : PROC_CPU_UNKNOWN;
	switch (record->kind) {
	case WIRE_FORK:
		see_fork(ring, record);
		break;
	case WIRE_EXEC:
		see_exec(ring, record, strings);
		break;
	case WIRE_ARGS:
	case WIRE_ENV:
	case WIRE_INHERIT:
	case WIRE_BECAME:
		see_becoming(ring, record, size, strings);
		break;
	case WIRE_EXIT:
		see_exit(ring, record);
		break;
	case WIRE_CALL:
		see_call(ring, record, strings);
		break;
	default:
		ring->nr_broken++;
	}
}

void bpf_ring_finish(struct bpf_ring *ring)
{
	ring->log->cpu = PROC_CPU_UNKNOWN;
	while (ring->becoming) {
		write_exec(ring, ring->becoming);
		spare(ring, &ring->becoming);
	}
}

void bpf_ring_deinit(struct bpf_ring *ring)
{
	while (ring->becoming)
		spare(ring, &ring->becoming);
	while (ring->spare) {
		struct bpf_becoming *b = ring->spare;

		ring->spare = b->next;
		exec_image_deinit(&b->became);
		strbuf_deinit(&b->env);
		strbuf_deinit(&b->inherited);
		free(b);
	}
	for (size_t i = 0; i < ring->leaders.nr_slots; i++)
		free(ring->leaders.slots[i].value);
	intmap_deinit(&ring->leaders);
}
