/* What the programs with events have in common. */
#ifndef PART_H
#define PART_H

#include <sys/sdt.h>

#ifdef __cplusplus
#define PART extern "C" __attribute__((noinline))
#else
#define PART __attribute__((noinline))
#endif

/* What the optimiser cannot see through. */
#define OPAQUE(x) __asm__ volatile("" : "+r"(x))

#endif
