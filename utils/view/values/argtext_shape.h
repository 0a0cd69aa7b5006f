/* The text of containers; private to argtext.c. */
#ifndef UTRAIL_VIEW_ARGTEXT_SHAPE_H
#define UTRAIL_VIEW_ARGTEXT_SHAPE_H

#include "utils/view/values/argtext_struct.h"

/*
 * Append "vector{3: 1, 2, 3}", the contents of a box. False, with nothing appended, when @spec is
 * not one that debug information knows.
 */
bool argtext_put_container(struct subject *s, const struct argspec *spec,
			   const struct arg_value *value, struct strbuf *out);

#endif
