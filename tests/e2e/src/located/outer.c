/* The program that inner.c belongs to. */
void inner(void);
void deep(void);
void outer(void);

__attribute__((noinline)) void deep(void)
{
	__asm__ volatile("" ::: "memory");
}

__attribute__((noinline)) void outer(void)
{
	inner();
	__asm__ volatile("" ::: "memory");
}

int main(void)
{
	outer();
	__asm__ volatile("" ::: "memory");
	return 0;
}
