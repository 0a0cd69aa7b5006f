/*
 * Makes the events of a view for one task (see pipeline.h). The sources are the task's records, and
 * the task's events from other files.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "utils/pipeline/sources/compact_calls.h"
#include "utils/pipeline/pipeline.h"

/* The number of events in the first batch of a lane, if there are many lanes. */
#define FIRST_BATCH 32

/*
 * Store the error of a damaged file in pipe->broken. The files of other tasks are still read. After
 * a damaged block of a compact file, the other blocks of the file are still read.
 */
static void note_damage(struct pipeline *pipe, const struct uft_err *why)
{
	pthread_mutex_lock(&pipe->data->modules.lock);
	err_set(&pipe->broken, why->code, "%s", why->text);
	pthread_mutex_unlock(&pipe->data->modules.lock);
}

/*
 * The next event from the sources in lane->others.
 *
 * @src: the source of this event; NULL: there is no next event
 * @time_ns: the time of this event
 * @until_ns: up to this time, the events of @src come before those of the other sources
 */
struct next_other {
	struct source *src;
	uint64_t time_ns;
	uint64_t until_ns;
};

static struct next_other find_other(const struct lane *lane)
{
	struct next_other next = { NULL, UINT64_MAX, UINT64_MAX };

	for (size_t i = 0; i < lane->nr_others; i++) {
		uint64_t time_ns = source_next_ns(lane->others[i]);

		if (time_ns < next.time_ns) {
			/* On a tie the source with the lower index goes first. */
			next.until_ns = next.src ? next.time_ns - 1 : UINT64_MAX;
			next.src = lane->others[i];
			next.time_ns = time_ns;
		} else {
			next.until_ns = MIN(next.until_ns, time_ns);
		}
	}
	return next;
}

uint64_t lane_next_other_ns(const struct lane *lane)
{
	return find_other(lane).time_ns;
}

/*
 * True when the next event of the other sources may be taken. @other_ns is the time of this event,
 * or UINT64_MAX if there is no event. An event after @limit_ns must wait. With has_late_entries, an
 * event must also wait while the lane's task may still write a record with an earlier time.
 */
static bool is_due(const struct lane *lane, uint64_t limit_ns, uint64_t other_ns)
{
	const struct src_user *user = &lane->user;

	if (limit_ns == UINT64_MAX)
		return other_ns != UINT64_MAX;
	if (other_ns > limit_ns)
		return false;
	return !lane->pipe->has_late_entries || user->at < user->len || other_ns <= user->last_ns;
}

/*
 * Take the events of next->src that come before the task's next record. Events after next->until_ns
 * or after @limit_ns are not taken. Events at the time next->time_ns are taken in any case.
 */
static ssize_t take_others(struct lane *lane, const struct next_other *next, uint64_t limit_ns,
			   struct event *events, size_t max, struct uft_err *err)
{
	uint64_t record_ns = source_next_ns(&lane->user.source);
	uint64_t until_ns = MIN(next->until_ns, limit_ns);

	until_ns = MIN(until_ns, record_ns - (record_ns > 0));
	/*
	 * With has_late_entries, take only events that have the time of the next event
	 * (next->time_ns). Before any later event is taken, is_due() must decide again.
	 */
	if (lane->pipe->has_late_entries)
		until_ns = next->time_ns;
	return source_read(next->src, events, max, MAX(until_ns, next->time_ns), err);
}

/*
 * Find the next event of the other sources (*@other), and read the records up to the time of this
 * event. A task writes no records inside of kernel functions. So each open call of a kernel
 * function must end before the next record. If such calls are open when the next record is due,
 * read_records() only adds an EXIT for each of these calls. The next call of read_records() reads
 * the record.
 */
static ssize_t read_records(struct lane *lane, struct next_other *other, uint64_t limit_ns,
			    struct event *events, size_t max, struct uft_err *err)
{
	struct source *user = &lane->user.source;
	ssize_t n = 0;

	/*
	 * Open calls of kernel functions end before the next record, so the time of the next record
	 * must be known. source_read() gets the time limit 0, because source_read() shall only
	 * refill the buffer.
	 */
	if (lane->has_kernel_calls && !lane->user.at_end)
		n = source_read(user, events, max, 0, err);
	*other = find_other(lane);
	if (n || lane->user.at_end)
		return n;

	uint64_t until_ns = MIN(other->time_ns, limit_ns);

