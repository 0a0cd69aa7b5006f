/* Executions of the page (see executions.h). */
#include "utils/export/page/executions.h"

#include <errno.h>

#include "utils/base/escape.h"
#include "utils/export/execs.h"
#include "utils/export/page/marks.h"

#define COMMAND_BYTES 400

/*
 * Write the beginning of the command line. The rest is left out, because the command line of a
 * linker may name thousands of object files.
 */
static void add_command(struct strbuf *out, const struct execution *execution)
{
	struct strbuf line cleanup_strbuf = { 0 };
	struct strbuf begin cleanup_strbuf = { 0 };

	for (const char *arg = NULL;
	     line.len <= COMMAND_BYTES && (arg = execution_next_arg(execution, arg)) != NULL;) {
		strbuf_addstr(&line, arg == execution->args ? "" : " ");
		strbuf_addstr(&line, arg);
	}

	size_t len = escape_cut(strbuf_str(&line), COMMAND_BYTES);

	strbuf_add(&begin, strbuf_str(&line), len);
	strbuf_addstr(&begin, len < line.len ? " ..." : "");
	page_put_string(out, MEDIUM_SCRIPT, strbuf_str(&begin));
	out->oom |= strbuf_oom(&line) || strbuf_oom(&begin);
}

static void put_execution(struct strbuf *out, const struct exec_slice *slice, uint64_t first_ns)
{
	struct strbuf name cleanup_strbuf = { 0 };

	exec_put_name(&name, slice->is);
	/* The start is negative if the execution begins before the first record. */
	strbuf_addf(out, "{\"pid\":%d,\"process\":%u,\"start\":%lld,\"dur\":%llu,\"name\":",
		    slice->is->pid, slice->is->process, (long long)(slice->start_ns - first_ns),
		    (unsigned long long)(slice->end_ns - slice->start_ns));
	page_put_string(out, MEDIUM_SCRIPT, strbuf_str(&name));
	out->oom |= strbuf_oom(&name);
	strbuf_addstr(out, ",\"command\":");
	add_command(out, slice->is);
	strbuf_addstr(out, ",\"cwd\":");
	page_put_string(out, MEDIUM_SCRIPT, slice->is->cwd);
	if (slice->parent != EXECUTION_NONE)
		strbuf_addf(out, ",\"parent\":%zu", slice->parent);
	if (slice->status >= 0)
		strbuf_addf(out, ",\"status\":%d", slice->status);
	if (slice->signal)
		strbuf_addf(out, ",\"signal\":%d", slice->signal);
	strbuf_addch(out, '}');
}

int executions_put(struct strbuf *out, const struct pipeline *pipe, size_t max_bytes,
		   size_t *nr_left, struct uft_err *err)
{
	struct exec_slices slices cleanup_exec_slices = { 0 };
	const size_t before = out->len;
	int ret = exec_slices_load(&slices, pipe, err);
	size_t nr = 0;

	for (; ret == 0 && nr < slices.nr && out->len - before < max_bytes; nr++) {
		strbuf_addstr(out, nr ? ",\n" : "\n");
		put_execution(out, &slices.all[nr], pipe->first_ns);
	}
	*nr_left = slices.nr - nr;
	if (ret == 0 && strbuf_oom(out))
		ret = err_set_errno(err, -ENOMEM, "cannot show the processes");
	return ret;
}
