/*
 * Finds the functions that must be patched, and makes the patches of a plan (see patches.h).
 */
#include "cmds/record/plan/patches.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "arch/arch.h"
#include "cmds/record/plan/modules.h"
#include "cmds/record/plan/patches_private.h"
#include "cmds/record/plan/plan.h"
#include "utils/base/containers/nearest.h"
#include "utils/base/path.h"
#include "utils/object/names/demangle.h"
#include "utils/object/prepared.h"
#include "utils/spec/args/aliases.h"

void patches_deinit(struct patches *patches)
{
	strbuf_deinit(&patches->complaints);
}

static void packed_deinit(struct packed_patches *packed)
{
	known_functions_deinit(&packed->known);
	free(packed->chosen);
	*packed = (struct packed_patches){ 0 };
}

void module_patches_unpack(struct module_patches *patches)
{
	struct packed_patches *packed = &patches->packed;

	for (size_t i = 0; packed->chosen && i < packed->known.nr; i++) {
		if (packed->chosen[i])
			known_function_add_patches(&packed->known, i, &patches->found);
	}
	packed_deinit(packed);
}

void module_patches_deinit(struct module_patches *patches)
{
	packed_deinit(&patches->packed);
	strbuf_deinit(&patches->found);
	found_index_deinit(&patches->by_func);
	strbuf_deinit(&patches->verdicts);
	strbuf_deinit(&patches->refused);
	symtab_deinit(&patches->symbols);
}

void finding_name(struct finding *f, const struct symbol *sym, struct patch_subject *subject)
{
	aliases_all_names(&f->symbols, sym, f->settings->demangle, &f->name, &f->others);
	subject->name = strbuf_str(&f->name);
	subject->others = strbuf_str(&f->others);
}

enum patch_choice finding_choose(struct finding *f, const struct symbol *sym, bool can_be,
				 const char *why_not)
{
	struct patch_subject subject = {
		.module = path_base(f->known->path),
		.is_program = f->is_program,
		.can_be = can_be,
		.has_hook = f->known->calls_hooks,
		.why_not = why_not,
	};

	if (sym)
		finding_name(f, sym, &subject);
	return patch_rules_choose(f->settings->patches, &subject);
}

/* If no rule of -P inserts hooks, each function with compiled-in room for a hook gets a hook. */
bool finding_wants(const struct finding *f, unsigned what, const struct symbol *sym,
		   enum patch_choice choice)
{
	if (what == PATCH_NOP)
		return choice == PATCH_OUT;
	if (sym && sym->size < f->smallest)
		return false;
	if (choice == PATCH_UNSAID)
		return f->known->is_instrumented && !patch_rules_have(f->settings->patches, false);
	return choice == PATCH_IN;
}

static bool is_wanted(struct finding *f, const struct prepared_site *site)
{
	const struct symbol *sym = symtab_find(&f->symbols, site->func - f->base);

	return finding_wants(f, site->what, sym, finding_choose(f, sym, true, NULL));
}

struct found_patch found_patch_of_prepared(const struct prepared_site *site)
{
	struct found_patch found = {
		.patch = {
			.site = site->addr,
			.addr = site->what == PATCH_NOP ? 0 : site->addr + PLAN_PATCH_JUMP,
			.what = site->what,
			.bytes = site->bytes,
		},
		.func = site->func,
	};

	memcpy(found.patch.original, site->original, sizeof(found.patch.original));
	return found;
}

static void add_found(struct finding *f, const struct prepared_site *site)
{
	struct found_patch found = found_patch_of_prepared(site);

	strbuf_add(&f->out->found, &found, sizeof(found));
	f->out->nr_functions += site->what == PATCH_CALL || site->what == PATCH_XRAY_ENTRY;
}

/*
 * Does nothing when each rule has a match. Otherwise matches all rules with all functions of the
 * file, and notes the results in the rules. From these results patches_warn() knows whether a rule
 * matches no function, or matches only functions that cannot be patched. If nothing in the file can
 * be patched, there is one warning about the file. In this case, no warning is needed for rules
 * that match functions of the file.
 */
static void note_names(struct finding *f)
{
	const char *why = f->known->is_instrumented ? NULL
						    : "it is of the linker, or a part of another "
						      "function";

	if (!patches_have_unmatched(f->settings->patches))
		return;
	for (size_t i = 0; i < f->symbols.nr; i++) {
		if (symbol_is_function(&f->symbols.syms[i]) && f->symbols.syms[i].type != 'P')
			finding_choose(f, &f->symbols.syms[i], f->why_not != NULL, why);
	}
}

/*
 * Add each site in @prepared to the patches of the file, if the rules choose the site. The rules
 * are matched with each site, and give the same answer for all sites of a function. Only XRay has
 * several sites for a function.
 */
