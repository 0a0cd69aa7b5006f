/*
 * Makes the definitions of structs. A definition lists the fields whose values can be shown (see
 * dwarf_type.h).
 */
#include "utils/object/dwarf/dwarf_type.h"

#include <string.h>

#include "utils/base/containers/strbuf.h"
#include "utils/base/containers/vec.h"

#define NESTING_MAX    8
#define SAME_NAMES     1024
#define FIELDS_MAX     64
#define ELEMENTS_MAX   65535
/*
 * The maximum size of a field's name, with its NUL. Fields with longer names are left out. A file
 * may store a long name once for many fields, but the definition of each field has a copy of the
 * name. Without this limit, a small file could make the definitions very large.
 */
#define FIELD_NAME_MAX 1024

/*
 * A definition that is being made.
 *
 * @text: the definition without its key: "BYTES field,field,..."
 * @nr_boxed: the number of boxed fields (put_boxed()). The first @max_boxed of them are in @boxed
 */
struct making {
	struct dwarf_loader *loader;
	struct strbuf text;
	uint32_t bytes;
	unsigned nr;
	unsigned nr_boxed;
	struct dwarf_boxed_field *boxed;
	unsigned max_boxed;
};

/* Write a type in the notation of utils/spec/args/structdef.h. */
static bool put_type(const struct dwarf_type *type, struct strbuf *out)
{
	if (type->is_reference) {
		strbuf_addstr(out, "p8");
		return true;
	}
	switch (type->kind) {
	case DWARF_INT:
		strbuf_addf(out, "%c%u", type->is_signed ? 'i' : 'u', type->bytes);
		break;
	case DWARF_CHAR:
		strbuf_addf(out, "c%u", type->bytes);
		break;
	case DWARF_FLOAT:
		strbuf_addf(out, "f%u", type->bytes);
		break;
	case DWARF_POINTER:
	case DWARF_STRING:
		strbuf_addf(out, "p%u", MIN(type->bytes, 8U));
		break;
	case DWARF_ENUM:
		strbuf_addf(out, "e%u:%s", type->bytes, type->name);
		break;
	case DWARF_STRUCT:
	case DWARF_STD_STRING:
	case DWARF_LLVM_STRING:
		strbuf_addf(out, "t%u", type->bytes);
		if (type->fields)
			strbuf_addf(out, ":%s", type->fields);
		break;
	default:
		return false;
	}
	return true;
}

/*
 * Find the type of a field. The size of a std::string is set here, because DWARF of clang often
 * lacks this size.
 */
static void type_of_field(struct making *m, Dwarf_Die *die, struct dwarf_type *type)
{
	dwarf_type_of(m->loader, die, type);
	if (type->is_reference)
		type->bytes = 8;
	else if (type->kind == DWARF_STD_STRING)
		type->bytes = 32;
	else if (type->kind == DWARF_LLVM_STRING)
		type->bytes = 24;
}

/* Returns the size of the storage unit of a bit-field, in bytes. */
static Dwarf_Word unit_size(Dwarf_Die *member)
{
	Dwarf_Word bytes = 0;
	Dwarf_Die type;

	if (!dwarf_number(member, DW_AT_byte_size, &bytes) && dwarf_type_die(member, &type) &&
	    dwarf_peel(&type))
		bytes = dwarf_byte_size(&type);
	return bytes;
}

/*
 * DWARF 3 and earlier count bits from the top of the storage unit. Later versions count from the
 * start of the struct.
 */
bool dwarf_member_bits(Dwarf_Die *member, uint32_t base, struct dwarf_bits *bits)
{
	uint32_t offset;
	Dwarf_Word width;
	Dwarf_Word at;

	if (!dwarf_number(member, DW_AT_bit_size, &width) || width == 0 || width > 64 ||
	    !dwarf_member_offset(member, &offset))
		return false;
	if (!dwarf_number(member, DW_AT_data_bit_offset, &at)) {
		at = 8ULL * offset;
		Dwarf_Word from_top;

		if (dwarf_number(member, DW_AT_bit_offset, &from_top))
			at += 8 * unit_size(member) - from_top - width;
	}
	at += 8ULL * base;
	bits->offset = at / 8;
	bits->shift = at % 8;
	bits->width = width;
	bits->bytes = (bits->shift + width + 7) / 8;
	return at / 8 <= UINT16_MAX;
}

