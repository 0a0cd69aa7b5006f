/* Merges the events of all sources by time, and puts the events into queues (see merger.h). */
#include "utils/pipeline/merger.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "utils/base/containers/vec.h"
#include "utils/base/fd.h"
#include "utils/pipeline/kinds/event_kind.h"

/* The maximum number of events that are read from a source at once. */
#define READ_AT_ONCE 128

/*
 * Calls of kernel functions are read together if they come from one source. These calls may be
 * later than the next event of another source, but by at most AHEAD_NS. A larger AHEAD_NS would
 * make reading faster, but would leave more queues unsorted.
 */
#define AHEAD_NS 100000

/* The overhead of malloc(3) for the payload of one event, in bytes. */
#define PAYLOAD_OVERHEAD 16

/* An event whose task is not in task.txt yet. */
struct stray {
	int32_t tid;
	int32_t other_tid;
	struct queued event;
};

int source_list_add(struct source_list *list, struct source *src)
{
	struct source **all = vec_grow(list->all, list->nr, sizeof(struct source *));

	if (!all) {
		source_close(src);
		return -ENOMEM;
	}
	list->all = all;
	all[list->nr++] = src;
	return 0;
}

int source_open_file(const struct source_opening *in, const char *name)
{
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s/%s", in->context->data->dir, name);
	return file_open_regular(path, in->err);
}

static size_t queued_bytes(const struct queued *event)
{
	return sizeof(*event) + (event->data ? event->data_len + PAYLOAD_OVERHEAD : 0);
}

static int make_queues(struct merger *feed)
{
	size_t nr = feed->context.data->nr_tasks;
	struct queue *queues;

	if (nr <= feed->nr_queues)
		return 0;
	queues = reallocarray(feed->queues, nr, sizeof(*queues));
	if (!queues)
		return -ENOMEM;
	feed->queues = queues;
	for (; feed->nr_queues < nr; feed->nr_queues++)
		queues[feed->nr_queues] = (struct queue){ .is_wanted = feed->keeps_all };
	return 0;
}

int merger_open(struct merger *feed, const struct source_context *context,
		const struct source_kind *const *kinds, struct uft_err *err)
{
	int ret = 0;

	*feed = (struct merger){ .context = *context };
	for (; ret == 0 && *kinds; kinds++)
		ret = (*kinds)->open(&feed->context, &feed->sources, err);
	if (ret == 0) {
		feed->next = calloc(feed->sources.nr + 1, sizeof(*feed->next));
		ret = feed->next ? make_queues(feed) : -ENOMEM;
	}
	for (size_t i = 0; ret == 0 && i < feed->sources.nr; i++)
		feed->next[i] = source_next_ns(feed->sources.all[i]);
	if (ret == 0 && !feed->sources.nr)
		feed->complete_ns = UINT64_MAX;
	if (ret < 0)
		merger_close(feed);
	return ret < 0 ? err_set_errno(err, ret, "cannot read '%s'", context->data->dir) : 0;
}

void merger_close(struct merger *feed)
{
	for (size_t i = 0; i < feed->nr_queues; i++)
		queue_deinit(&feed->queues[i]);
	for (size_t i = 0; i < feed->sources.nr; i++)
		source_close(feed->sources.all[i]);
	for (size_t i = 0; i < feed->nr_strays; i++)
		free(feed->strays[i].event.data);
	free(feed->strays);
	free(feed->queues);
	free(feed->next);
	free(feed->sources.all);
	*feed = (struct merger){ 0 };
}

/* Consecutive events of one source: either calls of kernel functions, or other events. */
struct run {
	const struct source *from;
	size_t index;
	size_t nr_calls;
	size_t nr;
	struct event events[READ_AT_ONCE];
	struct queued calls[READ_AT_ONCE];
};

/*
 * Find the source with the earliest event, and set *@until_ns. Up to this time, the events of the
 * source precede the events of all other sources. Returns the index of the source, or -1 if there
 * are no events.
 */
