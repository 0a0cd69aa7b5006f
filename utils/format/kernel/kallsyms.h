/*
 * Reads the functions of the kernel from the file kallsyms of a data directory. The file is a copy
 * of /proc/kallsyms.
 */
#ifndef UTRAIL_FORMAT_KALLSYMS_H
#define UTRAIL_FORMAT_KALLSYMS_H

#include <stddef.h>

#include "utils/format/sym.h"

/* The maximum number of bytes to read from the file. */
#define KALLSYMS_MAX_BYTES (256UL << 20)

/*
 * Add the functions in @text to the empty table @tab as symbols of type 'K', and sort the table.
 *
 * - A function extends to the next function. If several functions have the same address, the first
 *   of these functions is kept.
 * - Lines with address 0 are skipped. Users without permission see only such lines.
 *
 * Returns 0 or -ENOMEM.
 */
int kallsyms_decode(const char *text, size_t len, struct symtab *tab);

#endif
