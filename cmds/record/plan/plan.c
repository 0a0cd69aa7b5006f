/* Makes plans (see plan.h): finds the functions to which the options apply. */
#include "cmds/record/plan/plan.h"

#include <errno.h>
#include <malloc.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "cmds/record/plan/callers.h"
#include "cmds/record/plan/values/captures.h"
#include "cmds/record/plan/libcalls.h"
#include "utils/base/fd.h"
#include "utils/base/containers/order.h"
#include "utils/base/path.h"
#include "utils/format/callables.h"
#include "utils/object/names/demangle.h"
#include "utils/spec/args/aliases.h"

_Static_assert(offsetof(struct plan_func, start) == 0, "ordered by order_u64()");

#define LARGE_BYTES (1 << 20)

void plan_give_memory_back(void)
{
#ifdef M_MMAP_THRESHOLD
	mallopt(M_MMAP_THRESHOLD, LARGE_BYTES);
#endif
}

/* Returns the smallest size that an option names. With @greatest, returns the greatest size. */
static uint64_t extreme_size(const struct record_settings *settings, bool greatest)
{
	uint64_t size = settings->size_filter;

	for (size_t i = 0; i < settings->filters->nr; i++) {
		const struct trigger *t = &settings->filters->entries[i].spec.trigger;

		if ((t->flags & TRIGGER_SIZE) && (t->size > size) == greatest)
			size = t->size;
	}
	return size;
}

uint64_t settings_smallest_size(const struct record_settings *settings)
{
	return extreme_size(settings, false);
}

/*
 * A module whose functions are being bound to options.
 *
 * @listed_below: a size in bytes. The plan lists all smaller functions, so that the probe knows the
 *                sizes of these functions
 * @out: gets the functions of the module, with addresses relative to the module's start
 */
struct binding {
	const struct record_settings *settings;
	const struct patches *patches;
	const struct known_module *module;
	bool is_program;
	const struct dwarf_info *debug; /* NULL if no debug information is needed */
	bool has_llvm_strings;
	struct rule_set *rules;
	const struct symtab *symbols;
	struct strbuf *steps;
	uint64_t listed_below;
	struct strbuf *out;
};

static uint32_t capture_of(struct binding *b, const struct symbol *sym, const char *name)
{
	struct capture_subject subject = {
		.name = name,
		.sym = sym,
		.module = path_base(b->module->path),
		.debug = debuginfo_func(b->debug, sym),
		.has_llvm_strings = b->has_llvm_strings,
	};

	if (!capture_is_wanted(&b->settings->captures))
		return PLAN_NO_CAPTURE;
	return captures_add(&b->settings->captures, &subject, b->steps);
}

/* @name, @others: buffers for names */
static void bind_symbol(struct binding *b, const struct symbol *sym, struct strbuf *name,
			struct strbuf *others)
{
	struct plan_func func = {
		.start = sym->addr,
		.end = sym->addr + sym->size,
		.rule = PLAN_NO_RULE,
		.capture = PLAN_NO_CAPTURE,
	};
	struct trigger trigger;

	aliases_all_names(b->symbols, sym, b->settings->demangle, name, others);

	const struct dwarf_func *debug = debuginfo_func(b->debug, sym);
	struct filter_subject subject = {
		.name = strbuf_str(name),
		.name_len = name->len,
		.others = strbuf_str(others),
		.source_file = debug ? debug->file : NULL,
		.module = path_base(b->module->path),
		.is_plt = sym->type == 'P',
		.is_program = b->is_program,
	};

	if (filters_match(b->settings->filters, &subject, &trigger))
		func.rule = rule_set_add(b->rules, &trigger);
	if (func.rule != PLAN_NO_RULE && (trigger.flags & TRIGGER_NOTRACE))
		rule_set_note_opted_in(b->rules, b->settings->filters, &subject);
	func.capture = capture_of(b, sym, subject.name);
	if (func.rule != PLAN_NO_RULE || func.capture != PLAN_NO_CAPTURE ||
	    sym->size < b->listed_below)
		strbuf_add(b->out, &func, sizeof(func));
}

/* True when a std::string may be captured or compared. */
static bool looks_at_strings(const struct record_settings *settings)
{
	const struct filters *filters = settings->filters;

	if (capture_is_wanted(&settings->captures))
		return true;
	for (size_t i = 0; i < filters->nr; i++) {
		const struct cond *cond = &filters->entries[i].spec.cond;

		for (size_t k = 0; k < cond->nr; k++) {
			if (cond->terms[k].is_object)
				return true;
		}
	}
	return false;
}

