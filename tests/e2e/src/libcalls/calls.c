/* First and later calls of library functions, one of which calls back; an IFUNC of the program. */
#include "../program.h"
#include "names.h"

static FN int impl(int n)
{
	KEEP();
	return n + 5;
}

static QUIET int (*choose_own(void))(int)
{
	return impl;
}

int own_ifunc(int n) __attribute__((ifunc("choose_own")));

static FN int back(int n)
{
	int r = lib_one(n);

	KEEP();
	return r;
}

static FN int calls(int n)
{
	int r = lib_one(n);

	r += lib_two(r);
	r += lib_back(back, r);
	r += lib_ifunc(r);
	r += own_ifunc(r);
	r += lib_nested(r);
	KEEP();
	return r;
}

int main(void)
{
	volatile int r = 0;

	for (int i = 0; i < 3; i++)
		r += calls(i);
	printf("%d\n", r);
	return 0;
}
