/* Lines of the etrace text, which is untrusted (see etrace_read.h). */
#include "utils/builddb/etrace/etrace_read.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "utils/base/containers/vec.h"
#include "utils/base/units.h"
#include "utils/builddb/etrace/etrace_event.h"

/*
 * The latest accepted time, in seconds. With this limit, the sum of a few times in nanoseconds fits
 * into 64 bits.
 */
#define SECONDS_MAX 4000000000ULL
/*
 * An empty argument has no line in a log. So the index in the line of an argument may be larger
 * than expected, but by no more than this limit.
 */
#define EMPTY_MAX   4096U

static void note_wrong_line(struct etrace_reader *reader, size_t at, const char *text)
{
	reader->note(reader->self, reader->line, at, text);
}

/* --- tasks --- */

static struct etrace_task *find_task(struct etrace_reader *reader, uint64_t upid, uint64_t time_ns)
{
	struct etrace_task *task = intmap_get(&reader->by_upid, upid);
	struct etrace_task **tasks;

	if (task)
		return task;
	tasks = vec_grow(reader->tasks, reader->nr_tasks, sizeof(*tasks));
	task = tasks ? calloc(1, sizeof(*task)) : NULL;
	if (tasks)
		reader->tasks = tasks;
	if (task && intmap_put(&reader->by_upid, upid, task) < 0) {
		free(task);
		task = NULL;
	}
	if (!task) {
		reader->oom = true;
		return NULL;
	}
	task->upid = upid;
	task->first_ns = time_ns;
	tasks[reader->nr_tasks++] = task;
	return task;
}

struct etrace_task *etrace_reader_child(struct etrace_reader *reader, uint64_t upid)
{
	return find_task(reader, upid, UINT64_MAX);
}

void etrace_reader_deinit(struct etrace_reader *reader)
{
	for (size_t i = 0; i < reader->nr_tasks; i++) {
		struct etrace_task *task = reader->tasks[i];

		for (size_t k = 0; k < ARRAY_SIZE(task->event.texts); k++)
			strbuf_deinit(&task->event.texts[k]);
		strbuf_deinit(&task->half_text);
		strbuf_deinit(&task->variables);
		free(task);
	}
	free(reader->tasks);
	free(reader->records);
	free(reader->named);
	strbuf_deinit(&reader->payloads);
	strbuf_deinit(&reader->variables);
	intmap_deinit(&reader->by_upid);
	intmap_deinit(&reader->by_tid);
	proc_cpus_deinit(&reader->cpus);
}

/* --- parts of a line --- */

/* @left: the text after the head */
struct line {
	const char *start;
	struct text left;
	uint64_t upid;
	int cpu;
	uint64_t time_ns;
};

/* Parse the head of a line. Returns NULL on success, or a text that names the line's fault. */
static const char *parse_head(struct line *line)
{
	struct text *left = &line->left;
	uint64_t cpu, seconds, ns;

	text_word(left, "0: ");
	if (!text_dec(left, &line->upid) || line->upid > INT64_MAX)
		return "there should be the number of a task";
	if (!text_word(left, ",") || !text_dec(left, &cpu) || cpu > PROC_CPU_MAX ||
	    !text_word(left, ","))
		return "there should be the number of a CPU, with a comma on both sides";
	if (!text_dec(left, &seconds) || seconds > SECONDS_MAX)
		return "there should be a time in seconds";
	if (!text_word(left, ",") || !text_dec(left, &ns) || ns >= NSEC_PER_SEC)
		return "there should be a comma, and nanoseconds";
	if (!text_word(left, "!"))
		return "there should be '!'";
	line->cpu = (int)cpu;
	line->time_ns = seconds * NSEC_PER_SEC + ns;
	return NULL;
}

static bool is_tag_char(char c)
{
	return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') ||
	       c == '_';
}

static struct text take_tag(struct text *left)
{
	struct text tag = { left->at, left->at };

	while (tag.end < left->end && is_tag_char(*tag.end))
		tag.end++;
	left->at = tag.end;
	return tag;
}

static bool is(const struct text *tag, const char *word)
{
	return text_left(tag) == strlen(word) && memcmp(tag->at, word, text_left(tag)) == 0;
}

/* --- an event and its texts --- */

