/*
 * The program that the scenes record: many small acts, each chosen by its name. It is built once
 * for each kind of hook: acts_pg, acts_fentry, acts_cyg, acts_room, and acts_plain without hooks.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <execinfo.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>
#include <unwind.h>

#include "acts.h"

/* --- calls --- */

FN void leaf(void)
{
	KEEP();
}

FN void other_leaf(void)
{
	KEEP();
}

FN void inner(void)
{
	leaf();
	leaf();
	KEEP();
}

FN void outer(void)
{
	inner();
	other_leaf();
	inner();
	KEEP();
}

FN int down(int n)
{
	int below = n > 0 ? down(n - 1) + 1 : 0;

	KEEP();
	return below;
}

/* This function is larger than all others here, with any compiler. */
FN void large(void)
{
	__asm__ volatile(".skip 4096, 0x90");
	leaf();
	KEEP();
}

static int act_calls(void)
{
	outer();
	down(4);
	large();
	outer();
	return 0;
}

static int act_many(void)
{
	for (int i = 0; i < 20000; i++)
		inner();
	return 0;
}

/* --- arguments --- */

enum color {
	RED,
	GREEN = 2,
	BLUE
};

struct point {
	int x;
	short y;
	const char *name;
};

FN int64_t ints(int8_t a, uint8_t b, int16_t c, uint16_t d, int32_t e, uint32_t f, int64_t g,
		uint64_t h)
{
	KEEP();
	return a + b + c + d + e + f + g + (int64_t)h;
}

FN const char *text(const char *s, char c)
{
	KEEP();
	return c == 'x' ? "another" : s;
}

FN double floats(float a, double b, int i)
{
	KEEP();
	return a + b + i;
}

FN float many_floats(double a, double b, double c, double d, double e, double f, double g, double h,
		     float i)
{
	KEEP();
	return (float)(a + b + c + d + e + f + g + h) + i;
}

FN long double extended(int i, long double x)
{
	KEEP();
	return x + i;
}

FN enum color paint(enum color c, const enum color *to)
{
	KEEP();
	return to ? *to : c;
}

FN int take(struct point p, const struct point *q)
{
	KEEP();
	return p.x + (q ? q->y : 0);
}

FN struct point make(int x)
{
	KEEP();
	return (struct point){ x, (short)(x + 1), "made" };
}

/* The struct is too large for registers. */
struct large {
	int64_t first;
	double second;
	char rest[24];
};

FN int64_t take_large(struct large l, int n)
{
	KEEP();
	return l.first + n;
}

FN bool is_odd(int n)
{
	KEEP();
	return n & 1;
}

static int act_args(void)
{
	static char long_text[300];
	enum color blue = BLUE;
	struct point p = { 7, -8, "seven" };
	static struct large l = { 1, 2.5, "the rest of it" };

	memset(long_text, 'y', sizeof(long_text) - 1);
	ints(-1, 200, -300, 40000, -70000, 4000000000U, -5000000000LL, UINT64_MAX);
	ints(1, 2, 3, 4, 5, 6, 7, 8);
	text("hello\n\"you\"", 'c');
	text("", 'x');
	text(NULL, '\0');
	text(long_text, 'x');
	text((const char *)8, 'z');
	floats(1.25F, -2.5, 3);
	many_floats(1, 2, 3, 4, 5, 6, 7, 8, 9.5F);
	extended(2, 0.5L);
	paint(GREEN, NULL);
	paint(RED, &blue);
	paint((enum color)77, NULL);
	take(p, &p);
	take(p, NULL);
	make(40);
	take_large(l, 9);
	is_odd(3);
	is_odd(4);
	return 0;
}

/*
 * Nested calls with arguments. Arguments of calls that are held back must be kept meanwhile.
 */
FN int around(int n, const char *s)
{
	int sum = n > 0 ? around(n - 1, s + 1) : 0;

	if (n == 2)
		is_odd(n);
	KEEP();
	return sum + n;
}

static int act_around(void)
{
	around(4, "abcdefgh");
	around(1, "ij");
	return 0;
}

/* --- variables --- */

