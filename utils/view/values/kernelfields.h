/*
 * The fields of the kernel's events as text, as the kernel itself would print them. libtraceevent
 * makes the text.
 */
#ifndef UTRAIL_VIEW_KERNELFIELDS_H
#define UTRAIL_VIEW_KERNELFIELDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "utils/base/containers/strbuf.h"
#include "utils/format/kernel/kernel_dat.h"
#include "utils/view/values/kernelsyms.h"

/* Returns true when this build can read fields. If not, the functions below do nothing. */
bool kernelfields_are_built_in(void);

/* The parsed format file of one kind of event. */
struct kernelfields;

/*
 * Read the format of @type, of a machine with that @layout. Returns NULL when it is invalid or
 * memory is short. The library gets only formats and records that are safe for it. @syms (or NULL)
 * has names for addresses and must outlive the result.
 */
struct kernelfields *kernelfields_create(const struct kernel_event_type *type,
					 const struct kernel_layout *layout,
					 struct kernelsyms *syms);
void kernelfields_destroy(struct kernelfields *fields);

/*
 * Returns a zeroed buffer into which records are copied for reading. It is larger than any possible
 * offset in a record. NULL when memory is short; ends with free(3).
 */
uint8_t *kernelfields_room(void);

/* The value that @steps of kernelfields_put() begins with. */
#define KERNELFIELDS_STEPS (4U << 20)

/*
 * Append the text for the record of @len bytes at @data, one line. @room: from kernelfields_room(),
 * and zeroed again afterwards. @steps: the remaining work for all records; each record adds some
 * for its bytes. When none is left, the line says so.
 */
void kernelfields_put(const struct kernelfields *fields, uint8_t *room, const uint8_t *data,
		      size_t len, uint64_t *steps, struct strbuf *out);

#endif