static const char *parse_keys(struct etrace_event *event, struct text *left)
{
	while (text_left(left)) {
		struct text name = take_tag(left);
		int key = etrace_row_key(event->row, name);

		if (key < 0) {
			left->at = name.at;
			return "the event has no such key";
		}
		if (event->has_value[key]) {
			left->at = name.at;
			return "a key comes twice";
		}
		if (!text_word(left, "=") || !text_i64(left, &event->values[key]))
			return "there should be '=' and a number";
		event->has_value[key] = true;
		if (text_left(left) && !text_word(left, ","))
			return "there should be a comma";
	}
	for (int i = 0; i < ETRACE_KEYS && event->row->keys[i]; i++) {
		bool is_size = i < ETRACE_TEXTS && event->row->texts[i];

		if (!event->has_value[i] && !(event->row->optional >> i & 1))
			return "a key is missing";
		if (is_size && event->has_value[i] &&
		    (event->values[i] < 0 || event->values[i] > PROC_TEXT_MAX))
			return "no text has such a size";
	}
	return NULL;
}

static void begin_event(struct etrace_reader *reader, struct etrace_task *task, struct line *line,
			const struct etrace_row *row)
{
	struct etrace_event *event = &task->event;
	const char *problem;

	etrace_event_finish(reader, task);
	for (size_t i = 0; i < ARRAY_SIZE(event->texts); i++) {
		strbuf_reset(&event->texts[i]);
		event->has_text[i] = false;
	}
	memset(event->values, 0, sizeof(event->values));
	memset(event->has_value, 0, sizeof(event->has_value));
	event->row = row;
	event->line = reader->line;
	event->cpu = line->cpu;
	event->time_ns = line->time_ns;
	event->nr_args = 0;
	event->open = ETRACE_NO_TEXT;
	event->is_wrong = false;
	problem = parse_keys(event, &line->left);
	if (!problem)
		return;
	note_wrong_line(reader, line->left.at - line->start, problem);
	event->is_wrong = true;
}

static const char *add_text(struct etrace_event *event, struct text text)
{
	struct strbuf *to = &event->texts[event->open];

	if (to->len + text_left(&text) > PROC_TEXT_MAX)
		return "the text is longer than a recording takes";
	strbuf_add(to, text.at, text_left(&text));
	return NULL;
}

static const char *begin_arg(struct etrace_event *event, uint64_t number)
{
	struct strbuf *args = &event->texts[ETRACE_ARGUMENT];

	if (event->row->kind != ETRACE_EXEC)
		return "only New_proc has arguments";
	event->open = ETRACE_ARGUMENT;
	if (event->nr_args && number == event->nr_args - 1)
		return NULL;
	if (number < event->nr_args || number - event->nr_args > EMPTY_MAX)
		return "it should be the next argument";
	strbuf_addchars(args, '\0', number - event->nr_args + (event->nr_args > 0));
	event->nr_args = number + 1;
	return args->len > PROC_TEXT_MAX ? "the text is longer than a recording takes" : NULL;
}

/* Begin the part "[<number>]" of a text. */
static const char *begin_part(struct etrace_event *event, struct text tag, uint64_t number)
{
	int text = etrace_row_text(event->row, tag);

	if (text < 0)
		return "the event has no such text";
	if (number == 0 && event->has_text[text])
		return "a text comes twice";
	if (number && (event->open != text || number < event->nr_parts))
		return "it should be the next part of the text";
	event->open = text;
	event->has_text[text] = true;
	event->nr_parts = number + 1;
	return NULL;
}

static const char *begin_text(struct etrace_event *event, struct text tag)
{
	int text = etrace_row_text(event->row, tag);

	if (text < 0)
		return "the event has no such text";
	if (event->has_text[text])
		return "a text comes twice";
	event->open = text;
	event->has_text[text] = true;
	event->nr_parts = UINT64_MAX;
	return NULL;
}

/*
 * True when @tag ends the open text. Only a text in parts ("TAG[0]text", "TAG[1]text") has such a
 * tag: "TAG_end".
 */
static bool ends_parts(const struct etrace_event *event, struct text tag)
{
	static const char end[] = "_end";
	size_t len = strlen(end);

	if (text_left(&tag) <= len || memcmp(tag.end - len, end, len) != 0)
		return false;
	tag.end -= len;
	return event->open >= 0 && event->open < ETRACE_TEXTS && event->nr_parts != UINT64_MAX &&
	       etrace_row_text(event->row, tag) == event->open;
}

