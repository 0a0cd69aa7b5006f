/* Events that the program declares (see declared.h): the probe's side of trace/seam/recorder.h. */
#include "libmcount/values/declared.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "libmcount/system/arena.h"
#include "libmcount/system/channel.h"
#include "libmcount/values/emit.h"
#include "libmcount/hot/guard.h"
#include "libmcount/system/undo.h"
#include "libmcount/values/points.h"
#include "libmcount/system/own_syscall.h"
#include "trace/seam/recorder.h"
#include "utils/format/probe/attach.h"
#include "utils/format/event_ids.h"

/* --- declared events --- */

/*
 * The user's choice for each declared event, as the recorder has sent it: -1 is off, 1 is on, and 0
 * is no choice. Chunks of choices are mapped when they are first needed. A chunk stays mapped until
 * the probe leaves the program.
 */
#define CHOICES_CHUNK 4096U

static _Atomic(_Atomic int8_t *) choices[EVENT_USER_MAX / CHOICES_CHUNK + 1];

static _Atomic int8_t *choice_of(uint32_t id, bool makes)
{
	uint32_t at = id - EVENT_ID_USER;
	_Atomic int8_t *chunk = atomic_load(&choices[at / CHOICES_CHUNK]);
	_Atomic int8_t *none = NULL;

	if (!chunk && makes) {
		chunk = (_Atomic int8_t *)own_syscall(SYS_mmap, NULL, (size_t)CHOICES_CHUNK,
						      PROT_READ | PROT_WRITE,
						      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0L);
		if (chunk == MAP_FAILED)
			return NULL;
		/* If another thread was faster, its chunk is used. */
		if (atomic_compare_exchange_strong(&choices[at / CHOICES_CHUNK], &none, chunk)) {
			undo_note_memory((void *)chunk, CHOICES_CHUNK);
		} else {
			own_syscall(SYS_munmap, chunk, (size_t)CHOICES_CHUNK);
			chunk = none;
		}
	}
	return chunk ? &chunk[at % CHOICES_CHUNK] : NULL;
}

union packet {
	struct control_declare m;
	char bytes[CONTROL_MSG_MAX];
};

/* Appends @text and its NUL to the packet. Returns false when there is no room. */
static bool add_text(union packet *packet, size_t *len, const char *text)
{
	size_t more = strlen(text) + 1;

	if (more > sizeof(packet->bytes) - *len)
		return false;
	memcpy(packet->bytes + *len, text, more);
	*len += more;
	return true;
}

/*
 * True when the recorder has failed to answer. The probe does not ask again: each wait takes
 * seconds.
 */
static _Atomic bool has_given_up;

/* False when there was no answer. */
static bool send_declaration(union packet *packet, size_t len, struct control_declared *answer)
{
	struct channel ch cleanup(channel_close);

	channel_init(&ch);
	return channel_greet(&ch, CONTROL_EVENTS) &&
	       channel_send(&ch, CONTROL_DECLARE, packet, len) &&
	       channel_wait(&ch, CONTROL_DECLARED, answer, sizeof(*answer));
}

static bool note_choice(const struct control_declared *answer)
{
	_Atomic int8_t *choice = choice_of(answer->event, true);

	if (choice)
		atomic_store(choice, answer->choice < 0 ? -1 : answer->choice > 0);
	return choice;
}

/*
 * Declares an event to the recorder. Returns the number of the event, or 0 when the event gets no
 * number. The recorder counts the declarations that it refuses. During a recording, the probe
 * counts the declarations that fail for other reasons.
 */
static uint32_t declare_now(const char *id, const char *format, const char *common)
{
	union packet packet = { .m = { .has_common = common != NULL } };
	size_t len = offsetof(struct control_declare, texts);
	struct control_declared answer = { .event = 0 };

	if (!probe.ready || !probe.tracing)
		return 0;
	/* Users choose events by name (-E), so an event must have a name. */
	if (!*id) {
		atomic_fetch_add(&probe.arena->events_nameless, 1);
		return 0;
	}
	if (add_text(&packet, &len, id) && add_text(&packet, &len, format) &&
	    (!common || add_text(&packet, &len, common)) && seal_may_talk() &&
	    !atomic_load(&has_given_up)) {
		if (!send_declaration(&packet, len, &answer))
			atomic_store(&has_given_up, true);
		else if (!answer.event)
			return 0;
		else if (note_choice(&answer))
			return answer.event;
	}
	atomic_fetch_add(&probe.arena->events_undeclared, 1);
	return 0;
}

