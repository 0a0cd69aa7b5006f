/* A library with calls of the C library, which are bound at their first call. */
#include <stdlib.h>

int calls_one(int a)
{
	return abs(a) + (int)labs(1);
}
