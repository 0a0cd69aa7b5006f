/* Containers of the C++ library: which they are, and where in them what they hold is (see dwarf_type.h). */
#include "utils/object/dwarf_type.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "utils/base/strbuf.h"

/*
 * Recognised by how they look inside: a version of a library that has other members is not known, and its containers are shown as
 * the structs that they are. Each row: the template, the letter of utils/spec/shape.h, and where the numbers are that it takes: paths of
 * members, looked for in base classes, too. The first of a row that is there must be a pointer where the letter says so.
 */
static const struct layout {
	const char *name;
	char letter;
	const char *paths[2];
	/* Of those made of nodes, in a node: the next one's address (or the left one's), the right one's, the parent's, and the end of what
	 * is in front of the value. */
	struct node {
		uint8_t next, right, parent, head;
	} node;
} layouts[] = {
	/* libstdc++ */
	{ "vector", 'r', { "_M_impl._M_start", "_M_impl._M_finish" } },
	{ "basic_string_view", 'w', { "_M_str", "_M_len" } },
	{ "optional", 'o', { "_M_payload._M_engaged", "_M_payload._M_payload._M_value" } },
	{ "unique_ptr", 'q', { "_M_t._M_t._M_head_impl" } },
	{ "shared_ptr", 'q', { "_M_ptr" } },
	{ "span", 'n', { "_M_ptr", "_M_extent._M_extent_value" } },
	{ "span", 'k', { "_M_ptr" } },
	{ "initializer_list", 'n', { "_M_array", "_M_len" } },
	{ "array", 'a', { "_M_elems" } },
	{ "pair", 'm', { "first", "second" } },
	{ "tuple", 'm', { NULL } },
	{ "variant", 'v', { "_M_index", "_M_u" } },
	{ "map",
	  'T',
	  { "_M_t._M_impl._M_header._M_left", "_M_t._M_impl._M_node_count" },
	  { 16, 24, 8, 32 } },
	{ "set",
	  'T',
	  { "_M_t._M_impl._M_header._M_left", "_M_t._M_impl._M_node_count" },
	  { 16, 24, 8, 32 } },
	{ "multimap",
	  'T',
	  { "_M_t._M_impl._M_header._M_left", "_M_t._M_impl._M_node_count" },
	  { 16, 24, 8, 32 } },
	{ "multiset",
	  'T',
	  { "_M_t._M_impl._M_header._M_left", "_M_t._M_impl._M_node_count" },
	  { 16, 24, 8, 32 } },
	{ "unordered_map",
	  'l',
	  { "_M_h._M_before_begin._M_nxt", "_M_h._M_element_count" },
	  { 0, 0, 0, 8 } },
	{ "unordered_set",
	  'l',
	  { "_M_h._M_before_begin._M_nxt", "_M_h._M_element_count" },
	  { 0, 0, 0, 8 } },
	{ "unordered_multimap",
	  'l',
	  { "_M_h._M_before_begin._M_nxt", "_M_h._M_element_count" },
	  { 0, 0, 0, 8 } },
	{ "unordered_multiset",
	  'l',
	  { "_M_h._M_before_begin._M_nxt", "_M_h._M_element_count" },
	  { 0, 0, 0, 8 } },
	{ "list", 'l', { "_M_impl._M_node._M_next", "_M_impl._M_node._M_size" }, { 0, 0, 0, 16 } },
	/* libc++ */
	{ "vector", 'r', { "__begin_", "__end_" } },
	{ "basic_string_view", 'w', { "__data_", "__size_" } },
	{ "basic_string_view", 'w', { "__data", "__size" } },
	{ "optional", 'o', { "__engaged_", "__val_" } },
	{ "unique_ptr", 'q', { "__ptr_.__value_" } },
	{ "unique_ptr", 'q', { "__ptr_" } },
	{ "shared_ptr", 'q', { "__ptr_" } },
	{ "span", 'n', { "__data_", "__size_" } },
	{ "span", 'n', { "__data", "__size" } },
	{ "span", 'k', { "__data_" } },
	{ "span", 'k', { "__data" } },
	{ "initializer_list", 'n', { "__begin_", "__size_" } },
	{ "array", 'a', { "__elems_" } },
	{ "variant", 'v', { "__impl_.__index", "__impl_.__data" } },
	{ "variant", 'v', { "__impl.__index", "__impl.__data" } },
	{ "map", 'T', { "__tree_.__begin_node_", "__tree_.__pair3_.__value_" }, { 0, 8, 16, 25 } },
	{ "map", 'T', { "__tree_.__begin_node_", "__tree_.__size_" }, { 0, 8, 16, 25 } },
	{ "set", 'T', { "__tree_.__begin_node_", "__tree_.__pair3_.__value_" }, { 0, 8, 16, 25 } },
	{ "set", 'T', { "__tree_.__begin_node_", "__tree_.__size_" }, { 0, 8, 16, 25 } },
	{ "multimap",
	  'T',
	  { "__tree_.__begin_node_", "__tree_.__pair3_.__value_" },
	  { 0, 8, 16, 25 } },
	{ "multimap", 'T', { "__tree_.__begin_node_", "__tree_.__size_" }, { 0, 8, 16, 25 } },
	{ "multiset",
	  'T',
	  { "__tree_.__begin_node_", "__tree_.__pair3_.__value_" },
	  { 0, 8, 16, 25 } },
	{ "multiset", 'T', { "__tree_.__begin_node_", "__tree_.__size_" }, { 0, 8, 16, 25 } },
	{ "unordered_map",
	  'l',
	  { "__table_.__p1_.__value_.__next_", "__table_.__p2_.__value_" },
	  { 0, 0, 0, 16 } },
	{ "unordered_map",
	  'l',
	  { "__table_.__first_node_.__next_", "__table_.__size_" },
	  { 0, 0, 0, 16 } },
	{ "unordered_set",
	  'l',
	  { "__table_.__p1_.__value_.__next_", "__table_.__p2_.__value_" },
	  { 0, 0, 0, 16 } },
	{ "unordered_set",
	  'l',
	  { "__table_.__first_node_.__next_", "__table_.__size_" },
	  { 0, 0, 0, 16 } },
	{ "unordered_multimap",
	  'l',
	  { "__table_.__p1_.__value_.__next_", "__table_.__p2_.__value_" },
	  { 0, 0, 0, 16 } },
	{ "unordered_multimap",
	  'l',
	  { "__table_.__first_node_.__next_", "__table_.__size_" },
	  { 0, 0, 0, 16 } },
	{ "unordered_multiset",
	  'l',
	  { "__table_.__p1_.__value_.__next_", "__table_.__p2_.__value_" },
	  { 0, 0, 0, 16 } },
	{ "unordered_multiset",
	  'l',
	  { "__table_.__first_node_.__next_", "__table_.__size_" },
	  { 0, 0, 0, 16 } },
	{ "list", 'l', { "__end_.__next_", "__size_alloc_.__value_" }, { 8, 0, 0, 16 } },
	{ "list", 'l', { "__end_.__next_", "__size_" }, { 8, 0, 0, 16 } },
};

