/* Makes answers with sums of calls (see answers.h). The recording is read for each answer. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cmds/reader.h"
#include "cmds/show/parts/answers.h"
#include "utils/base/containers/strmap.h"
#include "utils/base/containers/vec.h"
#include "utils/export/page/marks.h"
#include "utils/view/graph/tree.h"
#include "utils/view/report/aggregate.h"

/* A box that is narrower than the flame graph's width / LEAST_PART is not sent. */
#define LEAST_PART 50000

void sums_begin(struct sums_stop *stop)
{
	pthread_mutex_lock(&stop->lock);
	stop->is_left = false;
	pthread_mutex_unlock(&stop->lock);
}

void sums_stop(struct sums_stop *stop, bool stops_all)
{
	pthread_mutex_lock(&stop->lock);
	*(stops_all ? &stop->is_stopped : &stop->is_left) = true;
	if (stop->pipe)
		atomic_store(&stop->pipe->is_stopped, true);
	pthread_mutex_unlock(&stop->lock);
}

double sums_progress(struct sums_stop *stop)
{
	double part = -1;

	pthread_mutex_lock(&stop->lock);
	if (stop->pipe) {
		uint64_t all = pipeline_bytes(stop->pipe);
		uint64_t done = atomic_load(&stop->pipe->read_bytes);

		part = all ? MIN((double)done / all, 1.0) : 0;
	}
	pthread_mutex_unlock(&stop->lock);
	return part;
}

/*
 * Tells sums_stop() and sums_progress() which pipeline reads the recording for the present sum.
 * @pipe is NULL after this pipeline has ended. If sums_stop() has stopped the present sum or all
 * sums, and @ret is not an error, returns -ECANCELED with @err. Otherwise, returns @ret.
 */
static int note_pipe(struct sums_stop *stop, struct pipeline *pipe, int ret, struct uft_err *err)
{
	bool is_stopped, is_left;

	pthread_mutex_lock(&stop->lock);
	is_stopped = stop->is_stopped;
	is_left = stop->is_left;
	stop->pipe = is_stopped || is_left ? NULL : pipe;
	pthread_mutex_unlock(&stop->lock);
	if (ret < 0 || !(is_stopped || is_left))
		return ret;
	return err_set(err, -ECANCELED, is_stopped ? "utrail show ends" : "the asker has left");
}

/*
 * Sets @config so that the pipeline has the calls that the options choose. If the page requests a
 * range, the pipeline has only the calls in this range.
 */
static void choose_range(const struct sums_source *from, const struct part_range *range,
			 struct pipeline_config *config)
{
	reader_pipeline_config(from->opts, config);
	if (!range->is_set)
		return;
	config->range = (struct time_range){
		.start = { .time_ns = from->base_ns + range->from_ns, .is_set = true },
		.stop = { .time_ns = from->base_ns + range->to_ns, .is_set = true },
	};
}

static void put_number_member(struct strbuf *out, const char *name, uint64_t number)
{
	strbuf_addf(out, ",\"%s\":%llu", name, (unsigned long long)number);
}

int answer_functions(const struct sums_source *from, const struct part_range *range,
		     struct strbuf *out, struct uft_err *err)
{
	struct pipeline pipe cleanup_pipeline = { 0 };
	struct aggregate agg cleanup(aggregate_deinit) = { 0 };
	struct pipeline_config config;

	/* The settings after choose_range() are as in report_configure(). */
	choose_range(from, range, &config);
	config.order = PIPELINE_BY_TASK;
	config.stages.wants = STAGE_WANTS_ENDS;
	config.stages.closes_open_calls = true;

	int ret = pipeline_open(&pipe, from->data, &config, err);

