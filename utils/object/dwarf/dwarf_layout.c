/* A table with the layouts of the containers of libstdc++ and libc++ (see dwarf_layout.h). */
#include "utils/object/dwarf/dwarf_layout.h"

#include <string.h>

#include "utils/base/compiler.h"
#include "utils/object/dwarf/dwarf_type.h"

/* clang-format off */
/*
 * The members of containers, and the layout of their nodes. Set, map, multiset and multimap share
 * one definition. The four unordered containers share another one. For libc++, each of the two
 * definitions has two forms, for two versions of libc++ (LLVM_TREE_PAIR, LLVM_TREE).
 */
#define GNU_TREE { "_M_t._M_impl._M_header._M_left", "_M_t._M_impl._M_node_count" }, { 16, 24, 8, 32 }
#define GNU_HASH { "_M_h._M_before_begin._M_nxt", "_M_h._M_element_count" }, { 0, 0, 0, 8 }
#define LLVM_TREE_PAIR { "__tree_.__begin_node_", "__tree_.__pair3_.__value_" }, { 0, 8, 16, 25 }
#define LLVM_TREE { "__tree_.__begin_node_", "__tree_.__size_" }, { 0, 8, 16, 25 }
#define LLVM_HASH_PAIR { "__table_.__p1_.__value_.__next_", "__table_.__p2_.__value_" }, { 0, 0, 0, 16 }
#define LLVM_HASH { "__table_.__first_node_.__next_", "__table_.__size_" }, { 0, 0, 0, 16 }
/* clang-format on */

static const struct dwarf_layout layouts[] = {
	/* containers of libstdc++ */
	{ "vector", 'r', { "_M_impl._M_start", "_M_impl._M_finish" } },
	{ "vector", 'b', { "_M_impl._M_start._M_p", "_M_impl._M_finish._M_p" } },
	{ "deque", 'd', { "_M_impl._M_start", "_M_impl._M_finish", "_M_impl._M_finish._M_node" } },
	{ "forward_list", 'L', { "_M_impl._M_head._M_next" }, { 0, 0, 0, 8 } },
	{ "basic_string_view", 'w', { "_M_str", "_M_len" } },
	{ "optional", 'o', { "_M_payload._M_engaged", "_M_payload._M_payload._M_value" } },
	{ "unique_ptr", 'q', { "_M_t._M_t._M_head_impl" } },
	{ "shared_ptr", 'q', { "_M_ptr" } },
	{ "weak_ptr", 'Q', { "_M_ptr", "_M_refcount._M_pi" }, .owners = { 8, 4, 0 } },
	{ "span", 'n', { "_M_ptr", "_M_extent._M_extent_value" } },
	{ "span", 'k', { "_M_ptr" } },
	{ "initializer_list", 'n', { "_M_array", "_M_len" } },
	{ "array", 'a', { "_M_elems" } },
	{ "pair", 'm', { "first", "second" } },
	{ "tuple", 'm', { NULL } },
	{ "variant", 'v', { "_M_index", "_M_u" } },
	{ "map", 'T', GNU_TREE },
	{ "set", 'T', GNU_TREE },
	{ "multimap", 'T', GNU_TREE },
	{ "multiset", 'T', GNU_TREE },
	{ "unordered_map", 'l', GNU_HASH },
	{ "unordered_set", 'l', GNU_HASH },
	{ "unordered_multimap", 'l', GNU_HASH },
	{ "unordered_multiset", 'l', GNU_HASH },
	{ "list", 'l', { "_M_impl._M_node._M_next", "_M_impl._M_node._M_size" }, { 0, 0, 0, 16 } },
	/* containers of libc++ */
	{ "vector", 'r', { "__begin_", "__end_" } },
	{ "vector", 'B', { "__begin_", "__size_" } },
	{ "deque", 'D', { "__map_.__begin_", "__start_", "__size_.__value_" } },
	{ "deque", 'D', { "__map_.__begin_", "__start_", "__size_" } },
	{ "forward_list", 'L', { "__before_begin_.__value_.__next_" }, { 0, 0, 0, 8 } },
	{ "forward_list", 'L', { "__before_begin_.__next_" }, { 0, 0, 0, 8 } },
	{ "basic_string_view", 'w', { "__data_", "__size_" } },
	{ "basic_string_view", 'w', { "__data", "__size" } },
	{ "optional", 'o', { "__engaged_", "__val_" } },
	{ "unique_ptr", 'q', { "__ptr_.__value_" } },
	{ "unique_ptr", 'q', { "__ptr_" } },
	{ "shared_ptr", 'q', { "__ptr_" } },
	{ "weak_ptr", 'Q', { "__ptr_", "__cntrl_" }, .owners = { 8, 8, 1 } },
	{ "span", 'n', { "__data_", "__size_" } },
	{ "span", 'n', { "__data", "__size" } },
	{ "span", 'k', { "__data_" } },
	{ "span", 'k', { "__data" } },
	{ "initializer_list", 'n', { "__begin_", "__size_" } },
	{ "array", 'a', { "__elems_" } },
	{ "variant", 'v', { "__impl_.__index", "__impl_.__data" } },
	{ "variant", 'v', { "__impl.__index", "__impl.__data" } },
	{ "map", 'T', LLVM_TREE_PAIR },
	{ "map", 'T', LLVM_TREE },
	{ "set", 'T', LLVM_TREE_PAIR },
	{ "set", 'T', LLVM_TREE },
	{ "multimap", 'T', LLVM_TREE_PAIR },
	{ "multimap", 'T', LLVM_TREE },
	{ "multiset", 'T', LLVM_TREE_PAIR },
	{ "multiset", 'T', LLVM_TREE },
	{ "unordered_map", 'l', LLVM_HASH_PAIR },
	{ "unordered_map", 'l', LLVM_HASH },
	{ "unordered_set", 'l', LLVM_HASH_PAIR },
	{ "unordered_set", 'l', LLVM_HASH },
	{ "unordered_multimap", 'l', LLVM_HASH_PAIR },
	{ "unordered_multimap", 'l', LLVM_HASH },
	{ "unordered_multiset", 'l', LLVM_HASH_PAIR },
	{ "unordered_multiset", 'l', LLVM_HASH },
	{ "list", 'l', { "__end_.__next_", "__size_alloc_.__value_" }, { 8, 0, 0, 16 } },
	{ "list", 'l', { "__end_.__next_", "__size_" }, { 8, 0, 0, 16 } },
};

bool dwarf_is_class(Dwarf_Die *die)
{
	int tag = dwarf_tag(die);

	return tag == DW_TAG_structure_type || tag == DW_TAG_class_type || tag == DW_TAG_union_type;
}

/* True when the name of @die is @name, with or without template arguments. */
static bool is_template(Dwarf_Die *die, const char *name)
{
	const char *full = dwarf_diename(die);
	size_t len = strlen(name);

	return full && strncmp(full, name, len) == 0 && (full[len] == '<' || !full[len]);
}

const struct dwarf_layout *dwarf_layout_next(const struct dwarf_layout *layout, Dwarf_Die *die)
{
	for (layout = layout ? layout + 1 : layouts; layout < layouts + ARRAY_SIZE(layouts);
	     layout++) {
		if (is_template(die, layout->name))
			return layout;
	}
	return NULL;
}

bool dwarf_is_container(Dwarf_Die *die)
{
	return dwarf_is_class(die) && dwarf_layout_next(NULL, die);
}
