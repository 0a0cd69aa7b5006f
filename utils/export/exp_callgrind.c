/* Exporter: callgrind's format, for kcachegrind and callgrind_annotate. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "utils/view/callers.h"
#include "utils/export/export.h"
#include "utils/view/titles.h"

/* A name ends with its line. */
static void put_name(struct export *ex, const char *name)
{
	sink_str(ex->sink, name);
	sink_lit(ex->sink, "\n");
}

/* What a function takes itself, over all callers. */
struct own {
	const struct func *func;
	uint64_t self_ns;
	size_t first; /* its first pair as a caller, and how many */
	size_t nr;
};

static uint64_t positive(uint64_t ns)
{
	return (int64_t)ns < 0 ? 0 : ns;
}

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
	/* Both lists are sorted by the same names. */
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

static void put_object(struct export *ex, const struct func *func)
{
	put_name(ex, func->module ? func->module->basename : "???");
}

static void put_function(struct export *ex, const struct callers *callers, const struct own *own)
{
	sink_lit(ex->sink, "\nob=");
	put_object(ex, own->func);
	sink_lit(ex->sink, "fl=???\nfn=");
	put_name(ex, own->func->name);
	sink_putf(ex->sink, "0 %llu\n", (unsigned long long)positive(own->self_ns));
	for (size_t i = own->first; i < own->first + own->nr; i++) {
		const struct call_pair *pair = &callers->pairs[i];

		sink_lit(ex->sink, "cob=");
		put_object(ex, pair->callee);
		sink_lit(ex->sink, "cfi=???\ncfn=");
		put_name(ex, pair->callee->name);
		sink_putf(ex->sink, "calls=%llu 0\n0 %llu\n", (unsigned long long)pair->calls,
			  (unsigned long long)positive(pair->total_ns));
	}
}

static int show(struct export *ex, struct tree *tree, struct uft_err *err)
{
	struct callers callers cleanup(callers_deinit) = { 0 };
	int ret = callers_add_up(&callers, tree, err);
	uint64_t sum_ns = 0;
	size_t nr;

	if (ret < 0)
		return ret;

	struct own *all cleanup_free = make_own(&callers, &nr);

	if (!all)
		return err_set_errno(err, -ENOMEM, "cannot export");
	for (size_t i = 0; i < nr; i++)
		sum_ns += positive(all[i].self_ns);
	sink_lit(ex->sink, "# callgrind format\nversion: 1\ncreator: ");
	put_name(ex, ex->config->tool);
	sink_lit(ex->sink, "cmd: ");
	put_name(ex, title_cmdline(ex->pipe->data));
	sink_putf(ex->sink,
		  "positions: line\nevent: ns : Wall time (ns)\nevents: ns\nsummary: %llu\n",
		  (unsigned long long)sum_ns);
	for (size_t i = 0; i < nr; i++)
		put_function(ex, &callers, &all[i]);
	sink_putf(ex->sink, "\ntotals: %llu\n", (unsigned long long)sum_ns);
	return 0;
}

const struct exporter exp_callgrind = {
	.name = "callgrind",
	.medium = MEDIUM_CALLGRIND,
	.show = show,
	.points_as_calls = true,
};
