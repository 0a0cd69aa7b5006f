/*
 * swapcontext(3) and setcontext(3), interposed. From their argument the probe learns to which stack
 * the program switches. Both functions change the signal mask.
 *
 * When a context ends, libc switches to its uc_link without a call of these functions. Then the
 * probe does not notice that the mask changes.
 */
#include <ucontext.h>

#include "libmcount/program/interpose.h"
#include "libmcount/hot/stacks.h"
#include "libmcount/system/fault.h"

EXPORTED int swapcontext(ucontext_t *restrict from, const ucontext_t *restrict to);
EXPORTED int setcontext(const ucontext_t *to);

/*
 * If makecontext(3) has made the context, uc_stack is the stack of the context. Otherwise uc_stack
 * has no meaning, and the stack pointer lies outside of uc_stack.
 */
static void take_up(const ucontext_t *to)
{
	if (to)
		stacks_take_up(arch_context_sp(to), (uint64_t)to->uc_stack.ss_sp,
			       to->uc_stack.ss_size);
}

int swapcontext(ucontext_t *restrict from, const ucontext_t *restrict to)
{
	static void *next;
	int (*fn)(ucontext_t *, const ucontext_t *) = interposed(&next, "swapcontext");

	if (!fn)
		return interpose_fail();
	take_up(to);
	fault_forget_mask();
	return fn(from, to);
}

int setcontext(const ucontext_t *to)
{
	static void *next;
	int (*fn)(const ucontext_t *) = interposed(&next, "setcontext");

	if (!fn)
		return interpose_fail();
	take_up(to);
	fault_forget_mask();
	return fn(to);
}
