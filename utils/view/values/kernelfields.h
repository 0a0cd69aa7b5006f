/*
 * The fields of the kernel's events as the kernel would print them. libtraceevent makes the text.
 */
#ifndef UTRAIL_VIEW_KERNELFIELDS_H
#define UTRAIL_VIEW_KERNELFIELDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "utils/base/containers/strbuf.h"
#include "utils/format/kernel/kernel_dat.h"
#include "utils/view/values/kernelsyms.h"

/* True when this build has libtraceevent. Otherwise the functions below do nothing. */
bool kernelfields_are_built_in(void);

/* The parsed format file of one kind of event. */
struct kernelfields;

/*
 * Read the format of @type. Returns NULL when the format is not safe for libtraceevent, or when
 * memory is short.
 *
 * @layout: the layout of the recorded machine
 * @syms: names for addresses, or NULL; must outlive the result
 */
struct kernelfields *kernelfields_create(const struct kernel_event_type *type,
					 const struct kernel_layout *layout,
					 struct kernelsyms *syms);
void kernelfields_destroy(struct kernelfields *fields);

/*
 * Returns a zeroed buffer for kernelfields_put(). A record may contain offsets of its own data. The
 * buffer is larger than the largest possible offset. Returns NULL when memory is short. The caller
 * frees the buffer with free(3).
 */
uint8_t *kernelfields_room(void);

/* The initial value of *@steps for kernelfields_put(). */
#define KERNELFIELDS_STEPS (4U << 20)

/*
 * Append the text of a record as one line.
 *
 * @room: the buffer from kernelfields_room(). Before the call, all bytes of the buffer must be 0.
 *         On return, all bytes are 0 again
 * @data, @len: the bytes of the record
 * @steps: a budget of work for all records. The bytes of a record add steps to the budget, and the
 *         text of the record costs steps. When the budget is too small for the text, a note
 *         replaces the text
 */
void kernelfields_put(const struct kernelfields *fields, uint8_t *room, const uint8_t *data,
		      size_t len, uint64_t *steps, struct strbuf *out);

#endif
