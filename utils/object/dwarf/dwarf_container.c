/*
 * The shapes of containers of the C++ library, and of structs with containers in them (see
 * dwarf_type.h).
 */
#include "utils/object/dwarf/dwarf_type.h"

#include <stdlib.h>
#include <string.h>

#include "utils/base/containers/strbuf.h"
#include "utils/object/dwarf/dwarf_layout.h"

/* The same limit as in utils/spec/args/shape.h. */
#define SHAPE_NODES_MAX 32

#define NESTING_MAX   4
#define BASES_MAX     24
#define ELEMENT_BYTES 64
#define SHAPE_TEXT    1024
#define MEMBERS_MAX   12
#define BOXED_MAX     16
#define STRUCT_BYTES  128 /* in bytes; put_struct() fails for a larger struct */

/* A shape that is being made. @out: the text of the shape; @nr: the number of nodes in @out */
struct shaping {
	struct dwarf_loader *loader;
	struct strbuf out;
	unsigned nr;
};

struct member {
	Dwarf_Die type; /* without typedefs and qualifiers */
	uint32_t offset;
};

static bool put_type(struct shaping *s, Dwarf_Die *type, uint32_t offset, unsigned nesting);

/*
 * Finds a member of @die itself (@depth 0), or of base classes and nameless members @depth steps
 * away. The caller tries small depths first, because a near member hides a far one.
 */
static bool find_direct(struct dwarf_loader *loader, Dwarf_Die *die, const char *name, size_t len,
			unsigned depth, uint32_t base, struct member *found)
{
	Dwarf_Die child;

	if (!dwarf_first(loader, die, &child))
		return false;
	do {
		int tag = dwarf_tag(&child);
		const char *its = dwarf_diename(&child);
		bool is_part = tag == DW_TAG_inheritance || (tag == DW_TAG_member && !its);
		uint32_t offset;
		Dwarf_Die type;

		if (!dwarf_is_part(&child) || !dwarf_member_offset(&child, &offset) ||
		    !dwarf_type_die(&child, &type) || !dwarf_peel(&type))
			continue;
		if (depth == 0 && its && tag == DW_TAG_member && strncmp(its, name, len) == 0 &&
		    !its[len]) {
			*found = (struct member){ type, base + offset };
			return true;
		}
		if (depth && is_part && dwarf_is_class(&type) &&
		    find_direct(loader, &type, name, len, depth - 1, base + offset, found))
			return true;
	} while (dwarf_next(loader, &child));
	return false;
}

/*
 * The search for a member looks at this many levels. The first level is the class itself. The
 * second level is the base classes and nameless members of the class, and so on. libc++'s
 * std::variant has a dozen levels.
 */
#define PARTS_DEPTH 16

/* Find the member of @die at @path: "member.member". */
static bool find_member(struct dwarf_loader *loader, Dwarf_Die *die, const char *path,
			struct member *found)
{
	struct member at = { *die, 0 };

	for (;;) {
		size_t len = strcspn(path, ".");
		struct member next;
		bool is_found = false;

		for (unsigned depth = 0; !is_found && depth < PARTS_DEPTH; depth++)
			is_found = find_direct(loader, &at.type, path, len, depth, at.offset,
					       &next);
		if (!is_found)
			return false;
		at = next;
		if (!path[len])
			break;
		path += len + 1;
	}
	*found = at;
	return true;
}

/*
 * Find the type argument with the index *@index (from 0) among the template arguments of @die. Type
 * arguments in packs are counted, too. The search changes *@index.
 */
static bool template_type(struct dwarf_loader *loader, Dwarf_Die *die, unsigned *index,
			  Dwarf_Die *type)
{
	Dwarf_Die child;

	if (!dwarf_first(loader, die, &child))
		return false;
	do {
		int tag = dwarf_tag(&child);

		if (tag == DW_TAG_GNU_template_parameter_pack &&
		    template_type(loader, &child, index, type))
			return true;
		if (tag == DW_TAG_template_type_parameter && (*index)-- == 0)
			return dwarf_type_die(&child, type) && dwarf_peel(type);
	} while (dwarf_next(loader, &child));
	return false;
}

