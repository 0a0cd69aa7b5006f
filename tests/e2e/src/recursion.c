/*
 * A function that calls itself, and two that call each other.
 * tree: main{fact{fact{fact{fact{}}}}even{odd{even{odd{even{}}}}}}
 * status: 25
 */
#include "program.h"

FN int odd(int n);

FN int fact(int n)
{
	int r = n <= 1 ? 1 : n * fact(n - 1);

	KEEP();
	return r;
}

FN int even(int n)
{
	int r = n == 0 ? 1 : odd(n - 1);

	KEEP();
	return r;
}

FN int odd(int n)
{
	int r = n == 0 ? 0 : even(n - 1);

	KEEP();
	return r;
}

int main(void)
{
	int r = fact(4);

	return r + even(4);
}
