/*
 * The eBPF programs that report on the traced tasks (--proc=bpf). They change nothing in the kernel
 * (doc/internals/processes.md).
 */
#include <linux/bpf.h>

#include <bpf/bpf_helpers.h>

#include <bpf/bpf_core_read.h>

#include "arch/x86_64/bpf_calls.h"
#include "cmds/record/proc/bpf_kernel.h"
#include "cmds/record/proc/bpf_wire.h"

#define INLINE static inline __attribute__((always_inline))

/*
 * A function that the verifier checks only once, however often it is called. The arguments must be
 * numbers, so addresses of kernel memory are passed as numbers.
 */
#define ON_ITS_OWN __attribute__((noinline))

/*
 * Limit a number to the bits of @mask, so that the verifier knows the limit. In C, the compiler
 * could remove an operation that seems to have no effect.
 */
#define BOUND(value, mask) asm volatile("%0 &= %1" : "+r"(value) : "i"(mask))

#define NAMES_ON_THE_WAY 2100U /* the maximum number of names in a path of PATH_MAX bytes */
#define NAME_MASK	 255U
#define PARTS		 ((9U << 20) / WIRE_PART_MAX)
#define SEARCHED_BYTES	 8192U
#define WORD_BITS	 64U
#define WORDS		 (1U << 16)

char program_license[] SEC("license") = "Dual MIT/GPL";

const volatile struct wire_settings settings SEC(".rodata.settings") = { 0 };
/* The recorded program is the first traced process. */
struct wire_counts counts SEC(".data.counts") = { .nr_live = 1 };

struct {
	__uint(type, BPF_MAP_TYPE_TASK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct wire_mark);
} marks SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 1 << 26);
} ring SEC(".maps");

/*
 * The memory in which a record is made. There is one such memory for each CPU. end() checks that no
 * other eBPF program of this file has begun a record in the same memory.
 *
 * @path: a path is built in the first half of this array, from the last name to the first
 * @used: the size of the data in @bytes
 */
struct scratch {
	char path[2 * WIRE_TEXT_MAX];
	uint32_t used;
	uint32_t unused;
	struct wire_record record;
	char bytes[WIRE_BYTES_MAX + WIRE_TEXT_MAX];
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, uint32_t);
	__type(value, struct scratch);
} scratches SEC(".maps");

INLINE struct scratch *scratch_here(void)
{
	uint32_t cpu = bpf_get_smp_processor_id();

	return bpf_map_lookup_elem(&scratches, &cpu);
}

INLINE struct scratch *begin(const struct wire_mark *mark, enum wire_kind kind)
{
	struct scratch *s = scratch_here();

	if (!s) {
		__sync_fetch_and_add(&counts.nr_lost, 1);
		return 0;
	}
	__builtin_memset(&s->record, 0, sizeof(s->record));
	s->used = 0;
	s->record.tid = mark->tid;
	s->record.pid = mark->pid;
	s->record.kind = kind;
	s->record.cpu = bpf_get_smp_processor_id();
	return s;
}

/*
 * Put the record into the ring. The reader looks at the ring from time to time. Most records do not
 * wake the reader, because waking takes longer than all other work for a record.
 */
INLINE void end(struct scratch *s, const struct wire_mark *mark)
{
	uint32_t size = s->used;
	uint64_t flags = BPF_RB_NO_WAKEUP;

	BOUND(size, WIRE_BYTES_MAX - 1);
	if (bpf_ringbuf_query(&ring, BPF_RB_AVAIL_DATA) > settings.ring_bytes / 4 ||
	    (s->record.kind == WIRE_EXIT && counts.nr_live == 1) ||
	    (s->record.kind == WIRE_BECAME && s->record.flags & WIRE_IS_URGENT))
		flags = BPF_RB_FORCE_WAKEUP;
	s->record.time_ns = bpf_ktime_get_ns();
	/*
	 * After begin(), the kernel may have run another eBPF program of this file on this CPU. In
	 * that case @s contains the record of the other program, and the record of @mark is lost.
	 */
	if (s->record.tid != mark->tid ||
	    bpf_ringbuf_output(&ring, &s->record, sizeof(s->record) + size, flags) < 0)
		__sync_fetch_and_add(&counts.nr_lost, 1);
}