static bool type_argument(struct dwarf_loader *loader, Dwarf_Die *die, unsigned index,
			  Dwarf_Die *type)
{
	return template_type(loader, die, &index, type);
}

/* Find the first template argument that is a number. */
static bool number_argument(struct dwarf_loader *loader, Dwarf_Die *die, Dwarf_Word *number)
{
	Dwarf_Die child;

	if (!dwarf_first(loader, die, &child))
		return false;
	do {
		if (dwarf_tag(&child) == DW_TAG_template_value_parameter)
			return dwarf_number(&child, DW_AT_const_value, number);
	} while (dwarf_next(loader, &child));
	return false;
}

static bool is_pointer(Dwarf_Die *type)
{
	return dwarf_tag(type) == DW_TAG_pointer_type;
}

static bool begin_node(struct shaping *s)
{
	return ++s->nr <= SHAPE_NODES_MAX && s->out.len < SHAPE_TEXT;
}

/* Write a childless node of the shape: a number, a text, or a struct. */
static bool put_scalar(struct shaping *s, Dwarf_Die *die, uint32_t offset)
{
	struct dwarf_type type;

	if (!begin_node(s))
		return false;
	dwarf_type_of_die(s->loader, die, &type);
	if (type.is_reference)
		type.kind = DWARF_POINTER;
	switch (type.kind) {
	case DWARF_INT:
		strbuf_addf(&s->out, "%c%u.%u;", type.is_signed ? 'i' : 'u', offset, type.bytes);
		return type.bytes <= 8;
	case DWARF_CHAR:
		strbuf_addf(&s->out, "c%u.1;", offset);
		return true;
	case DWARF_FLOAT:
		strbuf_addf(&s->out, "f%u.%u;", offset, type.bytes);
		return true;
	case DWARF_POINTER:
		strbuf_addf(&s->out, "p%u.8;", offset);
		return true;
	case DWARF_STRING:
		strbuf_addf(&s->out, "z%u;", offset);
		return true;
	case DWARF_ENUM:
		strbuf_addf(&s->out, "e%u.%u:%s;", offset, type.bytes, type.name);
		return type.bytes >= 1 && type.bytes <= 8;
	case DWARF_STD_STRING:
		strbuf_addf(&s->out, "s%u;", offset);
		return true;
	case DWARF_LLVM_STRING:
		strbuf_addf(&s->out, "S%u;", offset);
		return true;
	case DWARF_STRUCT:
		if (!type.bytes || type.bytes > ELEMENT_BYTES || !type.fields)
			return false;
		strbuf_addf(&s->out, "t%u.%u:%s;", offset, type.bytes, type.fields);
		return true;
	default:
		return false;
	}
}

static uint32_t size_of(Dwarf_Die *type)
{
	uint32_t bytes = dwarf_byte_size(type);

	return bytes ? bytes : dwarf_tag(type) == DW_TAG_pointer_type ? 8 : 0;
}

/*
 * Find the type and the size of a container's elements. If the file only declares the class of the
 * elements, the size is unknown, except for the known kinds of std::string.
 */
static bool element_of(struct shaping *s, Dwarf_Die *die, Dwarf_Die *type, uint32_t *bytes)
{
	struct dwarf_type known;

	if (!type_argument(s->loader, die, 0, type))
		return false;
	*bytes = size_of(type);
	if (*bytes == 0 && dwarf_is_class(type)) {
		dwarf_type_of_die(s->loader, type, &known);
		*bytes = known.kind == DWARF_STD_STRING	   ? 32
			 : known.kind == DWARF_LLVM_STRING ? 24
							   : 0;
	}
	return *bytes > 0;
}

