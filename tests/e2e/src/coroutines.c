/*
 * Two coroutines switch to each other a thousand times. Each has a stack of its own, which is shown
 * as a task.
 * tree: main{make{}make{}}
 * task: first{step*1000{leaf{}}}
 * task: second{step*999{leaf{}}step{leaf{}
 */
#include <ucontext.h>

#include "program.h"

static ucontext_t home, one, two;
static char stacks[2][65536];
static int total;

LEAF(leaf)

FN void step(ucontext_t *from, ucontext_t *to)
{
	leaf();
	total++;
	swapcontext(from, to);
	KEEP();
}

FN void first(void)
{
	for (int i = 0; i < 1000; i++)
		step(&one, &two);
	KEEP();
}

FN void second(void)
{
	for (int i = 0; i < 1000; i++)
		step(&two, &one);
	KEEP();
}

static void make(ucontext_t *context, char *stack, void (*fn)(void))
{
	getcontext(context);
	context->uc_stack.ss_sp = stack;
	context->uc_stack.ss_size = sizeof(stacks[0]);
	context->uc_link = &home;
	makecontext(context, fn, 0);
}

int main(void)
{
	make(&one, stacks[0], first);
	make(&two, stacks[1], second);
	swapcontext(&home, &one);
	printf("%d steps\n", total);
	return 0;
}
