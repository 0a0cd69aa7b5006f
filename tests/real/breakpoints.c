/*
 * Counts calls of a program's functions by breakpoints, without any code of utrail.
 *   breakpoints OUTPUT FILE OFFSET,OFFSET,... PROGRAM [ARGUMENT...]
 *
 * OFFSET (hexadecimal) is the beginning of a function in FILE, a mapped program or library. OUTPUT
 * gets a line "OFFSET COUNT" for each, for the program and all its forked children together. The
 * status is that of the program. Each process must have one thread.
 */
#define _GNU_SOURCE
#include <elf.h>
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#define PLACES_MAX 4096
#define TASKS_MAX  4096
#define INT3	   0xcc

struct place {
	uint64_t offset;
	uint64_t address; /* 0 while FILE is not mapped */
	uint8_t byte;
	unsigned long count;
};

/*
 * @entry: the address of a breakpoint at the program's entry. The libraries are loaded before the
 * program comes to it. @stepping: the place whose original instruction runs now, or -1
 */
struct task {
	pid_t pid;
	int stepping;
	int has_places;
	int is_new;
	uint64_t entry; /* 0 after the entry was reached */
	uint8_t entry_byte;
};

static struct place places[PLACES_MAX];
static int nr_places;
static struct task tasks[TASKS_MAX];
static int nr_tasks;
static const char *file;

static void fail(const char *what)
{
	perror(what);
	exit(99);
}

static struct task *task_of(pid_t pid)
{
	for (int i = 0; i < nr_tasks; i++) {
		if (tasks[i].pid == pid)
			return &tasks[i];
	}
	if (nr_tasks == TASKS_MAX)
		fail("too many tasks");
	tasks[nr_tasks] = (struct task){ .pid = pid, .stepping = -1, .is_new = 1 };
	return &tasks[nr_tasks++];
}

static void forget(pid_t pid)
{
	struct task *task = task_of(pid);

	*task = tasks[--nr_tasks];
}

static uint8_t swap_byte(pid_t pid, uint64_t address, uint8_t byte)
{
	uint64_t at = address & ~7ULL;
	unsigned shift = 8 * (address & 7);
	uint64_t word;

	errno = 0;
	word = ptrace(PTRACE_PEEKTEXT, pid, at, 0);
	if (errno)
		return 0;

	uint8_t old = word >> shift;

	word = (word & ~(0xffULL << shift)) | (uint64_t)byte << shift;
	ptrace(PTRACE_POKETEXT, pid, at, word);
	return old;
}

/*
 * The address where the program itself begins, after the dynamic linker has loaded its libraries.
 */
static uint64_t entry_of(pid_t pid)
{
	char path[64];
	Elf64_auxv_t aux = { 0 };
	uint64_t entry = 0;

	snprintf(path, sizeof(path), "/proc/%d/auxv", pid);

	FILE *list = fopen(path, "r");

	while (list && fread(&aux, sizeof(aux), 1, list) == 1 && aux.a_type != AT_NULL) {
		if (aux.a_type == AT_ENTRY)
			entry = aux.a_un.a_val;
	}
	if (list)
		fclose(list);
	return entry;
}

static void wait_for_libraries(struct task *task)
{
	task->entry = entry_of(task->pid);
	task->entry_byte = swap_byte(task->pid, task->entry, INT3);
	task->has_places = 0;
}

/* Find the current mapping of FILE, and put breakpoints into it. */
static void put_places(struct task *task)
{
	char path[64];
	char line[8192];
	int is_there = 0;

	snprintf(path, sizeof(path), "/proc/%d/maps", task->pid);

	FILE *maps = fopen(path, "r");

	while (maps && fgets(line, sizeof(line), maps)) {
		uint64_t start, end, offset;
		char rights[8], name[4096] = "";

		if (sscanf(line, "%lx-%lx %7s %lx %*s %*s %4095[^\n]", &start, &end, rights,
			   &offset, name) < 4 ||
		    !strchr(rights, 'x') || strcmp(name, file) != 0)
			continue;
		is_there = 1;
		for (int i = 0; i < nr_places; i++) {
			if (places[i].offset < offset || places[i].offset - offset >= end - start)
				continue;
			places[i].address = start + (places[i].offset - offset);
			places[i].byte = swap_byte(task->pid, places[i].address, INT3);
		}
	}
	if (maps)
		fclose(maps);
	task->has_places = is_there;
}

/*
 * @address is right after the INT3. Returns the index of the place, or -1. Places are sorted by
 * address, as by offset within one mapping.
 */
