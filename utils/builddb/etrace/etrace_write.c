/* Writes the events of processes and files as text (see etrace_write.h). */
#include "utils/builddb/etrace/etrace_write.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "utils/base/containers/vec.h"
#include "utils/format/proc_dat.h"

/*
 * An etrace text identifies a task by its upid. The upid has the tid in the lower bits, and above
 * them the task's index plus one.
 */
#define TID_BITS 22

/*
 * The tid of the wrapper in etrace texts: the highest tid of Linux. The wrapper is the process that
 * started the first program. The wrapper's real tid is not recorded.
 */
#define WRAPPER_TID ((1 << TID_BITS) - 1)

/* --- tasks --- */

static int add_task(struct etrace_writer *writer, int32_t tid)
{
	uint64_t *tasks = vec_grow(writer->tasks, writer->nr_tasks, sizeof(*tasks));

	if (!tasks)
		return -ENOMEM;
	writer->tasks = tasks;
	tasks[writer->nr_tasks] = (uint64_t)(writer->nr_tasks + 1) << TID_BITS | (uint32_t)tid;
	writer->nr_tasks++;
	return intmap_put(&writer->upids, (uint32_t)tid, (void *)(uintptr_t)writer->nr_tasks);
}

/*
 * Returns the upid of a task, or 0 when memory is short. A task whose fork was not recorded is
 * added.
 */
static uint64_t upid_of(struct etrace_writer *writer, int32_t tid)
{
	uintptr_t nr = (uintptr_t)intmap_get(&writer->upids, (uint32_t)tid);

	if (!nr && add_task(writer, tid) == 0)
		nr = writer->nr_tasks;
	return nr ? writer->tasks[nr - 1] : 0;
}

static unsigned long long size_of(struct text text)
{
	return text_left(&text);
}

/* --- processes --- */

static int put_fork(struct etrace_writer *writer, const struct proc_record *rec)
{
	struct proc_fork made;

	if (!proc_fork_decode(rec->data, rec->len, writer->file.is_big_endian, &made))
		return 0;
	if (add_task(writer, made.child) < 0)
		return -ENOMEM;
	/* With PROC_BY_CLONE the flags are known, even if they are 0. */
	if (made.flags || made.how == PROC_BY_CLONE)
		etrace_put(&writer->lines, "SysClone|flags=%llu", (unsigned long long)made.flags);
	etrace_put(&writer->lines, "SchedFork|pid=%llu",
		   (unsigned long long)writer->tasks[writer->nr_tasks - 1]);
	if (etrace_fds_fork(&writer->fds, rec->pid, made.child_pid) < 0)
		return -ENOMEM;
	return etrace_fds_fork(&writer->hidden, rec->pid, made.child_pid);
}

static int put_exec(struct etrace_writer *writer, const struct proc_record *rec)
{
	struct etrace_lines *lines = &writer->lines;
	struct proc_exec exec;
	struct text arg;

	if (!proc_exec_decode(rec->data, rec->len, writer->file.is_big_endian, &exec))
		return 0;
	etrace_fds_forget(&writer->fds, rec->pid);
	etrace_put(lines,
		   "New_proc|argsize=%llu,prognameisize=%llu,prognamepsize=%llu,cwdsize=%llu",
		   size_of(exec.args), size_of(exec.interpreter), size_of(exec.program),
		   size_of(exec.cwd));
	etrace_put_text(lines, "PI", exec.interpreter);
	etrace_put_text(lines, "PP", exec.program);
	etrace_put_text(lines, "CW", exec.cwd);
	for (size_t i = 0; proc_next_arg(&exec.args, &arg); i++)
		etrace_put_arg(lines, i, arg);
	etrace_put(lines, "End_of_args|");
	return 0;
}

static int put_exit(struct etrace_writer *writer, const struct proc_record *rec)
{
	int status;

	if (!proc_exit_decode(rec->data, rec->len, writer->file.is_big_endian, &status))
		return 0;
	etrace_put(&writer->lines, "Exit|status=%d", WEXITSTATUS(status));
	if (rec->tid == rec->pid) {
		etrace_fds_forget(&writer->fds, rec->pid);
		etrace_fds_forget(&writer->hidden, rec->pid);
	}
	return 0;
}

/* --- files --- */

struct etrace_open {
	char *path;
	size_t len;
	uint32_t flags;
	uint32_t mode;
};

static bool is_same_open(const struct etrace_open *last, const struct proc_act *act)
{
	return last->path && last->len == text_left(&act->texts[0]) &&
	       memcmp(last->path, act->texts[0].at, last->len) == 0 &&
	       last->flags == act->numbers[1] && last->mode == act->numbers[2];
}

