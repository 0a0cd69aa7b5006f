/* Definitions of enums in recordings: names for the values of arguments. */
#ifndef UTRAIL_SPEC_ENUMDEF_H
#define UTRAIL_SPEC_ENUMDEF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "utils/base/err.h"
#include "utils/base/containers/strbuf.h"

struct enum_value {
	const char *name;
	int64_t value;
};

/* @values: in descending order; equal values in the order of their definition */
struct enum_def {
	const char *name;
	struct enum_value *values;
	size_t nr;
};

/* Starts as { 0 } and ends with enum_defs_deinit(). */
struct enum_defs {
	struct enum_def *defs;
	size_t nr;
	char **texts; /* texts that the names point into */
	size_t nr_texts;
};

void enum_defs_deinit(struct enum_defs *defs);
#define cleanup_enum_defs cleanup(enum_defs_deinit)

/*
 * Parse definitions: "enum NAME { A, B = 4, C };..." (doc/formats/info.md, "Argument
 * specifications"). Returns 0, -ENOMEM, or -EINVAL with the column of the error. After -EINVAL, the
 * definitions before the error have been added.
 *
 * Values are decimal, 0x or octal; a name without a value has the previous value plus 1. A comma
 * may precede the closing brace, and the ';' may be missing.
 */
int enum_defs_parse(struct enum_defs *defs, const char *text, size_t len, struct uft_err *err);

/* Returns the newest definition of the enum @name, or NULL when there is none. */
const struct enum_def *enum_defs_find(const struct enum_defs *defs, const char *name);

/* Returns the name whose value is exactly @value, or NULL when there is no such name. */
const char *enum_def_name(const struct enum_def *def, int64_t value);

/*
 * Append the name of @value, or the names of its parts, with @joint between them. The lowest part
 * comes first. Bits without a name become "+0x..". Returns false, and appends nothing, when no name
 * fits.
 */
bool enum_def_put(const struct enum_def *def, int64_t value, const char *joint, struct strbuf *out);

#endif