/* Take the text after "TAG|". */
static const char *take_text(struct etrace_reader *reader, struct etrace_task *task,
			     struct text tag, struct text text)
{
	struct etrace_event *event = &task->event;
	const char *problem;

	if (is(&tag, "Cont_end"))
		return event->open < 0 ? "there is nothing that it ends" : NULL;
	if (is(&tag, "Cont")) {
		if (event->open < 0)
			return "there is no text that it goes on with";
		strbuf_addch(&event->texts[event->open], '\n');
		return add_text(event, text);
	}
	if (is(&tag, "End_of_args")) {
		if (event->row->kind != ETRACE_EXEC)
			return "there is nothing that it ends";
		etrace_event_finish(reader, task);
		return NULL;
	}
	if (ends_parts(event, tag)) {
		event->open = ETRACE_NO_TEXT;
		return NULL;
	}
	problem = begin_text(event, tag);
	return problem ? problem : add_text(event, text);
}

static const char *take_part(struct etrace_event *event, struct text tag, struct text *left)
{
	const char *problem;
	uint64_t number;

	if (!text_word(left, "[") || !text_dec(left, &number) || !text_word(left, "]"))
		return "there should be a tag, and '|' or a number in brackets";
	problem = is(&tag, "A") ? begin_arg(event, number) : begin_part(event, tag, number);
	return problem ? problem : add_text(event, *left);
}

/*
 * Take the '|' after a tag. Returns false when the tag needs a '|' and has none. "<tag>_end" at the
 * end of a line needs no '|': Samsung's published description of the text (doc/formats/etrace.md)
 * has none there.
 */
static bool take_bar(struct text tag, struct text *left)
{
	static const char end[] = "_end";
	size_t len = strlen(end);

	if (text_word(left, "|"))
		return true;
	return !text_left(left) && text_left(&tag) > len && memcmp(tag.end - len, end, len) == 0;
}

static void take_line(struct etrace_reader *reader, struct etrace_task *task, struct line *line)
{
	struct text tag = take_tag(&line->left);
	struct etrace_event *event = &task->event;
	bool is_whole = take_bar(tag, &line->left);
	const struct etrace_row *row = is_whole ? etrace_row_find(tag) : NULL;
	const char *problem;

	if (row) {
		begin_event(reader, task, line, row);
		return;
	}
	if (event->row && event->is_wrong)
		return;
	if (!event->row)
		problem = "there is no event that it could be of";
	else if (is_whole)
		problem = take_text(reader, task, tag, line->left);
	else
		problem = take_part(event, tag, &line->left);
	if (!problem)
		return;
	note_wrong_line(reader, tag.at - line->start, problem);
	event->is_wrong = true;
}

/* --- environments --- */

static const char *name_task(struct etrace_reader *reader, struct text *left)
{
	struct etrace_task **named;
	struct etrace_task *task;
	uint64_t upid;

	if (!text_dec(left, &upid) || text_left(left))
		return "there should be the number of a task";
	task = intmap_get(&reader->by_upid, upid);
	if (!task)
		return "no earlier line is about such a task";
	named = vec_grow(reader->named, reader->nr_named, sizeof(struct etrace_task *));
	if (!named) {
		reader->oom = true;
		return NULL;
	}
	reader->named = named;
	named[reader->nr_named++] = task;
	return NULL;
}

/*
 * Begin a variable. The variable belongs to the tasks in reader->named: the tasks of all UPID lines
 * since the previous variable.
 */
static void begin_variable(struct etrace_reader *reader)
{
	size_t at;

	strbuf_addch(&reader->variables, '\0');
	at = reader->variables.len;
	reader->variable_at = at;
	for (size_t i = 0; i < reader->nr_named; i++) {
		struct etrace_task *task = reader->named[i];

		if (task->variable_at != at)
			strbuf_add(&task->variables, &at, sizeof(at));
		task->variable_at = at;
	}
	reader->nr_named = 0;
	reader->is_in_variable = true;
}

static const char *add_variable(struct etrace_reader *reader, const struct text *text)
{
	if (reader->variables.len - reader->variable_at + text_left(text) >= PROC_TEXT_MAX)
		return "the text is longer than a recording takes";
	strbuf_add(&reader->variables, text->at, text_left(text));
	return NULL;
}