	if (lane->kernel.nr && source_next_ns(user) <= until_ns)
		return kernel_calls_return(&lane->kernel, source_next_ns(user), events, max);
	return source_read(user, events, max, until_ns, err);
}

size_t lane_read(struct lane *lane, struct event *events, size_t max)
{
	uint64_t limit_ns = lane_limit_ns(lane);
	struct uft_err why = { 0 };
	size_t nr = 0;

	while (nr < max) {
		struct next_other other;
		ssize_t n;

		if (lane->has_kernel_calls) {
			if (!lane->pipe->has_late_entries)
				nr += kernel_calls_merge(&lane->kernel, events + nr, max - nr,
							 limit_ns);
			if (nr == max || (nr && src_user_wants_refill(&lane->user)))
				break;
		}
		n = read_records(lane, &other, limit_ns, events + nr, max - nr, &why);
		if (n < 0) {
			note_damage(lane->pipe, &why);
			lane->user.at_end = true;
			lane->user.is_damaged = true;
			other = find_other(lane);
			n = 0;
		}
		if (src_user_take_damage(&lane->user, &why))
			note_damage(lane->pipe, &why);
		nr += n;
		/*
		 * Stop if the next read would refill the buffer of the source, because a refill
		 * moves the payloads of the events in @events.
		 */
		if (n && (other.time_ns == UINT64_MAX || src_user_wants_refill(&lane->user)))
			break;
		if (n)
			continue;
		if (!is_due(lane, limit_ns, other.time_ns)) {
			if (lane->user.at_end || limit_ns != UINT64_MAX)
				break;
			continue;
		}

		size_t queued_at = lane->queued.at;

		n = take_others(lane, &other, limit_ns, events + nr, max - nr, &why);
		/*
		 * If take_others() has returned no event, continue the loop only if take_others()
		 * has dropped an event.
		 */
		if (n < 0 || (n == 0 && lane->queued.at == queued_at))
			break;
		nr += n;
		/* Leave the next records to read_calls() if it can read them. */
		if (nr && src_user_is_by_calls(&lane->user))
			break;
	}
	return nr;
}

static bool has_range(const struct pipeline *pipe)
{
	return pipe->start_ns || pipe->stop_ns != UINT64_MAX;
}

/*
 * True when the next events may be made directly from the calls in a compact file, without decoding
 * these calls to records first.
 */
static bool takes_calls(const struct lane *lane)
{
	const struct pipeline *pipe = lane->pipe;
	const struct stage_config *config = &pipe->config.stages;

	return lane->user.compact && !lane->has_kernel_calls && lane_limit_ns(lane) == UINT64_MAX &&
	       (!config->opens_inherited || lane->has_begun) &&
	       (!has_range(pipe) || (lane->user.last_ns >= pipe->start_ns &&
				     (!config->opens_at_start || lane->opened.is_done)));
}

/*
 * Read the next calls of a compact file, up to an event of another kind, and make the events that
 * stg_calls() would make of these calls. The payloads of the events stay valid until the next read.
 * Returns the number of events, or a negative errno with @err. If lane_read() must read the next
 * event, the number is 0.
 */
static ssize_t read_calls(struct lane *lane, struct event *events, struct uft_err *err)
{
	struct src_user *user = &lane->user;
	size_t max = lane->batch;
	struct compact_cursor *cursor = takes_calls(lane) ? src_user_calls(user, &max) : NULL;

	if (!cursor)
		return 0;

	uint64_t until_ns = MIN(find_other(lane).time_ns, lane->pipe->stop_ns);
	ssize_t nr = compact_calls(&lane->calls, cursor, user->last_ns, events, max, until_ns, err);

	if (nr > 0)
		src_user_took(user, nr, events[nr - 1].time_ns);
	return nr;
}

/*
 * Get memory for the next batch. If there are many lanes, the first batch is small. A later batch
 * usually gets the memory of a lane that has ended.
 */
