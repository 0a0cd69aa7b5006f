/* Makes answers from an index (see answers.h). */
#include "cmds/show/parts/answers.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "config.h"
#include "utils/base/cleanup.h"
#include "utils/export/page/marks.h"
#include "utils/export/page/page.h"
#include "utils/view/values/titles.h"

/* The largest width that is accepted. No screen has more pixels. */
#define WIDTH_MAX	 16384
/*
 * The maximum numbers of calls in an answer: of a single task, and of all tasks together. A screen
 * could not show more calls.
 */
#define TASK_CALLS_MAX	 250000
#define ANSWER_CALLS_MAX 1000000
/*
 * The maximum number of events in an answer, for all tasks together. In each pixel of a task, the
 * answer has at most one event for each depth (see index.h).
 */
#define ANSWER_MARKS_MAX 200000
/* The maximum number of texts in an answer. */
#define ANSWER_TEXTS_MAX 64

static void put_member(struct strbuf *out, enum medium medium, const char *name, const char *text)
{
	strbuf_addf(out, "\"%s\":", name);
	page_put_string(out, medium, text);
}

void answer_page(const struct index *index, struct strbuf *out)
{
	const struct trace_data *data = index->data;

	strbuf_add(out, page_head, page_head_len);
	strbuf_addstr(out, "connect-src 'self'; ");
	strbuf_add(out, page_data, page_data_len);
	strbuf_addstr(out, "<script type=\"application/json\" id=\"meta\">{");
	put_member(out, MEDIUM_SCRIPT, "title", title_recording(data));
	strbuf_addch(out, ',');
	put_member(out, MEDIUM_SCRIPT, "tool", "utrail " UTRAIL_VERSION_TEXT);
	strbuf_addch(out, ',');
	put_member(out, MEDIUM_SCRIPT, "cmdline", title_cmdline(data));
	strbuf_addch(out, ',');
	put_member(out, MEDIUM_SCRIPT, "date", title_date(data));
	strbuf_addstr(
		out,
		",\"served\":\"parts\",\"base\":\"0\",\"zero\":0,\"tasks\":[],\"functions\":[],"
		"\"texts\":[],\"executions\":[]}</script>\n");
	strbuf_add(out, page_tail, page_tail_len);
}

static void put_task(const struct indexed_task *task, struct strbuf *out)
{
	strbuf_addf(out,
		    "{\"pid\":%d,\"tid\":%d,\"calls\":%llu,\"points\":%llu,\"depth\":%zu,"
		    "\"start\":%llu,\"end\":%llu,",
		    task->pid, task->tid, (unsigned long long)task->store.nr_calls,
		    (unsigned long long)task->points.nr_calls, task->depth,
		    (unsigned long long)task->start_ns, (unsigned long long)task->end_ns);
	put_member(out, MEDIUM_JSON, "name", task->name);
	strbuf_addch(out, '}');
}

static void put_names(const struct index *index, uint64_t known, struct strbuf *out)
{
	uint64_t number = 0;
	const char *comma = "";

	strbuf_addstr(out, "],\"functions\":[");
	strbuf_list_each (&index->names, name) {
		if (number++ < known)
			continue;
		strbuf_addf(out, "%s\"", comma);
		escape_add(out, MEDIUM_JSON, name, strlen(name));
		strbuf_addch(out, '"');
		comma = ",\n";
	}
}

static void put_kinds(const struct index *index, struct strbuf *out)
{
	size_t number = 0;

	strbuf_addstr(out, "],\"kinds\":[");
	strbuf_list_each (&index->kinds, name) {
		strbuf_addstr(out, number ? ",\n{" : "{");
		/* The name was escaped when it was read. Escaping it once more changes nothing. */
		put_member(out, MEDIUM_JSON, "name", name);
		strbuf_addf(out, ",\"count\":%llu}", (unsigned long long)index->per_kind[number++]);
	}
}

