/*
 * Takes a step each 60 ms: in one task, or, by its argument, in several tasks, after an exec, or in
 * a library that is loaded late.
 * status: 7
 * cflags: -pthread
 * ldflags: -ldl
 * lib: lib/plugin.c
 */
#include <dlfcn.h>
#include <pthread.h>
#include <string.h>
#include <sys/wait.h>

#include "program.h"

LEAF(tick)

FN void step(void)
{
	usleep(60000);
	tick();
	KEEP();
}

FN void walk(int nr)
{
	for (int i = 0; i < nr; i++)
		step();
	KEEP();
}

FN void *worker(void *arg)
{
	walk(4);
	KEEP();
	return arg;
}

FN void threads(void)
{
	pthread_t t[3];

	for (int i = 0; i < 3; i++) {
		pthread_create(&t[i], NULL, worker, NULL);
		usleep(70000);
	}
	for (int i = 0; i < 3; i++)
		pthread_join(t[i], NULL);
	KEEP();
}

FN void forks(void)
{
	for (int i = 0; i < 2; i++) {
		if (fork() == 0) {
			walk(4);
			_exit(0);
		}
	}
	while (wait(NULL) > 0)
		;
	KEEP();
}

FN void library(const char *self)
{
	char path[4096];

	snprintf(path, sizeof(path), "%.*s/libplugin.so", (int)(strrchr(self, '/') - self), self);
	for (int i = 0; i < 2; i++) {
		void *handle = dlopen(path, RTLD_NOW);

		if (!handle)
			exit(9);

		int (*plugin)(int) = (int (*)(int))dlsym(handle, "plugin");

		plugin(4);
		usleep(100000);
		plugin(5);
		dlclose(handle);
		step();
	}
	KEEP();
}

FN void doze(void)
{
	sleep(1);
	KEEP();
}

/* live shows the line of this call before it ends: it ends with a line of input. */
FN void await(void)
{
	char c;

	while (read(0, &c, 1) == 1 && c != '\n')
		;
	KEEP();
}

int main(int argc, char *argv[])
{
	const char *how = argc > 1 ? argv[1] : "";

	walk(3);
	if (strcmp(how, "threads") == 0)
		threads();
	else if (strcmp(how, "fork") == 0)
		forks();
	else if (strcmp(how, "exec") == 0)
		execl(argv[0], argv[0], "again", NULL);
	else if (strcmp(how, "dlopen") == 0)
		library(argv[0]);
	else if (strcmp(how, "doze") == 0)
		doze();
	else if (strcmp(how, "await") == 0)
		await();
	walk(3);
	return 7;
}