static int get_buffers(struct lane *lane, struct uft_err *err)
{
	struct blocks *blocks = &lane->pipe->event_blocks;
	size_t batch = lane->pipe->batch;
	bool is_small = lane->batch == 0 && blocks->base;

	if (lane->batch == batch)
		return 0;
	if (is_small)
		batch = MIN(batch, (size_t)FIRST_BATCH);

	size_t bytes = batch * sizeof(struct event);

	blocks_give(blocks, lane->events);
	blocks_give(blocks, lane->raw);
	lane->raw = NULL;
	lane->events = is_small ? malloc(bytes) : blocks_take(blocks, bytes);
	if (lane->holds_back)
		lane->raw = is_small ? malloc(bytes) : blocks_take(blocks, bytes);
	lane->cap = batch;
	lane->batch = batch;
	if (!lane->events || (lane->holds_back && !lane->raw))
		return err_set_errno(err, -ENOMEM, "cannot read task %d", lane->task->tid);
	return 0;
}

void lane_release_events(struct lane *lane)
{
	blocks_give(&lane->pipe->event_blocks, lane->events);
	blocks_give(&lane->pipe->event_blocks, lane->raw);
	lane->events = NULL;
	lane->raw = NULL;
	lane->batch = 0;
}

void lane_release(struct lane *lane)
{
	src_user_release(&lane->user);
	lane_end_stream(lane);
	lane_release_events(lane);
}

/* Returns the buffer into which new events are read. */
static struct event *raw_events(const struct lane *lane)
{
	return lane->holds_back ? lane->raw : lane->events;
}

/*
 * Replace the buffer *@events of a lane by a buffer for @room events, and copy the first @nr
 * events.
 */
static int replace_events(struct lane *lane, struct event **events, size_t nr, size_t room)
{
	struct event *copy = reallocarray(NULL, room, sizeof(*copy));

	if (!copy)
		return -ENOMEM;
	memcpy(copy, *events, nr * sizeof(*copy));
	blocks_give(&lane->pipe->event_blocks, *events);
	*events = copy;
	return 0;
}

static int make_room(struct lane *lane, size_t nr)
{
	if (nr <= lane->cap)
		return 0;
	if (replace_events(lane, &lane->events, lane->cap, nr) < 0)
		return -ENOMEM;
	lane->cap = nr;
	return 0;
}

/* Make room for @room events in the buffer of raw_events(), which contains @nr events. */
static int make_raw_room(struct lane *lane, size_t nr, size_t room)
{
	return lane->holds_back ? replace_events(lane, &lane->raw, nr, room)
				: make_room(lane, room);
}

/*
 * True when the time range excludes @event: @event is before the range, or is the EXIT of a kernel
 * function whose ENTRY is before the range.
 */
static bool is_cut_off(struct lane *lane, const struct event *event, bool is_before)
{
	if (!event_is_kernel_call(event))
		return is_before;
	if (is_before) {
		lane->nr_kernel_cut += event->type == EVENT_ENTRY ? 1 : -1;
		return true;
	}
	if (event->type == EVENT_ENTRY) {
		lane->nr_kernel_in++;
	} else if (lane->nr_kernel_in) {
		lane->nr_kernel_in--;
	} else if (lane->nr_kernel_cut) {
		lane->nr_kernel_cut--;
		return true;
	}
	return false;
}

/*
 * With opens_at_start: replace the events before the range by ENTRYs of the calls that are open
 * when the range begins. Returns the new number of events, or -ENOMEM.
 */
static ssize_t open_range(struct lane *lane, size_t nr)
{
	const struct pipeline *pipe = lane->pipe;
	struct event *events = raw_events(lane);
	size_t i = 0;

	for (; i < nr && events[i].time_ns < pipe->start_ns; i++) {
		is_cut_off(lane, &events[i], true);
		if (!opened_note(&lane->opened, &events[i]))
			return -ENOMEM;
	}
	if (i == nr)
		return 0;

	size_t more = opened_begin(&lane->opened, lane->task, &events[i], pipe->start_ns);
	size_t left = nr - i;
	int ret = more ? make_raw_room(lane, nr, MAX(nr + more, lane->batch)) : 0;

	if (ret < 0)
		return ret;
	events = raw_events(lane);
	memmove(events + more, events + i, left * sizeof(*events));
	opened_put(&lane->opened, pipe->start_ns, events);
	return left + more;
}

/*
 * Update lane->opened for the calls before the time range. Reads records directly from the buffer,
 * and makes no events. Stops at the next event of another source, at an ENTRY or EXIT of a kernel
 * function, at an ENTRY or EXIT with a payload, and at a record that is neither ENTRY nor EXIT.
 */
