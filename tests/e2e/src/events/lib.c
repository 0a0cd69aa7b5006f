/* A library whose probes have semaphores. lib:end is reached only if its semaphore is set. */
#define _SDT_HAS_SEMAPHORES 1
#include "part.h"

unsigned short lib_begin_semaphore __attribute__((used, section(".probes")));
unsigned short lib_end_semaphore __attribute__((used, section(".probes")));
unsigned short lib_helper_semaphore __attribute__((used, section(".probes")));
unsigned short lib_ctor_semaphore __attribute__((used, section(".probes")));

int lib_helper(int n);
int lib_work(int n);

PART int lib_helper(int n)
{
	DTRACE_PROBE1(lib, helper, n);
	return n * n;
}

PART int lib_work(int n)
{
	DTRACE_PROBE1(lib, begin, n);
	n = lib_helper(n) + 1;
	if (lib_end_semaphore)
		DTRACE_PROBE1(lib, end, n);
	return n;
}
