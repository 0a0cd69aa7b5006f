/*
 * Functions that filters may let in. They are called so often that the probe no longer looks up
 * their rules. They call each other, in chains and loops, and a signal handler calls them. They end
 * by return, tail call, exception or longjmp().
 */
#include <csetjmp>
#include <csignal>

#define FN     __attribute__((noinline))
#define ROUNDS 12

static jmp_buf back;
static volatile int sink;

extern "C" {

FN int helper(int n)
{
	sink = n;
	return n + 1;
}

FN int deep(int n)
{
	n = helper(n) + 1;
	__asm__ volatile("" : "+r"(n));
	return n;
}

FN int tail(int n)
{
	sink = n;
	return helper(n);
}

FN int thrower(int n)
{
	helper(n);
	if (n % 2)
		throw n;
	return n;
}

FN int jumps(int n)
{
	helper(n);
	if (n % 2)
		longjmp(back, 1);
	return n;
}

FN int twice(int n)
{
	int m = n > 0 ? twice(n - 1) + 1 : deep(n);

	__asm__ volatile("" : "+r"(m));
	return m;
}

FN int chain2(int n)
{
	return deep(n) + tail(n) + 1;
}

FN int chain1(int n)
{
	return chain2(n) + deep(n) + 1;
}

FN int catches(int n)
{
	try {
		return thrower(n) + 1;
	} catch (int m) {
		return helper(m);
	}
}

FN int lands(int n)
{
	if (setjmp(back) == 0)
		return jumps(n) + 1;
	return helper(n);
}

FN void handler(int sig)
{
	deep(sig);
}

FN int raises(int n)
{
	raise(SIGUSR1);
	return helper(n);
}
}

int main()
{
	signal(SIGUSR1, handler);
	for (int i = 0; i < ROUNDS; i++) {
		chain1(i);
		deep(i);
		for (int k = 0; k < 6; k++)
			tail(k);
		catches(i);
		lands(i);
		twice(i % 3);
		raises(i);
	}
	return 0;
}
