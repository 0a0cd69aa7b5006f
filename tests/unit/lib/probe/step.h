/*
 * A SIGTRAP after each instruction, by the processor's trap flag. Emulators, and processors without
 * the flag, send none.
 */
#ifndef UTRAIL_TESTS_STEP_H
#define UTRAIL_TESTS_STEP_H

#include <ucontext.h>

/* These macros do not change the red zone. */
#ifdef __x86_64__
#define SET_TRAP_FLAG(change)                                                           \
	__asm__ volatile("lea -128(%%rsp), %%rsp; pushfq; " change ", (%%rsp); popfq; " \
			 "lea 128(%%rsp), %%rsp" ::                                     \
				 : "memory", "cc")
#define BEGIN_STEPS() SET_TRAP_FLAG("orq $0x100")
#define END_STEPS()   SET_TRAP_FLAG("andq $~0x100")
/* Used in the signal's handler, with its third argument: ends the steps in the interrupted code. */
#define LEAVE_STEPS(context) \
	((void)(((ucontext_t *)(context))->uc_mcontext.gregs[REG_EFL] &= ~0x100L))
#else
#define BEGIN_STEPS()	     ((void)0)
#define END_STEPS()	     ((void)0)
#define LEAVE_STEPS(context) ((void)(context))
#endif

#define STEPPED(call)          \
	do {                   \
		BEGIN_STEPS(); \
		call;          \
		END_STEPS();   \
	} while (0)

#endif
