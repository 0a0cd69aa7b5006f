/*
 * Coroutines whose stacks are local variables. Such a variable belongs to a caller of the function
 * that resumes the coroutine, or to another coroutine. It may also belong to a function that
 * returns before its coroutine has ended. This function is called twice, and has its stack at the
 * same place both times.
 * tree: main{make{}drive{leaf{}leaf{}leaf{}}leaf{}leave_one{make{}drive{leaf{}leaf{}}}leave_one{make{}drive{leaf{}leaf{}}}deeper{deeper{deeper{leaf{}}}}}
 * task: body{leaf{}nest{make{}drive{leaf{}leaf{}}leaf{}}
 * task: endless{leaf{}
 * task: endless{leaf{}}endless{leaf{}
 */
#include <ucontext.h>

#include "program.h"

#define STACK_BYTES 65536

static ucontext_t *home, *self;
static int total;

LEAF(leaf)

QUIET static void yield(void)
{
	swapcontext(self, home);
}

/* A coroutine that is resumed switches back to the one that has resumed it. */
QUIET static void resume(ucontext_t *context)
{
	ucontext_t here, *outer = home, *before = self;

	home = &here;
	self = context;
	swapcontext(&here, context);
	home = outer;
	self = before;
	total++;
}

FN void make(ucontext_t *context, char *stack, size_t bytes, void (*fn)(void))
{
	getcontext(context);
	context->uc_stack.ss_sp = stack;
	context->uc_stack.ss_size = bytes;
	context->uc_link = NULL;
	makecontext(context, fn, 0);
	KEEP();
}

FN void drive(ucontext_t *context, int rounds)
{
	for (int i = 0; i < rounds; i++) {
		leaf();
		resume(context);
	}
	leaf();
	KEEP();
}

FN void endless(void)
{
	for (;;) {
		leaf();
		yield();
	}
}

FN void nest(void)
{
	char stack[STACK_BYTES];
	ucontext_t context;

	make(&context, stack, sizeof(stack), endless);
	drive(&context, 1);
	leaf();
	KEEP();
}

FN void body(void)
{
	leaf();
	yield();
	nest();
	KEEP();
	for (;;)
		yield();
}

FN void leave_one(void)
{
	char stack[STACK_BYTES];
	ucontext_t context;

	make(&context, stack, sizeof(stack), endless);
	drive(&context, 1);
	KEEP();
}

/* Overwrites the place of the freed stacks. */
FN void deeper(int levels)
{
	volatile char some[20000];

	some[0] = levels;
	if (levels > 0)
		deeper(levels - some[0] / levels);
	else
		leaf();
	KEEP();
}

int main(void)
{
	char stack[3 * STACK_BYTES];
	ucontext_t context;

	make(&context, stack, sizeof(stack), body);
	drive(&context, 2);
	leaf();
	leave_one();
	leave_one();
	deeper(2);
	printf("%d times\n", total);
	return 0;
}
