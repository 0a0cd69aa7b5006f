/* Formats of the kernel's records, from the file kernel_header. */
#ifndef UTRAIL_PIPELINE_KERNEL_FORMATS_H
#define UTRAIL_PIPELINE_KERNEL_FORMATS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "utils/base/err.h"
#include "utils/base/containers/strbuf.h"
#include "utils/format/kernel/kernel_dat.h"

/*
 * Starts as { 0 }, ends with kernel_formats_deinit().
 *
 * @text: the content of the file. Other members have pointers into @text
 * @types: the kinds of events, sorted by number
 * @places: places[number] is 1 + the index in @types of the event with this number; 0: unknown. The
 *          number is below @nr_places
 * @damage: if the file is damaged: the reason why kernel_formats_load() cannot use the file
 */
struct kernel_formats {
	struct strbuf text;
	struct kernel_header header;
	struct kernel_event_type *types;
	size_t nr_types;
	uint32_t *places;
	size_t nr_places;
	struct uft_err damage;
};

/*
 * Read the file kernel_header of the directory @dir, unless an earlier call has read this file. A
 * damaged file counts as missing, and each call of this function reports the damage in @broken. One
 * thread at a time may call this function.
 *
 * Returns 1 on success, 0 if there is no file, or a negative errno with @err if the file cannot be
 * read.
 */
int kernel_formats_load(struct kernel_formats *formats, const char *dir, struct uft_err *broken,
			struct uft_err *err);

/*
 * Read a kernel_header from @text, and take ownership of the memory of @text. Returns 1, or a
 * negative errno with @err when the text is damaged or memory is short.
 */
int kernel_formats_read(struct kernel_formats *formats, struct strbuf *text, struct uft_err *err);
void kernel_formats_deinit(struct kernel_formats *formats);

/* Find the event type with the number @id. Returns NULL when no type has this number. */
static inline const struct kernel_event_type *kernel_formats_find(
	const struct kernel_formats *formats, uint64_t id)
{
	return id < formats->nr_places && formats->places[id]
		       ? &formats->types[formats->places[id] - 1]
		       : NULL;
}

/* True when the recording may have calls of the kernel's functions. */
bool kernel_formats_have_calls(const struct kernel_formats *formats);

/*
 * Some records of a task are about another task. Returns this other task for the record @rec, or 0
 * if there is none. @type: the kind of the record, or NULL if the kind is unknown.
 */
int32_t kernel_formats_other_task(const struct kernel_formats *formats,
				  const struct kernel_event_type *type,
				  const struct kernel_record *rec);

#endif
