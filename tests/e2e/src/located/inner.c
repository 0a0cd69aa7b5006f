/* Functions of a folder of their own, which call back: see test_filters.py. */
void deep(void);
void inner(void);

__attribute__((noinline)) void inner(void)
{
	deep();
	__asm__ volatile("" ::: "memory");
}
