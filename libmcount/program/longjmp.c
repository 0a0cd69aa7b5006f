/*
 * longjmp(3) and its relatives, interposed. A jump ends the frames that it jumps over. A jump out
 * of a signal handler also ends the hook that the handler interrupted.
 */
#include <dlfcn.h>
#include <setjmp.h>

#include "libmcount/hot/aside.h"
#include "libmcount/hot/frames.h"
#include "libmcount/hot/guard.h"
#include "libmcount/program/interpose.h"
#include "libmcount/system/fault.h"
#include "libmcount/system/signal_switches.h"

/* A jump that raises the stack pointer by more bytes than this leads to another stack. */
#define MAX_JUMP_BYTES (1UL << 30)

/*
 * Called before each jump. If the jump leaves a signal handler that has interrupted a hook, the
 * hook will not continue. In this case the function ends the hook. The signal may have come at any
 * instruction of the hook. Frames and rings are consistent at each of these instructions, because
 * of the order of stores in ring.c, clock.c and frame_push().
 */
static void forget_interrupted_hook(void)
{
	struct thread *t = self;

	if (!t || t == &probe_idle_thread || !t->busy)
		return;
	ring_settle(t);
	if (t->payloads)
		ring_settle(t->payloads);
	planned_end_estimate(t);
	aside_give_up(t);
	t->busy = 0;
}

/*
 * Ends the frames that are jumped over. A target that is below this function's frame, or more than
 * MAX_JUMP_BYTES above that frame, is on another stack. In this case the next hook ends the frames.
 */
static void leave_jumped_over(const struct __jmp_buf_tag *env, int value)
{
	struct thread *t = self;
	uint64_t target = arch_jmp_buf_sp(env);

	if (!t || t->busy || target % 8 ||
	    target - (uint64_t)__builtin_frame_address(0) > MAX_JUMP_BYTES)
		return;
	guard_take(t);
	if (t->top->slot < target)
		frames_leave_inside(t, target);
	entry_setjmp_returns(t, (uint64_t)env, target, value ? value : 1);
	guard_leave(t);
}

#define INTERPOSE_LONGJMP(name)                                                     \
	EXPORTED NORETURN void name(struct __jmp_buf_tag env[1], int value);        \
	void name(struct __jmp_buf_tag env[1], int value)                           \
	{                                                                           \
		static void *next;                                                  \
		void (*fn)(struct __jmp_buf_tag *, int) = interposed(&next, #name); \
                                                                                    \
		signal_switches_end();                                              \
		forget_interrupted_hook();                                          \
		leave_jumped_over(env, value);                                      \
		if (env->__mask_was_saved)                                          \
			fault_forget_mask();                                        \
		fn(env, value);                                                     \
		__builtin_unreachable();                                            \
	}

INTERPOSE_LONGJMP(longjmp)
INTERPOSE_LONGJMP(_longjmp)
INTERPOSE_LONGJMP(siglongjmp)
INTERPOSE_LONGJMP(__longjmp_chk)

OWN_NAME(longjmp);
OWN_NAME(_longjmp);
OWN_NAME(siglongjmp);
OWN_NAME(__longjmp_chk);
