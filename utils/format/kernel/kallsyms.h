/* kallsyms of a data directory: names for the addresses of the kernel, a copy of /proc/kallsyms. */
#ifndef UTRAIL_FORMAT_KALLSYMS_H
#define UTRAIL_FORMAT_KALLSYMS_H

#include <stddef.h>

#include "utils/format/sym.h"

/* Nobody reads more of such a file. */
#define KALLSYMS_MAX_BYTES (256UL << 20)

/*
 * The functions in @text, of @len bytes, become symbols of type 'K' of the empty table @tab,
 * sorted. Each reaches to the next one; of those with the same address the first counts. Lines that
 * are something else are passed over: modules come and go, and users that may not know addresses
 * have zeros. 0 or -ENOMEM.
 */
int kallsyms_decode(const char *text, size_t len, struct symtab *tab);

#endif
