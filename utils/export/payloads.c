/* Arguments of calls that are open (see payloads.h). */
#include "utils/export/payloads.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "utils/base/containers/vec.h"

static void drop_deeper(struct payloads *payloads, size_t depth)
{
	while (payloads->nr && payloads->open[payloads->nr - 1].depth >= depth)
		free(payloads->open[--payloads->nr].text);
}

void payloads_deinit(struct payloads *payloads)
{
	drop_deeper(payloads, 0);
	free(payloads->open);
	*payloads = (struct payloads){ 0 };
}

int payloads_put(struct payloads *payloads, size_t depth, const struct strbuf *text)
{
	drop_deeper(payloads, depth);

	struct payload *open = vec_room(payloads->open, payloads->nr, &payloads->cap,
					sizeof(*open));

	if (!open)
		return -ENOMEM;
	payloads->open = open;

	char *copy = strdup(strbuf_str(text));

	if (!copy)
		return -ENOMEM;
	payloads->open[payloads->nr++] = (struct payload){ .depth = depth, .text = copy };
	return 0;
}

char *payloads_take(struct payloads *payloads, size_t depth)
{
	drop_deeper(payloads, depth + 1);
	if (!payloads->nr || payloads->open[payloads->nr - 1].depth != depth)
		return NULL;
	return payloads->open[--payloads->nr].text;
}
