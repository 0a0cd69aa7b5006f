/*
 * Installs a random filter of system calls, which depends on a seed, and then calls functions until
 * rings are full. Depending on the seed, functions are also called by threads that are older or
 * younger than the filter, by a signal handler, and by a child. The exit status only tells how the
 * program ended. With a second argument the program installs the filter without libc.
 */
#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static volatile unsigned sum;
__attribute__((noinline)) unsigned leaf(unsigned i)
{
	sum += i;
	return i ^ sum;
}
__attribute__((noinline)) unsigned middle(unsigned i)
{
	return leaf(i) + leaf(i + 1);
}

static unsigned long state;
__attribute__((no_instrument_function)) static unsigned rnd(void)
{
	state = state * 6364136223846793005UL + 1442695040888963407UL;
	return state >> 33;
}

/* A system call by an instruction of this program, past libc's prctl() and syscall(). */
#ifdef __x86_64__
__attribute__((no_instrument_function)) static long direct(long nr, long a, long b, void *c)
{
	long r;
	__asm__ volatile("syscall"
			 : "=a"(r)
			 : "a"(nr), "D"(a), "S"(b), "d"(c)
			 : "rcx", "r11", "memory");
	return r;
}
#else
#define direct syscall
#endif

static atomic_int go, started;
static volatile int done;

/*
 * The number of rounds of main(). Other threads end when this number no longer changes: a thread
 * that ends earlier makes system calls that it would not make otherwise. A flag that main() sets at
 * its end is not sufficient, since a filter of system calls may end only the thread of main().
 */
static volatile unsigned beats;
__attribute__((no_instrument_function)) static void await_end(void)
{
	unsigned seen = beats;

	for (long i = 0; i < 1500000000; i++) {
		if (beats != seen)
			i = 0;
		seen = beats;
	}
}

static void *late(void *arg)
{
	for (unsigned i = 0; i < 6000; i++)
		middle(i);
	done = 1;
	await_end();
	return arg;
}
static void on_signal(int sig)
{
	middle(sig);
}
static void *run(void *arg)
{
	unsigned n = 0;
	middle(1);
	atomic_fetch_add(&started, 1);
	while (!atomic_load(&go))
		;
	for (unsigned i = 0; i < 6000; i++)
		n += middle(i);
	await_end();
	return (void *)(unsigned long)n;
}

int main(int argc, char **argv)
{
	static struct sock_filter code[2000];
	unsigned len = 0;
	unsigned long seed = strtoul(argv[1], NULL, 10);
	int how;
	state = seed * 2654435761UL + 17;
	for (int i = 0; i < 5; i++)
		rnd();
	unsigned percent = rnd() % 101;
	unsigned kinds[] = { SECCOMP_RET_KILL_PROCESS, SECCOMP_RET_ERRNO | EPERM, SECCOMP_RET_TRAP,
			     SECCOMP_RET_KILL_THREAD, SECCOMP_RET_ERRNO | ENOSYS };
	unsigned kind = kinds[rnd() % 5];
	how = rnd() % 3;
	pthread_t th[3];
	int nth = rnd() % 4;
	int does_fork = rnd() % 4 == 0, does_thread = rnd() % 3 == 0, does_raise = rnd() % 4 == 0,
	    normal = rnd() % 2, does_exec = rnd() % 6 == 0;
	signal(SIGUSR1, on_signal);
	for (int i = 0; i < nth; i++)
		pthread_create(&th[i], NULL, run, NULL);
	while (atomic_load(&started) < nth)
		;
	code[len++] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
						   offsetof(struct seccomp_data, nr));
	for (unsigned nr = 0; nr < 450; nr++) {
		if (nr == SYS_rseq || nr == SYS_write || nr == SYS_exit_group ||
		    rnd() % 100 >= percent)
			continue;
		if (nr == SYS_exit && kind == kinds[3])
			continue;
		code[len++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, nr, 0, 1);
		code[len++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, kind);
	}
	code[len++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
	struct sock_fprog filter = { len, code };
	int r = prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	if (argc > 2)
		r |= direct(SYS_seccomp, SECCOMP_SET_MODE_FILTER,
			    how == 2 ? SECCOMP_FILTER_FLAG_TSYNC : 0, &filter);
	else if (how == 0)
		r |= prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter);
	else if (how == 1)
		r |= syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &filter);
	else
		r |= syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC,
			     &filter);
	if (r)
		_exit(99);
	atomic_store(&go, 1);
	unsigned n = 0;
	for (unsigned i = 0; i < 100000; i++) {
		n += middle(i);
		beats++;
	}
	int st = -1;
	if (does_raise) {
		raise(SIGUSR1);
		middle(3);
	}
	if (does_thread) {
		pthread_t t;
		if (!pthread_create(&t, NULL, late, NULL))
			/* A filter may end main() alone, before done is set. */
			for (long i = 0; !done && i < 1500000000; i++)
				beats++;
	}
	if (does_fork) {
		pid_t p = fork();
		if (p == 0) {
			for (int i = 0; i < 1000; i++)
				middle(i);
			if (does_exec) {
				execl(argv[0], argv[0], "7000001", NULL);
			}
			_exit(3);
		}
		if (p > 0)
			waitpid(p, &st, 0);
	}
	write(1, "done\n", 5);
	if (normal)
		return 5;
	_exit(6);
}
