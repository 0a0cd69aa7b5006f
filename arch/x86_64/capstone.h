/* libcapstone, loaded when a program's code is to be read for the first time. */
#ifndef UTRAIL_ARCH_X86_64_CAPSTONE_H
#define UTRAIL_ARCH_X86_64_CAPSTONE_H

#include <capstone/capstone.h>

#include "utils/base/err.h"

/*
 * Its functions that are used, by their names there without "cs_". A program that is linked with
 * the library has the loader write 77,000 addresses into the library's tables each time that it
 * starts. This is more than half of the time that starting takes, and few commands read code.
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
 * By any thread. *@out is there until the program ends. -ENOSYS when the library, in the version of
 * its header, is not installed.
 */
int capstone_load(const struct capstone **out, struct uft_err *err);

#endif
