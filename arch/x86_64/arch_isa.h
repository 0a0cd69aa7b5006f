/* x86_64: the inline functions of arch/arch.h. */
#ifndef UTRAIL_ARCH_X86_64_ISA_H
#define UTRAIL_ARCH_X86_64_ISA_H

#include <setjmp.h>
#include <stdint.h>
#include <ucontext.h>

static inline uint64_t arch_counter_read(void)
{
	uint32_t low, high;

	/*
	 * Neither rdtscp nor lfence is used, since waiting for older instructions would double the
	 * cost of a reading.
	 */
	__asm__ volatile("rdtsc" : "=a"(low), "=d"(high));
	return ((uint64_t)high << 32) | low;
}

/*
 * Returns the number of the current CPU. The kernel stores this number in the limit of a segment
 * (__CPUNODE_SEG). In the vDSO, getcpu(2) reads the number from the same place.
 */
static inline uint32_t arch_cpu(void)
{
	uint32_t limit;

	__asm__ volatile("lsl %1, %0" : "=r"(limit) : "r"(0x7b));
	return limit & 0xfff;
}

/*
 * The general registers at an entry or a return, as the stubs push them. Vector registers are not
 * saved: the probe is compiled so that it does not use them.
 */
struct arch_regs {
	uint64_t r11;
	uint64_t r10;
	uint64_t r9;
	uint64_t r8;
	uint64_t rdi;
	uint64_t rsi;
	uint64_t rdx;
	uint64_t rcx;
	uint64_t rax;
};
_Static_assert(__builtin_offsetof(struct arch_regs, rdi) == 4 * 8, "known to arch_int_arg");
_Static_assert(__builtin_offsetof(struct arch_regs, r9) == 2 * 8, "known to arch_int_arg");

/*
 * The stack in arch_point_args: the program's registers, the data that the stub pushed, and the
 * program's own stack.
 *
 * @back: the address in the stub to which arch_point_args returns
 * @operands: the distance in bytes from @back to the struct point_operands
 * @site: the address of the jump that leads from the program to the stub
 */
struct arch_point {
	uint64_t r15;
	uint64_t r14;
	uint64_t r13;
	uint64_t r12;
	uint64_t rbp;
	uint64_t rbx;
	struct arch_regs regs;
	uint64_t flags;
	uint64_t back;
	int64_t operands;
	uint64_t event;
	uint64_t site;
	uint8_t red_zone[128];
};

static inline uint64_t arch_point_sp(const struct arch_point *point)
{
	return (uint64_t)(point + 1);
}

/* Returns the general register with DWARF's number @number (psABI, 3.6.2), which is below 16. */
static inline uint64_t arch_point_register(const struct arch_point *point, unsigned number)
{
	/* indexes of words in @point: rax rdx rcx rbx rsi rdi rbp, 0 (unused) for rsp, r8 to r15 */
	static const uint8_t words[] = { 14, 12, 13, 5, 11, 10, 4, 0, 9, 8, 7, 6, 3, 2, 1, 0 };

	if (number == 7)
		return arch_point_sp(point);
	return ((const uint64_t *)point)[words[number]];
}

/*
 * Returns the @index-th integer argument, counted from 1 (psABI 3.2.3). @slot: the function's
 * return slot
 */
static inline uint64_t arch_int_arg(const struct arch_regs *regs, const uint64_t *slot,
				    unsigned index)
{
	/* A switch would become an indirect jump, which may be mispredicted. So this is a table. */
	static const uint8_t words[] = { 4, 5, 6, 7, 3, 2 };

	if (index - 1 < sizeof(words))
		return ((const uint64_t *)regs)[words[index - 1]];
	return slot[index - sizeof(words)];
}

/* Returns the @index-th word, counted from 0, of a function's result in general registers. */
static inline uint64_t arch_int_ret(const struct arch_regs *regs, unsigned index)
{
	return index == 0 ? regs->rax : regs->rdx;
}

/*
 * Returns registers for a call that is recorded without a stub. Only the registers of the first two
 * arguments and of the result are set.
 */
static inline struct arch_regs arch_regs_of(uint64_t first, uint64_t second, uint64_t ret)
{
	return (struct arch_regs){ .rdi = first, .rsi = second, .rax = ret };
}

/*
 * Sets the last two arguments of caller_call(): the third to @site, and the fourth to %r11. The
 * program has set the first two arguments. In mold's PLT, %r11 has the index of the relocation, and
 * the code that binds the call needs this index.
 */
static inline void arch_pass_site(struct arch_regs *regs, const void *site)
{
	regs->rdx = (uint64_t)site;
	regs->rcx = regs->r11;
}

#define ARCH_INT_ARG_REGS   6
#define ARCH_FLOAT_ARG_REGS 8
/*
 * All memory of a program is below this address, unless the program asks mmap(2) for a higher
 * address.
 */
#define ARCH_ADDRESS_END    0x7ffffffff000ULL

/* AUDIT_ARCH_X86_64, as in the kernel's data for system call filters */
#define ARCH_AUDIT 0xc000003eU

/*
 * The index of the stack pointer in glibc's setjmp(3) buffer (bits/setjmp.h: rbx rbp r12-r15 rsp
 * pc). glibc encrypts this word with the pointer guard at %fs:0x30.
 */
#define ARCH_JMP_BUF_RSP 6

static inline uint64_t arch_jmp_buf_sp(const struct __jmp_buf_tag *env)
{
	uint64_t sp = env->__jmpbuf[ARCH_JMP_BUF_RSP];

	__asm__("rorq $17, %0\n\txorq %%fs:0x30, %0" : "+r"(sp));
	return sp;
}

static inline uint64_t arch_context_sp(const ucontext_t *context)
{
	return context->uc_mcontext.gregs[REG_RSP];
}

#endif
