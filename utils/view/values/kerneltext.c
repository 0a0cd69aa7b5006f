/* The text of the kernel's events (see kerneltext.h). */
#include "utils/view/values/kerneltext.h"

#include <stdlib.h>

#include "utils/view/values/kernelfields.h"

/* @fields: NULL if the format is invalid, or was not read yet */
struct known_fields {
	struct kernelfields *fields;
	bool was_read;
};

/*
 * @known: an element for each element of formats->types
 * @room: see kernelfields_room()
 * @steps: see kernelfields_put()
 */
struct kerneltext {
	const struct kernel_formats *formats;
	struct known_fields *known;
	struct kernelsyms *syms;
	uint8_t *room;
	uint64_t steps;
};

struct kerneltext *kerneltext_create(const struct kernel_formats *formats, const char *dir)
{
	struct kerneltext *text = formats->nr_types ? calloc(1, sizeof(*text)) : NULL;

	if (!text)
		return NULL;
	text->formats = formats;
	text->steps = KERNELFIELDS_STEPS;
	text->syms = kernelsyms_create(dir);
	text->known = calloc(formats->nr_types, sizeof(*text->known));
	if (!text->known) {
		kernelsyms_destroy(text->syms);
		free(text);
		return NULL;
	}
	return text;
}

void kerneltext_destroy(struct kerneltext *text)
{
	if (!text)
		return;
	for (size_t i = 0; i < text->formats->nr_types; i++)
		kernelfields_destroy(text->known[i].fields);
	kernelsyms_destroy(text->syms);
	free(text->known);
	free(text->room);
	free(text);
}

void kerneltext_put_fields(struct kerneltext *text, uint64_t id, const uint8_t *data, size_t len,
			   struct strbuf *out)
{
	const struct kernel_event_type *type = text ? kernel_formats_find(text->formats, id) : NULL;

	if (!type || type->is_tracer)
		return;

	struct known_fields *known = &text->known[type - text->formats->types];

	if (!known->was_read) {
		known->fields = kernelfields_create(type, &text->formats->header.layout,
						    text->syms);
		known->was_read = true;
	}
	if (known->fields && !text->room)
		text->room = kernelfields_room();
	if (known->fields && text->room)
		kernelfields_put(known->fields, text->room, data, len, &text->steps, out);
}