/* Write the shape of a container whose elements follow one another. */
static bool put_sequence(struct shaping *s, Dwarf_Die *die, const struct dwarf_layout *layout,
			 uint32_t offset, unsigned nesting)
{
	struct member first;
	struct member second;
	Dwarf_Die element;
	uint32_t bytes;
	Dwarf_Word number = 0;

	if (!find_member(s->loader, die, layout->paths[0], &first) ||
	    !element_of(s, die, &element, &bytes))
		return false;
	if (layout->letter != 'a' && !is_pointer(&first.type))
		return false;
	if (layout->paths[1] && !find_member(s->loader, die, layout->paths[1], &second))
		return false;
	if (layout->letter == 'r' && !is_pointer(&second.type))
		return false;
	if (!layout->paths[1] && (!number_argument(s->loader, die, &number) || number > 1000000))
		return false;
	strbuf_addf(&s->out, "%c%u.%u.%u:%s;", layout->letter, offset + first.offset,
		    layout->paths[1] ? offset + second.offset : (uint32_t)number, bytes,
		    layout->name);
	return put_type(s, &element, 0, nesting);
}

static bool put_text(struct shaping *s, Dwarf_Die *die, const struct dwarf_layout *layout,
		     uint32_t offset)
{
	struct member data;
	struct member len;
	Dwarf_Die letter;
	struct dwarf_type type;

	if (!type_argument(s->loader, die, 0, &letter) ||
	    !find_member(s->loader, die, layout->paths[0], &data) || !is_pointer(&data.type) ||
	    !find_member(s->loader, die, layout->paths[1], &len))
		return false;
	dwarf_type_of_die(s->loader, &letter, &type);
	strbuf_addf(&s->out, "w%u.%u:string_view;", offset + data.offset, offset + len.offset);
	return type.kind == DWARF_CHAR;
}

static bool put_optional(struct shaping *s, Dwarf_Die *die, const struct dwarf_layout *layout,
			 uint32_t offset, unsigned nesting)
{
	struct member flag;
	struct member value;
	Dwarf_Die type;

	if (!type_argument(s->loader, die, 0, &type) ||
	    !find_member(s->loader, die, layout->paths[0], &flag) ||
	    !find_member(s->loader, die, layout->paths[1], &value))
		return false;
	strbuf_addf(&s->out, "o%u.1:%s;", offset + flag.offset, layout->name);
	return put_type(s, &type, offset + value.offset, nesting);
}

/*
 * Write the shape of a container of bits. The container has a pointer to the first bit, and either
 * the number of bits or a pointer to the end of the bits.
 */
static bool put_bits(struct shaping *s, Dwarf_Die *die, const struct dwarf_layout *layout,
		     uint32_t offset)
{
	struct member first;
	struct member second;

	if (!find_member(s->loader, die, layout->paths[0], &first) || !is_pointer(&first.type) ||
	    !find_member(s->loader, die, layout->paths[1], &second) ||
	    is_pointer(&second.type) != (layout->letter == 'b') || !begin_node(s))
		return false;
	strbuf_addf(&s->out, "%c%u.%u:%s;u0.1;", layout->letter, offset + first.offset,
		    offset + second.offset, layout->name);
	return true;
}

/*
 * The offset of a pointer in the iterator of libstdc++'s deque. The pointer leads into the deque's
 * table of blocks. In all known versions, this pointer is the iterator's last member.
 */
#define ITERATOR_SLOT 24

static bool put_deque(struct shaping *s, Dwarf_Die *die, const struct dwarf_layout *layout,
		      uint32_t offset, unsigned nesting)
{
	struct member at[3];
	Dwarf_Die element;
	uint32_t bytes;
	bool is_gnu = layout->letter == 'd';

	for (size_t i = 0; i < ARRAY_SIZE(at); i++) {
		if (!find_member(s->loader, die, layout->paths[i], &at[i]))
			return false;
	}
	if (!element_of(s, die, &element, &bytes) || bytes > UINT16_MAX ||
	    !is_pointer(is_gnu ? &at[2].type : &at[0].type))
		return false;
	if (is_gnu && at[2].offset - at[1].offset != ITERATOR_SLOT)
		return false;
	if (is_gnu)
		strbuf_addf(&s->out, "d%u.%u.%u:deque;", offset + at[0].offset,
			    offset + at[1].offset, bytes);
	else
		strbuf_addf(&s->out, "D%u.%u.%u.%u:deque;", offset + at[0].offset,
			    offset + at[1].offset, offset + at[2].offset, bytes);
	return put_type(s, &element, 0, nesting);
}

