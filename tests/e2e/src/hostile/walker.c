/*
 * Walks its own stack with libunwind, from deep inside, while calls go on; each frame must be one of the program's.
 * cflags: -rdynamic
 * ldflags: -lunwind
 */
#define UNW_LOCAL_ONLY
#include <libunwind.h>

#include "../program.h"

FN int walk(void)
{
	unw_context_t context;
	unw_cursor_t cursor;
	char name[64];
	unw_word_t offset;
	int frames = 0;

	unw_getcontext(&context);
	unw_init_local(&cursor, &context);
	while (unw_step(&cursor) > 0) {
		if (unw_get_proc_name(&cursor, name, sizeof(name), &offset) == 0 &&
		    strcmp(name, "dig") == 0)
			frames++;
	}
	KEEP();
	return frames;
}

FN int dig(int n)
{
	int r = n ? dig(n - 1) : walk();

	KEEP();
	return r;
}

int main(void)
{
	for (int n = 0; n < 50; n += 7)
		printf("%d ", dig(n));
	puts("");
	return 0;
}
