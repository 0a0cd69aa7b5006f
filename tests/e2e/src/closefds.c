/*
 * Closes every descriptor that it did not open itself, and opens files in their places.
 * tree: main{before{}close_all{}after{}write_own{}after{}}
 */
#include <fcntl.h>

#include "program.h"

LEAF(before)
LEAF(after)

FN void close_all(void)
{
	for (int fd = 3; fd < 1024; fd++)
		close(fd);
	KEEP();
}

FN int write_own(void)
{
	char name[] = "/tmp/utrail-sample-XXXXXX", back[8] = "";
	int fds[20];

	for (int i = 0; i < 20; i++)
		fds[i] = open("/dev/null", O_RDWR);

	int fd = mkstemp(name);

	if (write(fd, "own", 3) != 3)
		return 1;
	unlink(name);
	for (int i = 0; i < 20; i++)
		close(fds[i]);
	if (pread(fd, back, sizeof(back), 0) != 3 || strcmp(back, "own") != 0)
		return 2; /* bytes of another owner of the descriptor are in the file */
	close(fd);
	return 0;
}

int main(void)
{
	before();
	close_all();
	after();

	int r = write_own();

	after();
	return r;
}
