/* A source file for filters by file (test_filters.py): inner() calls back into outer.c. */
void deep(void);
void inner(void);

__attribute__((noinline)) void inner(void)
{
	deep();
	__asm__ volatile("" ::: "memory");
}
