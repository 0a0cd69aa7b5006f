/*
 * Source files and lines, as views show them after names of functions (doc/facts/text.md, "Replay"
 * and "Report").
 */
#ifndef UTRAIL_VIEW_SOURCE_LINE_H
#define UTRAIL_VIEW_SOURCE_LINE_H

#include "utils/base/color.h"
#include "utils/pipeline/recording/module.h"
#include "utils/base/sink.h"

/*
 * Write @before, then "<file>:<line>", then @after, all in gray. If the source line of @func is
 * unknown, write nothing.
 */
void source_line_put(struct module_set *modules, const struct func *func, enum color_mode color,
		     const char *before, const char *after, struct sink *sink);

/* Write " / * inlines: name file:line, ... * /": the calls that were inlined into @func. */
void source_put_inlined(struct module_set *modules, const struct func *func, enum color_mode color,
			struct sink *sink);

/* Write @word in gray. For example, @word is " [Source]", the header of a column. */
void source_line_put_word(const char *word, enum color_mode color, struct sink *sink);

#endif
