/* The inside of containers of the C++ library; private to the readers of debug information. */
#ifndef UTRAIL_OBJECT_DWARF_LAYOUT_H
#define UTRAIL_OBJECT_DWARF_LAYOUT_H

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <stdbool.h>
#include <stdint.h>

/*
 * In a node: the offsets of the next one's address (or the left one's), the right one's, the
 * parent's; the end of the part before the value.
 */
struct dwarf_node {
	uint8_t next, right, parent, head;
};

/*
 * The number of owners of a weak_ptr: its place in the struct that counts them, its bytes, and the
 * difference to the number that is shown.
 */
struct dwarf_owners {
	uint8_t offset, bytes, bias;
};

/*
 * Containers are recognised by their members: a version of a library that has other ones is not
 * known, and its containers are shown as the structs that they are. Each row has the template, the
 * letter of utils/spec/args/shape.h, and the places of the numbers that it takes: paths of members,
 * looked for in base classes, too. The first of a row that is there must be a pointer where the
 * letter says so.
 */
struct dwarf_layout {
	const char *name;
	char letter;
	const char *paths[3];
	struct dwarf_node node;
	struct dwarf_owners owners;
};

/*
 * The next of the layouts after @layout, or the first one, that containers named as class @die may
 * have; NULL: none.
 */
const struct dwarf_layout *dwarf_layout_next(const struct dwarf_layout *layout, Dwarf_Die *die);

/* struct, class or union */
bool dwarf_is_class(Dwarf_Die *die);

#endif
