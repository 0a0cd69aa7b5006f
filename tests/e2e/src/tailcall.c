/*
 * Tail calls: the callee returns to where its caller would have returned.
 * status: 3
 * tree: main{one{two{three{}}}three{}}
 */
#include "program.h"

FN int three(int n)
{
	KEEP();
	return n;
}

FN int two(int n)
{
	return three(n + 1);
}

FN int one(int n)
{
	return two(n + 1);
}

int main(void)
{
	int n = one(1);

	n = three(n);
	KEEP();
	return n;
}
