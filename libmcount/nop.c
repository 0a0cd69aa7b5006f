/*
 * libmcount-nop: the hooks of compilers as functions that do nothing, to measure the cost of the
 * calls alone.
 */
#include "utils/base/compiler.h"

EXPORTED void mcount(void);
EXPORTED void _mcount(void);
EXPORTED void __fentry__(void);
EXPORTED void __cyg_profile_func_enter(void *fn, void *caller);
EXPORTED void __cyg_profile_func_exit(void *fn, void *caller);

/*
 * These hooks only return. Callers rely on their argument registers, which an empty function does
 * not change.
 */
void mcount(void)
{
}

void _mcount(void)
{
}

void __fentry__(void)
{
}

void __cyg_profile_func_enter(void *fn, void *caller)
{
}

void __cyg_profile_func_exit(void *fn, void *caller)
{
}