/* As utils/spec/shape.h takes it. */
#define SHAPE_NODES_MAX 32

#define NESTING_MAX   4
#define BASES_MAX     24
#define ELEMENT_BYTES 64
#define SHAPE_TEXT    1024
#define MEMBERS_MAX   12

/* @out: the text so far; @nr: nodes */
struct shaping {
	struct dwarf_loader *loader;
	struct strbuf out;
	unsigned nr;
};

struct member {
	Dwarf_Die type; /* peeled */
	uint32_t offset;
};

static bool put_type(struct shaping *s, Dwarf_Die *type, uint32_t offset, unsigned nesting);

static bool is_class(Dwarf_Die *die)
{
	int tag = dwarf_tag(die);

	return tag == DW_TAG_structure_type || tag == DW_TAG_class_type || tag == DW_TAG_union_type;
}

/* The name without template arguments is @name. */
static bool is_template(Dwarf_Die *die, const char *name)
{
	const char *full = dwarf_diename(die);
	size_t len = strlen(name);

	return full && strncmp(full, name, len) == 0 && (full[len] == '<' || !full[len]);
}

/*
 * A member of @die itself, or, @depth steps away, of what is part of it: base classes and what has no name. What is near hides
 * what is far.
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

		if ((tag != DW_TAG_member && tag != DW_TAG_inheritance) ||
		    dwarf_has_flag(&child, DW_AT_external) ||
		    dwarf_has_flag(&child, DW_AT_declaration) ||
		    !dwarf_member_offset(&child, &offset) || !dwarf_type_die(&child, &type) ||
		    !dwarf_peel(&type))
			continue;
		if (depth == 0 && its && tag == DW_TAG_member && strncmp(its, name, len) == 0 &&
		    !its[len]) {
			*found = (struct member){ type, base + offset };
			return true;
		}
		if (depth && is_part && is_class(&type) &&
		    find_direct(loader, &type, name, len, depth - 1, base + offset, found))
			return true;
	} while (dwarf_next(loader, &child));
	return false;
}

/* libc++ builds its variant in a dozen steps. */
#define PARTS_DEPTH 16

