/*
 * A thread reports a library to the recorder while another thread is still loading one. The program
 * stops the recorder, its parent, until its three threads have come so far:
 *   first   waits for the recorder's answer about its library
 *   second  has loaded its library, and waits until the first thread is done
 *   slow    is loading its library
 */
#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <unistd.h>

#include "../program.h"

static FN void *open_one(void *path)
{
	void *handle = dlopen(path, RTLD_LAZY);
	int (*fn)(int);

	if (!handle)
		exit(9);
	fn = (int (*)(int))dlsym(handle, "calls_one");
	return (void *)(long)fn(1);
}

int main(int argc, char *argv[])
{
	static char *const paths[] = { "./libfirst.so", "./libsecond.so", "./libslow.so" };
	pthread_t threads[3];
	long sum = 0;
	void *one;

	kill(getppid(), SIGSTOP);
	for (int i = 0; i < 3; i++) {
		pthread_create(&threads[i], NULL, open_one, paths[i]);
		usleep(200000);
	}
	kill(getppid(), SIGCONT);
	for (int i = 0; i < 3; i++) {
		pthread_join(threads[i], &one);
		sum += (long)one;
	}
	printf("%ld\n", sum);
	return 0;
}
