/* Executions as slices (see execs.h). */
#include "utils/export/execs.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/wait.h>

#include "utils/base/compiler.h"
#include "utils/base/path.h"

static bool is_chosen(const struct pipeline *pipe, const struct execution *execution)
{
	const struct task *task = data_task(pipe->data, execution->pid);

	if (task && !pipeline_selects(&pipe->config, task))
		return false;
	return execution->end_ns >= pipe->start_ns && execution->start_ns <= pipe->stop_ns;
}

static void set_end(struct exec_slice *slice, const struct pipeline *pipe)
{
	const struct execution *execution = slice->is;

	slice->status = -1;
	if (!execution->is_over || execution->end_ns > pipe->stop_ns)
		return;
	if (WIFSIGNALED(execution->status))
		slice->signal = WTERMSIG(execution->status);
	else
		slice->status = WEXITSTATUS(execution->status);
}

/*
 * Make the slices.
 *
 * @numbers: for each execution: the index of the execution's slice. If the execution has no slice:
 *           the index of the slice of the nearest ancestor that has a slice. If no ancestor has a
 *           slice either: EXECUTION_NONE
 * @has_shown: for each process: false at first, and true when a slice belongs to the process
 */
static void choose_executions(struct exec_slices *slices, const struct pipeline *pipe,
			      size_t *numbers, bool *has_shown)
{
	const struct executions *executions = &slices->executions;

	for (size_t i = 0; i < executions->nr; i++) {
		const struct execution *execution = &executions->all[i];
		struct exec_slice *slice = &slices->all[slices->nr];
		size_t parent = execution->parent;

		/* The element of an execution without a slice is a copy of the parent's element. */
		numbers[i] = parent == EXECUTION_NONE ? EXECUTION_NONE : numbers[parent];
		if (!is_chosen(pipe, execution))
			continue;
		*slice = (struct exec_slice){
			.is = execution,
			.start_ns = MAX(execution->start_ns, pipe->start_ns),
			.end_ns = MIN(execution->end_ns, pipe->stop_ns),
			.parent = numbers[i],
		};
		slice->is_first = !has_shown[execution->process];
		has_shown[execution->process] = true;
		set_end(slice, pipe);
		numbers[i] = slices->nr++;
	}
}

int exec_slices_load(struct exec_slices *slices, const struct pipeline *pipe, struct uft_err *err)
{
	const struct trace_data *data = pipe->data;
	struct uft_err broken = { 0 };
	bool *has_shown;
	size_t *numbers;
	int ret;

	if (!pipe->config.stages.show_events)
		return 0;
	ret = executions_load(&slices->executions, data->dir, data->is_big_endian, &broken, err);
	if (ret < 0)
		return ret == -ENOENT ? 0 : ret;
	slices->all = calloc(slices->executions.nr + 1, sizeof(*slices->all));
	numbers = calloc(slices->executions.nr + 1, sizeof(*numbers));
	has_shown = calloc(slices->executions.nr_processes + 1, sizeof(*has_shown));
	if (slices->all && numbers && has_shown)
		choose_executions(slices, pipe, numbers, has_shown);
	else
		ret = err_set_errno(err, -ENOMEM, "cannot export");
	free(has_shown);
	free(numbers);
	return ret;
}

void exec_slices_deinit(struct exec_slices *slices)
{
	free(slices->all);
	executions_deinit(&slices->executions);
	*slices = (struct exec_slices){ 0 };
}

void exec_put_name(struct strbuf *out, const struct execution *execution)
{
	const char *name = path_base(execution->program);

	if (!execution->index)
		strbuf_addstr(out, *name ? "fork of " : "fork");
	/* If an execution began before the recording, its program is unknown. */
	else if (!*name)
		strbuf_addstr(out, "?");
	strbuf_addstr(out, name);
}
