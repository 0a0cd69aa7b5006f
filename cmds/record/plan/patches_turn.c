/*
 * The rules of -P and -U can change while programs run. This file applies the changed rules. All
 * possible patches are found once, and the rules choose among these patches (see patches.h).
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "arch/arch.h"
#include "cmds/record/plan/found_patch.h"
#include "cmds/record/plan/modules.h"
#include "cmds/record/plan/patches_private.h"
#include "cmds/record/plan/plan.h"
#include "utils/base/cleanup.h"
#include "utils/base/containers/order.h"
#include "utils/base/path.h"
#include "utils/object/prepared.h"

/* A function that cannot be patched: its start address, and the reason. */
struct patch_refusal {
	uint64_t func;
	char why[SITE_REASON_MAX];
};

static size_t nr_found(const struct module_patches *found)
{
	return found->found.len / sizeof(struct found_patch);
}

static struct found_patch *found_at(const struct module_patches *found, size_t index)
{
	return (struct found_patch *)found->found.data + index;
}

/* --- finding all patches --- */

/*
 * The bytes that earlier patches use, and the functions that have patches. Both lists are sorted.
 */
struct taken {
	struct taken_range {
		uint64_t start;
		uint64_t end;
	} * ranges;
	uint64_t *funcs;
	size_t nr;
};

static void taken_deinit(struct taken *taken)
{
	free(taken->ranges);
	free(taken->funcs);
}

_Static_assert(offsetof(struct taken_range, start) == 0, "ordered by order_u64()");

static int taken_make(struct taken *taken, const struct module_patches *found)
{
	size_t nr = nr_found(found);

	taken->ranges = calloc(nr + 1, sizeof(*taken->ranges));
	taken->funcs = calloc(nr + 1, sizeof(*taken->funcs));
	if (!taken->ranges || !taken->funcs)
		return -ENOMEM;
	for (size_t i = 0; i < nr; i++) {
		const struct found_patch *one = found_at(found, i);

		taken->ranges[i].start = one->patch.site;
		taken->ranges[i].end = one->patch.site + found_patch_reach(one);
		taken->funcs[i] = one->func;
	}
	taken->nr = nr;
	qsort(taken->ranges, nr, sizeof(*taken->ranges), order_u64);
	qsort(taken->funcs, nr, sizeof(*taken->funcs), order_u64);
	return 0;
}

static bool has_func(const struct taken *taken, uint64_t func)
{
	return taken->nr &&
	       bsearch(&func, taken->funcs, taken->nr, sizeof(*taken->funcs), order_u64);
}

/*
 * True when no earlier patch uses a byte in [@start, @end). A patch uses the bytes that it
 * overwrites or moves. These are at most UINT8_MAX bytes.
 *
 * Two earlier patches may use the same moved bytes, so the ranges of earlier patches may overlap.
 * Therefore the loop examines all ranges that may reach @start.
 */
static bool is_free(const struct taken *taken, uint64_t start, uint64_t end)
{
	size_t below = order_count_until(taken->ranges, taken->nr, sizeof(*taken->ranges), end - 1);

	for (size_t i = below; i-- > 0;) {
		if (start < taken->ranges[i].end)
			return false;
		if (start - taken->ranges[i].start > UINT8_MAX)
			break;
	}
	return true;
}

static void refuse_function(struct module_patches *found, uint64_t func, const char *why)
{
	struct patch_refusal refusal = { .func = func };

	strncpy(refusal.why, why, sizeof(refusal.why) - 1);
	strbuf_add(&found->refused, &refusal, sizeof(refusal));
}

static void add_sites(struct module_patches *found, const struct prepared *prepared,
		      const struct taken *taken)
{
	for (size_t i = 0; i < prepared->nr; i++) {
		struct found_patch one = found_patch_of_prepared(&prepared->sites[i]);

		one.is_out = true;
		if (is_free(taken, one.patch.site, one.patch.site + found_patch_reach(&one)))
			strbuf_add(&found->found, &one, sizeof(one));
	}
}

