/*
 * Three recursions, each three thousand calls deep, in which two functions call each other.
 */
#include "program.h"

FN int rise(int n);

FN int dive(int n)
{
	int r = n ? rise(n - 1) : 0;

	KEEP();
	return r + 1;
}

FN int rise(int n)
{
	int r = n ? dive(n - 1) : 0;

	KEEP();
	return r + 1;
}

int main(void)
{
	int sum = 0;

	for (int i = 0; i < 3; i++)
		sum += dive(3000);
	printf("%d\n", sum);
	return 0;
}
