/* Commands that ran again with the same inputs (see deps.h). */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "utils/base/cleanup.h"
#include "utils/base/escape.h"
#include "utils/builddb/deps.h"

/*
 * A run of a program. The run consists of the program's @execution, the later executions of the
 * same process, and the executions of all processes that descend from these executions.
 *
 * @command: hash of program, arguments and directory
 * @inputs: hash of the contents that the run has read
 * @is_comparable: all inputs are known, and did not change
 */
struct run {
	uint64_t command;
	uint64_t inputs;
	uint32_t execution;
	bool is_comparable;
};

/*
 * The search for equal runs, which have the same command and the same inputs. An array "by
 * execution" has an element for each execution, at the index of the execution. An array "by
 * content" has an element for each content, at the index of the content.
 *
 * @following: by execution: one plus the index of the next execution of the same process
 * @last_ns: by content: the time when a file with this content was last closed after a write
 * @is_again: by execution: the run that begins with this execution equals an earlier run
 * @steps_left: the number of steps that the search may still take. 0: some runs were not compared
 * @in_run: by execution: the number of the last run that includes the execution
 * @written: by content: the number of the last run that has written the content
 * @counted: by content: the number of the last run whose hash has the content as an input
 */
struct findings {
	const struct executions *executions;
	const struct files *files;
	struct run *runs;
	size_t nr_runs;
	uint32_t *following;
	uint64_t *last_ns;
	uint32_t *in_run;
	uint32_t *written;
	uint32_t *counted;
	uint8_t *is_again;
	uint32_t *members;
	size_t nr_members;
	uint32_t number;
	uint64_t steps_left;
};

/*
 * The search may take STEPS_FIRST steps, and STEPS_EACH more for each execution and each use of a
 * file. Only deeply nested runs need more, for example those of a program that executes itself
 * forever.
 */
#define STEPS_EACH  64
#define STEPS_FIRST 1000000

/*
 * Equal runs. @execution: the first run; @nr, @took_ns: the number and the total time of the other
 * runs, except the runs for which is_within_another() is true
 */
struct repeat {
	uint64_t took_ns;
	uint32_t execution;
	uint32_t nr;
};

static uint64_t mix(uint64_t hash, const char *data, size_t len)
{
	for (size_t i = 0; i < len; i++)
		hash = (hash ^ (unsigned char)data[i]) * 0x100000001b3ULL;
	return hash;
}

static uint64_t mix_number(uint64_t number)
{
	number = (number ^ number >> 33) * 0xff51afd7ed558ccdULL;
	number = (number ^ number >> 33) * 0xc4ceb9fe1a85ec53ULL;
	return number ^ number >> 33;
}

static uint64_t command_of(const struct execution *execution)
{
	uint64_t hash = 0xcbf29ce484222325ULL;

	hash = mix(hash, execution->program, strlen(execution->program) + 1);
	hash = mix(hash, execution->cwd, strlen(execution->cwd) + 1);
	return mix(hash, execution->args, execution->args_len);
}

static bool is_same_command(const struct execution *one, const struct execution *other)
{
	return strcmp(one->program, other->program) == 0 && strcmp(one->cwd, other->cwd) == 0 &&
	       one->args_len == other->args_len &&
	       (!one->args_len || memcmp(one->args, other->args, one->args_len) == 0);
}

/* Count a step. Returns false when no steps are left. */
static bool take_step(struct findings *find)
{
	if (find->steps_left)
		find->steps_left--;
	return find->steps_left;
}

static void add_member(struct findings *find, size_t execution)
{
	if (find->in_run[execution] == find->number || !take_step(find))
		return;
	find->in_run[execution] = find->number;
	find->members[find->nr_members++] = execution;
}

/* Find the executions that belong to a run. @execution is the first execution of this run. */
static void find_members(struct findings *find, size_t execution)
{
	const struct execution *all = find->executions->all;

	find->number++;
	find->nr_members = 0;
	add_member(find, execution);
	for (size_t i = 0; i < find->nr_members; i++) {
		uint32_t at = find->members[i];

		if (find->following[at])
			add_member(find, find->following[at] - 1);
		for (size_t child = all[at].first_child; child != EXECUTION_NONE;
		     child = all[child].next_child)
			add_member(find, child);
	}
}

