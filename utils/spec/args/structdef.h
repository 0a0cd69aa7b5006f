/* Definitions of structs in recordings: the place of each field in the recorded bytes. */
#ifndef UTRAIL_SPEC_STRUCTDEF_H
#define UTRAIL_SPEC_STRUCTDEF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "utils/base/err.h"
#include "utils/base/containers/strmap.h"
#include "utils/format/argblob.h"

/*
 * @name: empty in two cases: the field is the whole value; or the field is a part of a vector, of a
 *         complex number or of a 128-bit number
 * @offset: in bytes
 * @type: type of one element
 * @ref: name of the enum, or key of the struct, or NULL
 * @count: number of elements of an array; 0: no array
 * @is_boxed: the field is a container, a string, or a struct that has boxed fields. The recording
 *         has a box with the content of such a field (shape.h). In the box, the bytes of a struct
 *         come before the contents of the struct's containers
 * @shift, @width: place of a bit-field in the bytes, from the lowest bit on; @width 0: no bit-field
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
 * @key: name of the struct, or "_anon". For further structs of the same name, "#2", "#3" and so on
 *         follow the name
 * @shape: NULL: a struct with fields. Otherwise the shape of a container. The recording has a box
 *         with the content of the container (utils/spec/args/shape.h)
 */
struct struct_def {
	const char *key;
	const char *shape;
	uint32_t bytes;
	struct struct_field *fields;
	size_t nr;
};

/*
 * Starts as { 0 } and ends with struct_defs_deinit().
 *
 * @by_key: maps a key to 1 + an index in @defs. If several definitions have the key, the index is
 *          the index of the newest definition
 * @texts: copies of the parsed texts. The names, keys and shapes in @defs point into these copies
 */
struct struct_defs {
	struct struct_def *defs;
	size_t nr;
	char **texts;
	size_t nr_texts;
	struct strmap by_key;
};

void struct_defs_deinit(struct struct_defs *defs);
#define cleanup_struct_defs cleanup(struct_defs_deinit)

/*
 * Add "KEY BYTES FIELD,FIELD,..." or "KEY BYTES =SHAPE". Returns 0, -ENOMEM, or -EINVAL for an
 * invalid text. In the case of -EINVAL nothing is added.
 *
 * FIELD is NAME@OFFSET/TYPE. TYPE is a letter and a size in bytes. The letters:
 *
 * - i, u: a signed or unsigned integer
 * - f: a floating-point number. With 16 bytes, the format is IEEE 754's binary128
 * - c: a character
 * - p: a pointer
 * - e: an enum. ":ENUM" follows the size
 * - t: a struct. If the struct's fields are defined, ":KEY" follows the size
 * - b: a boxed field (struct_field.is_boxed)
 *
 * "*N" after TYPE makes an array of N elements. ".SHIFT+WIDTH" after TYPE makes a bit-field.
 */
int struct_defs_parse(struct struct_defs *defs, const char *text, size_t len);

/* Returns NULL when no struct has this key. */
const struct struct_def *struct_defs_find(const struct struct_defs *defs, const char *key);

#endif