int32_t watched_int;
uint8_t watched_byte;
uint64_t watched_long = 1;
uint16_t watched_short = 5;

FN void change(int n)
{
	watched_int += n;
	watched_byte = (uint8_t)n;
	watched_short = (uint16_t)(n / 2);
	KEEP();
}

static int act_vars(void)
{
	for (int i = 0; i < 4; i++) {
		leaf();
		change(i - 1);
		other_leaf();
	}
	watched_long = 0x123456789abcdefULL;
	leaf();
	return 0;
}

/* --- tasks --- */

FN void *thread_body(void *arg)
{
	for (intptr_t i = 0; i < (intptr_t)arg; i++)
		inner();
	if ((intptr_t)arg == 3)
		pthread_exit(NULL);
	KEEP();
	return NULL;
}

/* Threads run one after the other, so that the order in the files is known. */
static int act_threads(void)
{
	for (intptr_t i = 1; i <= 4; i++) {
		pthread_t thread;

		if (pthread_create(&thread, NULL, thread_body, (void *)i) != 0)
			return 1;
		pthread_join(thread, NULL);
	}
	leaf();
	return 0;
}

static pthread_barrier_t barrier;

FN void *together_body(void *arg)
{
	leaf();
	pthread_barrier_wait(&barrier);
	inner();
	KEEP();
	return NULL;
}

static int act_together(void)
{
	pthread_t threads[20];

	pthread_barrier_init(&barrier, NULL, 20);
	for (int i = 0; i < 20; i++)
		pthread_create(&threads[i], NULL, together_body, NULL);
	for (int i = 0; i < 20; i++)
		pthread_join(threads[i], NULL);
	return 0;
}

static int wait_for(pid_t pid)
{
	int status;

	while (waitpid(pid, &status, 0) != pid)
		;
	return WIFEXITED(status) ? WEXITSTATUS(status) : 100 + WTERMSIG(status);
}

FN void child(int depth)
{
	leaf();
	if (depth > 0) {
		pid_t pid = fork();

		if (pid == 0) {
			child(depth - 1);
			exit(0);
		}
		wait_for(pid);
	}
	inner();
	KEEP();
}

static int act_forks(void)
{
	child(2);
	other_leaf();
	return 0;
}

static int act_raw_fork(void)
{
	pid_t pid = syscall(SYS_fork);

	if (pid == 0) {
		inner();
		_exit(3);
	}
	leaf();
	return wait_for(pid);
}

/* Children that make no calls of their own. */
static int act_quiet_forks(void)
{
	for (int i = 0; i < 3; i++) {
		pid_t pid = fork();

		if (pid == 0)
			_exit(i);
		wait_for(pid);
	}
	leaf();
	return 0;
}

static int act_exec(void)
{
	leaf();
	execl("/proc/self/exe", "acts", "calls", NULL);
	return 1;
}

static int act_exec_env(void)
{
	char *argv[] = { "acts", "calls", NULL };
	char *envp[] = { "A=B", "LD_PRELOAD=libm.so.6", NULL };
	pid_t pid = fork();

	if (pid == 0) {
		execve("/proc/self/exe", argv, envp);
		_exit(9);
	}
	int status = wait_for(pid);

	leaf();
	return status;
}

static int act_vfork(void)
{
	pid_t pid;

	leaf();
	pid = vfork();
	if (pid == 0) {
		execl("/proc/self/exe", "acts", "calls", NULL);
		_exit(9);
	}
	other_leaf();
	return wait_for(pid);
}

/* --- jumps, signals, stacks --- */

static jmp_buf place;

FN void jump(int n)
{
	leaf();
	longjmp(place, n);
}

FN void before_jump(int n)
{
	jump(n);
	KEEP();
}

static int act_jumps(void)
{
	int n = setjmp(place);

	other_leaf();
	if (n < 3)
		before_jump(n + 1);
	leaf();
	return 0;
}

FN void handler(int sig)
{
	inner();
	KEEP();
}

FN void send(int sig)
{
	raise(sig);
	KEEP();
}

