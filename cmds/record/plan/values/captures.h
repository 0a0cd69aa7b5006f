/*
 * Chooses which arguments and results of a function are captured, and makes capture programs. The
 * choice depends on debug information, on tables, and on the rules of the user.
 */
#ifndef UTRAIL_CMDS_RECORD_PLAN_CAPTURES_H
#define UTRAIL_CMDS_RECORD_PLAN_CAPTURES_H

#include "cmds/record/base/settings.h"
#include "cmds/record/plan/values/debuginfo.h"
#include "utils/base/containers/strbuf.h"
#include "utils/format/dbg.h"
#include "utils/format/sym.h"

/*
 * True when the settings request captured values for at least one function. A rule of -T requests
 * values only if the rule has an action about values.
 */
bool capture_is_wanted(const struct capture_settings *settings);

/* True when debug information is needed: for the captures of a function, or for source lines. */
bool capture_needs_debug(const struct capture_settings *settings);

/*
 * @name: the name of the function, in the form that filters compare
 * @module: the base name of the function's file
 * @debug: the debug information of the function, or NULL
 * @has_llvm_strings: captures_llvm_strings() of the function's module
 */
struct capture_subject {
	const char *name;
	const struct symbol *sym;
	const char *module;
	const struct dwarf_func *debug;
	bool has_llvm_strings;
};

/*
 * True when the module with these symbols uses the std::string of LLVM's library. The symbols of
 * that library have their own namespace.
 */
bool captures_llvm_strings(const struct symtab *symbols);

/*
 * Append the capture program of @subject's function to @steps. Returns the index of this program.
 * Returns PLAN_NO_CAPTURE if the function has nothing to capture, or if memory is short.
 */
uint32_t captures_add(const struct capture_settings *settings,
		      const struct capture_subject *subject, struct strbuf *steps);

/* A module for which captures_put_dbg() makes a .dbg file. */
struct capture_module {
	const char *path;
	const char *build_id; /* "" when the module has none */
	const char *basename;
	const struct symtab *symbols;
};

/*
 * Append the .dbg file of @module to @out. The file describes those functions of @module->symbols
 * that the debug information describes. If captures_add() takes the specifications of a function's
 * arguments or result from the debug information, the file contains these specifications. Returns 0
 * or -ENOMEM.
 */
int captures_put_dbg(const struct capture_settings *settings, const struct capture_module *module,
		     struct strbuf *out);

#endif