/* Returns the memory for the next text. This memory has WIRE_TEXT_MAX bytes. */
INLINE char *room(struct scratch *s)
{
	uint32_t at = s->used;

	BOUND(at, WIRE_BYTES_MAX - 1);
	return &s->bytes[at];
}

INLINE void take(struct scratch *s, enum wire_text text, uint32_t len)
{
	s->record.lens[text] = len;
	s->used += len;
}

INLINE void put_kernel_string(struct scratch *s, enum wire_text text, const void *string)
{
	long len = bpf_probe_read_kernel_str(room(s), WIRE_TEXT_MAX, string);

	take(s, text, len > 0 ? len - 1 : 0);
}

/*
 * Puts a string of the task into the record. The system call has just read the string, so the
 * string is in memory. Returns 1 if the string was found and does not begin with '/'.
 */
ON_ITS_OWN int put_string(uint32_t text, uint64_t addr)
{
	struct scratch *s = scratch_here();
	char *at;
	long len;

	if (!s || text >= WIRE_TEXTS)
		return 0;
	at = room(s);
	len = bpf_probe_read_user_str(at, WIRE_TEXT_MAX, (const void *)addr);
	if (len <= 0)
		return 0;
	take(s, text, len - 1);
	return *at != '/';
}

#define DELETED	    " (deleted)"
#define DELETED_LEN (sizeof(DELETED) - 1)

/* --- paths, in the form that readlink(2) reads in /proc/<pid>/fd/<n> --- */

/* @at: the path begins at this offset in scratch.path. step() lowers @at for each name */
struct walk {
	const struct dentry *dentry;
	const struct mount *mount;
	uint32_t at;
	uint32_t is_too_long;
};

/*
 * Goes to the parent directory. At the root of a mount, goes to the mount point. Returns 1 to stop.
 */
static long step(uint32_t i, struct walk *walk)
{
	const struct dentry *dentry = walk->dentry;
	const struct mount *mount = walk->mount;
	const struct dentry *parent;
	const char *name;
	struct scratch *s;
	uint32_t at, len;

	if (dentry == BPF_CORE_READ(mount, mnt.mnt_root)) {
		const struct mount *below = BPF_CORE_READ(mount, mnt_parent);

		if (below == mount)
			return 1;
		walk->dentry = BPF_CORE_READ(mount, mnt_mountpoint);
		walk->mount = below;
		return 0;
	}
	parent = BPF_CORE_READ(dentry, d_parent);
	if (parent == dentry)
		return 1;
	s = scratch_here();
	len = BPF_CORE_READ(dentry, d_name.len) & NAME_MASK;
	name = BPF_CORE_READ(dentry, d_name.name);
	if (!s || walk->at < len + 1) {
		walk->is_too_long = 1;
		return 1;
	}
	at = walk->at - len - 1;
	walk->at = at;
	BOUND(at, WIRE_TEXT_MAX - 1);
	s->path[at] = '/';
	BOUND(len, NAME_MASK);
	bpf_probe_read_kernel(&s->path[at + 1], len, name);
	walk->dentry = parent;
	return 0;
}

/*
 * Puts the path of a file into the record.
 *
 * @dentry_at, @mnt: addresses of a struct dentry and a struct vfsmount
 */
ON_ITS_OWN int put_place(uint32_t text, uint64_t dentry_at, uint64_t mnt)
{
	const struct dentry *dentry = (const struct dentry *)dentry_at;
	struct scratch *s = scratch_here();
	struct walk walk = {
		.dentry = dentry,
		.mount = (const void *)(mnt - bpf_core_field_offset(struct mount, mnt)),
		.at = WIRE_TEXT_MAX - 1,
	};
	uint32_t len, at;
	char *to;

	if (!s || text >= WIRE_TEXTS)
		return 0;
	to = room(s);
	bpf_loop(NAMES_ON_THE_WAY, step, &walk, 0);
	len = WIRE_TEXT_MAX - 1 - walk.at;
	if (walk.is_too_long)
		return 0;
	if (!len) {
		*to = '/';
		take(s, text, 1);
		return 0;
	}
	at = walk.at;
	BOUND(at, WIRE_TEXT_MAX - 1);
	BOUND(len, WIRE_TEXT_MAX - 1);
	bpf_probe_read_kernel(to, len, &s->path[at]);
	take(s, text, len);
	if (BPF_CORE_READ(dentry, d_hash.pprev) || BPF_CORE_READ(dentry, d_parent) == dentry)
		return 0;
	if (len + DELETED_LEN >= WIRE_TEXT_MAX) {
		s->used -= len;
		s->record.lens[text] = 0;
		return 0;
	}
	to = room(s);
	__builtin_memcpy(to, DELETED, DELETED_LEN);
	s->used += DELETED_LEN;
	s->record.lens[text] = len + DELETED_LEN;
	return 0;
}

