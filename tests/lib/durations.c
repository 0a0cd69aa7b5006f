/*
 * Prints records of a task with very many calls of known durations. main calls one function CALLS
 * times; the calls take 10 + i * i / 2^20 ns for all i below CALLS, in shuffled order.
 *
 * durations CALLS MAIN_ADDR FUNC_ADDR START_NS > TID.dat
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#define STEP 7368787ULL /* prime, so that each i comes once */

static void put(uint64_t time_ns, unsigned type, unsigned depth, uint64_t addr)
{
	uint64_t record[2] = { time_ns, type | 5 << 3 | depth << 6 | addr << 16 };

	fwrite(record, sizeof(record), 1, stdout);
}

int main(int argc, char *argv[])
{
	uint64_t nr = strtoull(argv[1], NULL, 10);
	uint64_t main_addr = strtoull(argv[2], NULL, 10);
	uint64_t func_addr = strtoull(argv[3], NULL, 10);
	uint64_t now_ns = strtoull(argv[4], NULL, 10);
	uint64_t which = 0;

	put(now_ns, 0, 0, main_addr);
	for (uint64_t i = 0; i < nr; i++) {
		put(++now_ns, 0, 1, func_addr);
		now_ns += 10 + (which * which >> 20);
		put(now_ns, 1, 1, func_addr);
		which = (which + STEP) % nr;
	}
	put(++now_ns, 1, 0, main_addr);
	return fflush(stdout) != 0;
}
