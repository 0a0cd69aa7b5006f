/* Explains why nothing is left to show (see no_result.h). */
#include "cmds/advice/no_result.h"

#include <stddef.h>
#include <string.h>

#include "cmds/cmd.h"
#include "cmds/filter_opts.h"
#include "cmds/reader.h"
#include "utils/base/units.h"
#include "utils/pipeline/pipeline.h"

/* Facts about the recording, found by look_at_recording(). */
struct found {
	bool has_any;
	uint64_t longest_ns; /* the longest duration of a call that has ended */
	uint64_t last_ns;
	uint64_t first_ns;
};

static int find_longest(void *self, const struct event_span *span, struct uft_err *err)
{
	struct found *found = self;

	for (size_t i = 0; i < span->nr; i++) {
		const struct event *event = &span->events[i];

		if (event->type == EVENT_EXIT && !(event->flags & EVENT_UNPAIRED))
			found->longest_ns = MAX(found->longest_ns, time_abs(event->total_ns));
		found->last_ns = MAX(found->last_ns, event->time_ns);
	}
	return 0;
}

/* Reads the part of the recording that @opts choose. Returns 0 on success, or a negative errno. */
static int look_at_recording(const struct opts *opts, struct trace_data *data, struct found *found)
{
	struct pipeline pipe cleanup_pipeline = { 0 };
	struct pipeline_config config;
	struct view view = { .events = find_longest, .self = found };
	/* The error is not printed: the view that showed nothing has reported errors already. */
	struct uft_err unsaid = { 0 };

	*found = (struct found){ 0 };
	reader_pipeline_config(opts, &config);
	config.order = PIPELINE_BY_TASK;

	int ret = pipeline_open(&pipe, data, &config, &unsaid);

	if (ret == 0)
		ret = pipeline_run(&pipe, &view, &unsaid);
	found->has_any = atomic_load(&pipe.has_shown);
	found->first_ns = pipe.first_ns;
	return ret;
}

/* A member of struct opts. If @size is 0, no member is meant. */
struct members {
	size_t offset;
	size_t size;
};
#define MEMBER(name)                                                             \
	{                                                                        \
		offsetof(struct opts, name), sizeof(((struct opts *)NULL)->name) \
	}

/*
 * An option that leaves something out.
 *
 * @takes: the members of struct opts that hold the option
 * @is_given: returns true when @opts has the option; NULL: the option is given when the first of
 *         @takes differs from its value in without_narrowings()
 * @name: the option as the user types it; NULL: @add_name adds this text
 * @why: a sentence that explains why nothing is left to show with this option; NULL: @add_why adds
 *         the sentence
 * @add_why: adds the sentence. The parameter @all has facts about the recording. These facts were
 *         found by reading the recording without the options in narrowings[]
 */
struct narrowing {
	struct members takes[2];
	bool (*is_given)(const struct opts *opts);
	const char *name;
	void (*add_name)(const struct opts *opts, struct strbuf *out);
	const char *why;
	void (*add_why)(const struct opts *opts, const struct trace_data *data,
			const struct found *all, struct strbuf *out);
};

static void name_time(const struct opts *opts, struct strbuf *out)
{
	strbuf_addstr(out, "-t ");
	format_time(opts->time_filter_ns, out);
}

static void why_time(const struct opts *opts, const struct trace_data *data,
		     const struct found *all, struct strbuf *out)
{
	strbuf_addstr(out, "no call took ");
	format_time(opts->time_filter_ns, out);
	strbuf_addstr(out, " or longer (-t); the longest took ");
	format_time(all->longest_ns, out);
}

static void name_size(const struct opts *opts, struct strbuf *out)
{
	strbuf_addf(out, "-Z %llu", (unsigned long long)opts->size_filter);
}

static void why_size(const struct opts *opts, const struct trace_data *data,
		     const struct found *all, struct strbuf *out)
{
	strbuf_addf(out, "no function that was called has %llu bytes or more (-Z)",
		    (unsigned long long)opts->size_filter);
}

static bool has_functions(const struct opts *opts)
{
	return opts->filters && opts->filters->nr;
}

#define NAMES_MAX 8

static void name_functions(const struct opts *opts, struct strbuf *out)
{
	size_t nr = MIN(opts->filters->nr, (size_t)NAMES_MAX);

	for (size_t i = 0; i < nr; i++) {
		const struct filter_entry *entry = &opts->filters->entries[i];
		struct typed_spec typed = filter_as_typed(entry);

		strbuf_addf(out, "%s--%s=%s", i ? " " : "", typed.option, typed.text);
	}
	if (nr < opts->filters->nr)
		strbuf_addf(out, " and %zu more", opts->filters->nr - nr);
}

static void why_functions(const struct opts *opts, const struct trace_data *data,
			  const struct found *all, struct strbuf *out)
{
	strbuf_addstr(out, "no call is let in by ");
	name_functions(opts, out);
}

static bool has_range(const struct opts *opts)
{
	return time_range_is_set(&opts->range);
}

static void name_range(const struct opts *opts, struct strbuf *out)
{
	strbuf_addstr(out, opts->range.start.is_from_end ? "--last" : "--time-range");
}

static void why_range(const struct opts *opts, const struct trace_data *data,
		      const struct found *all, struct strbuf *out)
{
	strbuf_addf(out,
		    "nothing happened in that time (%s); the recording begins at " SECONDS_FORMAT
		    " and lasts ",
		    opts->range.start.is_from_end ? "--last" : "-r", SECONDS_OF(all->first_ns));
	format_time(all->last_ns - MIN(all->first_ns, all->last_ns), out);
}