static int add_prepared(struct finding *f, const struct elf_file *file, const struct taken *taken)
{
	struct prepared rooms cleanup_prepared = { 0 };
	struct prepared calls cleanup_prepared = { 0 };
	int ret = object_is_prepared(file) ? prepared_find(file, &rooms) : 0;

	if (ret == 0)
		ret = prepared_find_calls(file, &calls);
	if (ret < 0)
		return ret;
	add_sites(f->out, &rooms, taken);
	add_sites(f->out, &calls, taken);
	return 0;
}

/* Returns how many patches in a row, from index @at on, are for the function of patch @at. */
static size_t group_of(const struct found_patch *list, size_t nr, size_t at)
{
	size_t end = at + 1;

	while (end < nr && list[end].func == list[at].func)
		end++;
	return end - at;
}

/*
 * Adds new patches, but drops those that overlap an earlier patch, because traced processes may
 * already use the earlier patch.
 */
static void add_groups(struct finding *f, const struct strbuf *more, const struct taken *taken)
{
	struct found_patch *list = (struct found_patch *)more->data;
	size_t nr = more->len / sizeof(*list);
	size_t nr_group;

	for (size_t at = 0; at < nr; at += nr_group) {
		bool can_be = true;

		nr_group = group_of(list, nr, at);
		for (size_t i = at; i < at + nr_group; i++) {
			list[i].is_out = true;
			can_be &= is_free(taken, list[i].patch.site,
					  list[i].patch.site + found_patch_reach(&list[i]));
		}
		if (can_be)
			strbuf_add(&f->out->found, &list[at], nr_group * sizeof(*list));
		else
			refuse_function(f->out, list[at].func, "another patch has its room");
	}
}

static int add_unprepared(struct finding *f, const struct elf_file *file, const struct taken *taken)
{
	struct known_functions known cleanup_known_functions = { 0 };
	struct strbuf more cleanup_strbuf = { 0 };
	int ret = finding_known(f, file, &known, NULL);

	if (ret < 0 || f->why_not)
		return ret == -ENOSYS ? 0 : ret;
	for (size_t i = 0; i < known.nr; i++) {
		if (has_func(taken, known.list[i].start))
			continue;
		known_function_add_patches(&known, i, &more);
		if (known.list[i].way >= UNPREPARED_CANNOT)
			refuse_function(f->out, known.list[i].start,
					known_function_why_not(&known, i));
	}
	if (strbuf_oom(&more))
		return -ENOMEM;
	add_groups(f, &more, taken);
	return 0;
}

/*
 * Opens the file. Returns false if the file cannot be read, or is for another machine. Such a file
 * gets no patches.
 */
static bool open_file(struct elf_file *file, const char *path)
{
	return elf_file_open(file, path, NULL) == 0 && file->head.e_machine == arch_elf_machine &&
	       file->head.e_ident[EI_CLASS] == arch_elf_class;
}

static int find_all(struct finding *f)
{
	struct elf_file file cleanup_elf_file = ELF_FILE_CLOSED;
	struct taken taken cleanup(taken_deinit) = { 0 };
	size_t nr_unnamed = f->known->unnamed.nr;
	int ret;

	if (!open_file(&file, f->known->path))
		return 0;
	f->base = f->out->base = file.base;
	known_symbols_load(f->settings, f->known, &f->symbols);
	ret = taken_make(&taken, f->out);
	if (ret == 0)
		ret = f->known->is_instrumented ? add_prepared(f, &file, &taken)
						: add_unprepared(f, &file, &taken);
	/* Functions without a symbol got names, so the symbol file must be written again. */
	if (f->known->unnamed.nr != nr_unnamed)
		f->known->is_saved = false;
	return strbuf_oom(&f->out->found) || strbuf_oom(&f->out->refused) ? -ENOMEM : ret;
}

