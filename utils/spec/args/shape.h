/*
 * A shape describes the layout of a container of the C++ library. The probe copies the content of
 * the container to a box, a fixed number of bytes in the recording (utils/format/probe/capture.h).
 * The shape determines the layout of the box.
 */
#ifndef UTRAIL_SPEC_SHAPE_H
#define UTRAIL_SPEC_SHAPE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * A shape is a tree. The text of a node comes before the texts of the node's children:
 *
 * 	LETTER NUMBER[.NUMBER...][:NAME];
 *
 * Offsets count from the beginning of the node's object.
 *
 * Nodes of values have one or two numbers, @a and @b. @a is the offset:
 * 	i u c f p e t	@b bytes, as in utils/spec/args/structdef.h. For e, NAME is the name of the
 * 			enum. For t, NAME is the key of the struct's definition
 * 	z		a pointer to a C string
 * 	s S		a std::string; s: of libstdc++, S: of libc++
 * 	w		a text: @a is the offset of the pointer, @b is the offset of the length
 *
 * Nodes of composites may have a NAME for readers to show. m, v and x have NUMBER children. Each
 * other composite has one child:
 * 	r BEGIN.END.BYTES	n POINTER.COUNT.BYTES	k POINTER.NUMBER.BYTES
 * 	a OFFSET.NUMBER.BYTES
 * 	m OFFSET.NUMBER		o FLAG.BYTES		q POINTER		v INDEX.BYTES.NUMBER
 * 	l FIRST.COUNT.NEXT.VALUE			T FIRST.COUNT.LEFT.VALUE.RIGHT.PARENT
 * 	L FIRST.NEXT.VALUE	b BEGIN.END		B BEGIN.COUNT
 * 	d START.FINISH.BYTES	D TABLE.START.COUNT.BYTES
 * 	Q POINTER.OWNERS.OFFSET.BYTES.BIAS
 * 	x OFFSET.BYTES.NUMBER	a struct. NAME is the key of the struct's definition. The children
 * 				are the boxed fields (type b) of the definition, in the same order
 * The composites are listed in the order of enum box_op.
 */
#define SHAPE_NODES_MAX	  32
#define SHAPE_NUMBERS_MAX 6

struct shape_node {
	char letter;
	uint8_t nr_children;
	uint8_t skip; /* the number of nodes below this node, on all levels */
	uint32_t numbers[SHAPE_NUMBERS_MAX];
	const char *name; /* in the parsed text; NULL: none */
	size_t name_len;
};

struct shape {
	struct shape_node nodes[SHAPE_NODES_MAX];
	size_t nr;
};

/* Parse the text of a shape. @shape points into @text. Returns false when @text is invalid. */
bool shape_parse(struct shape *shape, const char *text);

static inline bool shape_is_sequence(char letter)
{
	return __builtin_strchr("rnkalTLbBdD", letter) && letter;
}

/*
 * Returns the number of bytes of a box for containers of this shape. In the box, each sequence,
 * such as a vector or a map, has room for @elements elements. The result is rounded up to a
 * multiple of 4, and is at most @max.
 */
uint32_t shape_box_bytes(const struct shape *shape, unsigned elements, uint32_t max);

#endif