static int skim_to_range(struct lane *lane)
{
	const struct pipeline *pipe = lane->pipe;
	const struct stage_config *config = &pipe->config.stages;
	struct plain_records records;

	if (!config->opens_at_start || lane->opened.is_done || lane->has_kernel_calls ||
	    (config->opens_inherited && !lane->has_begun) || lane_limit_ns(lane) != UINT64_MAX ||
	    !src_user_plain(&lane->user, UINT64_MAX, &records))
		return 0;

	bool has_room = opened_skim(&lane->opened, &records,
				    MIN(pipe->start_ns, lane_next_other_ns(lane)));

	src_user_plain_put(&records, &lane->user);
	return has_room ? 0 : -ENOMEM;
}

/* True when the task is off the CPU after @events. */
static bool is_out_behind(const struct lane *lane, const struct event *events, size_t nr)
{
	for (size_t i = nr; i-- > 0;) {
		if (events[i].type == EVENT_SCHED_OUT || events[i].type == EVENT_SCHED_IN)
			return events[i].type == EVENT_SCHED_OUT;
	}
	return lane->calls.is_out;
}

/*
 * Drop events outside of the time range. If opens_at_start is set, and the task is off the CPU at
 * the end of the range, add a SCHED_IN at the end of the range. So the last SCHED_OUT has an end.
 */
static size_t cut_range(struct lane *lane, struct event *events, size_t nr)
{
	const struct pipeline *pipe = lane->pipe;
	size_t kept = 0;

	for (size_t i = 0; i < nr; i++) {
		if (events[i].time_ns > pipe->stop_ns) {
			lane->state = LANE_AT_END;
			lane->is_cut = pipe->config.stages.opens_at_start;
			if (lane->is_cut && is_out_behind(lane, events, kept))
				events[kept++] = (struct event){
					.time_ns = pipe->stop_ns,
					.id = EVENT_ID_SCHED_IN,
					.cpu = EVENT_CPU_UNKNOWN,
					.type = EVENT_SCHED_IN,
				};
			break;
		}
		if (is_cut_off(lane, &events[i], events[i].time_ns < pipe->start_ns))
			continue;
		if (kept != i)
			events[kept] = events[i];
		kept++;
	}
	return kept;
}

/*
 * With opens_inherited: find the open calls that the task has inherited from its parent, and put
 * their ENTRYs in front of the first @nr events. Returns the new number of events, or -ENOMEM.
 */
static ssize_t open_inherited(struct lane *lane, size_t nr)
{
	const struct src_user_plan plan = { .buffer_bytes = SRC_USER_MIN_BUFFER };
	struct opened opened = { 0 };
	struct src_user src;
	ssize_t more = src_user_open(&src, lane->pipe->data, lane->task->tid, &plan, NULL);

	if (more == 0) {
		src.reader = lane->user.reader;
		more = opened_find_inherited(&opened, &src, &lane->pipe->is_stopped);
		src_user_close(&src);
	}
	if (more > 0 && make_raw_room(lane, nr, MAX(nr + more, lane->batch)) < 0)
		more = -ENOMEM;
	if (more > 0) {
		struct event *events = raw_events(lane);
		uint64_t start_ns = events[0].time_ns;

		memmove(events + more, events, nr * sizeof(*events));
		opened_put(&opened, start_ns, events);
		for (ssize_t i = 0; i < more; i++) {
			if (events[i].depth)
				events[i].flags = EVENT_INHERITED;
		}
		/*
		 * If the task begins within the range, the filter gets the inserted ENTRYs next. If
		 * the task begins earlier, open_range() or cut_range() drops the inserted ENTRYs.
		 */
		if (start_ns >= lane->pipe->start_ns)
			stg_filter_begin_within(&lane->filter, more);
	}
	opened_deinit(&opened);
	return more < 0 ? more : (ssize_t)nr + more;
}

/*
 * If calls were open at the task's first record, insert ENTRYs of these calls before this record.
 */
static ssize_t begin_task(struct lane *lane, const struct event *events, size_t nr)
{
	for (size_t i = 0; i < nr; i++) {
		if (events[i].type > EVENT_EXIT || event_is_kernel_call(&events[i]))
			continue;
		lane->has_begun = true;
		if (events[i].depth || events[i].type == EVENT_EXIT)
			return open_inherited(lane, nr);
		break;
	}
	return nr;
}

/*
 * Drop those of the @nr events that are outside of the time range. With opens_at_start, add the
 * events of open_range() and cut_range() at the two ends of the range. Returns the new number of
 * events, or -ENOMEM.
 */
