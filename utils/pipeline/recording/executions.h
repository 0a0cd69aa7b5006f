/* The executions of a recording: programs that processes ran, according to proc.dat. */
#ifndef UTRAIL_PIPELINE_EXECUTIONS_H
#define UTRAIL_PIPELINE_EXECUTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "utils/base/cleanup.h"
#include "utils/base/err.h"

#define EXECUTION_NONE SIZE_MAX

/*
 * An execution: a process from one execve(2) to the next, or to the end of the process. A forked
 * process begins with an execution that ends at the first execve(2) of the process. In this first
 * execution, @program, @interpreter, @cwd and @args are pointers to the texts of the parent's
 * execution.
 *
 * The index of an execution that does not exist is EXECUTION_NONE. Unknown texts are "". Paths are
 * as in proc.dat.
 *
 * @start_ns, @end_ns: times of the recording's clock; if the end was not recorded, @end_ns is the
 *                     last time of the file
 * @pid: in the recorder's pid namespace; may be reused
 * @process: the number of the process: 1, 2, ...; never reused
 * @task: the number of the process's first thread in the etrace text (doc/formats/etrace.md). All
 *        threads of all processes are numbered: 1, 2, ... If proc.dat has an exec before the first
 *        fork, @task is 2 for the process of this exec. Number 1 then stands for the creator of
 *        this process
 * @index: 0 before the process's first execve(2), then 1, 2, ...
 * @how: the call that made the process (enum proc_fork_how), 0: unknown
 * @flags: flags of clone(2); 0: unknown, or another call made the process
 * @parent: the execution that has forked the process; EXECUTION_NONE: the parent was not traced
 * @previous: the execution of the same process before this one
 * @first_child: the first execution of the first process that this execution has forked
 * @next_child: only with @index 0: the first execution of the next process that @parent has forked
 *              after this process; EXECUTION_NONE: there is no such process
 * @program: the file to be executed, for example a script
 * @interpreter: the file that runs, different from @program only for scripts
 * @args, @args_len: the arguments, each with a NUL after it
 * @first_place, @last_place: indices in executions.places: the first and last known CPU of the
 *                            execution; EXECUTION_NONE: no CPU is known
 * @is_over: the process has ended in this execution; @status is as from wait(2)
 */
struct execution {
	uint64_t start_ns;
	uint64_t end_ns;
	int32_t pid;
	uint32_t process;
	uint32_t task;
	uint32_t index;
	uint32_t how;
	uint64_t flags;
	size_t parent;
	size_t previous;
	size_t first_child;
	size_t last_child;
	size_t next_child;
	const char *program;
	const char *interpreter;
	const char *cwd;
	const char *args;
	size_t args_len;
	size_t first_place;
	size_t last_place;
	bool is_over;
	int status;
};

/*
 * The CPU on which a thread of an execution was, from @time_ns. @next: the index in
 * executions.places of the execution's next place, which may be of another thread; EXECUTION_NONE:
 * there is no next place
 */
struct execution_place {
	uint64_t time_ns;
	int cpu;
	size_t next;
};

/*
 * @all: ordered by start time. An execution has a larger index than its @parent and its @previous
 * @places: places of all executions
 *
 * Starts as { 0 }, ends with executions_deinit().
 */
struct executions {
	struct execution *all;
	size_t nr;
	struct execution_place *places;
	size_t nr_places;
	uint32_t nr_processes;
};

/*
 * Read the executions of the data directory @dir. If proc.dat is damaged, @broken describes the
 * damage, and the records before the damage are used. Returns 0, -ENOENT when @dir has no proc.dat,
 * or another negative errno with @err.
 */
int executions_load(struct executions *executions, const char *dir, bool is_big_endian,
		    struct uft_err *broken, struct uft_err *err);

struct proc_record;

/*
 * A listener for the records from which executions are read.
 *
 * @see: called for each record; returns 0 or a negative errno
 * @at: the execution of the record's process. For the record of an exec: the new execution. For the
 *      record of an exit: the execution that has ended. EXECUTION_NONE: unknown
 *
 * When a fork has made a process, the child's execution is the last of @executions.
 */
struct executions_listener {
	int (*see)(struct executions_listener *listener, const struct executions *executions,
		   const struct proc_record *rec, size_t at);
};

/* Like executions_load(). In addition, listener->see() is called for each record. */
int executions_load_heard(struct executions *executions, const char *dir, bool is_big_endian,
			  struct executions_listener *listener, struct uft_err *broken,
			  struct uft_err *err);
void executions_deinit(struct executions *executions);
#define cleanup_executions cleanup(executions_deinit)

/* Find the argument after @arg, or the first argument if @arg is NULL. Returns NULL at the end. */
const char *execution_next_arg(const struct execution *execution, const char *arg);

#endif
