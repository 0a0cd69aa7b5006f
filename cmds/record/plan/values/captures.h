/*
 * The values to capture of a function's calls: from the user's rules, debug information and tables
 * to capture programs.
 */
#ifndef UTRAIL_CMDS_RECORD_PLAN_CAPTURES_H
#define UTRAIL_CMDS_RECORD_PLAN_CAPTURES_H

#include "cmds/record/base/settings.h"
#include "cmds/record/plan/values/debuginfo.h"
#include "utils/base/containers/strbuf.h"
#include "utils/format/dbg.h"
#include "utils/format/sym.h"

/* Are there functions with something to capture? */
static inline bool capture_is_wanted(const struct capture_settings *settings)
{
	return settings->is_auto || (settings->rules && settings->rules->nr);
}

/* Does any function need debug information for it? */
bool capture_needs_debug(const struct capture_settings *settings);

/*
 * A function: its name as filters know it, its symbol, the base name of its file, and its debug
 * information, or NULL. @has_llvm_strings: captures_llvm_strings() of its module.
 */
struct capture_subject {
	const char *name;
	const struct symbol *sym;
	const char *module;
	const struct dwarf_func *debug;
	bool has_llvm_strings;
};

/*
 * True when the module with these symbols uses the std::string of LLVM's library: such symbols have
 * a namespace of their own.
 */
bool captures_llvm_strings(const struct symtab *symbols);

/*
 * Append the function's program to @steps. Returns its index, or PLAN_NO_CAPTURE when there is
 * nothing to capture, or memory is short.
 */
uint32_t captures_add(const struct capture_settings *settings,
		      const struct capture_subject *subject, struct strbuf *steps);

/*
 * The .dbg file of a module: lines of all functions in @symbols that debug information knows, and
 * the specifications of those of which captures_add() has taken them from there. 0 with the text in
 * @out, "" when it knows none; -ENOMEM.
 */
struct capture_module {
	const char *path;
	const char *build_id; /* "" when there is none */
	const char *basename;
	const struct symtab *symbols;
};
int captures_put_dbg(const struct capture_settings *settings, const struct capture_module *module,
		     struct strbuf *out);

#endif