static int act_signals(void)
{
	signal(SIGUSR1, handler);
	signal(SIGUSR2, SIG_IGN);
	outer();
	send(SIGUSR1);
	leaf();
	send(SIGUSR2);
	outer();
	send(SIGUSR1);
	return 0;
}

static int act_own_stack(void)
{
	static char memory[65536];
	stack_t ss = { .ss_sp = memory, .ss_size = sizeof(memory) };
	static struct sigaction sa; /* static, so that no call of memset() clears it */

	sa.sa_handler = handler;
	sa.sa_flags = SA_ONSTACK;
	sigaltstack(&ss, NULL);
	sigaction(SIGUSR1, &sa, NULL);
	send(SIGUSR1);
	leaf();
	return 0;
}

static ucontext_t main_context, contexts[2];

FN void yield_to_main(int i)
{
	swapcontext(&contexts[i], &main_context);
	KEEP();
}

FN void coroutine(int i)
{
	for (int k = 0; k < 3; k++) {
		leaf();
		yield_to_main(i);
	}
	other_leaf();
	KEEP();
}

static int act_stacks(void)
{
	static char memory[2][262144];

	for (int i = 0; i < 2; i++) {
		getcontext(&contexts[i]);
		contexts[i].uc_stack.ss_sp = memory[i];
		contexts[i].uc_stack.ss_size = sizeof(memory[i]);
		contexts[i].uc_link = &main_context;
		makecontext(&contexts[i], (void (*)(void))coroutine, 1, i);
	}
	for (int k = 0; k < 4; k++) {
		for (int i = 0; i < 2; i++) {
			inner();
			swapcontext(&main_context, &contexts[i]);
		}
	}
	return 0;
}

FN void die(int how)
{
	leaf();
	if (how == 0)
		exit(5);
	if (how == 1)
		abort();
	if (how == 2)
		*(volatile int *)8 = 1;
	if (how == 3)
		kill(getpid(), SIGKILL);
	_exit(6);
}

FN void before_death(int how)
{
	other_leaf();
	die(how);
	KEEP();
}

static int act_exit(void)
{
	before_death(0);
	return 0;
}

static int act_abort(void)
{
	before_death(1);
	return 0;
}

static int act_segv(void)
{
	before_death(2);
	return 0;
}

static int act_kill(void)
{
	before_death(3);
	return 0;
}

static int act_quick_exit(void)
{
	before_death(4);
	return 0;
}

FN void fall(int n)
{
	if (n == 0)
		*(volatile int *)16 = 1;
	fall(n - 1);
	KEEP();
}

static int act_deep_segv(void)
{
	fall(300);
	return 0;
}

/*
 * One handler jumps out of the code that it interrupts; another one calls the interrupted function.
 */
FN void jumping_handler(int sig)
{
	leaf();
	siglongjmp(place, 1);
}

static int act_jump_from_handler(void)
{
	signal(SIGUSR1, jumping_handler);
	for (volatile int i = 0; i < 2; i++) {
		if (sigsetjmp(place, 1) == 0)
			send(SIGUSR1);
		other_leaf();
	}
	return 0;
}

/* Unwinds through calls whose return addresses the probe has replaced. */
FN int count_frames(int depth)
{
	void *frames[64];
	int nr = depth > 0 ? count_frames(depth - 1) : backtrace(frames, 64);

	KEEP();
	return nr;
}

static int act_backtrace(void)
{
	int base = count_frames(0);

	return count_frames(5) - base;
}

struct walk {
	int nr;
	int nr_wild;
};

__attribute__((no_instrument_function, noinline)) static _Unwind_Reason_Code count_one(
	struct _Unwind_Context *context, void *arg)
{
	struct walk *walk = arg;

	walk->nr++;
	walk->nr_wild += _Unwind_GetIP(context) == 0;
	return _URC_NO_REASON;
}

/* Unwinds with libgcc's unwinder, which C++ uses. */
FN int walk_frames(int depth)
{
	struct walk walk = { 0, 0 };
	int nr;

	if (depth > 0) {
		nr = walk_frames(depth - 1);
	} else {
		_Unwind_Backtrace(count_one, &walk);
		nr = walk.nr + 100 * (walk.nr_wild > 1);
	}
	KEEP();
	return nr;
}

