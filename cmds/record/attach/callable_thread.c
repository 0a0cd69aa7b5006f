/* Finds a thread that can be made to call functions (see callable_thread.h). */
#include "cmds/record/attach/callable_thread.h"

#include <dirent.h>
#include <errno.h>
#include <linux/futex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "utils/base/cleanup.h"
#include "utils/base/compiler.h"

const char *const callable_thread_libc_names[] = { "libc.so.", "libc-2.", NULL };
/* A library of its own before glibc 2.34: the dynamic linker's locks wait there. */
static const char *const threads_names[] = { "libpthread.so.", "libpthread-2.", NULL };
const char *const callable_thread_linker_names[] = { "ld-linux", "ld-2.", NULL };

/* The kernel shows a memfd by its name, with "/memfd:" in front. */
const char *const callable_thread_probe_names[] = { CALLABLE_THREAD_PROBE,
						    "memfd:" CALLABLE_THREAD_PROBE, NULL };

/* So often is looked, and so long is waited between two looks. */
#define LOOKS	     600
#define LOOK_WAIT_US 5000

/*
 * The thread stands in a system call that begins again, whichever that is. It waits for something,
 * of the program's or of nobody's. If the C library waits for it, it holds no lock of its allocator
 * or of the dynamic linker. For what these two do is to map, open and read, in the linker's own
 * code, and to wait for each other: by FUTEX_WAIT without an end, which is the one exception. (With
 * an end, and so in restart_syscall(2), which a sleep becomes when it is stopped once, it is no
 * lock of theirs.) is_past_locks() knows some of the others.
 */
static bool waits_for_events(long nr, const uint64_t args[4])
{
	return nr != SYS_futex || (args[1] & FUTEX_CMD_MASK) != FUTEX_WAIT || args[3];
}

static bool begins_with_any(const char *name, const char *const *names)
{
	for (size_t i = 0; names[i]; i++) {
		if (strncmp(name, names[i], strlen(names[i])) == 0)
			return true;
	}
	return false;
}

static const char *file_of(const struct mapping *m)
{
	const char *slash = strrchr(m->path, '/');

	return slash ? slash + 1 : m->path;
}

#define STACK_LOOK (256UL << 10)

bool callable_thread_has_interrupted(const struct attached *w, const struct maps *maps,
				     const struct attached_thread *t, uint64_t start, uint64_t end)
{
	uint64_t sp = arch_remote_sp(&t->regs) & ~(uint64_t)7;
	const struct mapping *stack = maps_find(maps, sp);
	size_t room = stack ? MIN(stack->end - sp, STACK_LOOK) : 0;
	uint64_t *words cleanup_free = malloc(room + sizeof(uint64_t));
	size_t nr = words ? attached_read(w, sp, words, room) / sizeof(*words) : 0;

	for (size_t i = 0; i + 1 < nr; i++) {
		if (words[i] != w->return_gadget)
			continue;

		uint64_t pc = arch_remote_sigframe_pc(words + i + 1, nr - i - 1);

		if (pc && pc - start < end - start)
			return true;
	}
	return false;
}

/* So many bytes has syscall(3) at most: it moves arguments, and makes the call. */
#define SYSCALL_BYTES 64

/*
 * The owners of locks that a FUTEX_WAIT without an end can be for. @has_one_allocator: the C
 * library's is the only one, so that it waits in there, as does the dynamic linker, and neither by
 * syscall(3)
 */
struct locks {
	bool has_one_allocator;
	uint64_t syscall;
};

/* Nobody stands meanwhile: it takes milliseconds with hundreds of modules. */
static struct locks find_locks(const struct attached *w, const struct maps *maps)
{
	const struct mapping *libc = maps_module(maps, callable_thread_libc_names);
	struct locks locks = { .has_one_allocator = libc };

	for (size_t i = 0; i < maps->nr && locks.has_one_allocator; i++) {
		const struct mapping *m = &maps->lines[i];

		if (m->path[0] != '/' || (i && strcmp(m[-1].path, m->path) == 0) ||
		    begins_with_any(file_of(m), callable_thread_libc_names) ||
		    begins_with_any(file_of(m), callable_thread_linker_names))
			continue;
		locks.has_one_allocator = !maps_symbol(w, m->start, "malloc");
	}
	if (locks.has_one_allocator)
		locks.syscall = maps_symbol(w, libc->start, "syscall");
	return locks;
}

