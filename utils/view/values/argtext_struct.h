/* The text of structs, and the parts of argtext.c that it needs. Private to argtext.c. */
#ifndef UTRAIL_VIEW_ARGTEXT_STRUCT_H
#define UTRAIL_VIEW_ARGTEXT_STRUCT_H

#include "utils/format/argblob.h"
#include "utils/pipeline/recording/args.h"
#include "utils/view/values/argtext.h"

/*
 * The call, or struct, that values belong to.
 *
 * @specs: @nr of them, whose values follow one another in the payload
 * @is_known: see struct func_args
 * @budget: remaining bytes for the text of structs' fields
 * @fields: remaining number of shown fields, and of containers without any text
 * @nesting: number of structs around the value
 */
struct subject {
	const struct argtext *text;
	const struct task *task;
	const struct event *event;
	const struct argspec *specs;
	size_t nr;
	bool is_known;
	size_t budget;
	unsigned fields;
	unsigned nesting;
};

/* Append text from the recording, escaped for the medium of the colours. */
void argtext_put_text(const struct subject *s, const char *text, size_t len, struct strbuf *out);
void argtext_put_name(const struct subject *s, const char *name, struct strbuf *out);
/*
 * Append the text in front of the brace of a struct that is an argument, or nothing for a struct
 * without a name.
 */
void argtext_put_struct_name(const struct subject *s, const struct argspec *spec,
			     struct strbuf *out);

/* Append one value of any type. */
void argtext_put_value(struct subject *s, const struct argspec *spec, const struct arg_value *value,
		       struct strbuf *out);

/*
 * The source of the text of boxed fields, one after the other. @put: returns false when there is no
 * more
 */
struct boxed_fields {
	bool (*put)(void *self, struct strbuf *out);
	void *self;
};

/*
 * Append a value that is a single number in the language, such as a number of 128 bits. Returns
 * false for other values.
 */
bool argtext_put_plain(struct subject *s, const struct argspec *spec, const struct arg_value *value,
		       struct strbuf *out);

/*
 * Append "{x=1, y=2}", the fields of a struct that debug information knows, or "{...}". @boxed:
 * puts the text of the boxed fields; NULL when there is nothing but the struct's bytes, then
 * "{...}" stands for each boxed field. Returns false when @boxed had no further text: the brace is
 * still open.
 */
bool argtext_put_fields(struct subject *s, const struct argspec *spec,
			const struct arg_value *value, const struct boxed_fields *boxed,
			struct strbuf *out);

#endif
