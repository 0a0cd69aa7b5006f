/* Its constructor runs while it is opened. */
void plug_begins(void);

__attribute__((constructor, noinline)) void plug_begins(void)
{
	__asm__ volatile("");
}
