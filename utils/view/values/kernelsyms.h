/* Names for addresses of the kernel: kallsyms of a recording. */
#ifndef UTRAIL_VIEW_KERNELSYMS_H
#define UTRAIL_VIEW_KERNELSYMS_H

#include <stdint.h>

struct kernelsyms;

/*
 * Create the symbols of the recording in @dir, which must outlive them. They are read on demand.
 * Returns NULL when memory is short; the other functions accept NULL. Not thread-safe.
 */
struct kernelsyms *kernelsyms_create(const char *dir);
void kernelsyms_destroy(struct kernelsyms *syms);

/*
 * Returns the function that contains @addr, with its start in *@start, or NULL when it is unknown.
 * The text lives as long as @syms.
 */
const char *kernelsyms_find(struct kernelsyms *syms, uint64_t addr, uint64_t *start);

#endif
