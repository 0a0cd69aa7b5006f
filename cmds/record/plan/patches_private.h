/* The declarations that patches.c, patches_turn.c and patches_unprepared.c share. */
#ifndef UTRAIL_CMDS_RECORD_PLAN_PATCHES_PRIVATE_H
#define UTRAIL_CMDS_RECORD_PLAN_PATCHES_PRIVATE_H

#include "cmds/record/base/settings.h"
#include "cmds/record/plan/known_functions.h"
#include "cmds/record/plan/patches.h"
#include "utils/format/sym.h"
#include "utils/object/elf_file.h"
#include "utils/object/code/functions.h"

struct known_module;

/*
 * A file that is being searched.
 *
 * @base: the address to which the addresses of @symbols are relative
 * @smallest: functions smaller than this are not recorded
 * @why_not: the reason why nothing can be patched, as a constant text, or NULL
 * @name, @others: buffers for names
 */
struct finding {
	const struct record_settings *settings;
	struct known_module *known;
	bool is_program;
	bool wants_verdicts;
	uint64_t base;
	uint64_t smallest;
	struct symtab symbols;
	const char *why_not;
	struct strbuf name;
	struct strbuf others;
	void (*tick)(void *arg);
	void *tick_arg;
	struct module_patches *out;
};

/* Write the names of @sym to f->name and f->others. @subject then refers to these names. */
struct patch_subject;
void finding_name(struct finding *f, const struct symbol *sym, struct patch_subject *subject);

/*
 * Returns the choice that the rules make for a function. Updates has_name, has_match and why_not of
 * every rule that matches the function (struct patch_rule).
 *
 * @sym: NULL: the function has no name
 * @can_be: the function can be patched
 * @why_not: the reason why the function cannot be patched, or NULL
 */
enum patch_choice finding_choose(struct finding *f, const struct symbol *sym, bool can_be,
				 const char *why_not);

/*
 * True when a site of kind @what in the function @sym must be patched.
 *
 * @sym: NULL: the function has no name
 * @choice: the choice of the rules
 */
bool finding_wants(const struct finding *f, unsigned what, const struct symbol *sym,
		   enum patch_choice choice);

/*
 * True when the file may be searched. A file without hooks, and without room for hooks, is searched
 * only if a rule requests it.
 */
bool finding_may_be(const struct record_settings *settings, const struct known_module *known,
		    bool is_program);

/* Returns the patch for a site that the compiler has prepared. */
struct prepared_site;
struct found_patch;
struct found_patch found_patch_of_prepared(const struct prepared_site *site);

/* Returns the symbol that begins at @at, or NULL. @symbols: sorted */
const struct symbol *finding_symbol(const struct symtab *symbols, uint64_t at);

/*
 * Store the facts about an unprepared file in @known (known_functions.h). The facts come from the
 * cache or, if the cache lacks them, from the file. If a function of the kind FUNCTION_WHOLE is
 * missing in f->symbols, add a symbol for the function to f->symbols, and to the module's table
 * f->known->unnamed. If nothing in the file can be patched, set f->why_not, and leave @known empty.
 * Returns 0 or a negative errno. For -ENOSYS, @err gets a text.
 */
int finding_known(struct finding *f, const struct elf_file *file, struct known_functions *known,
		  struct uft_err *err);

/*
 * Find the patches of an unprepared file. Returns 0 or a negative errno. For -ENOSYS, @err gets a
 * text.
 */
int finding_unprepared(struct finding *f, const struct elf_file *file, struct uft_err *err);

#endif
