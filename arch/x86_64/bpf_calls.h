/*
 * For eBPF programs on x86_64: reads the arguments and the ABI of a system call from structs of the
 * kernel.
 */
#ifndef UTRAIL_ARCH_X86_64_BPF_CALLS_H
#define UTRAIL_ARCH_X86_64_BPF_CALLS_H

#include <stdbool.h>
#include <stdint.h>

/*
 * Structs of the kernel, with only the members that eBPF programs read. When an eBPF program is
 * loaded, the offsets of these members are adjusted to the running kernel.
 */
struct pt_regs {
	unsigned long r10;
	unsigned long r9;
	unsigned long r8;
	unsigned long bp;
	unsigned long bx;
	unsigned long cx;
	unsigned long dx;
	unsigned long si;
	unsigned long di;
	unsigned long orig_ax;
} __attribute__((preserve_access_index));

struct thread_info {
	uint32_t status;
} __attribute__((preserve_access_index));

/* A bit of thread_info.status: the system call was made by the i386 ABI (TS_COMPAT). */
#define CALL_IS_COMPAT 2U

/* Stores the arguments of the system call whose registers are @regs. */
static inline __attribute__((always_inline)) void call_arguments(const struct pt_regs *regs,
								 bool is_compat, uint64_t args[6])
{
	if (is_compat) {
		args[0] = (uint32_t)regs->bx;
		args[1] = (uint32_t)regs->cx;
		args[2] = (uint32_t)regs->dx;
		args[3] = (uint32_t)regs->si;
		args[4] = (uint32_t)regs->di;
		args[5] = (uint32_t)regs->bp;
		return;
	}
	args[0] = regs->di;
	args[1] = regs->si;
	args[2] = regs->dx;
	args[3] = regs->r10;
	args[4] = regs->r8;
	args[5] = regs->r9;
}

#endif
