/* Programs that processes ran (see executions.h). */
#include "utils/pipeline/recording/executions.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "utils/base/compiler.h"
#include "utils/base/containers/intmap.h"
#include "utils/base/containers/vec.h"
#include "utils/format/proc_cpus.h"
#include "utils/pipeline/recording/proc_file.h"

/*
 * The state while the executions are read from proc.dat.
 *
 * @running: maps a pid to 1 + the index of the newest execution with this pid
 * @cpus: the CPU of each task
 * @nr_tasks: the last number that was given to a task (execution.task explains these numbers)
 */
struct loading {
	struct executions *out;
	struct intmap running;
	struct proc_cpus cpus;
	struct executions_listener *listener;
	bool is_big_endian;
	uint32_t nr_tasks;
	uint64_t last_ns;
};

/*
 * Find the current execution of a process. Returns EXECUTION_NONE if the execution is unknown, or
 * has ended.
 */
static size_t find_running(const struct loading *load, int32_t pid)
{
	size_t at = (uintptr_t)intmap_get(&load->running, (uint32_t)pid);

	return at && !load->out->all[at - 1].is_over ? at - 1 : EXECUTION_NONE;
}

/*
 * Append a copy of @made. The copy starts at load->last_ns, and has no children and no known CPUs.
 * Returns the index of the copy, or EXECUTION_NONE when memory is short.
 */
static size_t append_execution(struct loading *load, const struct execution *made)
{
	struct executions *out = load->out;
	struct execution *all = vec_grow(out->all, out->nr, sizeof(*all));

	if (!all)
		return EXECUTION_NONE;
	out->all = all;
	if (intmap_put(&load->running, (uint32_t)made->pid, (void *)(uintptr_t)(out->nr + 1)) < 0)
		return EXECUTION_NONE;
	all[out->nr] = *made;
	all[out->nr].start_ns = load->last_ns;
	all[out->nr].end_ns = UINT64_MAX;
	all[out->nr].first_child = EXECUTION_NONE;
	all[out->nr].last_child = EXECUTION_NONE;
	all[out->nr].next_child = EXECUTION_NONE;
	all[out->nr].first_place = EXECUTION_NONE;
	all[out->nr].last_place = EXECUTION_NONE;
	return out->nr++;
}

/* Make the first execution of a process whose parent is unknown. */
static struct execution stranger(struct loading *load, int32_t pid)
{
	return (struct execution){
		.pid = pid,
		.process = ++load->out->nr_processes,
		.task = ++load->nr_tasks,
		.parent = EXECUTION_NONE,
		.previous = EXECUTION_NONE,
		.program = "",
		.interpreter = "",
		.cwd = "",
		.args = "",
	};
}

static size_t find_or_add(struct loading *load, int32_t pid)
{
	size_t at = find_running(load, pid);
	struct execution made;

	if (at != EXECUTION_NONE)
		return at;
	made = stranger(load, pid);
	return append_execution(load, &made);
}

static void link_child(struct execution *all, size_t parent, size_t child)
{
	size_t last = all[parent].last_child;

	if (last == EXECUTION_NONE)
		all[parent].first_child = child;
	else
		all[last].next_child = child;
	all[parent].last_child = child;
}

static int take_fork(struct loading *load, const struct proc_record *rec)
{
	struct proc_fork made;

	if (!proc_fork_decode(rec->data, rec->len, load->is_big_endian, &made))
		return 0;
	/* A new thread is not a new process. */
	if (made.child_pid == rec->pid) {
		load->nr_tasks++;
		return 0;
	}

	size_t parent = find_or_add(load, rec->pid);

	if (parent == EXECUTION_NONE)
		return -ENOMEM;

	struct execution child = load->out->all[parent];

	child.pid = made.child_pid;
	child.process = ++load->out->nr_processes;
	child.task = ++load->nr_tasks;
	child.index = 0;
	child.how = made.how;
	child.flags = made.flags;
	child.parent = parent;
	child.previous = EXECUTION_NONE;

	size_t at = append_execution(load, &child);

	if (at == EXECUTION_NONE)
		return -ENOMEM;
	link_child(load->out->all, parent, at);
	return 0;
}

static char *put_terminated(char *to, const struct text *text)
{
	memcpy(to, text->at, text_left(text));
	to[text_left(text)] = '\0';
	return to + text_left(text) + 1;
}

/* Copy the texts of an exec into one block of memory, which begins with the program's name. */
static bool copy_texts(struct execution *made, const struct proc_exec *exec)
{
	size_t len = text_left(&exec->program) + text_left(&exec->interpreter) +
		     text_left(&exec->cwd) + text_left(&exec->args) + 4;
	char *to = malloc(len);

	if (!to)
		return false;
	made->program = to;
	made->interpreter = to = put_terminated(to, &exec->program);
	made->cwd = to = put_terminated(to, &exec->interpreter);
	made->args = to = put_terminated(to, &exec->cwd);
	made->args_len = text_left(&exec->args);
	put_terminated(to, &exec->args);
	/* In an invalid file the last argument may have no NUL. */
	if (made->args_len && made->args[made->args_len - 1])
		made->args_len++;
	return true;
}

