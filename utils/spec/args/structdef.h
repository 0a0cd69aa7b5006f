/* Definitions of structs in recordings: the fields in the bytes of an argument. */
#ifndef UTRAIL_SPEC_STRUCTDEF_H
#define UTRAIL_SPEC_STRUCTDEF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "utils/base/err.h"
#include "utils/base/containers/strmap.h"
#include "utils/format/argblob.h"

/*
 * @name: empty when the field is the value itself, or a part of one value (a number of 128 bits, a
 *        complex number, a vector)
 * @offset: in bytes
 * @type: the type of one element
 * @ref: the enum's name, or the struct's key; NULL: the field is neither
 * @count: number of elements of an array; 0: no array
 * @is_boxed: the field is a container, a string, or a struct with such fields. In a box, the
 *            contents of a struct's containers follow the struct's bytes (shape.h)
 * @shift, @width: place of a bit-field within the bytes, from the lowest bit on; @width is 0 for
 *                 other fields
 */
struct struct_field {
	const char *name;
	uint32_t offset;
	struct arg_type type;
	const char *ref;
	uint32_t count;
	uint8_t shift;
	uint8_t width;
	bool is_boxed;
};

/*
 * @key: the struct's name, or "_anon" without one; duplicates have "#2" and so on at the end
 * @shape: the shape of a container, whose bytes are a box (utils/spec/args/shape.h); NULL: a struct
 * with fields
 */
struct struct_def {
	const char *key;
	const char *shape;
	uint32_t bytes;
	struct struct_field *fields;
	size_t nr;
};

/* Starts as { 0 }, ends with struct_defs_deinit(). */
struct struct_defs {
	struct struct_def *defs;
	size_t nr;
	char **texts; /* texts that the names point into */
	size_t nr_texts;
	struct strmap by_key; /* the newest definition of each key: its index + 1 */
};

void struct_defs_deinit(struct struct_defs *defs);
#define cleanup_struct_defs cleanup(struct_defs_deinit)

/*
 * Add "KEY BYTES FIELD,FIELD,..." with FIELD = NAME@OFFSET/TYPE, or "KEY BYTES =SHAPE". TYPE is a
 * letter and the bytes: i u (integers), f (16: IEEE 754's binary128), c, p, e (with ":ENUM"), t (a
 * struct, with ":KEY" when it is defined), b (a boxed struct). "*N" follows for N elements, or
 * ".SHIFT+WIDTH" for bits. -EINVAL for an invalid text, of which nothing is added; -ENOMEM.
 */
int struct_defs_parse(struct struct_defs *defs, const char *text, size_t len);

/* Find the definition with the key @key, or NULL. */
const struct struct_def *struct_defs_find(const struct struct_defs *defs, const char *key);

#endif
