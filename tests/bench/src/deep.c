/* The shared library of shapes.c. */
int deep(int n);

int deep(int n)
{
	__asm__ volatile("" : "+r"(n));
	return n;
}
