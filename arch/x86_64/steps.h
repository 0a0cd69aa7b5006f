/* Lengths and targets of x86_64 instructions, without capstone. */
#ifndef UTRAIL_ARCH_X86_64_STEPS_H
#define UTRAIL_ARCH_X86_64_STEPS_H

#include <string.h>

#include "arch/insn.h"

/*
 * Does the work of insns_step() in about 10 ns per instruction. capstone takes about 1 us. Whole
 * files have millions of instructions, so the difference matters. Unit tests compare the two
 * decoders.
 */
bool x86_64_step(const uint8_t *at, uint64_t left, uint64_t addr, struct insn_step *out);

/* Returns the 32-bit displacement at @at. */
static inline int32_t distance_at(const uint8_t *at)
{
	int32_t distance;

	memcpy(&distance, at, sizeof(distance));
	return distance;
}

/* Does the work of insns_main(). */
bool x86_64_main_of(const uint8_t *at, uint64_t left, uint64_t addr, uint64_t *address);

#endif