void answer_state(struct index *index, unsigned generation, uint64_t known, struct strbuf *out)
{
	index_lock(index);
	strbuf_addf(out, "{\"generation\":%u,\"isDone\":%s,\"progress\":%.4f,", generation,
		    index->is_done ? "true" : "false",
		    index->all_bytes ? (double)index->read_bytes / index->all_bytes : 0.0);
	strbuf_addf(out, "\"base\":\"%llu\",\"zero\":%llu,", (unsigned long long)index->base_ns,
		    (unsigned long long)index->zero_ns);
	strbuf_addf(out, "\"lost\":%llu,\"hasProcesses\":%s,\"leftOut\":%zu,",
		    (unsigned long long)index->nr_lost, index->processes.len ? "true" : "false",
		    index->nr_left_out);
	put_member(out, MEDIUM_JSON, "failure", index->failure.code ? index->failure.text : "");
	strbuf_addstr(out, ",\"tasks\":[");
	for (size_t i = 0; i < index->nr_tasks; i++) {
		strbuf_addstr(out, i ? ",\n" : "");
		put_task(&index->tasks[i], out);
	}
	put_kinds(index, out);
	put_names(index, known, out);
	strbuf_addstr(out, "],\"calls\":[");
	for (size_t i = 0; index->is_done && i < MIN(index->nr_calls, index->nr_names); i++)
		strbuf_addf(out, "%s%llu", i ? "," : "", (unsigned long long)index->calls[i]);
	strbuf_addstr(out, "]}\n");
	index_unlock(index);
}

/*
 * Appends a column, which the page reads as a Float64Array. Each call in @list has an element in
 * the column: the uint64_t at @offset in the call's struct stored_call, converted to a double.
 */
static void put_column(struct strbuf *out, const struct call_list *list, size_t offset)
{
	for (size_t i = 0; i < list->nr; i++) {
		const uint64_t *number = (const void *)((const char *)&list->calls[i] + offset);
		double value = *number;

		strbuf_add(out, &value, sizeof(value));
	}
}

/*
 * Gives new numbers to the contexts of the calls in @list, and to all ancestors of these contexts.
 * A parent gets its number before its children. Returns the number of contexts, including the root.
 *
 * @numbers: the new numbers, by node; 0: none
 */
static uint32_t choose_contexts(const struct contexts *contexts, const struct call_list *list,
				uint32_t *numbers)
{
	uint32_t nr = 1;

	for (size_t i = 0; i < list->nr; i++) {
		for (uint32_t n = list->calls[i].node; n && !numbers[n];
		     n = contexts->nodes[n].parent)
			numbers[n] = 1;
	}
	for (size_t n = 1; n < contexts->nr; n++)
		numbers[n] = numbers[n] ? nr++ : 0;
	return nr;
}

static void add_word(struct strbuf *out, uint32_t number)
{
	strbuf_add(out, &number, sizeof(number));
}

/*
 * Appends a task: the task's number; the counts of its calls, contexts and events in this answer;
 * 1 if the calls have texts, else 0; and the columns. Calls and events have columns of 8-byte
 * numbers and columns of 4-byte numbers. Contexts have only columns of 4-byte numbers. All columns
 * of 8-byte numbers come first.
 */
static int put_calls(const struct indexed_task *task, uint32_t number, const struct call_list *list,
		     const struct call_list *points, struct strbuf *out)
{
	const struct contexts *contexts = &task->contexts;
	uint32_t *numbers cleanup_free = calloc(contexts->nr + 1, sizeof(*numbers));

	if (!numbers)
		return -ENOMEM;

	uint32_t nr = choose_contexts(contexts, list, numbers);

	add_word(out, number);
	add_word(out, list->nr);
	add_word(out, nr);
	add_word(out, points->nr);
	add_word(out, task->has_texts);
	add_word(out, 0);
	put_column(out, list, offsetof(struct stored_call, start_ns));
	put_column(out, list, offsetof(struct stored_call, dur_ns));
	put_column(out, list, offsetof(struct stored_call, self_ns));
	if (task->has_texts)
		put_column(out, list, offsetof(struct stored_call, text));
	put_column(out, points, offsetof(struct stored_call, start_ns));
	put_column(out, points, offsetof(struct stored_call, text));
	for (size_t i = 0; i < list->nr; i++)
		add_word(out, numbers[list->calls[i].node]);
	for (size_t i = 0; i < list->nr; i++)
		add_word(out, list->calls[i].is_open);
	add_word(out, UINT32_MAX);
	for (size_t n = 1; n < contexts->nr; n++) {
		if (numbers[n])
			add_word(out, contexts->nodes[n].func);
	}
	add_word(out, UINT32_MAX);
	for (size_t n = 1; n < contexts->nr; n++) {
		if (numbers[n])
			add_word(out, numbers[contexts->nodes[n].parent]);
	}
	for (size_t i = 0; i < points->nr; i++)
		add_word(out, points->calls[i].depth);
	if (points->nr % 2)
		add_word(out, 0);
	return strbuf_oom(out) ? -ENOMEM : 0;
}

