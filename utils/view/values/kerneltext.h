/* The text of the kernel's events: "sched:sched_switch" and their fields. */
#ifndef UTRAIL_VIEW_KERNELTEXT_H
#define UTRAIL_VIEW_KERNELTEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "utils/base/containers/strbuf.h"
#include "utils/pipeline/recording/kernel_formats.h"

/*
 * Formats are parsed for the first record of their type. @formats and @dir, with kallsyms, must
 * outlive it. Not thread-safe.
 */
struct kerneltext;

/* NULL when @formats has none, or without memory: then numbers are shown instead of names. */
struct kerneltext *kerneltext_create(const struct kernel_formats *formats, const char *dir);
void kerneltext_destroy(struct kerneltext *text);

/* The fields of a record, in one line; nothing when they are not known. */
void kerneltext_put_fields(struct kerneltext *text, uint64_t id, const uint8_t *data, size_t len,
			   struct strbuf *out);

#endif
