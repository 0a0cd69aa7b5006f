/*
 * Stage: drops calls that were too short, with the events in them. A call stays if it contains an
 * event that the user has requested by name.
 */
#include "utils/pipeline/stages/stage.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "utils/base/containers/vec.h"
#include "utils/pipeline/kinds/event_kind.h"

static void free_released(struct stg_time *stage)
{
	for (size_t i = 0; i < stage->nr_released; i++)
		free(stage->released[i]);
	stage->nr_released = 0;
}

void stg_time_deinit(struct stg_time *stage)
{
	for (size_t i = stage->at; i < stage->nr; i++)
		free((void *)stage->held[i].data);
	free(stage->held);
	free_released(stage);
	free(stage->released);
	*stage = (struct stg_time){ 0 };
}

static bool make_room(struct stg_time *stage)
{
	if (stage->at) {
		memmove(stage->held, stage->held + stage->at,
			(stage->nr - stage->at) * sizeof(*stage->held));
		stage->nr -= stage->at;
		stage->at = 0;
	}
	struct event *held = vec_room(stage->held, stage->nr, &stage->cap, sizeof(*held));

	if (!held)
		return false;
	stage->held = held;
	return true;
}

static bool is_opening(const struct event *event)
{
	return event->type == EVENT_ENTRY || event->type == EVENT_SCHED_OUT;
}

static uint64_t threshold_of(const struct stg_time *stage, const struct event *opening)
{
	return stage->has_own_thresholds ? opening->total_ns : stage->threshold_ns;
}

/*
 * @opening begins a call, or a wait off the CPU. Returns the time from which the call or the wait
 * is long enough to be shown.
 */
static uint64_t due_ns(const struct stg_time *stage, const struct event *opening)
{
	uint64_t threshold_ns = threshold_of(stage, opening);

	return threshold_ns > UINT64_MAX - opening->time_ns ? UINT64_MAX
							    : opening->time_ns + threshold_ns;
}

static int hold_event(struct stg_time *stage, const struct event *event)
{
	struct event copy = *event;

	if (stage->nr == stage->cap && !make_room(stage))
		return -ENOMEM;
	/* Copy the payload: the source reuses the payload's memory before the event is released. */
	if (copy.data) {
		void *data = malloc(copy.data_len ? copy.data_len : 1);

		if (!data)
			return -ENOMEM;
		copy.data = memcpy(data, copy.data, copy.data_len);
	}
	if (stage->at == stage->nr)
		stage->due_ns = UINT64_MAX;
	if (stage->has_own_thresholds && is_opening(&copy))
		stage->due_ns = MIN(stage->due_ns, due_ns(stage, &copy));
	stage->held[stage->nr++] = copy;
	return 0;
}

/* Release the oldest event. */
static int release_one(struct stg_time *stage, struct event *out)
{
	struct event *event = &stage->held[stage->at];

	if (event->data) {
		void **released = vec_grow(stage->released, stage->nr_released, sizeof(*released));

		if (!released)
			return -ENOMEM;
		stage->released = released;
		released[stage->nr_released++] = (void *)event->data;
	}
	*out = *event;
	stage->at++;
	return 0;
}

static bool is_closing(const struct event *event)
{
	return event->type == EVENT_EXIT || event->type == EVENT_SCHED_IN;
}

/* Find the first held call that is still too short. All calls must have the same threshold. */
static size_t first_short(const struct stg_time *stage, uint64_t now_ns)
{
	size_t i = stage->at;

	while (i < stage->nr && !(is_opening(&stage->held[i]) &&
				  now_ns - stage->held[i].time_ns < stage->threshold_ns))
		i++;
	return i;
}

/*
 * Returns the index of the first held event that cannot be released at @now_ns. If all held events
 * can be released, returns stage->nr. The held calls may have different thresholds. If no held call
 * has reached its threshold, no event can be released, and the result is stage->at. Otherwise, two
 * groups of events can be released:
 *
 * - all events up to the beginning of the last held call that has reached its threshold
 * - the events after the beginning of this call, until the next ENTRY or SCHED_OUT
 *
 * stage->due_ns becomes the earliest time at which a held call at or after the returned index can
 * reach its threshold. Before this time, the function returns stage->at without a search.
 */
