/* The layouts of containers of the C++ library; private to this directory. */
#ifndef UTRAIL_OBJECT_DWARF_LAYOUT_H
#define UTRAIL_OBJECT_DWARF_LAYOUT_H

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <stdbool.h>
#include <stdint.h>

/*
 * The layout of a node of a list or a tree.
 *
 * @next: the offset of the pointer to the next node, or to the left node of a tree
 * @right, @parent: the offsets of the pointers to the right node and to the parent
 * @head: the size of the data before the value. Padding may follow this data
 */
struct dwarf_node {
	uint8_t next, right, parent, head;
};

/*
 * A shared_ptr and a weak_ptr point to a control block, which counts the owners.
 *
 * @offset, @bytes: the counter's offset in the control block, and its size, in bytes
 * @bias: readers show the sum of the counter and @bias
 */
struct dwarf_owners {
	uint8_t offset, bytes, bias;
};

/*
 * A container is recognised by its members. A container with other members belongs to an unknown
 * version of the C++ library, and is shown as a struct.
 *
 * @name: name of the template
 * @letter: the letter of the container's node in a shape (utils/spec/args/shape.h)
 * @paths: members of the container, or of its base classes. The text of the shape contains offsets
 *         that are computed from the offsets of these members. For some letters, some of the
 *         members must be pointers, for example the third member for the letter d
 *         (dwarf_container.c)
 */
struct dwarf_layout {
	const char *name;
	char letter;
	const char *paths[3];
	struct dwarf_node node;
	struct dwarf_owners owners;
};

/*
 * Find the first layout that has the name of class @die. The search begins after @layout, or at the
 * first layout if @layout is NULL. Returns NULL when the search finds no such layout.
 */
const struct dwarf_layout *dwarf_layout_next(const struct dwarf_layout *layout, Dwarf_Die *die);

#endif
