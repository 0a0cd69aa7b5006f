/* Types of debug information, as far as arguments and results need them; private to dwarf_info.c. */
#ifndef UTRAIL_OBJECT_DWARF_TYPE_H
#define UTRAIL_OBJECT_DWARF_TYPE_H

#include <dwarf.h>
#include <elfutils/libdw.h>

#include "utils/base/strmap.h"
#include "utils/object/dwarf_info.h"

/* @enums: those that were seen, by name */
struct dwarf_loader {
	struct dwarf_info *info;
	struct strmap enums;
	uint64_t base; /* of the module */
	bool oom;
};

/* A copy of the first @len bytes of @text, which lives as long as loader->info; NULL and loader->oom without memory. */
const char *dwarf_keep_text(struct dwarf_loader *loader, const char *text, size_t len);

/* The type that attribute DW_AT_type of @die says; DWARF_VOID when there is none. */
void dwarf_type_of(struct dwarf_loader *loader, Dwarf_Die *die, struct dwarf_type *type);

#endif
