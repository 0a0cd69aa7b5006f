/*
 * gprof's functions, interposed. They do nothing, as under uftrace. Without them the start code of
 * -pg would begin a timer, a table and a file gmon.out. The file would be empty, since our mcount()
 * gets the calls.
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
