/*
 * Replaces dwarf_info.c in a build without libdw: no debug information is found (see dwarf_info.h).
 */
#include "utils/object/dwarf/dwarf_info.h"

void dwarf_info_deinit(struct dwarf_info *info)
{
}

int object_dwarf_load(const char *path, struct dwarf_info *info, struct uft_err *err)
{
	return 0;
}

const struct dwarf_func *dwarf_info_find(const struct dwarf_info *info, uint64_t addr)
{
	return NULL;
}
