/* Calls with arguments in threads, in a forked child, and in a library (argv[1]) loaded late. */
#include <dlfcn.h>
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

__attribute__((noinline)) int work(const char *s, int n)
{
	__asm__ volatile("" : : "g"(s) : "memory");
	return n;
}

static void *run(void *arg)
{
	for (int i = 0; i < 3; i++)
		work("thread", i);
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t threads[3];
	int (*plug)(const char *, double) = dlsym(dlopen(argv[1], RTLD_NOW), "plug");

	plug("hello", 2.5);
	for (int i = 0; i < 3; i++)
		pthread_create(&threads[i], NULL, run, NULL);
	for (int i = 0; i < 3; i++)
		pthread_join(threads[i], NULL);
	if (fork() == 0) {
		work("child", 7);
		_exit(0);
	}
	wait(NULL);
	work("parent", 8);
	return 0;
}
