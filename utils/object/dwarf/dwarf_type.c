/* Reads types from debug information (see dwarf_type.h). */
#include "utils/object/dwarf/dwarf_type.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "utils/base/containers/strbuf.h"
#include "utils/base/containers/vec.h"

/* In a damaged file, a type may contain itself. */
#define NESTING_MAX 64

#define EIGHTBYTE 8U

/*
 * The loader may take a limited number of steps. Going to an entry is one step. On the way to the
 * next sibling, each BYTES_PER_STEP bytes are one more step.
 */
#define BYTES_PER_STEP 16
/* The maximum length of an enum's definition, in bytes. Definitions are normally far shorter. */
#define ENUM_MAX       (4U << 20)

static bool spend(struct dwarf_loader *loader, uint64_t steps)
{
	if (loader->steps <= steps) {
		loader->is_too_much = true;
		loader->steps = 0;
		return false;
	}
	loader->steps -= steps;
	return true;
}

bool dwarf_first(struct dwarf_loader *loader, Dwarf_Die *die, Dwarf_Die *child)
{
	return spend(loader, 1) && dwarf_child(die, child) == 0;
}

bool dwarf_next(struct dwarf_loader *loader, Dwarf_Die *child)
{
	Dwarf_Die next;

	/* DW_AT_sibling may lead anywhere: only go forward. */
	if (!spend(loader, 1) || dwarf_siblingof(child, &next) != 0 ||
	    (uintptr_t)next.addr <= (uintptr_t)child->addr ||
	    !spend(loader, ((uintptr_t)next.addr - (uintptr_t)child->addr) / BYTES_PER_STEP))
		return false;
	*child = next;
	return true;
}

bool dwarf_type_die(Dwarf_Die *die, Dwarf_Die *type)
{
	Dwarf_Attribute attr;

	return dwarf_attr_integrate(die, DW_AT_type, &attr) && dwarf_formref_die(&attr, type);
}

bool dwarf_peel(Dwarf_Die *die)
{
	for (int i = 0; i < NESTING_MAX; i++) {
		Dwarf_Die inner;

		switch (dwarf_tag(die)) {
		case DW_TAG_typedef:
		case DW_TAG_const_type:
		case DW_TAG_volatile_type:
		case DW_TAG_restrict_type:
		case DW_TAG_atomic_type:
			if (!dwarf_type_die(die, &inner))
				return false;
			*die = inner;
			break;
		default:
			return true;
		}
	}
	return false;
}

bool dwarf_number(Dwarf_Die *die, unsigned name, Dwarf_Word *number)
{
	Dwarf_Attribute attr;

	return dwarf_attr_integrate(die, name, &attr) && dwarf_formudata(&attr, number) == 0;
}

const char *dwarf_shown_file(Dwarf_Die *unit, const char *file)
{
	Dwarf_Attribute attr;
	const char *dir = unit && dwarf_attr(unit, DW_AT_comp_dir, &attr) ? dwarf_formstring(&attr)
									  : NULL;
	size_t len = dir ? strlen(dir) : 0;

	if (len && strncmp(file, dir, len) == 0 && file[len] == '/')
		file += len + 1;
	return strncmp(file, "./", 2) == 0 ? file + 2 : file;
}

bool dwarf_is_part(Dwarf_Die *child)
{
	int tag = dwarf_tag(child);

	return (tag == DW_TAG_member || tag == DW_TAG_inheritance) &&
	       !dwarf_has_flag(child, DW_AT_external) && !dwarf_has_flag(child, DW_AT_declaration);
}

uint32_t dwarf_byte_size(Dwarf_Die *die)
{
	Dwarf_Word size;

	return dwarf_number(die, DW_AT_byte_size, &size) && size <= UINT32_MAX ? size : 0;
}

unsigned dwarf_encoding(Dwarf_Die *die)
{
	Dwarf_Word encoding;

	return dwarf_number(die, DW_AT_encoding, &encoding) ? encoding : 0;
}