static size_t behind_long(struct stg_time *stage, uint64_t now_ns)
{
	size_t end = stage->at;
	uint64_t next_ns = UINT64_MAX;

	if (now_ns < stage->due_ns)
		return end;
	for (size_t i = stage->at; i < stage->nr; i++) {
		if (!is_opening(&stage->held[i]))
			continue;

		uint64_t due = due_ns(stage, &stage->held[i]);

		if (due <= now_ns && due != UINT64_MAX) {
			end = i + 1;
			next_ns = UINT64_MAX;
		} else {
			next_ns = MIN(next_ns, due);
		}
	}
	stage->due_ns = next_ns;
	/* Include the events between the last long call's beginning and the next opening event. */
	while (end > stage->at && end < stage->nr && !is_opening(&stage->held[end]))
		end++;
	return end;
}

/* Release calls that have lasted long enough at @now_ns, with the events in them. */
static ssize_t release_until(struct stg_time *stage, uint64_t now_ns, struct event *out)
{
	size_t until = stage->has_own_thresholds ? behind_long(stage, now_ns)
						 : first_short(stage, now_ns);
	size_t nr = 0;

	while (stage->at < until) {
		int ret = release_one(stage, &out[nr]);

		if (ret < 0)
			return ret;
		nr++;
	}
	return nr;
}

/*
 * @event ends a call. If this call is held and too short, drop the call and all events in the call.
 * Returns false if the call is not held, or is long enough.
 */
static bool drop_call(struct stg_time *stage, const struct event *event)
{
	uint8_t opening = event->type == EVENT_EXIT ? EVENT_ENTRY : EVENT_SCHED_OUT;
	size_t i = stage->nr;

	while (i > stage->at) {
		const struct event *held = &stage->held[--i];

		if (held->type != opening || held->depth != event->depth)
			continue;
		if (time_abs(event->total_ns) >= threshold_of(stage, held))
			return false;
		for (size_t k = i; k < stage->nr; k++)
			free((void *)stage->held[k].data);
		stage->nr = i;
		return true;
	}
	return false;
}

/* True for an event that the user has requested by name. It is shown with the calls around it. */
static bool is_asked_for(const struct event *event)
{
	return event->type == EVENT_POINT &&
	       (event_kind_fixed(event->id)->flags & EVENT_KIND_BY_NAME);
}

/*
 * Take one event. First write to @out the held events that @event releases. Then write @event to
 * @out, hold @event, or drop @event with its call.
 */
static ssize_t pass_in_time(struct stg_time *stage, const struct event *event, struct event *out)
{
	bool keeps_calls = event->type == EVENT_LOST || is_asked_for(event);
	uint64_t now_ns = keeps_calls ? UINT64_MAX : event->time_ns;
	ssize_t nr = release_until(stage, now_ns, out);
	bool holds = stage->at < stage->nr;

	if (nr < 0)
		return nr;
	if (is_opening(event) || (holds && event->type > EVENT_LOST && !is_closing(event))) {
		int ret = hold_event(stage, event);

		return ret < 0 ? ret : nr;
	}
	/* An EXIT without a recorded ENTRY stays, because its duration is unknown. */
	if (holds && is_closing(event) && !(event->flags & EVENT_UNPAIRED) &&
	    drop_call(stage, event))
		return nr;
	out[nr++] = *event;
	return nr;
}

ssize_t stg_time(struct stg_time *stage, const struct event *events, size_t nr, struct event *out)
{
	size_t nr_out = 0;

	free_released(stage);
	for (size_t i = 0; i < nr; i++) {
		ssize_t n = pass_in_time(stage, &events[i], out + nr_out);

		if (n < 0)
			return n;
		nr_out += n;
	}
	return nr_out;
}

ssize_t stg_time_due(struct stg_time *stage, uint64_t now_ns, struct event *out)
{
	free_released(stage);
	return release_until(stage, now_ns, out);
}

uint64_t stg_time_waits_since(const struct stg_time *stage)
{
	if (stage->at == stage->nr || due_ns(stage, &stage->held[stage->at]) == UINT64_MAX)
		return UINT64_MAX;
	return stage->held[stage->at].time_ns;
}

ssize_t stg_time_finish(struct stg_time *stage, struct event *out)
{
	free_released(stage);
	return release_until(stage, UINT64_MAX, out);
}