static ssize_t find_first(const struct merger *feed, uint64_t *until_ns)
{
	uint64_t first_ns = UINT64_MAX;
	ssize_t first = -1;

	*until_ns = UINT64_MAX;
	for (size_t i = 0; i < feed->sources.nr; i++) {
		uint64_t next_ns = feed->next[i];

		if (next_ns < first_ns) {
			/* On a tie the source with the lower index goes first. */
			*until_ns = first_ns - (first >= 0);
			first_ns = next_ns;
			first = i;
		} else {
			*until_ns = MIN(*until_ns, next_ns);
		}
	}
	/* The first event is read even if an event of another source has the same time. */
	*until_ns = MAX(*until_ns, first_ns);
	return first;
}

/*
 * If the next events of @src are calls of kernel functions, read these calls into run->calls.
 * Returns the number of these calls.
 */
static size_t read_calls(struct source *src, struct run *run, uint64_t until_ns)
{
	if (!src->ops->read_calls)
		return 0;
	until_ns += MIN((uint64_t)AHEAD_NS, UINT64_MAX - until_ns);
	return src->ops->read_calls(src, run->calls, READ_AT_ONCE, until_ns);
}

/*
 * Read the next events of the source with the earliest event. Returns 1 on success, 0 when no
 * source has another event, or a negative errno with @err.
 */
static int read_run(struct merger *feed, struct run *run, struct uft_err *err)
{
	struct uft_err *why = &feed->why;
	uint64_t until_ns;
	ssize_t index;

	for (;;) {
		index = find_first(feed, &until_ns);
		if (index < 0)
			return 0;

		struct source *src = feed->sources.all[index];
		ssize_t nr = 0;

		run->nr_calls = read_calls(src, run, until_ns);
		if (!run->nr_calls)
			nr = source_read(src, run->events, READ_AT_ONCE, until_ns, why);
		if (nr == -EBADMSG)
			err_set(feed->context.broken, nr, "%s", why->text);
		else if (nr < 0)
			return err_set(err, nr, "%s", why->text);
		if (nr < 0)
			err_clear(why);
		/* A source that has announced an event, but returns none, counts as empty. */
		feed->next[index] = nr <= 0 && !run->nr_calls ? UINT64_MAX : source_next_ns(src);
		if (nr <= 0 && !run->nr_calls)
			continue;
		run->from = src;
		run->index = index;
		run->nr = nr;
		return 1;
	}
}

static int keep_stray(struct merger *feed, const struct source *from, struct queued event)
{
	struct stray *strays = vec_grow(feed->strays, feed->nr_strays, sizeof(*strays));

	if (!strays) {
		free(event.data);
		return -ENOMEM;
	}
	feed->strays = strays;
	strays[feed->nr_strays++] = (struct stray){ from->tid, from->other_tid, event };
	return 0;
}

/* Make *@queued from @event. Copies the payload, because the source owns the payload of @event. */
static int pack_event(const struct event *event, size_t source, struct queued *queued)
{
	*queued = (struct queued){
		.time_ns = event->time_ns,
		.addr = event->addr,
		.data_len = event->data_len,
		.source = source,
		.type = event->type,
		.flags = event->flags,
	};
	if (event->type <= EVENT_EXIT)
		queued->depth = event->depth;
	if (!event->data)
		return 0;
	queued->data = malloc(event->data_len + 1UL);
	if (!queued->data)
		return -ENOMEM;
	memcpy(queued->data, event->data, event->data_len);
	return 0;
}

static int keep_stray_calls(struct merger *feed, const struct run *run)
{
	int ret = 0;

	for (size_t i = 0; ret == 0 && i < run->nr_calls; i++) {
		struct queued call = run->calls[i];

		call.source = run->index;
		ret = keep_stray(feed, run->from, call);
	}
	return ret;
}