/*
 * Take a line of an environment. Such a line is not part of an event. A line with the tag UPID has
 * the number of a task. A variable belongs to the tasks of all UPID lines since the previous
 * variable. A long variable has several lines, with the tags Env[0], Env[1] and so on. The numbers
 * in these tags are ignored.
 */
static void take_environment(struct etrace_reader *reader, struct line *line)
{
	struct text tag = take_tag(&line->left);
	bool is_part = text_word(&line->left, "[");
	const char *problem = NULL;
	uint64_t number;

	if (is_part &&
	    (!is(&tag, "Env") || !text_dec(&line->left, &number) || !text_word(&line->left, "]")))
		problem = "there should be Env, and a number in brackets";
	else if (!is_part && !take_bar(tag, &line->left))
		problem = "there should be a tag, and '|'";
	else if (is(&tag, "UPID"))
		problem = name_task(reader, &line->left);
	else if (is(&tag, "Env")) {
		if (!is_part || reader->nr_named || !reader->is_in_variable)
			begin_variable(reader);
		problem = add_variable(reader, &line->left);
	} else if (is(&tag, "Cont") && reader->is_in_variable) {
		strbuf_addch(&reader->variables, '\n');
		problem = add_variable(reader, &line->left);
	} else if (!is(&tag, "Cont_end") && !is(&tag, "Env_end")) {
		problem = "a task has a number above 0, and no task has environments only";
	}
	if (problem)
		note_wrong_line(reader, tag.at - line->start, problem);
}

/*
 * True when the line belongs to an environment, and has no head (parse_head()). In CAS' published
 * description (doc/formats/etrace.md), the lines of environments have no head.
 */
static bool is_headless(const struct etrace_reader *reader, const struct line *line)
{
	struct text left = line->left;
	struct text tag = take_tag(&left);

	if (is(&tag, "UPID") || is(&tag, "Env") || is(&tag, "Env_end"))
		return true;
	return reader->is_in_variable && (is(&tag, "Cont") || is(&tag, "Cont_end"));
}

/* --- the whole text --- */

void etrace_reader_take(struct etrace_reader *reader, const char *text, size_t len)
{
	struct line line = { .start = text, .left = { text, text + len } };
	struct etrace_task *task;
	const char *problem;

	reader->line++;
	/* INITCWD, the first line, is not used. */
	if (reader->line == 1 && text_word(&line.left, "INITCWD="))
		return;
	problem = is_headless(reader, &line) ? NULL : parse_head(&line);
	if (problem || memchr(text, '\0', len)) {
		note_wrong_line(reader, line.left.at - text, problem ? problem : "a byte is 0");
		return;
	}
	if (line.upid == 0) {
		take_environment(reader, &line);
		return;
	}
	task = find_task(reader, line.upid, line.time_ns);
	if (!task)
		return;
	task->first_ns = MIN(task->first_ns, line.time_ns);
	take_line(reader, task, &line);
}

bool etrace_is_first_line(const char *text, size_t len)
{
	struct line line = { .left = { text, text + len } };

	return text_word(&line.left, "INITCWD=") || !parse_head(&line);
}

static void add_environment(struct etrace_reader *reader, struct etrace_task *task)
{
	struct strbuf nothing = { 0 };
	uint64_t time_ns = task->exec_ns ? task->exec_ns : task->first_ns;

	if (task->variables.len && time_ns != UINT64_MAX)
		etrace_reader_add(reader, task, PROC_ENV, time_ns, &nothing);
	reader->oom |= strbuf_oom(&task->variables);
}

int etrace_reader_end(struct etrace_reader *reader)
{
	for (size_t i = 0; i < reader->nr_tasks; i++) {
		etrace_event_finish(reader, reader->tasks[i]);
		etrace_event_end_half(reader, reader->tasks[i]);
		add_environment(reader, reader->tasks[i]);
	}
	strbuf_addch(&reader->variables, '\0');
	reader->oom |= strbuf_oom(&reader->variables) || strbuf_oom(&reader->payloads);
	if (!reader->oom)
		etrace_records_sort(reader);
	return reader->oom ? -ENOMEM : 0;
}
