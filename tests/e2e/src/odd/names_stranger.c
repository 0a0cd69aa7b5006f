/*
 * Claims, in the memory that it shares with the recorder, that a foreign process is its child. This
 * program ends as usual.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "utils/format/probe/ring.h"

static volatile unsigned sink;

__attribute__((noinline)) static void leaf(void)
{
	sink++;
}

int main(int argc, char **argv)
{
	FILE *maps = fopen("/proc/self/maps", "r");
	char line[512];

	leaf();
	while (maps && fgets(line, sizeof(line), maps)) {
		unsigned long start;

		if (!strstr(line, "utrail-arena") || sscanf(line, "%lx-", &start) != 1)
			continue;

		struct arena_forks *forks = &((struct arena *)start)->forks;

		for (int i = 0; i < argc - 1; i++)
			forks->pids[i] = atoi(argv[i + 1]);
		forks->nr = argc - 1;
		puts("named");
		break;
	}
	return 3;
}
