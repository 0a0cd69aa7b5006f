/* Gives numbers to functions of languages whose functions have no addresses (see callables.h). */
#include "cmds/record/plan/names/callables.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cmds/record/base/rights.h"
#include "cmds/record/plan/names/callable_values.h"
#include "cmds/record/plan/rules.h"
#include "cmds/record/plan/values/captures.h"
#include "utils/base/cleanup.h"
#include "utils/base/containers/vec.h"
#include "utils/format/callables.h"
#include "utils/format/dbg.h"
#include "utils/format/sym.h"

/*
 * The limit on the memory, in bytes, for two kinds of names: those of functions, and those of
 * their source files. A program may define new functions again and again, so the recorder needs a
 * limit. Functions beyond the limit are not recorded.
 */
#define CALLABLES_BYTES_MAX (256UL << 20)

#define SYM_FILE CALLABLES_MODULE ".sym"
#define DBG_FILE CALLABLES_MODULE ".dbg"

void callables_init(struct callables *all, const struct record_settings *settings,
		    struct store *store)
{
	*all = (struct callables){
		.settings = settings,
		.store = store,
		.next = 1,
		.lowest = CALLABLES_END,
	};
}

static void range_deinit(struct callable_range *range)
{
	strbuf_deinit(&range->rules);
	strbuf_deinit(&range->conds);
	strbuf_deinit(&range->steps);
}

void callables_deinit(struct callables *all)
{
	for (size_t i = 0; i < all->nr; i++)
		free(all->list[i].key);
	for (size_t i = 0; i < all->nr_ranges; i++)
		range_deinit(&all->ranges[i]);
	free(all->list);
	free(all->ranges);
	strmap_deinit(&all->by_key);
}

/* --- files --- */

static int add_debug(struct dbg *dbg, const struct callable *c, struct callable_items *items)
{
	const char *args = callable_items_of(items, c->nr_args);
	const struct dbg_func func = {
		.addr = c->addr,
		.name = c->name,
		.args = (c->told & ARGRULES_ARGS) && *args ? args : NULL,
		.retval = c->told & ARGRULES_RETVAL ? "retval/s" : NULL,
		.file = *c->file ? c->file : NULL,
		.line = c->line,
	};

	return dbg_add_func(dbg, &func);
}

/*
 * Write the symbol at once, for readers that read during the recording. An end mark follows the
 * symbol. At the time of reading, the symbol of the next function can still be missing. Without the
 * mark, readers would give the next function the name of this symbol.
 */
static int append_symbol(struct callables *all, const struct callable *c)
{
	struct strbuf text cleanup_strbuf = { 0 };
	struct rights paused cleanup_rights_pause = rights_pause();

	if (all->nr == 1)
		strbuf_addf(&text, "# symbols: 0\n# path name: %s\n", CALLABLES_MODULE);
	strbuf_addf(&text, "%016x %c %s\n%016x ? __sym_end\n", c->addr, c->is_native ? 'P' : 'T',
		    c->name, c->addr + 1);
	return store_append_to(all->store, SYM_FILE, &text);
}

/*
 * Writes the debug information that readers need to show the recorded values of calls of @c. The
 * information is written immediately, because some readers read during the recording.
 */
static int append_debug(struct callables *all, const struct callable *c)
{
	struct strbuf text cleanup_strbuf = { 0 };
	struct rights paused cleanup_rights_pause = rights_pause();
	struct dbg dbg cleanup_dbg = { .path = all->nr_told ? NULL : CALLABLES_MODULE };
	struct callable_items items;

	if (!c->told)
		return 0;
	all->nr_told++;
	int ret = add_debug(&dbg, c, &items);

	dbg_encode(&dbg, &text);
	return ret < 0 ? ret : store_append_to(all->store, DBG_FILE, &text);
}

