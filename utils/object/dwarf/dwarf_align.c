/*
 * Finds the alignment of types, and the types that fill one vector register. The place of an
 * argument in a call depends on these facts (see dwarf_type.h).
 */
#include "utils/object/dwarf/dwarf_type.h"

#include <dwarf.h>

#include "utils/base/compiler.h"

#define NESTING_MAX   16
#define ALIGNMENT_MAX 64

static uint32_t number_of(Dwarf_Die *die, unsigned name)
{
	Dwarf_Word word;

	return dwarf_number(die, name, &word) ? MIN(word, (Dwarf_Word)ALIGNMENT_MAX) : 0;
}

bool dwarf_is_vector(Dwarf_Die *die)
{
	return dwarf_tag(die) == DW_TAG_array_type && dwarf_has_flag(die, DW_AT_GNU_vector);
}

uint32_t dwarf_vector_bytes(struct dwarf_loader *loader, Dwarf_Die *die)
{
	uint32_t nr = dwarf_array_elements(loader, die, ALIGNMENT_MAX);
	Dwarf_Die element;

	if (!dwarf_type_die(die, &element) || !dwarf_peel(&element))
		return 0;
	return nr * MIN(dwarf_byte_size(&element), (uint32_t)ALIGNMENT_MAX);
}

static uint32_t alignment(struct dwarf_loader *loader, Dwarf_Die *die, int nesting);

static uint32_t alignment_of_parts(struct dwarf_loader *loader, Dwarf_Die *die, int nesting)
{
	uint32_t most = 1;
	Dwarf_Die child;

	if (!dwarf_first(loader, die, &child))
		return 1;
	do {
		Dwarf_Die type;
		uint32_t offset;

		if (!dwarf_is_part(&child) || !dwarf_member_offset(&child, &offset) ||
		    !dwarf_type_die(&child, &type))
			continue;

		uint32_t own = MAX(alignment(loader, &type, nesting + 1),
				   number_of(&child, DW_AT_alignment));

		/*
		 * If the member's offset is no multiple of the member's alignment, the struct is
		 * packed. Then the member does not affect the alignment of the struct.
		 */
		if (own && offset % own == 0)
			most = MAX(most, own);
	} while (dwarf_next(loader, &child));
	return most;
}

static uint32_t alignment(struct dwarf_loader *loader, Dwarf_Die *die, int nesting)
{
	Dwarf_Die type = *die;
	Dwarf_Die element;
	uint32_t said = number_of(&type, DW_AT_alignment);

	if (nesting > NESTING_MAX || !dwarf_peel(&type))
		return 1;
	said = MAX(said, number_of(&type, DW_AT_alignment));

	uint32_t bytes = dwarf_byte_size(&type);
	uint32_t own = MIN(bytes, (uint32_t)ALIGNMENT_MAX);

	if (dwarf_is_class(&type)) {
		own = alignment_of_parts(loader, &type, nesting);
		/*
		 * If the struct's size is no multiple of the largest alignment of a member, the
		 * struct is packed. A packed struct may begin at any address.
		 */
		if (bytes % own)
			own = 1;
	} else if (dwarf_is_vector(&type)) {
		own = MIN(dwarf_vector_bytes(loader, &type), (uint32_t)ALIGNMENT_MAX);
	} else if (dwarf_tag(&type) == DW_TAG_array_type) {
		own = dwarf_type_die(&type, &element) ? alignment(loader, &element, nesting + 1)
						      : 1;
	} else if (dwarf_tag(&type) == DW_TAG_base_type &&
		   number_of(&type, DW_AT_encoding) == DW_ATE_complex_float) {
		own = MIN(bytes / 2, (uint32_t)ALIGNMENT_MAX);
	}
	return MAX(own, said);
}

uint32_t dwarf_alignment(struct dwarf_loader *loader, Dwarf_Die *die)
{
	return alignment(loader, die, 0);
}

/*
 * Set @part to the type of the only member or base class of a struct. Returns false when the number
 * of members and base classes is not 1, or when the type is unknown.
 */
static bool find_only_part(struct dwarf_loader *loader, Dwarf_Die *die, Dwarf_Die *part)
{
	unsigned nr = 0;
	Dwarf_Die child;

	if (!dwarf_first(loader, die, &child))
		return false;
	do {
		if (dwarf_is_part(&child) && ++nr == 1 && !dwarf_type_die(&child, part))
			return false;
	} while (dwarf_next(loader, &child));
	return nr == 1;
}

bool dwarf_is_one_vector(struct dwarf_loader *loader, Dwarf_Die *die)
{
	Dwarf_Die at = *die;

	for (int nesting = 0; nesting < NESTING_MAX && dwarf_peel(&at); nesting++) {
		Dwarf_Die inner;

		if (dwarf_is_vector(&at))
			return true;
		if (dwarf_tag(&at) == DW_TAG_array_type) {
			if (dwarf_array_elements(loader, &at, 1) != 1 ||
			    !dwarf_type_die(&at, &inner))
				return false;
		} else if (!dwarf_is_class(&at) || !find_only_part(loader, &at, &inner)) {
			return false;
		}
		at = inner;
	}
	return false;
}
