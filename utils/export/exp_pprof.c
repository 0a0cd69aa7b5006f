/* Exporter: pprof's profile.proto, with the calls and self times of each call path. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "utils/base/clock.h"
#include "utils/export/export.h"
#include "utils/export/numbers.h"
#include "utils/export/proto.h"
#include "utils/view/values/titles.h"
#include "utils/view/graph/tree_counters.h"

/* The maximum number of calls in a sample. A longer call path is cut to its innermost calls. */
#define PATH_MAX_CALLS 1000

/* Field numbers (doc/formats/exports.md, "pprof"). */
enum {
	PROFILE_SAMPLE_TYPE = 1,
	PROFILE_SAMPLE = 2,
	PROFILE_LOCATION = 4,
	PROFILE_FUNCTION = 5,
	PROFILE_STRING = 6,
	PROFILE_TIME_NANOS = 9,
	PROFILE_DURATION_NANOS = 10,
	PROFILE_PERIOD_TYPE = 11,
	PROFILE_PERIOD = 12,
	PROFILE_COMMENT = 13,
	PROFILE_DEFAULT_SAMPLE_TYPE = 14,

	VALUE_TYPE = 1,
	VALUE_UNIT = 2,
	SAMPLE_LOCATION = 1,
	SAMPLE_VALUE = 2,
	LOCATION_ID = 1,
	LOCATION_LINE = 4,
	LINE_FUNCTION = 1,
	FUNCTION_ID = 1,
	FUNCTION_NAME = 2,
	FUNCTION_SYSTEM_NAME = 3,
};

/*
 * The first strings of the string table. They are followed by the names of counters, and then by
 * the names of functions.
 */
enum {
	STRING_EMPTY,
	STRING_CALLS,
	STRING_COUNT,
	STRING_WALL,
	STRING_NANOSECONDS,
	STRING_COMMAND,
	STRING_FIRST_FREE,
};

/*
 * @own: for each sample, the increases of all counters in the sample's node
 * @numbers: gives each function a number, counted from 1 in the order of first use. In the profile,
 *         each function has one location, and the location has the number of its function
 */
struct pprof {
	struct tree_counters counters;
	uint64_t *own;
	struct strbuf part;
	struct strbuf inner;
	struct func_numbers numbers;
};

/* Write @part as a field of the profile. */
static void write_part(struct export *ex, unsigned field)
{
	struct pprof *p = ex->state;
	uint8_t head[2 * VARINT_MAX];
	uint8_t *end = put_varint(put_varint(head, field << 3 | 2), p->part.len);

	sink_put_raw(ex->sink, head, end - head);
	sink_put_made(ex->sink, &p->part);
	strbuf_reset(&p->part);
}

static void write_string(struct export *ex, const char *text)
{
	struct pprof *p = ex->state;

	escape_addstr(&p->part, MEDIUM_BINARY, text);
	write_part(ex, PROFILE_STRING);
}

static void write_uint(struct export *ex, unsigned field, uint64_t v)
{
	uint8_t bytes[2 * VARINT_MAX];

	sink_put_raw(ex->sink, bytes, put_varint(put_varint(bytes, field << 3), v) - bytes);
}

static void write_type(struct export *ex, unsigned field, unsigned type, unsigned unit)
{
	struct pprof *p = ex->state;

	proto_add_uint(&p->part, VALUE_TYPE, type);
	proto_add_uint(&p->part, VALUE_UNIT, unit);
	write_part(ex, field);
}

/* Write three fields of the profile for @func: its name, the function and its location. */
static void write_function(struct export *ex, const struct func *func, uint32_t number)
{
	struct pprof *p = ex->state;
	unsigned string = STRING_FIRST_FREE + p->counters.nr + number - 1;

	write_string(ex, func->name);
	proto_add_uint(&p->part, FUNCTION_ID, number);
	proto_add_uint(&p->part, FUNCTION_NAME, string);
	proto_add_uint(&p->part, FUNCTION_SYSTEM_NAME, string);
	write_part(ex, PROFILE_FUNCTION);
	strbuf_reset(&p->inner);
	proto_add_uint(&p->inner, LINE_FUNCTION, number);
	proto_add_uint(&p->part, LOCATION_ID, number);
	proto_add_message(&p->part, LOCATION_LINE, &p->inner);
	write_part(ex, PROFILE_LOCATION);
}

static int know_function(struct export *ex, const struct func *func)
{
	struct pprof *p = ex->state;

	size_t nr_known = p->numbers.nr;
	uint32_t number = func_number(&p->numbers, func);

	if (p->numbers.nr > nr_known)
		write_function(ex, func, number);
	return number ? 0 : -ENOMEM;
}

static void write_sample(struct export *ex, const struct tree_node *node, const uint64_t *own)
{
	struct pprof *p = ex->state;
	uint64_t self_ns = tree_positive(node->self_ns);
	unsigned nr = 0;

	strbuf_reset(&p->inner);
	for (const struct tree_node *at = node; at->func && nr < PATH_MAX_CALLS; at = at->parent) {
		proto_add_varint(&p->inner, func_number(&p->numbers, at->func));
		nr++;
	}
	proto_add_message(&p->part, SAMPLE_LOCATION, &p->inner);
	strbuf_reset(&p->inner);
	proto_add_varint(&p->inner, node->calls);
	proto_add_varint(&p->inner, self_ns);
	for (size_t i = 0; i < p->counters.nr; i++)
		proto_add_varint(&p->inner, own[i]);
	proto_add_message(&p->part, SAMPLE_VALUE, &p->inner);
	write_part(ex, PROFILE_SAMPLE);
}