bool dwarf_has_flag(Dwarf_Die *die, unsigned name)
{
	Dwarf_Attribute attr;
	bool flag;

	return dwarf_attr_integrate(die, name, &attr) && dwarf_formflag(&attr, &flag) == 0 && flag;
}

/* True for plain char. Other types of one byte are numbers, not characters. */
static bool is_char(Dwarf_Die *die)
{
	const char *name = dwarf_diename(die);

	return dwarf_tag(die) == DW_TAG_base_type && dwarf_byte_size(die) == 1 && name &&
	       strcmp(name, "char") == 0;
}

bool dwarf_is_float(unsigned encoding)
{
	return encoding == DW_ATE_float || encoding == DW_ATE_imaginary_float;
}

/*
 * The type is recognised by its name. Its size is not enough: a long double of x87 takes 16 bytes
 * in memory (12 on i386), and a float of 128 bits takes 16 bytes, too.
 */
bool dwarf_is_x87(Dwarf_Die *die)
{
	const char *name = dwarf_diename(die);

	if (dwarf_byte_size(die) <= 8 || !name)
		return false;
	/* clang uses the name "complex" for all complex floating-point types. */
	return strstr(name, "long double") ||
	       (strcmp(name, "complex") == 0 && dwarf_byte_size(die) == 4 * EIGHTBYTE);
}

bool dwarf_member_offset(Dwarf_Die *member, uint32_t *offset)
{
	Dwarf_Attribute attr;
	Dwarf_Word word;

	*offset = 0;
	if (dwarf_attr_integrate(member, DW_AT_data_member_location, &attr)) {
		/*
		 * The call fails for a virtual base, whose offset is computed at run time. A class
		 * with a virtual base is never passed by value.
		 */
		if (dwarf_formudata(&attr, &word) < 0)
			return false;
	} else if (dwarf_attr_integrate(member, DW_AT_data_bit_offset, &attr)) {
		if (dwarf_formudata(&attr, &word) < 0)
			return false;
		word /= 8;
	} else {
		return true;
	}
	*offset = word > UINT32_MAX / 2 ? UINT32_MAX / 2 : word;
	return true;
}

uint32_t dwarf_array_elements(struct dwarf_loader *loader, Dwarf_Die *array, uint32_t max)
{
	Dwarf_Die child;
	uint64_t total = 1;

	if (!dwarf_first(loader, array, &child))
		return 0;
	do {
		Dwarf_Attribute attr;
		Dwarf_Word word;
		bool is_count = dwarf_attr_integrate(&child, DW_AT_count, &attr) != NULL;

		if (dwarf_tag(&child) != DW_TAG_subrange_type)
			continue;
		if (!is_count && !dwarf_attr_integrate(&child, DW_AT_upper_bound, &attr))
			return 0;
		if (dwarf_formudata(&attr, &word) < 0 || word > max)
			return 0;
		total *= is_count ? word : word + 1;
		if (total > max)
			return 0;
	} while (dwarf_next(loader, &child));
	return total;
}

static bool is_reference_to(Dwarf_Die *type, const char *class_name)
{
	Dwarf_Die at;
	int tag = dwarf_tag(type);
	const char *name;

	if ((tag != DW_TAG_reference_type && tag != DW_TAG_rvalue_reference_type) ||
	    !dwarf_type_die(type, &at) || !dwarf_peel(&at))
		return false;
	name = dwarf_diename(&at);
	return name && strcmp(name, class_name) == 0;
}

/*
 * True for a non-trivial destructor, and for a non-trivial copy or move constructor (Itanium C++
 * ABI, "non-trivial for the purposes of calls").
 */