/* "member.member" of @die. */
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

/* Template argument @index of types, through packs. */
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

/* The first template argument that is a number. */
static bool number_argument(struct dwarf_loader *loader, Dwarf_Die *die, uint64_t *number)
{
	Dwarf_Die child;

	if (!dwarf_first(loader, die, &child))
		return false;
	do {
		Dwarf_Attribute attr;
		Dwarf_Word word;

		if (dwarf_tag(&child) != DW_TAG_template_value_parameter)
			continue;
		if (!dwarf_attr_integrate(&child, DW_AT_const_value, &attr) ||
		    dwarf_formudata(&attr, &word) < 0)
			return false;
		*number = word;
		return true;
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

/* A number, text or struct, as it is. */
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

/* The element's type, and its size in *@bytes; what is only declared has none, but strings are known. */
static bool element_of(struct shaping *s, Dwarf_Die *die, Dwarf_Die *type, uint32_t *bytes)
{
	struct dwarf_type known;

	if (!type_argument(s->loader, die, 0, type))
		return false;
	*bytes = size_of(type);
	if (*bytes == 0 && is_class(type)) {
		dwarf_type_of_die(s->loader, type, &known);
		*bytes = known.kind == DWARF_STD_STRING	   ? 32
			 : known.kind == DWARF_LLVM_STRING ? 24
							   : 0;
	}
	return *bytes > 0;
}

/* Elements one behind the other. */
static bool put_sequence(struct shaping *s, Dwarf_Die *die, const struct layout *layout,
			 uint32_t offset, unsigned nesting)
{
	struct member first;
	struct member second;
	Dwarf_Die element;
	uint32_t bytes;
	uint64_t number = 0;

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

static bool put_text(struct shaping *s, Dwarf_Die *die, const struct layout *layout,
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

static bool put_optional(struct shaping *s, Dwarf_Die *die, const struct layout *layout,
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

/* What cannot be shown by what it points to is a pointer. */
static bool put_pointer(struct shaping *s, Dwarf_Die *die, const struct layout *layout,
			uint32_t offset, unsigned nesting)
{
	struct member pointer;
	Dwarf_Die type;

	if (!find_member(s->loader, die, layout->paths[0], &pointer) || !is_pointer(&pointer.type))
		return false;

	size_t start = s->out.len;
	unsigned nr = s->nr;

	strbuf_addf(&s->out, "q%u:%s;", offset + pointer.offset, layout->name);
	if (type_argument(s->loader, die, 0, &type) && put_type(s, &type, 0, nesting))
		return true;
	s->out.len = start;
	s->nr = nr;
	strbuf_addf(&s->out, "m%u.1:%s;", offset + pointer.offset, layout->name);
	if (!begin_node(s))
		return false;
	strbuf_addstr(&s->out, "p0.8;");
	return true;
}

static bool put_pair(struct shaping *s, Dwarf_Die *die, const struct layout *layout,
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
	unsigned seen; /* bits */
};

/* What stands behind the '<' of "_Head_base<1, int, false>". */
static bool leaf_number(Dwarf_Die *die, const char *name, unsigned *number)
{
	const char *full = dwarf_diename(die);
	size_t len = strlen(name);

	if (!full || strncmp(full, name, len) != 0 || full[len] != '<')
		return false;
	*number = atoi(full + len + 1);
	return true;
}

/* A tuple's elements are base classes that have numbers. */
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

	/* gcc does not say the types of a tuple of three and more. */
	find_leaves(s->loader, die, 0, BASES_MAX, &leaves);
	while (leaves.seen >> nr)
		nr++;
	/* Empty classes are not to be found with all libraries. */
	if (nr == 0 || nr > MEMBERS_MAX || leaves.seen != (1U << nr) - 1)
		return false;
	strbuf_addf(&s->out, "m%u.%u:tuple;", offset, nr);
	for (unsigned i = 0; i < nr; i++) {
		if (!put_type(s, &leaves.all[i].type, leaves.all[i].offset, nesting))
			return false;
	}
	return true;
}

/* All alternatives begin where the union of them does. */
static bool put_variant(struct shaping *s, Dwarf_Die *die, const struct layout *layout,
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

/* What the compiler aligns a value to. */
static uint32_t alignment_of(struct dwarf_loader *loader, Dwarf_Die *die, unsigned depth)
{
	Dwarf_Die type = *die;
	Dwarf_Die child;
	uint32_t most = 1;

	if (depth == 0 || !dwarf_peel(&type))
		return 1;
	if (dwarf_tag(&type) == DW_TAG_array_type)
		return dwarf_type_die(&type, &child) ? alignment_of(loader, &child, depth - 1) : 1;
	if (!is_class(&type)) {
		most = size_of(&type);
		return most ? MIN(most, 16U) : 8;
	}
	/* clang only declares strings, which have pointers in them. */
	if (dwarf_has_flag(&type, DW_AT_declaration))
		return 8;
	if (!dwarf_first(loader, &type, &child))
		return 1;
	do {
		int tag = dwarf_tag(&child);
		Dwarf_Die member;
		Dwarf_Attribute attr;
		Dwarf_Word asked;

		if ((tag != DW_TAG_member && tag != DW_TAG_inheritance) ||
		    dwarf_has_flag(&child, DW_AT_external) || !dwarf_type_die(&child, &member))
			continue;
		if (dwarf_attr_integrate(&child, DW_AT_alignment, &attr) &&
		    dwarf_formudata(&attr, &asked) == 0)
			most = MAX(most, (uint32_t)asked);
		most = MAX(most, alignment_of(loader, &member, depth - 1));
	} while (dwarf_next(loader, &child));
	return most;
}

#define ALIGNMENT_DEPTH 12

/* The first template argument, or with those of a map the first two: what is in a node at @offset. */
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

static bool put_nodes(struct shaping *s, Dwarf_Die *die, const struct layout *layout,
		      uint32_t offset, unsigned nesting)
{
	struct shaping entry = { .loader = s->loader, .nr = s->nr };
	const struct node *node = &layout->node;
	struct member first;
	struct member count;
	uint32_t value;
	bool good;

	if (!find_member(s->loader, die, layout->paths[0], &first) || !is_pointer(&first.type) ||
	    !find_member(s->loader, die, layout->paths[1], &count) || size_of(&count.type) != 8)
		return false;
	good = put_entry(&entry, die, strstr(layout->name, "map"), node->head, nesting, &value);
	s->nr = entry.nr;
	if (good && layout->letter == 'T')
		strbuf_addf(&s->out, "T%u.%u.%u.%u.%u.%u:%s;%s", offset + first.offset,
			    offset + count.offset, node->next, value, node->right, node->parent,
			    layout->name, strbuf_str(&entry.out));
	else if (good)
		strbuf_addf(&s->out, "l%u.%u.%u.%u:%s;%s", offset + first.offset,
			    offset + count.offset, node->next, value, layout->name,
			    strbuf_str(&entry.out));
	strbuf_deinit(&entry.out);
	return good;
}

static bool put_layout(struct shaping *s, Dwarf_Die *die, const struct layout *layout,
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
		return put_pointer(s, die, layout, offset, nesting);
	case 'm':
		return layout->paths[0] ? put_pair(s, die, layout, offset, nesting)
					: put_tuple(s, die, offset, nesting);
	case 'v':
		return put_variant(s, die, layout, offset, nesting);
	case 'l':
	case 'T':
		return put_nodes(s, die, layout, offset, nesting);
	default:
		return put_sequence(s, die, layout, offset, nesting);
	}
}

/* *@is_one: it has the name of a container, whether or not we know what it looks like. */
static bool put_container(struct shaping *s, Dwarf_Die *die, uint32_t offset, unsigned nesting,
			  bool *is_one)
{
	*is_one = false;
	for (size_t i = 0; i < ARRAY_SIZE(layouts); i++) {
		size_t start = s->out.len;
		unsigned nr = s->nr;

		if (!is_template(die, layouts[i].name))
			continue;
		*is_one = true;
		if (put_layout(s, die, &layouts[i], offset, nesting + 1))
			return true;
		s->out.len = start;
		s->nr = nr;
	}
	return false;
}

static bool put_type(struct shaping *s, Dwarf_Die *type, uint32_t offset, unsigned nesting)
{
	bool is_container;

	if (nesting > NESTING_MAX)
		return false;
	if (is_class(type) && !dwarf_has_flag(type, DW_AT_declaration)) {
		if (put_container(s, type, offset, nesting, &is_container))
			return true;
		if (is_container)
			return false;
	}
	return put_scalar(s, type, offset);
}

const char *dwarf_container_shape(struct dwarf_loader *loader, Dwarf_Die *die, const char **key)
{
	struct shaping s = { .loader = loader };
	struct strbuf text cleanup_strbuf = { 0 };
	const char *shape = NULL;
	bool is_container;
	char place[32];

	*key = NULL;
	if (!is_class(die) || dwarf_has_flag(die, DW_AT_declaration) ||
	    loader->nesting >= NESTING_MAX)
		return NULL;
	/* Its key, or "" when it was looked at before and is none. */
	snprintf(place, sizeof(place), "c%llx", (unsigned long long)(uintptr_t)die->addr);

	const char *known = strmap_get(&loader->keys, place);

	if (!known) {
		loader->nesting++;
		if (put_container(&s, die, 0, 0, &is_container) && !strbuf_oom(&s.out)) {
			strbuf_addf(&text, "0 =%s", strbuf_str(&s.out));
			known = dwarf_add_definition(loader, "box", strbuf_str(&text));
		}
		loader->nesting--;
		strbuf_deinit(&s.out);
		known = known ? known : "";

		const char *kept = dwarf_keep_text(loader, place, strlen(place));

		if (!kept || strmap_put(&loader->keys, kept, (void *)known) < 0)
			loader->oom = true;
	}
	if (*known) {
		const char *line = strmap_get(&loader->structs, known);

		shape = line ? strchr(line, '=') : NULL;
		*key = known;
	}
	return shape ? shape + 1 : NULL;
}