static ssize_t take_range(struct lane *lane, ssize_t nr)
{
	if (lane->pipe->config.stages.opens_at_start && !lane->opened.is_done)
		nr = open_range(lane, nr);
	if (nr < 0)
		return nr;
	return cut_range(lane, raw_events(lane), nr);
}

/* Make the events after the last record: EXITs of calls that are still open. */
static ssize_t finish_lane(struct lane *lane)
{
	const struct stage_config *config = &lane->pipe->config.stages;
	size_t nr_open = config->closes_open_calls ? lane->calls.nr : 0;
	size_t room = nr_open + stg_time_room(&lane->time, nr_open) + 1;
	int ret = make_room(lane, room);
	ssize_t nr = 0;

	if (ret < 0)
		return ret;
	if (lane->is_cut)
		lane->calls.last_ns = lane->pipe->stop_ns;
	if (lane->holds_back)
		nr = stg_time_finish(&lane->time, lane->events);
	if (nr < 0)
		return nr;
	if (nr_open) {
		ssize_t closed = stg_calls_close(&lane->calls, lane->events + nr);

		if (config->show_kernel_only)
			closed = stg_kernel(&lane->in_kernel, lane->events + nr, closed);
		if (lane->pipe->is_filtered)
			closed = stg_filter(&lane->filter, lane->events + nr, closed);
		if (closed < 0)
			return closed;
		nr += stg_select(config, lane->events + nr, closed);
	}
	return nr;
}

/* True when @events include an EVENT_POINT. It has no duration, so -t lets it pass. */
static bool has_point(const struct event *events, size_t nr)
{
	for (size_t i = 0; i < nr; i++) {
		if (events[i].type == EVENT_POINT)
			return true;
	}
	return false;
}

/* Run the stages after stg_calls(). @depth: the number of calls that were open before the batch */
static ssize_t run_stages(struct lane *lane, struct event *events, size_t nr, size_t depth,
			  struct uft_err *err)
{
	const struct stage_config *config = &lane->pipe->config.stages;
	bool may_drop = lane->pipe->is_filtered || lane->holds_back || stg_select_is_needed(config);
	int ret;

	if (lane->holds_back && lane->calls.has_events)
		lane->has_passed |= has_point(events, nr);
	if (lane->has_kernel_calls || config->show_kernel_only) {
		if (stg_kernel_is_needed(&lane->in_kernel, &lane->calls))
			nr = stg_kernel(&lane->in_kernel, events, nr);
		lane->calls.is_plain = false;
	}
	lane->calls.is_plain &= !may_drop && stg_indent_follow(&lane->indent, depth);
	if (lane->pipe->is_filtered) {
		ssize_t kept = stg_filter(&lane->filter, events, nr);

		if (kept < 0)
			return err_set_errno(err, kept, "cannot filter calls");
		nr = kept;
	}
	if (lane->calls.has_events || stg_select_is_needed(config))
		nr = stg_select(config, events, nr);
	if (!lane->holds_back)
		return nr;
	ret = make_room(lane, stg_time_room(&lane->time, nr));

	ssize_t passed = ret < 0 ? ret : stg_time(&lane->time, events, nr, lane->events);

	lane->has_passed |= passed > 0;
	return passed < 0 ? err_set_errno(err, passed, "cannot filter by time") : passed;
}

/*
 * Called when the lane has no events now (LANE_DRY). At the time lane_limit_ns(), some held calls
 * may have reached their time thresholds. Release these calls.
 */
static ssize_t release_due(struct lane *lane, struct uft_err *err)
{
	int ret = make_room(lane, stg_time_room(&lane->time, 0));
	ssize_t nr = ret < 0 ? ret : stg_time_due(&lane->time, lane_limit_ns(lane), lane->events);

	lane->has_passed |= nr > 0;
	return nr < 0 ? err_set_errno(err, nr, "cannot filter by time") : nr;
}

static void note_progress(struct lane *lane)
{
	uint64_t offset = lane->user.next_offset;

	if (offset != lane->told_offset)
		atomic_fetch_add_explicit(&lane->pipe->read_bytes, offset - lane->told_offset,
					  memory_order_relaxed);
	lane->told_offset = offset;
}

