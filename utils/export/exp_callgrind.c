/* Exporter: callgrind's format, for kcachegrind and callgrind_annotate. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "utils/view/graph/callers.h"
#include "utils/export/export.h"
#include "utils/view/values/titles.h"
#include "utils/view/graph/tree_counters.h"

/* Write a name and a newline. */
static void put_name(struct export *ex, const char *name)
{
	sink_str(ex->sink, name);
	sink_lit(ex->sink, "\n");
}

/* The self cost of a function, added up over all callers of the function. */
struct own {
	const struct func *func;
	uint64_t self_ns;
	size_t first; /* in callers.pairs: index of the first pair with @func as the caller */
	size_t nr;    /* number of pairs with @func as the caller */
};

static int compare_own(const void *a, const void *b)
{
	return strcmp(((const struct own *)a)->func->name, ((const struct own *)b)->func->name);
}

static size_t fold_own(struct own *all, size_t nr)
{
	size_t kept = 0;

	if (nr)
		qsort(all, nr, sizeof(*all), compare_own);
	for (size_t i = 0; i < nr; i++) {
		if (kept && compare_own(&all[kept - 1], &all[i]) == 0)
			all[kept - 1].self_ns += all[i].self_ns;
		else
			all[kept++] = all[i];
	}
	return kept;
}

static struct own *make_own(const struct callers *callers, size_t *nr)
{
	struct own *all = calloc(callers->nr + 1, sizeof(*all));

	if (!all)
		return NULL;
	for (size_t i = 0; i < callers->nr; i++)
		all[i] = (struct own){
			.func = callers->pairs[i].callee,
			.self_ns = callers->pairs[i].self_ns,
		};
	*nr = fold_own(all, callers->nr);
	/* The list @all is sorted by function name, and callers->pairs by the caller's name. */
	for (size_t i = 0, at = 0; i < *nr; i++) {
		while (at < callers->nr &&
		       (!callers->pairs[at].caller ||
			strcmp(callers->pairs[at].caller->name, all[i].func->name) < 0))
			at++;
		all[i].first = at;
		while (at < callers->nr &&
		       strcmp(callers->pairs[at].caller->name, all[i].func->name) == 0)
			at++;
		all[i].nr = at - all[i].first;
	}
	return all;
}

/*
 * A kind of cost: the time, or a counter. For all kinds, @all has the same functions in the same
 * order, and @callers has the same pairs of a caller and a callee in the same order.
 *
 * @all, @nr: the costs of the functions
 */
struct cost {
	const char *name;
	struct callers callers;
	struct own *all;
	size_t nr;
};

/* All kinds of cost: the time first, and then the counters. */
struct costs {
	struct cost list[1 + COUNTERS_MAX];
	size_t nr;
};

static void costs_deinit(struct costs *costs)
{
	for (size_t i = 0; i < costs->nr; i++) {
		callers_deinit(&costs->list[i].callers);
		free(costs->list[i].all);
	}
}

static void put_object(struct export *ex, const struct func *func)
{
	put_name(ex, func->module ? func->module->basename : "???");
}

static void put_number(struct export *ex, uint64_t number)
{
	sink_putf(ex->sink, " %llu", (unsigned long long)tree_positive(number));
}

static void put_calls(struct export *ex, const struct costs *costs, size_t pair)
{
	const struct call_pair *first = &costs->list[0].callers.pairs[pair];

	sink_lit(ex->sink, "cob=");
	put_object(ex, first->callee);
	sink_lit(ex->sink, "cfi=???\ncfn=");
	put_name(ex, first->callee->name);
	sink_putf(ex->sink, "calls=%llu 0\n0", (unsigned long long)first->calls);
	for (size_t i = 0; i < costs->nr; i++)
		put_number(ex, costs->list[i].callers.pairs[pair].total_ns);
	sink_lit(ex->sink, "\n");
}

static void put_function(struct export *ex, const struct costs *costs, size_t index)
{
	const struct own *own = &costs->list[0].all[index];

	sink_lit(ex->sink, "\nob=");
	put_object(ex, own->func);
	sink_lit(ex->sink, "fl=???\nfn=");
	put_name(ex, own->func->name);
	sink_lit(ex->sink, "0");
	for (size_t i = 0; i < costs->nr; i++)
		put_number(ex, costs->list[i].all[index].self_ns);
	sink_lit(ex->sink, "\n");
	for (size_t i = own->first; i < own->first + own->nr; i++)
		put_calls(ex, costs, i);
}

static void put_sums(struct export *ex, const struct costs *costs)
{
	for (size_t i = 0; i < costs->nr; i++) {
		uint64_t sum = 0;

		for (size_t k = 0; k < costs->list[i].nr; k++)
			sum += tree_positive(costs->list[i].all[k].self_ns);
		put_number(ex, sum);
	}
	sink_lit(ex->sink, "\n");
}

static int find_costs(struct costs *costs, struct tree *tree, const struct tree_counters *counters,
		      struct uft_err *err)
{
	for (size_t i = 0; i <= counters->nr; i++) {
		struct cost *cost = &costs->list[costs->nr++];
		int ret;

		cost->name = i ? counters->list[i - 1].name : "ns";
		if (i)
			tree_counters_spread(tree, counters->list[i - 1].number);
		ret = callers_add_up(&cost->callers, tree, i > 0, err);
		if (ret < 0)
			return ret;
		cost->all = make_own(&cost->callers, &cost->nr);
		if (!cost->all)
			return err_set_errno(err, -ENOMEM, "cannot export");
	}
	return 0;
}

static int show_callgrind(struct export *ex, struct tree *tree, struct uft_err *err)
{
	struct tree_counters counters = { 0 };
	struct costs costs cleanup(costs_deinit) = { 0 };
	int ret;

	tree_counters_find(&counters, &ex->texts.kinds);
	ret = find_costs(&costs, tree, &counters, err);
	if (ret < 0)
		return ret;
	sink_lit(ex->sink, "# callgrind format\nversion: 1\ncreator: ");
	put_name(ex, ex->config->tool);
	sink_lit(ex->sink, "cmd: ");
	put_name(ex, title_cmdline(ex->pipe->data));
	sink_lit(ex->sink, "positions: line\nevent: ns : Wall time (ns)\nevents:");
	for (size_t i = 0; i < costs.nr; i++) {
		sink_lit(ex->sink, " ");
		sink_str(ex->sink, costs.list[i].name);
	}
	sink_lit(ex->sink, "\nsummary:");
	put_sums(ex, &costs);
	for (size_t i = 0; i < costs.list[0].nr; i++)
		put_function(ex, &costs, i);
	sink_lit(ex->sink, "\ntotals:");
	put_sums(ex, &costs);
	return 0;
}

const struct exporter exp_callgrind = {
	.name = "callgrind",
	.medium = MEDIUM_CALLGRIND,
	.show = show_callgrind,
	.points_as_calls = true,
};
