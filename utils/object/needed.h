/* The libraries that a module needs (DT_NEEDED). */
#ifndef UTRAIL_OBJECT_NEEDED_H
#define UTRAIL_OBJECT_NEEDED_H

#include "utils/base/err.h"
#include "utils/base/containers/strbuf.h"

/*
 * Add the sonames in DT_NEEDED of the ELF file @path to the list @names (strbuf_list_add()).
 * Returns 0, -ENOMEM, or errors of elf_file_open().
 */
int object_needed_load(const char *path, struct strbuf *names, struct uft_err *err);

#endif