/* Read the next events, cut them to the time range, and pass them through stg_calls(). */
static ssize_t read_events(struct lane *lane, struct uft_err *err)
{
	const struct pipeline *pipe = lane->pipe;
	struct event *events = raw_events(lane);

	if (has_range(pipe) && skim_to_range(lane) < 0)
		return err_set_errno(err, -ENOMEM, "cannot read task %d", lane->task->tid);

	ssize_t nr = lane_read(lane, events, lane->batch);
	bool is_stopped = atomic_load_explicit(&pipe->is_stopped, memory_order_relaxed);

	if (nr == 0 && lane_limit_ns(lane) != UINT64_MAX && !is_stopped)
		lane->state = LANE_DRY;
	else
		lane->state = nr == 0 || is_stopped ? LANE_AT_END : LANE_READS;
	if (pipe->config.stages.opens_inherited && !lane->has_begun)
		nr = begin_task(lane, events, nr);
	if (has_range(pipe) && nr > 0)
		nr = take_range(lane, nr);
	if (nr < 0)
		return err_set_errno(err, nr, "cannot read task %d", lane->task->tid);
	lane->has_events |= nr > 0;

	int ret = stg_calls(&lane->calls, raw_events(lane), nr, err);

	return ret < 0 ? ret : nr;
}

/*
 * Read the next batch of events, and pass the batch through all stages. Returns the number of
 * events that come out of the last stage. This number may be 0. On failure, returns a negative
 * errno with @err.
 */
static ssize_t fill_once(struct lane *lane, struct uft_err *err)
{
	const struct pipeline *pipe = lane->pipe;
	size_t depth = lane->calls.nr;
	ssize_t nr;

	if (lane->state < LANE_AT_END) {
		nr = read_calls(lane, raw_events(lane), err);
		if (nr == 0)
			nr = read_events(lane, err);
		else if (atomic_load_explicit(&pipe->is_stopped, memory_order_relaxed))
			lane->state = LANE_AT_END;
		note_progress(lane);
		if (nr > 0)
			nr = run_stages(lane, raw_events(lane), nr, depth, err);
		if (nr == 0 && lane->state == LANE_DRY && lane->holds_back) {
			lane->calls.is_plain = false;
			nr = release_due(lane, err);
		}
	} else {
		lane->state = LANE_FINISHED;
		lane->calls.is_plain = false;
		nr = lane->goes_on ? 0 : finish_lane(lane);
		if (nr < 0)
			err_set_errno(err, nr, "cannot read task %d", lane->task->tid);
	}
	if (nr > 0 && pipe->config.stages.wants == STAGE_WANTS_DEPTHS && !lane->calls.is_plain)
		nr = stg_indent(&lane->indent, lane->events, nr);
	return nr;
}

void lane_set_reader(struct lane *lane, unsigned reader)
{
	lane->calls.reader = reader;
	lane->user.reader = reader;
	lane->filter.reader = reader;
}

/* Set pipe->has_shown if the batch has an event that is not hidden. */
static void note_shown(struct lane *lane)
{
	for (size_t i = 0; i < lane->nr; i++) {
		if (lane->events[i].type == EVENT_HIDDEN || (lane->events[i].flags & EVENT_OFF))
			continue;
		atomic_store_explicit(&lane->pipe->has_shown, true, memory_order_relaxed);
		return;
	}
}

int lane_fill(struct lane *lane, struct uft_err *err)
{
	ssize_t nr = 0;

	lane->at = 0;
	lane->nr = 0;
	if (lane->state == LANE_DRY)
		lane->state = LANE_READS;
	if (lane->state != LANE_FINISHED)
		nr = get_buffers(lane, err);
	if (nr == 0 && lane->streams && !lane->own_feed && lane->state != LANE_FINISHED)
		nr = MIN(lane_stream(lane, err), 0);
	while (nr == 0 && lane->state != LANE_FINISHED && lane->state != LANE_DRY) {
		nr = fill_once(lane, err);
		if (nr == 0 && lane->state == LANE_DRY && lane->own_feed) {
			nr = MIN(lane_stream(lane, err), 0);
			lane->state = LANE_READS;
		}
	}
	if (nr < 0)
		return nr;
	if (nr == 0 && lane->state == LANE_FINISHED)
		lane_release(lane);
	lane->nr = nr;
	if (!atomic_load_explicit(&lane->pipe->has_shown, memory_order_relaxed))
		note_shown(lane);
	return nr > 0;
}
