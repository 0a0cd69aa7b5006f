/* Finds the place of a function in its sources (see source_place.h). */
#include "cmds/tui/source_place.h"

#include <stdlib.h>

/* Splits "FILE:LINE". */
static bool split_line(struct strbuf *text, unsigned *line)
{
	char *colon = text->len ? strrchr(text->data, ':') : NULL;

	if (!colon)
		return false;
	*line = strtoul(colon + 1, NULL, 10);
	text->len = colon - text->data;
	*colon = '\0';
	return text->len > 0;
}

bool source_place_find(struct module_set *modules, const struct func *func, struct strbuf *file,
		       unsigned *line)
{
	const struct dbg_func *debug = module_debug(modules, func);

	if (debug && debug->file) {
		strbuf_addstr(file, debug->file);
		*line = debug->line;
		return true;
	}
	return func->sym && !func->is_libcall && module_put_line(func, func->sym->addr, file) &&
	       split_line(file, line);
}

bool source_place_put(struct module_set *modules, const struct func *func, struct sink *sink)
{
	struct strbuf file cleanup_strbuf = { 0 };
	unsigned line;

	if (!source_place_find(modules, func, &file, &line))
		return false;
	sink_text(sink, strbuf_str(&file), file.len);
	sink_putf(sink, " [line:%u]", line);
	return true;
}