static bool is_made_in_run(const struct findings *find, uint32_t content)
{
	const struct file_content *it = &find->files->contents[content];
	uint32_t first = it->first_use;

	return !it->is_outside && find->in_run[find->files->uses[first].execution] == find->number;
}

static void mark_written(struct findings *find)
{
	const struct files *files = find->files;

	for (size_t i = 0; i < find->nr_members; i++) {
		for (uint32_t at = files_first_use(files, find->members[i]); at != FILES_NONE;
		     at = files->uses[at].next_of_execution) {
			if (take_step(find) && files->uses[at].write_ns != UINT64_MAX)
				find->written[files->uses[at].content] = find->number;
		}
	}
}

/*
 * Add an input to the run's hash. The run is not comparable if this run has written the input, or
 * if the input was written after the run had read it.
 */
static void count_input(struct findings *find, struct run *run, const struct file_use *use)
{
	const struct file_content *content = &find->files->contents[use->content];

	if (use->read_ns == UINT64_MAX || content->kind == CONTENT_OTHER ||
	    is_made_in_run(find, use->content) ||
	    (content->kind == CONTENT_PIPE && content->is_outside) ||
	    find->counted[use->content] == find->number)
		return;
	find->counted[use->content] = find->number;
	run->inputs += mix_number(use->content + 1);
	if (find->written[use->content] == find->number ||
	    (content->kind == CONTENT_FILE && find->last_ns[use->content] > use->read_ns))
		run->is_comparable = false;
}

static void find_inputs(struct findings *find, struct run *run)
{
	const struct files *files = find->files;

	if (!find->steps_left)
		return;
	find_members(find, run->execution);
	mark_written(find);
	run->is_comparable = true;
	for (size_t i = 0; i < find->nr_members; i++) {
		for (uint32_t at = files_first_use(files, find->members[i]); at != FILES_NONE;
		     at = files->uses[at].next_of_execution)
			count_input(find, run, &files->uses[at]);
	}
	run->is_comparable &= find->steps_left > 0;
}

static int by_command(const void *a, const void *b)
{
	const struct run *one = a;
	const struct run *other = b;

	if (one->command != other->command)
		return one->command < other->command ? -1 : 1;
	if (one->inputs != other->inputs)
		return one->inputs < other->inputs ? -1 : 1;
	return (one->execution > other->execution) - (one->execution < other->execution);
}

static int by_time(const void *a, const void *b)
{
	const struct repeat *one = a;
	const struct repeat *other = b;

	if (one->took_ns != other->took_ns)
		return one->took_ns > other->took_ns ? -1 : 1;
	return (one->execution > other->execution) - (one->execution < other->execution);
}

static void list_runs(struct findings *find)
{
	const struct executions *executions = find->executions;

	for (size_t i = 0; i < executions->nr; i++) {
		const struct execution *it = &executions->all[i];

		if (it->previous != EXECUTION_NONE)
			find->following[it->previous] = i + 1;
		if (it->index)
			find->runs[find->nr_runs++] = (struct run){ .command = command_of(it),
								    .execution = i };
	}
	for (size_t i = 0; i < find->files->nr_uses; i++) {
		const struct file_use *use = &find->files->uses[i];

		if (use->write_ns != UINT64_MAX && find->last_ns[use->content] < use->close_ns)
			find->last_ns[use->content] = use->close_ns;
	}
	qsort(find->runs, find->nr_runs, sizeof(*find->runs), by_command);
	for (size_t i = 0; i < find->nr_runs; i++) {
		if ((i && find->runs[i - 1].command == find->runs[i].command) ||
		    (i + 1 < find->nr_runs && find->runs[i + 1].command == find->runs[i].command))
			find_inputs(find, &find->runs[i]);
	}
	qsort(find->runs, find->nr_runs, sizeof(*find->runs), by_command);
}

/* Returns the number of equal runs from index @first on, including the run at @first. */
static size_t count_same(const struct findings *find, size_t first)
{
	const struct execution *all = find->executions->all;
	const struct run *run = &find->runs[first];
	size_t end = first + 1;

	while (end < find->nr_runs && run->is_comparable && find->runs[end].is_comparable &&
	       find->runs[end].command == run->command && find->runs[end].inputs == run->inputs &&
	       is_same_command(&all[find->runs[end].execution], &all[run->execution]))
		end++;
	return end - first;
}