/*
 * Write the shape of a smart pointer. If the type of its target has no shape, write the shape of a
 * plain pointer.
 */
static bool put_pointer(struct shaping *s, Dwarf_Die *die, const struct dwarf_layout *layout,
			uint32_t offset, unsigned nesting)
{
	struct member pointer;
	Dwarf_Die type;

	struct member counter = { .offset = 0 };
	bool is_weak = layout->letter == 'Q';

	if (!find_member(s->loader, die, layout->paths[0], &pointer) || !is_pointer(&pointer.type))
		return false;
	if (is_weak && (!find_member(s->loader, die, layout->paths[1], &counter) ||
			!is_pointer(&counter.type)))
		return false;

	size_t start = s->out.len;
	unsigned nr = s->nr;

	if (is_weak)
		strbuf_addf(&s->out, "Q%u.%u.%u.%u.%u:%s;", offset + pointer.offset,
			    offset + counter.offset, layout->owners.offset, layout->owners.bytes,
			    layout->owners.bias, layout->name);
	else
		strbuf_addf(&s->out, "q%u:%s;", offset + pointer.offset, layout->name);
	if (type_argument(s->loader, die, 0, &type) && put_type(s, &type, 0, nesting))
		return true;
	strbuf_cut(&s->out, start);
	s->nr = nr;
	strbuf_addf(&s->out, "m%u.1:%s;", offset + pointer.offset, layout->name);
	if (!begin_node(s))
		return false;
	strbuf_addstr(&s->out, "p0.8;");
	return true;
}

static bool put_pair(struct shaping *s, Dwarf_Die *die, const struct dwarf_layout *layout,
		     uint32_t offset, unsigned nesting)
{
	struct member first;
	struct member second;

	if (!find_member(s->loader, die, layout->paths[0], &first) ||
	    !find_member(s->loader, die, layout->paths[1], &second))
		return false;
	strbuf_addf(&s->out, "m%u.2:%s;", offset, layout->name);
	return put_type(s, &first.type, first.offset, nesting) &&
	       put_type(s, &second.type, second.offset, nesting);
}

struct leaves {
	struct member all[MEMBERS_MAX];
	unsigned seen; /* bit i: all[i] is set */
};

/* Read the number after the '<' of "_Head_base<1, int, false>". */
static bool leaf_number(Dwarf_Die *die, const char *name, unsigned *number)
{
	const char *full = dwarf_diename(die);
	size_t len = strlen(name);

	if (!full || strncmp(full, name, len) != 0 || full[len] != '<')
		return false;
	*number = atoi(full + len + 1);
	return true;
}

/* Find the elements of a tuple. Each is in a base class whose name has the element's number. */
static void find_leaves(struct dwarf_loader *loader, Dwarf_Die *die, uint32_t offset,
			unsigned depth, struct leaves *leaves)
{
	Dwarf_Die child;
	unsigned number;
	struct member value;

	if (leaf_number(die, "_Head_base", &number) || leaf_number(die, "__tuple_leaf", &number)) {
		if (number < MEMBERS_MAX &&
		    (find_direct(loader, die, "_M_head_impl", 12, 0, offset, &value) ||
		     find_direct(loader, die, "__value_", 8, 0, offset, &value))) {
			leaves->all[number] = value;
			leaves->seen |= 1U << number;
		}
		return;
	}
	if (depth == 0 || !dwarf_first(loader, die, &child))
		return;
	do {
		uint32_t at;
		Dwarf_Die type;
		int tag = dwarf_tag(&child);
		const char *name = dwarf_diename(&child);

		if (tag != DW_TAG_inheritance &&
		    !(tag == DW_TAG_member && name && strcmp(name, "__base_") == 0))
			continue;
		if (dwarf_member_offset(&child, &at) && dwarf_type_die(&child, &type) &&
		    dwarf_peel(&type))
			find_leaves(loader, &type, offset + at, depth - 1, leaves);
	} while (dwarf_next(loader, &child));
}

