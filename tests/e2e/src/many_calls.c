/*
 * A hundred thousand calls: more data than small buffers and small disks hold.
 * tree: main{leaf*100000{}}
 */
#include "program.h"

LEAF(leaf)

int main(void)
{
	for (int i = 0; i < 100000; i++)
		leaf();
	puts("done");
	return 0;
}
