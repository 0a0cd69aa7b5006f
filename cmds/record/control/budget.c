/* Keeps the cost of recording within a limit (see budget.h). */
#include "cmds/record/control/budget.h"

#include <stdlib.h>

#include "utils/base/compiler.h"

/*
 * If recorded calls cost more than room(), budget_decide() chooses functions whose calls will be
 * left out. The choice ends when the remaining calls cost at most AIM * room(). The rest of room()
 * is a reserve. If the cost of the remaining calls rises a little, budget_decide() chooses no
 * further function.
 */
#define AIM	0.7
/* At least this part of the limit is for recorded calls, even if other costs are high. */
#define LEAST	0.25
/*
 * A function that costs less than this part of the limit is never left out. The part is small: a
 * compiler, for example, has a thousand functions that cost little each, and much together.
 */
#define MATTERS 0.001

double budget_own_ns(const struct budget *b, const struct budget_time *t)
{
	double own = ((double)t->cpu_ns - t->calls * b->call_ns) / (1 + b->left_rate * b->left_ns);

	/*
	 * If the estimated cost of the calls exceeds the CPU time, the computed time is negative.
	 * To keep the result positive, at least 1/16 of the CPU time is returned.
	 */
	return MAX(own, (double)t->cpu_ns / 16);
}

/*
 * Returns the cost of recorded calls, divided by the program's own time. The cost includes the time
 * of the writers.
 */
static double recorded_part(const struct budget *b, const struct budget_time *t)
{
	return (t->calls * b->call_ns + (double)t->writer_ns) / budget_own_ns(b, t);
}

double budget_overhead(const struct budget *b, const struct budget_time *t)
{
	return t->cpu_ns ? recorded_part(b, t) + b->left_rate * b->left_ns + b->recorder_part : 0;
}

/*
 * Returns the gain if the function is left out. The gain is the cost of the function's calls,
 * multiplied by a factor that is smaller for longer calls.
 */
static double weight(const struct budget *b, const struct budget_func *f)
{
	return f->calls * b->call_ns / (b->call_ns + f->mean_ns);
}

/* A function that may be left out. @index: the function's index in @funcs of budget_decide() */
struct choice {
	double weight;
	size_t index;
};

/* Sorts by weight, the largest first. */
static int compare_choice(const void *a, const void *b)
{
	const struct choice *x = a;
	const struct choice *y = b;

	if (x->weight != y->weight)
		return x->weight < y->weight ? 1 : -1;
	return (x->index > y->index) - (x->index < y->index);
}

/* Lists the functions with more than @least calls, sorted by weight. Returns the list's length. */
static size_t list_choices(const struct budget *b, double least, const struct budget_func *funcs,
			   size_t nr, struct choice *choices)
{
	size_t nr_choices = 0;

	for (size_t i = 0; i < nr; i++) {
		if (!funcs[i].is_chosen && funcs[i].calls > least)
			choices[nr_choices++] = (struct choice){ weight(b, &funcs[i]), i };
	}
	qsort(choices, nr_choices, sizeof(*choices), compare_choice);
	return nr_choices;
}

/*
 * Returns the maximum cost of recorded calls, as a part of the program's own time.
 *
 * @left: the cost of left-out calls, as a part of the program's own time
 */
static double room(const struct budget *b, double left)
{
	return MAX(b->limit - left - b->recorder_part, b->limit * LEAST);
}

size_t budget_decide(struct budget *b, const struct budget_time *t, struct budget_func *funcs,
		     size_t nr)
{
	double left = b->left_rate * b->left_ns;
	double own = budget_own_ns(b, t);
	/* The cost of a recorded call, including the time of the writers. */
	double call_ns = b->call_ns + (t->calls > 0 ? (double)t->writer_ns / t->calls : 0);
	double least = MATTERS * b->limit * own / call_ns;
	double calls = t->calls;
	struct choice *choices;
	size_t nr_choices;
	size_t nr_chosen = 0;

	if (t->cpu_ns < BUDGET_CPU_MIN_NS || recorded_part(b, t) <= room(b, left))
		return 0;
	choices = malloc((nr + 1) * sizeof(*choices));
	if (!choices)
		return 0;
	nr_choices = list_choices(b, least, funcs, nr, choices);
	while (nr_chosen < nr_choices && calls * call_ns / own > room(b, left) * AIM) {
		struct budget_func *chosen = &funcs[choices[nr_chosen++].index];

		chosen->is_chosen = true;
		chosen->rate = chosen->calls / own;
		calls -= chosen->calls;
		left += chosen->can_go ? 0 : chosen->rate * b->left_ns;
	}
	free(choices);
	b->left_rate = left / b->left_ns;
	return nr_chosen;
}
