/* x86_64: the inline answers to arch/arch.h. */
#ifndef UTRAIL_ARCH_X86_64_ISA_H
#define UTRAIL_ARCH_X86_64_ISA_H

#include <stdint.h>

static inline uint64_t arch_counter_read(void)
{
	uint32_t low, high;

	/* Not rdtscp or lfence: waiting for older instructions would double the cost. */
	__asm__ volatile("rdtsc" : "=a"(low), "=d"(high));
	return ((uint64_t)high << 32) | low;
}

#endif
