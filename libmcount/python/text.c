/* Python objects as text (see text.h). */
#include "libmcount/python/text.h"

#include <stddef.h>
#include <string.h>

#include "libmcount/program/definition.h"
#include "utils/base/compiler.h"
#include "utils/base/utf8.h"

/*
 * Types of the interpreter, and functions for values of these types. The probe passes a value to
 * one of these functions only if the function runs no Python code for this value.
 */
static struct {
	struct py_type *of_int, *of_float, *of_bool, *of_str, *of_bytes;
	struct py_type *of_list, *of_tuple, *of_dict, *of_set, *of_frozenset, *of_cell;
	struct py_object *none;
	long long (*int_value)(struct py_object *o, int *overflow);
	size_t (*int_bits)(struct py_object *o);
	struct py_object *(*repr)(struct py_object *o);
	intptr_t (*str_length)(struct py_object *o);
	uint32_t (*str_char)(struct py_object *o, intptr_t index);
	int (*is_printable)(uint32_t c);
	intptr_t (*bytes_size)(struct py_object *o);
	char *(*bytes_data)(struct py_object *o);
	intptr_t (*list_size)(struct py_object *o);
	struct py_object *(*list_item)(struct py_object *o, intptr_t index);
	int (*dict_next)(struct py_object *o, intptr_t *pos, struct py_object **key,
			 struct py_object **value);
	int (*set_next)(struct py_object *o, intptr_t *pos, struct py_object **key, intptr_t *hash);
	struct py_object *(*cell_get)(struct py_object *o);
} api;

static const struct {
	size_t place;
	const char *name;
} names[] = {
#define PLACE(member) offsetof(__typeof__(api), member)
	{ PLACE(of_int), "PyLong_Type" },
	{ PLACE(of_float), "PyFloat_Type" },
	{ PLACE(of_bool), "PyBool_Type" },
	{ PLACE(of_str), "PyUnicode_Type" },
	{ PLACE(of_bytes), "PyBytes_Type" },
	{ PLACE(of_list), "PyList_Type" },
	{ PLACE(of_tuple), "PyTuple_Type" },
	{ PLACE(of_dict), "PyDict_Type" },
	{ PLACE(of_set), "PySet_Type" },
	{ PLACE(of_frozenset), "PyFrozenSet_Type" },
	{ PLACE(of_cell), "PyCell_Type" },
	{ PLACE(none), "_Py_NoneStruct" },
	{ PLACE(int_value), "PyLong_AsLongLongAndOverflow" },
	{ PLACE(int_bits), "_PyLong_NumBits" },
	{ PLACE(repr), "PyObject_Repr" },
	{ PLACE(str_length), "PyUnicode_GetLength" },
	{ PLACE(str_char), "PyUnicode_ReadChar" },
	{ PLACE(is_printable), "_PyUnicode_IsPrintable" },
	{ PLACE(bytes_size), "PyBytes_Size" },
	{ PLACE(bytes_data), "PyBytes_AsString" },
	{ PLACE(list_size), "PyList_Size" },
	{ PLACE(list_item), "PyList_GetItem" },
	{ PLACE(dict_next), "PyDict_Next" },
	{ PLACE(set_next), "_PySet_NextEntry" },
	{ PLACE(cell_get), "PyCell_Get" },
#undef PLACE
};

bool text_begin(void)
{
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		/* The first members are types and None, which are variables of the interpreter. */
		bool is_data = names[i].place <= offsetof(__typeof__(api), none);
		uint64_t at = is_data ? definition_find_data(names[i].name)
				      : definition_find(names[i].name);

		if (!at)
			return false;
		memcpy((char *)&api + names[i].place, &at, sizeof(at));
	}
	return true;
}

/* --- writing --- */

/*
 * @limit: the maximum number of bytes of the text
 * @is_full: true after some bytes did not fit
 */
struct writer {
	struct capture_text *text;
	unsigned limit;
	bool is_full;
};