static int act_unwind(void)
{
	int base = walk_frames(0);

	return walk_frames(5) - base;
}

extern char __executable_start[], etext[];

__attribute__((no_instrument_function)) static bool is_here(const char *address)
{
	return address >= __executable_start && address < etext;
}

/*
 * Checks the return addresses of itself and of its caller: they lead to the callers, or to the
 * probe's code while the calls are traced.
 */
FN int returns_home(void)
{
	int seen = is_here(__builtin_return_address(0)) + 2 * is_here(__builtin_return_address(1));

	KEEP();
	return seen;
}

FN int returns_home_too(void)
{
	int seen = returns_home();

	KEEP();
	return seen + 4 * is_here(__builtin_return_address(0));
}

static int act_returns(void)
{
	return returns_home_too();
}

/* Passes texts that end at the end of a mapping, and texts that run into unmapped memory. */
static int act_edges(void)
{
	char *pages = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	char *edge = pages + 4096;
	static const uint64_t by_default[4]; /* SIG_DFL in the kernel's struct sigaction */
	sigset_t all;

	if (pages == MAP_FAILED || mprotect(edge, 4096, PROT_NONE) < 0)
		return 1;
	memcpy(edge - 8, "abc\0defg", 8);
	for (int round = 0; round < 3; round++) {
		text(edge - 8, 'a');
		text(edge - 4, 'b');
		text(edge - 1, 'c');
		text(edge, 'd');
		text(edge - 4 - 1, 'e');
		/*
		 * The second fault comes while SIGSEGV is blocked. The third one comes after the
		 * handler was removed by syscall(3), which the probe does not see.
		 */
		sigfillset(&all);
		sigprocmask(SIG_BLOCK, &all, NULL);
		if (round == 1)
			syscall(SYS_rt_sigaction, SIGSEGV, by_default, NULL, 8);
	}
	return 0;
}

/* The program has handlers of its own for signals that the probe handles, too. */
FN void on_segv(int sig)
{
	inner();
	siglongjmp(place, 2);
}

static int act_handlers(void)
{
	static struct sigaction mine, seen;
	int bad = 0;

	mine.sa_handler = on_segv;
	mine.sa_flags = SA_NODEFER;
	bad |= sigaction(SIGSEGV, NULL, &seen) != 0 || seen.sa_handler != SIG_DFL;
	bad |= (sigaction(SIGSEGV, &mine, NULL) != 0) << 1;
	bad |= (sigaction(SIGSEGV, NULL, &seen) != 0 || seen.sa_handler != on_segv) << 2;
	for (volatile int i = 0; i < 2; i++) {
		if (sigsetjmp(place, 1) == 0)
			*(volatile int *)8 = 1;
		text((const char *)8, 'q');
	}
	bad |= (signal(SIGSEGV, SIG_DFL) != on_segv) << 3;
	mine.sa_handler = handler;
	bad |= (sigaction(SIGUSR2, &mine, NULL) != 0) << 4;
	bad |= (sigaction(SIGUSR2, NULL, &seen) != 0 || seen.sa_handler != handler) << 5;
	bad |= (sigaction(64, NULL, &seen) != 0) << 6;
	bad |= (sigaction(65, NULL, &seen) == 0 || sigaction(0, NULL, &seen) == 0) << 7;
	send(SIGUSR2);
	return bad;
}

/* --- libraries --- */

static int act_libcalls(void)
{
	char buffer[64];

	leaf();
	snprintf(buffer, sizeof(buffer), "%d", abs(-42));
	setenv("ACTS", buffer, 1);
	if (strcmp(getenv("ACTS"), "42") != 0)
		return 1;
	return atoi("0") + (int)strtol("0", NULL, 10);
}

static int act_dlopen(void)
{
	char path[4096];
	ssize_t len = readlink("/proc/self/exe", path, sizeof(path) - 32);
	void *lib;
	int (*in_plugin)(int);

	if (len < 0)
		return 1;
	path[len] = '\0';
	strcpy(strrchr(path, '/') + 1, "libplugin.so");
	leaf();
	for (int round = 0; round < 2; round++) {
		lib = dlopen(path, RTLD_NOW);
		if (!lib)
			return 2;
		*(void **)&in_plugin = dlsym(lib, "in_plugin");
		in_plugin(round);
		other_leaf();
		dlclose(lib);
	}
	return 0;
}

