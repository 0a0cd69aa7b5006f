/*
 * This main() is in a file of its own: the linker takes it from the archive only for programs
 * without a main().
 */
#include "tests/unit/lib/unit.h"

int main(void)
{
	return unit_run();
}
