/*
 * One thread loads libraries, and calls a function of each. The other one loads a library whose
 * constructor calls dlopen(3), while it holds the lock of the dynamic linker.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>

#include "../program.h"

#define LIBRARIES 20

static atomic_int is_over;

static FN void *open_nested(void *arg)
{
	while (!is_over) {
		void *handle = dlopen("./libnested.so", RTLD_NOW);

		if (!handle)
			exit(9);
		dlclose(handle);
	}
	return NULL;
}

static FN int open_one(int number)
{
	char path[64];
	int (*fn)(int);

	snprintf(path, sizeof(path), "./libone%d.so", number);

	void *handle = dlopen(path, RTLD_LAZY);

	if (!handle)
		exit(9);
	fn = (int (*)(int))dlsym(handle, "calls_one");
	return fn(number);
}

int main(int argc, char *argv[])
{
	pthread_t other;
	int sum = 0;

	pthread_create(&other, NULL, open_nested, NULL);
	for (int i = 0; i < LIBRARIES; i++)
		sum += open_one(i);
	is_over = 1;
	pthread_join(other, NULL);
	printf("%d\n", sum);
	return 0;
}
