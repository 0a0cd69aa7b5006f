/*
 * Replaces gprof's functions by functions that do nothing, as uftrace does. gprof's own functions
 * would start a timer, and write a file gmon.out. This file would contain no calls, because our
 * mcount() gets the calls.
 */
#include "utils/base/compiler.h"

EXPORTED void __monstartup(unsigned long low, unsigned long high);
EXPORTED void monstartup(unsigned long low, unsigned long high);
EXPORTED void moncontrol(int on);
EXPORTED void _mcleanup(void);

void __monstartup(unsigned long low, unsigned long high)
{
}

void monstartup(unsigned long low, unsigned long high)
{
}

void moncontrol(int on)
{
}

void _mcleanup(void)
{
}
