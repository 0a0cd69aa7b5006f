/* Functions with room for hooks: in the program, in a linked library, in a dlopened library. */
#include <dlfcn.h>
#include <stdio.h>

#define NOINLINE __attribute__((noinline))
#define KEEP()	 __asm__ volatile("" ::: "memory")

int lib_outer(int n);

static NOINLINE int inner(int n)
{
	KEEP();
	return n + 1;
}

NOINLINE int outer(int n)
{
	n = inner(n);
	KEEP();
	return n;
}

static NOINLINE int last(int n)
{
	KEEP();
	return n + 2;
}

/* The call of last() is a tail call. */
NOINLINE int before_last(int n)
{
	return last(n);
}

int main(void)
{
	void *late = dlopen("./liblate.so", RTLD_NOW);
	int (*lib_late)(int) = late ? (int (*)(int))dlsym(late, "lib_late") : NULL;
	int n = before_last(lib_outer(outer(1)));

	n += lib_late ? lib_late(n) : 0;
	if (late)
		dlclose(late);
	printf("%d\n", n);
	return 0;
}
