/*
 * The fields of the kernel's events as text, as the kernel itself would print them; by
 * libtraceevent.
 */
#ifndef UTRAIL_VIEW_KERNELFIELDS_H
#define UTRAIL_VIEW_KERNELFIELDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "utils/base/containers/strbuf.h"
#include "utils/format/kernel/kernel_dat.h"
#include "utils/view/values/kernelsyms.h"

/*
 * True when this build can read fields; else the functions below do nothing, and fields are
 * unknown.
 */
bool kernelfields_are_built_in(void);

/* One kind of event: its format file, understood. */
struct kernelfields;

/*
 * Read the format of @type, of a machine with that @layout. NULL when it cannot be understood, or
 * without memory. The library is never trusted with more than it can bear: not every format is, and
 * no record. @syms (or NULL) has names for addresses, and outlives it.
 */
struct kernelfields *kernelfields_create(const struct kernel_event_type *type,
					 const struct kernel_layout *layout,
					 struct kernelsyms *syms);
void kernelfields_destroy(struct kernelfields *fields);

/*
 * A zeroed buffer into which records are copied for reading: it is larger than any possible offset
 * in a record. NULL without memory; ends with free(3).
 */
uint8_t *kernelfields_room(void);

/* The value that @steps of kernelfields_put() begins with. */
#define KERNELFIELDS_STEPS (4U << 20)

/*
 * Append the text for the record of @len bytes at @data, one line. @room: from kernelfields_room(),
 * and zeroed again afterwards. @steps: the remaining work for all records, to which each one adds
 * by its bytes; when it is used up the line reports that.
 */
void kernelfields_put(const struct kernelfields *fields, uint8_t *room, const uint8_t *data,
		      size_t len, uint64_t *steps, struct strbuf *out);

#endif
