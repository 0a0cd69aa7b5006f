/* longjmp(3) and its relatives, interposed: a signal handler may leave a hook by one, which must not keep its guard. */
#include <dlfcn.h>
#include <setjmp.h>

#include "libmcount/interpose.h"
#include "libmcount/lane.h"
#include "libmcount/probe.h"

/*
 * A handler that interrupted a hook of this thread and jumps out never comes back to the hook. What the hook had done by
 * then is in order at any moment: see the order of stores in ring.c, clock.c and frame_push(). Frames that were jumped
 * over are found by the next hook.
 */
static void forget_interrupted_hook(void)
{
	struct thread *t = self;

	if (!t || t == &probe_idle_thread || !t->busy)
		return;
	lane_give_up(t);
	t->busy = 0;
}

#define INTERPOSE_LONGJMP(name)                                                     \
	EXPORTED NORETURN void name(struct __jmp_buf_tag env[1], int value);        \
	void name(struct __jmp_buf_tag env[1], int value)                           \
	{                                                                           \
		static void *next;                                                  \
		void (*fn)(struct __jmp_buf_tag *, int) = interposed(&next, #name); \
                                                                                    \
		forget_interrupted_hook();                                          \
		fn(env, value);                                                     \
		__builtin_unreachable();                                            \
	}

INTERPOSE_LONGJMP(longjmp)
INTERPOSE_LONGJMP(_longjmp)
INTERPOSE_LONGJMP(siglongjmp)
INTERPOSE_LONGJMP(__longjmp_chk)
