/* The tasks of a kernel trace: tasks that have records, and their names. */
#ifndef UTRAIL_CMDS_IMPORT_KERNEL_TASKS_H
#define UTRAIL_CMDS_IMPORT_KERNEL_TASKS_H

#include "cmds/record/store/store.h"
#include "utils/base/containers/intmap.h"
#include "utils/format/text.h"

/*
 * @name: the task's name, a part of kernel_trace_tasks.text; or NULL
 * @cpu: the CPU of an idle task; -1 for other tasks
 */
struct kernel_trace_task {
	int32_t tid;
	int32_t cpu;
	uint64_t first_ns;
	const char *name;
};

/*
 * The tasks. Starts as { 0 } with @max set, and ends with kernel_trace_tasks_deinit().
 *
 * @max: the maximum number of tasks; a value above IMPORT_TASKS_MAX counts as IMPORT_TASKS_MAX
 * @names: for each tid whose name is known, a pointer to the name in @text
 */
struct kernel_trace_tasks {
	struct kernel_trace_task **all;
	size_t nr;
	size_t max;
	struct intmap by_tid;
	struct intmap names;
	char *text;
	struct kernel_trace_task *last;
};

/*
 * Take the names of tasks from lines "<tid> <name>", as in the kernel's saved_cmdlines. Lines of
 * another form are skipped. Returns 0 or -ENOMEM.
 */
int kernel_trace_tasks_name(struct kernel_trace_tasks *tasks, struct text cmdlines);

/*
 * Note the task @tid, which has made a record on CPU @cpu. Returns 0, -ENOMEM, or -E2BIG when there
 * are too many tasks.
 *
 * @tid: 0 is the idle task of the CPU
 * @number: gets the task's number in the recording
 */
int kernel_trace_tasks_see(struct kernel_trace_tasks *tasks, int32_t tid, uint32_t cpu,
			   uint64_t time_ns, int32_t *number);

/*
 * Write task.txt, and the map files of the sessions in task.txt. For each task, write an empty file
 * of records. Returns 0, or a negative error with @err.
 */
int kernel_trace_tasks_write(const struct kernel_trace_tasks *tasks, struct store *store,
			     struct uft_err *err);
void kernel_trace_tasks_deinit(struct kernel_trace_tasks *tasks);

#endif