static int place_at(uint64_t address)
{
	int low = 0, high = nr_places;

	while (low < high) {
		int mid = (low + high) / 2;

		if (places[mid].address < address)
			low = mid + 1;
		else
			high = mid;
	}
	return low < nr_places && places[low].address == address ? low : -1;
}

static int run_on(struct task *task, int signal)
{
	return ptrace(task->stepping >= 0 ? PTRACE_SINGLESTEP : PTRACE_CONT, task->pid, 0, signal);
}

/*
 * Takes a SIGTRAP without an event: a step has ended, a breakpoint was met, or the signal is the
 * program's own. Returns the signal to pass on.
 */
static int take_trap(struct task *task)
{
	struct user_regs_struct regs;

	if (task->stepping >= 0) {
		swap_byte(task->pid, places[task->stepping].address, INT3);
		task->stepping = -1;
		return 0;
	}
	if (ptrace(PTRACE_GETREGS, task->pid, 0, &regs) < 0)
		return SIGTRAP;
	if (task->entry && regs.rip - 1 == task->entry) {
		swap_byte(task->pid, task->entry, task->entry_byte);
		task->entry = 0;
		regs.rip--;
		ptrace(PTRACE_SETREGS, task->pid, 0, &regs);
		put_places(task);
		return 0;
	}
	if (!task->has_places)
		return SIGTRAP;

	int nr = place_at(regs.rip - 1);

	if (nr < 0)
		return SIGTRAP;
	places[nr].count++;
	regs.rip--;
	ptrace(PTRACE_SETREGS, task->pid, 0, &regs);
	swap_byte(task->pid, places[nr].address, places[nr].byte);
	task->stepping = nr;
	return 0;
}

static void take_stop(struct task *task, int status)
{
	int signal = WSTOPSIG(status);
	unsigned long child;

	switch (status >> 16) {
	case PTRACE_EVENT_FORK:
		/*
		 * The child has a copy of the memory with the breakpoints. Its first stop may have
		 * come already.
		 */
		if (ptrace(PTRACE_GETEVENTMSG, task->pid, 0, &child) == 0) {
			int has_places = task->has_places;
			pid_t parent = task->pid;

			task_of((pid_t)child)->has_places = has_places;
			task = task_of(parent);
		}
		signal = 0;
		break;
	case PTRACE_EVENT_EXEC:
		task->stepping = -1;
		wait_for_libraries(task);
		signal = 0;
		break;
	case 0:
		if (task->is_new && signal == SIGSTOP)
			signal = 0;
		else if (signal == SIGTRAP)
			signal = take_trap(task);
		task->is_new = 0;
		break;
	default:
		signal = 0;
	}
	run_on(task, signal);
}

static int compare(const void *a, const void *b)
{
	const struct place *x = a, *y = b;

	return (x->offset > y->offset) - (x->offset < y->offset);
}

int main(int argc, char *argv[])
{
	int status, result = 99;
	pid_t program, pid;

	if (argc < 5)
		return 99;
	file = argv[2];
	for (char *at = strtok(argv[3], ","); at && nr_places < PLACES_MAX; at = strtok(NULL, ","))
		places[nr_places++].offset = strtoull(at, NULL, 16);
	qsort(places, nr_places, sizeof(places[0]), compare);
	program = fork();
	if (program == 0) {
		ptrace(PTRACE_TRACEME, 0, 0, 0);
		raise(SIGSTOP);
		execvp(argv[4], argv + 4);
		_exit(98);
	}
	if (program < 0 || waitpid(program, &status, 0) != program)
		fail("fork");
	/*
	 * A child of vfork() shares its parent's memory until it executes another program, and is
	 * left alone.
	 */
	ptrace(PTRACE_SETOPTIONS, program, 0,
	       PTRACE_O_TRACEEXEC | PTRACE_O_TRACEFORK | PTRACE_O_EXITKILL);
	task_of(program)->is_new = 0;
	run_on(task_of(program), 0);
	while ((pid = waitpid(-1, &status, __WALL)) > 0) {
		if (WIFSTOPPED(status)) {
			take_stop(task_of(pid), status);
			continue;
		}
		if (pid == program)
			result = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
		forget(pid);
	}

	FILE *out = fopen(argv[1], "w");

	for (int i = 0; out && i < nr_places; i++)
		fprintf(out, "%lx %lu\n", places[i].offset, places[i].count);
	if (!out || fclose(out) != 0)
		fail(argv[1]);
	return result;
}
