/* Stands in for a part of the probe: a process that has forbidden itself nothing. */
#include "libmcount/system/own_syscall.h"

struct seal seal;

long seal_refuse(void)
{
	return -1;
}
