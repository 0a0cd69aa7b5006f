/* Names for addresses of the kernel, from the file kallsyms of a recording. */
#ifndef UTRAIL_VIEW_KERNELSYMS_H
#define UTRAIL_VIEW_KERNELSYMS_H

#include <stdint.h>

struct kernelsyms;

/*
 * Returns the kernel's symbols from the recording @dir. The first call of kernelsyms_find() reads
 * kallsyms. Returns NULL when memory is short. The other functions accept NULL in place of the
 * symbols. Not thread-safe. @dir must outlive the symbols.
 */
struct kernelsyms *kernelsyms_create(const char *dir);
void kernelsyms_destroy(struct kernelsyms *syms);

/*
 * Returns the name of the function that contains @addr, or NULL when the function is unknown.
 * *@start becomes the start of the function. The name is valid as long as @syms.
 */
const char *kernelsyms_find(struct kernelsyms *syms, uint64_t addr, uint64_t *start);

#endif
