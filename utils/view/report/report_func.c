/* Views about one function (see report_func.h). */
#include "utils/view/report/report_func.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "utils/base/containers/vec.h"
#include "utils/view/graph/callers.h"
#include "utils/view/values/number.h"
#include "utils/view/report/report_hist.h"
#include "utils/base/units.h"

static int not_called(const char *name, struct uft_err *err)
{
	return err_set(err, -ENOENT, "cannot report on '%s': it was not called", name);
}

static bool concerns(const struct call_pair *pair, const char *name, enum report_func_kind kind)
{
	const struct func *func = kind == REPORT_CALLERS ? pair->callee : pair->caller;

	return func && func_is_called(func, name);
}

static const char *other_of(const struct call_pair *pair, enum report_func_kind kind)
{
	if (kind == REPORT_CALLEES)
		return pair->callee->name;
	return pair->caller ? pair->caller->name : "(not recorded)";
}

static int compare_pairs(const void *a, const void *b)
{
	const struct call_pair *x = a;
	const struct call_pair *y = b;

	if (x->total_ns != y->total_ns)
		return x->total_ns > y->total_ns ? -1 : 1;
	return x->calls > y->calls ? -1 : x->calls < y->calls;
}

int report_func_pairs(const struct tree *tree, const char *name, enum report_func_kind kind,
		      enum color_mode color, struct sink *sink, struct uft_err *err)
{
	struct callers callers cleanup(callers_deinit) = { 0 };
	int ret = callers_add_up(&callers, tree, false, err);
	bool was_called = false;

	if (ret < 0)
		return ret;
	for (size_t i = 0; i < callers.nr; i++)
		was_called |= concerns(&callers.pairs[i], name, REPORT_CALLERS);
	if (!was_called)
		return not_called(name, err);
	qsort(callers.pairs, callers.nr, sizeof(*callers.pairs), compare_pairs);
	sink_lit(sink, "  Total time   Self time       Calls  ");
	sink_either(sink, kind == REPORT_CALLERS, "Caller of ", "Callee of ");
	sink_str(sink, name);
	sink_lit(sink, "\n  ==========  ==========  ==========  ====================\n");
	for (size_t i = 0; i < callers.nr; i++) {
		const struct call_pair *pair = &callers.pairs[i];

		if (!concerns(pair, name, kind))
			continue;
		report_put_time(pair->total_ns, color, sink);
		report_put_time(pair->self_ns, color, sink);
		sink_putf(sink, "  %10llu  ", (unsigned long long)pair->calls);
		sink_str(sink, other_of(pair, kind));
		sink_lit(sink, "\n");
	}
	return 0;
}

void calls_of_func_deinit(struct calls_of_func *calls)
{
	hist_deinit(&calls->hist);
	free(calls->is_it);
}

static int look_at_func(struct calls_of_func *calls, const struct func *func)
{
	uint8_t *is_it = vec_reach(calls->is_it, &calls->nr_is_it, func->id, sizeof(*is_it));

	if (!is_it)
		return -ENOMEM;
	calls->is_it = is_it;
	if (!calls->is_it[func->id])
		calls->is_it[func->id] = func_is_called(func, calls->name) ? 1 : 2;
	return calls->is_it[func->id] == 1;
}

static void note_slow(struct calls_of_func *calls, const struct task *task,
		      const struct event *event)
{
	uint64_t total_ns = time_abs(event->total_ns);
	size_t at = calls->nr_slow;

	if (at == SLOWEST_NR && total_ns <= calls->slow[SLOWEST_NR - 1].total_ns)
		return;
	if (at == SLOWEST_NR)
		at--;
	else
		calls->nr_slow++;
	for (; at > 0 && calls->slow[at - 1].total_ns < total_ns; at--)
		calls->slow[at] = calls->slow[at - 1];
	calls->slow[at] = (struct slow_call){
		.task = task,
		.start_ns = event->time_ns - event->total_ns,
		.total_ns = total_ns,
	};
}

int calls_of_func_events(void *self, const struct event_span *span, struct uft_err *err)
{
	struct calls_of_func *calls = self;

	for (size_t i = 0; i < span->nr; i++) {
		const struct event *event = &span->events[i];
		bool is_call = event->type == EVENT_EXIT ||
			       (event->type == EVENT_SCHED_IN && !(event->flags & EVENT_UNPAIRED));
		int ret = is_call ? look_at_func(calls, event->func) : 0;

		if (ret == 0)
			continue;
		if (ret < 0 || hist_add(&calls->hist, time_abs(event->total_ns)) < 0)
			return err_set_errno(err, -ENOMEM, "cannot add up calls");
		note_slow(calls, span->task, event);
	}
	return 0;
}

int report_histogram(const struct calls_of_func *calls, enum color_mode color, struct sink *sink,
		     struct uft_err *err)
{
	if (calls->hist.nr == 0)
		return not_called(calls->name, err);
	sink_lit(sink, "        From     Up to       Calls  Total time of ");
	sink_str(sink, calls->name);
	sink_lit(sink, "\n  ==========  ==========  ==========  ====================\n");
	hist_put_rows(&calls->hist, color, sink);
	return 0;
}

/* Write the text as a word for a shell. */
static void put_quoted(const char *text, struct sink *sink)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
				    "0123456789_-+=./:,@%";

	if (*text && strspn(text, plain) == strlen(text)) {
		sink_str(sink, text);
		return;
	}

	struct strbuf quoted cleanup_strbuf = { 0 };

	strbuf_addch(&quoted, '\'');
	for (; *text; text++) {
		if (*text == '\'')
			strbuf_addstr(&quoted, "'\\''");
		else
			strbuf_addch(&quoted, *text);
	}
	strbuf_addch(&quoted, '\'');
	sink_text(sink, strbuf_str(&quoted), quoted.len);
}

static void put_stamp(uint64_t ns, struct sink *sink)
{
	sink_putf(sink, SECONDS_FORMAT, SECONDS_OF(ns));
}

int report_slowest(const struct calls_of_func *calls, const char *dir, enum color_mode color,
		   struct sink *sink, struct uft_err *err)
{
	if (calls->nr_slow == 0)
		return not_called(calls->name, err);
	sink_lit(sink, "  Total time               Start      TID  To see it\n"
		       "  ==========  ==================  =======  ====================\n");
	for (size_t i = 0; i < calls->nr_slow; i++) {
		const struct slow_call *call = &calls->slow[i];

		report_put_time(call->total_ns, color, sink);
		sink_lit(sink, "  ");
		sink_done(sink, put_timestamp(sink_room(sink, 64), call->start_ns));
		sink_putf(sink, "  %7d  utrail replay -d ", call->task->tid);
		put_quoted(dir, sink);
		sink_putf(sink, " --tid %d -r ", call->task->tid);
		put_stamp(call->start_ns, sink);
		sink_lit(sink, "~");
		put_stamp(call->start_ns + call->total_ns, sink);
		sink_lit(sink, "\n");
	}
	return 0;
}
