/*
 * Reads the clock before and after each of 500 calls, a millisecond apart.
 */
#include <stdint.h>
#include <time.h>

#include "program.h"

LEAF(mark)

static QUIET uint64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000000000ULL + ts.tv_nsec;
}

int main(void)
{
	static uint64_t notes[500][2];

	for (int i = 0; i < 500; i++) {
		notes[i][0] = now_ns();
		mark();
		notes[i][1] = now_ns();
		usleep(1000);
	}
	for (int i = 0; i < 500; i++)
		printf("%llu %llu\n", (unsigned long long)notes[i][0],
		       (unsigned long long)notes[i][1]);
	return 0;
}