static bool has_byte(const char *text, size_t len, char byte)
{
	for (size_t i = 0; i < len; i++) {
		if (text[i] == byte)
			return true;
	}
	return false;
}

/*
 * Writes all of @bytes. If there is no room for all of @bytes, writes nothing, and sets w->is_full.
 * For this reason, a character of several bytes that is passed in one call is never split.
 */
static void put(struct writer *w, const char *bytes, size_t len)
{
	if (w->is_full || len > w->limit - w->text->len) {
		w->is_full = true;
		return;
	}
	memcpy(w->text->text + w->text->len, bytes, len);
	w->text->len += len;
}

static void put_str(struct writer *w, const char *text)
{
	for (; *text && !w->is_full; text++)
		put(w, text, 1);
}

/* Ends a text that was cut: dots replace its last characters. */
static void end_text(struct writer *w)
{
	static const char dots[] = ARGBLOB_STRING_CUT;
	struct capture_text *t = w->text;
	unsigned room = w->limit - (sizeof(dots) - 1);

	if (!w->is_full)
		return;
	if (t->len > room) {
		t->len = room;
		/* If the text is cut in the middle of a UTF-8 character, remove the character. */
		while (t->len && (t->text[t->len] & 0xc0) == 0x80)
			t->len--;
	}
	memcpy(t->text + t->len, dots, sizeof(dots) - 1);
	t->len += sizeof(dots) - 1;
}

/* --- values --- */

static void put_decimal(struct writer *w, long long value)
{
	char digits[24];
	char *at = digits + sizeof(digits);
	unsigned long long left = value;

	if (value < 0)
		left = -left;
	do {
		*--at = '0' + left % 10;
		left /= 10;
	} while (left);
	if (value < 0)
		*--at = '-';
	put(w, at, digits + sizeof(digits) - at);
}

/* Writes the text that repr() returns. Used only for types whose repr() runs no Python code. */
static void put_repr(struct writer *w, struct py_object *o)
{
	struct py_object *made = api.repr(o);
	const char *text = made ? py.text(made) : NULL;

	if (text)
		put_str(w, text);
	py.error_clear();
	if (made)
		py.let_go(made);
}

/* The maximum number of bits of a shown integer. Converting a larger integer would take long. */
#define INT_BITS_MAX 1000U

static void put_int(struct writer *w, struct py_object *o)
{
	int overflow = 0;
	long long value = api.int_value(o, &overflow);

	if (overflow && api.int_bits(o) > INT_BITS_MAX)
		put_str(w, "<int of more than 300 digits>");
	else if (overflow)
		put_repr(w, o);
	else
		put_decimal(w, value);
}

static void put_hex(struct writer *w, char kind, uint32_t value, unsigned nr_digits)
{
	char text[2 + 8] = { '\\', kind };

	for (unsigned i = 0; i < nr_digits; i++)
		text[2 + i] = "0123456789abcdef"[value >> 4 * (nr_digits - 1 - i) & 15];
	put(w, text, 2 + nr_digits);
}

/*
 * Writes a character as an escape sequence that strings and bytes share. Returns false if there is
 * no such sequence for this character.
 */
static bool put_special(struct writer *w, uint32_t c, char quote)
{
	char text[2] = { '\\', c };

	if (c == '\n')
		text[1] = 'n';
	else if (c == '\r')
		text[1] = 'r';
	else if (c == '\t')
		text[1] = 't';
	else if (c != '\\' && c != (uint32_t)quote)
		return false;
	put(w, text, sizeof(text));
	return true;
}

static void put_char(struct writer *w, uint32_t c, char quote)
{
	char bytes[4];

	if (put_special(w, c, quote))
		return;
	if (c >= ' ' && c != 0x7f && (c < 0x7f || api.is_printable(c)))
		put(w, bytes, utf8_encode(bytes, c));
	else if (c < 0x100)
		put_hex(w, 'x', c, 2);
	else if (c < 0x10000)
		put_hex(w, 'u', c, 4);
	else
		put_hex(w, 'U', c, 8);
}

