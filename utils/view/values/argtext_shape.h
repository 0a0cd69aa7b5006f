/* The text of containers; private to argtext.c. */
#ifndef UTRAIL_VIEW_ARGTEXT_SHAPE_H
#define UTRAIL_VIEW_ARGTEXT_SHAPE_H

#include "utils/view/values/argtext_struct.h"

/*
 * Append the captured contents of a container, for example "vector{3: 1, 2, 3}". Returns false,
 * with nothing appended, when the shape of the container is unknown.
 */
bool argtext_put_container(struct subject *s, const struct argspec *spec,
			   const struct arg_value *value, struct strbuf *out);

#endif
