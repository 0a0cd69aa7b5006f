/* Writes the fields of the kernel's events as text. */
#ifndef UTRAIL_VIEW_KERNELTEXT_H
#define UTRAIL_VIEW_KERNELTEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "utils/base/containers/strbuf.h"
#include "utils/pipeline/recording/kernel_formats.h"

/*
 * The formats of the kernel's events in a recording. A format is parsed when a record first needs
 * the format. Only one thread at a time may use a struct kerneltext.
 */
struct kerneltext;

/*
 * Returns NULL when @formats is empty, or memory is short. kerneltext_put_fields() accepts this
 * NULL, and writes nothing. @formats and @dir, the directory of the recording, must outlive the
 * result.
 */
struct kerneltext *kerneltext_create(const struct kernel_formats *formats, const char *dir);
void kerneltext_destroy(struct kerneltext *text);

/* Write the fields of a record in one line, or nothing when they are unknown. */
void kerneltext_put_fields(struct kerneltext *text, uint64_t id, const uint8_t *data, size_t len,
			   struct strbuf *out);

#endif