static int find_and_put(const struct index *index, uint32_t number, const struct part_range *range,
			uint64_t pixel_ns, size_t nr_tasks, struct strbuf *out)
{
	const struct indexed_task *task = &index->tasks[number];
	size_t most = MIN((size_t)TASK_CALLS_MAX, ANSWER_CALLS_MAX / nr_tasks);
	struct call_list list = { 0 }, points = { 0 };
	int ret = call_store_find(&task->store, range->from_ns, range->to_ns, pixel_ns, most,
				  &list);

	if (ret == 0)
		ret = call_store_find(&task->points, range->from_ns, range->to_ns, pixel_ns,
				      ANSWER_MARKS_MAX / nr_tasks, &points);
	if (ret == 0)
		ret = put_calls(task, number, &list, &points, out);
	call_list_deinit(&list);
	call_list_deinit(&points);
	return ret;
}

/*
 * Parses @words, a list of numbers separated by commas. Returns an array with a byte for each
 * number below @nr. The byte is 1 when the list has the number, else 0.
 */
static uint8_t *read_numbers(const char *words, size_t nr)
{
	uint8_t *wanted = calloc(nr + 1, 1);

	for (char *end; wanted && *words >= '0' && *words <= '9'; words = end + (*end == ',')) {
		unsigned long number = strtoul(words, &end, 10);

		if (number < nr)
			wanted[number] = 1;
	}
	return wanted;
}

static int find_in_tasks(const struct index *index, const struct part_range *range,
			 uint64_t pixel_ns, const char *numbers, struct strbuf *out)
{
	uint8_t *is_asked cleanup_free = read_numbers(numbers, index->nr_tasks);
	size_t nr = 0;
	int ret = is_asked ? 0 : -ENOMEM;

	for (size_t i = 0; is_asked && i < index->nr_tasks; i++)
		nr += is_asked[i];
	for (size_t i = 0; ret == 0 && nr && i < index->nr_tasks; i++) {
		if (is_asked[i])
			ret = find_and_put(index, i, range, pixel_ns, nr, out);
	}
	return ret;
}

int answer_calls(struct index *index, const struct part_range *range, uint64_t width,
		 const char *tasks, struct strbuf *out)
{
	uint64_t pixels = MIN(MAX(width, (uint64_t)1), (uint64_t)WIDTH_MAX);
	uint64_t pixel_ns = MAX((range->to_ns - range->from_ns) / pixels, (uint64_t)1);
	int ret;

	if (range->to_ns < range->from_ns)
		return -EINVAL;
	index_lock(index);
	ret = find_in_tasks(index, range, pixel_ns, tasks, out);
	index_unlock(index);
	return ret;
}

