/* Decides when a recording ends, from living processes and interrupts. It makes no system calls. */
#ifndef UTRAIL_CMDS_RECORD_BASE_ALIVE_H
#define UTRAIL_CMDS_RECORD_BASE_ALIVE_H

#include <stdbool.h>

/*
 * A recording goes on until the program has ended, and so have all that it left running (other
 * traced processes, children that may still report themselves). Interrupts (any signal that asks a
 * process to end) are left to the program, with two exceptions:
 *
 *   - from the second one on, or from the first one on after the program's end, processes that it
 *     left running are not waited for;
 *   - from the second one on the program itself is waited for only for a number of ticks. It may be
 *     about to end by this very interrupt, and then its status is wanted; or it may not care for
 *     interrupts.
 *
 * If @leaves_rest is set before the start, the wait for processes that the program left running is
 * only a number of ticks.
 *
 * All other fields are for alive.c. Starts as { 0 }.
 */
struct alive {
	unsigned nr_followed;
	unsigned nr_interrupts;
	unsigned ticks;	      /* passed since the second interrupt */
	unsigned final_ticks; /* passed since the third interrupt */
	unsigned rest_ticks;  /* passed since the program's end */
	unsigned last_rounds; /* rounds with a message although all processes had ended */
	bool leaves_rest;
	bool program_ended;
	bool is_alone;	    /* processes that the program left running are not waited for */
	bool has_left_rest; /* the waiting ended, since it has taken too long */
	/* for processes left running, after the last known one had ended */
	bool has_looked;
};

#define ALIVE_TICK_MS	  100
#define ALIVE_TICKS	  50 /* how long the program may take after a second interrupt */
#define ALIVE_FINAL_TICKS 10 /* and after a third interrupt */
#define ALIVE_REST_TICKS  20 /* and processes that it left running, with @leaves_rest */
#define ALIVE_LAST_ROUNDS 16

/* A process begins to be followed, or was seen to end. */
void alive_add(struct alive *a);
void alive_remove(struct alive *a);

/* The program has ended, and its status was taken, if it is our child. */
void alive_program_ended(struct alive *a);

/* A signal asks for the end. True when the program still runs and must be told. */
bool alive_interrupt(struct alive *a);

/* True when ticks must be counted now; the second function counts one. */
bool alive_wants_ticks(const struct alive *a);
void alive_tick(struct alive *a);

/*
 * The work that the machine does not do itself. These functions report their findings by the
 * functions above.
 *
 * @serve: serve events that are there or, when @waits, at least one; that may be a tick when
 *         alive_wants_ticks(). Returns their number, or negative errno.
 * @look: look for processes that were left running and are not known yet
 * @reap: look whether the program has ended
 */
struct alive_ops {
	int (*serve)(void *arg, bool waits);
	void (*look)(void *arg);
	void (*reap)(void *arg);
};

/* Until it is over: 0, or negative errno of @serve. */
int alive_run(struct alive *a, const struct alive_ops *ops, void *arg);

/* After alive_run(): whether the program went on. */
static inline bool alive_program_runs(const struct alive *a)
{
	return !a->program_ended;
}

#endif
