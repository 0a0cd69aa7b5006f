/*
 * Machines without a probe. These definitions let the recorder be linked. The recorder records no
 * function calls, but work that needs no probe is possible, for example --list-functions.
 */
#include "arch/arch.h"

#include <elf.h>
#include <link.h>

const char arch_counter_clocksource[] = "";
const unsigned arch_elf_class = sizeof(ElfW(Addr)) == 8 ? ELFCLASS64 : ELFCLASS32;

#if defined(__aarch64__)
const unsigned arch_elf_machine = EM_AARCH64;
#elif defined(__riscv)
const unsigned arch_elf_machine = EM_RISCV;
#elif defined(__arm__)
const unsigned arch_elf_machine = EM_ARM;
#elif defined(__i386__)
const unsigned arch_elf_machine = EM_386;
#else
const unsigned arch_elf_machine = EM_NONE;
#endif

bool arch_has_invariant_counter(void)
{
	return false;
}
