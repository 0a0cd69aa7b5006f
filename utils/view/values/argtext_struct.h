/*
 * Functions that the argtext*.c files share, for example for the text of structs. Private to these
 * files.
 */
#ifndef UTRAIL_VIEW_ARGTEXT_STRUCT_H
#define UTRAIL_VIEW_ARGTEXT_STRUCT_H

#include "utils/view/values/argtext.h"
#include "utils/view/values/argvalues.h"

/*
 * The call whose values are shown, and the limits of the text that shows the values.
 *
 * @budget: the remaining bytes for the text of the fields of structs
 * @fields: the number of fields, and of nodes of containers, that may still be shown
 * @nesting: the number of structs around the value
 */
struct subject {
	const struct argtext *text;
	const struct task *task;
	const struct event *event;
	struct argvalues values;
	size_t budget;
	unsigned fields;
	unsigned nesting;
};

/* Append text from the recording, escaped for a terminal or for HTML. */
void argtext_put_text(const struct subject *s, const char *text, size_t len, struct strbuf *out);
void argtext_put_name(const struct subject *s, const char *name, struct strbuf *out);
/*
 * Append the name of a struct, or nothing for a struct without a name. The caller adds the brace.
 */
void argtext_put_struct_name(const struct subject *s, const struct argspec *spec,
			     struct strbuf *out);

/* Append one value of any type. */
void argtext_put_value(struct subject *s, const struct argspec *spec, const struct arg_value *value,
		       struct strbuf *out);

/*
 * Appends boxed fields (struct_field.is_boxed). Each call of @put appends one field. @put returns
 * false when the next field is missing or cannot be shown completely.
 */
struct boxed_fields {
	bool (*put)(void *self, struct strbuf *out);
	void *self;
};

/*
 * Append a number whose type is described as a struct. An example is a number of 128 bits. Returns
 * false for all other values.
 */
bool argtext_put_plain(struct subject *s, const struct argspec *spec, const struct arg_value *value,
		       struct strbuf *out);

/*
 * Append the fields of a struct as "{x=1, y=2}", or "{...}" when the fields are unknown. Returns
 * false when @boxed->put returns false. In this case, @out lacks the closing brace.
 *
 * @boxed: appends the fields whose content is in a box (struct_field.is_boxed). If @boxed is NULL,
 *         each of these fields is shown as "{...}"
 */
bool argtext_put_fields(struct subject *s, const struct argspec *spec,
			const struct arg_value *value, const struct boxed_fields *boxed,
			struct strbuf *out);

#endif
