/* Reads types of arguments and results from debug information; private to this directory. */
#ifndef UTRAIL_OBJECT_DWARF_TYPE_H
#define UTRAIL_OBJECT_DWARF_TYPE_H

#include <dwarf.h>
#include <elfutils/libdw.h>

#include "utils/base/containers/intmap.h"
#include "utils/base/containers/strmap.h"
#include "utils/object/dwarf/dwarf_info.h"

/*
 * @enums: the enums seen so far, by name
 * @structs: the definitions made so far, by key
 * @keys: for each struct: the key of the definition that lists the struct's fields
 * @container_keys: for each container: the key of the definition that contains the container's
 *                  shape (utils/spec/args/shape.h)
 * @box_keys: for each struct that has containers or strings: the key of the definition that
 *            contains the struct's shape
 * @types: for each struct: the struct's type, on the heap
 * @boxed: the keys of the definitions of structs that have containers or strings
 * @skeleton: the skeleton of the current unit; NULL: the current unit is not split
 * @is_gnu_c: gcc has compiled the current unit from C
 * @nesting: the number of definitions that have begun and are not complete
 * @shapeless: while above 0, no shapes are made, because a shape may need an incomplete definition
 * @steps: the number of entries that may still be read
 * @text_bytes: the number of bytes of names that may still be kept
 * @is_too_much: @steps or @text_bytes was used up, and reading has ended
 *
 * @keys, @container_keys, @box_keys and @types are maps. They find a struct or container by its
 * address in the debug information.
 */
struct dwarf_loader {
	struct dwarf_info *info;
	struct strmap enums;
	struct strmap structs;
	struct intmap keys;
	struct intmap container_keys;
	struct intmap box_keys;
	struct intmap types;
	struct strmap boxed;
	Dwarf_Die *skeleton;
	bool is_gnu_c;
	unsigned nesting;
	unsigned shapeless;
	uint64_t base; /* base of the module (elf_file.h) */
	uint64_t steps;
	uint64_t text_bytes;
	bool is_too_much;
	bool oom;
};

/*
 * Go to the first child of @die, or to the next entry after @child. Return false at the end, or
 * when too many entries were read.
 *
 * All code must use these functions, which go only forward and count steps: entries of a damaged
 * file may refer to each other in circles.
 */
bool dwarf_first(struct dwarf_loader *loader, Dwarf_Die *die, Dwarf_Die *child);
bool dwarf_next(struct dwarf_loader *loader, Dwarf_Die *child);

/*
 * Copy the first @len bytes of @text. The copy lives as long as loader->info. Returns NULL on
 * failure, and sets loader->oom or loader->is_too_much.
 */
const char *dwarf_keep_text(struct dwarf_loader *loader, const char *text, size_t len);

/*
 * Returns the key of the definition of @die, a struct, class or union. The definition is made when
 * it is first needed. Returns NULL when no field can be shown, or when memory is short.
 *
 * @name: the name of @die without template arguments, or NULL
 * @bytes: the size of @die
 */
const char *dwarf_struct_fields(struct dwarf_loader *loader, Dwarf_Die *die, const char *name,
				uint32_t bytes);

/*
 * A boxed field: a field that is a container, a string, or a struct with boxed fields. The
 * definition of a struct gives each boxed field the type 'b' (utils/spec/args/structdef.h).
 */
struct dwarf_boxed_field {
	Dwarf_Die type;
	uint32_t offset;
};

/*
 * Find the boxed fields (struct dwarf_boxed_field) of struct @die, in the order of the struct's
 * definition. Store the first @max boxed fields in @fields. Returns the number of all boxed fields.
 * @bytes is the size of the struct.
 */
unsigned dwarf_boxed_fields(struct dwarf_loader *loader, Dwarf_Die *die, uint32_t bytes,
			    struct dwarf_boxed_field *fields, unsigned max);

/* True for a struct, class or union. */
bool dwarf_is_class(Dwarf_Die *die);

/*
 * True when class @die has the name of a container of the C++ library, even if the layout of @die
 * is unknown.
 */
bool dwarf_is_container(Dwarf_Die *die);

/*
 * Returns the shape of a container of the C++ library (utils/spec/args/shape.h), and sets @key to
 * the key of the shape's definition. Returns NULL when @die is not a container, or when the layout
 * of @die is unknown.
 */
const char *dwarf_container_shape(struct dwarf_loader *loader, Dwarf_Die *die, const char **key);

/*
 * Like dwarf_container_shape(), for a struct that has containers or strings in it. @fields: the key
 * of the definition that lists the struct's fields
 */
const char *dwarf_struct_shape(struct dwarf_loader *loader, Dwarf_Die *die, const char *fields,
			       const char **key);

