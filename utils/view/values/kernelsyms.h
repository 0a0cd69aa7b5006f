/* Names for addresses of the kernel: kallsyms of a recording. */
#ifndef UTRAIL_VIEW_KERNELSYMS_H
#define UTRAIL_VIEW_KERNELSYMS_H

#include <stdint.h>

struct kernelsyms;

/*
 * Symbols of the recording in @dir, which must outlive them; nothing is read before somebody asks.
 * NULL without memory, which the other functions take, too. Not for several threads at a time.
 */
struct kernelsyms *kernelsyms_create(const char *dir);
void kernelsyms_destroy(struct kernelsyms *syms);

/*
 * The function that @addr is in, which begins at *@start; NULL when nobody knows. Lives as long as
 * @syms.
 */
const char *kernelsyms_find(struct kernelsyms *syms, uint64_t addr, uint64_t *start);

#endif