#define BIND_TICKS 256 /* the number of symbols that are matched between two calls of tick() */

static void bind_module(struct binding *b)
{
	struct symtab symbols cleanup_symtab = { 0 };
	struct strbuf name cleanup_strbuf = { 0 };
	struct strbuf others cleanup_strbuf = { 0 };
	const struct known_module *m = b->module;
	const struct capture_settings *captures = &b->settings->captures;

	if (known_symbols_load(b->settings, m, &symbols) < 0)
		return;
	/* Functions of a module without hooks have no records, and need no debug information. */
	if (capture_needs_debug(captures) && m->has_functions)
		b->debug = debuginfo_of(captures->debug, m->path);
	b->has_llvm_strings = looks_at_strings(b->settings) && captures_llvm_strings(&symbols);
	b->rules->has_llvm_strings = b->has_llvm_strings;
	b->symbols = &symbols;
	b->listed_below = extreme_size(b->settings, true);
	for (size_t i = 0; i < symbols.nr; i++) {
		if (b->patches->tick && i % BIND_TICKS == 0)
			b->patches->tick(b->patches->tick_arg);
		if (symbol_is_function(&symbols.syms[i]))
			bind_symbol(b, &symbols.syms[i], &name, &others);
	}
}

/*
 * Sorts the functions, and drops functions that start within another function. The probe looks up
 * the function that contains an address, so at most one function may contain the address.
 */
static void sort_funcs(struct strbuf *out)
{
	struct plan_func *funcs = (struct plan_func *)out->data;
	size_t nr = out->len / sizeof(*funcs);
	size_t kept = 0;

	if (!nr)
		return;
	qsort(funcs, nr, sizeof(*funcs), order_u64);
	for (size_t i = 0; i < nr; i++) {
		if (kept && funcs[i].start < funcs[kept - 1].end)
			continue;
		funcs[kept++] = funcs[i];
	}
	out->len = kept * sizeof(*funcs);
}

bool plan_has_calls(const struct record_settings *settings, const char *path, bool is_program)
{
	bool is_python = is_program ? python_is_name(path) : python_is_library(path);

	return settings->use_libcalls && (!is_python || settings->hooks_interpreters) &&
	       (is_program || (settings->nest_libcalls && libcall_is_nested_module(path)));
}

/* True when functions or library calls of the module can have records. */
static bool is_recorded(const struct record_settings *settings, const struct known_module *known,
			bool is_program)
{
	return known->has_functions || plan_has_calls(settings, known->path, is_program);
}

static void add_moved(struct strbuf *out, const struct strbuf *funcs, uint64_t start)
{
	size_t nr = funcs->len / sizeof(struct plan_func);

	for (size_t i = 0; i < nr; i++) {
		struct plan_func func = ((const struct plan_func *)funcs->data)[i];

		func.start += start;
		func.end += start;
		strbuf_add(out, &func, sizeof(func));
	}
}

/*
 * Plan the functions in the modules of a new process image. Several images may have loaded the same
 * file as a module. For the first of these images, bind_module() applies the options to the file's
 * functions. The later images use the result, known_module.funcs.
 */
static void plan_image(struct planner *planner, struct control_module *const *modules, size_t nr,
		       struct plan_entries *out)
{
	struct plan_binder *binder = &planner->binder;

	for (size_t i = 0; i < nr; i++) {
		struct known_module *known = known_module_get(&planner->modules, modules[i]->path);

		if (!known || !modules[i]->has_text ||
		    !is_recorded(planner->settings, known, i == 0))
			continue;
		if (!known->is_bound) {
			struct binding b = {
				.settings = planner->settings,
				.patches = &planner->patches,
				.module = known,
				.is_program = i == 0,
				.rules = &binder->rules,
				.steps = &binder->entries.lists[PLAN_STEPS],
				.out = &known->funcs,
			};

			binder->rules.rules = &binder->entries.lists[PLAN_RULES];
			binder->rules.conds = &binder->entries.lists[PLAN_CONDS];
			bind_module(&b);
			known->is_bound = true;
		}
		add_moved(&out->lists[PLAN_FUNCS], &known->funcs, modules[i]->start);
	}
	for (unsigned kind = 0; kind < PLAN_KINDS; kind++) {
		const struct strbuf *list = &binder->entries.lists[kind];

		strbuf_add(&out->lists[kind], list->data, list->len);
	}
}