static bool is_special_function(struct dwarf_loader *loader, Dwarf_Die *func,
				const char *class_name)
{
	const char *name = dwarf_diename(func);
	Dwarf_Word word;

	if (!name || dwarf_tag(func) != DW_TAG_subprogram || dwarf_has_flag(func, DW_AT_artificial))
		return false;
	if (dwarf_number(func, DW_AT_defaulted, &word) && word == DW_DEFAULTED_in_class)
		return false;
	if (name[0] == '~')
		return true;
	if (!class_name || strncmp(name, class_name, strcspn(class_name, "<")) != 0)
		return false;

	/*
	 * A copy or move constructor has two parameters: "this", and a reference to the class of
	 * the constructor.
	 */
	Dwarf_Die param;
	int nr = 0;
	bool is_copy = false;

	if (!dwarf_first(loader, func, &param))
		return false;
	do {
		Dwarf_Die type;

		if (dwarf_tag(&param) != DW_TAG_formal_parameter)
			continue;
		nr++;
		is_copy = dwarf_type_die(&param, &type) && is_reference_to(&type, class_name);
	} while (dwarf_next(loader, &param));
	return nr == 2 && is_copy;
}

static bool is_non_trivial(struct dwarf_loader *loader, Dwarf_Die *die, int nesting)
{
	Dwarf_Word word;
	Dwarf_Die child;

	/* In DWARF 5 the compiler may tell how the class is passed. */
	if (dwarf_number(die, DW_AT_calling_convention, &word)) {
		if (word == DW_CC_pass_by_reference)
			return true;
		if (word == DW_CC_pass_by_value)
			return false;
	}
	if (nesting > NESTING_MAX || !dwarf_first(loader, die, &child))
		return false;
	do {
		Dwarf_Die type;
		int tag = dwarf_tag(&child);

		if (dwarf_number(&child, DW_AT_virtuality, &word) && word != DW_VIRTUALITY_none)
			return true;
		if (is_special_function(loader, &child, dwarf_diename(die)))
			return true;
		if ((tag == DW_TAG_member || tag == DW_TAG_inheritance) &&
		    !dwarf_has_flag(&child, DW_AT_external) && dwarf_type_die(&child, &type) &&
		    dwarf_peel(&type) &&
		    (dwarf_tag(&type) == DW_TAG_structure_type ||
		     dwarf_tag(&type) == DW_TAG_class_type) &&
		    is_non_trivial(loader, &type, nesting + 1))
			return true;
	} while (dwarf_next(loader, &child));
	return false;
}

static bool has_member(struct dwarf_loader *loader, Dwarf_Die *die, const char *name)
{
	Dwarf_Die child;

	if (!dwarf_first(loader, die, &child))
		return false;
	do {
		const char *found = dwarf_tag(&child) == DW_TAG_member ? dwarf_diename(&child)
								       : NULL;

		if (found && strcmp(found, name) == 0)
			return true;
	} while (dwarf_next(loader, &child));
	return false;
}

/*
 * True when @die is in namespace @wanted. The search goes from the unit down to @die: among the
 * children of an entry, the last child that starts before @die contains @die.
 */
static bool is_in_namespace(struct dwarf_loader *loader, Dwarf_Die *die, const char *wanted)
{
	Dwarf_Die at;

	if (!dwarf_diecu(die, &at, NULL, NULL))
		return false;
	while ((uintptr_t)at.addr < (uintptr_t)die->addr) {
		const char *name = dwarf_tag(&at) == DW_TAG_namespace ? dwarf_diename(&at) : NULL;
		Dwarf_Die child;

		if (name && strcmp(name, wanted) == 0)
			return true;
		if (!dwarf_first(loader, &at, &child))
			return false;
		do {
			at = child;
		} while (dwarf_next(loader, &child) &&
			 (uintptr_t)child.addr <= (uintptr_t)die->addr);
	}
	return false;
}

/*
 * Find the kind of a class. A string class with members is recognised by the members that
 * libmcount/values/capture.c reads. clang emits only a declaration of a string class. Such a class
 * is recognised by its namespace.
 */
