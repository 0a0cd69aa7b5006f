/*
 * Pointers that lead nowhere, given to functions whose arguments are read as strings. The program
 * has signal handlers and faults of its own, and prints how it sees them.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <signal.h>
#include <setjmp.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define KEPT __attribute__((noinline, noclone))

KEPT int text(const char *s, int n)
{
	__asm__ volatile("" ::: "memory");
	return n + (s != NULL);
}

KEPT const char *give(uintptr_t p)
{
	__asm__ volatile("" : "+r"(p));
	return (const char *)p;
}

static void wild_pointers(void)
{
	static const uintptr_t wild[] = {
		1,
		0x10,
		4095,
		4096,
		0xdeadbeef,
		0x7fffffffffff,
		0x800000000000,
		0x4141414141414141,
		0xffffffffff600000,
		0xfffffffffffffff8,
		UINTPTR_MAX,
	};

	for (size_t i = 0; i < sizeof(wild) / sizeof(wild[0]); i++) {
		text((const char *)wild[i], i);
		give(wild[i]);
	}
	text(NULL, 0);
}

/* Passes strings of all lengths and alignments that run into a page without access. */
static void page_end(void)
{
	char *pages = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	memset(pages, 'x', 4096);
	mprotect(pages + 4096, 4096, PROT_NONE);
	for (int len = 0; len <= 130; len++)
		text(pages + 4096 - len, len);
	for (int len = 1; len <= 130; len++) {
		pages[4095] = 0;
		text(pages + 4096 - len, len);
	}
	munmap(pages, 8192);
}

/* Reads a mapping beyond the end of its file, which was shortened: SIGBUS. */
static void beyond_file(void)
{
	FILE *f = tmpfile();
	char *map;

	if (ftruncate(fileno(f), 4096) < 0)
		return;
	map = mmap(NULL, 4096, PROT_READ, MAP_SHARED, fileno(f), 0);
	if (ftruncate(fileno(f), 0) < 0)
		return;
	text(map, 1);
	fclose(f);
}

static atomic_int stop;
static char *_Atomic shared;

static void *unmapper(void *arg)
{
	while (!atomic_load(&stop)) {
		char *p = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
			       0);

		strcpy(p, "here for a moment");
		atomic_store(&shared, p);
		munmap(p, 4096);
	}
	return NULL;
}

static void races(void)
{
	pthread_t thread;

	pthread_create(&thread, NULL, unmapper, NULL);
	for (int i = 0; i < 20000; i++)
		text(atomic_load(&shared), i);
	atomic_store(&stop, 1);
	pthread_join(thread, NULL);
}

static sigjmp_buf env;
static volatile int faults;
static volatile uintptr_t fault_address;
static volatile int handler_saw_segv_blocked;

static void on_segv(int sig, siginfo_t *info, void *context)
{
	sigset_t now;

	faults++;
	fault_address = (uintptr_t)info->si_addr;
	sigprocmask(SIG_SETMASK, NULL, &now);
	handler_saw_segv_blocked = sigismember(&now, SIGSEGV);
	text((const char *)0x30, 1);
	siglongjmp(env, 1);
}

static volatile int *volatile nowhere = (int *)0x1234;

static void own_handler(int flags)
{
	struct sigaction act = { .sa_sigaction = on_segv, .sa_flags = SA_SIGINFO | flags };
	struct sigaction old;

	sigaddset(&act.sa_mask, SIGUSR1);
	sigaction(SIGSEGV, &act, NULL);
	sigaction(SIGSEGV, NULL, &old);
	printf("mine %d flags %d mask %d\n", old.sa_sigaction == on_segv,
	       (old.sa_flags & (SA_SIGINFO | SA_NODEFER | SA_RESETHAND)) == act.sa_flags,
	       sigismember(&old.sa_mask, SIGUSR1) == 1 && sigismember(&old.sa_mask, SIGUSR2) == 0);
	for (int i = 0; i < (flags & SA_RESETHAND ? 1 : 3); i++) {
		text((const char *)0x20, i);
		if (sigsetjmp(env, 1) == 0)
			*nowhere = 1;
		text((const char *)0x50000, i);
	}
	sigaction(SIGSEGV, NULL, &old);
	printf("faults %d at %#lx blocked %d left %d\n", faults, (unsigned long)fault_address,
	       handler_saw_segv_blocked, old.sa_handler == SIG_DFL);
	faults = 0;
}

