/*
 * Sends events to the probe, if a probe is in the process. In this file, the probe is called "the
 * recorder" (see seam/recorder.h).
 */
#include "events/door.h"
#include "events/trace.h"

#include <stdlib.h>

FST_TAKE_DOOR;

/*
 * NULL until a recorder is in the process. After that, this pointer never changes. If the pointer
 * leads to a door (door.h), the door stays in memory when the recorder detaches.
 */
static const struct utrail_trace_recorder *_Atomic recorder;

static inline const struct utrail_trace_recorder *get_recorder(void)
{
	return atomic_load_explicit(&recorder, memory_order_acquire);
}

/* The open logs. Functions read and change the list only while they hold fst_lock_threads(). */
static fstrace_t *traces;

/*
 * Decides again whether the recorder gets the event. The program has chosen whether the log gets
 * the event, and this choice does not change.
 */
static void keep_text(struct fstrace_event_impl *impl)
{
	fst_choose(impl, atomic_load(&impl->event->consumers) & FST_TO_TEXT);
}

static void choose_again(const fstrace_t *trace)
{
	struct fstrace_event_impl *impl = atomic_load(&trace->first);

	for (; impl; impl = atomic_load(&impl->next)) {
		struct fst_recorded *recorded = atomic_load(&impl->recorded);

		if (!recorded || !atomic_load(&recorded->id))
			continue;
		recorded->choice = get_recorder()->choose(atomic_load(&recorded->id), impl->id);
		keep_text(impl);
	}
}

/*
 * Applies the user's new choice of events. Any thread may call this function. Returns false when
 * a thread holds fst_lock_threads().
 */
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

	fst_lock_threads(&held);
	if (!get_recorder())
		atomic_store(&recorder, fst_find_recorder());
	trace->next = traces;
	traces = trace;
	fst_unlock_threads(&held);
	if (get_recorder())
		get_recorder()->watch(take_choices, true);
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

/*
 * This copy of the library may be part of a plugin. When the plugin is unloaded, take_choices() is
 * unloaded. So this destructor tells the recorder not to call take_choices() any more.
 */
__attribute__((destructor)) static void stop_watching(void)
{
	if (get_recorder())
		get_recorder()->watch(take_choices, false);
}

static struct fst_recorded *make_recorded(const struct fst_format *format,
					  const struct fst_format *common)
{
	struct fst_recorded *recorded = calloc(1, sizeof(*recorded));

	if (!recorded)
		return NULL;
	recorded->common = common;
	recorded->is_plain = format->is_plain && (!common || common->is_plain);
	return recorded;
}

/*
 * Removes the number that the recorder gave to the event, and switches the event off for the
 * recorder. The memory at impl->recorded is not freed, since a thread may be using that memory.
 */
static void forget_event(struct fstrace_event_impl *impl)
{
	struct fst_recorded *recorded = atomic_load(&impl->recorded);

	if (!recorded)
		return;
	recorded->choice = -1;
	atomic_store(&recorded->id, 0);
	keep_text(impl);
}

void fst_recorded_declare(struct fstrace_event_impl *impl)
{
	const struct fst_format *common = atomic_load(&impl->trace->common);
	struct fst_recorded *last = atomic_load(&impl->recorded), *recorded = last;
	uint32_t id = 0;

	if (!get_recorder())
		return;
	/*
	 * Reuse @last if @last has no id any more (forget_event()), and has the log's present
	 * common format.
	 */
	if (!last || atomic_load(&last->id) || last->common != common)
		recorded = make_recorded(impl->format, common);
	if (recorded)
		id = get_recorder()->declare(impl->id, impl->format->text,
					     common ? common->text : NULL);
	if (!id) {
		if (recorded != last)
			free(recorded);
		/*
		 * The log has a new common format, but declare() has failed. Without
		 * forget_event(), the event's records and lines would still have the log's former
		 * common format.
		 */
		if (last && atomic_load(&last->id) && last->common != common)
			forget_event(impl);
		return;
	}
	recorded->choice = get_recorder()->choose(id, impl->id);
	atomic_store(&recorded->id, id);
	if (recorded != last) {
		recorded->next = last;
		atomic_store_explicit(&impl->recorded, recorded, memory_order_release);
	}
	keep_text(impl);
}

static void for_each_event(void (*fn)(struct fstrace_event_impl *impl))
{
	for (const fstrace_t *trace = traces; trace; trace = trace->next) {
		struct fstrace_event_impl *impl = atomic_load(&trace->first);

		for (; impl; impl = atomic_load(&impl->next))
			fn(impl);
	}
}

static void tell_recorder(struct fstrace_event_impl *impl)
{
	const struct fst_recorded *recorded = atomic_load(&impl->recorded);

	if (!recorded || !atomic_load(&recorded->id))
		fst_recorded_declare(impl);
	keep_text(impl);
}

int fst_recorded_came(const struct utrail_trace_recorder *door)
{
	atomic_store(&recorder, door);
	door->watch(take_choices, true);
	for_each_event(tell_recorder);
	return 0;
}

void fst_recorded_went(void)
{
	for_each_event(forget_event);
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
	const struct utrail_trace_recorder *to = get_recorder();
	/* begin() and end() must get the same id, even if the recorder detaches in between. */
	uint32_t id = atomic_load_explicit(&recorded->id, memory_order_relaxed);
	struct utrail_trace_place place;
	/*
	 * This function reads only a copy of @values, because a va_list can be read only once. If
	 * @place is too small, the caller must read @values.
	 */
	struct fst_values copy;
	struct fst_text payload;
	int found = to->begin(id, &place);

	if (found <= 0)
		return found == 0;
	/*
	 * If the id has changed meanwhile, the recorder that gave the id has detached. begin() may
	 * have got @place from this recorder or from a newer one. In both cases @place is given
	 * back unused.
	 */
	if (__builtin_expect(atomic_load_explicit(&recorded->id, memory_order_relaxed) != id, 0)) {
		to->end(id, &place, SIZE_MAX);
		return true;
	}
	fst_text_init_at(&payload, place.at, place.room);
	va_copy(copy.list, values->list);
	fst_add_values(&payload, recorded->common, impl->format, spot, &copy);
	va_end(copy.list);
	to->end(id, &place, payload.has_failed ? SIZE_MAX : payload.len);
	return !payload.has_failed;
}

void fst_recorded_emit(const struct fst_recorded *recorded, const struct fst_text *payload)
{
	if (!payload->has_failed)
		get_recorder()->emit(atomic_load(&recorded->id), payload->base, payload->len);
}
