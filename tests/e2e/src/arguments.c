/*
 * Says what it was given.
 * tree: main{say_all{}}
 */
#include "program.h"

FN void say_all(char *argv[])
{
	while (*++argv)
		printf("<%s>\n", *argv);
	KEEP();
}

int main(int argc, char *argv[])
{
	say_all(argv);
	return 0;
}
