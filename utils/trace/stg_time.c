/* Stage: drops calls that were too short, with everything in them. */
#include "utils/trace/stage.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "utils/base/vec.h"

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
	if (stage->nr < stage->cap)
		return true;

	size_t cap = stage->cap ? stage->cap * 2 : 32;
	struct event *held = reallocarray(stage->held, cap, sizeof(*held));

	if (!held)
		return false;
	stage->held = held;
	stage->cap = cap;
	return true;
}

static int hold(struct stg_time *stage, const struct event *event)
{
	struct event copy = *event;

	if (stage->nr == stage->cap && !make_room(stage))
		return -ENOMEM;
	/* The source will use the memory of the payload again before this one is let go. */
	if (copy.data) {
		void *data = malloc(copy.data_len ? copy.data_len : 1);

		if (!data)
			return -ENOMEM;
		copy.data = memcpy(data, copy.data, copy.data_len);
	}
	stage->held[stage->nr++] = copy;
	return 0;
}

/* Let the oldest go; its payload lives until the next batch. */
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

static bool is_opening(const struct event *event)
{
	return event->type == EVENT_ENTRY || event->type == EVENT_SCHED_OUT;
}

static bool is_closing(const struct event *event)
{
	return event->type == EVENT_EXIT || event->type == EVENT_SCHED_IN;
}

/* Let go what has lasted long enough at @now_ns, and what happened in it. */
static ssize_t release_until(struct stg_time *stage, uint64_t now_ns, struct event *out)
{
	size_t nr = 0;

	while (stage->at < stage->nr) {
		const struct event *event = &stage->held[stage->at];

		if (is_opening(event) && now_ns - event->time_ns < stage->threshold_ns)
			break;

		int ret = release_one(stage, &out[nr]);

		if (ret < 0)
			return ret;
		nr++;
	}
	return nr;
}

/* Forget the held call that @event ends, with all in it. False when it is not held. */
static bool drop_call(struct stg_time *stage, const struct event *event)
{
	uint8_t opening = event->type == EVENT_EXIT ? EVENT_ENTRY : EVENT_SCHED_OUT;
	size_t i = stage->nr;

	while (i > stage->at) {
		const struct event *held = &stage->held[--i];

		if (held->type != opening || held->depth != event->depth)
			continue;
		for (size_t k = i; k < stage->nr; k++)
			free((void *)stage->held[k].data);
		stage->nr = i;
		return true;
	}
	return false;
}

static bool is_too_short(const struct stg_time *stage, const struct event *event)
{
	return time_abs(event->total_ns) < stage->threshold_ns;
}

/* One event in, @out gets what passes by it. */
static ssize_t pass(struct stg_time *stage, const struct event *event, struct event *out)
{
	uint64_t now_ns = event->type == EVENT_LOST ? UINT64_MAX : event->time_ns;
	ssize_t nr = release_until(stage, now_ns, out);
	bool holds = stage->at < stage->nr;

	if (nr < 0)
		return nr;
	if (is_opening(event) || (holds && event->type > EVENT_LOST && !is_closing(event))) {
		int ret = hold(stage, event);

		return ret < 0 ? ret : nr;
	}
	/* An EXIT whose ENTRY was not seen stays: nobody knows how long that call was. */
	if (is_closing(event) && is_too_short(stage, event) && !(event->flags & EVENT_UNPAIRED) &&
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
		ssize_t n = pass(stage, &events[i], out + nr_out);

		if (n < 0)
			return n;
		nr_out += n;
	}
	return nr_out;
}

ssize_t stg_time_finish(struct stg_time *stage, struct event *out)
{
	free_released(stage);
	return release_until(stage, UINT64_MAX, out);
}
