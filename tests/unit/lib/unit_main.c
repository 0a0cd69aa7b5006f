/*
 * In a file of its own, since the linker takes it from the archive only for programs that have no
 * main().
 */
#include "tests/unit/lib/unit.h"

int main(void)
{
	return unit_run();
}