/*
 * @own: *@own points to the counters of the next sample, and advances with each sample. *@own is
 *       NULL if there are no counters
 */
static int write_tree(struct export *ex, const struct tree_node *root, const uint64_t **own)
{
	struct pprof *p = ex->state;

	for (const struct tree_node *node = root; (node = tree_next(node, root)) != NULL;) {
		if (node->counter)
			continue;
		if (know_function(ex, node->func) < 0)
			return -ENOMEM;
		write_sample(ex, node, *own);
		if (*own)
			*own += p->counters.nr;
	}
	return 0;
}

static size_t count_samples(const struct tree *tree)
{
	size_t nr = 0;

	for (size_t i = 0; i < tree->nr_roots; i++) {
		const struct tree_node *root = tree->roots[i];

		for (const struct tree_node *node = root; (node = tree_next(node, root)) != NULL;)
			nr += !node->counter;
	}
	return nr;
}

/*
 * For each node that is a function and not a counter, store one value: the growth of a counter in
 * the node's calls, without the growth in the callees of these calls. The last call of
 * tree_counters_spread() has selected the counter. The values go to every @step-th element of @own.
 */
static void note_own(const struct tree *tree, uint64_t *own, size_t step)
{
	for (size_t i = 0; i < tree->nr_roots; i++) {
		const struct tree_node *root = tree->roots[i];

		for (const struct tree_node *node = root; (node = tree_next(node, root)) != NULL;) {
			if (node->counter)
				continue;
			*own = tree_counters_own(node);
			own += step;
		}
	}
}

/*
 * Collect the counters. The tree has room for the values of one counter at a time, so the values of
 * each counter are copied to the member @own.
 */
static int find_counters(struct export *ex, struct tree *tree)
{
	struct pprof *p = ex->state;
	size_t nr;

	tree_counters_find(&p->counters, &ex->texts.kinds);
	nr = p->counters.nr;
	if (!nr)
		return 0;
	p->own = calloc(count_samples(tree) + 1, nr * sizeof(*p->own));
	if (!p->own)
		return -ENOMEM;
	for (size_t i = 0; i < nr; i++) {
		tree_counters_spread(tree, p->counters.list[i].number);
		note_own(tree, p->own + i, nr);
	}
	return 0;
}

static void write_head(struct export *ex)
{
	const struct info *info = &ex->pipe->data->info;
	const struct pprof *p = ex->state;
	const uint64_t first_ns = export_first_ns(ex);

	write_type(ex, PROFILE_SAMPLE_TYPE, STRING_CALLS, STRING_COUNT);
	write_type(ex, PROFILE_SAMPLE_TYPE, STRING_WALL, STRING_NANOSECONDS);
	for (size_t i = 0; i < p->counters.nr; i++)
		write_type(ex, PROFILE_SAMPLE_TYPE, STRING_FIRST_FREE + i,
			   p->counters.list[i].unit[0] == 'n' ? STRING_NANOSECONDS : STRING_COUNT);
	write_string(ex, "");
	write_string(ex, "calls");
	write_string(ex, "count");
	write_string(ex, "wall");
	write_string(ex, "nanoseconds");
	write_string(ex, title_cmdline(ex->pipe->data));
	for (size_t i = 0; i < p->counters.nr; i++)
		write_string(ex, p->counters.list[i].name);
	if (clock_is_time_of_day(first_ns))
		write_uint(ex, PROFILE_TIME_NANOS, first_ns);
	else if (info->utc_offset_s > 0 && ex->pipe->first_ns != UINT64_MAX)
		write_uint(ex, PROFILE_TIME_NANOS,
			   first_ns + (uint64_t)info->utc_offset_s * NSEC_PER_SEC);
	if (info->elapsed_ns)
		write_uint(ex, PROFILE_DURATION_NANOS, info->elapsed_ns);
	write_type(ex, PROFILE_PERIOD_TYPE, STRING_WALL, STRING_NANOSECONDS);
	write_uint(ex, PROFILE_PERIOD, 1);
	write_uint(ex, PROFILE_COMMENT, STRING_COMMAND);
	write_uint(ex, PROFILE_DEFAULT_SAMPLE_TYPE, STRING_WALL);
}

static int show_pprof(struct export *ex, struct tree *tree, struct uft_err *err)
{
	struct pprof *p = ex->state;
	int ret = find_counters(ex, tree);
	const uint64_t *own = p->own;

	if (ret == 0)
		write_head(ex);
	for (size_t i = 0; ret == 0 && i < tree->nr_roots; i++)
		ret = write_tree(ex, tree->roots[i], &own);
	if (ret < 0 || strbuf_oom(&p->part) || strbuf_oom(&p->inner))
		return err_set_errno(err, -ENOMEM, "cannot export");
	return 0;
}

static void deinit_pprof(struct export *ex)
{
	struct pprof *p = ex->state;

	strbuf_deinit(&p->part);
	strbuf_deinit(&p->inner);
	func_numbers_deinit(&p->numbers);
	free(p->own);
}

const struct exporter exp_pprof = {
	.name = "pprof",
	.medium = MEDIUM_BINARY,
	.is_binary = true,
	.state_bytes = sizeof(struct pprof),
	.deinit = deinit_pprof,
	.show = show_pprof,
	.points_as_calls = true,
};
