/* The layout of containers of the C++ library; private to the readers of debug information. */
#ifndef UTRAIL_OBJECT_DWARF_LAYOUT_H
#define UTRAIL_OBJECT_DWARF_LAYOUT_H

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <stdbool.h>
#include <stdint.h>

/*
 * Offsets in a node: of the address of the next (or left) one, of the right one, of the parent; the
 * end of the part before the value.
 */
struct dwarf_node {
	uint8_t next, right, parent, head;
};

/*
 * The number of owners of a weak_ptr: its offset in the struct of counters, its bytes, and the
 * difference to the displayed number.
 */
struct dwarf_owners {
	uint8_t offset, bytes, bias;
};

/*
 * Containers are recognised by their members: other members belong to an unknown version of the
 * library, whose containers are shown as structs. Each row has the template, the letter of
 * utils/spec/args/shape.h, and the places of its numbers: paths of members, searched in base
 * classes, too. The first existing one of a row must be a pointer if the letter requires it.
 */
struct dwarf_layout {
	const char *name;
	char letter;
	const char *paths[3];
	struct dwarf_node node;
	struct dwarf_owners owners;
};

/*
 * The next layout after @layout, or the first one, for containers with the name of class @die;
 * NULL: none.
 */
const struct dwarf_layout *dwarf_layout_next(const struct dwarf_layout *layout, Dwarf_Die *die);

/* struct, class or union */
bool dwarf_is_class(Dwarf_Die *die);

#endif