/*
 * True when the execution is part of a larger run that equals an earlier run. The larger run is
 * reported instead.
 */
static bool is_within_another(const struct findings *find, size_t execution)
{
	const struct execution *all = find->executions->all;
	const struct execution *it = &all[execution];

	for (;;) {
		size_t at = it->previous == EXECUTION_NONE ? it->parent : it->previous;

		if (at == EXECUTION_NONE)
			return false;
		if (find->is_again[at])
			return true;
		it = &all[at];
	}
}

static size_t find_repeats(struct findings *find, struct repeat *repeats)
{
	const struct execution *all = find->executions->all;
	size_t nr = 0;
	size_t end;

	for (size_t i = 0; i < find->nr_runs; i = end) {
		end = i + count_same(find, i);
		for (size_t k = i + 1; k < end; k++)
			find->is_again[find->runs[k].execution] = true;
	}
	for (size_t i = 0; i < find->nr_runs; i = end) {
		struct repeat repeat = { .execution = find->runs[i].execution };

		end = i + count_same(find, i);
		for (size_t k = i + 1; k < end; k++) {
			const struct execution *it = &all[find->runs[k].execution];

			if (is_within_another(find, find->runs[k].execution))
				continue;
			repeat.took_ns += it->end_ns - it->start_ns;
			repeat.nr++;
		}
		if (repeat.nr)
			repeats[nr++] = repeat;
	}
	qsort(repeats, nr, sizeof(*repeats), by_time);
	return nr;
}

static void put_repeat(const struct findings *find, const struct repeat *repeat, struct sink *sink)
{
	const struct execution *execution = &find->executions->all[repeat->execution];
	unsigned long long took_us = repeat->took_ns / 1000;

	sink_putf(sink, "#   %u times, %llu.%03llu ms too many:", repeat->nr + 1, took_us / 1000,
		  took_us % 1000);
	for (const char *arg = NULL; (arg = execution_next_arg(execution, arg)) != NULL;) {
		sink_lit(sink, " ");
		sink_str(sink, arg);
	}
	sink_lit(sink, "\n");
}

static bool allocate(struct findings *find)
{
	size_t nr = find->executions->nr + 1;
	size_t nr_contents = find->files->nr_contents + 1;

	find->runs = calloc(nr, sizeof(*find->runs));
	find->following = calloc(nr, sizeof(*find->following));
	find->in_run = calloc(nr, sizeof(*find->in_run));
	find->members = calloc(nr, sizeof(*find->members));
	find->is_again = calloc(nr, sizeof(*find->is_again));
	find->last_ns = calloc(nr_contents, sizeof(*find->last_ns));
	find->written = calloc(nr_contents, sizeof(*find->written));
	find->counted = calloc(nr_contents, sizeof(*find->counted));
	return find->runs && find->following && find->in_run && find->members && find->is_again &&
	       find->last_ns && find->written && find->counted;
}

static void release_findings(struct findings *find)
{
	free(find->runs);
	free(find->following);
	free(find->in_run);
	free(find->members);
	free(find->is_again);
	free(find->last_ns);
	free(find->written);
	free(find->counted);
}

int deps_run_again(const struct executions *executions, const struct files *files,
		   struct sink *sink)
{
	struct findings find = { .executions = executions, .files = files };
	struct repeat *repeats cleanup_free = calloc(executions->nr + 1, sizeof(*repeats));
	int ret = repeats && allocate(&find) ? 0 : -ENOMEM;

	if (ret == 0) {
		find.steps_left = STEPS_FIRST +
				  (uint64_t)STEPS_EACH * (executions->nr + files->nr_uses);
		list_runs(&find);

		size_t nr = find_repeats(&find, repeats);

		for (size_t i = 0; i < nr; i++)
			put_repeat(&find, &repeats[i], sink);
		if (!find.steps_left)
			sink_lit(sink, "#   (there are more commands than could be compared)\n");
	}
	release_findings(&find);
	return ret;
}
