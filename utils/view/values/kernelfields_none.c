/*
 * Replaces kernelfields.c in a build without libtraceevent: no fields are shown (see
 * kernelfields.h).
 */
#include "utils/view/values/kernelfields.h"

bool kernelfields_are_built_in(void)
{
	return false;
}

struct kernelfields *kernelfields_create(const struct kernel_event_type *type,
					 const struct kernel_layout *layout,
					 struct kernelsyms *syms)
{
	return NULL;
}

void kernelfields_destroy(struct kernelfields *fields)
{
}

uint8_t *kernelfields_room(void)
{
	return NULL;
}

void kernelfields_put(const struct kernelfields *fields, uint8_t *room, const uint8_t *data,
		      size_t len, uint64_t *steps, struct strbuf *out)
{
}
