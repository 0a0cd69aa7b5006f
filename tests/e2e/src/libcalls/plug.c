/* The constructor runs while the library is opened. */
void plug_begins(void);

__attribute__((constructor, noinline)) void plug_begins(void)
{
	__asm__ volatile("");
}
