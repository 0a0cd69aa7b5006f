/*
 * The classes of the first 16 bytes of a type. The classes tell how values of the type are passed
 * (psABI, see dwarf_type.h).
 */
#include "utils/object/dwarf/dwarf_type.h"

#define NESTING_MAX 64
#define EIGHTBYTE   8U

/* Merge the classes of two parts of one eightbyte (psABI 3.2.3, rules for merging). */
static enum dwarf_class join_classes(enum dwarf_class a, enum dwarf_class b)
{
	if (a == b || b == DWARF_CLASS_NONE)
		return a;
	if (a == DWARF_CLASS_NONE)
		return b;
	if (MAX(a, b) == DWARF_CLASS_MEMORY)
		return DWARF_CLASS_MEMORY;
	if (MIN(a, b) == DWARF_CLASS_INT)
		return DWARF_CLASS_INT;
	return MAX(a, b) >= DWARF_CLASS_X87 ? DWARF_CLASS_MEMORY : DWARF_CLASS_SSE;
}

/*
 * Merge the classes of a value into @classes. The value is a part of a struct, and @classes has the
 * classes of the struct's first two eightbytes.
 *
 * @offset, @bytes: the position of the value in the struct, and the size of the value
 * @class: the class of the value's first eightbyte
 * @rest: the class of the value's other eightbytes
 */
static void note_wide(uint8_t classes[2], uint32_t offset, uint32_t bytes, enum dwarf_class class,
		      enum dwarf_class rest)
{
	uint64_t end = bytes ? (uint64_t)offset + bytes : 0;
	uint32_t first = offset / EIGHTBYTE;

	for (uint32_t at = first; at < 2 && (uint64_t)at * EIGHTBYTE < end; at++)
		classes[at] = join_classes(classes[at], at == first ? class : rest);
}

static void note_class(uint8_t classes[2], uint32_t offset, uint32_t bytes, enum dwarf_class class)
{
	note_wide(classes, offset, bytes, class, class);
}

/* A value is either in memory as a whole or not at all (psABI 3.2.3, "post merger cleanup"). */
void dwarf_settle_classes(uint8_t classes[2])
{
	bool is_lone_up = classes[1] == DWARF_CLASS_X87_UP && classes[0] != DWARF_CLASS_X87;

	if (classes[1] == DWARF_CLASS_MEMORY || is_lone_up)
		classes[0] = DWARF_CLASS_MEMORY;
	if (classes[1] == DWARF_CLASS_SSE_UP && classes[0] != DWARF_CLASS_SSE)
		classes[1] = DWARF_CLASS_SSE;
}

static void classify(struct dwarf_loader *loader, Dwarf_Die *die, uint32_t offset,
		     uint8_t classes[2], int nesting);

static void classify_members(struct dwarf_loader *loader, Dwarf_Die *die, uint32_t offset,
			     uint8_t classes[2], int nesting)
{
	Dwarf_Die child;

	if (!dwarf_first(loader, die, &child))
		return;
	do {
		uint32_t at;
		Dwarf_Die type;
		struct dwarf_bits bits;

		if (!dwarf_is_part(&child))
			continue;
		/* A bit-field without a name is padding (psABI 3.2.3). */
		if (dwarf_hasattr_integrate(&child, DW_AT_bit_size) && !dwarf_diename(&child))
			continue;
		if (dwarf_member_bits(&child, offset, &bits)) {
			note_class(classes, bits.offset, bits.bytes, DWARF_CLASS_INT);
			continue;
		}
		if (!dwarf_member_offset(&child, &at)) {
			classes[0] = DWARF_CLASS_MEMORY;
			return;
		}
		if (dwarf_type_die(&child, &type))
			classify(loader, &type, offset + at, classes, nesting + 1);
	} while (dwarf_next(loader, &child));
}

/*
 * True when the array has no bound. Such an array can only be the last member of a struct (a
 * flexible array member).
 */
static bool is_flexible(struct dwarf_loader *loader, Dwarf_Die *array)
{
	Dwarf_Die range;

	if (!dwarf_first(loader, array, &range))
		return false;
	while (dwarf_tag(&range) != DW_TAG_subrange_type) {
		if (!dwarf_next(loader, &range))
			return false;
	}
	return !dwarf_hasattr_integrate(&range, DW_AT_count) &&
	       !dwarf_hasattr_integrate(&range, DW_AT_upper_bound);
}

/*
 * Classify the elements of an array. An array of more than 16 elements gets no classes, because the
 * array is larger than the 16 bytes that @classes describes.
 */
static void classify_array(struct dwarf_loader *loader, Dwarf_Die *die, uint32_t offset,
			   uint8_t classes[2], int nesting)
{
	Dwarf_Die element;
	uint32_t nr = dwarf_array_elements(loader, die, 16);

	if (!dwarf_type_die(die, &element) || !dwarf_peel(&element))
		return;
	for (uint32_t i = 0; i < nr; i++)
		classify(loader, &element, offset + i * dwarf_byte_size(&element), classes,
			 nesting + 1);
}

/*
 * Merge the classes of a member into @classes (psABI 3.2.3). @offset: where the member begins in
 * the passed struct
 */
static void classify(struct dwarf_loader *loader, Dwarf_Die *die, uint32_t offset,
		     uint8_t classes[2], int nesting)
{
	Dwarf_Die type = *die;

	if (nesting > NESTING_MAX || !dwarf_peel(&type))
		return;
	/*
	 * If a struct has a flexible array member, clang passes the struct in memory. gcc uses
	 * memory in C++, but registers in C. The psABI has no rule for such structs.
	 */
	if (dwarf_tag(&type) == DW_TAG_array_type && !loader->is_gnu_c &&
	    is_flexible(loader, &type)) {
		classes[0] = DWARF_CLASS_MEMORY;
		return;
	}
	if (offset >= 2 * EIGHTBYTE)
		return;

	uint32_t bytes = dwarf_byte_size(&type);

	switch (dwarf_tag(&type)) {
	case DW_TAG_structure_type:
	case DW_TAG_class_type:
	case DW_TAG_union_type:
		classify_members(loader, &type, offset, classes, nesting);
		return;
	case DW_TAG_array_type:
		if (dwarf_is_vector(&type))
			note_wide(classes, offset, dwarf_vector_bytes(loader, &type),
				  DWARF_CLASS_SSE, DWARF_CLASS_SSE_UP);
		else
			classify_array(loader, &type, offset, classes, nesting);
		return;
	case DW_TAG_base_type:
		/* A packed struct that contains an unaligned number is passed in memory. */
		if (bytes && bytes <= EIGHTBYTE && offset % bytes)
			classes[0] = DWARF_CLASS_MEMORY;
		else if (dwarf_is_x87(&type))
			note_wide(classes, offset, bytes, DWARF_CLASS_X87, DWARF_CLASS_X87_UP);
		else if (dwarf_is_float(dwarf_encoding(&type)))
			note_wide(classes, offset, bytes, DWARF_CLASS_SSE, DWARF_CLASS_SSE_UP);
		else if (dwarf_encoding(&type) == DW_ATE_complex_float)
			note_class(classes, offset, bytes, DWARF_CLASS_SSE);
		else
			note_class(classes, offset, bytes, DWARF_CLASS_INT);
		return;
	default:
		note_class(classes, offset, bytes ? bytes : EIGHTBYTE, DWARF_CLASS_INT);
		return;
	}
}

void dwarf_classify(struct dwarf_loader *loader, Dwarf_Die *die, uint8_t classes[2])
{
	classify(loader, die, 0, classes, 0);
}