static void name_tids(const struct opts *opts, struct strbuf *out)
{
	strbuf_addstr(out, "--tid=");
	for (size_t i = 0; i < MIN(opts->nr_tids, (size_t)NAMES_MAX); i++)
		strbuf_addf(out, "%s%d", i ? "," : "", opts->tids[i]);
}

static void why_tids(const struct opts *opts, const struct trace_data *data,
		     const struct found *all, struct strbuf *out)
{
	size_t nr = 0;

	strbuf_addstr(out, "nothing is there of ");
	name_tids(opts, out);
	for (size_t i = 0; i < data->nr_tasks && nr < NAMES_MAX; i++) {
		if (data->tasks[i].data_bytes)
			strbuf_addf(out, "%s%d", nr++ ? ", " : "; the tasks are ",
				    data->tasks[i].tid);
	}
	if (nr == NAMES_MAX && data->nr_tasks > nr)
		strbuf_addstr(out, " and more ('utrail info --task')");
}

/* True when --patch or --unpatch has an effect. Neither has an effect when a recording is read. */
static bool has_patches(const struct opts *opts)
{
	return opts->rec.patches && opts->rec.patches->nr && !opts->cmd->reads_data;
}

static const struct narrowing narrowings[] = {
	{ { MEMBER(time_filter_ns) }, .add_name = name_time, .add_why = why_time },
	{ { MEMBER(size_filter) }, .add_name = name_size, .add_why = why_size },
	{ { MEMBER(filters) },
	  has_functions,
	  .add_name = name_functions,
	  .add_why = why_functions },
	{ .is_given = has_patches,
	  .name = "--patch or --unpatch",
	  .why = "no function has a hook by --patch" },
	{ { MEMBER(range) }, has_range, .add_name = name_range, .add_why = why_range },
	{ { MEMBER(nr_tids), MEMBER(tids) }, .add_name = name_tids, .add_why = why_tids },
	{ { MEMBER(show_libcalls) },
	  .name = "--no-libcall",
	  .why = "all calls are calls of library functions (--no-libcall)" },
	{ { MEMBER(kernel_only) },
	  .name = "--kernel-only",
	  .why = "no call of the kernel is in a function of the program (--kernel-only)" },
	/*
	 * After --trace=off, a filter's action trace_on can switch recording on. So this entry
	 * contains the filters.
	 */
	{ { MEMBER(trace_on), MEMBER(filters) },
	  .name = "--trace=off",
	  .why = "nothing has switched it on (--trace=off; see trace_on)" },
};

/* Returns @opts without any option that leaves calls out. */
static struct opts without_narrowings(const struct opts *opts)
{
	struct opts all = *opts;

	all.time_filter_ns = 0;
	all.size_filter = 0;
	all.filters = NULL;
	all.range = (struct time_range){ 0 };
	all.nr_tids = 0;
	all.show_libcalls = true;
	all.kernel_only = false;
	all.trace_on = true;
	return all;
}

static const void *member_of(const struct opts *opts, const struct members *member)
{
	return (const char *)opts + member->offset;
}

static bool is_given(const struct narrowing *narrowing, const struct opts *opts,
		     const struct opts *everything)
{
	const struct members *first = &narrowing->takes[0];

	if (narrowing->is_given)
		return narrowing->is_given(opts);
	return memcmp(member_of(opts, first), member_of(everything, first), first->size) != 0;
}

void no_result_add_options(const struct opts *opts, struct strbuf *out)
{
	const struct opts everything = without_narrowings(opts);
	size_t start = out->len;

	for (size_t i = 0; i < ARRAY_SIZE(narrowings); i++) {
		const struct narrowing *narrowing = &narrowings[i];

		if (!is_given(narrowing, opts, &everything))
			continue;
		if (out->len > start)
			strbuf_addstr(out, ", ");
		if (narrowing->add_name)
			narrowing->add_name(opts, out);
		else
			strbuf_addstr(out, narrowing->name);
	}
}

/* Adds a sentence for each given option that alone leaves nothing to show. */
static void add_reasons(const struct opts *opts, struct trace_data *data, struct strbuf *out)
{
	const struct opts everything = without_narrowings(opts);
	struct found all;

	if (look_at_recording(&everything, data, &all) < 0)
		return;
	for (size_t i = 0; i < ARRAY_SIZE(narrowings) && all.has_any; i++) {
		const struct narrowing *narrowing = &narrowings[i];
		struct opts only = everything;
		struct found left;

		if (!is_given(narrowing, opts, &everything))
			continue;
		for (size_t k = 0; k < ARRAY_SIZE(narrowing->takes); k++) {
			const struct members *it = &narrowing->takes[k];

			memcpy((char *)&only + it->offset, member_of(opts, it), it->size);
		}
		if (look_at_recording(&only, data, &left) < 0 || left.has_any)
			continue;
		strbuf_addstr(out, out->len ? "; " : ": ");
		if (narrowing->add_why)
			narrowing->add_why(opts, data, &all, out);
		else
			strbuf_addstr(out, narrowing->why);
	}
}

void no_result_explain_data(const struct opts *opts, struct trace_data *data)
{
	struct strbuf why cleanup_strbuf = { 0 };
	struct strbuf given cleanup_strbuf = { 0 };

	add_reasons(opts, data, &why);
	no_result_add_options(opts, &given);
	if (!why.len && given.len)
		strbuf_addf(&why, ": no call passes %s", strbuf_str(&given));
	msg_warn(&opts->msg, "nothing is left to show%s", strbuf_str(&why));
}

void no_result_explain(const struct opts *opts, const struct pipeline *pipe)
{
	if (!pipe->broken.code && !atomic_load(&pipe->is_stopped))
		no_result_explain_data(opts, pipe->data);
}
