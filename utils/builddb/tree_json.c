/* Executions as JSON (see tree.h). */
#include "utils/builddb/tree.h"

#include <signal.h>
#include <string.h>
#include <sys/wait.h>

#include "utils/format/proc_dat.h"
#include "utils/builddb/tree_files.h"

/* clone(2) with FORK_FLAGS acts like fork(2). clone(2) with VFORK_FLAGS acts like vfork(2). */
#define FORK_FLAGS  SIGCHLD
#define VFORK_FLAGS (0x100 | 0x4000 | SIGCHLD)

/* Write "r": the execution that has forked the process of @execution. */
static void put_parent(struct sink *sink, const struct executions *executions,
		       const struct execution *execution)
{
	if (execution->parent == EXECUTION_NONE) {
		sink_lit(sink, ",\"r\":{\"p\":-1,\"x\":-1}");
		return;
	}

	const struct execution *parent = &executions->all[execution->parent];

	sink_putf(sink, ",\"r\":{\"p\":%llu,\"x\":%u}", tree_process_number(parent), parent->index);
}

/* Returns the flags of clone(2) that made the process, or 0 when they are unknown. */
static unsigned long long flags_of(const struct execution *made)
{
	if (made->flags)
		return made->flags;
	if (made->how == PROC_BY_FORK)
		return FORK_FLAGS;
	return made->how == PROC_BY_VFORK ? VFORK_FLAGS : 0;
}

/*
 * Write "c": the list of the processes that @execution has made. If the flags of clone(2) are known
 * for a process, the process has the member "f" with these flags.
 */
static void put_children(struct sink *sink, const struct executions *executions,
			 const struct execution *execution)
{
	size_t next = execution->first_child;

	sink_lit(sink, ",\"c\":[");
	while (next != EXECUTION_NONE) {
		const struct execution *child = &executions->all[next];

		sink_either(sink, next == execution->first_child, "", ",");
		sink_putf(sink, "{\"p\":%llu", tree_process_number(child));
		if (flags_of(child))
			sink_putf(sink, ",\"f\":%llu", flags_of(child));
		sink_lit(sink, "}");
		next = child->next_child;
	}
	sink_lit(sink, "]");
}

/*
 * Write "u": the CPUs on which the execution was seen, each with the time when the execution was
 * first seen on it.
 */
static void put_places(struct sink *sink, const struct executions *executions,
		       const struct execution *execution)
{
	size_t next = execution->first_place;

	sink_lit(sink, ",\"u\":[");
	while (next != EXECUTION_NONE) {
		const struct execution_place *place = &executions->places[next];

		sink_either(sink, next == execution->first_place, "", ",");
		sink_putf(sink, "{\"c\":%d,\"t\":%llu}", place->cpu,
			  (unsigned long long)(place->time_ns - executions->all[0].start_ns));
		next = place->next;
	}
	sink_lit(sink, "]");
}

static void put_arguments(struct sink *sink, const struct execution *execution)
{
	sink_lit(sink, ",\"v\":[");
	for (const char *arg = NULL; (arg = execution_next_arg(execution, arg)) != NULL;) {
		sink_either(sink, arg == execution->args, "", ",");
		sink_quoted(sink, arg);
	}
	sink_lit(sink, "]");
}

static void put_execution(struct sink *sink, const struct executions *executions,
			  const struct files *files, size_t at)
{
	const struct execution *execution = &executions->all[at];
	uint64_t first_ns = executions->all[0].start_ns;

	sink_putf(sink, "{\"p\":%llu,\"x\":%u,\"s\":%llu,\"e\":%llu,\"b\":",
		  tree_process_number(execution), execution->index,
		  (unsigned long long)(execution->start_ns - first_ns),
		  (unsigned long long)(execution->end_ns - execution->start_ns));
	sink_quoted(sink, execution->program);
	sink_lit(sink, ",\"w\":");
	sink_quoted(sink, execution->cwd);
	put_arguments(sink, execution);
	put_children(sink, executions, execution);
	put_parent(sink, executions, execution);
	put_places(sink, executions, execution);
	if (execution->is_over)
		sink_putf(sink, ",\"!\":%d",
			  WIFEXITED(execution->status) ? WEXITSTATUS(execution->status) : 0);
	if (execution->is_over && WIFSIGNALED(execution->status))
		sink_putf(sink, ",\"signal\":%d", WTERMSIG(execution->status));
	sink_putf(sink, ",\"pid\":%d", execution->pid);
	if (strcmp(execution->program, execution->interpreter) != 0) {
		sink_lit(sink, ",\"interpreter\":");
		sink_quoted(sink, execution->interpreter);
	}
	if (files) {
		tree_readers_json(executions, files, at, sink);
		tree_files_json(executions, files, at, sink);
	}
	sink_lit(sink, "}");
}

void tree_json(const struct executions *executions, const struct files *files, struct sink *sink)
{
	sink->medium = MEDIUM_JSON;
	sink_lit(sink, "[");
	for (size_t i = 0; i < executions->nr; i++) {
		sink_either(sink, i, ",\n", "\n");
		put_execution(sink, executions, files, i);
	}
	sink_lit(sink, "\n]\n");
}
