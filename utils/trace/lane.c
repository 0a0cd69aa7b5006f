/* One task's way from its records to what a view gets (see pipeline.h). */
#include <errno.h>
#include <stdlib.h>

#include "utils/trace/pipeline.h"

static uint64_t next_perf_ns(const struct lane *lane)
{
	if (!lane->perf || lane->perf_at == lane->perf->nr)
		return UINT64_MAX;
	return lane->perf->events[lane->perf_at].time_ns;
}

static void make_perf_event(const struct perf_event *perf, struct event *event)
{
	*event = (struct event){
		.time_ns = perf->time_ns,
		.addr = perf->id,
		.type = EVENT_POINT,
	};
	switch (perf->id) {
	case EVENT_ID_SCHED_IN:
		event->type = EVENT_SCHED_IN;
		break;
	case EVENT_ID_SCHED_OUT_PREEMPT:
		event->flags = EVENT_PREEMPTED;
		event->type = EVENT_SCHED_OUT;
		break;
	case EVENT_ID_SCHED_OUT:
		event->type = EVENT_SCHED_OUT;
		break;
	default:
		break;
	}
	event->data_len = MIN(perf->cpu, (uint32_t)UINT16_MAX);
}

/* A task whose file is damaged ends here; the others go on. */
static void note_damage(struct pipeline *pipe, const struct uft_err *why)
{
	err_set(&pipe->broken, why->code, "%s", why->text);
}

/* Records and perf events of the task by time. 0 is the end. */
static ssize_t read_batch(struct lane *lane, struct event *events, size_t max)
{
	size_t nr = 0;

	while (nr < max) {
		uint64_t perf_ns = next_perf_ns(lane);
		ssize_t n = 0;

		if (!lane->user.at_end) {
			struct uft_err why = { 0 };

			n = src_user_read(&lane->user, events + nr, max - nr, perf_ns, &why);
			if (n < 0) {
				note_damage(lane->pipe, &why);
				lane->user.at_end = true;
				n = 0;
			}
		}
		nr += n;
		/* Payloads are in the source's buffer, which the next read moves. */
		if (n && perf_ns == UINT64_MAX)
			break;
		if (n)
			continue;
		if (perf_ns != UINT64_MAX)
			make_perf_event(&lane->perf->events[lane->perf_at++], &events[nr++]);
		else if (lane->user.at_end)
			break;
	}
	return nr;
}

/* Cut off what is outside of the time range; behind it nothing more is read. */
static size_t cut_range(struct lane *lane, struct event *events, size_t nr)
{
	const struct pipeline *pipe = lane->pipe;
	size_t kept = 0;

	for (size_t i = 0; i < nr; i++) {
		if (events[i].time_ns > pipe->stop_ns) {
			lane->at_end = true;
			break;
		}
		if (events[i].time_ns < pipe->start_ns)
			continue;
		if (kept != i)
			events[kept] = events[i];
		kept++;
	}
	return kept;
}

static int make_room(struct lane *lane, size_t nr)
{
	if (nr <= lane->cap)
		return 0;

	struct event *events = reallocarray(lane->events, nr, sizeof(*events));

	if (!events)
		return -ENOMEM;
	lane->events = events;
	lane->cap = nr;
	return 0;
}

/* What comes behind the last record: calls that are still open. */
static ssize_t finish(struct lane *lane)
{
	const struct stage_config *config = &lane->pipe->config.stages;
	size_t nr_open = config->closes_open_calls ? lane->calls.nr : 0;
	size_t room = nr_open + stg_time_room(&lane->time, nr_open) + 1;
	int ret = make_room(lane, room);
	ssize_t nr = 0;

	if (ret < 0)
		return ret;
	if (lane->raw)
		nr = stg_time_finish(&lane->time, lane->events);
	if (nr < 0)
		return nr;
	if (nr_open) {
		size_t closed = stg_calls_close(&lane->calls, lane->events + nr);

		nr += stg_select(config, lane->events + nr, closed);
	}
	return nr;
}

static ssize_t run_stages(struct lane *lane, struct event *events, size_t nr, struct uft_err *err)
{
	const struct stage_config *config = &lane->pipe->config.stages;
	int ret = stg_calls(&lane->calls, events, nr, err);

	if (ret < 0)
		return ret;
	if (lane->calls.has_events || stg_select_is_needed(config))
		nr = stg_select(config, events, nr);
	if (!lane->raw)
		return nr;
	ret = make_room(lane, stg_time_room(&lane->time, nr));

	ssize_t passed = ret < 0 ? ret : stg_time(&lane->time, events, nr, lane->events);

	return passed < 0 ? err_set_errno(err, passed, "cannot filter by time") : passed;
}

/* What is left of the next batch; 0 is either nothing left of it or the end. */
static ssize_t fill_once(struct lane *lane, struct uft_err *err)
{
	const struct pipeline *pipe = lane->pipe;
	bool has_range = pipe->start_ns || pipe->stop_ns != UINT64_MAX;
	struct event *events = lane->raw ? lane->raw : lane->events;
	ssize_t nr = 0;

	if (!lane->at_end) {
		nr = read_batch(lane, events, pipe->batch);
		lane->at_end = nr == 0;
		if (has_range)
			nr = cut_range(lane, events, nr);
		if (nr)
			nr = run_stages(lane, events, nr, err);
	} else {
		lane->is_finished = true;
		nr = finish(lane);
		if (nr < 0)
			err_set_errno(err, nr, "cannot read task %d", lane->task->tid);
	}
	if (nr > 0 && pipe->config.stages.wants_indent)
		nr = stg_indent(&lane->indent, lane->events, nr);
	return nr;
}

int lane_fill(struct lane *lane, struct uft_err *err)
{
	ssize_t nr = 0;

	while (nr == 0 && !lane->is_finished)
		nr = fill_once(lane, err);
	if (nr < 0)
		return nr;
	lane->at = 0;
	lane->nr = nr;
	return nr > 0;
}
