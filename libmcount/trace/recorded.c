/* Events that go to a recorder: the probe, when it is in this process (utils/fstrace/recorder.h). */
#include "libmcount/trace/trace.h"

#include <stdlib.h>

/* It is preloaded or not there. The address of what is not there is NULL. */
#pragma weak utrail_trace_recorder

/* Who has fewer members than this version of the library uses is none for it. */
static const struct utrail_trace_recorder *find_recorder(void)
{
	const struct utrail_trace_recorder *(*ask)(uint32_t abi) = utrail_trace_recorder;
	const struct utrail_trace_recorder *recorder = ask ? ask(UTRAIL_TRACE_ABI) : NULL;

	if (!recorder || recorder->abi != UTRAIL_TRACE_ABI || recorder->size < sizeof(*recorder))
		return NULL;
	return recorder;
}

/* The logs that are open, and have a recorder; under the lock of threads. */
static fstrace_t *traces;

static void choose_again(const fstrace_t *trace)
{
	struct fstrace_event_impl *impl = atomic_load(&trace->first);

	for (; impl; impl = atomic_load(&impl->next)) {
		struct fst_recorded *recorded = atomic_load(&impl->recorded);

		if (!recorded)
			continue;
		recorded->choice = trace->recorder->choose(recorded->id, impl->id);
		/* What the program wants has not changed. */
		fst_choose(impl, atomic_load(&impl->event->consumers) & FST_TO_TEXT);
	}
}

/* The user has chosen other events. Any thread may be borrowed for this, but one that is at work on what this looks at. */
static bool take_choices(void)
{
	struct fst_held held;

	if (!fst_try_lock_threads(&held))
		return false;
	for (const fstrace_t *trace = traces; trace; trace = trace->next)
		choose_again(trace);
	fst_unlock_threads(&held);
	return true;
}

void fst_recorded_begin(fstrace_t *trace)
{
	struct fst_held held;

	trace->recorder = find_recorder();
	if (!trace->recorder)
		return;
	fst_lock_threads(&held);
	trace->next = traces;
	traces = trace;
	fst_unlock_threads(&held);
	trace->recorder->watch(take_choices, true);
}

void fst_recorded_end(fstrace_t *trace)
{
	struct fst_held held;

	fst_lock_threads(&held);
	for (fstrace_t **at = &traces; *at; at = &(*at)->next) {
		if (*at == trace) {
			*at = trace->next;
			break;
		}
	}
	fst_unlock_threads(&held);
}

/* This copy of the library may be in a plugin that is unloaded. */
__attribute__((destructor)) static void stop_watching(void)
{
	const struct utrail_trace_recorder *recorder = find_recorder();

	if (recorder)
		recorder->watch(take_choices, false);
}

void fst_recorded_declare(struct fstrace_event_impl *impl)
{
	const struct utrail_trace_recorder *recorder = impl->trace->recorder;
	const struct fst_format *common = atomic_load(&impl->trace->common);
	struct fst_recorded *recorded = recorder ? calloc(1, sizeof(*recorded)) : NULL;

	if (!recorded)
		return;
	recorded->id = recorder->declare(impl->id, impl->format->text,
					 common ? common->text : NULL);
	if (!recorded->id) {
		free(recorded);
		return;
	}
	recorded->choice = recorder->choose(recorded->id, impl->id);
	recorded->common = common;
	recorded->is_plain = impl->format->is_plain && (!common || common->is_plain);
	recorded->next = atomic_load(&impl->recorded);
	atomic_store_explicit(&impl->recorded, recorded, memory_order_release);
}

void fst_recorded_free(struct fstrace_event_impl *impl)
{
	struct fst_recorded *recorded = atomic_load(&impl->recorded);

	while (recorded) {
		struct fst_recorded *next = recorded->next;

		free(recorded);
		recorded = next;
	}
}

/* HOT. */
bool fst_recorded_write(const struct fstrace_event_impl *impl, const struct fst_recorded *recorded,
			const struct fst_spot *spot, struct fst_values *values)
{
	const struct utrail_trace_recorder *recorder = impl->trace->recorder;
	struct utrail_trace_place place;
	struct fst_values copy; /* should there be too little room */
	struct fst_text payload;
	int found = recorder->begin(recorded->id, &place);

	if (found <= 0)
		return found == 0;
	fst_text_init_at(&payload, place.at, place.room);
	va_copy(copy.list, values->list);
	fst_add_values(&payload, recorded->common, impl->format, spot, &copy);
	va_end(copy.list);
	recorder->end(recorded->id, &place, payload.has_failed ? SIZE_MAX : payload.len);
	return !payload.has_failed;
}

void fst_recorded_emit(const struct fstrace_event_impl *impl, const struct fst_recorded *recorded,
		       const struct fst_text *payload)
{
	if (!payload->has_failed)
		impl->trace->recorder->emit(recorded->id, payload->base, payload->len);
}
