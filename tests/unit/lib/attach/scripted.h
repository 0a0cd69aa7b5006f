/*
 * A simulated attached process. It logs the actions of cmds/record/attach/ word by word, with
 * results that the test has chosen. Linked with --wrap for the functions of world.h, quiet.h,
 * maps.h, text.h and unwind.h.
 */
#ifndef UTRAIL_TESTS_UNIT_PLAYED_H
#define UTRAIL_TESTS_UNIT_PLAYED_H

#include "tests/unit/lib/unit.h"

#include "cmds/record/attach/attaching.h"

#define SCRIPTED_PID 4711

/* Addresses in the library. */
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
 * The next action @word, or the one after @later more of them, returns @ret and yields @result. All
 * others succeed and yield 0. For words that begin with "put-in" or "take-out", @result changes are
 * left over.
 */
void scripted_answer(const char *word, unsigned later, int ret, uint64_t result);

/* Likewise, each time. */
void scripted_answer_always(const char *word, int ret, uint64_t result);

/* Returns the actions since the last time, with blanks between. */
const char *scripted_log(void);

/* All answers were asked for. */
void scripted_check_over(void);

/*
 * @has_probe: it is mapped, from the next look at the maps on. dlopen(3) and dlclose(3) change it, unless @keeps_probe
 * @has_libc, @has_musl, @has_linker: likewise
 * @libc_after: the C library is mapped after so many pauses; 0: it does not come
 * @now_us: the time: it goes by in pauses alone, and by @look_us when the text is looked at
 * @is_former: the memory that is opened is that of a program that was there before, and has nothing
 * that is looked for; until it is opened again
 * @room: the memory at SCRIPTED_ROOM
 * @in: changes that are in the text, a bit for each by its place among text->changes, as text_is_in() says
 * @waits: how often it was let be
 * @nr_changes: what text_read() gives, @changes
 * @pc: where handlers of signals have interrupted the code of its threads; 0: nowhere
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

/* Begin with a process that has everything but the probe, in which nothing has happened. */
void scripted_begin(void);

/* One that is at work. For attaching_done(). */
struct attaching *scripted_make(void);

void scripted_wait(void *arg);

#endif