static void on_usr1(int sig)
{
	text((const char *)0x60000, sig);
}

static void blocked(void)
{
	sigset_t set, old;
	struct sigaction act = { .sa_handler = on_usr1 };
	struct sigaction seen;

	sigfillset(&set);
	pthread_sigmask(SIG_BLOCK, &set, &old);
	text((const char *)0x40000, 7);
	text("fine", 7);
	pthread_sigmask(SIG_SETMASK, &old, NULL);

	/* A handler that blocks all signals. */
	sigfillset(&act.sa_mask);
	sigaction(SIGUSR1, &act, NULL);
	raise(SIGUSR1);
	sigaction(SIGUSR1, NULL, &seen);
	printf("blocked %d %d\n", sigismember(&seen.sa_mask, SIGSEGV),
	       sigismember(&seen.sa_mask, SIGBUS));
}

static void simple(int sig)
{
	text((const char *)0x70000, sig);
	siglongjmp(env, 1);
}

static void by_signal(void)
{
	signal(SIGSEGV, simple);
	if (sigsetjmp(env, 1) == 0)
		*nowhere = 1;
	text((const char *)0x70000, 1);
	printf("signal %d\n", signal(SIGSEGV, SIG_DFL) == simple);
	printf("signal %d\n", signal(SIGSEGV, SIG_IGN) == SIG_DFL);
	text((const char *)0x70000, 2);
	raise(SIGSEGV);
	printf("signal %d\n", signal(SIGSEGV, SIG_DFL) == SIG_IGN);
}

/* sigset() does not call sigaction() through the PLT. */
static void by_sigset(void)
{
	printf("sigset %d\n", sigset(SIGSEGV, simple) == SIG_DFL);
	if (sigsetjmp(env, 1) == 0)
		*nowhere = 1;
	text((const char *)0x90000, 1);
	printf("sigset %d\n", sigset(SIGSEGV, SIG_HOLD) == simple);
	text((const char *)0x90000, 2);
	printf("sigset %d\n", sigset(SIGSEGV, SIG_DFL) == SIG_HOLD);
	printf("sigignore %d\n", sigignore(SIGBUS));
	raise(SIGBUS);
	text((const char *)0x90000, 3);
	printf("sigset %d\n", sigset(SIGBUS, SIG_DFL) == SIG_IGN);
}

int main(int argc, char **argv)
{
	setvbuf(stdout, NULL, _IOLBF, 0);
	wild_pointers();
	page_end();
	beyond_file();
	blocked();
	races();
	own_handler(0);
	own_handler(SA_NODEFER);
	own_handler(SA_RESETHAND);
	by_signal();
	by_sigset();
	wild_pointers();
	puts("done");
	if (argc > 1 && !strcmp(argv[1], "crash"))
		*nowhere = 1;
	if (argc > 1 && !strcmp(argv[1], "raise"))
		raise(SIGSEGV);
	if (argc > 1 && !strcmp(argv[1], "kill")) {
		sigset_t set;

		/* The signal stays pending while strings are read. */
		sigfillset(&set);
		sigprocmask(SIG_BLOCK, &set, NULL);
		kill(getpid(), SIGBUS);
		for (int i = 0; i < 10; i++)
			text((const char *)0x80000, i);
		puts("still here");
		sigemptyset(&set);
		sigprocmask(SIG_SETMASK, &set, NULL);
	}
	return 0;
}
