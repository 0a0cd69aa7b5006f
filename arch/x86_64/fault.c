/* x86_64: ends a read that has faulted. */
#include <ucontext.h>

#include "arch/arch.h"

/* defined in guarded.S */
extern const char arch_guarded_start[];
extern const char arch_guarded_end[];
extern const char arch_copy_guarded_end[];
extern const char arch_copy_string_fault[];

bool arch_fault_resume(void *context)
{
	ucontext_t *uc = context;
	greg_t *ip = &uc->uc_mcontext.gregs[REG_RIP];

	if (*ip < (greg_t)arch_guarded_start || *ip >= (greg_t)arch_guarded_end)
		return false;
	*ip = (greg_t)(*ip < (greg_t)arch_copy_guarded_end ? arch_copy_guarded_end
							   : arch_copy_string_fault);
	return true;
}
