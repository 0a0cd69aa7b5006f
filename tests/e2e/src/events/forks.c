/* Events of a forked child, of a vforked one, and of a program that is executed.
 *
 * shows: main{e:start work{e:work} work{e:work} e:end}
 */
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "part.h"

PART int work(int n)
{
	DTRACE_PROBE1(e, work, n);
	return n + 1;
}

int main(int argc, char **argv)
{
	int status;
	int sum = 0;

	DTRACE_PROBE(e, start);
	sum += work(1);
	if (argc > 1)
		return sum;
	if (fork() == 0)
		_exit(work(10));
	wait(&status);
	sum += WEXITSTATUS(status);
	if (fork() == 0) {
		execl(argv[0], argv[0], "again", NULL);
		_exit(99);
	}
	wait(&status);
	sum += WEXITSTATUS(status);
	sum += work(2);
	printf("%d\n", sum);
	DTRACE_PROBE(e, end);
	return 0;
}
