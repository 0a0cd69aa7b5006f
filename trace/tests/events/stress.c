/*
 * Threads of one or several processes log into one file that is rotated often. The first KILLS
 * processes are killed meanwhile. Each thread counts its logged lines in shared memory. At the end
 * the program prints these counts.
 * usage: stress PREFIX ROTATE PROCESSES THREADS LINES KILLS SEED SIZE
 */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "fstrace.h"

static fstrace_t *trace;
static fstrace_event_t *event;
static int nr_threads, nr_lines;
static size_t most;
static char *filler;
static volatile unsigned *written; /* the lines of each writer, in memory that all processes
				    * share */

struct writer {
	pthread_t thread;
	unsigned number;
};

static void *write_lines(void *data)
{
	struct writer *writer = data;
	unsigned seed = writer->number + 1;

	for (int i = 0; i < nr_lines; i++) {
		/* Most lines are short, some have up to the maximum length. */
		size_t len = (size_t)rand_r(&seed) % (i % 16 ? 100 : most + 1);

		FSTRACE(event, writer->number, i, len, filler, (ssize_t)len);
		written[writer->number]++;
	}
	return NULL;
}

static pid_t start(int process)
{
	struct writer writers[64];
	pid_t pid = fork();

	if (pid)
		return pid;
	for (int i = 0; i < nr_threads; i++) {
		writers[i].number = process * nr_threads + i;
		pthread_create(&writers[i].thread, NULL, write_lines, &writers[i]);
	}
	for (int i = 0; i < nr_threads; i++)
		pthread_join(writers[i].thread, NULL);
	_exit(0);
}

static size_t number(char **argv, int at)
{
	return strtoul(argv[at], NULL, 10);
}

int main(int argc, char **argv)
{
	if (argc != 9)
		return 2;

	int nr_processes = number(argv, 3), nr_kills = number(argv, 6);
	unsigned seed = number(argv, 7);
	pid_t pids[64];

	nr_threads = number(argv, 4);
	nr_lines = number(argv, 5);
	most = number(argv, 8);
	filler = malloc(most + 1);
	memset(filler, 'x', most);
	filler[most] = '\0';
	written = mmap(NULL, 4096 * sizeof(*written), PROT_READ | PROT_WRITE,
		       MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	trace = fstrace_open(argv[1], strtol(argv[2], NULL, 10));
	if (!trace)
		return 1;
	event = fstrace_declare(trace, "STRESS", "WRITER=%u NR=%d LEN=%z TEXT=%S END");
	fstrace_select_regex(trace, ".", NULL);
	for (int i = 0; i < nr_processes; i++)
		pids[i] = start(i);
	for (int i = 0; i < nr_kills; i++) {
		usleep(rand_r(&seed) % 20000);
		kill(pids[i], SIGKILL);
	}
	for (int i = 0; i < nr_processes; i++)
		waitpid(pids[i], NULL, 0);
	for (int i = 0; i < nr_processes * nr_threads; i++)
		printf("%u\n", written[i]);
	return fstrace_close(trace);
}
