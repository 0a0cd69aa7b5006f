/*
 * Modules into whose code return addresses stay as they are, though calls are recorded
 * (doc/internals/unprepared.md, "Returns").
 */
#ifndef UTRAIL_CMDS_RECORD_PLAN_CALLERS_H
#define UTRAIL_CMDS_RECORD_PLAN_CALLERS_H

#include "cmds/record/plan/modules.h"
#include "utils/format/probe/control.h"

#define CALLERS_JIT "jit" /* the word for memory that no file backs */

/*
 * True when the ','-separated list @names (NULL: empty) has one that @path's file name begins with;
 * "." is the program.
 */
bool callers_are_named(const char *names, const char *path, bool is_program);

/* True when the list has that word. */
bool callers_have_word(const char *names, const char *word);

/*
 * The ranges of such code in the file of @known, appended to @out with the addresses of @module:
 * struct plan_callers.
 */
void callers_bind(const struct record_settings *settings, struct known_module *known,
		  const struct control_module *module, bool is_program, struct strbuf *out);

#endif