/* COLD. Calls declare_now(). During the call, the thread counts as inside of the probe (undo.h). */
static uint32_t declare_event(const char *id, const char *format, const char *common)
{
	undo_enter();

	uint32_t event = declare_now(id, format, common);

	undo_exit();
	return event;
}

static int choose_declared(uint32_t event, const char *id)
{
	_Atomic int8_t *choice = event - EVENT_ID_USER < EVENT_USER_MAX ? choice_of(event, false)
									: NULL;

	return choice ? atomic_load(choice) : 0;
}

/* --- choices that change --- */

/*
 * The largest number of watchers. Each copy of libutrail-trace in the process has one watcher. A
 * process has few copies: each plugin that was linked with the library may have its own copy.
 */
#define WATCHERS_MAX 16

static _Atomic(bool (*)(void)) watchers[WATCHERS_MAX];

/* Replaces the watcher @before by @now. False when @before is not in the list. */
static bool put_watcher(bool (*before)(void), bool (*now)(void))
{
	for (unsigned i = 0; i < WATCHERS_MAX; i++) {
		bool (*expected)(void) = before;

		if (atomic_compare_exchange_strong(&watchers[i], &expected, now))
			return true;
	}
	return false;
}

static bool set_watcher(bool (*fn)(void), bool is_on)
{
	bool was_there = put_watcher(fn, is_on ? fn : NULL);

	return !is_on || was_there || put_watcher(NULL, fn);
}

int64_t declared_choose(const struct attach_choice *list, uint64_t nr)
{
	for (uint64_t i = 0; i < nr; i++) {
		struct control_declared said = { .event = list[i].event, .choice = list[i].choice };

		if (said.event - EVENT_ID_USER >= EVENT_USER_MAX)
			return -EINVAL;
		if (!note_choice(&said))
			return -ENOMEM;
	}
	return 0;
}

int64_t declared_chosen(void)
{
	for (unsigned i = 0; i < WATCHERS_MAX; i++) {
		bool (*fn)(void) = atomic_load(&watchers[i]);

		if (fn && !fn())
			return -EAGAIN;
	}
	return 0;
}

/* --- records --- */

struct begin_payloads {
	struct thread *t;
	struct thread *p;
};

static struct thread *make_writer(struct thread *t)
{
	return t->payloads = undo_new_memory(sizeof(struct thread));
}

static void begin_payloads(void *arg)
{
	struct begin_payloads *b = arg;
	struct thread *t = b->t;
	uint64_t mask;
	/*
	 * Block signals: if a handler jumped out of this function after arena_claim_ring(), the
	 * claimed ring could stay unused.
	 */
	bool is_quiet = own_quiet_begin(&mask);
	struct thread *p = t->payloads ? t->payloads : make_writer(t);
	/*
	 * A signal handler that has interrupted a hook may call fork(2). In the child,
	 * t->leaves_ring is set, and the hook goes on. Until the hook has ended in the child, the
	 * free rings belong to the parent, so the child claims no ring.
	 */
	struct ring *r = p && !t->leaves_ring ? arena_claim_ring() : NULL;

	if (r) {
		uint32_t index = r->index;

		/*
		 * One thread of the recorder reads both t->ring and r. With this index,
		 * ring_wake_writer(r) wakes that thread.
		 */
		r->index = t->ring->index;
		p->at = p->end = NULL;
		p->position = p->stalled_tail = 0;
		p->ring = r;
		atomic_store(&r->state, RING_PAYLOADS);
		/* This store publishes the ring. */
		atomic_store_explicit(&t->ring->payloads, index + 1, memory_order_release);
		b->p = p;
	} else if (!t->leaves_ring) {
		t->has_no_payloads = 1;
		atomic_fetch_add(&probe.arena->threads_without_payloads, 1);
	}
	if (is_quiet)
		own_quiet_end(mask);
}

