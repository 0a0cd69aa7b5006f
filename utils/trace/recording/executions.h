/*
 * Programs that processes ran: the executions of a recording, made of forks, execs and exits
 * (proc.dat).
 */
#ifndef UTRAIL_TRACE_EXECUTIONS_H
#define UTRAIL_TRACE_EXECUTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "utils/base/cleanup.h"
#include "utils/base/err.h"

#define EXECUTION_NONE SIZE_MAX

/*
 * A process, from one execve(2) to the next one or to its end. Its time before its first execve(2)
 * is an execution, too, with the texts of the one that forked it.
 *
 * @start_ns, @end_ns: of the recording's clock; the end is the file's last time when nothing tells
 *                     of one
 * @pid: as the recorder saw it; numbers are used again, @process is not: it counts processes from
 *       1. @task: the same for the etrace text, which counts all tasks, and whoever has made the
 *       program (doc/formats/etrace.md)
 * @index: 0 before the first execve(2), then 1, 2, ...
 * @how: the call that made the process (enum proc_fork_how), 0: nothing tells; @flags: of clone(2),
 *       0: they are not known, or it was another call
 * @parent: the execution that has forked the process; EXECUTION_NONE: nobody that was traced. The
 *          same in all executions of a process
 * @previous: the execution of the same process before this one
 * @first_child, @next_child: the first executions of the processes that it has forked, by time; of
 * these the next one. EXECUTION_NONE: no more
 * @program: the file that was to be executed; of a script the script. @interpreter: the file that
 *           runs, the same one but for scripts
 * @cwd: the working directory
 * @first_place, @last_place: the CPUs it ran on, by time: in executions.places. EXECUTION_NONE: not
 * known
 * @args, @args_len: the arguments, each with a NUL after it
 * @is_over: the process has ended with it, and @status is of wait(2)
 *
 * Texts are "" when they are not known. Paths are as in proc.dat.
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
 * From @time_ns on the threads of an execution were seen on @cpu. @next: the next one of the same
 * execution, EXECUTION_NONE: no more
 */
struct execution_place {
	uint64_t time_ns;
	int cpu;
	size_t next;
};

/*
 * @all: in the order of their beginnings, so that parents and previous ones are in front
 * @places: of all of them
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
 * Read those of the data directory @dir. 0; -ENOENT when acts of processes were not recorded;
 * negative with @err. A damaged file is told in @broken, and all before the damage is there.
 */
int executions_load(struct executions *executions, const char *dir, bool is_big_endian,
		    struct uft_err *broken, struct uft_err *err);

struct proc_record;

/*
 * A user that is told of each record while executions are read. @at: the execution that the
 * record's process is in (after an exec the new one, before an exit the one that ends);
 * EXECUTION_NONE: nothing is known of it. For a fork that made a process, the child's is the last
 * of all. 0 or negative.
 */
struct executions_listener {
	int (*see)(struct executions_listener *listener, const struct executions *executions,
		   const struct proc_record *rec, size_t at);
};

/* The same, and @listener is told of all that is read. */
int executions_load_heard(struct executions *executions, const char *dir, bool is_big_endian,
			  struct executions_listener *listener, struct uft_err *broken,
			  struct uft_err *err);
void executions_deinit(struct executions *executions);
#define cleanup_executions cleanup(executions_deinit)

/* The argument after @arg, NULL: the first one. NULL at the end. */
const char *execution_next_arg(const struct execution *execution, const char *arg);

#endif