	if (ret == 0)
		ret = aggregate_init(&agg, &pipe, err);
	if (ret == 0)
		ret = note_pipe(from->stop, &pipe, ret, err);
	if (ret < 0)
		return ret;
	agg.wants_details = true;
	agg.counts_outside = from->opts->event_full;
	ret = aggregate_run(&agg, &pipe, reader_threads(from->opts), err);
	ret = note_pipe(from->stop, NULL, ret, err);
	if (ret == 0 && aggregate_by_name(&agg) < 0)
		ret = err_set_errno(err, -ENOMEM, "cannot add up calls");
	if (ret < 0)
		return ret;
	strbuf_addch(out, '[');
	for (size_t i = 0; i < agg.nr_rows; i++) {
		const struct call_stats *stats = &agg.rows[i].stats;

		strbuf_addstr(out, i ? ",\n{\"name\":" : "{\"name\":");
		page_put_string(out, MEDIUM_JSON, agg.rows[i].func->name);
		put_number_member(out, "calls", stats->calls);
		put_number_member(out, "total", stats->total_ns);
		put_number_member(out, "self", stats->self_ns);
		put_number_member(out, "longest", stats->total.max_ns);
		strbuf_addch(out, '}');
	}
	strbuf_addstr(out, "]\n");
	return ret;
}

/* Returns @ns, or 0 if @ns is negative. Damaged data can lead to negative times. */
static uint64_t time_of(uint64_t ns)
{
	return (int64_t)ns < 0 ? 0 : ns;
}

/*
 * Used to walk through the tree of @top. Skips the nodes below @node, and returns the next node.
 * Returns NULL at the end. *@depth is the depth of @node, and becomes the depth of the returned
 * node.
 */
static struct tree_node *next_beside(const struct tree_node *node, const struct tree_node *top,
				     size_t *depth)
{
	while (node != top && !node->next) {
		node = node->parent;
		--*depth;
	}
	return node == top ? NULL : node->next;
}

/* Appends the nodes as [depth,"name",calls,total], callers before callees. */
static void put_tree(const struct tree_node *root, uint64_t least_ns, struct strbuf *out)
{
	size_t depth = 0;

	for (const struct tree_node *node = root->first; node;) {
		bool is_seen = time_of(node->total_ns) >= least_ns;

		if (is_seen) {
			strbuf_addf(out, "%s[%zu,", out->data[out->len - 1] == '[' ? "" : ",\n",
				    depth);
			page_put_string(out, MEDIUM_JSON, node->func->name);
			strbuf_addf(out, ",%llu,%llu]", (unsigned long long)node->calls,
				    (unsigned long long)time_of(node->total_ns));
		}
		if (is_seen && node->first) {
			node = node->first;
			depth++;
		} else {
			node = next_beside(node, root, &depth);
		}
	}
}

/*
 * A row of the answer to a request about one function. The row has the sums of all calls between
 * this function and one of its callers or callees.
 */
struct pair_row {
	const char *name; /* "": the calls have no caller */
	uint64_t calls;
	uint64_t total_ns;
	uint64_t self_ns;
};

/*
 * The rows of all callers of a function, or the rows of all callees of a function.
 *
 * @numbers: maps the name of a caller or callee to 1 + the index of the row with this name. Calls
 *           without a caller belong to the row with the name ""
 */
struct pair_rows {
	struct pair_row *rows;
	size_t nr;
	size_t cap;
	struct strmap numbers;
};

static void pair_rows_deinit(struct pair_rows *rows)
{
	free(rows->rows);
	strmap_deinit(&rows->numbers);
}

/*
 * Returns the row of a name. Adds the row if it does not exist yet. Returns NULL when there is not
 * enough memory.
 */
static struct pair_row *reach_pair(struct pair_rows *rows, const char *name)
{
	size_t number = (uintptr_t)strmap_get(&rows->numbers, name);

	if (number)
		return &rows->rows[number - 1];

	struct pair_row *more = vec_room(rows->rows, rows->nr, &rows->cap, sizeof(*more));

	if (!more)
		return NULL;
	rows->rows = more;
	if (strmap_put(&rows->numbers, name, (void *)(uintptr_t)(rows->nr + 1)) < 0)
		return NULL;
	more[rows->nr] = (struct pair_row){ .name = name };
	return &more[rows->nr++];
}

