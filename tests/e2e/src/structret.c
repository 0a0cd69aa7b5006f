/*
 * Structs by value, in registers of both kinds and through a hidden pointer, as arguments and as
 * results.
 * status: 42
 * tree: main{small{}mixed{}floats{}large{leaf{}}sum_large{}}
 */
#include "program.h"

struct small {
	int a, b;
};
struct mixed {
	long a;
	double b;
};
struct floats {
	float a, b, c;
};
struct large {
	long v[9];
};

LEAF(leaf)

FN struct small small(int n)
{
	KEEP();
	return (struct small){ n, n + 1 };
}

FN struct mixed mixed(struct small s)
{
	KEEP();
	return (struct mixed){ s.a, s.b };
}

FN struct floats floats(struct mixed m)
{
	KEEP();
	return (struct floats){ m.a, m.b, m.a + m.b };
}

FN struct large large(struct floats f)
{
	struct large l;

	leaf();
	for (int i = 0; i < 9; i++)
		l.v[i] = (long)f.c;
	return l;
}

FN long sum_large(struct large l)
{
	long total = 0;

	for (int i = 0; i < 9; i++)
		total += l.v[i];
	return total;
}

int main(void)
{
	/* The sum is 9 * (2 + 3), which is 45. */
	return (int)sum_large(large(floats(mixed(small(2))))) - 3;
}