/* Puts the name of a file that has no path, such as a pipe, into the record. */
INLINE void put_name(struct scratch *s, enum wire_text text, const struct dentry *dentry)
{
	static const char pipe[] = "pipe:[%lu]";
	static const char socket[] = "socket:[%lu]";
	static const char space[] = "%s:[%lu]";
	static const char other[] = "anon_inode:%s";
	static const char pidfd[] = "anon_inode:[pidfd]";
	static const char memory[] = "/%s (deleted)";
	const struct inode *inode = BPF_CORE_READ(dentry, d_inode);
	uint64_t number = BPF_CORE_READ(inode, i_ino);
	unsigned long long values[2] = { number, number };
	char *to = room(s);
	long len;

	switch (BPF_CORE_READ(dentry, d_sb, s_magic)) {
	case PIPEFS_MAGIC:
		len = bpf_snprintf(to, WIRE_TEXT_MAX, pipe, values, 8);
		break;
	case SOCKFS_MAGIC:
		len = bpf_snprintf(to, WIRE_TEXT_MAX, socket, values, 8);
		break;
	case NSFS_MAGIC: {
		const struct ns_common *ns = BPF_CORE_READ(inode, i_private);

		values[0] = (uint64_t)BPF_CORE_READ(ns, ops, name);
		len = bpf_snprintf(to, WIRE_TEXT_MAX, space, values, 16);
		break;
	}
	case PIDFS_MAGIC:
		len = bpf_snprintf(to, WIRE_TEXT_MAX, pidfd, values, 0);
		break;
	case ANON_INODEFS_MAGIC:
		values[0] = (uint64_t)BPF_CORE_READ(dentry, d_name.name);
		len = bpf_snprintf(to, WIRE_TEXT_MAX, other, values, 8);
		break;
	default:
		values[0] = (uint64_t)BPF_CORE_READ(dentry, d_name.name);
		len = bpf_snprintf(to, WIRE_TEXT_MAX, memory, values, 8);
		break;
	}
	take(s, text, len > 0 && len <= WIRE_TEXT_MAX ? len - 1 : 0);
}

/* Puts the path of a file into the record. @at: address of a struct file, or 0 */
ON_ITS_OWN int put_file(uint32_t text, uint64_t at)
{
	const struct file *file = (const struct file *)at;
	struct scratch *s = scratch_here();
	const struct dentry *dentry;
	const struct vfsmount *mnt;

	if (!s || text >= WIRE_TEXTS || !file)
		return 0;
	dentry = BPF_CORE_READ(file, f_path.dentry);
	mnt = BPF_CORE_READ(file, f_path.mnt);
	if (BPF_CORE_READ(dentry, d_op) && BPF_CORE_READ(dentry, d_op, d_dname) &&
	    (BPF_CORE_READ(dentry, d_parent) != dentry || BPF_CORE_READ(mnt, mnt_root) != dentry))
		put_name(s, text, dentry);
	else
		put_place(text, (uint64_t)dentry, (uint64_t)mnt);
	return 0;
}

INLINE const struct file *file_of(const struct task_struct *task, uint32_t fd)
{
	const struct fdtable *table = BPF_CORE_READ(task, files, fdt);
	struct file *const *files = BPF_CORE_READ(table, fd);
	const struct file *file = 0;

	if (fd < BPF_CORE_READ(table, max_fds))
		bpf_probe_read_kernel(&file, sizeof(file), &files[fd]);
	return file;
}

