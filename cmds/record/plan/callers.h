/*
 * Finds code to which calls must return directly, and not through the probe. The calls that this
 * code makes are recorded, but the return addresses into this code are not replaced
 * (doc/internals/unprepared.md, "Returns").
 */
#ifndef UTRAIL_CMDS_RECORD_PLAN_CALLERS_H
#define UTRAIL_CMDS_RECORD_PLAN_CALLERS_H

#include "cmds/record/plan/modules.h"
#include "utils/format/probe/control.h"

#define CALLERS_JIT "jit" /* this name stands for all memory that belongs to no file */

/*
 * True when the file name of @path begins with a name in the list @names. The list is separated by
 * commas; NULL is an empty list. The name "." stands for the program.
 */
bool callers_are_named(const char *names, const char *path, bool is_program);

/* True when the list @names contains the word @word. */
bool callers_have_word(const char *names, const char *word);

/*
 * Append to @out the ranges of code to which calls must return directly, and not through the probe.
 * The ranges are found in the file of @known. Each is a struct plan_callers with addresses in
 * @module.
 */
void callers_bind(const struct record_settings *settings, struct known_module *known,
		  const struct control_module *module, bool is_program, struct strbuf *out);

#endif