/*
 * Returns t->payloads, which has a ring for the payloads of @t. Returns NULL when there is no such
 * ring. t->ring must not be NULL.
 */
static struct thread *payloads_of(struct thread *t)
{
	struct thread *p = t->payloads;

	if (unlikely(!p || !p->ring)) {
		struct begin_payloads b = { .t = t };

		if (!t->has_no_payloads)
			slow_call(begin_payloads, &b);
		p = b.p;
	}
	if (likely(p))
		p->aside = t->aside; /* for aside_needs_quiet(p), while p waits for room */
	return p;
}

/* The length of the longest payload that fits in a segment, together with records of losses. */
static inline uint64_t longest(void)
{
	uint64_t room = probe.arena->segment_bytes - 4 * sizeof(struct record) -
			sizeof(struct event_data);

	return MIN(room, (uint64_t)EVENT_DATA_MAX);
}

static inline struct event_data make_entry(uint32_t id, uint64_t len)
{
	uint64_t max = longest();

	if (unlikely(len > max))
		atomic_fetch_add(&probe.arena->events_cut, 1);
	return (struct event_data){
		.id = id,
		.flags = len > max ? EVENT_DATA_CUT : 0,
		.len = MIN(len, max),
	};
}

/*
 * HOT. The payload is written first, so that a reader that finds the record also finds the payload.
 */
static bool write_entry(struct thread *t, struct event_data *entry, uint64_t time_ns,
			const void *payload)
{
	uint32_t bytes = sizeof(*entry) + ALIGN_UP(entry->len, 8U);
	/* Reserve the record before payloads_of(): hot_reserve() gives a forked child its ring. */
	char *at = hot_reserve(t, sizeof(struct record));
	struct thread *p = likely(at) ? payloads_of(t) : NULL;
	char *data = likely(p) ? hot_reserve(p, bytes) : NULL;

	/* The recording may have ended during a wait for room. */
	if (unlikely(!data || !t->at || !p->ring))
		return false;
	entry->time_ns = time_ns ? time_ns : hot_clock(t);
	*(struct event_data *)data = *entry;
	hot_commit(p, emit_put_bytes(data + sizeof(*entry), payload, entry->len));
	hot_commit(t, put_record(t->at, entry->time_ns, record_data(RECORD_EVENT, 0, entry->id)));
	return true;
}

/*
 * WARM. @t is the aside of a thread (aside.h). Writes record, entry and payload, one after the
 * other, to the buffer of @t.
 */
static bool write_aside(struct thread *t, const struct event_data *entry, const void *payload)
{
	uint64_t bytes = sizeof(*entry) + ALIGN_UP(entry->len, 8U);
	char *at = hot_reserve(t, sizeof(struct record) + sizeof(bytes) + bytes);

	if (!at)
		return false;
	at = put_record(at, hot_clock(t), record_data(RECORD_EVENT, 0, entry->id) | RECORD_MORE);
	at = emit_put_bytes(at, &bytes, sizeof(bytes));
	at = emit_put_bytes(at, entry, sizeof(*entry));
	hot_commit(t, emit_put_bytes(at, payload, entry->len));
	return true;
}

bool declared_record(struct thread *t, uint32_t id, const void *payload, uint64_t len)
{
	struct event_data entry = make_entry(id, len);
	bool is_done = unlikely(t->is_aside) ? write_aside(t, &entry, payload)
					     : write_entry(t, &entry, 0, payload);

	if (unlikely(!is_done))
		note_lost(t, 1);
	return is_done;
}

bool declared_from_aside(struct thread *t, const struct event_data *entry, uint64_t time_ns)
{
	struct event_data copy = *entry;

	return write_entry(t, &copy, time_ns, entry + 1);
}

