/* Library call stubs: the PLT entries of a module as symbols. */
#ifndef UTRAIL_OBJECT_PLT_H
#define UTRAIL_OBJECT_PLT_H

#include "utils/format/sym.h"
#include "utils/object/elf_file.h"

/*
 * Add a symbol of type 'P' for each library function that @file calls (spec/data-format.md section
 * 4.4): at its PLT entry, or, for calls that read the address from the GOT (-fno-plt), at the
 * relocation entry itself. 0 or -ENOMEM.
 */
int plt_add_symbols(const struct elf_file *file, struct symtab *out);

#endif