static enum dwarf_kind kind_of_class(struct dwarf_loader *loader, Dwarf_Die *die)
{
	const char *name = dwarf_diename(die);

	if (!name || strncmp(name, "basic_string<char,", 18) != 0)
		return dwarf_has_flag(die, DW_AT_declaration) ? DWARF_UNKNOWN : DWARF_STRUCT;
	if (dwarf_has_flag(die, DW_AT_declaration))
		return is_in_namespace(loader, die, "__cxx11") ? DWARF_STD_STRING
		       : is_in_namespace(loader, die, "__1")   ? DWARF_LLVM_STRING
							       : DWARF_UNKNOWN;
	if (dwarf_byte_size(die) == 32 && has_member(loader, die, "_M_dataplus"))
		return DWARF_STD_STRING;
	if (dwarf_byte_size(die) == 24 &&
	    (has_member(loader, die, "__r_") || has_member(loader, die, "__rep_")))
		return DWARF_LLVM_STRING;
	return DWARF_STRUCT;
}

const char *dwarf_keep_text(struct dwarf_loader *loader, const char *text, size_t len)
{
	struct dwarf_info *info = loader->info;

	if (loader->text_bytes < len) {
		loader->is_too_much = true;
		return NULL;
	}
	loader->text_bytes -= len;

	char **texts = vec_grow(info->texts, info->nr_texts, sizeof(*texts));
	char *copy = strndup(text, len);

	if (texts)
		info->texts = texts;
	if (!texts || !copy) {
		free(copy);
		loader->oom = true;
		return NULL;
	}
	texts[info->nr_texts++] = copy;
	return copy;
}

/*
 * Store a copy of @name. The copy ends before the first "<" (of template arguments), or before an
 * earlier character that an argument specification (argspec.h) must not have in a name.
 */
static const char *keep_name(struct dwarf_loader *loader, const char *name)
{
	size_t len = name ? strcspn(name, "< ({[,;%@\n") : 0;

	/* The name of a lambda, "<lambda()>", begins with "<", so the copy would be empty. */
	return len ? dwarf_keep_text(loader, name, len) : NULL;
}

/*
 * Read the value of an enumerator. gcc writes a positive number in as few bytes as the number needs
 * without a sign. dwarf_formsdata() would take the highest bit of these bytes for a sign.
 */
static bool enumerator_value(Dwarf_Die *die, int64_t *value)
{
	Dwarf_Attribute attr;
	Dwarf_Sword as_signed;
	Dwarf_Word as_unsigned;

	if (!dwarf_attr_integrate(die, DW_AT_const_value, &attr))
		return false;
	switch (dwarf_whatform(&attr)) {
	case DW_FORM_data1:
	case DW_FORM_data2:
	case DW_FORM_data4:
		if (dwarf_formudata(&attr, &as_unsigned) < 0)
			return false;
		*value = as_unsigned;
		return true;
	default:
		if (dwarf_formsdata(&attr, &as_signed) < 0)
			return false;
		*value = as_signed;
		return true;
	}
}

static void put_enumerators(struct dwarf_loader *loader, Dwarf_Die *die, struct strbuf *out)
{
	Dwarf_Die child;
	int64_t next = 0;
	bool is_first = true;

	if (!dwarf_first(loader, die, &child))
		return;
	do {
		const char *name = dwarf_diename(&child);
		int64_t value;

		if (dwarf_tag(&child) != DW_TAG_enumerator || !name ||
		    !enumerator_value(&child, &value))
			continue;
		/*
		 * Many enumerators of a file may share one long name, so the definition could be
		 * longer than the file.
		 */
		if (out->len + strlen(name) > ENUM_MAX) {
			loader->is_too_much = true;
			return;
		}
		strbuf_addf(out, "%s%s", is_first ? "" : ",", name);
		if (value != next)
			strbuf_addf(out, "=%lld", (long long)value);
		next = (int64_t)((uint64_t)value + 1);
		is_first = false;
	} while (dwarf_next(loader, &child));
}

