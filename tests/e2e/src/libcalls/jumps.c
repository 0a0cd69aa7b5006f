/*
 * Calls all variants of setjmp() and longjmp(), under all their names.
 */
#define _GNU_SOURCE
#include <setjmp.h>

#include "../program.h"

static jmp_buf env;
static sigjmp_buf sigenv;

/* <setjmp.h> calls this function with _FORTIFY_SOURCE. */
void __longjmp_chk(jmp_buf where, int value) __attribute__((noreturn));
#undef setjmp
int setjmp(jmp_buf where) __attribute__((returns_twice));

FN void leap(int how, int value)
{
	if (how == 0)
		longjmp(env, value);
	if (how == 1)
		_longjmp(env, value);
	if (how == 2)
		siglongjmp(sigenv, value);
	__longjmp_chk(env, value);
}

FN void inner(int how, int value)
{
	leap(how, value);
	KEEP();
}

int main(void)
{
	volatile int sum = 0;
	int back;

	back = setjmp(env);
	sum += back;
	if (!back)
		inner(0, 3);
	back = _setjmp(env);
	sum += back;
	if (back < 2)
		inner(1, back + 1);
	back = sigsetjmp(sigenv, 1);
	sum += back;
	if (!back)
		inner(2, 0);
	back = _setjmp(env);
	sum += back;
	if (!back)
		inner(3, -1);
	printf("%d\n", sum);
	return 0;
}