static bool put_tuple(struct shaping *s, Dwarf_Die *die, uint32_t offset, unsigned nesting)
{
	struct leaves leaves = { .seen = 0 };
	unsigned nr = 0;

	/*
	 * Do not use the template arguments: gcc does not list those of a tuple with three or more
	 * elements.
	 */
	find_leaves(s->loader, die, 0, BASES_MAX, &leaves);
	while (leaves.seen >> nr)
		nr++;
	/* An element may be missing: some libraries have no base class for an empty element. */
	if (nr == 0 || nr > MEMBERS_MAX || leaves.seen != (1U << nr) - 1)
		return false;
	strbuf_addf(&s->out, "m%u.%u:tuple;", offset, nr);
	for (unsigned i = 0; i < nr; i++) {
		if (!put_type(s, &leaves.all[i].type, leaves.all[i].offset, nesting))
			return false;
	}
	return true;
}

/* Write the shape of a variant. All its alternatives are at the same offset. */
static bool put_variant(struct shaping *s, Dwarf_Die *die, const struct dwarf_layout *layout,
			uint32_t offset, unsigned nesting)
{
	struct member index;
	struct member data;
	Dwarf_Die type;
	unsigned nr = 0;

	if (!find_member(s->loader, die, layout->paths[0], &index) ||
	    !find_member(s->loader, die, layout->paths[1], &data))
		return false;
	while (type_argument(s->loader, die, nr, &type))
		nr++;
	if (nr == 0 || nr > MEMBERS_MAX)
		return false;
	strbuf_addf(&s->out, "v%u.%u.%u:%s;", offset + index.offset, size_of(&index.type), nr,
		    layout->name);
	for (unsigned i = 0; i < nr; i++) {
		if (!type_argument(s->loader, die, i, &type) ||
		    !put_type(s, &type, offset + data.offset, nesting))
			return false;
	}
	return true;
}

/* Returns the alignment with which compilers place a value of type @die. */
static uint32_t alignment_of(struct dwarf_loader *loader, Dwarf_Die *die, unsigned depth)
{
	Dwarf_Die type = *die;
	Dwarf_Die child;
	uint32_t most = 1;

	if (depth == 0 || !dwarf_peel(&type))
		return 1;
	if (dwarf_tag(&type) == DW_TAG_array_type)
		return dwarf_type_die(&type, &child) ? alignment_of(loader, &child, depth - 1) : 1;
	if (!dwarf_is_class(&type)) {
		most = size_of(&type);
		return most ? MIN(most, 16U) : 8;
	}
	/*
	 * In clang's debug information, std::string may be only declared, without members. A string
	 * is aligned like a pointer.
	 */
	if (dwarf_has_flag(&type, DW_AT_declaration))
		return 8;
	if (!dwarf_first(loader, &type, &child))
		return 1;
	do {
		int tag = dwarf_tag(&child);
		Dwarf_Die member;
		Dwarf_Word asked;

		if ((tag != DW_TAG_member && tag != DW_TAG_inheritance) ||
		    dwarf_has_flag(&child, DW_AT_external) || !dwarf_type_die(&child, &member))
			continue;
		if (dwarf_number(&child, DW_AT_alignment, &asked))
			most = MAX(most, (uint32_t)asked);
		most = MAX(most, alignment_of(loader, &member, depth - 1));
	} while (dwarf_next(loader, &child));
	return most;
}

#define ALIGNMENT_DEPTH 12

/*
 * Write the shape of a node's content: a value or, for a map, a pair. In the node, @head bytes of
 * links precede the content.
 *
 * @offset: gets the content's offset in the node
 */
static bool put_entry(struct shaping *s, Dwarf_Die *die, bool is_map, uint32_t head,
		      unsigned nesting, uint32_t *offset)
{
	Dwarf_Die key;
	Dwarf_Die value;
	uint32_t key_bytes;
	uint32_t align;

	if (!element_of(s, die, &key, &key_bytes))
		return false;
	align = alignment_of(s->loader, &key, ALIGNMENT_DEPTH);
	if (is_map) {
		if (!type_argument(s->loader, die, 1, &value))
			return false;

		uint32_t value_align = alignment_of(s->loader, &value, ALIGNMENT_DEPTH);

		align = MAX(align, value_align);
		strbuf_addstr(&s->out, "m0.2:=;");
		if (!begin_node(s) || !put_type(s, &key, 0, nesting) ||
		    !put_type(s, &value, ALIGN_UP(key_bytes, value_align), nesting))
			return false;
	} else if (!put_type(s, &key, 0, nesting)) {
		return false;
	}
	*offset = ALIGN_UP(head, align);
	return true;
}

