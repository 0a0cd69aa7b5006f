/*
 * Sends events to the recorder (seam/recorder.h), if this process has a recorder. In a recording,
 * the events have the names "posix:NAME". record.c puts the same events into streams.
 */
#include "posix/posix.h"

#include <errno.h>
#include <string.h>

#include "events/door.h"
#include "seam/recorder.h"
#include "text/payload.h"

FST_TAKE_DOOR;

/* The maximum number of bytes that are copied from an event's data. No record has room for more. */
#define COPY_MAX 65536

static const struct utrail_trace_recorder *_Atomic recorder;
static _Atomic uint32_t was_asked;
/*
 * The number that the recorder has given to each event, or 0 if the event is not recorded. The
 * index is the id of the event minus PT_UNNAMED.
 */
static _Atomic uint32_t numbers[PT_NR_NAMED + 1];

/* Stores the recorder if there is one, unless another thread has stored a recorder already. */
static void look_up_recorder(void)
{
	const struct utrail_trace_recorder *found = fst_find_recorder(), *none = NULL;

	if (found)
		atomic_compare_exchange_strong(&recorder, &none, found);
	atomic_store(&was_asked, 1);
}

static void declare_name(uint32_t id, const char *name)
{
	const struct utrail_trace_recorder *to = atomic_load(&recorder);
	char prefixed[PT_NAME_MAX + 8] = "posix:";
	uint32_t number;

	if (atomic_load(&numbers[id - PT_UNNAMED]))
		return;
	memcpy(prefixed + 6, name, strnlen(name, PT_NAME_MAX));
	number = to->declare(prefixed, "DATA=%B", NULL);
	if (number) {
		atomic_store(&numbers[id - PT_UNNAMED], number);
		atomic_store(&pxt_process.is_recorded, 1);
	}
}

/* Declares the events PT_UNNAMED and @id to the recorder. May wait for the recorder. */
void pxt_recorded_declare(uint32_t id, const char *name)
{
	if (!atomic_load(&was_asked))
		look_up_recorder();
	if (!atomic_load(&recorder))
		return;
	declare_name(PT_UNNAMED, "unnamed");
	if (id > PT_UNNAMED)
		declare_name(id, name);
}

int pxt_recorded_came(const struct utrail_trace_recorder *door)
{
	char name[PT_NAME_MAX + 1];
	struct pxt_names *names;
	int ret;

	pxt_recorded_went();
	/* From now on, posix_trace_eventid_open() declares each name to the recorder. */
	atomic_store(&recorder, door);
	atomic_store(&was_asked, 1);
	ret = pxt_known_names(&names);
	if (ret < 0 || !names)
		return ret;
	declare_name(PT_UNNAMED, "unnamed");
	for (uint32_t id = PT_FIRST_NAMED; pxt_names_get(names, id, name); id++)
		declare_name(id, name);
	return 0;
}

/*
 * Removes the numbers that a former recorder has given. Another thread may store such a number
 * during this call. Such a number has no effect (door.c).
 */
void pxt_recorded_went(void)
{
	atomic_store(&pxt_process.is_recorded, 0);
	for (uint32_t at = 0; at < sizeof(numbers) / sizeof(numbers[0]); at++)
		atomic_store(&numbers[at], 0);
}

/*
 * Emits a copy of the data. The recorder cuts a payload that is too long for a record. The payload
 * begins with the length of all data, so readers notice that bytes are missing.
 */
__attribute__((noinline)) static void emit_copy(const struct utrail_trace_recorder *to,
						uint32_t number, const void *data, size_t len)
{
	struct fst_text payload;

	fst_text_init(&payload);
	fst_add_u32(&payload, len < FST_NULL ? (uint32_t)len : FST_NULL - 1);
	fst_put(&payload, data ? data : "", len < COPY_MAX ? len : COPY_MAX);
	to->emit(number, payload.base, payload.len);
	fst_text_free(&payload);
}

/* HOT. Sends an event to the recorder. Between begin() and end() no function is called. */
static void put_recorded(uint32_t id, const void *data, size_t len)
{
	const struct utrail_trace_recorder *to = atomic_load_explicit(&recorder,
								      memory_order_relaxed);
	uint32_t number = atomic_load_explicit(&numbers[id - PT_UNNAMED], memory_order_relaxed);
	struct utrail_trace_place place;
	struct fst_text payload;
	int found;

	/* Ask at each event, since the user may choose other events while the program runs. */
	if (!number || to->choose(number, "posix") < 0)
		return;
	found = to->begin(number, &place);
	if (found < 0)
		emit_copy(to, number, data, len);
	if (found <= 0)
		return;
	/*
	 * If numbers[] now has another value than @number, the recorder that gave @number has
	 * detached. @place may come from the detached recorder or from a newer recorder. In either
	 * case, @place is given back unused.
	 */
	if (PT_UNLIKELY(atomic_load_explicit(&numbers[id - PT_UNNAMED], memory_order_relaxed) !=
			number)) {
		to->end(number, &place, SIZE_MAX);
		return;
	}
	if (PT_UNLIKELY(place.room < sizeof(uint32_t) + len)) {
		to->end(number, &place, SIZE_MAX);
		emit_copy(to, number, data, len);
		return;
	}
	fst_text_init_at(&payload, place.at, place.room);
	fst_add_bytes(&payload, data ? data : "", len);
	to->end(number, &place, payload.len);
}

void pxt_recorded_emit(uint32_t id, const void *data, size_t len)
{
	int error = errno;

	put_recorded(id, data, len);
	errno = error;
}
