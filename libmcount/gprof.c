/*
 * Replaces gprof's functions by functions that do nothing, as uftrace does. Otherwise the start
 * code of -pg would start a timer, and the program would write a file gmon.out. The file would
 * contain no calls, because our mcount() gets the calls.
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
