/* Executions as a picture (see tree.h). */
#include "utils/builddb/tree.h"

#include <string.h>
#include <sys/wait.h>

#include "utils/base/escape.h"
#include "utils/base/path.h"

/* Longer command lines are cut. */
#define LABEL_BYTES 60

/* True when the execution has a node. A forked child that only calls execve(2) has none. */
static bool is_shown(const struct execution *execution)
{
	return execution->index || execution->is_over || execution->first_child != EXECUTION_NONE;
}

/*
 * Returns the nearest execution before @at that has a node. The search goes through the earlier
 * executions of the process, then those of the parent process, and so on.
 */
static size_t shown_before(const struct executions *executions, size_t at)
{
	do {
		const struct execution *execution = &executions->all[at];

		at = execution->previous == EXECUTION_NONE ? execution->parent
							   : execution->previous;
	} while (at != EXECUTION_NONE && !is_shown(&executions->all[at]));
	return at;
}

static void put_command(struct sink *sink, const struct execution *execution)
{
	struct strbuf line cleanup_strbuf = { 0 };

	if (!execution->index)
		strbuf_addstr(&line, "fork of ");
	for (const char *arg = NULL;
	     line.len <= LABEL_BYTES && (arg = execution_next_arg(execution, arg)) != NULL;) {
		if (arg != execution->args)
			strbuf_addch(&line, ' ');
		strbuf_addstr(&line, arg == execution->args ? path_base(arg) : arg);
	}

	size_t len = escape_cut(strbuf_str(&line), LABEL_BYTES);

	sink_text(sink, strbuf_str(&line), len);
	if (len < line.len)
		sink_lit(sink, "...");
}

/* Write a node, and the edge to it. */
static void put_node(struct sink *sink, const struct executions *executions, size_t at)
{
	const struct execution *execution = &executions->all[at];
	size_t before = shown_before(executions, at);
	unsigned long long took_us = (execution->end_ns - execution->start_ns) / 1000;
	bool failed = execution->is_over && execution->status;

	sink_putf(sink, "  n%zu [label=\"", at);
	put_command(sink, execution);
	sink_putf(sink, "\\n%llu.%03llu ms", took_us / 1000, took_us % 1000);
	if (failed && WIFSIGNALED(execution->status))
		sink_putf(sink, ", signal %d", WTERMSIG(execution->status));
	else if (failed)
		sink_putf(sink, ", status %d", WEXITSTATUS(execution->status));
	sink_either(sink, failed, "\" color=red]\n", "\"]\n");
	if (before == EXECUTION_NONE)
		return;
	sink_putf(sink, "  n%zu -> n%zu", before, at);
	sink_either(sink, executions->all[before].process == execution->process,
		    " [style=dashed]\n", "\n");
}

void tree_dot(const struct executions *executions, struct sink *sink)
{
	sink->medium = MEDIUM_DOT;
	sink_lit(sink, "digraph processes {\n  rankdir=LR\n  node [shape=box]\n");
	for (size_t i = 0; i < executions->nr; i++) {
		if (is_shown(&executions->all[i]))
			put_node(sink, executions, i);
	}
	sink_lit(sink, "}\n");
}
