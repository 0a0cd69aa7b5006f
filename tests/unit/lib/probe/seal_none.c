/* Stands in for a part of the probe, in a process that has not forbidden itself any system call. */
#include "libmcount/system/own_syscall.h"

struct seal seal;

long seal_refuse(void)
{
	return -1;
}
