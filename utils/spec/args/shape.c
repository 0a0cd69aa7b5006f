/* Shapes of containers (see shape.h). */
#include "utils/spec/args/shape.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "utils/base/compiler.h"
#include "utils/format/argblob.h"

#define NUMBER_MAX   1000000U
#define CHILDREN_MAX 16
#define NESTING_MAX  8

/*
 * The kinds of nodes.
 *
 * @nr: how many numbers a node has
 * @children: how many children a node has. -1: shape_node.numbers[@count] is the number of
 *         children
 */
static const struct kind {
	char letter;
	uint8_t nr;
	int8_t children;
	uint8_t count;
} kinds[] = {
	{ 'i', 2, 0, 0 }, { 'u', 2, 0, 0 }, { 'c', 2, 0, 0 },  { 'f', 2, 0, 0 },  { 'p', 2, 0, 0 },
	{ 'e', 2, 0, 0 }, { 't', 2, 0, 0 }, { 'z', 1, 0, 0 },  { 's', 1, 0, 0 },  { 'S', 1, 0, 0 },
	{ 'w', 2, 0, 0 }, { 'r', 3, 1, 0 }, { 'n', 3, 1, 0 },  { 'k', 3, 1, 0 },  { 'a', 3, 1, 0 },
	{ 'o', 2, 1, 0 }, { 'q', 1, 1, 0 }, { 'm', 2, -1, 1 }, { 'v', 3, -1, 2 }, { 'l', 4, 1, 0 },
	{ 'T', 6, 1, 0 }, { 'L', 3, 1, 0 }, { 'b', 2, 1, 0 },  { 'B', 2, 1, 0 },  { 'd', 3, 1, 0 },
	{ 'D', 4, 1, 0 }, { 'Q', 5, 1, 0 }, { 'x', 3, -1, 2 },
};

static const struct kind *kind_of(char letter)
{
	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++) {
		if (kinds[i].letter == letter)
			return &kinds[i];
	}
	return NULL;
}

/*
 * True when the numbers of the node are possible: values are a few bytes wide, and elements are not
 * empty.
 */
static bool is_sound(const struct shape_node *node)
{
	uint32_t bytes = node->numbers[1];

	switch (node->letter) {
	case 'i':
	case 'u':
	case 'e':
	case 'p':
		return bytes >= 1 && bytes <= 8;
	case 'o':
	case 'v':
		return bytes == 1 || bytes == 2 || bytes == 4 || bytes == 8;
	case 'c':
		return bytes == 1;
	case 'f':
		return bytes == 4 || bytes == 8 || bytes == 10;
	case 't':
		return bytes >= 1 && bytes <= ARGBLOB_MAX_BYTES;
	case 'r':
	case 'n':
	case 'k':
	case 'a':
	case 'd':
		return node->numbers[2] > 0;
	case 'D':
		return node->numbers[3] > 0 && node->numbers[3] <= UINT16_MAX;
	case 'Q':
		return node->numbers[3] == 4 || node->numbers[3] == 8;
	case 'x':
		return bytes >= 1 && bytes <= ARGBLOB_MAX_BYTES;
	default:
		return true;
	}
}

static bool parse_node(const char **at, struct shape_node *node)
{
	const struct kind *kind = kind_of(**at);
	const char *end;

	*node = (struct shape_node){ .letter = **at };
	if (!kind)
		return false;
	(*at)++;
	for (unsigned i = 0; i < kind->nr; i++) {
		char *behind;

		if (i && *(*at)++ != '.')
			return false;
		if (!isdigit((unsigned char)**at))
			return false;

		unsigned long long number = strtoull(*at, &behind, 10);

		if (number > NUMBER_MAX)
			return false;
		node->numbers[i] = number;
		*at = behind;
	}
	end = *at + strcspn(*at, ";");
	if (!*end)
		return false;
	if (**at == ':') {
		node->name = *at + 1;
		node->name_len = end - *at - 1;
	} else if (*at != end) {
		return false;
	}
	*at = end + 1;

	uint32_t children = kind->children < 0 ? node->numbers[kind->count]
					       : (uint32_t)kind->children;

	node->nr_children = MIN(children, (uint32_t)UINT8_MAX);
	return children <= CHILDREN_MAX && is_sound(node);
}

static bool parse_tree(struct shape *shape, const char **at, unsigned nesting)
{
	if (shape->nr == SHAPE_NODES_MAX || nesting > NESTING_MAX)
		return false;

	size_t index = shape->nr++;
	struct shape_node *node = &shape->nodes[index];

	if (!parse_node(at, node))
		return false;
	for (unsigned i = 0; i < node->nr_children; i++) {
		if (!parse_tree(shape, at, nesting + 1))
			return false;
	}
	node->skip = shape->nr - index - 1;
	return true;
}

bool shape_parse(struct shape *shape, const char *text)
{
	shape->nr = 0;
	return parse_tree(shape, &text, 0) && !*text;
}

/* The bytes for each text in a box (shape.h) with several values. Most texts are shorter. */
#define TEXT_BYTES 24

/*
 * Returns the size of node @index in a box. Afterwards *@index is the node that follows this
 * node and all its descendants.
 */
static uint64_t bytes_of(const struct shape *shape, size_t *index, unsigned elements)
{
	const struct shape_node *node = &shape->nodes[(*index)++];
	uint64_t below = 0;
	uint64_t largest = 0;

	for (unsigned i = 0; i < node->nr_children; i++) {
		uint64_t bytes = bytes_of(shape, index, elements);

		below += bytes;
		largest = MAX(largest, bytes);
	}
	switch (node->letter) {
	case 'z':
	case 's':
	case 'S':
	case 'w':
		return sizeof(uint16_t) + TEXT_BYTES;
	case 'm':
		return below;
	case 'o':
	case 'q':
	case 'Q':
		return 1 + below;
	case 'x':
		return node->numbers[1] + below;
	case 'v':
		return 1 + largest;
	case 'k':
	case 'a':
		elements = MIN(elements, node->numbers[1]);
		break;
	default:
		break;
	}
	if (shape_is_sequence(node->letter))
		return sizeof(uint32_t) + sizeof(uint16_t) + elements * below;
	return node->numbers[1];
}

uint32_t shape_box_bytes(const struct shape *shape, unsigned elements, uint32_t max)
{
	size_t index = 0;
	uint64_t bytes = 1 + bytes_of(shape, &index, elements);

	/*
	 * If a text is the only value in a box, the text gets as much room as a string that is
	 * recorded without a box.
	 */
	if (shape->nr <= 2 && strchr("zsSw", shape->nodes[shape->nr - 1].letter) &&
	    !shape_is_sequence(shape->nodes[0].letter))
		bytes += ARGBLOB_STRING_MAX - TEXT_BYTES;
	bytes = (bytes + 3) & ~(uint64_t)3;
	return MIN(bytes, (uint64_t)max);
}
