/*
 * An instrumented library, linked when the program was built; it calls back into the program.
 * lib: lib/shared_lib.c
 * ldflags: -lshared_lib
 * status: 12
 * tree: main{lib_outer{lib_inner{}back{own{}}}lib_inner{}}
 */
#include "program.h"

int lib_inner(int n);
int lib_outer(int n, int (*back)(int));

LEAF(own)

FN int back(int n)
{
	own();
	KEEP();
	return n * 2;
}

int main(void)
{
	int r = lib_outer(4, back);

	return lib_inner(r) + 1;
}
