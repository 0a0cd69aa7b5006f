/* Replaces srcline.c in a build without libdw: no source lines are found (see srcline.h). */
#include "utils/object/dwarf/srcline.h"

#include <stddef.h>

struct srcline *srcline_open(const char *path, const char *build_id)
{
	return NULL;
}

void srcline_close(struct srcline *lines)
{
}

bool srcline_put(struct srcline *lines, uint64_t addr, struct strbuf *out)
{
	return false;
}
