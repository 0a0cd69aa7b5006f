/* Calls with arguments of all kinds, each with a number; -1 marks an additional call. */
#include <cmath>
#include <string>

#ifdef __clang__
#define KEPT __attribute__((noinline))
#else
#define KEPT __attribute__((noipa))
#endif
#define USE(x) __asm__ volatile("" : : "g"(x) : "memory")

extern "C" {

KEPT void text(const char *s, int n)
{
	USE(s + n);
}

KEPT void object(const std::string &s, int n)
{
	USE(&s + n);
}

KEPT void real(double d, int n)
{
	USE(&d + n);
}

KEPT void single(float f, int n)
{
	USE(&f + n);
}

KEPT void many(int n, double a, double b, double c, double d, double e, double f, double g,
	       double h, double i)
{
	USE(&b);
	USE(&i + n);
}

KEPT void extended(int n, long double d)
{
	USE(&d + n);
}
}

int main()
{
	std::string x97(97, 'x');
	std::string x98(98, 'x');

	text("alpha", 0);
	text("beta", 1);
	text("alphabet", 2);
	text("", 3);
	text(nullptr, 4);
	text(x97.c_str(), 5);
	text((x98 + "x").c_str(), 6);
	text((const char *)0x10, 7);
	text("42", -1);

	object("alpha", 0);
	object("beta", 1);
	object("alphabet", 2);
	object("", 3);
	object(std::string("a\0b", 3), 4);
	object(x98, 5);

	real(2.25, 0);
	real(-1.5, 1);
	real(0.0, 2);
	real(-0.0, 3);
	real(1e-310, 4);
	real(1e300, 5);
	real(INFINITY, 6);
	real(-INFINITY, 7);
	real(NAN, 8);

	single(0.5f, 0);
	single(-1.5f, 1);
	single(1e-40f, 2);
	single(3e38f, 3);
	single(-INFINITY, 4);

	many(0, 1, 2, 3, 4, 5, 6, 7, 8, 9);
	many(1, 1, 2, 3, 4, 5, 6, 7, 8, 8.5);

	extended(0, 0.1L);
	extended(1, -2.5L);
	extended(2, 1e4000L);
	extended(3, 2.5000000001L);
	extended(4, -1e300L);
	return 0;
}
