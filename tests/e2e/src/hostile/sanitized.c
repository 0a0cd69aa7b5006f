/*
 * Uses everything that sanitizers watch: memory, threads, jumps, starts of other programs.
 * Arguments: "leak", "bug" or "exec".
 */
#include <pthread.h>
#include <setjmp.h>

#include "../program.h"

static jmp_buf env;

FN long leaf(long n)
{
	KEEP();
	return n + 1;
}

FN void leap(void)
{
	longjmp(env, 1);
}

FN void *thread(void *arg)
{
	char *m = malloc(100);
	long r;

	memset(m, 1, 100);
	r = leaf(m[3]);
	free(m);
	return (void *)r;
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";
	long sum = 0;
	pthread_t t;
	void *r;

	for (int i = 0; i < 100; i++)
		sum += leaf(i);
	pthread_create(&t, NULL, thread, NULL);
	pthread_join(t, &r);
	if (!setjmp(env))
		leap();
	printf("%ld %ld\n", sum, (long)r);
	fflush(stdout);
	if (strcmp(what, "exec") == 0 && system("echo here") != 0)
		return 1;
	if (strcmp(what, "leak") == 0) {
		/*
		 * A hundred blocks: if the address of one remains in memory, LeakSanitizer does not
		 * report that one.
		 */
		for (int i = 0; i < 100; i++) {
			void *volatile lost = malloc(10);

			lost = NULL;
			(void)lost;
		}
	}
	if (strcmp(what, "bug") == 0) {
		char *volatile gone = malloc(10);

		free(gone);
		gone[1] = 1;
	}
	return 3;
}
