/*
 * Coroutines that end. At each end the C library switches to uc_link, so the program calls no
 * function to switch.
 * tree: main{run{after{leaf{}}run_again{after{leaf{}}}after{leaf{}}}after{leaf{}}}
 * task: body{leaf{}leaf{}}body{leaf{}leaf{}}
 */
#include <ucontext.h>

#include "program.h"

static ucontext_t home, context;
static char stack[65536];

LEAF(leaf)

FN void body(void)
{
	leaf();
	leaf();
	KEEP();
}

FN void after(void)
{
	leaf();
	KEEP();
}

QUIET static void go(void)
{
	getcontext(&context);
	context.uc_stack.ss_sp = stack;
	context.uc_stack.ss_size = sizeof(stack);
	context.uc_link = &home;
	makecontext(&context, body, 0);
	swapcontext(&home, &context);
}

FN void run_again(void)
{
	go();
	after();
	KEEP();
}

FN void run(void)
{
	go();
	after();
	run_again();
	after();
	KEEP();
}

int main(void)
{
	run();
	after();
	puts("over");
	return 0;
}
