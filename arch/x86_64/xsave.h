/* x86_64: the format of an XSAVE area (SDM volume 1, 13.1 and 13.4). For C and for stubs.S. */
#ifndef UTRAIL_ARCH_X86_64_XSAVE_H
#define UTRAIL_ARCH_X86_64_XSAVE_H

/* The mask of state components has bit 2 for AVX. */
#define XSAVE_AVX 4

/* Offsets of the header, and of its end, in an XSAVE area. */
#define XSAVE_HEADER 512
#define XSAVE_LEGACY 576

#ifndef __ASSEMBLER__

#include <stdint.h>

/*
 * arch_init() sets these variables. arch_call_preserving_vectors() uses the variables when it saves
 * vector state.
 *
 * @arch_xsave_mask: the components that XSAVE saves: x87, SSE, AVX and AVX-512. AMX's tiles (8 KiB)
 *                   are not saved, because libc does not touch the tiles. 0: there is only FXSAVE
 * @arch_xsave_bytes: room for these components, a multiple of 64
 */
extern uint64_t arch_xsave_mask;
extern uint64_t arch_xsave_bytes;

#endif

#endif