static bool put_nodes(struct shaping *s, Dwarf_Die *die, const struct dwarf_layout *layout,
		      uint32_t offset, unsigned nesting)
{
	struct shaping entry = { .loader = s->loader, .nr = s->nr };
	const struct dwarf_node *node = &layout->node;
	struct member first;
	struct member count;
	uint32_t value;
	bool good;
	bool is_counted = layout->letter != 'L';

	if (!find_member(s->loader, die, layout->paths[0], &first) || !is_pointer(&first.type))
		return false;
	if (is_counted &&
	    (!find_member(s->loader, die, layout->paths[1], &count) || size_of(&count.type) != 8))
		return false;
	good = put_entry(&entry, die, strstr(layout->name, "map"), node->head, nesting, &value);
	s->nr = entry.nr;
	if (good && layout->letter == 'T')
		strbuf_addf(&s->out, "T%u.%u.%u.%u.%u.%u:%s;%s", offset + first.offset,
			    offset + count.offset, node->next, value, node->right, node->parent,
			    layout->name, strbuf_str(&entry.out));
	else if (good && !is_counted)
		strbuf_addf(&s->out, "L%u.%u.%u:%s;%s", offset + first.offset, node->next, value,
			    layout->name, strbuf_str(&entry.out));
	else if (good)
		strbuf_addf(&s->out, "l%u.%u.%u.%u:%s;%s", offset + first.offset,
			    offset + count.offset, node->next, value, layout->name,
			    strbuf_str(&entry.out));
	strbuf_deinit(&entry.out);
	return good;
}

static bool put_layout(struct shaping *s, Dwarf_Die *die, const struct dwarf_layout *layout,
		       uint32_t offset, unsigned nesting)
{
	if (!begin_node(s))
		return false;
	switch (layout->letter) {
	case 'w':
		return put_text(s, die, layout, offset);
	case 'o':
		return put_optional(s, die, layout, offset, nesting);
	case 'q':
	case 'Q':
		return put_pointer(s, die, layout, offset, nesting);
	case 'm':
		return layout->paths[0] ? put_pair(s, die, layout, offset, nesting)
					: put_tuple(s, die, offset, nesting);
	case 'v':
		return put_variant(s, die, layout, offset, nesting);
	case 'l':
	case 'L':
	case 'T':
		return put_nodes(s, die, layout, offset, nesting);
	case 'b':
	case 'B':
		return put_bits(s, die, layout, offset);
	case 'd':
	case 'D':
		return put_deque(s, die, layout, offset, nesting);
	default:
		return put_sequence(s, die, layout, offset, nesting);
	}
}

/*
 * Write the shape of a container. *@is_one becomes true when @die has the name of a container, even
 * if the layout of @die is unknown.
 */
static bool put_container(struct shaping *s, Dwarf_Die *die, uint32_t offset, unsigned nesting,
			  bool *is_one)
{
	*is_one = false;
	for (const struct dwarf_layout *layout = NULL; (layout = dwarf_layout_next(layout, die));) {
		size_t start = s->out.len;
		unsigned nr = s->nr;

		*is_one = true;
		if (put_layout(s, die, layout, offset, nesting + 1))
			return true;
		strbuf_cut(&s->out, start);
		s->nr = nr;
	}
	return false;
}

/*
 * Write the shape of a struct: its size, and then the shapes of the fields that are containers,
 * strings, or structs with such fields. If the shape of a field is unknown or too long, the field
 * is written as a struct with the name "?" and a size of one byte.
 */
