/* Shared by the programs of the scenes. */
#ifndef UTRAIL_SCENES_ACTS_H
#define UTRAIL_SCENES_ACTS_H

#include <sys/prctl.h>

/* A function that the compiler neither inlines nor clones, so it keeps its arguments. */
#ifdef __clang__
#define FN __attribute__((noinline))
#else
#define FN __attribute__((noipa))
#endif

/* Stands at the end of a function, so that its last call does not become a jump. */
#define KEEP() __asm__ volatile("" ::: "memory")

/* An act that runs other acts. */
int act_serve(void);

#endif