static char choose_quote(struct py_object *o, intptr_t len)
{
	bool has_single = false;

	/*
	 * Characters after the first ARGBLOB_STRING_MAX are not shown, and do not affect the choice
	 * of quotes.
	 */
	for (intptr_t i = 0; i < MIN(len, (intptr_t)ARGBLOB_STRING_MAX); i++) {
		uint32_t c = api.str_char(o, i);

		if (c == '"')
			return '\'';
		has_single |= c == '\'';
	}
	return has_single ? '"' : '\'';
}

static void put_string(struct writer *w, struct py_object *o)
{
	intptr_t len = api.str_length(o);
	char quote = choose_quote(o, len);

	put(w, &quote, 1);
	for (intptr_t i = 0; i < len && !w->is_full; i++)
		put_char(w, api.str_char(o, i), quote);
	put(w, &quote, 1);
}

static void put_bytes(struct writer *w, struct py_object *o)
{
	const char *data = api.bytes_data(o);
	size_t len = api.bytes_size(o);
	size_t seen = MIN(len, (size_t)ARGBLOB_STRING_MAX);
	char quote = has_byte(data, seen, '\'') && !has_byte(data, seen, '"') ? '"' : '\'';

	put(w, "b", 1);
	put(w, &quote, 1);
	for (size_t i = 0; i < len && !w->is_full; i++) {
		uint8_t c = data[i];

		if (put_special(w, c, quote))
			continue;
		if (c >= ' ' && c < 0x7f)
			put(w, (const char *)&c, 1);
		else
			put_hex(w, 'x', c, 2);
	}
	put(w, &quote, 1);
}

/* --- classes --- */

/* The offset of PyTypeObject.tp_dict (object.h), in words. */
#define TYPE_DICT 33

#define TYPE_IS_HEAP (1UL << 9) /* Py_TPFLAGS_HEAPTYPE */

/*
 * A class's dictionary has an item with the name of the class's module. This item is among the
 * first items. So the probe reads at most ITEMS_LOOKED_AT items, in order. The probe does not look
 * the item up by its key, since a comparison of keys may run Python code.
 */
#define ITEMS_LOOKED_AT 64

/* Returns the module of a class that Python code has made, or NULL. */
static const char *module_of_class(const struct py_type *type)
{
	struct py_object *dict = ((struct py_object *const *)type)[TYPE_DICT];
	struct py_object *key, *module;
	intptr_t at = 0;

	if (!(type->flags & TYPE_IS_HEAP) || !dict)
		return NULL;
	for (int i = 0; i < ITEMS_LOOKED_AT && api.dict_next(dict, &at, &key, &module); i++) {
		const char *name = key->type == api.of_str ? py.text(key) : NULL;

		if (name && strcmp(name, "__module__") == 0)
			return module->type == api.of_str ? py.text(module) : NULL;
	}
	return NULL;
}

/*
 * Writes "<module.Class object>". The function reads no attribute of the class, since reading an
 * attribute could run Python code.
 */
static void put_other(struct writer *w, const struct py_object *o)
{
	const struct py_type *type = o->type;
	bool is_full = has_byte(type->name, strlen(type->name), '.');
	const char *module = is_full ? NULL : module_of_class(type);

	put(w, "<", 1);
	if (!is_full) {
		put_str(w, module ? module : "builtins");
		put(w, ".", 1);
	}
	put_str(w, type->name);
	put_str(w, " object>");
	py.error_clear();
}

/* --- containers --- */

static bool put_plain(struct writer *w, struct py_object *o)
{
	const struct py_type *type = o->type;

	if (o == api.none)
		put_str(w, "None");
	else if (type == api.of_bool)
		put_str(w, api.int_value(o, &(int){ 0 }) ? "True" : "False");
	else if (type == api.of_int)
		put_int(w, o);
	else if (type == api.of_float)
		put_repr(w, o);
	else if (type == api.of_str)
		put_string(w, o);
	else if (type == api.of_bytes)
		put_bytes(w, o);
	else
		return false;
	return true;
}

