/* Decides when a recording ends, from living processes and interrupts. It makes no system calls. */
#ifndef UTRAIL_CMDS_RECORD_BASE_ALIVE_H
#define UTRAIL_CMDS_RECORD_BASE_ALIVE_H

#include <stdbool.h>

/*
 * A recording goes on until the program, and all traced processes that it left running, have ended.
 * An interrupt is a signal that asks the recorder to end. The first interrupt is left to the
 * program.
 *
 * - After a second interrupt, or an interrupt after the program's end, processes that the program
 *   left running are not waited for.
 * - After the second interrupt the program has ALIVE_TICKS to end; after the third one,
 *   ALIVE_FINAL_TICKS.
 * - If @leaves_rest is set before the start, processes that the program left running have
 *   ALIVE_REST_TICKS to end.
 *
 * All other members are for alive.c. Starts as { 0 }.
 */
struct alive {
	unsigned nr_followed;
	unsigned nr_interrupts;
	unsigned ticks;	      /* passed since the second interrupt */
	unsigned final_ticks; /* passed since the third interrupt */
	unsigned rest_ticks;  /* passed since the program's end */
	unsigned last_rounds; /* rounds that still had a message after all processes had ended */
	bool leaves_rest;
	bool program_ended;
	bool is_alone;	    /* processes that the program left running are not waited for */
	bool has_left_rest; /* waiting for these processes has taken too long and was ended */
	/* a look for unknown processes was made after the last known one had ended */
	bool has_looked;
};

#define ALIVE_TICK_MS	  100
#define ALIVE_TICKS	  50 /* ticks that the program may take after a second interrupt */
#define ALIVE_FINAL_TICKS 10 /* ticks that the program may take after a third interrupt */
#define ALIVE_REST_TICKS  20 /* ticks for processes that it left running, with @leaves_rest */
#define ALIVE_LAST_ROUNDS 16

/* alive_add(): a process begins to be followed. alive_remove(): it was seen to end. */
void alive_add(struct alive *a);
void alive_remove(struct alive *a);

/* Note the end of the program. If it is a child of the recorder, its status was taken before. */
void alive_program_ended(struct alive *a);

/* Handle a signal that asks for the end. True when the program still runs and must be told. */
bool alive_interrupt(struct alive *a);

/* alive_wants_ticks(): true when ticks must be counted now. alive_tick(): count a tick. */
bool alive_wants_ticks(const struct alive *a);
void alive_tick(struct alive *a);

/*
 * The work of alive.c's caller, which reports findings by the functions above.
 *
 * @serve: serve events; with @waits, wait for the first. While alive_wants_ticks(), ticks are
 *         events. Returns their number, or negative errno
 * @look: look for unknown processes that were left running
 * @reap: check whether the program has ended
 */
struct alive_ops {
	int (*serve)(void *arg, bool waits);
	void (*look)(void *arg);
	void (*reap)(void *arg);
};

/* Go on until the recording is over. Returns 0, or negative errno of @serve. */
int alive_run(struct alive *a, const struct alive_ops *ops, void *arg);

/* True when the program goes on after alive_run(). */
static inline bool alive_program_runs(const struct alive *a)
{
	return !a->program_ended;
}

#endif