static void choose_all(struct finding *f, const struct prepared *prepared)
{
	for (size_t i = 0; i < prepared->nr; i++) {
		if (is_wanted(f, &prepared->sites[i]))
			add_found(f, &prepared->sites[i]);
	}
	f->out->nr_short += prepared->nr_short;
	f->out->nr_unknown += prepared->nr_unknown;
}

static int find_prepared(struct finding *f, const struct elf_file *file)
{
	struct prepared rooms cleanup_prepared = { 0 };
	struct prepared calls cleanup_prepared = { 0 };
	const char *name = path_base(f->known->path);
	int ret = object_is_prepared(file) ? prepared_find(file, &rooms) : 0;

	if (ret == 0 && patch_rules_are_about(f->settings->patches, name, f->is_program, true))
		ret = prepared_find_calls(file, &calls);
	if (ret == 0) {
		choose_all(f, &rooms);
		choose_all(f, &calls);
	}
	return ret;
}

/* True when the file has its own constructors, not only frame_dummy() from crtbegin.o. */
static bool has_constructors(const struct elf_file *file)
{
	struct elf_section sec;

	return elf_section_by_type(file, SHT_INIT_ARRAY, &sec) &&
	       sec.head.sh_size > gelf_fsize(file->elf, ELF_T_ADDR, 1, EV_CURRENT);
}

static int find_sites(struct finding *f, struct uft_err *err)
{
	struct elf_file file cleanup_elf_file = ELF_FILE_CLOSED;
	int ret = elf_file_open(&file, f->known->path, err);

	if (ret < 0 || file.head.e_machine != arch_elf_machine ||
	    file.head.e_ident[EI_CLASS] != arch_elf_class)
		return ret;
	f->base = f->out->base = file.base;
	f->out->has_constructors = has_constructors(&file);
	/* Missing symbols are no error, because functions can be patched without symbols. */
	known_symbols_load(f->settings, f->known, &f->symbols);
	if (f->known->is_instrumented)
		ret = find_prepared(f, &file);
	else
		ret = finding_unprepared(f, &file, err);
	note_names(f);
	if (ret == 0 && (strbuf_oom(&f->out->found) || strbuf_oom(&f->name)))
		ret = -ENOMEM;
	if (ret == -ENOSYS)
		return err_prefix(err, "cannot patch '%s'", f->known->path), ret;
	return ret < 0 ? err_set_errno(err, ret, "cannot patch '%s'", f->known->path) : 0;
}

static void complain_of_file(struct patches *patches, const char *path, const char *why_not)
{
	struct strbuf text cleanup_strbuf = { 0 };

	strbuf_addf(&text, "the functions of '%s' are not patched: %s", path, why_not);
	strbuf_list_add(&patches->complaints, strbuf_str(&text));
}

static void complain(struct patches *patches, const struct module_patches *found, const char *path)
{
	struct strbuf text cleanup_strbuf = { 0 };

	if (found->nr_short) {
		bool is_one = found->nr_short == 1;

		strbuf_addf(&text,
			    "%zu function%s of '%s' %s nops where %s, but fewer than the %u bytes "
			    "of a call; compile %s with -fpatchable-function-entry=%u",
			    found->nr_short, is_one ? "" : "s", path,
			    is_one ? "is not recorded: it has" : "are not recorded: they have",
			    is_one ? "it begins" : "they begin", PLAN_PATCH_JUMP,
			    is_one ? "it" : "them", PLAN_PATCH_JUMP);
		strbuf_list_add(&patches->complaints, strbuf_str(&text));
	}
	if (found->nr_unknown) {
		strbuf_reset(&text);
		strbuf_addf(&text,
			    "%zu %s to be patched in '%s' %s alone: something else is there than "
			    "compilers put there",
			    found->nr_unknown, found->nr_unknown == 1 ? "place" : "places", path,
			    found->nr_unknown == 1 ? "is left" : "are left");
		strbuf_list_add(&patches->complaints, strbuf_str(&text));
	}
}

bool finding_may_be(const struct record_settings *settings, const struct known_module *known,
		    bool is_program)
{
	const char *name = path_base(known->path);

	/* The probe is never searched, even if its name matches a rule like ".@lib". */
	return known->is_instrumented ||
	       (strncmp(name, "libmcount", strlen("libmcount")) != 0 &&
		patch_rules_are_about(settings->patches, name, is_program, /* takes_out= */ false));
}

void patches_find(struct patches *patches, const struct record_settings *settings,
		  struct known_module *known, bool is_program)
{
	struct module_patches *found = &known->patches[is_program];
	struct finding f = {
		.settings = settings,
		.known = known,
		.is_program = is_program,
		.wants_verdicts = patches->wants_verdicts,
		.smallest = settings_smallest_size(settings),
		.tick = patches->tick,
		.tick_arg = patches->tick_arg,
		.out = found,
	};
	struct uft_err err = { 0 };
	uint64_t before_ns;