/*
 * Plans modules that are loaded while the program runs. The plan has entries for these modules
 * only. The probe already has the entries for the older modules.
 */
static void plan_late(struct planner *planner, struct control_module *const *modules, size_t nr,
		      struct plan_entries *out)
{
	struct rule_set rules = { .rules = &out->lists[PLAN_RULES],
				  .conds = &out->lists[PLAN_CONDS] };

	for (size_t i = 0; i < nr; i++) {
		const struct known_module *known = known_module_get(&planner->modules,
								    modules[i]->path);
		struct strbuf funcs cleanup_strbuf = { 0 };
		struct binding b = {
			.settings = planner->settings,
			.patches = &planner->patches,
			.module = known,
			.rules = &rules,
			.steps = &out->lists[PLAN_STEPS],
			.out = &funcs,
		};

		if (!known || !modules[i]->has_text ||
		    !is_recorded(planner->settings, known, false))
			continue;
		bind_module(&b);
		add_moved(&out->lists[PLAN_FUNCS], &funcs, modules[i]->start);
	}
	rule_set_deinit(&rules);
}

/* Returns the function with the start @start among the first @nr functions, or NULL. */
static struct plan_func *find_func(const struct strbuf *funcs, size_t nr, uint64_t start)
{
	return nr ? bsearch(&start, funcs->data, nr, sizeof(struct plan_func), order_u64) : NULL;
}

/*
 * Adds to @out the functions that --overhead leaves out of the recording. If the options give such
 * a function a rule, the function keeps this rule. All left-out functions that have no
 * rule of their own share one rule, which has the flag PLAN_LEFT_OUT.
 */
static void plan_left_out(struct planner *planner, struct control_module *const *modules, size_t nr,
			  struct plan_entries *out)
{
	static const struct plan_rule rule = { .flags = PLAN_LEFT_OUT };
	struct strbuf *funcs = &out->lists[PLAN_FUNCS];
	size_t nr_before = funcs->len / sizeof(struct plan_func);
	uint32_t index = out->lists[PLAN_RULES].len / sizeof(rule);
	bool has_any = false;

	for (size_t i = 0; i < nr; i++) {
		const struct known_module *known = known_module_get(&planner->modules,
								    modules[i]->path);

		if (!known)
			continue;
		known_left_out_each (known, left) {
			struct plan_func func = left->func;
			struct plan_func *listed;

			if (left->is_back)
				continue;
			func.start += modules[i]->start;
			func.end += modules[i]->start;
			func.rule = index;
			listed = find_func(funcs, nr_before, func.start);
			if (!listed)
				strbuf_add(funcs, &func, sizeof(func));
			else if (listed->rule == PLAN_NO_RULE)
				*listed = func;
			has_any = true;
		}
	}
	if (has_any)
		strbuf_add(&out->lists[PLAN_RULES], &rule, sizeof(rule));
	sort_funcs(funcs);
}

void plan_make_functions(struct planner *planner, struct control_module *const *modules, size_t nr,
			 struct plan_entries *out)
{
	if (planner->is_off)
		return;
	if (settings_are_selective(planner->settings)) {
		plan_image(planner, modules, nr, out);
		callables_plan_all(&planner->callables, out->lists);
		sort_funcs(&out->lists[PLAN_FUNCS]);
	}
	plan_left_out(planner, modules, nr, out);
}

void planner_forget(struct planner *planner)
{
	plan_binder_deinit(&planner->binder);
	planner->binder = (struct plan_binder){ 0 };
	for (struct known_module *m = planner->modules.first; m; m = m->next) {
		strbuf_reset(&m->funcs);
		m->is_bound = false;
	}
	callables_bind_anew(&planner->callables);
}