/* Append a run to the queue of its task. Returns the bytes of memory used, or -ENOMEM. */
static ssize_t take_run(struct merger *feed, const struct run *run)
{
	const struct task *task = run->from->task;
	struct queue *queue = task ? &feed->queues[task->index] : NULL;
	bool is_stray = !task && feed->context.data->growth &&
			(run->from->tid || run->from->other_tid);
	ssize_t bytes = 0;

	if (!is_stray && (!queue || !queue->is_wanted))
		return 0;
	if (run->nr_calls) {
		int ret = is_stray ? keep_stray_calls(feed, run)
				   : queue_add_calls(queue, run->calls, run->nr_calls, run->index);

		return ret < 0 ? ret : (ssize_t)(run->nr_calls * sizeof(struct queued));
	}
	for (size_t i = 0; i < run->nr; i++) {
		struct queued queued;
		int ret = pack_event(&run->events[i], run->index, &queued);

		if (ret == 0)
			ret = is_stray ? keep_stray(feed, run->from, queued)
				       : queue_add(queue, queued);
		if (ret < 0)
			return ret;
		bytes += queued_bytes(&queued);
	}
	return bytes;
}

/*
 * Called when the events from @first_ns to @last_ns were read. Returns the time up to which all
 * events are known. This time is a little before @last_ns, because times can go backwards in a file
 * (MERGER_LATE_NS): an event that was not read yet may be earlier than @last_ns.
 */
static uint64_t find_complete(uint64_t first_ns, uint64_t last_ns)
{
	uint64_t span_ns = last_ns - first_ns;

	/*
	 * Memory is full. If all events in memory have the same time, consumers must take them
	 * now to make room.
	 */
	if (span_ns == 0)
		return last_ns;
	return last_ns - MAX(MIN(span_ns / 2, (uint64_t)MERGER_LATE_NS), (uint64_t)1);
}

static int settle_all(struct merger *feed)
{
	int ret = 0;

	for (size_t i = 0; ret == 0 && i < feed->nr_queues; i++)
		ret = queue_settle(&feed->queues[i]);
	return ret;
}

static uint64_t find_next_ns(const struct merger *feed)
{
	uint64_t next_ns = UINT64_MAX;

	for (size_t i = 0; i < feed->sources.nr; i++)
		next_ns = MIN(next_ns, feed->next[i]);
	return next_ns;
}

int merger_fill(struct merger *feed, size_t max_bytes, struct uft_err *err)
{
	uint64_t first_ns = feed->last_ns;
	size_t bytes = 0;
	struct run run;
	int ret = 1;

	while (bytes < max_bytes && (ret = read_run(feed, &run, err)) > 0) {
		ssize_t taken = take_run(feed, &run);

		if (taken < 0)
			return err_set_errno(err, taken, "cannot hold events");
		bytes += taken;

		uint64_t begin_ns = run.nr_calls ? run.calls[0].time_ns : run.events[0].time_ns;
		uint64_t end_ns = run.nr_calls ? run.calls[run.nr_calls - 1].time_ns
					       : run.events[run.nr - 1].time_ns;
		uint64_t next_ns = find_next_ns(feed);

		/*
		 * In the first call of merger_fill(), @first_ns is 0. The span of time begins with
		 * the first event, not at time 0.
		 */
		first_ns = first_ns ? first_ns : begin_ns;
		/*
		 * next_ns is the time of the earliest event that was not read yet. All events
		 * before this time are known, but later ones may be missing.
		 */
		if (end_ns > next_ns)
			end_ns = next_ns - (next_ns > 0);
		feed->last_ns = MAX(feed->last_ns, end_ns);
	}
	if (ret < 0)
		return ret;
	feed->complete_ns = ret == 0 ? UINT64_MAX
				     : MAX(find_complete(first_ns, feed->last_ns),
					   feed->complete_ns);

	/*
	 * A task's name may be read before task.txt lists the task. This name is added to the task
	 * when task.txt lists the task, perhaps after a name with a later time. For this reason the
	 * names of a task may be out of order.
	 */
	if (feed->context.takes_notes)
		data_sort_names(feed->context.data);

	int settled = settle_all(feed);

	return settled < 0 ? err_set_errno(err, settled, "cannot hold events") : ret;
}

