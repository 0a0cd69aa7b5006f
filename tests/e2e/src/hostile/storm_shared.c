/*
 * A timer sends signals as fast as it can while the program fills its rings. They are counted in a
 * shared file. Argument: that file.
 */
#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <unistd.h>

#include "../program.h"

static volatile long *handled;

FN void handler(int sig)
{
	++*handled;
	KEEP();
}

LEAF(work)

int main(int argc, char **argv)
{
	struct itimerval often = { { 0, 20 }, { 0, 20 } };
	struct itimerval never = { { 0, 0 }, { 0, 0 } };
	int fd = open(argc > 1 ? argv[1] : "handled", O_RDWR | O_CREAT, 0600);

	if (ftruncate(fd, 4096) < 0)
		return 1;
	handled = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (handled == MAP_FAILED)
		return 1;
	signal(SIGALRM, handler);
	setitimer(ITIMER_REAL, &often, NULL);
	for (int i = 0; i < 100000; i++)
		work();
	setitimer(ITIMER_REAL, &never, NULL);
	signal(SIGALRM, SIG_IGN);
	printf("%ld\n", *handled);
	return 0;
}
