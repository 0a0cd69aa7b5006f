/* Shared by the programs with events. */
#ifndef PART_H
#define PART_H

#include <sys/sdt.h>

#ifdef __cplusplus
#define PART extern "C" __attribute__((noinline))
#else
#define PART __attribute__((noinline))
#endif

/* Hides a value from the optimizer. */
#define OPAQUE(x) __asm__ volatile("" : "+r"(x))

#endif
