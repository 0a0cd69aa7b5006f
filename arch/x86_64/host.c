/* x86_64: the features of this CPU, detected once at start. */
#include "arch/arch.h"

#include <cpuid.h>
#include <elf.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "arch/x86_64/xsave.h"

uint64_t arch_xsave_mask;
uint64_t arch_xsave_bytes = 512;

#define XSAVE_COMPONENTS  0xe7U /* SDM volume 1, 13.1: bits 0-2 and 5-7 of XCR0 */
#define CPUID_OSXSAVE_ECX (1U << 27)
#define CPUID_INVARIANT	  (1U << 8) /* SDM volume 3, 18.17: leaf 80000007H, EDX */

const char arch_counter_clocksource[] = "tsc";
const unsigned arch_elf_machine = EM_X86_64;
const unsigned arch_elf_class = ELFCLASS64;

static uint64_t read_xcr0(void)
{
	uint32_t low, high;

	__asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
	return ((uint64_t)high << 32) | low;
}

/*
 * Computes the size of the XSAVE area. The components are in the order of their numbers, so the
 * area ends where the last component ends. CPUID is asked only about the last component, because
 * each CPUID instruction takes 20 us under a hypervisor.
 */
void arch_init(void)
{
	unsigned eax, ebx, ecx, edx;

	__cpuid(1, eax, ebx, ecx, edx);
	if (!(ecx & CPUID_OSXSAVE_ECX))
		return;

	uint64_t mask = read_xcr0() & XSAVE_COMPONENTS;
	uint64_t bytes = XSAVE_LEGACY;
	unsigned last = 63 - __builtin_clzll(mask | 1);

	if (last >= 2) {
		__cpuid_count(0xd, last, eax, ebx, ecx, edx);
		bytes = ebx + eax;
	}
	arch_xsave_bytes = (bytes + 63) & ~63ULL;
	arch_xsave_mask = mask;
}

bool arch_has_invariant_counter(void)
{
	unsigned eax, ebx, ecx, edx;

	return __get_cpuid(0x80000007, &eax, &ebx, &ecx, &edx) && (edx & CPUID_INVARIANT);
}

/* Linux' own numbers (Documentation/arch/x86/shstk.rst). Old headers do not have them. */
#define SHSTK_STATUS 0x5005
#define SHSTK_SHSTK  1ULL

bool arch_has_shadow_stack(void)
{
	uint64_t features = 0;

	/* Kernels without shadow stacks refuse this call. */
	return syscall(SYS_arch_prctl, SHSTK_STATUS, &features) == 0 && (features & SHSTK_SHSTK);
}

const void *arch_find_return(const void *start, const void *end)
{
	/*
	 * Any byte c3 (ret) is suitable. The CPU executes it as a ret, even if the byte is inside
	 * of another instruction.
	 */
	for (const uint8_t *at = start; at < (const uint8_t *)end; at++) {
		if (*at == 0xc3)
			return at;
	}
	return NULL;
}

void arch_write_call_stub(uint8_t *code, uint32_t index, const uint64_t *cell)
{
	/* endbr64; push $index; jmp *cell(%rip). %rip is the address after the jmp. */
	uint8_t stub[ARCH_CALL_STUB_BYTES] = {
		0xf3, 0x0f, 0x1e, 0xfa, 0x68, 0, 0, 0, 0, 0xff, 0x25
	};
	int32_t distance = (const uint8_t *)cell - (code + 15);

	memcpy(stub + 5, &index, sizeof(index));
	memcpy(stub + 11, &distance, sizeof(distance));
	stub[15] = 0xcc;
	memcpy(code, stub, sizeof(stub));
}
