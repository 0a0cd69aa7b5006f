/*
 * Counts the instructions of calls: it steps a child of its own, one instruction at a time. It is
 * compiled with a compiler's hooks and runs under the recorder. It prints the fewest instructions
 * of a call of a leaf, and of a chain of four calls.
 *
 * usage: step [FILE]
 *
 * FILE gets the place of each instruction of one leaf call and of one chain, and the child's memory
 * map.
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ptrace.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#define NOT_TRACED __attribute__((no_instrument_function))

/* Some samples contain rare work, like a new fit of the clock, so the lowest counts are taken. */
#define SAMPLES 20
#define WARM_UP 300

__attribute__((noipa)) int leaf(int x)
{
	return x + 1;
}

__attribute__((noipa)) int other(int x)
{
	return x + 2;
}

__attribute__((noipa)) int chain3(int x)
{
	return leaf(x) + 1;
}

__attribute__((noipa)) int chain2(int x)
{
	return chain3(x) + 1;
}

__attribute__((noipa)) int chain(int x)
{
	return chain2(x) + 1;
}

static volatile int sink;

/* Makes the calls. Each int3 begins a sample, and ends the one before. */
NOT_TRACED static void work(void)
{
	for (int i = 0; i < WARM_UP; i++) {
		sink = leaf(i);
		sink = chain(i);
		/* The clock is fitted often at first, and later less often. */
		usleep(1000);
	}
	if (sink < 0)
		sink = other(1);
	for (int i = 0; i < SAMPLES; i++) {
		__asm__ volatile("int3");
		sink = leaf(i);
	}
	for (int i = 0; i < SAMPLES; i++) {
		__asm__ volatile("int3");
		sink = chain(i);
	}
	__asm__ volatile("int3");
}

NOT_TRACED static void stop(const char *what)
{
	perror(what);
	exit(1);
}

NOT_TRACED static void note_place(FILE *places, pid_t child)
{
	struct user_regs_struct regs;

	if (ptrace(PTRACE_GETREGS, child, NULL, &regs))
		stop("PTRACE_GETREGS");
	fprintf(places, "%llx\n", regs.rip);
}

NOT_TRACED static void note_maps(FILE *places, pid_t child)
{
	char line[4096];
	FILE *maps;

	snprintf(line, sizeof(line), "/proc/%d/maps", (int)child);
	maps = fopen(line, "r");
	if (!maps)
		stop(line);
	while (fgets(line, sizeof(line), maps))
		fprintf(places, "map %s", line);
	fclose(maps);
}

/* Steps to the next int3. Returns the number of instructions, or -1 when the child has ended. */
NOT_TRACED static long step(pid_t child, FILE *places)
{
	long instructions = 0;
	int deliver = 0;
	int status;

	for (;;) {
		siginfo_t info;

		if (places)
			note_place(places, child);
		if (ptrace(PTRACE_SINGLESTEP, child, NULL, deliver) && errno == ESRCH)
			return -1;
		if (waitpid(child, &status, 0) != child || !WIFSTOPPED(status))
			return -1;
		if (ptrace(PTRACE_GETSIGINFO, child, NULL, &info))
			stop("PTRACE_GETSIGINFO");
		deliver = WSTOPSIG(status) == SIGTRAP ? 0 : WSTOPSIG(status);
		/* With SI_KERNEL, the SIGTRAP comes from an int3, not from the end of a step. */
		if (!deliver && info.si_code == SI_KERNEL)
			return instructions;
		instructions += !deliver;
	}
}

NOT_TRACED static long fewest(pid_t child, FILE *places, const char *what)
{
	long best = -1;

	if (places)
		fprintf(places, "call %s\n", what);
	for (int i = 0; i < SAMPLES; i++) {
		long instructions = step(child, i == SAMPLES - 1 ? places : NULL);

		if (instructions < 0) {
			fprintf(stderr, "%s: the child has ended\n", what);
			exit(1);
		}
		if (best < 0 || instructions < best)
			best = instructions;
	}
	return best;
}

int main(int argc, char **argv)
{
	FILE *places = argc > 1 ? fopen(argv[1], "w") : NULL;
	pid_t child = fork();
	int status;

	if (child < 0)
		stop("fork");
	if (child == 0) {
		if (ptrace(PTRACE_TRACEME, 0, NULL, NULL))
			stop("PTRACE_TRACEME");
		work();
		_exit(0);
	}
	/* Wait for the first int3. */
	if (waitpid(child, &status, 0) != child || !WIFSTOPPED(status) ||
	    WSTOPSIG(status) != SIGTRAP) {
		fprintf(stderr, "the child did not stop where it should\n");
		return 1;
	}
	if (places)
		note_maps(places, child);

	long leaf_calls = fewest(child, places, "leaf");
	long chain_calls = fewest(child, places, "chain");

	ptrace(PTRACE_CONT, child, NULL, NULL);
	waitpid(child, &status, 0);
	if (places)
		fclose(places);
	printf("leaf %ld chain %ld\n", leaf_calls, chain_calls);
	return 0;
}
