/* Definitions of structs (see structdef.h). */
#include "utils/spec/args/structdef.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "utils/base/cleanup.h"
#include "utils/base/containers/vec.h"

void struct_defs_deinit(struct struct_defs *defs)
{
	for (size_t i = 0; i < defs->nr; i++)
		free(defs->defs[i].fields);
	for (size_t i = 0; i < defs->nr_texts; i++)
		free(defs->texts[i]);
	free(defs->defs);
	free(defs->texts);
	strmap_deinit(&defs->by_key);
	*defs = (struct struct_defs){ 0 };
}

/*
 * Parse a number at *@at, and move *@at past the number. Returns false when there is no number, or
 * when the number is above @max.
 */
static bool take_number(char **at, uint32_t max, uint32_t *number)
{
	char *end;

	if (!isdigit((unsigned char)**at))
		return false;

	unsigned long long value = strtoull(*at, &end, 10);

	*at = end;
	*number = value;
	return value <= max;
}

static bool take_format(char letter, uint8_t *format)
{
	static const struct {
		char letter;
		enum arg_format format;
	} formats[] = {
		{ 'i', ARG_SIGNED }, { 'u', ARG_UNSIGNED }, { 'f', ARG_FLOAT },
		{ 'c', ARG_CHAR },   { 'p', ARG_POINTER },  { 'e', ARG_ENUM },
		{ 't', ARG_STRUCT }, { 'b', ARG_STRUCT },
	};

	for (size_t i = 0; i < ARRAY_SIZE(formats); i++) {
		if (formats[i].letter == letter) {
			*format = formats[i].format;
			return true;
		}
	}
	return false;
}

static bool is_width(enum arg_format format, uint32_t bytes)
{
	switch (format) {
	case ARG_STRUCT:
		return true;
	case ARG_FLOAT:
		return bytes == 4 || bytes == 8 || bytes == 10 || bytes == 16;
	case ARG_CHAR:
		return bytes == 1;
	case ARG_SIGNED:
	case ARG_UNSIGNED:
		return (bytes >= 1 && bytes <= 8) || bytes == 16;
	default:
		return bytes >= 1 && bytes <= 8;
	}
}

/* Parse "SHIFT+WIDTH", which is all of the text at @at. */
static bool parse_bits(char *at, struct struct_field *field)
{
	uint32_t shift;
	uint32_t width;

	if (!take_number(&at, 7, &shift) || *at++ != '+' || !take_number(&at, 64, &width) || *at)
		return false;
	field->shift = shift;
	field->width = width;
	return width > 0 && shift + width <= 8U * field->type.size &&
	       field->type.size <= sizeof(uint64_t);
}

/*
 * Parse the text after TYPE: an optional ":REF", then optionally "*COUNT" or ".SHIFT+WIDTH".
 */
static bool parse_rest(char *at, struct struct_field *field)
{
	if (*at == ':') {
		field->ref = ++at;
		at += strcspn(at, "*.");
	}

	char mark = *at;

	if (!mark)
		return true;
	*at++ = '\0';
	if (mark == '.')
		return parse_bits(at, field);
	return mark == '*' && take_number(&at, UINT16_MAX, &field->count) && !*at;
}

/* Parse "NAME@OFFSET/TYPE...". */
static bool parse_field(char *at, struct struct_field *field)
{
	char *mark = strchr(at, '@');
	uint32_t bytes;

	*field = (struct struct_field){ .name = at };
	if (!mark)
		return false;
	*mark = '\0';
	at = mark + 1;
	if (!take_number(&at, UINT16_MAX, &field->offset) || *at++ != '/' || !*at)
		return false;
	field->is_boxed = *at == 'b';
	if (!take_format(*at++, &field->type.format) || !take_number(&at, UINT16_MAX, &bytes) ||
	    !is_width(field->type.format, bytes))
		return false;
	field->type.size = bytes;
	return parse_rest(at, field);
}

static bool is_inside(const struct struct_field *field, uint32_t bytes)
{
	uint64_t size = (uint64_t)field->type.size * (field->count ? field->count : 1);

	return field->offset + size <= bytes;
}

static int add_field(struct struct_def *def, const struct struct_field *field)
{
	struct struct_field *fields = vec_grow(def->fields, def->nr, sizeof(*fields));

	if (!fields)
		return -ENOMEM;
	def->fields = fields;
	fields[def->nr++] = *field;
	return 0;
}

static int parse_def(char *text, struct struct_def *def)
{
	char *at = strchr(text, ' ');

	*def = (struct struct_def){ .key = text };
	if (!at || at == text)
		return -EINVAL;
	*at++ = '\0';
	if (!take_number(&at, UINT32_MAX, &def->bytes) || *at++ != ' ')
		return -EINVAL;
	if (*at == '=') {
		def->shape = at + 1;
		return 0;
	}
	for (char *one; (one = strsep(&at, ","));) {
		struct struct_field field;

		if (!parse_field(one, &field) || !is_inside(&field, def->bytes))
			return -EINVAL;
		if (add_field(def, &field) < 0)
			return -ENOMEM;
	}
	return 0;
}

static int add_def(struct struct_defs *defs, char *text, const struct struct_def *def)
{
	struct struct_def *all = vec_grow(defs->defs, defs->nr, sizeof(*all));
	char **texts = vec_grow(defs->texts, defs->nr_texts, sizeof(*texts));

	if (all)
		defs->defs = all;
	if (texts)
		defs->texts = texts;
	if (!all || !texts || strmap_put(&defs->by_key, def->key, (void *)(defs->nr + 1)) < 0)
		return -ENOMEM;
	all[defs->nr++] = *def;
	texts[defs->nr_texts++] = text;
	return 0;
}

int struct_defs_parse(struct struct_defs *defs, const char *text, size_t len)
{
	char *copy = strndup(text, len);
	struct struct_def def = { 0 };

	if (!copy)
		return -ENOMEM;

	int ret = parse_def(copy, &def);

	if (ret == 0)
		ret = add_def(defs, copy, &def);
	if (ret < 0) {
		free(def.fields);
		free(copy);
	}
	return ret;
}

const struct struct_def *struct_defs_find(const struct struct_defs *defs, const char *key)
{
	uintptr_t number = (uintptr_t)strmap_get(&defs->by_key, key);

	return number ? &defs->defs[number - 1] : NULL;
}