static int take_exec(struct loading *load, const struct proc_record *rec)
{
	size_t before = find_running(load, rec->pid);
	struct execution made;
	struct proc_exec exec;

	if (!proc_exec_decode(rec->data, rec->len, load->is_big_endian, &exec))
		return 0;
	if (before == EXECUTION_NONE) {
		/*
		 * If proc.dat has no earlier fork or exec, number 1 belongs to the creator of this
		 * process (see execution.task).
		 */
		load->nr_tasks += !load->nr_tasks;
		made = stranger(load, rec->pid);
	} else {
		load->out->all[before].end_ns = load->last_ns;
		made = load->out->all[before];
	}
	made.previous = before;
	made.index++;
	if (!copy_texts(&made, &exec))
		return -ENOMEM;
	if (append_execution(load, &made) == EXECUTION_NONE) {
		free((char *)made.program);
		return -ENOMEM;
	}
	return 0;
}

/*
 * Handle the end of a task. When the task is the leader of a process, the process ends: the end of
 * the leader is recorded after the ends of the other tasks.
 */
static int take_exit(struct loading *load, const struct proc_record *rec)
{
	size_t at = find_running(load, rec->pid);
	int status;

	if (at == EXECUTION_NONE || rec->tid != rec->pid ||
	    !proc_exit_decode(rec->data, rec->len, load->is_big_endian, &status))
		return 0;
	load->out->all[at].is_over = true;
	load->out->all[at].status = status;
	load->out->all[at].end_ns = load->last_ns;
	return 0;
}

static int take_proc_record(struct loading *load, const struct proc_record *rec)
{
	/* Times rise, except in an invalid file. */
	load->last_ns = MAX(load->last_ns, rec->time_ns);
	switch (rec->kind) {
	case PROC_FORK:
		return take_fork(load, rec);
	case PROC_EXEC:
		return take_exec(load, rec);
	case PROC_EXIT:
		return take_exit(load, rec);
	default:
		return 0;
	}
}

/*
 * Compare the CPU of the record's task with the last known CPU of execution @at. If the CPUs
 * differ, append a struct execution_place with the new CPU to the list of the execution.
 */
static int note_place(struct loading *load, const struct proc_record *rec, size_t at)
{
	struct executions *out = load->out;
	int cpu = proc_cpus_of(&load->cpus, rec->tid);
	size_t last = at == EXECUTION_NONE ? EXECUTION_NONE : out->all[at].last_place;
	struct execution_place *places;

	if (at == EXECUTION_NONE || cpu == PROC_CPU_UNKNOWN ||
	    (last != EXECUTION_NONE && out->places[last].cpu == cpu))
		return 0;
	places = vec_grow(out->places, out->nr_places, sizeof(*places));
	if (!places)
		return -ENOMEM;
	out->places = places;
	places[out->nr_places] = (struct execution_place){ load->last_ns, cpu, EXECUTION_NONE };
	if (last == EXECUTION_NONE)
		out->all[at].first_place = out->nr_places;
	else
		places[last].next = out->nr_places;
	out->all[at].last_place = out->nr_places++;
	return 0;
}

/* A PROC_CPU record contains the CPU of a task. This CPU applies to later records of the task. */
static int take_place(struct loading *load, const struct proc_record *rec, size_t at)
{
	int ret = rec->kind == PROC_CPU ? 0 : note_place(load, rec, at);

	return ret < 0 ? ret : proc_cpus_see(&load->cpus, rec, load->is_big_endian);
}

static int take_and_tell(struct loading *load, const struct proc_record *rec)
{
	size_t at = find_running(load, rec->pid);
	int ret = take_proc_record(load, rec);

	if (ret < 0)
		return ret;
	if (rec->kind != PROC_EXIT)
		at = find_running(load, rec->pid);
	ret = take_place(load, rec, at);
	if (ret < 0 || !load->listener)
		return ret;
	return load->listener->see(load->listener, load->out, rec, at);
}

static void end_what_runs(struct loading *load)
{
	for (size_t i = 0; i < load->out->nr; i++) {
		if (load->out->all[i].end_ns == UINT64_MAX)
			load->out->all[i].end_ns = load->last_ns;
	}
}

static int load_all(struct loading *load, struct proc_file *file, struct uft_err *broken,
		    struct uft_err *err)
{
	struct proc_record rec;
	int ret = 0;

	while (ret == 0 && proc_file_next(file, &rec, broken) > 0)
		ret = take_and_tell(load, &rec);
	end_what_runs(load);
	return ret < 0 ? err_set_errno(err, ret, "cannot read '%s'", file->path) : 0;
}

int executions_load_heard(struct executions *executions, const char *dir, bool is_big_endian,
			  struct executions_listener *listener, struct uft_err *broken,
			  struct uft_err *err)
{
	struct loading load = { .out = executions,
				.listener = listener,
				.is_big_endian = is_big_endian };
	struct proc_file file cleanup_proc_file;
	int ret = proc_file_open(&file, dir, is_big_endian, err);

	if (ret == 0)
		ret = load_all(&load, &file, broken, err);
	intmap_deinit(&load.running);
	proc_cpus_deinit(&load.cpus);
	return ret;
}

int executions_load(struct executions *executions, const char *dir, bool is_big_endian,
		    struct uft_err *broken, struct uft_err *err)
{
	return executions_load_heard(executions, dir, is_big_endian, NULL, broken, err);
}

void executions_deinit(struct executions *executions)
{
	for (size_t i = 0; i < executions->nr; i++) {
		if (executions->all[i].index)
			free((char *)executions->all[i].program);
	}
	free(executions->all);
	free(executions->places);
	*executions = (struct executions){ 0 };
}

const char *execution_next_arg(const struct execution *execution, const char *arg)
{
	const char *end = execution->args + execution->args_len;

	arg = arg ? arg + strlen(arg) + 1 : execution->args;
	return arg < end ? arg : NULL;
}