INLINE void put_directory(enum wire_text text, const struct task_struct *task, int32_t fd)
{
	if (fd == CWD_FD)
		put_place(text, (uint64_t)BPF_CORE_READ(task, fs, pwd.dentry),
			  (uint64_t)BPF_CORE_READ(task, fs, pwd.mnt));
	else
		put_file(text, (uint64_t)file_of(task, fd));
}

INLINE void put_root(struct scratch *s, const struct task_struct *task)
{
	put_place(WIRE_ROOT, (uint64_t)BPF_CORE_READ(task, fs, root.dentry),
		  (uint64_t)BPF_CORE_READ(task, fs, root.mnt));
	if (BPF_CORE_READ(task, nsproxy, mnt_ns, ns.inum) != settings.mount_namespace)
		s->record.flags |= WIRE_IS_ELSEWHERE;
}

/* --- tasks --- */

/* Returns the task's ID in the recorder's pid namespace. @level: see struct wire_mark */
INLINE uint32_t number_of(const struct task_struct *task, uint32_t level)
{
	const struct pid *pid = BPF_CORE_READ(task, thread_pid);
	int number = 0;

	bpf_probe_read_kernel(&number, sizeof(number),
			      (const char *)pid + bpf_core_field_offset(struct pid, numbers) +
				      (level - 1) * bpf_core_type_size(struct upid) +
				      bpf_core_field_offset(struct upid, nr));
	return number;
}

INLINE uint32_t call_id(const struct task_struct *task, uint64_t number)
{
	uint32_t abi = !!(task->thread_info.status & CALL_IS_COMPAT);

	number &= settings.masks[abi];
	return number < WIRE_NUMBERS ? settings.ids[abi][number] : SYSCALL_NONE;
}

/*
 * Returns the flags of clone(2) or clone3(2), as clone(2) gets them. The lowest byte is the signal
 * that the kernel sends to the parent when the child ends.
 *
 * @arg: the first argument of the system call
 * @otherwise: the result for other system calls, and for flags that cannot be read
 */
INLINE uint64_t clone_flags(uint32_t id, uint64_t arg, uint64_t otherwise)
{
	/*
	 * The first five members of struct clone_args: flags in the first, the signal in the fifth.
	 */
	uint64_t given[5] = { 0 };

	if (id == SYSCALL_CLONE)
		return (uint32_t)arg;
	if (id == SYSCALL_CLONE3 &&
	    bpf_probe_read_user(given, sizeof(given), (const void *)arg) == 0)
		return given[0] | given[4];
	return otherwise;
}

INLINE void put_how(struct scratch *s, struct task_struct *task)
{
	const struct pt_regs *regs = (const struct pt_regs *)bpf_task_pt_regs(task);
	bool is_compat = task->thread_info.status & CALL_IS_COMPAT;
	uint32_t id = call_id(task, regs->orig_ax);
	uint64_t flags = FORK_SIGNAL;
	uint64_t args[6];

	call_arguments(regs, is_compat, args);
	if (id == SYSCALL_VFORK)
		flags = FORK_SIGNAL | FORK_WAITS;
	else
		flags = clone_flags(id, args[0], FORK_SIGNAL);
	s->record.args[0] = id == SYSCALL_CLONE || id == SYSCALL_CLONE3 ? flags : 0;
	s->record.args[1] = flags & FORK_WAITS		    ? WIRE_BY_VFORK
			    : (flags & 0xff) != FORK_SIGNAL ? WIRE_BY_CLONE
							    : WIRE_BY_FORK;
}

SEC("tp_btf/sched_process_fork")
int see_fork(uint64_t *ctx)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct task_struct *child = (struct task_struct *)ctx[1];
	struct wire_mark *mark = bpf_task_storage_get(&marks, task, 0, 0);
	struct wire_mark *made;
	struct scratch *s;

	if (!mark || mark->waits)
		return 0;
	made = bpf_task_storage_get(&marks, child, 0, BPF_LOCAL_STORAGE_GET_F_CREATE);
	if (!made) {
		__sync_fetch_and_add(&counts.nr_lost, 1);
		return 0;
	}
	__sync_fetch_and_add(&counts.nr_live, 1);
	if (!mark->level)
		mark->level = BPF_CORE_READ(task, thread_pid, level) + 1;
	made->level = mark->level;
	made->tid = number_of(child, mark->level);
	made->pid = child->pid == child->tgid ? made->tid : mark->pid;
	s = begin(mark, WIRE_FORK);
	if (!s)
		return 0;
	s->record.value = made->tid;
	s->record.more = made->pid;
	put_how(s, task);
	end(s, mark);
	return 0;
}

