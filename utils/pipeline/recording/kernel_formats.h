/* Formats of records of the kernel: kernel_header, and its events by number. */
#ifndef UTRAIL_PIPELINE_KERNEL_FORMATS_H
#define UTRAIL_PIPELINE_KERNEL_FORMATS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "utils/base/err.h"
#include "utils/base/containers/strbuf.h"
#include "utils/format/kernel/kernel_dat.h"

/*
 * @text: the file, which the others point into
 * @types: sorted by their numbers
 * @places: by number below @nr_places: 1 and the index of its type; 0: unknown
 *
 * Starts as { 0 }, ends with kernel_formats_deinit().
 */
struct kernel_formats {
	struct strbuf text;
	struct kernel_header header;
	struct kernel_event_type *types;
	size_t nr_types;
	uint32_t *places;
	size_t nr_places;
};

/*
 * Read kernel_header of the directory @dir, unless done already: 1, or 0 when there is none. A
 * damaged one is reported by @broken, and counts as missing. Negative with @err when it cannot be
 * read at all.
 */
int kernel_formats_load(struct kernel_formats *formats, const char *dir, struct uft_err *broken,
			struct uft_err *err);

/*
 * The same for @text, which is taken: 1, or negative with @err when it is damaged or memory is
 * short.
 */
int kernel_formats_read(struct kernel_formats *formats, struct strbuf *text, struct uft_err *err);
void kernel_formats_deinit(struct kernel_formats *formats);

/* The event with this number; NULL when it is unknown. */
static inline const struct kernel_event_type *kernel_formats_find(
	const struct kernel_formats *formats, uint64_t id)
{
	return id < formats->nr_places && formats->places[id]
		       ? &formats->types[formats->places[id] - 1]
		       : NULL;
}

/* True when there may be calls of the kernel's functions. */
bool kernel_formats_have_calls(const struct kernel_formats *formats);

/*
 * The other task that @rec of @type (NULL: unknown) concerns, besides the one that made it. 0:
 * none.
 */
int32_t kernel_formats_other_task(const struct kernel_formats *formats,
				  const struct kernel_event_type *type,
				  const struct kernel_record *rec);

#endif