/* Searches in one task. Returns 1, 0 or a negative errno, like call_store_search(). */
static int search_task(const struct index *index, size_t number, const struct part_search *search,
		       const uint8_t *wanted, struct stored_call *found)
{
	const struct indexed_task *task = &index->tasks[number];
	const struct contexts *contexts = &task->contexts;
	uint8_t *nodes cleanup_free = calloc(contexts->nr + 1, 1);
	const struct store_search in_store = {
		.wanted = search->kinds ? wanted : nodes,
		.nr_wanted = search->kinds ? index->nr_kinds : contexts->nr,
		.at_ns = search->at_ns,
		/*
		 * Calls that begin at the same time are ordered by the numbers of their tasks. If
		 * @number is above search->task, all calls of task @number that begin at
		 * search->at_ns come after the place of the search (struct part_search). If @number
		 * is below search->task, all these calls come before the place.
		 */
		.depth = number == search->task	 ? search->depth
			 : number > search->task ? -1
						 : INT_MAX,
		.is_backwards = search->is_backwards,
	};

	if (search->kinds)
		return call_store_search(&task->points, &in_store, found);
	if (!nodes)
		return -ENOMEM;
	for (size_t n = 1; n < contexts->nr; n++)
		nodes[n] = contexts->nodes[n].func < index->nr_names &&
			   wanted[contexts->nodes[n].func];
	return call_store_search(&task->store, &in_store, found);
}

static int search_tasks(const struct index *index, const struct part_search *search,
			struct strbuf *out)
{
	uint8_t *wanted cleanup_free = search->kinds
					       ? read_numbers(search->kinds, index->nr_kinds)
					       : read_numbers(search->functions, index->nr_names);
	struct stored_call best = { 0 };
	size_t of = SIZE_MAX;
	int ret = wanted ? 0 : -ENOMEM;

	for (size_t i = 0; ret >= 0 && i < index->nr_tasks; i++) {
		struct stored_call found = { 0 };

		ret = search_task(index, i, search, wanted, &found);
		if (ret > 0 &&
		    (of == SIZE_MAX || (search->is_backwards ? found.start_ns >= best.start_ns
							     : found.start_ns < best.start_ns))) {
			best = found;
			of = i;
		}
	}
	if (ret >= 0 && of != SIZE_MAX)
		strbuf_addf(out,
			    "{\"task\":%zu,\"start\":%llu,\"dur\":%llu,\"depth\":%u,"
			    "\"text\":%llu}\n",
			    of, (unsigned long long)best.start_ns, (unsigned long long)best.dur_ns,
			    best.depth, (unsigned long long)best.text);
	else
		strbuf_addstr(out, "{}\n");
	return MIN(ret, 0);
}

int answer_search(struct index *index, const struct part_search *search, struct strbuf *out)
{
	index_lock(index);

	int ret = search_tasks(index, search, out);

	index_unlock(index);
	return ret;
}

static int put_texts(const struct text_store *texts, const char *numbers, struct strbuf *out)
{
	int ret = 0, nr = 0;

	for (char *end; ret == 0 && nr < ANSWER_TEXTS_MAX && *numbers >= '0' && *numbers <= '9';
	     numbers = end + (*end == ',')) {
		struct strbuf text cleanup_strbuf = { 0 };

		ret = text_store_get(texts, strtoull(numbers, &end, 10), &text);
		ret = ret == -ENOENT ? 0 : ret;
		strbuf_addstr(out, nr++ ? ",\n" : "");
		page_put_string(out, MEDIUM_JSON, strbuf_str(&text));
	}
	return ret;
}

int answer_texts(struct index *index, const char *numbers, struct strbuf *out)
{
	strbuf_addch(out, '[');
	index_lock(index);

	int ret = put_texts(&index->texts, numbers, out);

	index_unlock(index);
	strbuf_addstr(out, "]\n");
	return ret;
}

void answer_processes(struct index *index, struct strbuf *out)
{
	strbuf_addch(out, '[');
	index_lock(index);
	strbuf_add(out, strbuf_str(&index->processes), index->processes.len);
	index_unlock(index);
	strbuf_addstr(out, "]\n");
}

void answer_sources(struct index *index, struct strbuf *out)
{
	index_lock(index);
	/* The text @sources begins with a comma, or is empty. */
	strbuf_addf(out, "{\"isDone\":%s", index->is_done ? "true" : "false");
	strbuf_add(out, strbuf_str(&index->sources), index->sources.len);
	index_unlock(index);
	strbuf_addstr(out, "}\n");
}
