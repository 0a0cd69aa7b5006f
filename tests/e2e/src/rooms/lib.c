/* rooms.c is linked with this library. */
static __attribute__((noinline)) int lib_inner(int n)
{
	__asm__ volatile("" ::: "memory");
	return n * 3;
}

int lib_outer(int n)
{
	n = lib_inner(n);
	__asm__ volatile("" ::: "memory");
	return n;
}
