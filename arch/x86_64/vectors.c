/* x86_64: finds out which functions leave vector registers unchanged. */
#include <string.h>

#include "arch/arch.h"
#include "arch/x86_64/xsave.h"

#define IMAGE_BYTES 4096U /* room for an XSAVE area: AVX-512 state ends at byte 2,688 */

/* stubs.S */
void arch_vectors_around(void (*fn)(void *arg), void *arg, uint8_t *before, uint8_t *after);

bool arch_leaves_vectors(void (*fn)(void *arg), void *arg)
{
	static _Alignas(64) uint8_t before[IMAGE_BYTES];
	static _Alignas(64) uint8_t after[IMAGE_BYTES];

	if (!arch_xsave_mask || arch_xsave_bytes > IMAGE_BYTES)
		return false;
	arch_vectors_around(fn, arg, before, after);
	/*
	 * The header is not compared. It tells which components are in their initial state, and may
	 * differ although the registers are equal.
	 */
	return memcmp(before, after, XSAVE_HEADER) == 0 &&
	       memcmp(before + XSAVE_LEGACY, after + XSAVE_LEGACY,
		      arch_xsave_bytes - XSAVE_LEGACY) == 0;
}