static bool add_pair(struct pair_rows *rows, const char *name, const struct tree_node *node)
{
	struct pair_row *row = reach_pair(rows, name);

	if (!row)
		return false;
	row->calls += node->calls;
	row->total_ns += time_of(node->total_ns);
	row->self_ns += time_of(node->self_ns);
	return true;
}

static void put_pairs(const char *what, const struct pair_rows *rows, struct strbuf *out)
{
	strbuf_addf(out, "\"%s\":[", what);
	for (size_t i = 0; i < rows->nr; i++) {
		const struct pair_row *row = &rows->rows[i];

		strbuf_addstr(out, i ? ",\n{\"name\":" : "{\"name\":");
		page_put_string(out, MEDIUM_JSON, row->name);
		put_number_member(out, "calls", row->calls);
		put_number_member(out, "total", row->total_ns);
		put_number_member(out, "self", row->self_ns);
		strbuf_addch(out, '}');
	}
	strbuf_addch(out, ']');
}

static bool is_called(const struct tree_node *node, const char *name)
{
	return node->func && strcmp(node->func->name, name) == 0;
}

static int put_relatives(const struct tree *tree, const char *name, struct strbuf *out)
{
	struct pair_rows callers = { 0 }, callees = { 0 };
	bool is_ok = true;

	for (size_t i = 0; i < tree->nr_roots; i++) {
		const struct tree_node *root = tree->roots[i];

		for (const struct tree_node *n = root->first; n; n = tree_next(n, root)) {
			const struct tree_node *above = n->parent;

			if (is_called(n, name))
				is_ok &= add_pair(&callers, above->func ? above->func->name : "",
						  n);
			if (is_called(above, name))
				is_ok &= add_pair(&callees, n->func->name, n);
		}
	}
	strbuf_addch(out, '{');
	put_pairs("callers", &callers, out);
	strbuf_addch(out, ',');
	put_pairs("callees", &callees, out);
	strbuf_addstr(out, "}\n");
	pair_rows_deinit(&callers);
	pair_rows_deinit(&callees);
	return is_ok ? 0 : -ENOMEM;
}

static void put_trees(const struct tree *tree, struct strbuf *out)
{
	uint64_t all_ns = 0;

	for (size_t i = 0; i < tree->nr_roots; i++)
		all_ns += time_of(tree->roots[i]->total_ns);
	strbuf_addch(out, '[');
	for (size_t i = 0; i < tree->nr_roots; i++)
		put_tree(tree->roots[i], all_ns / LEAST_PART, out);
	strbuf_addstr(out, "]\n");
}

int answer_tree(const struct sums_source *from, const struct part_range *range, const char *name,
		struct strbuf *out, struct uft_err *err)
{
	struct pipeline pipe cleanup_pipeline = { 0 };
	struct tree tree cleanup_tree = { 0 };
	struct pipeline_config config;

	/* The settings after choose_range() are as in export_configure() for trees. */
	choose_range(from, range, &config);
	tree_configure(&config);
	config.stages.opens_at_start = time_range_is_set(&config.range);

	int ret = pipeline_open(&pipe, from->data, &config, err);

	if (ret == 0)
		ret = tree_init(&tree, &pipe, err);
	if (ret == 0)
		ret = note_pipe(from->stop, &pipe, ret, err);
	if (ret < 0)
		return ret;
	tree.counts_outside = from->opts->event_full;
	tree.counts_inherited = true;
	ret = tree_run(&tree, &pipe, reader_threads(from->opts), err);
	ret = note_pipe(from->stop, NULL, ret, err);
	if (ret < 0)
		return ret;
	if (!name)
		put_trees(&tree, out);
	else if (put_relatives(&tree, name, out) < 0)
		return err_set_errno(err, -ENOMEM, "cannot add up calls");
	return 0;
}