/* --- the table of acts --- */

static const struct {
	const char *name;
	int (*fn)(void);
} acts[] = {
	{ "calls", act_calls },		{ "many", act_many },
	{ "args", act_args },		{ "around", act_around },
	{ "vars", act_vars },		{ "threads", act_threads },
	{ "together", act_together },	{ "forks", act_forks },
	{ "raw_fork", act_raw_fork },	{ "quiet_forks", act_quiet_forks },
	{ "exec", act_exec },		{ "exec_env", act_exec_env },
	{ "vfork", act_vfork },		{ "jumps", act_jumps },
	{ "signals", act_signals },	{ "own_stack", act_own_stack },
	{ "stacks", act_stacks },	{ "exit", act_exit },
	{ "abort", act_abort },		{ "segv", act_segv },
	{ "kill", act_kill },		{ "quick_exit", act_quick_exit },
	{ "deep_segv", act_deep_segv }, { "jump_from_handler", act_jump_from_handler },
	{ "backtrace", act_backtrace }, { "handlers", act_handlers },
	{ "libcalls", act_libcalls },	{ "dlopen", act_dlopen },
	{ "unwind", act_unwind },	{ "returns", act_returns },
	{ "edges", act_edges },		{ "serve", act_serve },
};

/* Calls no library function, which would be recorded. */
__attribute__((no_instrument_function)) static bool is_same(const char *a, const char *b)
{
	while (*a && *a == *b) {
		a++;
		b++;
	}
	return *a == *b;
}

int main(int argc, char **argv)
{
	for (size_t i = 0; argc > 1 && i < sizeof(acts) / sizeof(acts[0]); i++) {
		if (is_same(argv[1], acts[i].name))
			return acts[i].fn();
	}
	fprintf(stderr, "acts: no such act\n");
	return 99;
}

/* --- a program that runs while it is recorded --- */

static int go_fds[2], done_fds[2];

/* The body of a thread that makes calls each time that serve() reads the name "thread". */
FN void *waiting_body(void *arg)
{
	char byte = 0;

	write(done_fds[1], &byte, 1);
	while (read(go_fds[0], &byte, 1) == 1) {
		outer();
		write(done_fds[1], &byte, 1);
	}
	return NULL;
}

static int serve(int depth);

static void serving_handler(int sig)
{
	write(1, "done\n", 5);
	serve(100);
}

/*
 * Runs the acts whose names come from standard input, a name a line, and answers each line. "nest"
 * and "handle" serve within another call, or within a handler of a signal, until "back".
 */
FN static int serve(int depth)
{
	char name[64];
	ssize_t len;

	/* A name comes by one write(2), after the answer to the name before it. */
	while ((len = read(0, name, sizeof(name))) > 1) {
		name[len - 1] = '\0';
		if (is_same(name, "back"))
			return 0;
		if (is_same(name, "nest")) {
			write(1, "done\n", 5);
			serve(depth + 1);
		} else if (is_same(name, "handle")) {
			signal(SIGUSR1, serving_handler);
			send(SIGUSR1);
		} else if (is_same(name, "thread")) {
			write(go_fds[1], "x", 1);
			read(done_fds[0], name, 1);
		}
		for (size_t i = 0; i < sizeof(acts) / sizeof(acts[0]); i++) {
			if (is_same(name, acts[i].name) && acts[i].fn() != 0)
				return 2;
		}
		write(1, "done\n", 5);
	}
	return 0;
}

/* Serves acts. Another process may record the program meanwhile. */
int act_serve(void)
{
	pthread_t thread;
	char byte;

	prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY);
	if (pipe(go_fds) < 0 || pipe(done_fds) < 0 ||
	    pthread_create(&thread, NULL, waiting_body, NULL) != 0 ||
	    read(done_fds[0], &byte, 1) != 1)
		return 1;
	write(1, "ready\n", 6);
	return serve(0);
}