static void put_name(struct making *m, Dwarf_Die *member, uint32_t offset)
{
	strbuf_addf(&m->text, "%s%s@%u/", m->nr ? "," : "", dwarf_diename(member), offset);
}

static void put_array(struct making *m, Dwarf_Die *member, Dwarf_Die *array, uint32_t offset)
{
	uint32_t nr = dwarf_array_elements(m->loader, array, ELEMENTS_MAX);
	struct dwarf_type element;
	size_t start = m->text.len;

	type_of_field(m, array, &element);
	put_name(m, member, offset);
	if (nr == 0 || (uint64_t)offset + (uint64_t)nr * element.bytes > m->bytes ||
	    !put_type(&element, &m->text)) {
		strbuf_cut(&m->text, start);
		return;
	}
	strbuf_addf(&m->text, "*%u", nr);
	m->nr++;
}

/*
 * Write a boxed field: a container, a string, or a struct with boxed fields. In a recording, the
 * content of a boxed field follows the bytes of the struct. Returns false when the field is not
 * boxed.
 */
static bool put_boxed(struct making *m, Dwarf_Die *member, const struct dwarf_type *type,
		      uint32_t offset)
{
	Dwarf_Die die;

	if (type->is_reference || !dwarf_type_die(member, &die) || !dwarf_peel(&die))
		return false;
	if (type->kind == DWARF_STRUCT && !dwarf_is_container(&die) &&
	    !(type->fields && strmap_get(&m->loader->boxed, type->fields)))
		return false;
	if (type->kind != DWARF_STRUCT && type->kind != DWARF_STD_STRING &&
	    type->kind != DWARF_LLVM_STRING)
		return false;
	strbuf_addf(&m->text, "b%u", type->bytes);
	if (m->nr_boxed < m->max_boxed)
		m->boxed[m->nr_boxed] = (struct dwarf_boxed_field){ die, offset };
	m->nr_boxed++;
	return true;
}

static void put_field(struct making *m, Dwarf_Die *member, uint32_t base, uint32_t offset)
{
	struct dwarf_type type;
	struct dwarf_bits bits;
	size_t start = m->text.len;

	type_of_field(m, member, &type);
	if (dwarf_hasattr_integrate(member, DW_AT_bit_size)) {
		if (!dwarf_member_bits(member, base, &bits) || bits.bytes > 8 ||
		    bits.offset + bits.bytes > m->bytes)
			return;
		put_name(m, member, bits.offset);
		strbuf_addf(&m->text, "%c%u", type.is_signed ? 'i' : 'u', bits.bytes);
		if (type.kind == DWARF_ENUM)
			strbuf_addf(&m->text, ":%s", type.name);
		strbuf_addf(&m->text, ".%u+%u", bits.shift, bits.width);
		m->nr++;
		return;
	}
	put_name(m, member, offset);
	if ((uint64_t)offset + type.bytes > m->bytes ||
	    (!put_boxed(m, member, &type, offset) && !put_type(&type, &m->text)))
		strbuf_cut(&m->text, start);
	else
		m->nr++;
}

static void put_members(struct making *m, Dwarf_Die *die, uint32_t base, unsigned nesting);

static void put_member(struct making *m, Dwarf_Die *member, uint32_t base, unsigned nesting)
{
	uint32_t offset;
	Dwarf_Die type;

	if (!dwarf_member_offset(member, &offset) || !dwarf_type_die(member, &type) ||
	    !dwarf_peel(&type))
		return;
	offset += base;
	/*
	 * The definition of a struct also lists the members of its base classes and of its
	 * anonymous unions.
	 */
	if (dwarf_tag(member) == DW_TAG_inheritance || !dwarf_diename(member))
		put_members(m, &type, offset, nesting + 1);
	else if (dwarf_tag(&type) == DW_TAG_array_type)
		put_array(m, member, &type, offset);
	else
		put_field(m, member, base, offset);
}