/* Writes an item of a container. Dots replace the items of an inner list, tuple, dict or set. */
static void put_inside(struct writer *w, struct py_object *o)
{
	const struct py_type *type = o->type;

	if (put_plain(w, o))
		return;
	if (type == api.of_list)
		put_str(w, api.list_size(o) ? "[...]" : "[]");
	else if (type == api.of_tuple)
		put_str(w, py.tuple_size(o) ? "(...)" : "()");
	else if (type == api.of_dict || type == api.of_set)
		put_str(w, "{...}");
	else
		put_other(w, o);
}

static void put_item(struct writer *w, bool is_first, struct py_object *o)
{
	if (!is_first)
		put(w, ", ", 2);
	put_inside(w, o);
}

static void put_list(struct writer *w, struct py_object *o)
{
	put(w, "[", 1);
	for (intptr_t i = 0; i < api.list_size(o) && !w->is_full; i++)
		put_item(w, i == 0, api.list_item(o, i));
	put(w, "]", 1);
}

static void put_tuple(struct writer *w, struct py_object *o)
{
	intptr_t nr = py.tuple_size(o);

	put(w, "(", 1);
	for (intptr_t i = 0; i < nr && !w->is_full; i++)
		put_item(w, i == 0, py.tuple_item(o, i));
	put_str(w, nr == 1 ? ",)" : ")");
}

static void put_dict(struct writer *w, struct py_object *o)
{
	struct py_object *key, *value;
	intptr_t at = 0;
	bool is_first = true;

	put(w, "{", 1);
	while (!w->is_full && api.dict_next(o, &at, &key, &value)) {
		put_item(w, is_first, key);
		put(w, ": ", 2);
		put_inside(w, value);
		is_first = false;
	}
	put(w, "}", 1);
}

static void put_set(struct writer *w, struct py_object *o)
{
	bool is_frozen = o->type == api.of_frozenset;
	struct py_object *key;
	intptr_t at = 0, hash;
	bool is_first = true;

	put_str(w, is_frozen ? "frozenset(" : "");
	while (!w->is_full && api.set_next(o, &at, &key, &hash)) {
		if (is_first)
			put(w, "{", 1);
		put_item(w, is_first, key);
		is_first = false;
	}
	put_str(w, is_first ? (is_frozen ? "" : "set()") : "}");
	put_str(w, is_frozen ? ")" : "");
}

void text_of_object(struct py_object *o, unsigned limit, struct capture_text *text)
{
	struct writer w = { .text = text, .limit = limit };
	const struct py_type *type = o->type;

	text->len = 0;
	text->is_real = type == api.of_float;
	if (text->is_real)
		text->real = *(const uint64_t *)((const struct py_object *)o + 1);
	if (put_plain(&w, o))
		;
	else if (type == api.of_list)
		put_list(&w, o);
	else if (type == api.of_tuple)
		put_tuple(&w, o);
	else if (type == api.of_dict)
		put_dict(&w, o);
	else if (type == api.of_set || type == api.of_frozenset)
		put_set(&w, o);
	else
		put_other(&w, o);
	text->is_real &= !w.is_full;
	end_text(&w);
}

bool text_is_cell(const struct py_object *o)
{
	return o->type == api.of_cell;
}

struct py_object *text_out_of_cell(struct py_object *cell)
{
	struct py_object *inside = api.cell_get(cell);

	/* The new reference is not needed, since the cell has a reference to the object. */
	if (inside)
		py.let_go(inside);
	return inside;
}

int text_byte(struct py_object *o, intptr_t index)
{
	if (!o || o->type != api.of_bytes || index >= api.bytes_size(o))
		return -1;
	return (uint8_t)api.bytes_data(o)[index];
}
