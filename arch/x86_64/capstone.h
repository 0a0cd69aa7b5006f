/* libcapstone, loaded when a program's code is read for the first time. */
#ifndef UTRAIL_ARCH_X86_64_CAPSTONE_H
#define UTRAIL_ARCH_X86_64_CAPSTONE_H

#include <capstone/capstone.h>

#include "utils/base/err.h"

/*
 * The functions of Capstone that utrail calls, under their names without "cs_". utrail is not
 * linked with Capstone: the library's 77,000 relocations would take more than half of the start-up
 * time.
 */
struct capstone {
	__typeof__(cs_open) *open;
	__typeof__(cs_close) *close;
	__typeof__(cs_option) *option;
	__typeof__(cs_malloc) *malloc;
	__typeof__(cs_free) *free;
	__typeof__(cs_disasm_iter) *disasm_iter;
};

/*
 * Any thread. Loads the library. *@out stays valid until the program ends. Returns 0, or -ENOSYS
 * when the library cannot be loaded. Only the version for which utrail was compiled is loaded.
 */
int capstone_load(const struct capstone **out, struct uft_err *err);

#endif