static void add_enum(struct dwarf_loader *loader, Dwarf_Die *die, const char *name)
{
	struct strbuf text cleanup_strbuf = { 0 };
	struct dwarf_info *info = loader->info;

	if (!name || strmap_get(&loader->enums, name))
		return;
	strbuf_addf(&text, "enum %s {", name);
	put_enumerators(loader, die, &text);
	strbuf_addch(&text, '}');

	const char **enums = vec_grow(info->enums, info->nr_enums, sizeof(*enums));
	const char *kept = dwarf_keep_text(loader, strbuf_str(&text), text.len);

	if (enums)
		info->enums = enums;
	if (!enums || !kept || strmap_put(&loader->enums, name, (void *)kept) < 0) {
		loader->oom |= !loader->is_too_much;
		return;
	}
	enums[info->nr_enums++] = kept;
}

static void make_enum(struct dwarf_loader *loader, Dwarf_Die *die, struct dwarf_type *type)
{
	Dwarf_Die inner;
	char number[32];
	const char *name = keep_name(loader, dwarf_diename(die));

	if (!name) {
		snprintf(number, sizeof(number), "_anon_%llx",
			 (unsigned long long)dwarf_dieoffset(die));
		name = dwarf_keep_text(loader, number, strlen(number));
	}
	type->kind = DWARF_ENUM;
	type->name = name;
	type->is_signed = true;
	if (dwarf_type_die(die, &inner) && dwarf_peel(&inner))
		type->is_signed = dwarf_encoding(&inner) == DW_ATE_signed ||
				  dwarf_encoding(&inner) == DW_ATE_signed_char;
	add_enum(loader, die, name);
}

/*
 * Define a type that has no fields. A value of the type is shown as @nr parts without names. Each
 * part has the size @bytes and the kind @letter (utils/spec/args/structdef.h).
 */
static void define_parts(struct dwarf_loader *loader, struct dwarf_type *type, char letter,
			 uint32_t bytes, uint32_t nr)
{
	char text[64];

	snprintf(text, sizeof(text), nr > 1 ? "%u @0/%c%u*%u" : "%u @0/%c%u", type->bytes, letter,
		 bytes, nr);
	type->fields = type->name ? dwarf_add_definition(loader, type->name, text) : NULL;
}

/* Define a number of 128 bits, or a pair of floats. */
static void define_base(struct dwarf_loader *loader, unsigned encoding, bool is_x87,
			struct dwarf_type *type)
{
	char text[64];

	if (encoding == DW_ATE_complex_float && is_x87) {
		snprintf(text, sizeof(text), "%u @0/f10,@%u/f10", type->bytes, type->bytes / 2);
		type->fields = dwarf_add_definition(loader, type->name, text);
	} else if (encoding == DW_ATE_complex_float) {
		define_parts(loader, type, 'f', type->bytes / 2, 2);
	} else if (type->bytes == 16) {
		define_parts(loader, type,
			     dwarf_is_float(encoding) ? 'f'
			     : type->is_signed	      ? 'i'
						      : 'u',
			     16, 1);
	}
}

