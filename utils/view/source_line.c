/* Source files and lines, as views show them after names of functions (see source_line.h). */
#include "utils/view/source_line.h"

void source_line_put_word(const char *word, enum color_mode color, struct sink *sink)
{
	sink_color_begin(sink, color, COLOR_GRAY);
	sink_str(sink, word);
	sink_color_end(sink, color);
}

void source_line_put(struct module_set *modules, const struct func *func, enum color_mode color,
		     const char *before, const char *after, struct sink *sink)
{
	const struct dbg_func *debug = module_debug(modules, func);
	struct strbuf text cleanup_strbuf = { 0 };

	if (!debug || !debug->file)
		return;
	strbuf_addf(&text, "%s%s:%u%s", before, debug->file, debug->line, after);
	source_line_put_word(strbuf_str(&text), color, sink);
}

void source_put_inlined(struct module_set *modules, const struct func *func, enum color_mode color,
			struct sink *sink)
{
	const struct dbg_func *debug = module_debug(modules, func);
	struct strbuf text cleanup_strbuf = { 0 };

	if (!debug || !debug->nr_inlined)
		return;
	strbuf_addstr(&text, " /* inlines: ");
	for (size_t i = 0; i < debug->nr_inlined; i++) {
		const struct dbg_inline *call =
			&func->module->dbg.inlined[debug->first_inlined + i];

		strbuf_addf(&text, "%s%s", i ? ", " : "", call->name);
		if (call->file)
			strbuf_addf(&text, " %s:%u", call->file, call->line);
	}
	strbuf_addstr(&text, " */");
	source_line_put_word(strbuf_str(&text), color, sink);
}