SEC("tp_btf/sched_process_exit")
int see_exit(uint64_t *ctx)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct wire_mark *mark = bpf_task_storage_get(&marks, task, 0, 0);
	bool is_leader = task->pid == task->tgid;
	bool goes_on = task->signal->live.counter > 0;
	struct scratch *s;

	if (!mark)
		return 0;
	s = mark->waits ? 0 : begin(mark, WIRE_EXIT);
	if (s) {
		s->record.value = task->exit_code;
		if (task->signal->flags & GROUP_EXIT) {
			s->record.value = task->signal->group_exit_code;
			s->record.flags |= WIRE_IS_OF_GROUP;
		}
		if (is_leader && goes_on)
			s->record.flags |= WIRE_IS_LEADER;
		if (!is_leader && !goes_on)
			s->record.flags |= WIRE_IS_LAST;
		end(s, mark);
	}
	/*
	 * The record is written before nr_live falls. When a reader sees that nr_live is 0, all
	 * records are in the ring.
	 */
	__sync_fetch_and_add(&counts.nr_live, -1);
	bpf_task_storage_delete(&marks, task);
	return 0;
}

/* --- programs --- */

/*
 * @names_file: an argument begins with '@', and so names a response file. The recorder must read
 *              this file before the file is removed
 */
struct part {
	struct wire_mark *mark;
	uint64_t addr;
	uint32_t len;
	uint32_t kind;
	uint32_t names_file;
	uint32_t unused;
};

/*
 * Sets part->names_file if byte @i of scratch.bytes ends a word, and the next word begins with '@'.
 * Returns 1 to end the loop.
 */
static long find_name(uint32_t i, struct part *part)
{
	struct scratch *s = scratch_here();
	uint32_t at = i;

	if (!s || i + 1 >= part->len || i + 1 >= WIRE_PART_MAX)
		return 1;
	BOUND(at, WIRE_PART_MAX - 1);
	if (s->bytes[at] || s->bytes[at + 1] != '@')
		return 0;
	part->names_file = 1;
	return 1;
}

static long put_part(uint32_t i, struct part *part)
{
	uint32_t at = i * WIRE_PART_MAX;
	uint32_t len = part->len - at;
	struct scratch *s;

	if (at >= part->len)
		return 1;
	s = begin(part->mark, part->kind);
	if (!s)
		return 1;
	if (len > WIRE_PART_MAX)
		len = WIRE_PART_MAX;
	BOUND(len, 2 * WIRE_PART_MAX - 1);
	s->record.value = at;
	s->used = len;
	if (bpf_probe_read_user(s->bytes, len, (const void *)(part->addr + at)) < 0) {
		s->record.flags = WIRE_IS_UNREAD;
		s->used = 0;
	} else if (i == 0 && part->kind == WIRE_ARGS) {
		bpf_loop(SEARCHED_BYTES, find_name, part, 0);
	}
	end(s, part->mark);
	return 0;
}

/*
 * Puts a text into records, in parts. Returns true if an argument begins with '@'. Only the first
 * SEARCHED_BYTES bytes of the arguments are searched. Returns false for an environment.
 */
INLINE bool put_parts(struct wire_mark *mark, enum wire_kind kind, uint64_t addr, uint32_t len)
{
	struct part part = { mark, addr, len, kind, 0, 0 };

	bpf_loop(PARTS, put_part, &part, 0);
	return part.names_file;
}

/* @first: the descriptor that the lowest bit of @open stands for */
struct inherited {
	struct wire_mark *mark;
	const struct fdtable *table;
	uint64_t open;
	uint32_t first;
	uint32_t unused;
};