/* Returns 1 when @act equals the task's previous act of opening a file, 0 when not, or -ENOMEM. */
static int is_repeated(struct etrace_writer *writer, int32_t tid, const struct proc_act *act)
{
	struct etrace_open *last = intmap_get(&writer->opens, (uint32_t)tid);
	char *path;

	if (!last) {
		last = calloc(1, sizeof(*last));
		if (!last || intmap_put(&writer->opens, (uint32_t)tid, last) < 0) {
			free(last);
			return -ENOMEM;
		}
	}
	if (is_same_open(last, act))
		return 1;
	path = text_dup(&act->texts[0]);
	if (!path)
		return -ENOMEM;
	free(last->path);
	*last = (struct etrace_open){ path, text_left(&act->texts[0]), act->numbers[1],
				      act->numbers[2] };
	return 0;
}

/* Add @fd to the open descriptors of process @pid, and remove @fd from @writer->hidden. */
static int show_fd(struct etrace_writer *writer, int32_t pid, uint32_t fd)
{
	int ret = etrace_fds_close(&writer->hidden, pid, fd);

	return ret < 0 ? ret : etrace_fds_open(&writer->fds, pid, fd);
}

static int put_open(struct etrace_writer *writer, const struct proc_record *rec,
		    const struct proc_act *act)
{
	struct text given = text_left(&act->texts[1]) ? act->texts[1] : act->texts[0];
	int32_t pid = rec->pid;

	if (writer->choice.ignores_repeats) {
		int ret = is_repeated(writer, rec->tid, act);

		if (ret < 0)
			return ret;
		if (ret > 0)
			return etrace_fds_open(&writer->hidden, pid, act->numbers[0]) < 0
				       ? -ENOMEM
				       : etrace_fds_open(&writer->fds, pid, act->numbers[0]);
	}
	etrace_put(&writer->lines, "Open|fnamesize=%llu,forigsize=%llu,flags=%u,mode=%u,fd=%d",
		   size_of(act->texts[0]), size_of(given), act->numbers[1], act->numbers[2],
		   (int)act->numbers[0]);
	etrace_put_text(&writer->lines, "FN", act->texts[0]);
	etrace_put_text(&writer->lines, "FO", given);
	return show_fd(writer, pid, act->numbers[0]);
}

/*
 * Write a line "Close" for each open descriptor of a range. If the range has only one descriptor,
 * do not check that the descriptor is open. Such a range mostly comes from close(2), and close(2)
 * is recorded only for open descriptors.
 */
static int put_close(struct etrace_writer *writer, int32_t pid, const struct proc_act *act)
{
	int64_t fd = act->numbers[0];

	if (act->numbers[0] != act->numbers[1])
		fd = etrace_fds_next(&writer->fds, pid, fd);
	while (fd >= 0 && fd <= act->numbers[1]) {
		if (act->numbers[0] != act->numbers[1] && ++writer->nr_closed > ETRACE_CLOSED_MAX)
			return -EDQUOT;
		if (etrace_fds_next(&writer->hidden, pid, fd) != fd)
			etrace_put(&writer->lines, "Close|fd=%d", (int)fd);
		if (etrace_fds_close(&writer->fds, pid, fd) < 0 ||
		    etrace_fds_close(&writer->hidden, pid, fd) < 0)
			return -ENOMEM;
		/*
		 * Stop at the last descriptor of the range. If @fd is UINT32_MAX, a search from
		 * @fd + 1 would begin at 0.
		 */
		fd = fd < act->numbers[1] ? etrace_fds_next(&writer->fds, pid, fd + 1) : -1;
	}
	return 0;
}

static int put_dup(struct etrace_writer *writer, int32_t pid, const struct proc_act *act)
{
	etrace_put(&writer->lines, "Dup|oldfd=%d,newfd=%d,flags=%u", (int)act->numbers[0],
		   (int)act->numbers[1], act->numbers[2]);
	return show_fd(writer, pid, act->numbers[1]);
}

static int put_pipe(struct etrace_writer *writer, int32_t pid, const struct proc_act *act)
{
	etrace_put(&writer->lines, "Pipe|fd1=%d,fd2=%d,flags=%u", (int)act->numbers[0],
		   (int)act->numbers[1], act->numbers[2]);
	if (show_fd(writer, pid, act->numbers[0]) < 0)
		return -ENOMEM;
	return show_fd(writer, pid, act->numbers[1]);
}

