/*
 * A simulated attached process. It logs the actions of cmds/record/attach/ word by word, with
 * results that the test has chosen. Linked with --wrap for the functions of attached.h,
 * callable_thread.h, maps.h, text.h and unwind.h.
 */
#ifndef UTRAIL_TESTS_UNIT_PLAYED_H
#define UTRAIL_TESTS_UNIT_PLAYED_H

#include "tests/unit/lib/unit.h"

#include "cmds/record/attach/attaching.h"

#define SCRIPTED_PID 4711

/* The addresses of modules in the simulated process, and of places in them. */
#define SCRIPTED_LIBC	     0x10000ULL
#define SCRIPTED_LIBC_END    0x20000ULL
#define SCRIPTED_LINKER	     0x20000ULL
#define SCRIPTED_LINKER_CODE 0x22000ULL
#define SCRIPTED_LINKER_END  0x30000ULL
#define SCRIPTED_PROBE	     0x30000ULL
#define SCRIPTED_PROBE_CODE  0x32000ULL
#define SCRIPTED_PROBE_END   0x40000ULL
#define SCRIPTED_ROOM	     0x50000ULL
#define SCRIPTED_ATTACH	     (SCRIPTED_PROBE_CODE + 1)
#define SCRIPTED_LEAVE	     (SCRIPTED_PROBE_CODE + 2)
#define SCRIPTED_NOWHERE     0xdead000ULL

/*
 * After @later more actions @word, the next one returns @ret and yields @result. All other actions
 * succeed and yield 0. For words that begin with "put-in" or "take-out", @result changes are left
 * over.
 */
void scripted_answer(const char *word, unsigned later, int ret, uint64_t result);

/* The same for each action @word. */
void scripted_answer_always(const char *word, int ret, uint64_t result);

/* Returns the actions since the last time, with blanks between. */
const char *scripted_log(void);

/* Check that each chosen answer was used. */
void scripted_check_over(void);

/*
 * @has_probe: the probe is mapped, from the next look at the maps on. dlopen(3) and dlclose(3)
 * change this, unless @keeps_probe. dlopen(3) also does so if it fails with a @result
 * @has_libc, @has_musl, @has_linker: the same for these libraries
 * @libc_after: the C library is mapped after so many pauses; 0: never
 * @now_us: the time, which advances only in pauses, and by @look_us when the text is looked at
 * @is_former: the opened memory is that of a former program, in which nothing is found, until it is
 * opened again
 * @room: the memory at SCRIPTED_ROOM
 * @in: changes that are in the text: a bit for each, by its place in text->changes, as text_is_in()
 * returns
 * @waits: the number of pauses
 * @nr_changes, @changes: the changes that text_read() returns
 * @pc: the places where signals have interrupted the threads; 0: none
 */
struct scripted {
	bool has_probe;
	bool keeps_probe;
	bool has_libc;
	bool has_musl;
	bool has_linker;
	unsigned libc_after;
	uint64_t now_us;
	uint64_t look_us;
	bool is_former;
	bool has_leave;
	const char *missing; /* a function that no module exports */
	_Alignas(64) uint8_t room[ATTACHED_ARGS_BYTES];
	struct attach_change changes[16];
	size_t nr_changes;
	uint64_t in;
	unsigned waits;
	uint64_t pc;
	struct attached_thread threads[2];
};
extern struct scripted scripted;

/* Begin with a process that has everything but the probe, and with an empty log. */
void scripted_begin(void);

/* Returns the state of an attachment in progress. The caller passes it to attaching_done(). */
struct attaching *scripted_make(void);

void scripted_wait(void *arg);

#endif