static void make_base(struct dwarf_loader *loader, Dwarf_Die *die, struct dwarf_type *type)
{
	unsigned encoding = dwarf_encoding(die);

	type->kind = is_char(die) ? DWARF_CHAR : DWARF_INT;
	type->is_signed = encoding == DW_ATE_signed || encoding == DW_ATE_signed_char;
	if (dwarf_is_float(encoding) && dwarf_is_x87(die)) {
		type->kind = DWARF_FLOAT;
		type->bytes = 10;
	} else if (dwarf_is_float(encoding) && type->bytes <= 8 && type->bytes >= 4) {
		type->kind = DWARF_FLOAT;
	} else if (type->bytes > 8 || encoding == DW_ATE_complex_float) {
		/* Numbers of 128 bits, and pairs of floats, are passed like structs. */
		type->kind = DWARF_STRUCT;
		type->name = keep_name(loader, dwarf_diename(die));
		type->alignment = dwarf_alignment(loader, die);
		dwarf_classify(loader, die, type->classes);
		/*
		 * A complex number of 128-bit floats has four words, and is passed in memory. A
		 * complex long double is returned in st(0) and st(1).
		 */
		if (type->bytes > 2 * EIGHTBYTE && type->classes[0] != DWARF_CLASS_X87)
			type->classes[0] = DWARF_CLASS_MEMORY;
		define_base(loader, encoding, dwarf_is_x87(die), type);
	}
}

static void classify_struct(struct dwarf_loader *loader, Dwarf_Die *die, struct dwarf_type *type)
{
	type->kind = kind_of_class(loader, die);
	type->name = keep_name(loader, dwarf_diename(die));
	type->is_by_reference = is_non_trivial(loader, die, 0);
	type->alignment = dwarf_alignment(loader, die);
	type->is_vector = dwarf_is_one_vector(loader, die);
	dwarf_classify(loader, die, type->classes);
	dwarf_settle_classes(type->classes);
	/* An empty class has a size, but is not passed. */
	if (type->bytes == 1 && type->classes[0] == DWARF_CLASS_NONE)
		type->bytes = 0;
	if (type->bytes > 2 * EIGHTBYTE && !type->is_vector)
		type->classes[0] = DWARF_CLASS_MEMORY;
}

/*
 * Define a vector by its elements, if they are numbers. Vectors of more than 16 bytes get no
 * definition, because the probe records only a part of their bytes.
 */
static void define_vector(struct dwarf_loader *loader, Dwarf_Die *die, struct dwarf_type *type)
{
	Dwarf_Die element;
	unsigned encoding;
	uint32_t bytes;

	if (type->bytes > 2 * EIGHTBYTE || !dwarf_type_die(die, &element) ||
	    !dwarf_peel(&element) || dwarf_tag(&element) != DW_TAG_base_type)
		return;
	encoding = dwarf_encoding(&element);
	bytes = dwarf_byte_size(&element);
	if (!bytes || bytes > EIGHTBYTE || (dwarf_is_float(encoding) && bytes < sizeof(float)))
		return;
	define_parts(loader, type,
		     dwarf_is_float(encoding)			      ? 'f'
		     : encoding == DW_ATE_signed || is_char(&element) ? 'i'
								      : 'u',
		     bytes, type->bytes / bytes);
}

/*
 * Make the type of a vector. Vectors of eight bytes or more are passed in one vector register.
 * Smaller vectors are passed like integers.
 */
static void make_vector(struct dwarf_loader *loader, Dwarf_Die *die, struct dwarf_type *type)
{
	type->kind = DWARF_STRUCT;
	type->name = keep_name(loader, "vector");
	type->bytes = dwarf_vector_bytes(loader, die);
	type->is_vector = type->bytes >= EIGHTBYTE;
	type->alignment = dwarf_alignment(loader, die);
	if (type->is_vector)
		dwarf_classify(loader, die, type->classes);
	else if (type->bytes)
		type->classes[0] = DWARF_CLASS_INT;
	define_vector(loader, die, type);
}

