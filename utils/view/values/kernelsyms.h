/* Names for addresses of the kernel: kallsyms of a recording. */
#ifndef UTRAIL_VIEW_KERNELSYMS_H
#define UTRAIL_VIEW_KERNELSYMS_H

#include <stdint.h>

struct kernelsyms;

/*
 * Symbols of the recording in @dir, which must outlive them; they are read on demand. NULL without
 * memory, which the other functions accept, too. Not thread-safe.
 */
struct kernelsyms *kernelsyms_create(const char *dir);
void kernelsyms_destroy(struct kernelsyms *syms);

/*
 * The function that contains @addr, with its start in *@start; NULL when it is unknown. Lives as
 * long as @syms.
 */
const char *kernelsyms_find(struct kernelsyms *syms, uint64_t addr, uint64_t *start);

#endif
