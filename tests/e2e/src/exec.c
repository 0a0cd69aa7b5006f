/*
 * The program executes itself with another argument.
 * status: 5
 * tree: main{first{again{|main{second{}}
 */
#include "program.h"

LEAF(second)

FN void again(char *self)
{
	end_profiling();
	execl(self, self, "second", NULL);
	KEEP();
}

FN void first(char *self)
{
	again(self);
	KEEP();
}

int main(int argc, char *argv[])
{
	if (argc > 1) {
		second();
		return 5;
	}
	first(argv[0]);
	return 1;
}