/*
 * Write the old path of a rename or link. @act->numbers[0] has the flags of renameat2(2) or
 * linkat(2). @act->numbers[1] is 1 for renameat2(2) and linkat(2), else 0. Recordings of earlier
 * versions of utrail always have 0 in @act->numbers[1].
 */
static void put_source(struct etrace_lines *lines, const struct proc_act *act, bool is_link)
{
	const struct text *from = &act->texts[0];

	if (act->numbers[0] || act->numbers[1])
		etrace_put(lines, "%s|fnamesize=%llu,flags=%u",
			   is_link ? "LinkatFrom" : "Rename2From", size_of(*from), act->numbers[0]);
	else
		etrace_put(lines, "%s|fnamesize=%llu", is_link ? "LinkFrom" : "RenameFrom",
			   size_of(*from));
	etrace_put_text(lines, is_link ? "LF" : "RF", *from);
}

static void put_move(struct etrace_lines *lines, const struct proc_act *act, bool is_link)
{
	const struct text *to = &act->texts[1];

	put_source(lines, act, is_link);
	etrace_put(lines, "%s|fnamesize=%llu", is_link ? "LinkTo" : "RenameTo", size_of(*to));
	etrace_put_text(lines, is_link ? "LT" : "RT", *to);
}

static void put_symlink(struct etrace_lines *lines, const struct proc_act *act)
{
	const struct text *resolved = &act->texts[2];

	if (text_left(resolved))
		etrace_put(lines,
			   "Symlink|targetnamesize=%llu,resolvednamesize=%llu,linknamesize=%llu",
			   size_of(act->texts[0]), size_of(*resolved), size_of(act->texts[1]));
	else
		etrace_put(lines, "Symlink|targetnamesize=%llu,linknamesize=%llu",
			   size_of(act->texts[0]), size_of(act->texts[1]));
	etrace_put_text(lines, "ST", act->texts[0]);
	if (text_left(resolved))
		etrace_put_text(lines, "SR", *resolved);
	etrace_put_text(lines, "SL", act->texts[1]);
}

static void put_mount(struct etrace_lines *lines, const struct proc_act *act)
{
	const struct text *source = &act->texts[0];
	const struct text *type = &act->texts[2];
	struct strbuf keys cleanup_strbuf = { 0 };

	if (text_left(source))
		strbuf_addf(&keys, "sourcenamesize=%llu,", size_of(*source));
	strbuf_addf(&keys, "targetnamesize=%llu,", size_of(act->texts[1]));
	if (text_left(type))
		strbuf_addf(&keys, "typenamesize=%llu,", size_of(*type));
	etrace_put(lines, "Mount|%sflags=%u", strbuf_str(&keys), act->numbers[0]);
	if (text_left(source))
		etrace_put_text(lines, "MS", *source);
	etrace_put_text(lines, "MT", act->texts[1]);
	if (text_left(type))
		etrace_put_text(lines, "MX", *type);
}

static void put_umount(struct etrace_lines *lines, const struct proc_act *act)
{
	etrace_put(lines, "Umount|targetnamesize=%llu,flags=%u", size_of(act->texts[0]),
		   act->numbers[0]);
	etrace_put_text(lines, "MT", act->texts[0]);
}

/*
 * Write the event of a failed system call. Before this event, write the paths and flags of the call
 * that are known. Returns false when @kind is not a failure.
 */
static bool put_failure(struct etrace_writer *writer, enum proc_kind kind,
			const struct proc_act *act)
{
	struct etrace_lines *lines = &writer->lines;
	uint64_t flags = (uint64_t)act->numbers[1] << 32 | act->numbers[0];

	switch (kind) {
	case PROC_RENAME_FAILED:
	case PROC_LINK_FAILED:
		if (text_left(&act->texts[0]))
			put_source(lines, act, kind == PROC_LINK_FAILED);
		etrace_put(lines, kind == PROC_LINK_FAILED ? "LinkFailed|" : "RenameFailed|");
		return true;
	case PROC_SYMLINK_FAILED: /* the record names neither the link nor its target */
		etrace_put(lines, "SymlinkFailed|");
		return true;
	case PROC_CLONE_FAILED:
		if (flags)
			etrace_put(lines, "SysClone|flags=%llu", (unsigned long long)flags);
		etrace_put(lines, "SysCloneFailed|");
		return true;
	case PROC_MOUNT_FAILED:
		if (writer->choice.has_mounts && text_left(&act->texts[1]))
			put_mount(lines, act);
		if (writer->choice.has_mounts)
			etrace_put(lines, "MountFailed|");
		return true;
	case PROC_UMOUNT_FAILED:
		if (writer->choice.has_mounts && text_left(&act->texts[0]))
			put_umount(lines, act);
		if (writer->choice.has_mounts)
			etrace_put(lines, "UmountFailed|");
		return true;
	default:
		return false;
	}
}

