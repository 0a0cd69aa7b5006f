/* Decides when a recording ends (see alive.h). */
#include "cmds/record/base/alive.h"

enum step {
	STEP_WAIT, /* the program or a followed process is alive */
	STEP_LOOK, /* no followed process is alive: look for unknown processes */
	STEP_LAST, /* the recording ends: serve the messages that are on their way */
};

void alive_add(struct alive *a)
{
	a->nr_followed++;
	a->has_looked = false;
}

void alive_remove(struct alive *a)
{
	if (a->nr_followed)
		a->nr_followed--;
}

void alive_program_ended(struct alive *a)
{
	a->program_ended = true;
}

bool alive_interrupt(struct alive *a)
{
	a->nr_interrupts++;
	if (a->nr_interrupts > 1 || a->program_ended)
		a->is_alone = true;
	return !a->program_ended;
}

static bool is_patient_with_rest(const struct alive *a)
{
	return a->leaves_rest && a->program_ended && a->nr_followed && !a->is_alone;
}

bool alive_wants_ticks(const struct alive *a)
{
	return (a->nr_interrupts > 1 && !a->program_ended) || is_patient_with_rest(a);
}

void alive_tick(struct alive *a)
{
	if (!alive_wants_ticks(a))
		return;
	if (a->program_ended) {
		a->is_alone = a->has_left_rest = ++a->rest_ticks >= ALIVE_REST_TICKS;
		return;
	}
	a->ticks++;
	if (a->nr_interrupts > 2)
		a->final_ticks++;
}

static bool is_out_of_patience(const struct alive *a)
{
	return a->ticks >= ALIVE_TICKS || a->final_ticks >= ALIVE_FINAL_TICKS;
}

static enum step next_step(const struct alive *a)
{
	if (!a->program_ended)
		return is_out_of_patience(a) ? STEP_LAST : STEP_WAIT;
	if (a->is_alone)
		return STEP_LAST;
	if (a->nr_followed)
		return STEP_WAIT;
	return a->has_looked ? STEP_LAST : STEP_LOOK;
}

int alive_run(struct alive *a, const struct alive_ops *ops, void *arg)
{
	for (;;) {
		enum step step = next_step(a);

		if (step == STEP_LOOK) {
			/*
			 * Set the flag before the search for processes: if the search finds a
			 * process, alive_add() clears the flag, and there will be another search.
			 */
			a->has_looked = true;
			ops->look(arg);
			continue;
		}

		int nr = ops->serve(arg, step == STEP_WAIT);

		if (nr < 0)
			return nr;
		if (step == STEP_WAIT)
			continue;
		/*
		 * The number of rounds is limited. Otherwise, endless messages could keep the
		 * recording from ending.
		 */
		if (nr == 0 || ++a->last_rounds == ALIVE_LAST_ROUNDS)
			break;
	}
	/* The program may have ended during the last rounds. */
	if (!a->program_ended)
		ops->reap(arg);
	return 0;
}
