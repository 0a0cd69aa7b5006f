/* Probes in all places that a function has.
 *
 * shows: main{e:start args{e:args} loop{e:head e:head e:head} last{e:last} two{e:one e:two e:three} guarded{e:open}
 *        pick{e:case0} pick{e:case1} pick{e:case2} pick{e:case3} pick{e:case4} pick{} call{e:before callee{e:inside} e:after}
 *        tail{e:tail callee{e:inside}} wide{e:wide} e:end}
 */
#define _SDT_HAS_SEMAPHORES 1
#include <stdio.h>
#include <string.h>

#include "part.h"

#define SEMAPHORE(name) \
	unsigned short e_##name##_semaphore __attribute__((unused, used, section(".probes")))

SEMAPHORE(start);
SEMAPHORE(args);
SEMAPHORE(head);
SEMAPHORE(last);
SEMAPHORE(one);
SEMAPHORE(two);
SEMAPHORE(three);
SEMAPHORE(open);
SEMAPHORE(case0);
SEMAPHORE(case1);
SEMAPHORE(case2);
SEMAPHORE(case3);
SEMAPHORE(case4);
SEMAPHORE(before);
SEMAPHORE(after);
SEMAPHORE(inside);
SEMAPHORE(tail);
SEMAPHORE(wide);
SEMAPHORE(end);

static int results[16];
static double real = 1.5;

PART int args(int a, const char *b, double c)
{
	DTRACE_PROBE3(e, args, a, b, c);
	return a + (int)strlen(b) + (int)(c * real);
}

PART int loop(int n)
{
	int sum = 0;

	for (int i = 0; i < n; i++) {
		DTRACE_PROBE2(e, head, i, n);
		OPAQUE(i);
		sum += i * n;
	}
	return sum;
}

PART int last(int n)
{
	n = n * 3 + 1;
	DTRACE_PROBE1(e, last, n);
	return n;
}

PART int two(int n)
{
	DTRACE_PROBE(e, one);
	DTRACE_PROBE(e, two);
	DTRACE_PROBE1(e, three, n);
	return n ^ 0x55;
}

/* The event exists while a recorder has set the semaphore. */
PART int guarded(int n)
{
	if (__builtin_expect(e_open_semaphore, 0)) {
		OPAQUE(n);
		DTRACE_PROBE1(e, open, n);
	}
	return n + 7;
}

PART int pick(int n)
{
	switch (n) {
	case 0:
		DTRACE_PROBE(e, case0);
		return results[1] + 3;
	case 1:
		DTRACE_PROBE(e, case1);
		return results[2] * 5;
	case 2:
		results[3]++;
		DTRACE_PROBE(e, case2);
		return 11;
	case 3:
		results[4]--;
		DTRACE_PROBE(e, case3);
		break;
	case 4:
		DTRACE_PROBE(e, case4);
		results[5] += 2;
		break;
	}
	return n;
}

PART int callee(int n)
{
	DTRACE_PROBE(e, inside);
	return n - 1;
}

PART int call(int n)
{
	DTRACE_PROBE(e, before);
	n = callee(n);
	DTRACE_PROBE(e, after);
	return n * 2;
}

PART int tail(int n)
{
	DTRACE_PROBE(e, tail);
	return callee(n) + 1;
}

PART long wide(long n)
{
	DTRACE_PROBE1(e, wide, n);
	return n + 0x1122334455667788;
}

int main(void)
{
	int at = 0;

	DTRACE_PROBE(e, start);
	results[at++] = args(1, "two", 3);
	results[at++] = loop(3);
	results[at++] = last(5);
	results[at++] = two(9);
	results[at++] = guarded(4);
	for (int i = 0; i < 6; i++)
		results[at] += pick(i);
	results[++at] = call(8);
	results[++at] = tail(8);
	for (int i = 0; i <= at; i++)
		printf("%d ", results[i]);
	printf("%lx\n", wide(results[0]));
	DTRACE_PROBE(e, end);
	return 3;
}
