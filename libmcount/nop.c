/*
 * libmcount-nop: the functions that instrumented programs call (mcount and others), with empty
 * bodies. A run with this library shows the cost of calling these functions, without recording.
 */
#include "utils/base/compiler.h"

EXPORTED void mcount(void);
EXPORTED void _mcount(void);
EXPORTED void __fentry__(void);
EXPORTED void __cyg_profile_func_enter(void *fn, void *caller);
EXPORTED void __cyg_profile_func_exit(void *fn, void *caller);

/*
 * An instrumented function needs its argument registers after the call of a hook. An empty hook
 * does not change these registers.
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
