/*
 * Decides when a recording ends. The decision depends on the living processes and on interrupts.
 * Only the callbacks (struct alive_ops) make system calls.
 */
#ifndef UTRAIL_CMDS_RECORD_BASE_ALIVE_H
#define UTRAIL_CMDS_RECORD_BASE_ALIVE_H

#include <stdbool.h>

/*
 * A recording goes on until the program has ended, and until all traced processes that the program
 * left running have ended. An interrupt is a signal that asks the recorder to end.
 *
 * - After the first interrupt, the recorder still waits until the program ends by itself.
 * - After a second interrupt, or after an interrupt that follows the program's end, the recorder
 *   does not wait for processes that the program left running.
 * - The recorder waits for the program at most ALIVE_TICKS after the second interrupt, and at most
 *   ALIVE_FINAL_TICKS after the third one.
 * - With @leaves_rest, the recorder waits at most ALIVE_REST_TICKS after the program's end for
 *   processes that the program left running. No interrupt is needed for this limit.
 *
 * Other code may set @leaves_rest before the start, read @nr_followed at any time, and read
 * @has_left_rest after alive_run(). All other members are private to alive.c. The struct starts as
 * { 0 }.
 */
struct alive {
	unsigned nr_followed;
	unsigned nr_interrupts;
	unsigned ticks;	      /* ticks since the second interrupt */
	unsigned final_ticks; /* ticks since the third interrupt */
	unsigned rest_ticks;  /* ticks since the program's end */
	unsigned last_rounds; /* the number of calls of serve() in STEP_LAST that returned events */
	bool leaves_rest;
	bool program_ended;
	bool is_alone; /* do not wait for processes that the program left running */
	/* after ALIVE_REST_TICKS, there were still processes that the program left running */
	bool has_left_rest;
	/* the recorder has looked for unknown processes after the last call of alive_add() */
	bool has_looked;
};

#define ALIVE_TICK_MS	  100
#define ALIVE_TICKS	  50 /* ticks to wait for the program after the second interrupt */
#define ALIVE_FINAL_TICKS 10 /* ticks to wait for the program after the third interrupt */
#define ALIVE_REST_TICKS  20 /* with @leaves_rest: ticks to wait after the program's end */
#define ALIVE_LAST_ROUNDS 16

/* alive_add() begins to follow a process. alive_remove() notes the end of a followed process. */
void alive_add(struct alive *a);
void alive_remove(struct alive *a);

/*
 * Note the end of the program. If the program is a child of the recorder, the caller has already
 * called wait4().
 */
void alive_program_ended(struct alive *a);

/*
 * Handle an interrupt. Returns true when the program still runs. If the result is true, and the
 * interrupt was sent only to the recorder, the caller passes the interrupt on to the program.
 */
bool alive_interrupt(struct alive *a);

/* alive_wants_ticks() is true when ticks must be counted now. alive_tick() counts a tick. */
bool alive_wants_ticks(const struct alive *a);
void alive_tick(struct alive *a);

/*
 * The work that alive_run() leaves to its caller. The callbacks report results with alive_add(),
 * alive_remove() and alive_program_ended().
 *
 * @serve: serve events. With @waits, wait for the first event. While alive_wants_ticks() is true, a
 *         tick counts as an event. Returns the number of events, or a negative errno
 * @look: look for unknown processes that were left running
 * @reap: check whether the program has ended
 */
struct alive_ops {
	int (*serve)(void *arg, bool waits);
	void (*look)(void *arg);
	void (*reap)(void *arg);
};

/* Serve events until the recording is over. Returns 0, or the negative errno of @serve. */
int alive_run(struct alive *a, const struct alive_ops *ops, void *arg);

/* True when the program still runs after alive_run(). */
static inline bool alive_program_runs(const struct alive *a)
{
	return !a->program_ended;
}

#endif