static long put_inherited(uint32_t i, struct inherited *in)
{
	struct task_struct *task = bpf_get_current_task_btf();
	const struct file *file;
	struct scratch *s;
	uint32_t mode;

	if (!(in->open >> i & 1))
		return 0;
	file = file_of(task, in->first + i);
	if (!file)
		return 0;
	s = begin(in->mark, WIRE_INHERIT);
	if (!s)
		return 0;
	mode = BPF_CORE_READ(file, f_mode);
	s->record.value = in->first + i;
	s->record.more = (mode & MODE_READ ? WIRE_READS : 0) |
			 (mode & MODE_WRITE ? WIRE_WRITES : 0);
	put_file(WIRE_FILE, (uint64_t)file);
	end(s, in->mark);
	return 0;
}

static long put_inherited_word(uint32_t i, struct inherited *in)
{
	const struct fdtable *table = in->table;
	const uint64_t *words = BPF_CORE_READ(table, open_fds);

	in->first = i * WORD_BITS;
	in->open = 0;
	if (in->first >= BPF_CORE_READ(table, max_fds))
		return 1;
	bpf_probe_read_kernel(&in->open, sizeof(in->open), &words[i]);
	if (in->open)
		bpf_loop(WORD_BITS, put_inherited, in, 0);
	return 0;
}

/*
 * The new program has not run yet. The kernel has just written the program's arguments, so their
 * pages are in memory.
 */
SEC("tp_btf/sched_process_exec")
int see_exec(uint64_t *ctx)
{
	struct task_struct *task = bpf_get_current_task_btf();
	const struct linux_binprm *bprm = (const struct linux_binprm *)ctx[2];
	struct wire_mark *mark = bpf_task_storage_get(&marks, task, 0, 0);
	const struct mm_struct *mm = task->mm;
	uint64_t env = mm->env_start;
	uint64_t args = mm->arg_start;
	uint32_t env_len = mm->env_end - env;
	uint32_t args_len = mm->arg_end - args;
	bool is_script = BPF_CORE_READ(bprm, interp) != BPF_CORE_READ(bprm, filename);
	struct scratch *s;
	bool names_file;

	if (!mark)
		return 0;
	mark->waits = 0;
	mark->id = SYSCALL_NONE;
	s = begin(mark, WIRE_EXEC);
	if (!s)
		return 0;
	s->record.value = mark->tid;
	s->record.args[0] = bpf_get_current_uid_gid();
	mark->tid = mark->pid;
	s->record.tid = mark->pid;
	/* In a record, the texts must follow each other in the order of enum wire_text. */
	put_file(WIRE_FILE, (uint64_t)BPF_CORE_READ(mm, exe_file));
	if (is_script)
		put_kernel_string(s, WIRE_FROM, BPF_CORE_READ(bprm, filename));
	put_directory(WIRE_FROM_DIR, task, CWD_FD);
	if (is_script) {
		s->record.flags |= WIRE_IS_SCRIPT;
		put_root(s, task);
	}
	end(s, mark);
	names_file = put_parts(mark, WIRE_ARGS, args, args_len);
	if (settings.traces_environment)
		put_parts(mark, WIRE_ENV, env, env_len);
	if (settings.traces_files) {
		struct inherited in = { mark, BPF_CORE_READ(task, files, fdt), 0, 0, 0 };

		bpf_loop(WORDS, put_inherited_word, &in, 0);
	}
	s = begin(mark, WIRE_BECAME);
	if (s) {
		s->record.flags = names_file ? WIRE_IS_URGENT : 0;
		end(s, mark);
	}
	return 0;
}

/* --- system calls --- */

INLINE uint64_t argument(const struct wire_mark *mark, int i)
{
	return i >= 0 && i < 6 ? mark->args[i] : 0;
}

/* Reports a close before it happens. After the close, another thread may get the descriptor. */
INLINE void tell_close(const struct task_struct *task, const struct wire_mark *mark, uint32_t fd)
{
	struct scratch *s;

	if (!file_of(task, fd))
		return;
	s = begin(mark, WIRE_CALL);
	if (!s)
		return;
	s->record.id = SYSCALL_CLOSE;
	s->record.args[0] = fd;
	end(s, mark);
}

