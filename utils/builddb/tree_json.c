/* Executions as JSON (see tree.h). */
#include "utils/builddb/tree.h"

#include <signal.h>
#include <string.h>
#include <sys/wait.h>

#include "utils/format/proc_dat.h"
#include "utils/builddb/json.h"
#include "utils/builddb/tree_files.h"

/* clone(2)'s flags of fork(2), and of vfork(2). */
#define FORK_FLAGS  SIGCHLD
#define VFORK_FLAGS (0x100 | 0x4000 | SIGCHLD)

/* "r": who has made the process. */
static void put_parent(struct strbuf *out, const struct executions *executions,
		       const struct execution *execution)
{
	if (execution->parent == EXECUTION_NONE) {
		strbuf_addstr(out, ",\"r\":{\"p\":-1,\"x\":-1}");
		return;
	}

	const struct execution *parent = &executions->all[execution->parent];

	strbuf_addf(out, ",\"r\":{\"p\":%llu,\"x\":%u}", tree_process_number(parent),
		    parent->index);
}

/* 0: they are not known. */
static unsigned long long flags_of(const struct execution *made)
{
	if (made->flags)
		return made->flags;
	if (made->how == PROC_BY_FORK)
		return FORK_FLAGS;
	return made->how == PROC_BY_VFORK ? VFORK_FLAGS : 0;
}

/* "c": which processes it has made, and what clone(2) was told, or would have been. */
static void put_children(struct strbuf *out, const struct executions *executions,
			 const struct execution *execution)
{
	size_t next = execution->first_child;

	strbuf_addstr(out, ",\"c\":[");
	while (next != EXECUTION_NONE) {
		const struct execution *child = &executions->all[next];

		strbuf_addf(out, "%s{\"p\":%llu", next == execution->first_child ? "" : ",",
			    tree_process_number(child));
		if (flags_of(child))
			strbuf_addf(out, ",\"f\":%llu", flags_of(child));
		strbuf_addch(out, '}');
		next = child->next_child;
	}
	strbuf_addch(out, ']');
}

/* "u": on which CPUs it was seen, and from when on. */
static void put_places(struct strbuf *out, const struct executions *executions,
		       const struct execution *execution)
{
	size_t next = execution->first_place;

	strbuf_addstr(out, ",\"u\":[");
	while (next != EXECUTION_NONE) {
		const struct execution_place *place = &executions->places[next];

		strbuf_addf(out, "%s{\"c\":%d,\"t\":%llu}",
			    next == execution->first_place ? "" : ",", place->cpu,
			    (unsigned long long)(place->time_ns - executions->all[0].start_ns));
		next = place->next;
	}
	strbuf_addch(out, ']');
}

static bool put_text(struct strbuf *out, const char *key, const char *text)
{
	strbuf_addf(out, ",\"%s\":", key);
	return json_string(out, text);
}

static bool put_arguments(struct strbuf *out, const struct execution *execution)
{
	bool is_exact = true;

	strbuf_addstr(out, ",\"v\":[");
	for (const char *arg = NULL; (arg = execution_next_arg(execution, arg)) != NULL;) {
		if (arg != execution->args)
			strbuf_addch(out, ',');
		is_exact &= json_string(out, arg);
	}
	strbuf_addch(out, ']');
	return is_exact;
}

static bool put_execution(struct strbuf *out, const struct executions *executions,
			  const struct files *files, size_t at)
{
	const struct execution *execution = &executions->all[at];
	uint64_t first_ns = executions->all[0].start_ns;
	bool is_exact = true;

	strbuf_addf(out, "{\"p\":%llu,\"x\":%u,\"s\":%llu,\"e\":%llu",
		    tree_process_number(execution), execution->index,
		    (unsigned long long)(execution->start_ns - first_ns),
		    (unsigned long long)(execution->end_ns - execution->start_ns));
	is_exact &= put_text(out, "b", execution->program);
	is_exact &= put_text(out, "w", execution->cwd);
	is_exact &= put_arguments(out, execution);
	put_children(out, executions, execution);
	put_parent(out, executions, execution);
	put_places(out, executions, execution);
	if (execution->is_over)
		strbuf_addf(out, ",\"!\":%d",
			    WIFEXITED(execution->status) ? WEXITSTATUS(execution->status) : 0);
	if (execution->is_over && WIFSIGNALED(execution->status))
		strbuf_addf(out, ",\"signal\":%d", WTERMSIG(execution->status));
	strbuf_addf(out, ",\"pid\":%d", execution->pid);
	if (strcmp(execution->program, execution->interpreter) != 0)
		is_exact &= put_text(out, "interpreter", execution->interpreter);
	if (files) {
		tree_readers_json(executions, files, at, out);
		is_exact &= tree_files_json(executions, files, at, out);
	}
	strbuf_addch(out, '}');
	return is_exact;
}

bool tree_json(const struct executions *executions, const struct files *files, struct strbuf *out)
{
	bool is_exact = true;

	strbuf_addch(out, '[');
	for (size_t i = 0; i < executions->nr; i++) {
		strbuf_addstr(out, i ? ",\n" : "\n");
		is_exact &= put_execution(out, executions, files, i);
	}
	strbuf_addstr(out, "\n]\n");
	return is_exact;
}