/*
 * Store the definition "KEY @text", unless it is stored already. KEY is @name. If another
 * definition already has this key, KEY is "NAME#2", "NAME#3", and so on. Returns the key, or NULL
 * on failure.
 */
const char *dwarf_add_definition(struct dwarf_loader *loader, const char *name, const char *text);

/*
 * dwarf_type_die(): finds the type in DW_AT_type.
 * dwarf_peel(): removes typedefs and qualifiers from a type. Returns false for void.
 * dwarf_has_flag(): true when the attribute @name is set.
 * dwarf_number(): gets the value of attribute @name. Returns false when there is no number.
 * dwarf_byte_size(): returns DW_AT_byte_size, or 0.
 */
bool dwarf_type_die(Dwarf_Die *die, Dwarf_Die *type);
bool dwarf_peel(Dwarf_Die *die);
bool dwarf_has_flag(Dwarf_Die *die, unsigned name);
bool dwarf_number(Dwarf_Die *die, unsigned name, Dwarf_Word *number);
uint32_t dwarf_byte_size(Dwarf_Die *die);

/*
 * dwarf_encoding(): returns DW_AT_encoding of a base type, or 0.
 * dwarf_is_float(): true for the encoding of a floating point number.
 * dwarf_is_x87(): true for an x87 number, or a pair of them.
 */
unsigned dwarf_encoding(Dwarf_Die *die);
bool dwarf_is_float(unsigned encoding);
bool dwarf_is_x87(Dwarf_Die *die);

/*
 * Find the argument classes (INTEGER, SSE, ...) of type @die: one class for each of the first two
 * words of 8 bytes (psABI x86_64, 3.2.3). The caller first sets @classes to DWARF_CLASS_NONE.
 * For a struct, the caller then calls dwarf_settle_classes(), which applies those rules that depend
 * on both classes ("post merger cleanup").
 */
void dwarf_classify(struct dwarf_loader *loader, Dwarf_Die *die, uint8_t classes[2]);
void dwarf_settle_classes(uint8_t classes[2]);

/*
 * Returns the number of elements of an array, in all dimensions; 0 when it is unknown, or above
 * @max.
 */
uint32_t dwarf_array_elements(struct dwarf_loader *loader, Dwarf_Die *array, uint32_t max);

/*
 * The place of a bit-field in a struct. The bit-field is in @bytes bytes at @offset. The
 * bit-field has @width bits, and begins at bit @shift of these bytes, counted from the lowest bit.
 *
 * dwarf_member_bits() stores the place of @member in @bits. Returns false when @member is no
 * bit-field, or when the place of @member is unknown.
 *
 * @base: the offset of the struct of @member in a larger struct, or 0 if there is no larger struct.
 *        The stored place is relative to the larger struct
 */
struct dwarf_bits {
	uint32_t offset;
	uint32_t bytes;
	uint32_t shift;
	uint32_t width;
};
bool dwarf_member_bits(Dwarf_Die *member, uint32_t base, struct dwarf_bits *bits);

/*
 * Returns the name with which a source file is displayed. If the file is below the directory in
 * which the compiler ran, the name is relative to this directory.
 *
 * @unit: the compilation unit that names the directory; NULL: the directory is unknown
 */
const char *dwarf_shown_file(Dwarf_Die *unit, const char *file);

/*
 * True for members and base classes that are part of an object, but not for static members and
 * functions.
 */
bool dwarf_is_part(Dwarf_Die *child);

/*
 * Find the offset of a member or base class in the struct that contains @member. Returns false when
 * the offset is not constant (a virtual base).
 */
bool dwarf_member_offset(Dwarf_Die *member, uint32_t *offset);

/*
 * dwarf_type_of(): makes the type in DW_AT_type of @die, or DWARF_VOID.
 * dwarf_type_of_die(): makes the type of @type_die, which has no typedefs or qualifiers.
 */
void dwarf_type_of_die(struct dwarf_loader *loader, Dwarf_Die *type_die, struct dwarf_type *type);
void dwarf_type_of(struct dwarf_loader *loader, Dwarf_Die *die, struct dwarf_type *type);

/*
 * True for an array that fits into one register of the processor: __m128, or a type with
 * vector_size.
 */
bool dwarf_is_vector(Dwarf_Die *die);

/* Returns the size of a vector, computed from its elements. */
uint32_t dwarf_vector_bytes(struct dwarf_loader *loader, Dwarf_Die *die);

/* True for a vector, and for a struct that contains only a vector. */
bool dwarf_is_one_vector(struct dwarf_loader *loader, Dwarf_Die *die);

/* Returns the alignment of a type in bytes, at most 64; 1 when it is unknown. */
uint32_t dwarf_alignment(struct dwarf_loader *loader, Dwarf_Die *die);

#endif