static void put_name(struct etrace_lines *lines, const struct proc_act *act)
{
	etrace_put(lines, "Comm|size=%llu", size_of(act->texts[0]));
	etrace_put_text(lines, "CN", act->texts[0]);
}

static int take_environment(struct etrace_writer *writer, const struct proc_act *act)
{
	struct text all = act->texts[0];
	struct text one;

	while (proc_next_arg(&all, &one)) {
		struct etrace_variable *variables = vec_grow(
			writer->variables, writer->nr_variables, sizeof(*writer->variables));
		char *text = variables ? text_dup(&one) : NULL;

		if (variables)
			writer->variables = variables;
		if (!text)
			return -ENOMEM;
		variables[writer->nr_variables++] = (struct etrace_variable){ writer->lines.upid,
									      text };
	}
	return 0;
}

static int put_act(struct etrace_writer *writer, const struct proc_record *rec)
{
	struct etrace_lines *lines = &writer->lines;
	struct proc_act act;

	if (!proc_act_decode(rec->data, rec->len, writer->file.is_big_endian, &act))
		return 0;
	writer->has_files |= rec->kind != PROC_NAME && rec->kind != PROC_ENV;
	switch (rec->kind) {
	case PROC_OPEN:
		return put_open(writer, rec, &act);
	case PROC_CLOSE:
		return put_close(writer, rec->pid, &act);
	case PROC_DUP:
		return put_dup(writer, rec->pid, &act);
	case PROC_PIPE:
		return put_pipe(writer, rec->pid, &act);
	case PROC_RENAME:
	case PROC_LINK:
		put_move(lines, &act, rec->kind == PROC_LINK);
		return 0;
	case PROC_SYMLINK:
		put_symlink(lines, &act);
		return 0;
	case PROC_MOUNT:
		if (writer->choice.has_mounts)
			put_mount(lines, &act);
		return 0;
	case PROC_UMOUNT:
		if (writer->choice.has_mounts)
			put_umount(lines, &act);
		return 0;
	case PROC_INHERIT: /* not written: readers infer inherited descriptors */
		return etrace_fds_open(&writer->fds, rec->pid, act.numbers[0]);
	case PROC_NAME:
		if (writer->choice.has_names)
			put_name(lines, &act);
		return 0;
	case PROC_ENV:
		return writer->choice.has_environment ? take_environment(writer, &act) : 0;
	default:
		writer->nr_out += !put_failure(writer, rec->kind, &act);
		return 0;
	}
}

/* --- the beginning and the end of the text --- */

/*
 * Write the directory in which the recording begins, in a line that readers skip. The directory is
 * cut at its first newline.
 */
static void put_beginning(struct etrace_writer *writer, struct strbuf *out)
{
	strbuf_addstr(out, "INITCWD=");
	strbuf_add(out, strbuf_str(&writer->cwd), strcspn(strbuf_str(&writer->cwd), "\n"));
	strbuf_addch(out, '\n');
	writer->has_begun = true;
}

/* Find the working directory that the first program had when it started. */
static int find_cwd(struct etrace_writer *writer, const char *dir, bool is_big_endian,
		    struct uft_err *err)
{
	struct proc_file file cleanup_proc_file;
	struct uft_err broken = { 0 };
	struct proc_exec exec;
	struct proc_record rec;
	int ret = proc_file_open(&file, dir, is_big_endian, err);

	while (ret == 0 && !writer->cwd.len && proc_file_next(&file, &rec, &broken) > 0) {
		if (rec.kind == PROC_EXEC &&
		    proc_exec_decode(rec.data, rec.len, is_big_endian, &exec))
			strbuf_add(&writer->cwd, exec.cwd.at, text_left(&exec.cwd));
	}
	return ret == 0 && strbuf_oom(&writer->cwd)
		       ? err_set_errno(err, -ENOMEM, "cannot read '%s'", dir)
		       : ret;
}

static int by_text(const void *a, const void *b)
{
	const struct etrace_variable *first = a;
	const struct etrace_variable *second = b;
	int order = strcmp(first->text, second->text);

	return order ? order : (first->upid > second->upid) - (first->upid < second->upid);
}

static bool are_same(const struct etrace_variable *a, const struct etrace_variable *b)
{
	return a->upid == b->upid && strcmp(a->text, b->text) == 0;
}