/* Make the type of a struct. Each struct's type is made once; later calls copy it. */
static void make_struct(struct dwarf_loader *loader, Dwarf_Die *die, struct dwarf_type *type)
{
	struct dwarf_type *known = intmap_get(&loader->types, (uintptr_t)die->addr);

	if (!known) {
		classify_struct(loader, die, type);
		known = malloc(sizeof(*known));
		if (!known || intmap_put(&loader->types, (uintptr_t)die->addr, known) < 0) {
			free(known);
			loader->oom = true;
			return;
		}
		*known = *type;
	}
	*type = *known;
	if (type->kind != DWARF_STRUCT || !type->bytes)
		return;
	if (!loader->shapeless)
		type->shape = dwarf_container_shape(loader, die, &type->fields);
	else if (dwarf_is_container(die))
		return;
	if (type->shape)
		return;
	type->fields = dwarf_struct_fields(loader, die, type->name, type->bytes);
	if (!loader->shapeless && type->fields && strmap_get(&loader->boxed, type->fields))
		type->shape = dwarf_struct_shape(loader, die, type->fields, &type->fields);
}

static void make_pointer(Dwarf_Die *die, struct dwarf_type *type)
{
	Dwarf_Die pointee;

	type->kind = DWARF_POINTER;
	if (!type->bytes)
		type->bytes = 8;
	if (dwarf_tag(die) == DW_TAG_pointer_type && dwarf_type_die(die, &pointee) &&
	    dwarf_peel(&pointee) && is_char(&pointee))
		type->kind = DWARF_STRING;
}

/*
 * Make the type of a reference. References to strings and containers are shown as their target,
 * other references as an address.
 */
static void make_reference(struct dwarf_loader *loader, Dwarf_Die *die, struct dwarf_type *type)
{
	struct dwarf_type object = { 0 };
	Dwarf_Die at;

	make_pointer(die, type);
	if (!dwarf_type_die(die, &at) || !dwarf_peel(&at) ||
	    (dwarf_tag(&at) != DW_TAG_structure_type && dwarf_tag(&at) != DW_TAG_class_type))
		return;
	object.bytes = dwarf_byte_size(&at);
	object.kind = kind_of_class(loader, &at);
	if (object.kind == DWARF_STRUCT && object.bytes)
		object.shape = dwarf_container_shape(loader, &at, &object.fields);
	if (object.kind == DWARF_STRUCT && object.shape)
		object.name = keep_name(loader, dwarf_diename(&at));
	else if (object.kind != DWARF_STD_STRING && object.kind != DWARF_LLVM_STRING)
		return;
	*type = object;
	type->is_reference = true;
}

void dwarf_type_of(struct dwarf_loader *loader, Dwarf_Die *die, struct dwarf_type *type)
{
	Dwarf_Die at;

	*type = (struct dwarf_type){ .kind = DWARF_VOID };
	if (dwarf_type_die(die, &at) && dwarf_peel(&at))
		dwarf_type_of_die(loader, &at, type);
}

void dwarf_type_of_die(struct dwarf_loader *loader, Dwarf_Die *type_die, struct dwarf_type *type)
{
	Dwarf_Die at = *type_die;

	*type = (struct dwarf_type){ .kind = DWARF_VOID };
	type->bytes = dwarf_byte_size(&at);
	switch (dwarf_tag(&at)) {
	case DW_TAG_base_type:
		make_base(loader, &at, type);
		break;
	case DW_TAG_enumeration_type:
		make_enum(loader, &at, type);
		break;
	case DW_TAG_structure_type:
	case DW_TAG_class_type:
	case DW_TAG_union_type:
		make_struct(loader, &at, type);
		break;
	case DW_TAG_reference_type:
	case DW_TAG_rvalue_reference_type:
		make_reference(loader, &at, type);
		break;
	case DW_TAG_ptr_to_member_type:
		/*
		 * A pointer to a member function consists of an address, and a number that is added
		 * to "this".
		 */
		if (type->bytes > EIGHTBYTE) {
			type->kind = DWARF_STRUCT;
			type->classes[0] = type->classes[1] = DWARF_CLASS_INT;
			break;
		}
		make_pointer(&at, type);
		break;
	default:
		if (dwarf_is_vector(&at))
			make_vector(loader, &at, type);
		else
			make_pointer(&at, type);
		break;
	}
}
