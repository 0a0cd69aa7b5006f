/*
 * Exporters that write a line with a number for each call path. Flame graphs are made from such
 * lines.
 */
#include <errno.h>
#include <string.h>

#include "utils/export/export.h"
#include "utils/view/values/titles.h"

/* The largest number of samples of a thread. More samples do not make a better flame graph. */
#define SAMPLES_MAX    1000000
/*
 * The largest size of the output. The size grows with the square of the depth of calls: for a
 * recording of 2 MB with 60,000 nested calls, the output would have 23 GB.
 */
#define TEXT_MAX_BYTES (4ULL << 30)

/*
 * Append a name. Newlines, and characters that separate names, are replaced. If the name ends in a
 * blank and a number, the blank before the number is replaced. Otherwise tools would take this
 * number for the line's count.
 */
static void put_name(struct strbuf *out, const char *name)
{
	size_t start = out->len;

	escape_addstr(out, MEDIUM_FOLDED, name);

	size_t digits = out->len;

	while (digits > start && out->data[digits - 1] >= '0' && out->data[digits - 1] <= '9')
		digits--;
	if (digits > start && digits < out->len && out->data[digits - 1] == ' ')
		out->data[digits - 1] = '_';
}

/* Write a line. Returns false when the text would become too long. */
static bool put_line(struct export *ex, const struct strbuf *path, uint64_t count,
		     uint64_t *text_bytes)
{
	*text_bytes += path->len;
	if (*text_bytes > TEXT_MAX_BYTES)
		return false;
	sink_put_made(ex->sink, path);
	sink_putf(ex->sink, " %llu\n", (unsigned long long)count);
	return true;
}

static int too_long(struct uft_err *err)
{
	return err_set(
		err, -EFBIG,
		"the text would have more than %llu GB, since each line names all callers of "
		"a call: use -D to leave out what is deeper",
		TEXT_MAX_BYTES >> 30);
}

/* Returns the offset of the last separator in @path, or @keep if @path has none from @keep on. */
static size_t last_name(const struct strbuf *path, size_t keep)
{
	const char *at = memrchr(path->data + keep, ';', path->len - keep);

	return at ? (size_t)(at - path->data) : keep;
}

/*
 * Writes a line for each node for which @count returns a number other than 0. The line of a caller
 * precedes the lines of its callees. Returns false when the text would become too long.
 *
 * @path: the text that each line has before the names of functions
 * @divisor: the second argument of @count
 * @text_bytes: the length of the text that was written
 */
static bool put_tree(struct export *ex, const struct tree_node *root, struct strbuf *path,
		     uint64_t (*count)(const struct tree_node *node, uint64_t divisor),
		     uint64_t divisor, uint64_t *text_bytes)
{
	size_t keep = path->len;
	const struct tree_node *node = root->first;

	while (node) {
		if (path->len)
			strbuf_addch(path, ';');
		put_name(path, node->func->name);

		uint64_t nr = count(node, divisor);

		if (nr && !put_line(ex, path, nr, text_bytes))
			return false;
		if (node->first) {
			node = node->first;
			continue;
		}
		while (node != root && !node->next) {
			path->len = last_name(path, keep);
			node = node->parent;
		}
		if (node == root)
			break;
		path->len = last_name(path, keep);
		node = node->next;
	}
	path->len = keep;
	return true;
}

static uint64_t samples_in(uint64_t ns, uint64_t sample_ns)
{
	return tree_positive(ns) / sample_ns;
}

/* Returns the number of samples of the node itself, without its callees. */
static uint64_t count_samples(const struct tree_node *node, uint64_t sample_ns)
{
	uint64_t all = samples_in(node->total_ns, sample_ns);
	uint64_t below = 0;
	uint64_t below_ns = 0;

	for (const struct tree_node *child = node->first; child; child = child->next) {
		below += samples_in(child->total_ns, sample_ns);
		below_ns += child->total_ns;
	}
	/*
	 * If a call was open at a fork, the calls of the child process are below this call. The
	 * time of this call does not include the time of the child's calls.
	 */
	if ((int64_t)(below_ns - (node->total_ns - node->self_ns)) > 0)
		return samples_in(node->self_ns, sample_ns);
	return all > below ? all - below : 0;
}

/*
 * Choose 1, 10, 100 ... microseconds as the time per sample. With this time, a thread that runs
 * during the whole recording has at most SAMPLES_MAX samples. Several threads together may have
 * more samples.
 */
static uint64_t choose_sample_ns(const struct export *ex, const struct tree *tree)
{
	const struct info *info = &ex->pipe->data->info;
	uint64_t elapsed_ns = info->elapsed_ns;
	uint64_t sample_ns = 1000;

	for (size_t i = 0; !elapsed_ns && i < tree->nr_roots; i++)
		elapsed_ns = MAX(elapsed_ns, tree->roots[i]->total_ns);
	while (elapsed_ns / sample_ns > SAMPLES_MAX)
		sample_ns *= 10;
	return sample_ns;
}

static int show_flame_graph(struct export *ex, struct tree *tree, struct uft_err *err)
{
	struct strbuf path cleanup_strbuf = { 0 };
	uint64_t sample_ns = ex->config->sample_ns;
	uint64_t text_bytes = 0;

	if (!sample_ns)
		sample_ns = choose_sample_ns(ex, tree);
	for (size_t i = 0; i < tree->nr_roots; i++) {
		if (!put_tree(ex, tree->roots[i], &path, count_samples, sample_ns, &text_bytes))
			return too_long(err);
	}
	return strbuf_oom(&path) ? err_set_errno(err, -ENOMEM, "cannot export") : 0;
}

const struct exporter exp_flame_graph = {
	.name = "flame-graph",
	.medium = MEDIUM_FOLDED,
	.show = show_flame_graph,
	.drops_points = "a flame graph adds up time, and events take none",
};

static uint64_t count_self(const struct tree_node *node, uint64_t divisor)
{
	return tree_positive(node->self_ns);
}

/*
 * Show exact times. Each line has the program, the functions of a call path, and the self time of
 * this path in ns.
 */
static int show_folded(struct export *ex, struct tree *tree, struct uft_err *err)
{
	struct strbuf path cleanup_strbuf = { 0 };
	uint64_t text_bytes = 0;

	for (size_t i = 0; i < tree->nr_roots; i++) {
		strbuf_reset(&path);
		put_name(&path, title_program(tree_session(tree, i)));
		if (!put_tree(ex, tree->roots[i], &path, count_self, 1, &text_bytes))
			return too_long(err);
	}
	return strbuf_oom(&path) ? err_set_errno(err, -ENOMEM, "cannot export") : 0;
}

const struct exporter exp_folded = {
	.name = "folded",
	.medium = MEDIUM_FOLDED,
	.show = show_folded,
	.drops_points = "a flame graph adds up time, and events take none",
};
