/*
 * Makes calls in several shapes and prints the time of one call in nanoseconds.
 *
 * usage: shapes SHAPE CALLS
 *
 * In each shape deep() is the function that calls no other one, and other() is called once, at the
 * beginning. Filters name these two.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#ifdef __clang__
#define FN __attribute__((noinline))
#else
#define FN __attribute__((noipa))
#endif
#define UNTRACED __attribute__((no_instrument_function))

#define THREADS	  8
#define RECURSION 500

#ifdef LIBRARY
/* deep() is in a shared library that is not traced: only its call through the PLT is seen. */
int deep(int n);
#else
FN int deep(int n)
{
	__asm__ volatile("" : "+r"(n));
	return n;
}
#endif

FN int other(int n)
{
	__asm__ volatile("" : "+r"(n));
	return n;
}

/* aside() is called through pointers only; no filter names it. */
FN int aside(int n)
{
	__asm__ volatile("" : "+r"(n));
	return n;
}

#define ONE(name, below)                 \
	FN int name(int n)               \
	{                                \
		return below(n + 1) + 1; \
	}
#define TWO(name, below)                                \
	FN int name(int n)                              \
	{                                               \
		return below(n + 1) + below(n + 2) + 1; \
	}

ONE(chain3, deep)
ONE(chain2, chain3)
ONE(chain1, chain2)

TWO(tree4, deep)
TWO(tree3, tree4)
TWO(tree2, tree3)
TWO(tree1, tree2)

FN int recurse(int n)
{
	int sum = n > 2 ? recurse(n - 1) : deep(n);

	/* The barrier keeps the compiler from making a loop of the recursion. */
	__asm__ volatile("" : "+r"(sum));
	return sum;
}

static int (*const pointers[])(int) = { deep, aside, deep, chain3, deep, aside, deep, aside };

UNTRACED static int leaf_round(void)
{
	return deep(1);
}

UNTRACED static int chain_round(void)
{
	return chain1(1);
}

UNTRACED static int tree_round(void)
{
	return tree1(1);
}

UNTRACED static int recursion_round(void)
{
	return recurse(RECURSION);
}

UNTRACED static int pointers_round(void)
{
	int sum = 0;

	for (unsigned i = 0; i < sizeof(pointers) / sizeof(*pointers); i++)
		sum += pointers[i](i);
	return sum;
}

static const struct shape {
	const char *name;
	int (*round)(void);
	int calls; /* calls in a round */
	int threads;
} shapes[] = {
	{ "leaf", leaf_round, 1, 1 },
	{ "chain", chain_round, 4, 1 },
	{ "tree", tree_round, 31, 1 },
	{ "recursion", recursion_round, RECURSION, 1 },
	{ "plt", leaf_round, 1, 1 },
	{ "pointers", pointers_round, 9, 1 },
	{ "threads", tree_round, 31, THREADS },
};

static const struct shape *shape;
static long rounds; /* rounds of each thread */
static pthread_barrier_t barrier;

UNTRACED static double now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1e9 + ts.tv_nsec;
}

UNTRACED static void *work(void *arg)
{
	for (int i = 0; i < 20; i++)
		shape->round();
	pthread_barrier_wait(&barrier);
	for (long i = 0; i < rounds; i++)
		shape->round();
	pthread_barrier_wait(&barrier);
	return arg;
}

/* main() is instrumented: all calls but those of threads are below it. */
int main(int argc, char *argv[])
{
	pthread_t threads[THREADS];
	double begin;

	for (unsigned i = 0; argc > 2 && i < sizeof(shapes) / sizeof(*shapes); i++) {
		if (strcmp(shapes[i].name, argv[1]) == 0)
			shape = &shapes[i];
	}
	if (!shape)
		return 2;
	rounds = atol(argv[2]) / shape->calls / shape->threads;
	other(1);
	pthread_barrier_init(&barrier, NULL, shape->threads);
	for (int i = 1; i < shape->threads; i++)
		pthread_create(&threads[i], NULL, work, NULL);
	for (int i = 0; i < 20; i++)
		shape->round();
	pthread_barrier_wait(&barrier);
	begin = now_ns();
	for (long i = 0; i < rounds; i++)
		shape->round();
	pthread_barrier_wait(&barrier);
	printf("%.4f\n", (now_ns() - begin) / ((double)rounds * shape->calls * shape->threads));
	for (int i = 1; i < shape->threads; i++)
		pthread_join(threads[i], NULL);
	return 0;
}
