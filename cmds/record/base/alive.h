/*
 * Decides when a recording ends: what is alive, which interrupts came, and what comes next. It
 * makes no system calls.
 */
#ifndef UTRAIL_CMDS_RECORD_BASE_ALIVE_H
#define UTRAIL_CMDS_RECORD_BASE_ALIVE_H

#include <stdbool.h>

/*
 * A recording goes on until the program has ended, and so have all that it left running (other
 * traced processes, children that may still report themselves). Interrupts (any signal that asks a
 * process to end) are the program's business, with two exceptions:
 *
 *   - from the second one on, or once the program has ended from the first one on, nobody waits for
 *     processes that it left running;
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
	unsigned final_ticks; /* passed since the third one */
	unsigned rest_ticks;  /* passed since the program's end */
	unsigned last_rounds; /* in which somebody had something to say though all were over */
	bool leaves_rest;
	bool program_ended;
	bool is_alone;	    /* processes that the program left running are not waited for */
	bool has_left_rest; /* it is not, since it has taken too long */
	/* for those that it left running, after the last one that is known had ended */
	bool has_looked;
};

#define ALIVE_TICK_MS	  100
#define ALIVE_TICKS	  50 /* how long the program may take after a second interrupt */
#define ALIVE_FINAL_TICKS 10 /* and after a third one */
#define ALIVE_REST_TICKS  20 /* and processes that it left running, with @leaves_rest */
#define ALIVE_LAST_ROUNDS 16

/* A process begins to be followed, or was seen to end. */
void alive_add(struct alive *a);
void alive_remove(struct alive *a);

/* The program has ended, and its status, if it is ours to have, was taken. */
void alive_program_ended(struct alive *a);

/* Somebody asks for the end. True when the program is still there to be told of it. */
bool alive_interrupt(struct alive *a);

/* True when ticks are to be counted now; and count one of them. */
bool alive_wants_ticks(const struct alive *a);
void alive_tick(struct alive *a);

/*
 * The work that the machine does not do itself. All of it reports its findings by the functions
 * above. All of it tells the machine what it finds, by the functions above.
 *
 * @serve: serve events: what is there already, or, when @waits, at least one, a tick among them
 *         when alive_wants_ticks(). Returns their number, or negative errno.
 * @look: for processes that were left running and that nobody knows of yet
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