/* --- choosing --- */

static const struct symbol *symbol_of(const struct finding *f, uint64_t func)
{
	const struct symtab *symbols = &f->out->symbols;

	return f->known->is_instrumented ? symtab_find(symbols, func - f->base)
					 : finding_symbol(symbols, func - f->base);
}

/*
 * Returns the function of known->left_out to which the patch belongs. Returns NULL if there is no
 * such function, or if a rule has chosen the function again (is_back).
 */
static const struct module_left_out *left_out_of(const struct known_module *known,
						 const struct module_patches *found,
						 const struct found_patch *one)
{
	const struct module_left_out *left = known_left_out_at(known, one->func - found->base);

	return left && !left->is_back ? left : NULL;
}

/*
 * Finds the functions that --overhead left out and that a later rule of the user chooses again.
 * Calls into libraries are skipped, because no rule can name them.
 */
static void look_who_is_back(struct finding *f)
{
	known_left_out_each (f->known, left) {
		const struct symbol *sym = symtab_find(&f->out->symbols, left->func.start);
		struct patch_subject subject = { .module = path_base(f->known->path),
						 .is_program = f->is_program };

		if (!sym || sym->type == 'P')
			continue;
		finding_name(f, sym, &subject);
		left->is_back = patch_rules_choose_since(f->settings->patches, &subject,
							 left->rules) == PATCH_IN;
	}
}

static void turn_patch(struct found_patch *found, bool is_wanted, struct patches_turned *turned)
{
	bool is_hook = found->patch.what != PATCH_NOP;

	if (is_wanted == !found->is_out)
		return;
	found->is_out = !is_wanted;
	if (found_patch_is_function(found))
		(*(is_wanted == is_hook ? &turned->nr_in : &turned->nr_out))++;
}

static void choose_patches(struct finding *f, struct patches_turned *turned)
{
	const struct symbol *sym = NULL;
	enum patch_choice choice = PATCH_UNSAID;
	uint64_t func = 0;

	for (size_t i = 0; i < nr_found(f->out); i++) {
		struct found_patch *found = found_at(f->out, i);

		if (i == 0 || found->func != func) {
			func = found->func;
			sym = symbol_of(f, func);
			choice = finding_choose(f, sym, true, NULL);
		}

		bool is_wanted = left_out_of(f->known, f->out, found)
					 ? found->patch.what == PATCH_NOP
					 : finding_wants(f, found->patch.what, sym, choice);

		turn_patch(found, is_wanted, turned);
		f->known->has_functions |= is_wanted;
	}
}

/* If a rule matches a function that cannot be patched, stores the reason in the rule. */
static void note_refused(struct finding *f)
{
	const struct patch_refusal *list = (const struct patch_refusal *)f->out->refused.data;
	size_t nr = f->out->refused.len / sizeof(*list);

	if (!patches_have_unmatched(f->settings->patches))
		return;
	for (size_t i = 0; i < nr; i++)
		finding_choose(f, symbol_of(f, list[i].func), false, list[i].why);
	for (size_t i = 0; nr_found(f->out) == 0 && i < f->out->symbols.nr; i++) {
		if (symbol_is_function(&f->out->symbols.syms[i]))
			finding_choose(f, &f->out->symbols.syms[i], false, f->out->why_not);
	}
}

static bool is_about(const struct patch_rules *rules, const struct known_module *known,
		     bool is_program)
{
	const char *name = path_base(known->path);

	return patch_rules_are_about(rules, name, is_program, true) ||
	       patch_rules_are_about(rules, name, is_program, false);
}

