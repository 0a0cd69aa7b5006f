/*
 * gprof's functions, interposed. The code that -pg links in starts gprof before main(): a timer
 * that sends SIGPROF a hundred times a second, a table as large as the program's code, and a file
 * gmon.out at its end. The file would be empty, since the calls that it counts come to our
 * mcount(). So the functions of this file do nothing, as under uftrace.
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
