/*
 * Brings its own malloc, which is traced like everything else.
 * cflags: -fno-builtin
 */
#include <errno.h>

#include "../program.h"

static char heap[64 << 20] __attribute__((aligned(16)));
static size_t used;
static int calls;

FN static size_t round_up(size_t n)
{
	KEEP();
	return (n + 15) & ~(size_t)15;
}

FN void *malloc(size_t n)
{
	size_t *p;

	calls++;
	n = round_up(n) + 16;
	if (__atomic_load_n(&used, __ATOMIC_RELAXED) + n > sizeof(heap)) {
		errno = ENOMEM;
		return NULL;
	}
	p = (size_t *)(heap + __atomic_fetch_add(&used, n, __ATOMIC_RELAXED));
	*p = n - 16;
	return p + 2;
}

FN void free(void *p)
{
	KEEP();
}

FN void *calloc(size_t n, size_t size)
{
	void *p = malloc(n * size);

	return p ? memset(p, 0, n * size) : NULL;
}

FN void *realloc(void *p, size_t n)
{
	void *q = malloc(n);

	if (p && q)
		memcpy(q, p, ((size_t *)p)[-2] < n ? ((size_t *)p)[-2] : n);
	return q;
}

int main(void)
{
	char *text = NULL;
	int before = calls;

	for (int i = 1; i < 1000; i++) {
		text = realloc(text, i);
		text[i - 1] = 'a' + i % 26;
		free(strdup("something"));
	}
	printf("%d calls, %.10s\n", calls - before, text);
	return 0;
}