/* It waits for the program, whatever it waits for: for no lock that dlopen(3) may need. */
static bool is_past_locks(const struct locks *locks, const struct mapping *code, uint64_t pc)
{
	if (!locks->has_one_allocator || begins_with_any(file_of(code), threads_names))
		return false;
	return !begins_with_any(file_of(code), callable_thread_libc_names) ||
	       (locks->syscall && pc - locks->syscall < SYSCALL_BYTES);
}

/* It is in a handler, or may be: where nothing is blocked it is in none. */
static bool is_in_handler(const struct attached *w, const struct maps *maps,
			  const struct attached_thread *t)
{
	uint64_t mask = 0;

	ptrace(PTRACE_GETSIGMASK, t->tid, sizeof(mask), &mask);
	return mask && callable_thread_has_interrupted(w, maps, t, 0, UINT64_MAX);
}

static bool is_quiet(const struct attached *w, const struct maps *maps, const struct locks *locks,
		     const struct attached_thread *t)
{
	const struct mapping *code = maps_find(maps, arch_remote_pc(&t->regs));
	uint64_t args[4];
	long nr = arch_remote_system_call(&t->regs, args);

	if (!code || code->path[0] != '/' ||
	    begins_with_any(file_of(code), callable_thread_linker_names) ||
	    begins_with_any(file_of(code), callable_thread_probe_names) ||
	    is_in_handler(w, maps, t))
		return false;
	if (nr >= 0)
		return waits_for_events(nr, args) ||
		       is_past_locks(locks, code, arch_remote_pc(&t->regs));
	if (begins_with_any(file_of(code), callable_thread_libc_names))
		return false;

	/* Its first line is where its names are found. */
	const struct mapping *first = code;

	while (first > maps->lines && strcmp(first[-1].path, code->path) == 0)
		first--;
	return !maps_symbol(w, first->start, "malloc");
}

/*
 * The first thread is asked alone for a while: its part of the allocator is there, where another
 * one's might be made for this and would stay.
 */
#define LOOKS_AT_FIRST 40

/* Most processes are found quiet before that, and their modules need not be searched. */
#define LOOKS_WITHOUT_LOCKS 4

/* One look, at the first thread or at all. 0: none was quiet. 1: @thread is. */
static int look_for_quiet(struct attached *w, const struct maps *maps, const struct locks *locks,
			  bool at_all, struct attached_thread **thread)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/task", w->pid);

	DIR *dir cleanup_dir = opendir(path);
	struct dirent *entry;

	if (!dir)
		return -ESRCH;
	while ((entry = readdir(dir))) {
		struct uft_err unused = { 0 };
		pid_t tid = atoi(entry->d_name);
		int ret = tid > 0 && (at_all || tid == w->pid)
				  ? attached_stop_thread(w, tid, thread, &unused)
				  : -ESRCH;

		if (ret < 0)
			*thread = NULL;
		if (ret == -EPERM)
			return ret;
		if (ret < 0)
			continue;
		if (is_quiet(w, maps, locks, *thread))
			return 1;
		attached_let_go(w);
		*thread = NULL;
	}
	return 0;
}

int callable_thread_stop(struct attached *w, const struct maps *maps,
			 struct attached_thread **thread, struct uft_err *err)
{
	struct locks locks = { 0 };

	*thread = NULL;
	for (int i = 0; i < LOOKS; i++) {
		if (i == LOOKS_WITHOUT_LOCKS)
			locks = find_locks(w, maps);

		int ret = look_for_quiet(w, maps, &locks, i >= LOOKS_AT_FIRST, thread);

		if (ret == 1)
			return 0;
		if (ret < 0)
			return err_set_errno(err, ret, "cannot stop process %d", w->pid);
		usleep(LOOK_WAIT_US);
		if (w->wait)
			w->wait(w->wait_arg);
	}
	return err_set(
		err, -EBUSY,
		"cannot attach to process %d: at no time was a thread of it seen where it may "
		"be made to load a library (they are in handlers of signals, or in the C "
		"library itself); nothing was changed",
		w->pid);
}
