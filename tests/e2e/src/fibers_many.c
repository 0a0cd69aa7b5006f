/*
 * Ten thousand coroutines, a hundred of them alive at a time, on stacks from the heap. Every third
 * one is abandoned half-way.
 */
#include <ucontext.h>

#include "program.h"

#define ALIVE  100
#define ROUNDS 100
#define STEPS  5

static ucontext_t home, fibers[ALIVE];
static char *stacks[ALIVE];
static int current, leaves;

FN void leaf(void)
{
	leaves++;
	KEEP();
}

FN void step(void)
{
	leaf();
	swapcontext(&fibers[current], &home);
	leaf();
	KEEP();
}

FN void body(void)
{
	for (int i = 0; i < STEPS; i++)
		step();
	KEEP();
}

FN void resume(int i)
{
	current = i;
	swapcontext(&home, &fibers[i]);
	KEEP();
}

int main(void)
{
	for (int round = 0; round < ROUNDS; round++) {
		for (int i = 0; i < ALIVE; i++) {
			stacks[i] = malloc(32768 + 1024 * (i % 7));
			getcontext(&fibers[i]);
			fibers[i].uc_stack.ss_sp = stacks[i];
			fibers[i].uc_stack.ss_size = 32768;
			fibers[i].uc_link = &home;
			makecontext(&fibers[i], body, 0);
		}
		for (int n = 0; n <= STEPS; n++) {
			for (int i = 0; i < ALIVE; i++) {
				if (n < 2 || i % 3)
					resume(i);
			}
		}
		for (int i = 0; i < ALIVE; i++)
			free(stacks[i]);
	}
	printf("%d\n", leaves);
	return 0;
}
