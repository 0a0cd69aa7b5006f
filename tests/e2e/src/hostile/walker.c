/*
 * Walks its own deep stack with libunwind at many calls. Each frame must be a function of the
 * program.
 * cflags: -rdynamic
 * ldflags: -l:libunwind.so.8
 */
#include "../program.h"

#include <stdint.h>
#include <ucontext.h>

/*
 * Declarations of libunwind's functions, from its ABI on x86_64. Debian's package of libunwind's
 * headers conflicts with that of libc++, which other tests need.
 */
struct cursor {
	uint64_t words[127];
};
int _Ux86_64_getcontext(ucontext_t *context);
int _ULx86_64_init_local(struct cursor *cursor, ucontext_t *context);
int _ULx86_64_step(struct cursor *cursor);
int _ULx86_64_get_proc_name(struct cursor *cursor, char *name, size_t bytes, uint64_t *offset);

FN int walk(void)
{
	ucontext_t context;
	struct cursor cursor;
	char name[64];
	uint64_t offset;
	int frames = 0;

	_Ux86_64_getcontext(&context);
	_ULx86_64_init_local(&cursor, &context);
	while (_ULx86_64_step(&cursor) > 0) {
		if (_ULx86_64_get_proc_name(&cursor, name, sizeof(name), &offset) == 0 &&
		    strcmp(name, "dig") == 0)
			frames++;
	}
	KEEP();
	return frames;
}

FN int dig(int n)
{
	int r = n ? dig(n - 1) : walk();

	KEEP();
	return r;
}

int main(void)
{
	for (int n = 0; n < 50; n += 7)
		printf("%d ", dig(n));
	puts("");
	return 0;
}
