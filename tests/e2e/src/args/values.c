/* Calls with known arguments and results of every kind that C has. */
#include <stdio.h>
#include <string.h>

/* The compiler neither inlines such a function, nor uses its code in callers (noipa). */
#ifdef __clang__
#define KEPT __attribute__((noinline))
#else
#define KEPT __attribute__((noipa))
#endif
#define USE(x) __asm__ volatile("" : : "g"(x) : "memory")

enum color {
	RED,
	GREEN,
	BLUE = 2,
	BIG = 64,
	NONE = -1
};
struct pair {
	int x, y;
};
struct triple {
	int a, b, c;
};
struct doubles {
	double x, y;
};
struct mixed {
	double d;
	long l;
};
struct large {
	char bytes[40];
};
union either {
	int i;
	float f;
};

KEPT int ints(signed char a, unsigned char b, short c, unsigned short d, int e, unsigned f, long g,
	      unsigned long h)
{
	USE(a);
	return e;
}

KEPT long number(long n)
{
	USE(n);
	return n;
}

KEPT const char *text(const char *s, char c)
{
	USE(s);
	return s;
}

KEPT float floats(float f, double d, int i, float g)
{
	USE(i);
	return f;
}

KEPT double many_floats(double a, double b, double c, double d, double e, double f, double g,
			double h, double i)
{
	USE(&i);
	return i;
}

KEPT long double long_double(int a, long double x, long double y)
{
	USE(a);
	return y;
}

KEPT enum color paint(enum color c)
{
	USE(c);
	return c;
}

KEPT struct pair pairs(struct pair p, int n)
{
	USE(n);
	return p;
}

KEPT struct triple triples(struct triple t, struct doubles d, struct mixed m, struct large l, int n)
{
	USE(n);
	return t;
}

KEPT struct doubles two_doubles(struct doubles d)
{
	USE(&d);
	return d;
}

KEPT struct mixed mix(struct mixed m)
{
	USE(&m);
	return m;
}

KEPT struct large big(int n)
{
	struct large l;

	memset(&l, 'A' + n, sizeof(l));
	USE(&l);
	return l;
}

KEPT union either unite(union either u)
{
	USE(&u);
	return u;
}

int global = 5;

KEPT void *pointers(long (*fn)(long), int *data, void *other)
{
	USE(data);
	return data;
}

KEPT int variadic(const char *format, ...)
{
	USE(format);
	return 3;
}

KEPT int nothing(void)
{
	USE(0);
	return 0;
}

KEPT int changes(char *s)
{
	strcpy(s, "after");
	USE(s);
	return 1;
}

int main(void)
{
	struct pair p = { 1, 2 };
	struct triple t = { 3, 4, 5 };
	struct doubles d = { 1.5, 2.5 };
	struct mixed m = { 3.5, 7 };
	struct large l = { "large" };
	union either u = { 9 };
	char buffer[16] = "before";
	char long_text[201];

	memset(long_text, 'x', 200);
	long_text[200] = 0;
	ints(-1, 200, -300, 40000, -70000, 4000000000U, -1, 18446744073709551615UL);
	number(0);
	number(-1);
	number(99999);
	number(100001);
	number(-100001);
	number(0x123456789abcdefL);
	text("hello\nworld", 'c');
	text("", '\n');
	text(NULL, '\0');
	long_text[98] = 0;
	text(long_text, 'x');
	long_text[98] = 'x';
	long_text[97] = 0;
	text(long_text, 'y');
	text("\xc3\xa4\n", 'z');
	floats(1.25f, -2.5, 3, 4.5f);
	many_floats(1, 2, 3, 4, 5, 6, 7, 8, 9);
	long_double(1, 2.5L, -3.25L);
	paint(BLUE);
	paint(3);
	paint(NONE);
	paint(1000);
	pairs(p, 6);
	triples(t, d, m, l, 42);
	two_doubles(d);
	mix(m);
	big(1);
	unite(u);
	pointers(number, &global, NULL);
	variadic("%d", 1);
	nothing();
	changes(buffer);
	return 0;
}
