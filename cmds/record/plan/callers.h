/*
 * Finds code to which calls return directly. The calls that this code makes are recorded, but
 * return addresses into it are not replaced (doc/internals/unprepared.md, "Returns").
 */
#ifndef UTRAIL_CMDS_RECORD_PLAN_CALLERS_H
#define UTRAIL_CMDS_RECORD_PLAN_CALLERS_H

#include "cmds/record/plan/modules.h"
#include "utils/format/probe/control.h"

#define CALLERS_JIT "jit" /* the word of a list for memory that no file backs */

/*
 * True when a name in the ','-separated list @names (NULL: empty) is a beginning of @path's file
 * name. "." stands for the program.
 */
bool callers_are_named(const char *names, const char *path, bool is_program);

/* True when such a list has the word @word. */
bool callers_have_word(const char *names, const char *word);

/*
 * Append the ranges of code in the file of @known to which calls return directly to @out, as struct
 * plan_callers with the addresses of @module.
 */
void callers_bind(const struct record_settings *settings, struct known_module *known,
		  const struct control_module *module, bool is_program, struct strbuf *out);

#endif
