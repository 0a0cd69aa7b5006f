/*
 * The program switches to stacks of its own, on the heap and in static memory. Exceptions are
 * thrown and caught on these stacks, and some stacks move to another thread.
 * cflags: -pthread
 */
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <pthread.h>

struct Context {
	void *sp;
};

extern "C" void switch_stack(Context *from, Context *to);
__asm__(".text\n"
	".globl switch_stack\n"
	".type switch_stack, @function\n"
	"switch_stack:\n"
	"	pushq %rbp\n	pushq %rbx\n	pushq %r12\n	pushq %r13\n	pushq %r14\n	"
	"pushq %r15\n"
	"	movq %rsp, (%rdi)\n"
	"	movq (%rsi), %rsp\n"
	"	popq %r15\n	popq %r14\n	popq %r13\n	popq %r12\n	popq %rbx\n	"
	"popq %rbp\n"
	"	ret\n"
	".size switch_stack, . - switch_stack\n");

static Context home, work[2];
static char fixed[65536] __attribute__((aligned(16)));
static int sum;

__attribute__((noinline)) static void thrower(int n)
{
	if (n % 3 == 0)
		throw n;
	sum += n;
}

__attribute__((noinline)) static void step(int who, int n)
{
	try {
		thrower(n);
	} catch (int value) {
		sum -= value;
	}
	switch_stack(&work[who], &home);
}

static void body_of(int who)
{
	for (int i = 0;; i++)
		step(who, i);
}

static void first()
{
	body_of(0);
}

static void second()
{
	body_of(1);
}

static void prepare(Context *c, char *stack, size_t size, void (*fn)())
{
	uintptr_t *top = reinterpret_cast<uintptr_t *>(stack + size);

	*--top = 0;
	*--top = reinterpret_cast<uintptr_t>(fn);
	for (int i = 0; i < 6; i++)
		*--top = 0;
	c->sp = top;
}

__attribute__((noinline)) static void rounds(int n)
{
	for (int i = 0; i < n; i++)
		switch_stack(&home, &work[i % 2]);
}

static void *elsewhere(void *)
{
	rounds(1000);
	return nullptr;
}

int main()
{
	pthread_t thread;

	prepare(&work[0], static_cast<char *>(malloc(65536)), 65536, first);
	prepare(&work[1], fixed, sizeof(fixed), second);
	rounds(1000);
	printf("%d\n", sum);
	pthread_create(&thread, nullptr, elsewhere, nullptr);
	pthread_join(thread, nullptr);
	rounds(1000);
	printf("%d\n", sum);
}