SEC("tp_btf/sys_enter")
int see_call(uint64_t *ctx)
{
	struct task_struct *task = bpf_get_current_task_btf();
	const struct pt_regs *regs = (const struct pt_regs *)ctx[0];
	uint32_t id = call_id(task, ctx[1]);
	const volatile struct call_shape *shape;
	struct wire_mark *mark;
	uint64_t args[6];
	uint32_t chosen;

	if (id == SYSCALL_NONE || id > SYSCALL_CLONE3)
		return 0;
	mark = bpf_task_storage_get(&marks, task, 0, 0);
	if (!mark || mark->waits)
		return 0;
	call_arguments(regs, task->thread_info.status & CALL_IS_COMPAT, args);
	if (id == SYSCALL_CLOSE) {
		tell_close(task, mark, args[0]);
		return 0;
	}
	if (id < SYSCALL_NOT_WATCHED) {
		shape = &settings.shapes[id];
		chosen = shape->choice == 1 ? args[1] : args[0];
		if (shape->choice >= 0 && chosen != shape->choices[0] &&
		    chosen != shape->choices[1])
			return 0;
	}
	mark->id = id;
	for (int i = 0; i < 6; i++)
		mark->args[i] = args[i];
	return 0;
}

/* Stores data from the task's memory in s->record.out. For clone(2), stores the flags. */
INLINE void put_memory(struct scratch *s, const struct wire_mark *mark, uint32_t id)
{
	if (id == SYSCALL_OPENAT2)
		bpf_probe_read_user(s->record.out, 16, (const void *)mark->args[2]);
	if (id == SYSCALL_PIPE || id == SYSCALL_PIPE2)
		bpf_probe_read_user(s->record.out, 8, (const void *)mark->args[0]);
	if (id >= SYSCALL_NOT_WATCHED)
		s->record.out[0] = clone_flags(id, mark->args[0], 0);
}

/*
 * True when a system call is reported after its return. A successful clone(2) is not reported here,
 * because see_fork() reports it. A failure is reported only if the system call was meant to clone,
 * rename, link, mount or unmount. Other failures, such as those of open(2), are too frequent.
 */
INLINE bool is_told(uint32_t id, int result)
{
	bool is_clone = id >= SYSCALL_NOT_WATCHED;

	if (result >= 0)
		return !is_clone;
	return is_clone || (id >= SYSCALL_RENAME && id <= SYSCALL_LINKAT) ||
	       (id >= SYSCALL_MOUNT && id <= SYSCALL_UMOUNT2);
}

INLINE void put_names(struct scratch *s, const struct task_struct *task,
		      const struct wire_mark *mark, const volatile struct call_shape *shape)
{
	int from_dir = shape->from_dir >= 0 ? (int)argument(mark, shape->from_dir) : CWD_FD;
	int to_dir = shape->to_dir >= 0 ? (int)argument(mark, shape->to_dir) : CWD_FD;

	if (shape->from >= 0 && put_string(WIRE_FROM, argument(mark, shape->from)))
		put_directory(WIRE_FROM_DIR, task, from_dir);
	if (shape->to >= 0 && put_string(WIRE_TO, argument(mark, shape->to)))
		put_directory(WIRE_TO_DIR, task, to_dir);
	if (shape->text >= 0)
		put_string(WIRE_TEXT, argument(mark, shape->text));
	if (shape->from >= 0 || shape->to >= 0)
		put_root(s, task);
}

SEC("tp_btf/sys_exit")
int see_result(uint64_t *ctx)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct wire_mark *mark = bpf_task_storage_get(&marks, task, 0, 0);
	int result = ctx[1];
	struct scratch *s;
	uint32_t id;

	if (!mark)
		return 0;
	id = mark->id;
	mark->id = SYSCALL_NONE;
	if (id == SYSCALL_NONE || id > SYSCALL_CLONE3 || !is_told(id, result))
		return 0;
	s = begin(mark, WIRE_CALL);
	if (!s)
		return 0;
	s->record.id = id;
	s->record.value = result;
	for (int i = 0; i < 6; i++)
		s->record.args[i] = mark->args[i];
	put_memory(s, mark, id);
	if (id == SYSCALL_PRCTL)
		put_kernel_string(s, WIRE_TEXT, __builtin_preserve_access_index(&task->comm));
	if (id <= SYSCALL_OPEN_BY_HANDLE_AT)
		put_file(WIRE_FILE, (uint64_t)file_of(task, result));
	if (id < SYSCALL_NOT_WATCHED)
		put_names(s, task, mark, &settings.shapes[id]);
	end(s, mark);
	return 0;
}