	if (found->is_known || !finding_may_be(settings, known, is_program))
		return;
	found->is_known = true;
	before_ns = clock_now_ns(CLOCK_PROCESS_CPUTIME_ID);
	if (find_sites(&f, &err) < 0)
		strbuf_list_add(&patches->complaints, err.text);
	if (f.why_not)
		complain_of_file(patches, known->path, f.why_not);
	if (module_patches_has_any(found))
		known->has_functions = true;
	complain(patches, found, known->path);
	patches->took_ns += clock_now_ns(CLOCK_PROCESS_CPUTIME_ID) - before_ns;
	symtab_deinit(&f.symbols);
	strbuf_deinit(&f.name);
	strbuf_deinit(&f.others);
}

void patches_note_late(struct patches *patches, struct known_module *known)
{
	struct module_patches *found = &known->patches[/* is_program= */ false];
	struct strbuf text cleanup_strbuf = { 0 };

	if (!found->has_constructors || !module_patches_has_any(found) || found->is_late_told)
		return;
	found->is_late_told = true;
	strbuf_addf(
		&text,
		"the constructors of '%s' were not recorded: the program has loaded it while it "
		"ran, and its functions are patched when that is done; with LD_PRELOAD=%s it is "
		"loaded at the start",
		known->path, known->path);
	strbuf_list_add(&patches->complaints, strbuf_str(&text));
}

static void bind_found(const struct strbuf *found, uint64_t bias, struct strbuf *out)
{
	const struct found_patch *list = (const struct found_patch *)found->data;

	for (size_t i = 0; i < found->len / sizeof(*list); i++) {
		if (!list[i].is_out)
			found_patch_bind(&list[i], bias, out);
	}
}

static void bind_packed(const struct packed_patches *packed, uint64_t bias, struct strbuf *out)
{
	struct strbuf found cleanup_strbuf = { 0 };

	for (size_t i = 0; packed->chosen && i < packed->known.nr; i++) {
		if (!packed->chosen[i])
			continue;
		strbuf_reset(&found);
		known_function_add_patches(&packed->known, i, &found);
		bind_found(&found, bias, out);
	}
	/* When memory is short, the whole plan fails, because an incomplete plan is not used. */
	out->oom |= found.oom;
}

void patches_bind(const struct known_module *known, const struct control_module *module,
		  bool is_program, struct strbuf *out)
{
	const struct module_patches *found = &known->patches[is_program];

	bind_packed(&found->packed, module->load_bias, out);
	bind_found(&found->found, module->load_bias, out);
}

/* --- messages for the user --- */

bool patches_name_files(const struct patch_rules *rules)
{
	for (size_t i = 0; i < rules->nr; i++) {
		if (rules->rules[i].module)
			return true;
	}
	return false;
}

bool patches_have_unmatched(const struct patch_rules *rules)
{
	for (size_t i = 0; i < rules->nr; i++) {
		if (!rules->rules[i].has_match)
			return true;
	}
	return false;
}

void patches_explain(const struct patch_rule *rule, const char *is_of, const struct strbuf *names,
		     struct strbuf *out)
{
	struct nearest near;

	if (rule->why_not) {
		strbuf_addf(out, "%s: no function that matches '%s' can be patched: %s", is_of,
			    rule->text, rule->why_not);
		return;
	}
	if (rule->has_name) {
		strbuf_addf(out, "%s: no function that matches '%s' was compiled with %s", is_of,
			    rule->text,
			    rule->takes_out ? "a call of mcount or __fentry__, or with room for one"
					    : "room for a hook (-fpatchable-function-entry, "
					      "-mnop-mcount, -fxray-instrument)");
		return;
	}
	strbuf_addf(out, "%s: no function %s%s%s matches '%s'", is_of,
		    rule->module ? "in a file whose name begins with '" : "of the program",
		    rule->module ? rule->module : "", rule->module ? "'" : "", rule->name.text);
	/*
	 * A rule that names a file gets no suggestion: @names does not tell which function is in
	 * which file.
	 */
	nearest_init(&near, rule->name.text);
	strbuf_list_each (names, name)
		nearest_offer(&near, name);
	if (!rule->module && nearest_is_close(&near)) {
		strbuf_addstr(out, "; the nearest: ");
		nearest_text(&near, "", out);
	}
}

static void warn_about_rule(const struct patch_rule *rule, const struct strbuf *names,
			    const struct msg *msg)
{
	struct strbuf text cleanup_strbuf = { 0 };

	patches_explain(rule, rule->is_unpatch ? "option '--unpatch'" : "option '--patch'", names,
			&text);
	msg_warn(msg, "%s", strbuf_str(&text));
}

void patches_warn(const struct patches *patches, const struct patch_rules *rules,
		  const struct strbuf *names, const struct msg *msg)
{
	strbuf_list_each (&patches->complaints, complaint)
		msg_warn(msg, "%s", complaint);
	for (size_t i = 0; i < rules->nr; i++) {
		if (!rules->rules[i].has_match)
			warn_about_rule(&rules->rules[i], names, msg);
	}
}
