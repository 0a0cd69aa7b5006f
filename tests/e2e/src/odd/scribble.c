/*
 * Writes over the memory that it shares with the recorder, while it is recorded. It may end in any
 * way.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static volatile unsigned sink;

__attribute__((noinline)) static void leaf(void)
{
	sink++;
}

/*
 * Overwrites the known parts at the start of the arena: its header, and the headers and data of the
 * first rings.
 */
__attribute__((no_instrument_function)) static void scribble(char *arena, size_t size, unsigned how)
{
	static unsigned state = 12345;

	for (size_t at = 0; at + 8 <= size; at += 8) {
		uint64_t value = UINT64_MAX;

		state = state * 1103515245 + 12345;
		if (how == 0 && state % 4)
			continue;
		if (how == 1)
			value = (uint64_t)state << 32 | state;
		if (how == 2)
			value = 0;
		memcpy(arena + at, &value, sizeof(value));
	}
}

int main(int argc, char **argv)
{
	unsigned how = argc > 1 ? atoi(argv[1]) : 0;
	FILE *maps = fopen("/proc/self/maps", "r");
	char line[512];

	for (unsigned i = 0; i < 20000; i++)
		leaf();
	while (maps && fgets(line, sizeof(line), maps)) {
		unsigned long start;
		unsigned long end;

		if (strstr(line, "rw-s") &&
		    (strstr(line, "utrail-arena") || strstr(line, "utrail-control")) &&
		    sscanf(line, "%lx-%lx", &start, &end) == 2)
			scribble((char *)start, end - start < 65536 ? end - start : 65536, how);
	}
	for (unsigned i = 0; i < 20000; i++)
		leaf();
	return 0;
}