static bool put_struct(struct shaping *s, Dwarf_Die *die, const char *key, uint32_t bytes,
		       uint32_t offset, unsigned nesting)
{
	struct dwarf_boxed_field fields[BOXED_MAX];
	unsigned nr = dwarf_boxed_fields(s->loader, die, bytes, fields, BOXED_MAX);

	if (nr == 0 || nr > BOXED_MAX || bytes > STRUCT_BYTES || !begin_node(s))
		return false;
	strbuf_addf(&s->out, "x%u.%u.%u:%s;", offset, bytes, nr, key);
	for (unsigned i = 0; i < nr; i++) {
		size_t start = s->out.len;
		unsigned before = s->nr;

		if (put_type(s, &fields[i].type, fields[i].offset, nesting + 1) &&
		    s->nr + (nr - i - 1) <= SHAPE_NODES_MAX && s->out.len < SHAPE_TEXT)
			continue;
		strbuf_cut(&s->out, start);
		s->nr = before;
		if (!begin_node(s))
			return false;
		strbuf_addf(&s->out, "t%u.1:?;", fields[i].offset);
	}
	return true;
}

static bool put_class(struct shaping *s, Dwarf_Die *die, uint32_t offset, unsigned nesting)
{
	struct dwarf_type type;
	size_t start = s->out.len;
	unsigned nr = s->nr;

	s->loader->shapeless++;
	dwarf_type_of_die(s->loader, die, &type);
	s->loader->shapeless--;
	if (type.kind != DWARF_STRUCT || !type.fields ||
	    !strmap_get(&s->loader->boxed, type.fields))
		return false;
	if (put_struct(s, die, type.fields, type.bytes, offset, nesting))
		return true;
	strbuf_cut(&s->out, start);
	s->nr = nr;
	return false;
}

static bool put_type(struct shaping *s, Dwarf_Die *type, uint32_t offset, unsigned nesting)
{
	bool is_container;

	if (nesting > NESTING_MAX)
		return false;
	if (dwarf_is_class(type) && !dwarf_has_flag(type, DW_AT_declaration)) {
		if (put_container(s, type, offset, nesting, &is_container))
			return true;
		if (is_container)
			return false;
		if (put_class(s, type, offset, nesting))
			return true;
	}
	return put_scalar(s, type, offset);
}

/*
 * Finds the shape of class @die. Returns NULL when there is none.
 *
 * @fields: the key of the definition that lists the fields of the struct @die; NULL if @die may be
 *         a container
 * @key: gets the key of the definition that contains the shape
 */
static const char *shape_of(struct dwarf_loader *loader, Dwarf_Die *die, const char *fields,
			    const char **key)
{
	struct shaping s = { .loader = loader };
	struct strbuf text cleanup_strbuf = { 0 };
	const char *shape = NULL;
	bool is_container;
	struct intmap *keys = fields ? &loader->box_keys : &loader->container_keys;
	/* "" means that there is no shape. */
	const char *known = intmap_get(keys, (uintptr_t)die->addr);

	if (!known) {
		loader->nesting++;

		bool good = fields ? put_struct(&s, die, fields, dwarf_byte_size(die), 0, 0)
				   : put_container(&s, die, 0, 0, &is_container);

		if (good && !strbuf_oom(&s.out)) {
			strbuf_addf(&text, "0 =%s", strbuf_str(&s.out));
			known = dwarf_add_definition(loader, "box", strbuf_str(&text));
		}
		loader->nesting--;
		strbuf_deinit(&s.out);
		known = known ? known : "";
		if (intmap_put(keys, (uintptr_t)die->addr, (void *)known) < 0)
			loader->oom = true;
	}
	if (*known) {
		const char *line = strmap_get(&loader->structs, known);

		shape = line ? strchr(line, '=') : NULL;
		*key = known;
	}
	return shape ? shape + 1 : NULL;
}

const char *dwarf_container_shape(struct dwarf_loader *loader, Dwarf_Die *die, const char **key)
{
	*key = NULL;
	if (!dwarf_is_class(die) || dwarf_has_flag(die, DW_AT_declaration) ||
	    loader->nesting >= NESTING_MAX)
		return NULL;
	return shape_of(loader, die, NULL, key);
}

const char *dwarf_struct_shape(struct dwarf_loader *loader, Dwarf_Die *die, const char *fields,
			       const char **key)
{
	return shape_of(loader, die, fields, key);
}
