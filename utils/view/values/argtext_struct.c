/* The text of structs (see argtext_struct.h). */
#include "utils/view/values/argtext_struct.h"

#include <string.h>

#include "utils/pipeline/recording/data.h"

/*
 * At most this many elements of an array are shown. This limit does not apply to an array of char.
 */
#define ELEMENTS_MAX   8
/*
 * The limit of nesting. Recorders write no deeper structs (utils/object/dwarf/dwarf_struct.c), but
 * a struct in a damaged file may contain itself.
 */
#define NESTING_MAX    8
/* The maximum length of a field's name, in bytes. A longer name is cut. */
#define FIELD_NAME_MAX 256

/*
 * Copy a bit-field to @bytes. The bytes of @value are a little-endian number. The bit-field begins
 * at bit field->shift of this number, counted from the lowest bit.
 */
static void take_bits(const struct struct_field *field, const struct arg_value *value,
		      uint8_t bytes[sizeof(uint64_t)])
{
	uint64_t bits = 0;

	for (size_t i = 0; i < value->len && i < sizeof(bits); i++)
		bits |= (uint64_t)value->data[i] << (8 * i);
	bits = bits >> field->shift << (64 - field->width);
	if (field->type.format == ARG_SIGNED)
		bits = (uint64_t)((int64_t)bits >> (64 - field->width));
	else
		bits >>= 64 - field->width;
	memcpy(bytes, &bits, sizeof(bits));
}

static void put_element(struct subject *s, const struct struct_field *field,
			const struct arg_value *value, struct strbuf *out)
{
	struct argspec spec = { .type = field->type };
	uint8_t bytes[sizeof(uint64_t)];
	struct arg_value bits = { bytes, sizeof(bytes) };

	/* The casts are safe, because argtext_put_value() does not change the texts of @spec. */
	if (field->type.format == ARG_STRUCT)
		spec.fields = (char *)field->ref;
	else
		spec.name = (char *)field->ref;
	/* A bit-field has the format of an integer. If @ref names an enum, use ARG_ENUM. */
	if (field->width && field->ref)
		spec.type.format = ARG_ENUM;
	if (field->width) {
		take_bits(field, value, bytes);
		value = &bits;
	}
	argtext_put_value(s, &spec, value, out);
}

/* Write an array of char as a text. The first NUL of the array ends the text. */
static void put_chars(struct subject *s, const uint8_t *data, uint32_t len, struct strbuf *out)
{
	const struct argspec spec = { .type = { ARG_STRING, sizeof(uint64_t) } };
	struct arg_value value = { data, strnlen((const char *)data, len) };

	argtext_put_value(s, &spec, &value, out);
}

static void put_elements(struct subject *s, const struct struct_field *field, const uint8_t *data,
			 struct strbuf *out)
{
	uint32_t shown = MIN(field->count, (uint32_t)ELEMENTS_MAX);

	for (uint32_t i = 0; i < shown; i++) {
		struct arg_value value = { data + i * field->type.size, field->type.size };

		if (i)
			strbuf_addstr(out, ", ");
		put_element(s, field, &value, out);
	}
	if (field->count > shown)
		strbuf_addstr(out, ", ...");
}

static void put_array(struct subject *s, const struct struct_field *field, const uint8_t *data,
		      struct strbuf *out)
{
	if (field->type.format == ARG_CHAR) {
		put_chars(s, data, field->count, out);
		return;
	}
	strbuf_addch(out, '{');
	put_elements(s, field, data, out);
	strbuf_addch(out, '}');
}

static bool put_field(struct subject *s, const struct struct_field *field, const uint8_t *data,
		      const struct boxed_fields *boxed, struct strbuf *out)
{
	struct arg_value value = { data + field->offset, field->type.size };

	if (*field->name) {
		argtext_put_text(s, field->name, strnlen(field->name, FIELD_NAME_MAX), out);
		strbuf_addch(out, '=');
	}
	if (field->is_boxed && boxed)
		return boxed->put(boxed->self, out);
	if (field->is_boxed)
		strbuf_addstr(out, "{...}");
	/*
	 * A vector is a struct that has one array without a name. The array has no braces of its
	 * own: those of the struct are shown.
	 */
	else if (field->count && !*field->name)
		put_elements(s, field, value.data, out);
	else if (field->count)
		put_array(s, field, value.data, out);
	else
		put_element(s, field, &value, out);
	return true;
}

/*
 * Returns the definition of the struct, or NULL when the bytes of @value cannot be taken apart. All
 * definitions are for little-endian machines, because utrail records on no others.
 */
static const struct struct_def *definition(const struct subject *s, const struct argspec *spec,
					   const struct arg_value *value)
{
	const struct struct_def *def = arg_book_struct(s->event->func, spec);

	return def && !def->shape && value->len >= def->bytes && !s->text->data->is_big_endian
		       ? def
		       : NULL;
}

bool argtext_put_plain(struct subject *s, const struct argspec *spec, const struct arg_value *value,
		       struct strbuf *out)
{
	const struct struct_def *def = definition(s, spec, value);
	const struct struct_field *field = def && def->nr == 1 ? def->fields : NULL;

	if (!field || *field->name || field->count || field->type.format == ARG_STRUCT)
		return false;
	put_field(s, field, value->data, NULL, out);
	return true;
}

bool argtext_put_fields(struct subject *s, const struct argspec *spec,
			const struct arg_value *value, const struct boxed_fields *boxed,
			struct strbuf *out)
{
	const struct struct_def *def = definition(s, spec, value);

	if (!def || s->nesting == NESTING_MAX) {
		strbuf_addstr(out, "{...}");
		return true;
	}
	strbuf_addch(out, '{');
	s->nesting++;
	for (size_t i = 0; i < def->nr; i++) {
		size_t start = out->len;

		if (i)
			strbuf_addstr(out, ", ");
		if (s->budget == 0 || s->fields == 0) {
			strbuf_addstr(out, "...");
			break;
		}
		s->fields--;
		if (!put_field(s, &def->fields[i], value->data, boxed, out)) {
			s->nesting--;
			return false;
		}
		s->budget -= MIN(s->budget, out->len - start);
	}
	s->nesting--;
	strbuf_addch(out, '}');
	return true;
}
