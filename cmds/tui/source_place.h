/* Finds the source file and line of a function. */
#ifndef UTRAIL_CMDS_TUI_SOURCE_PLACE_H
#define UTRAIL_CMDS_TUI_SOURCE_PLACE_H

#include "utils/base/containers/strbuf.h"
#include "utils/base/sink.h"
#include "utils/pipeline/recording/module.h"

/*
 * Append the name of the file with the source of @func, and set @line. The debug information comes
 * from the recording, or from the program's file if this file has not changed since the recording.
 * Returns false when there is no debug information about @func.
 */
bool source_place_find(struct module_set *modules, const struct func *func, struct strbuf *file,
		       unsigned *line);

/*
 * Append the source line of @func as text: "FILE [line:NUMBER]". Returns false when the line is
 * unknown.
 */
bool source_place_put(struct module_set *modules, const struct func *func, struct sink *sink);

#endif
