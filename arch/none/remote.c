/* No instruction set of ours: threads of others cannot be made to run code. */
#include "arch/remote.h"

const bool arch_has_remote = false;
const int arch_remote_vector_note = 0;

const unsigned arch_remote_dwarf_sp = 0;

unsigned arch_remote_dwarf_regs(const struct arch_remote *r, uint64_t regs[ARCH_REMOTE_DWARF_REGS])
{
	return 0;
}

uint64_t arch_remote_pc(const struct arch_remote *r)
{
	return 0;
}

uint64_t arch_remote_sp(const struct arch_remote *r)
{
	return 0;
}

void arch_remote_set_pc(struct arch_remote *r, uint64_t pc)
{
}

long arch_remote_system_call(const struct arch_remote *r, uint64_t args[4])
{
	return -1;
}

bool arch_remote_restart(struct arch_remote *r)
{
	return false;
}

bool arch_remote_find_gadgets(const uint8_t *code, size_t len, size_t *call, size_t *handler_return)
{
	return false;
}

size_t arch_remote_context_bytes(const struct arch_remote *r)
{
	return 0;
}

void arch_remote_put_context(void *memory, uint64_t at, const struct arch_remote *r, uint64_t mask,
			     long nr)
{
}

long arch_remote_number_in_code(const uint8_t code[ARCH_REMOTE_NUMBER_BYTES])
{
	return -1;
}

void arch_remote_begin_syscall(struct arch_remote *r, uint64_t call, uint64_t context, long nr,
			       const uint64_t args[6])
{
}

void arch_remote_put_code(uint8_t code[ARCH_REMOTE_CODE_BYTES])
{
}

void arch_remote_begin_call(struct arch_remote *r, uint64_t code, uint64_t context, uint64_t fn,
			    const uint64_t args[6], int signal)
{
}

uint64_t arch_remote_call_result(const struct arch_remote *r)
{
	return 0;
}

uint64_t arch_remote_result(const struct arch_remote *r)
{
	return 0;
}

uint64_t arch_remote_sigframe_pc(const uint64_t *words, size_t nr)
{
	return 0;
}

uint64_t arch_remote_sigframe_sp(const uint64_t *words, size_t nr)
{
	return 0;
}

bool arch_remote_may_be_interrupted(const uint64_t *words, size_t nr)
{
	return true;
}

bool arch_remote_may_end_call(const uint8_t code[ARCH_REMOTE_CALL_BYTES])
{
	return true;
}

bool arch_remote_set_argument(int tid, uint32_t audit_arch, uint64_t value)
{
	return false;
}
