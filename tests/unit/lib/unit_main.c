/*
 * This main() has its own file: the linker takes it from the archive only for programs without a
 * main() of their own.
 */
#include "tests/unit/lib/unit.h"

int main(void)
{
	return unit_run();
}