void plan_make(struct planner *planner, struct control_module *const *modules, size_t nr,
	       bool has_program, struct plan_entries *out)
{
	const struct record_settings *settings = planner->settings;
	uint64_t smallest_bytes = settings_smallest_size(settings);

	/* Find the functions with hooks first, because later steps depend on these functions. */
	for (size_t i = 0; i < nr; i++) {
		struct known_module *known = known_module_get(&planner->modules, modules[i]->path);

		if (!known || !modules[i]->has_text)
			continue;
		patches_find(&planner->patches, settings, known, has_program && i == 0);
		if (!has_program && !settings->attaches)
			patches_note_late(&planner->patches, known);
	}
	if (has_program) {
		plan_make_functions(planner, modules, nr, out);
	} else if (!planner->is_off) {
		if (settings_are_selective(settings)) {
			plan_late(planner, modules, nr, out);
			sort_funcs(&out->lists[PLAN_FUNCS]);
		}
		plan_left_out(planner, modules, nr, out);
	}
	for (size_t i = 0; i < nr; i++) {
		struct known_module *known = known_module_get(&planner->modules, modules[i]->path);
		struct libcall_choice choice = {
			.all = plan_has_calls(settings, modules[i]->path, has_program && i == 0),
			.attaches = settings->attaches,
			.smallest_bytes = smallest_bytes,
		};

		if (choice.all || (known && (known->has_functions || settings->attaches)))
			libcalls_plan(choice, known ? &known->links : NULL, modules[i],
				      &out->lists[PLAN_CALLS]);
		if (!known || !modules[i]->has_text)
			continue;
		callers_bind(settings, known, modules[i], has_program && i == 0,
			     &out->lists[PLAN_CALLERS]);
		patches_bind(known, modules[i], has_program && i == 0, &out->lists[PLAN_PATCHES]);
		points_bind(&planner->points, known, modules[i], &out->lists[PLAN_PATCHES],
			    &out->lists[PLAN_OPERANDS]);
	}
}

void plan_binder_deinit(struct plan_binder *binder)
{
	rule_set_deinit(&binder->rules);
	plan_entries_deinit(&binder->entries);
}

void plan_entries_deinit(struct plan_entries *plan)
{
	for (unsigned kind = 0; kind < PLAN_KINDS; kind++)
		strbuf_deinit(&plan->lists[kind]);
}

uint32_t plan_entries_nr(const struct plan_entries *plan, enum plan_kind kind)
{
	uint32_t bytes = plan_entry_bytes(kind);

	return bytes ? plan->lists[kind].len / bytes : 0;
}

/*
 * Writes the lists one by one, without a copy. The lists of large programs have tens of megabytes.
 */
static int write_image(int fd, const struct plan_view *view)
{
	uint64_t head[256];
	uint64_t head_bytes = plan_image_head_bytes(view);
	int ret;

	if (head_bytes > sizeof(head))
		return -E2BIG;
	plan_image_put_head(view, head);
	ret = fd_write_all(fd, head, head_bytes);
	for (unsigned kind = 0; ret == 0 && kind < PLAN_KINDS; kind++) {
		const struct plan_list *list = &view->lists[kind];

		if (!list->nr)
			continue;
		if (lseek(fd, plan_image_place(view, kind), SEEK_SET) < 0)
			return -errno;
		ret = fd_write_all(fd, list->entries, (uint64_t)list->nr * list->entry_bytes);
	}
	return ret;
}

int plan_memfd(const struct plan_entries *plan)
{
	struct plan_view view = { 0 };
	bool has_any = false;

	for (unsigned kind = 0; kind < PLAN_KINDS; kind++) {
		uint32_t nr = plan_entries_nr(plan, kind);

		if (strbuf_oom(&plan->lists[kind]))
			return -1;
		view.lists[kind] = plan_list(kind, plan->lists[kind].data, nr);
		has_any |= nr != 0;
	}
	if (!has_any)
		return -1;

	int fd cleanup_fd = memfd_create("utrail-plan", MFD_CLOEXEC);

	if (fd < 0 || ftruncate(fd, plan_image_bytes(&view)) < 0 || write_image(fd, &view) < 0)
		return -1;
	return take_fd(&fd);
}

bool settings_hold_back(const struct record_settings *settings)
{
	uint32_t uses = 0;

	for (size_t i = 0; i < settings->filters->nr; i++)
		uses |= settings->filters->entries[i].spec.trigger.flags;
	return settings->threshold_ns || (uses & (TRIGGER_TIME | TRIGGER_CALLER));
}

bool settings_can_finish(const struct record_settings *settings)
{
	for (size_t i = 0; i < settings->filters->nr; i++) {
		if (settings->filters->entries[i].spec.trigger.flags & TRIGGER_FINISH)
			return true;
	}
	return settings->signals.finish != 0;
}

bool settings_are_selective(const struct record_settings *settings)
{
	const struct signal_switches *signals = &settings->signals;

	return settings->size_filter || settings->filters->nr || settings->estimates_return ||
	       signals->on || signals->off || signals->finish || settings->watch->cpu ||
	       settings->watch->nr_vars || capture_is_wanted(&settings->captures);
}
