/* An unsupported instruction set: threads of other processes cannot be made to run code. */
#include "arch/remote.h"

const bool arch_has_remote = false;
const int arch_remote_vector_note = 0;

const unsigned arch_remote_dwarf_sp = 0;

#define NONE(type, name, params, ...) \
	type name params              \
	{                             \
		return __VA_ARGS__;   \
	}

NONE(unsigned, arch_remote_dwarf_regs,
     (const struct arch_remote *r, uint64_t regs[ARCH_REMOTE_DWARF_REGS]), 0)
NONE(uint64_t, arch_remote_pc, (const struct arch_remote *r), 0)
NONE(uint64_t, arch_remote_sp, (const struct arch_remote *r), 0)
NONE(void, arch_remote_set_pc, (struct arch_remote * r, uint64_t pc))
NONE(long, arch_remote_entered_call, (const struct arch_remote *r), -1)
NONE(long, arch_remote_system_call, (const struct arch_remote *r, uint64_t args[4]), -1)
NONE(bool, arch_remote_restart, (struct arch_remote * r), false)
NONE(bool, arch_remote_find_gadgets,
     (const uint8_t *code, size_t len, size_t *call, size_t *handler_return), false)
NONE(size_t, arch_remote_context_bytes, (const struct arch_remote *r), 0)
NONE(void, arch_remote_put_context,
     (void *memory, uint64_t at, const struct arch_remote *r, uint64_t mask, long nr))
NONE(long, arch_remote_number_in_code, (const uint8_t code[ARCH_REMOTE_NUMBER_BYTES]), -1)
NONE(void, arch_remote_begin_syscall,
     (struct arch_remote * r, uint64_t call, uint64_t context, long nr, const uint64_t args[6]))
NONE(void, arch_remote_put_code, (uint8_t code[ARCH_REMOTE_CODE_BYTES]))
NONE(void, arch_remote_begin_call,
     (struct arch_remote * r, uint64_t code, uint64_t context, uint64_t fn, const uint64_t args[6],
      int signal))
NONE(uint64_t, arch_remote_call_result, (const struct arch_remote *r), 0)
NONE(uint64_t, arch_remote_result, (const struct arch_remote *r), 0)
NONE(uint64_t, arch_remote_sigframe_pc, (const uint64_t *words, size_t nr), 0)
NONE(uint64_t, arch_remote_sigframe_sp, (const uint64_t *words, size_t nr), 0)
NONE(bool, arch_remote_may_be_interrupted, (const uint64_t *words, size_t nr), true)
NONE(bool, arch_remote_may_end_call, (const uint8_t code[ARCH_REMOTE_CALL_BYTES]), true)
NONE(bool, arch_remote_set_argument, (int tid, uint32_t audit_arch, uint64_t value), false)