int patches_turn(const struct record_settings *settings, struct known_module *known,
		 bool is_program, struct patches_turned *turned)
{
	struct module_patches *found = &known->patches[is_program];
	struct finding f = {
		.settings = settings,
		.known = known,
		.is_program = is_program,
		.smallest = settings_smallest_size(settings),
		.base = found->base,
		.out = found,
	};
	int ret = 0;

	/*
	 * After the first search, every change of the rules requires a new choice of patches,
	 * because a removed rule may have chosen patches of this file.
	 */
	if (found->has_all ? found->generation == settings->patches->generation
			   : !is_about(settings->patches, known, is_program))
		return 0;
	if (!found->is_known && !finding_may_be(settings, known, is_program))
		return 0;
	module_patches_unpack(found);
	found->is_known = true;
	if (!found->has_all) {
		ret = find_all(&f);
		found->symbols = f.symbols;
		found->why_not = f.why_not;
		found->has_all = true;
	}
	look_who_is_back(&f);
	choose_patches(&f, turned);
	note_refused(&f);
	found->generation = settings->patches->generation;
	strbuf_deinit(&f.name);
	strbuf_deinit(&f.others);
	return ret;
}

/* --- functions that --overhead leaves out of the recording --- */

static void add_calls(struct module_patches *found, const struct elf_file *file,
		      const struct prepared *calls)
{
	struct taken taken cleanup(taken_deinit) = { 0 };

	if (!found->is_known || found->has_all || found->has_calls)
		return;
	module_patches_unpack(found);
	found->base = file->base;
	found->has_calls = true;
	if (taken_make(&taken, found) == 0)
		add_sites(found, calls, &taken);
}

/*
 * Finds calls to mcount() and __fentry__() in the file, and adds patches for these calls. A file
 * has two lists of patches: one for the file as a program, one for the file as a library.
 */
void patches_find_calls(struct known_module *known)
{
	struct elf_file file cleanup_elf_file = ELF_FILE_CLOSED;
	struct prepared calls cleanup_prepared = { 0 };

	if (!known->calls_hooks || !open_file(&file, known->path) ||
	    prepared_find_calls(&file, &calls) < 0)
		return;
	for (size_t k = 0; k < ARRAY_SIZE(known->patches); k++)
		add_calls(&known->patches[k], &file, &calls);
}

/*
 * Returns the patches of the functions whose start is in [@start, @end). These two addresses are
 * relative to the file's start.
 */
static const struct found_index_entry *patches_of(struct module_patches *found, uint64_t start,
						  uint64_t end, size_t *nr)
{
	module_patches_unpack(found);
	found_index_update(&found->by_func, &found->found);
	return found_index_range(&found->by_func, start + found->base, end + found->base, nr);
}

bool patches_can_go(struct known_module *known, bool is_program, uint64_t start, uint64_t end)
{
	struct module_patches *found = &known->patches[is_program];
	size_t nr;
	const struct found_index_entry *entries = patches_of(found, start, end, &nr);

	for (size_t i = 0; i < nr; i++) {
		const struct found_patch *one = found_at(found, entries[i].number);

		if (one->is_out == (one->patch.what == PATCH_NOP))
			return true;
	}
	return false;
}

static void each_left_out(struct known_module *known, struct module_patches *found,
			  void (*fn)(struct found_patch *one, void *arg), void *arg)
{
	known_left_out_each (known, left) {
		size_t nr;
		const struct found_index_entry *entries = patches_of(found, left->func.start,
								     left->func.end, &nr);

		for (size_t i = 0; i < nr; i++) {
			struct found_patch *one = found_at(found, entries[i].number);

			/*
			 * A function of known->left_out may contain other functions of this list.
			 * A patch belongs to the innermost function.
			 */
			if (left_out_of(known, found, one) == left)
				fn(one, arg);
		}
	}
}

static void take_out(struct found_patch *one, void *arg)
{
	(void)arg;
	one->is_out = one->patch.what != PATCH_NOP;
}

void patches_leave_out(struct known_module *known)
{
	for (size_t k = 0; k < ARRAY_SIZE(known->patches); k++)
		each_left_out(known, &known->patches[k], take_out, NULL);
}

/* --- for one process --- */