/* HOT. */
static bool put_declared_event(uint32_t event, const void *payload, size_t len)
{
	struct thread *t = point_begin((uint64_t)__builtin_frame_address(0));
	bool is_done;

	if (unlikely(!t))
		return false;
	point_write_entries(t);
	is_done = event - EVENT_ID_USER < EVENT_USER_MAX && declared_record(t, event, payload, len);
	guard_leave(t);
	return is_done;
}

/*
 * open_place() requires room for a struct event_data and PLACE_MIN more bytes in a segment. The
 * PLACE_MIN bytes are for a payload and the zeros after the payload. Most payloads need less than
 * PLACE_MIN bytes. If a segment has less room left, this room stays unused. Since PLACE_MIN is
 * small, little room is wasted.
 */
#define PLACE_MIN 256

/* HOT: makes room for the record, and for the entry with its payload. Nothing is published yet. */
static bool open_place(struct thread *t, struct utrail_trace_place *place)
{
	char *at = hot_reserve(t, sizeof(struct record));
	struct thread *p = likely(at) ? payloads_of(t) : NULL;
	char *data = likely(p) ? hot_reserve(p, sizeof(struct event_data) + PLACE_MIN) : NULL;

	if (unlikely(!data || !t->at || !p->ring))
		return false;
	place->owner = t;
	place->at = data + sizeof(struct event_data);
	/*
	 * The payload must not use the last word of the free room, because end_declared() stores a
	 * whole word of zeros directly after the payload.
	 */
	place->room = MIN((uint64_t)(p->end - data) - sizeof(struct event_data) - sizeof(uint64_t),
			  longest());
	place->time_ns = hot_clock(t);
	return true;
}

/*
 * HOT. Begins an event whose payload the library writes to @place. Until end_declared() is called,
 * the records of the thread's signal handlers go to the thread's aside (aside.h).
 */
static int begin_declared(uint32_t event, struct utrail_trace_place *place)
{
	struct thread *t = point_begin((uint64_t)__builtin_frame_address(0));

	if (unlikely(!t))
		return 0;
	point_write_entries(t);
	if (likely(!t->is_aside && event - EVENT_ID_USER < EVENT_USER_MAX && open_place(t, place)))
		return 1;
	guard_leave(t);
	return -1;
}

/* HOT. Completes the event whose payload of @len bytes is in @place. */
static bool end_declared(uint32_t event, const struct utrail_trace_place *place, size_t len)
{
	const struct event_data entry = { .id = event, .len = len, .time_ns = place->time_ns };
	const uint64_t zeros = 0;
	struct thread *t = place->owner;
	struct thread *p = t->payloads;
	/*
	 * After open_place(), the recording may have ended. In that case, nothing is written. A
	 * signal handler may also have forked after open_place(). In the child, the place is
	 * private memory, so a write does no harm.
	 */
	bool is_done = likely(len <= place->room && t->at && p->ring);

	if (is_done) {
		char *at = place->at;

		__builtin_memcpy(at + len, &zeros, sizeof(zeros));
		*(struct event_data *)(at - sizeof(entry)) = entry;
		hot_commit(p, at + ALIGN_UP(len, 8U));
		hot_commit(t,
			   put_record(t->at, place->time_ns, record_data(RECORD_EVENT, 0, event)));
	}
	guard_leave(t);
	return is_done;
}

const struct utrail_trace_recorder *declared_recorder(void)
{
	static const struct utrail_trace_recorder recorder = {
		.abi = UTRAIL_TRACE_ABI,
		.size = sizeof(recorder),
		.declare = declare_event,
		.choose = choose_declared,
		.emit = put_declared_event,
		.begin = begin_declared,
		.end = end_declared,
		.watch = set_watcher,
	};

	return &recorder;
}

const struct utrail_trace_recorder *utrail_trace_recorder(uint32_t abi)
{
	/*
	 * The library keeps the result forever, but an attached probe may be unloaded. So an
	 * attached probe returns NULL here, and connects itself to the library (trace_copies.h).
	 */
	return abi == UTRAIL_TRACE_ABI && probe.ready && !probe.is_attached ? declared_recorder()
									    : NULL;
}