static int publish_symbols(struct callables *all, struct uft_err *err)
{
	struct symtab tab cleanup_symtab = { 0 };
	struct strbuf text cleanup_strbuf = { 0 };
	int ret = 0;

	for (size_t i = 0; ret == 0 && i < all->nr; i++) {
		const struct callable *c = &all->list[i];

		ret = symtab_add(&tab, c->addr, 1, c->is_native ? 'P' : 'T', c->name,
				 strlen(c->name));
	}
	if (ret == 0)
		ret = symtab_sort(&tab);
	sym_file_encode(&tab, CALLABLES_MODULE, NULL, &text);
	if (ret < 0 || strbuf_oom(&text))
		return -ENOMEM;
	return store_publish(all->store, SYM_FILE, text.data, text.len, err);
}

static int publish_lines(struct callables *all, struct uft_err *err)
{
	struct dbg dbg cleanup_dbg = { .path = CALLABLES_MODULE };
	struct strbuf text cleanup_strbuf = { 0 };
	struct callable_items items;
	int ret = 0;

	for (size_t i = 0; ret == 0 && i < all->nr; i++) {
		const struct callable *c = &all->list[i];
		if (c->told || (c->line && *c->file))
			ret = add_debug(&dbg, c, &items);
	}
	dbg_sort(&dbg);
	dbg_encode(&dbg, &text);
	if (ret < 0 || strbuf_oom(&text))
		return -ENOMEM;
	return store_publish(all->store, DBG_FILE, text.data, text.len, err);
}

void callables_finish(struct callables *all)
{
	struct uft_err err = { 0 };
	int ret;

	if (!all->nr)
		return;
	ret = publish_symbols(all, &err);
	if (ret == 0 && (all->settings->captures.has_lines || all->nr_told))
		ret = publish_lines(all, &err);
	if (ret < 0 && !all->error)
		all->error = ret;
}

/* --- rules --- */

static bool has_fparg(const struct cond *cond)
{
	for (size_t i = 0; i < cond->nr; i++) {
		if (cond->terms[i].subject == COND_FPARG)
			return true;
	}
	return false;
}

/* Returns the arguments that conditions of @range need, as bits like callable.values. */
static uint64_t values_asked(const struct callable_range *range)
{
	const struct plan_rule *rule = (const struct plan_rule *)range->rules.data;
	uint64_t values = 0;

	for (uint32_t i = 0; range->rules.len && i < rule->nr_conds; i++) {
		const struct plan_cond *conds = (const struct plan_cond *)range->conds.data;

		values |= 1ULL << conds[rule->cond + i].index;
	}
	return values & ~CALLABLE_RESULT;
}

/*
 * Makes the rule for @c from the filters, and stores the rule in the lists of @range. The caller
 * provides empty lists. Returns false if there is no rule.
 */
static bool make_rule(struct callables *all, const struct callable *c, struct callable_range *range)
{
	struct rule_set set = {
		.rules = &range->rules,
		.conds = &range->conds,
		.has_texts = true,
		.nr_texts = c->is_native ? 0 : MIN(c->nr_args, CALLABLE_ARGS_MAX),
	};
	const struct filter_subject subject = {
		.name = c->name,
		.name_len = strlen(c->name),
		.source_file = *c->file ? c->file : NULL,
		.module = CALLABLES_MODULE,
		.is_plt = c->is_native,
		.is_program = true,
	};
	struct trigger trigger;
	bool has_rule = filters_match(all->settings->filters, &subject, &trigger) &&
			rule_set_add(&set, &trigger) != PLAN_NO_RULE;

	if (has_rule && (trigger.flags & TRIGGER_IF) &&
	    (trigger.flags & (TRIGGER_FILTER | TRIGGER_NOTRACE)))
		all->has_vain_conditions |= c->is_native || has_fparg(trigger.cond);
	if (has_rule && (trigger.flags & TRIGGER_NOTRACE))
		rule_set_note_opted_in(&set, all->settings->filters, &subject);
	rule_set_deinit(&set);
	return has_rule;
}

static bool is_same_text(const struct strbuf *a, const struct strbuf *b)
{
	return a->len == b->len && (!a->len || memcmp(a->data, b->data, a->len) == 0);
}

/*
 * Adds @range, and takes over the lists in @range. Returns the number of the range, which is at
 * least 1. When memory is short, returns 0, and the caller still owns the lists.
 */
