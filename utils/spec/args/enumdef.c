/* Definitions of enums (see enumdef.h). */
#include "utils/spec/args/enumdef.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "utils/base/containers/vec.h"

void enum_defs_deinit(struct enum_defs *defs)
{
	for (size_t i = 0; i < defs->nr; i++)
		free(defs->defs[i].values);
	for (size_t i = 0; i < defs->nr_texts; i++)
		free(defs->texts[i]);
	free(defs->defs);
	free(defs->texts);
	*defs = (struct enum_defs){ 0 };
}

static char *skip_blanks(char *at)
{
	while (isspace((unsigned char)*at))
		at++;
	return at;
}

/* Find the end of a name: one of @stops, or a blank. A name may contain "::" or '<'. */
static char *name_end(char *at, const char *stops)
{
	while (*at && !isspace((unsigned char)*at) && !strchr(stops, *at))
		at++;
	return at;
}

static int add_value(struct enum_def *def, const char *name, int64_t value)
{
	struct enum_value *values = vec_grow(def->values, def->nr, sizeof(*values));

	if (!values)
		return -ENOMEM;
	def->values = values;
	values[def->nr++] = (struct enum_value){ name, value };
	return 0;
}

/*
 * Parse an optional "= 4" at @at. Returns the address after the number and the blanks that follow.
 * Returns @at if there is no '=', and NULL if the number is invalid.
 */
static char *parse_number(char *at, int64_t *value)
{
	char *end;

	if (*at != '=')
		return at;
	at = skip_blanks(at + 1);
	errno = 0;
	*value = *at == '-' ? strtoll(at, &end, 0) : (int64_t)strtoull(at, &end, 0);
	return end == at || errno ? NULL : skip_blanks(end);
}

/*
 * Parse "A, B = 4 }" at *@text, and move *@text past the brace. Returns 0, -ENOMEM, or -EINVAL when
 * the text is wrong. With -EINVAL, *@bad is the place of the error.
 */
static int parse_values(char **text, struct enum_def *def, char **bad)
{
	char *at = *text;
	int64_t value = 0;

	for (at = skip_blanks(at); *at != '}'; value = (int64_t)((uint64_t)value + 1)) {
		char *name = at;
		char *end = name_end(name, ",=}");
		char *next = parse_number(skip_blanks(end), &value);

		*bad = next ? next : end;
		if (!next || end == name || (*next != ',' && *next != '}'))
			return -EINVAL;
		at = *next == ',' ? skip_blanks(next + 1) : next;

		bool is_last = *next == '}' || *at == '}';

		*end = '\0';
		if (add_value(def, name, value) < 0)
			return -ENOMEM;
		if (is_last)
			break;
	}
	*text = at + 1;
	return 0;
}

static int compare_value(const void *a, const void *b)
{
	const struct enum_value *x = a;
	const struct enum_value *y = b;

	if (x->value != y->value)
		return x->value < y->value ? 1 : -1;
	/*
	 * Names of the same value are sorted by address. All names of an enum are in one text, so
	 * the first defined name has the lowest address.
	 */
	return (x->name > y->name) - (x->name < y->name);
}

static int add_def(struct enum_defs *defs, struct enum_def *def)
{
	struct enum_def *all = vec_grow(defs->defs, defs->nr, sizeof(*all));

	if (!all)
		return -ENOMEM;
	if (def->nr)
		qsort(def->values, def->nr, sizeof(*def->values), compare_value);
	defs->defs = all;
	all[defs->nr++] = *def;
	*def = (struct enum_def){ 0 };
	return 0;
}

/* Parse one definition at *@at, and move *@at past it. */
static int parse_one(struct enum_defs *defs, char **at, char **bad)
{
	struct enum_def def = { 0 };
	char *name = *at + strlen("enum");

	*bad = *at;
	if (strncmp(*at, "enum", strlen("enum")) != 0 || !isspace((unsigned char)*name))
		return -EINVAL;
	name = skip_blanks(name);

	char *end = name_end(name, "{");
	char *brace = skip_blanks(end);

	*bad = brace;
	if (*brace != '{' || end == name)
		return -EINVAL;

	char *values = brace + 1;
	int ret = parse_values(&values, &def, bad);

	if (ret == 0) {
		*end = '\0';
		def.name = name;
		ret = add_def(defs, &def);
	}
	if (ret < 0) {
		free(def.values);
		return ret;
	}
	*at = values;
	return 0;
}

int enum_defs_parse(struct enum_defs *defs, const char *text, size_t len, struct uft_err *err)
{
	char **texts = vec_grow(defs->texts, defs->nr_texts, sizeof(*texts));

	if (!texts)
		return err_set_errno(err, -ENOMEM, "cannot read enums");
	defs->texts = texts;

	char *copy = strndup(text, len);

	if (!copy)
		return err_set_errno(err, -ENOMEM, "cannot read enums");
	texts[defs->nr_texts++] = copy;

	char *at = skip_blanks(copy);

	while (*at) {
		char *bad = at;
		int ret = parse_one(defs, &at, &bad);

		if (ret < 0)
			return err_set(err, ret, "enum definitions, column %zu: %s",
				       (size_t)(bad - copy) + 1,
				       ret == -ENOMEM ? strerror(ENOMEM)
						      : "expected 'enum NAME { A, B = 1 };'");
		at = skip_blanks(at);
		while (*at == ';')
			at = skip_blanks(at + 1);
	}
	return 0;
}

const struct enum_def *enum_defs_find(const struct enum_defs *defs, const char *name)
{
	for (size_t i = defs->nr; i-- > 0;) {
		if (strcmp(defs->defs[i].name, name) == 0)
			return &defs->defs[i];
	}
	return NULL;
}

const char *enum_def_name(const struct enum_def *def, int64_t value)
{
	for (size_t i = 0; i < def->nr; i++) {
		if (def->values[i].value == value)
			return def->values[i].name;
	}
	return NULL;
}

/* The maximum number of names that are shown for a 64-bit value. Most names stand for one bit. */
#define PARTS_MAX 64

/*
 * Returns the name of the access mode 0 ("O_RDONLY") if @def is the enum of open(2), @value is not
 * 0, and the access mode in @value is 0. Returns NULL otherwise.
 */
static const char *zero_of_field(const struct enum_def *def, int64_t value)
{
	return strcmp(def->name, "ut_open") == 0 && value && (value & 3) == 0
		       ? enum_def_name(def, 0)
		       : NULL;
}

bool enum_def_put(const struct enum_def *def, int64_t value, const char *joint, struct strbuf *out)
{
	const char *exact = enum_def_name(def, value);
	const char *zero = zero_of_field(def, value);
	const char *parts[PARTS_MAX];
	size_t nr = 0;
	uint64_t rest = value;

	if (exact && !zero) {
		strbuf_addstr(out, exact);
		return true;
	}
	for (size_t i = 0; i < def->nr && value > 0 && nr < PARTS_MAX - 1; i++) {
		int64_t part = def->values[i].value;

		if (part <= 0 || (uint64_t)part > rest)
			continue;
		parts[nr++] = def->values[i].name;
		rest -= part;
	}
	if (nr == 0)
		return false;

	if (zero)
		parts[nr++] = zero;
	for (size_t i = nr; i-- > 0;)
		strbuf_addf(out, "%s%s", parts[i], i ? joint : "");
	if (rest)
		strbuf_addf(out, "+%#llx", (unsigned long long)rest);
	return true;
}
