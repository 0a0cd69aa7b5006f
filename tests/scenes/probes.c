/* Static probes with and without arguments. Each is reached more than once. */
#include <sys/sdt.h>

#include "acts.h"

FN int work(int n)
{
	DTRACE_PROBE1(acts, work, n);
	KEEP();
	return n + 1;
}

int main(void)
{
	int sum = 0;

	DTRACE_PROBE(acts, start);
	for (int i = 0; i < 3; i++)
		sum += work(i);
	DTRACE_PROBE2(acts, end, sum, "text");
	return sum == 6 ? 0 : 1;
}
