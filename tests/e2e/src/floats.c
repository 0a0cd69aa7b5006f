/*
 * Floating point arguments and results of all widths, enough of them to reach the stack.
 * tree: main{f{}d{}ld{}many{leaf{}}complex_{leaf{}}vector{leaf{}}}
 */
#include <complex.h>

#include "program.h"

/* Only plain operators are used: clang also calls hooks for intrinsics that it has inlined. */
typedef double two_doubles __attribute__((vector_size(16)));

LEAF(leaf)

FN float f(float a, float b)
{
	KEEP();
	return a * b;
}

FN double d(double a, double b)
{
	KEEP();
	return a / b;
}

FN long double ld(long double a, long double b)
{
	KEEP();
	return a - b;
}

FN double many(double a, double b, double c, double d, double e, double f, double g, double h,
	       double i, long double j, float k)
{
	leaf();
	KEEP();
	return a + b + c + d + e + f + g + h + i + j + k;
}

FN double complex complex_(double complex a, double b)
{
	leaf();
	return a * b;
}

FN two_doubles vector(two_doubles a, two_doubles b)
{
	leaf();
	return a + b;
}

int main(void)
{
	double complex c;

	printf("%.3f\n", f(1.5f, 2.25f));
	printf("%.6f\n", d(1.0, 3.0));
	printf("%.3Lf\n", ld(1e18L, 0.125L));
	printf("%.3f\n", many(1, 2, 3, 4, 5, 6, 7, 8, 9, 10.5L, 11.25f));
	c = complex_(1.0 + 2.0 * I, 3.0);
	printf("%.1f %.1f\n", creal(c), cimag(c));

	two_doubles v = vector((two_doubles){ 2.0, 1.0 }, (two_doubles){ 0.25, 0.5 });

	printf("%.2f %.2f\n", v[0], v[1]);
	return 0;
}