static uint32_t add_range(struct callables *all, struct callable_range *range)
{
	struct callable_range *list = vec_grow(all->ranges, all->nr_ranges, sizeof(*list));

	if (!list)
		return 0;
	all->ranges = list;
	list[all->nr_ranges++] = *range;
	*range = (struct callable_range){ 0 };
	return all->nr_ranges;
}

/*
 * A range from find_range() has room for this many functions. Functions that are added later and
 * have the same rule get their numbers from the same range.
 */
#define RANGE_NUMBERS 256

/*
 * Returns the number of a known or new range with the rule of @wanted. Returns 0 when there is no
 * memory, or no number is left.
 */
static uint32_t find_range(struct callables *all, struct callable_range *wanted)
{
	for (size_t i = all->nr_ranges; i-- > 0;) {
		const struct callable_range *r = &all->ranges[i];

		if (r->next < r->end && is_same_text(&r->rules, &wanted->rules) &&
		    is_same_text(&r->conds, &wanted->conds) &&
		    is_same_text(&r->steps, &wanted->steps))
			return i + 1;
	}
	if (all->next + RANGE_NUMBERS >= all->lowest)
		return 0;
	all->lowest -= RANGE_NUMBERS;
	wanted->start = wanted->next = all->lowest;
	wanted->end = wanted->start + RANGE_NUMBERS;
	return add_range(all, wanted);
}

/* Gives a number to @c, from a range if @c has a rule. Returns false when no number is left. */
static bool choose_number(struct callables *all, struct callable *c)
{
	struct callable_range range = { 0 };
	bool has_rule = all->settings->filters->nr && make_rule(all, c, &range);

	has_rule |= callable_values_choose(&all->settings->captures, c, &range.steps);
	c->values |= values_asked(&range);

	if (has_rule) {
		c->range = find_range(all, &range);
		c->addr = c->range ? all->ranges[c->range - 1].next++ : 0;
	} else if (all->next < all->lowest) {
		c->addr = all->next++;
	}
	range_deinit(&range);
	return c->addr != 0;
}

static uint32_t nr_entries(const struct strbuf *lists, enum plan_kind kind)
{
	return lists[kind].len / plan_entry_bytes(kind);
}

void callables_plan_range(const struct callables *all, uint32_t range, struct strbuf *lists)
{
	const struct callable_range *r = &all->ranges[range - 1];
	uint32_t first_cond = nr_entries(lists, PLAN_CONDS);
	const struct plan_func func = {
		.start = r->start,
		.end = r->end,
		.rule = r->rules.len ? nr_entries(lists, PLAN_RULES) : PLAN_NO_RULE,
		.capture = r->steps.len ? nr_entries(lists, PLAN_STEPS) : PLAN_NO_CAPTURE,
	};

	for (size_t i = 0; i < r->rules.len / sizeof(struct plan_rule); i++) {
		struct plan_rule rule = ((const struct plan_rule *)r->rules.data)[i];

		rule.cond += first_cond;
		strbuf_add(&lists[PLAN_RULES], &rule, sizeof(rule));
	}
	strbuf_add(&lists[PLAN_CONDS], r->conds.data, r->conds.len);
	strbuf_add(&lists[PLAN_STEPS], r->steps.data, r->steps.len);
	if (r->rules.len || r->steps.len)
		strbuf_add(&lists[PLAN_FUNCS], &func, sizeof(func));
}

void callables_plan_all(const struct callables *all, struct strbuf *lists)
{
	for (size_t i = 0; i < all->nr_ranges; i++)
		callables_plan_range(all, i + 1, lists);
}

/*
 * Chooses the rule of a function that already has a number. Chooses the values to record: arguments
 * and results (callable.values). If the function has a rule or values to record, adds a range that
 * contains only the function's number.
 */
static void bind_known(struct callables *all, struct callable *c)
{
	struct callable_range range = {
		.start = c->addr,
		.end = c->addr + 1,
		.next = c->addr + 1,
	};

	bool has_rule = make_rule(all, c, &range);

	has_rule |= callable_values_choose(&all->settings->captures, c, &range.steps);
	c->values |= values_asked(&range);
	c->range = has_rule ? add_range(all, &range) : 0;
	range_deinit(&range);
}