static void note_event(struct survey *survey, const struct event *event)
{
	bool is_sign = event->type == EVENT_POINT &&
		       (event->id == EVENT_ID_TASK_NEW || event->id == EVENT_ID_TASK_NAME);

	survey->nr++;
	if (event->type <= EVENT_EXIT) {
		survey->nr_calls++;
		survey->first_call_ns = MIN(survey->first_call_ns, event->time_ns);
	}
	survey->bytes += sizeof(struct queued);
	if (event->data)
		survey->bytes += event->data_len + PAYLOAD_OVERHEAD;
	survey->first_ns = MIN(survey->first_ns, event->time_ns);
	survey->last_ns = MAX(survey->last_ns, event->time_ns);
	if (is_sign)
		survey->first_sign_ns = MIN(survey->first_sign_ns, event->time_ns);
	/* Tracepoints and calls of the kernel do not tell whether the task is on the CPU. */
	if (event->type <= EVENT_EXIT || event->type == EVENT_LOST ||
	    (event->type == EVENT_POINT && event_id_is_of_kernel(event->id)))
		return;
	if (event->type == EVENT_SCHED_IN && survey->is_out)
		survey->first_back_ns = MIN(survey->first_back_ns, event->time_ns);
	survey->is_out = event->type == EVENT_SCHED_OUT;
}

static void note_calls(struct survey *survey, const struct run *run)
{
	survey->nr += run->nr_calls;
	survey->nr_calls += run->nr_calls;
	survey->bytes += run->nr_calls * sizeof(struct queued);
	for (size_t i = 0; i < run->nr_calls; i++) {
		survey->first_call_ns = MIN(survey->first_call_ns, run->calls[i].time_ns);
		survey->last_ns = MAX(survey->last_ns, run->calls[i].time_ns);
	}
	survey->first_ns = MIN(survey->first_ns, survey->first_call_ns);
}

int merger_survey(struct merger *feed, struct survey *surveys, struct uft_err *err)
{
	struct run run;
	int ret;

	for (size_t i = 0; i < feed->nr_queues; i++)
		surveys[i] = (struct survey){
			.first_ns = UINT64_MAX,
			.first_call_ns = UINT64_MAX,
			.first_sign_ns = UINT64_MAX,
			.first_back_ns = UINT64_MAX,
		};
	while ((ret = read_run(feed, &run, err)) > 0) {
		if (run.from->task && run.nr_calls)
			note_calls(&surveys[run.from->task->index], &run);
		for (size_t i = 0; run.from->task && i < run.nr; i++)
			note_event(&surveys[run.from->task->index], &run.events[i]);
	}
	data_sort_names(feed->context.data);
	return ret;
}

/*
 * For each stray whose task is known now: queue the event, or free the event if the task is not
 * wanted. Strays without a known task stay in feed->strays. Returns 0 or -ENOMEM. After -ENOMEM,
 * all later strays stay in feed->strays.
 */
static int adopt_strays(struct merger *feed)
{
	const struct trace_data *data = feed->context.data;
	size_t nr_left = 0;
	int ret = 0;

	for (size_t i = 0; i < feed->nr_strays; i++) {
		struct stray stray = feed->strays[i];
		const struct task *task = stray.tid ? data_task(data, stray.tid) : NULL;

		if (!task && stray.other_tid)
			task = data_task(data, stray.other_tid);
		if (!task || ret < 0)
			feed->strays[nr_left++] = stray;
		else if (feed->queues[task->index].is_wanted)
			ret = queue_add(&feed->queues[task->index], stray.event);
		else
			free(stray.event.data);
	}
	/*
	 * vec_grow() derives the capacity of feed->strays from feed->nr_strays, which becomes
	 * smaller here. The real capacity is larger than vec_grow() assumes, which does no harm.
	 */
	feed->nr_strays = nr_left;
	return ret;
}

int merger_more(struct merger *feed, struct uft_err *err)
{
	size_t nr_known = feed->nr_queues;
	int ret = make_queues(feed);

	if (ret == 0 && feed->nr_queues > nr_known)
		ret = adopt_strays(feed);
	if (ret < 0)
		return err_set_errno(err, ret, "cannot hold events");
	if (feed->sources.nr)
		feed->complete_ns = 0;
	for (size_t i = 0; ret == 0 && i < feed->sources.nr; i++) {
		ret = source_more(feed->sources.all[i], err);
		feed->next[i] = source_next_ns(feed->sources.all[i]);
	}
	return ret;
}
