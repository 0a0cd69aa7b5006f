/*
 * x86_64: the format of XSAVE (SDM volume 1, 13.1 and 13.4), and the saved parts; for C and for
 * stubs.S.
 */
#ifndef UTRAIL_ARCH_X86_64_XSAVE_H
#define UTRAIL_ARCH_X86_64_XSAVE_H

/* In the mask of components. */
#define XSAVE_AVX 4

/* Offsets in an area: of its header, and of its end. */
#define XSAVE_HEADER 512
#define XSAVE_LEGACY 576

#ifndef __ASSEMBLER__

#include <stdint.h>

/*
 * The way in which arch_call_preserving_vectors() saves vector state. Set by arch_init().
 *
 * @arch_xsave_mask: components for XSAVE: x87, SSE, AVX and AVX-512. Not AMX's tiles (8 KiB): libc
 *                   does not touch them. 0 when the CPU or the kernel has no XSAVE, then FXSAVE is
 *                   used.
 * @arch_xsave_bytes: room for these components, a multiple of 64
 */
extern uint64_t arch_xsave_mask;
extern uint64_t arch_xsave_bytes;

#endif

#endif