void callables_bind_anew(struct callables *all)
{
	/* The probes know the old ranges, so no other function may get a number in an old range. */
	for (size_t i = 0; i < all->nr_ranges; i++) {
		struct callable_range *r = &all->ranges[i];

		r->next = r->end;
		strbuf_reset(&r->rules);
		strbuf_reset(&r->conds);
		strbuf_reset(&r->steps);
	}
	for (size_t i = 0; i < all->nr; i++)
		bind_known(all, &all->list[i]);
}

/* --- adding --- */

/* Makes a name printable on one line. The program chooses the name, which may have any bytes. */
static void make_printable(char *text)
{
	for (; *text; text++) {
		if (iscntrl((unsigned char)*text))
			*text = '?';
	}
}

/*
 * Makes the key of a function. One allocation contains three strings: the key, the name and the
 * file, in this order. Each string ends with a NUL.
 */
static bool make_key(struct callable *c, const char *name, const char *file)
{
	size_t name_len = strlen(name);
	size_t size = name_len + strlen(file) + 32;
	struct strbuf text = { 0 };

	strbuf_addf(&text, "%c%s\n%s\n%u\n%u", c->is_native ? 'P' : 'T', name, file, c->line,
		    c->nr_args);
	if (strbuf_oom(&text) || !(c->key = malloc(text.len + 1 + size))) {
		strbuf_deinit(&text);
		return false;
	}
	memcpy(c->key, text.data, text.len);
	c->key[text.len] = '\0';

	char *copy = c->key + text.len + 1;

	strcpy(copy, name);
	strcpy(copy + name_len + 1, file);
	make_printable(copy);
	make_printable(copy + name_len + 1);
	c->name = copy;
	c->file = copy + name_len + 1;
	strbuf_deinit(&text);
	return true;
}

static const struct callable *keep_callable(struct callables *all, struct callable *c)
{
	struct callable *list = vec_room(all->list, all->nr, &all->cap, sizeof(*list));
	size_t bytes = strlen(c->key) * 2;

	if (list)
		all->list = list;
	if (!list || all->bytes + bytes > CALLABLES_BYTES_MAX || !choose_number(all, c) ||
	    strmap_put(&all->by_key, c->key, (void *)(uintptr_t)(all->nr + 1)) < 0) {
		free(c->key);
		all->nr_refused++;
		return NULL;
	}
	all->bytes += bytes;
	list[all->nr++] = *c;

	/*
	 * The values are written before the name: a reader that finds the name may need the values.
	 */
	int ret = append_debug(all, &list[all->nr - 1]);

	if (ret == 0)
		ret = append_symbol(all, c);

	if (ret < 0 && !all->error)
		all->error = ret;
	return &list[all->nr - 1];
}

const struct callable *callables_add(struct callables *all, const char *name, const char *file,
				     uint32_t line, uint32_t nr_args, bool is_native)
{
	struct callable c = { .line = line, .nr_args = nr_args, .is_native = is_native };
	uintptr_t known;

	/*
	 * Functions that differ only in their number of arguments usually count as one function. If
	 * a filter has a condition, or if values of calls are captured, Python functions with
	 * different numbers of arguments count as different functions.
	 */
	if (is_native || !(capture_is_wanted(&all->settings->captures) ||
			   filters_have_conditions(all->settings->filters)))
		c.nr_args = 0;
	if (!make_key(&c, name, file)) {
		all->nr_refused++;
		return NULL;
	}
	known = (uintptr_t)strmap_get(&all->by_key, c.key);
	if (!known)
		return keep_callable(all, &c);
	free(c.key);
	return &all->list[known - 1];
}

void callables_warn(const struct callables *all, const struct msg *msg)
{
	if (all->has_vain_conditions)
		msg_warn(msg, "conditions (if:) on fpargN hold for no Python function (use "
			      "argN/f), and no conditions hold for functions in C");
	if (all->error)
		msg_warn(msg, "cannot write the names of Python functions: %s",
			 strerror(-all->error));
	if (all->nr_refused)
		msg_warn(
			msg,
			"%llu Python functions are not recorded: there is room for %lu, with names "
			"and files of %lu MB in all",
			all->nr_refused, CALLABLES_END - 1, CALLABLES_BYTES_MAX >> 20);
}