void process_patches_deinit(struct process_patches *patches)
{
	strbuf_deinit(&patches->all);
	strbuf_deinit(&patches->sites);
	strbuf_deinit(&patches->wanted);
	strbuf_deinit(&patches->ends);
}

/* True for a patch that records the end of a call. */
static bool is_end(const struct found_patch *found)
{
	return found->patch.what == PATCH_XRAY_EXIT || found->patch.what == PATCH_XRAY_TAIL;
}

static void add_one(struct process_patches *patches, const struct found_patch *one, uint64_t bias)
{
	uint64_t site = one->patch.site + bias;

	found_patch_bind(one, bias, &patches->all);
	if (plan_patch_has_no_text(one->patch.flags))
		return;
	strbuf_add(&patches->sites, &site, sizeof(site));
	if (!one->is_out)
		strbuf_add(&patches->wanted, &site, sizeof(site));
	if (is_end(one)) {
		const struct patch_end end = { site, one->func + bias };

		strbuf_add(&patches->ends, &end, sizeof(end));
	}
}

void process_patches_add(struct process_patches *patches, const struct known_module *known,
			 const struct control_module *module, bool is_program)
{
	const struct module_patches *found = &known->patches[is_program];

	for (size_t i = 0; found->has_all && i < nr_found(found); i++)
		add_one(patches, found_at(found, i), module->load_bias);
}

struct adding {
	struct process_patches *patches;
	uint64_t bias;
};

static void add_left_out(struct found_patch *one, void *arg)
{
	const struct adding *adding = arg;

	add_one(adding->patches, one, adding->bias);
}

void process_patches_add_left_out(struct process_patches *patches, struct known_module *known,
				  const struct control_module *module, bool is_program)
{
	struct adding adding = { patches, module->load_bias };

	each_left_out(known, &known->patches[is_program], add_left_out, &adding);
}

static void sort_addresses(struct strbuf *list, size_t size)
{
	if (list->len)
		qsort(list->data, list->len / size, size, order_u64);
}

_Static_assert(offsetof(struct patch_end, site) == 0, "ordered by order_u64()");

int process_patches_sort(struct process_patches *patches)
{
	sort_addresses(&patches->sites, sizeof(uint64_t));
	sort_addresses(&patches->wanted, sizeof(uint64_t));
	sort_addresses(&patches->ends, sizeof(struct patch_end));
	return strbuf_oom(&patches->all) || strbuf_oom(&patches->sites) ||
			       strbuf_oom(&patches->wanted) || strbuf_oom(&patches->ends)
		       ? -ENOMEM
		       : 0;
}

/*
 * Keeps the groups in which at least one patch is wanted. All patches of a group except the last
 * patch have PLAN_PATCH_SILENT.
 */
void process_patches_keep_wanted(struct process_patches *patches)
{
	struct plan_patch *list = (struct plan_patch *)patches->all.data;
	size_t nr = patches->all.len / sizeof(*list);
	size_t nr_kept = 0;
	bool is_wanted = false;

	for (size_t i = 0, first = 0; i < nr; i++) {
		const struct strbuf *wanted = &patches->wanted;

		is_wanted |= wanted->len &&
			     bsearch(&list[i].site, wanted->data, wanted->len / sizeof(uint64_t),
				     sizeof(uint64_t), order_u64);
		if (list[i].flags & PLAN_PATCH_SILENT)
			continue;
		if (is_wanted) {
			memmove(&list[nr_kept], &list[first], (i + 1 - first) * sizeof(*list));
			nr_kept += i + 1 - first;
		}
		is_wanted = false;
		first = i + 1;
	}
	patches->all.len = nr_kept * sizeof(*list);
}

const struct patch_end *process_patches_end(const struct process_patches *patches, uint64_t site)
{
	const struct strbuf *ends = &patches->ends;
	size_t size = sizeof(struct patch_end);

	return ends->len ? bsearch(&site, ends->data, ends->len / size, size, order_u64) : NULL;
}