/*
 * For each variable, write the upids of the tasks that have the variable, and then the variable.
 */
static void put_environments(struct etrace_writer *writer)
{
	const struct etrace_variable *all = writer->variables;
	size_t nr = writer->nr_variables;

	if (nr)
		qsort(writer->variables, nr, sizeof(*all), by_text);
	etrace_begin(&writer->lines, 0, 0, 0);
	for (size_t i = 0; i < nr; i++) {
		if (!i || !are_same(&all[i], &all[i - 1]))
			etrace_put(&writer->lines, "UPID|%llu", (unsigned long long)all[i].upid);
		if (i + 1 == nr || strcmp(all[i].text, all[i + 1].text) != 0)
			etrace_put_variable(&writer->lines,
					    text_of(all[i].text, strlen(all[i].text)));
	}
	writer->has_ended = true;
}

/* --- any record --- */

/*
 * Write that a wrapper has forked the first program, because texts of the original etrace contain
 * such a fork. The time of the fork is a nanosecond before the time of @rec, the record of the
 * first program's execve(2).
 */
static int put_wrapper(struct etrace_writer *writer, const struct proc_record *rec)
{
	uint64_t time_ns = MAX(rec->time_ns, 1U) - 1;

	if (add_task(writer, WRAPPER_TID) < 0 || add_task(writer, rec->tid) < 0)
		return -ENOMEM;
	etrace_begin(&writer->lines, writer->tasks[0], 0, time_ns);
	etrace_put(&writer->lines, "SchedFork|pid=%llu", (unsigned long long)writer->tasks[1]);
	return 0;
}

static int put_lines(struct etrace_writer *writer, const struct proc_record *rec)
{
	int ret = rec->kind == PROC_EXEC && !writer->nr_tasks ? put_wrapper(writer, rec) : 0;

	if (ret < 0 || rec->kind == PROC_CPU || rec->kind == PROC_RESPONSE)
		return ret;

	uint64_t upid = upid_of(writer, rec->tid);
	int cpu = proc_cpus_of(&writer->cpus, rec->tid);

	if (!upid)
		return -ENOMEM;
	etrace_begin(&writer->lines, upid, cpu == PROC_CPU_UNKNOWN ? 0 : cpu, rec->time_ns);
	switch (rec->kind) {
	case PROC_FORK:
		return put_fork(writer, rec);
	case PROC_EXEC:
		return put_exec(writer, rec);
	case PROC_EXIT:
		return put_exit(writer, rec);
	default:
		return put_act(writer, rec);
	}
}

static int put_record(struct etrace_writer *writer, const struct proc_record *rec)
{
	int ret = put_lines(writer, rec);

	return ret < 0 ? ret : proc_cpus_see(&writer->cpus, rec, writer->file.is_big_endian);
}

int etrace_writer_next(struct etrace_writer *writer, struct strbuf *out)
{
	struct proc_record rec;
	int ret = 0;

	if (writer->has_ended)
		return 0;
	writer->lines.out = out;
	if (!writer->has_begun)
		put_beginning(writer, out);
	else if (proc_file_next(&writer->file, &rec, &writer->broken) > 0)
		ret = put_record(writer, &rec);
	else
		put_environments(writer);
	if (ret == 0 && strbuf_oom(out))
		ret = -ENOMEM;
	return ret < 0 ? ret : 1;
}

int etrace_writer_open(struct etrace_writer *writer, const char *dir, bool is_big_endian,
		       const struct etrace_choice *choice, struct uft_err *err)
{
	*writer = (struct etrace_writer){ .lines = { .is_bare = choice->is_bare },
					  .choice = *choice };

	int ret = proc_file_open(&writer->file, dir, is_big_endian, err);

	return ret < 0 ? ret : find_cwd(writer, dir, is_big_endian, err);
}

void etrace_writer_close(struct etrace_writer *writer)
{
	proc_file_close(&writer->file);
	strbuf_deinit(&writer->cwd);
	intmap_deinit(&writer->upids);
	proc_cpus_deinit(&writer->cpus);
	free(writer->tasks);
	etrace_fds_deinit(&writer->fds);
	etrace_fds_deinit(&writer->hidden);
	for (size_t i = 0; i < writer->opens.nr_slots; i++) {
		struct etrace_open *open = writer->opens.slots[i].value;

		if (open)
			free(open->path);
		free(open);
	}
	intmap_deinit(&writer->opens);
	for (size_t i = 0; i < writer->nr_variables; i++)
		free(writer->variables[i].text);
	free(writer->variables);
}
