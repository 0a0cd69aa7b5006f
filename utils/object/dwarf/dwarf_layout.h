/* The layout of containers of the C++ library; private to the readers of debug information. */
#ifndef UTRAIL_OBJECT_DWARF_LAYOUT_H
#define UTRAIL_OBJECT_DWARF_LAYOUT_H

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <stdbool.h>
#include <stdint.h>

/*
 * The offsets in a node at which it has the addresses of the next (or left) node, the right node
 * and the parent.
 * @head: the size of the part before the value.
 */
struct dwarf_node {
	uint8_t next, right, parent, head;
};

/*
 * The place of the number of owners in the counters of a shared_ptr: its offset, its size in bytes,
 * and the difference to the displayed number.
 */
struct dwarf_owners {
	uint8_t offset, bytes, bias;
};

/*
 * Containers are recognised by their members. A container with other members is of an unknown
 * version of the library, and is shown as a struct. Each row has the template's name, the letter of
 * utils/spec/args/shape.h, and the places of its numbers: paths of members, which are searched in
 * base classes, too. The first existing member of a row must be a pointer if the letter requires
 * it.
 */
struct dwarf_layout {
	const char *name;
	char letter;
	const char *paths[3];
	struct dwarf_node node;
	struct dwarf_owners owners;
};

/*
 * Find the next layout for containers with the name of class @die after @layout, or the first one
 * when that is NULL. NULL: there are no more.
 */
const struct dwarf_layout *dwarf_layout_next(const struct dwarf_layout *layout, Dwarf_Die *die);

/* True for a struct, class or union. */
bool dwarf_is_class(Dwarf_Die *die);

#endif