static void put_members(struct making *m, Dwarf_Die *die, uint32_t base, unsigned nesting)
{
	Dwarf_Die child;

	if (nesting > NESTING_MAX || !dwarf_first(m->loader, die, &child))
		return;
	do {
		const char *name = dwarf_diename(&child);

		/*
		 * Skip artificial members. The compiler has added these members, for example the
		 * pointer to the table of virtual functions.
		 */
		if (!dwarf_is_part(&child) || dwarf_has_flag(&child, DW_AT_artificial))
			continue;
		if (m->nr < FIELDS_MAX && (!name || strnlen(name, FIELD_NAME_MAX) < FIELD_NAME_MAX))
			put_member(m, &child, base, nesting);
	} while (dwarf_next(m->loader, &child));
}

const char *dwarf_add_definition(struct dwarf_loader *loader, const char *name, const char *text)
{
	struct dwarf_info *info = loader->info;
	struct strbuf key cleanup_strbuf = { 0 };
	struct strbuf line cleanup_strbuf = { 0 };

	strbuf_addstr(&key, name);
	for (unsigned i = 2; i < SAME_NAMES; i++) {
		const char *known = strmap_get(&loader->structs, strbuf_str(&key));

		if (!known)
			break;
		if (strcmp(known + key.len + 1, text) == 0)
			return dwarf_keep_text(loader, strbuf_str(&key), key.len);
		strbuf_reset(&key);
		strbuf_addf(&key, "%s#%u", name, i);
	}
	if (strmap_get(&loader->structs, strbuf_str(&key)))
		return NULL;
	strbuf_addf(&line, "%s %s", strbuf_str(&key), text);

	const char **structs = vec_grow(info->structs, info->nr_structs, sizeof(*structs));
	const char *kept = dwarf_keep_text(loader, strbuf_str(&line), line.len);
	const char *kept_key = dwarf_keep_text(loader, strbuf_str(&key), key.len);

	if (structs)
		info->structs = structs;
	if (!structs || !kept || !kept_key ||
	    strmap_put(&loader->structs, kept_key, (void *)kept) < 0) {
		loader->oom |= !loader->is_too_much;
		return NULL;
	}
	info->structs[info->nr_structs++] = kept;
	return kept_key;
}

static const char *define(struct dwarf_loader *loader, Dwarf_Die *die, const char *name,
			  uint32_t bytes)
{
	struct making m = { .loader = loader, .bytes = bytes };
	const char *key = NULL;

	strbuf_addf(&m.text, "%u ", bytes);
	loader->shapeless++;
	put_members(&m, die, 0, 0);
	loader->shapeless--;
	if (m.nr && !strbuf_oom(&m.text))
		key = dwarf_add_definition(loader, name ? name : "_anon", strbuf_str(&m.text));
	strbuf_deinit(&m.text);
	if (key && m.nr_boxed && strmap_put(&loader->boxed, key, (void *)key) < 0)
		loader->oom = true;
	return key;
}

unsigned dwarf_boxed_fields(struct dwarf_loader *loader, Dwarf_Die *die, uint32_t bytes,
			    struct dwarf_boxed_field *fields, unsigned max)
{
	struct making m = { .loader = loader, .bytes = bytes, .boxed = fields, .max_boxed = max };

	loader->shapeless++;
	put_members(&m, die, 0, 0);
	loader->shapeless--;
	strbuf_deinit(&m.text);
	return m.nr_boxed;
}

const char *dwarf_struct_fields(struct dwarf_loader *loader, Dwarf_Die *die, const char *name,
				uint32_t bytes)
{
	uintptr_t place = (uintptr_t)die->addr;
	const char *key;

	if (loader->nesting >= NESTING_MAX)
		return NULL;
	key = intmap_get(&loader->keys, place);
	if (!key) {
		/*
		 * While a struct is being defined, its key is empty. In a damaged file, a struct
		 * may contain itself. The inner struct gets no fields, because its key is empty.
		 */
		if (intmap_put(&loader->keys, place, (void *)"") < 0) {
			loader->oom = true;
			return NULL;
		}
		loader->nesting++;
		key = define(loader, die, name, bytes);
		loader->nesting--;
		if (key && intmap_put(&loader->keys, place, (void *)key) < 0)
			loader->oom = true;
	}
	return key && *key ? key : NULL;
}
