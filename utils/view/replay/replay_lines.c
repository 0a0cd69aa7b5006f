/* Writes the lines of replay (see replay_lines.h). */
#include "utils/view/replay/replay_lines.h"

#include <stdlib.h>
#include <string.h>

#include "utils/format/bytes.h"
#include "utils/view/values/number.h"
#include "utils/view/replay/replay_columns.h"
#include "utils/view/source_line.h"
#include "utils/view/texts.h"

_Static_assert(FUNC_TEXT_SLACK >= COPY_OVER_SLACK, "names are copied with copy_over()");

/*
 * The maximum indentation. One sink_room() of at most SINK_ROOM_MAX bytes must hold the cells of a
 * line, the indentation, and NAME_ROOM bytes.
 */
#define INDENT_MAX_BYTES 1024UL
/*
 * The bytes after the indentation that begin_line() reserves for the text of a line. Names that do
 * not fit in NAME_MAX_BYTES are written after sink_done().
 */
#define NAME_ROOM	 (SINK_ROOM_MAX / 4)
#define NAME_MAX_BYTES	 (NAME_ROOM - 16)

/*
 * Returns the column of the task in --column-view. Tasks get columns in the order of their first
 * events.
 */
static uint32_t column_of(struct replay *replay, const struct task *task)
{
	uint32_t *column = &replay->tasks[task->index].column;

	if (*column == 0)
		*column = ++replay->nr_task_columns;
	return *column - 1;
}

static size_t indent_bytes(struct replay *replay, const struct task *task, unsigned indent)
{
	size_t depth = indent;

	if (replay->config.is_column_view && task)
		depth += (size_t)column_of(replay, task) * replay->config.column_offset;
	return MIN(depth * 2, INDENT_MAX_BYTES);
}

/*
 * HOT: write @bytes blanks, 32 at a time. The function may overwrite up to 31 bytes after the
 * blanks, as copy_over() does.
 */
static char *put_indent(char *to, size_t bytes)
{
	for (size_t i = 0; i < bytes; i += 32)
		memset(to + i, ' ', 32);
	return to + bytes;
}

static void put_color(struct replay *replay, enum color color)
{
	sink_color_begin(replay->sink, replay->config.color, color);
}

static void end_color(struct replay *replay)
{
	sink_color_end(replay->sink, replay->config.color);
}

void replay_show_header(struct replay *replay)
{
	replay->has_header = true;
	if (replay->config.is_flat)
		sink_lit(replay->sink, "\n");
	else
		replay_put_header(replay);
}

/*
 * If needed, first write the header or a line of blank cells. Then begin a line with its cells and
 * its indentation. Up to NAME_ROOM bytes may follow before sink_done().
 */
static char *begin_line(struct replay *replay, const struct replay_row *row, unsigned indent)
{
	static const struct replay_row nobody;
	size_t bytes = indent_bytes(replay, row->task, indent);

	if (unlikely(!replay->has_header))
		replay_show_header(replay);
	if (unlikely(row->task != replay->last_task)) {
		if (replay->config.has_task_newline && replay->last_task && row->task) {
			char *to = replay_put_cells(replay, &nobody, 1);

			*to++ = '\n';
			sink_done(replay->sink, to);
		}
		if (row->task)
			replay->last_task = row->task;
	}
	return put_indent(replay_put_cells(replay, row, bytes + NAME_ROOM), bytes);
}

/* Returns the length of func->call_text without the semicolon. */
static size_t name_len_of_call(const struct func *func)
{
	/* The text is "name();", or "name;" if the name itself ends with brackets. */
	return func->call_len - 1;
}

/* Returns the name of the module that defines the called library function, or NULL. */
static const char *library_of(const struct replay *replay, const struct task *task,
			      const struct event *event)
{
	const struct session *session = task_session(task, event->time_ns);

	for (size_t i = 0; session && i < session->map.nr; i++) {
		struct module *mod = session->modules[i];

		if (!mod || module_load(session->set, mod, NULL) < 0)
			continue;
		for (size_t k = 0; k < mod->symtab.nr; k++) {
			const struct symbol *sym = &mod->symtab.syms[k];

			if (sym->type != 'P' && strcmp(sym->name, event->func->sym->name) == 0)
				return mod->basename;
		}
	}
	return NULL;
}

/* Show one line of the backtrace of @entry. The line names path->func, a caller of @entry. */
static void show_step(struct replay *replay, const struct task *task, const struct event *entry,
		      const struct call_path *path)
{
	struct event event = { .type = EVENT_ENTRY, .func = path->func, .addr = path->addr };
	struct replay_row row = { task, &event, entry->time_ns, 0, " backtrace" };
	uint64_t last_ns = replay->tasks[task->index].line_ns;

	sink_done(replay->sink, begin_line(replay, &row, 0) - indent_bytes(replay, task, 0));
	/* Lines of a backtrace do not count for "delta". */
	replay->tasks[task->index].line_ns = last_ns;
	if (replay->columns.nr == 0)
		sink_lit(replay->sink, " ");
	put_color(replay, COLOR_GRAY);
	sink_either(replay->sink, path->depth < 10, "/* [ ", "/* [");
	sink_putf(replay->sink, "%zu] ", path->depth);
	sink_func(replay->sink, path->func);
	sink_lit(replay->sink, " */\n");
	end_color(replay);
}

/* Show the path of callers above a call. */
static void show_backtrace(struct replay *replay, const struct task *task,
			   const struct event *entry)
{
	const struct call_path *path = (const struct call_path *)(uintptr_t)entry->self_ns;

	if (!path || !(replay->rules->uses & TRIGGER_BACKTRACE))
		return;

	/* The path begins with the innermost call, but the outermost call is shown first. */
	size_t nr = path->depth + 1;
	const struct call_path **steps cleanup_free = calloc(nr, sizeof(*steps));

	for (size_t i = nr; steps && path && i-- > 0; path = path->parent)
		steps[i] = path;
	for (size_t i = 0; steps && i < nr; i++)
		show_step(replay, task, entry, steps[i]);
}

/* Write the name of @func. If the user has chosen a colour for @func, use this colour. */
static void put_name(struct replay *replay, const struct func *func)
{
	const struct trigger *rule = replay->rules ? func_rule(replay->rules, 0, func) : NULL;

	if (!rule || !(rule->flags & TRIGGER_COLOR)) {
		sink_func(replay->sink, func);
		return;
	}
	put_color(replay, rule->color);
	sink_func(replay->sink, func);
	end_color(replay);
}

/* Write "@lib" after the name of a library function, if config.shows_libname is set. */
static void put_lib(struct replay *replay, const struct task *task, const struct event *event)
{
	const char *lib = NULL;

	if (replay->config.shows_libname && event->func->is_libcall)
		lib = library_of(replay, task, event);
	if (lib) {
		sink_lit(replay->sink, "@");
		sink_str(replay->sink, lib);
	}
}

/* Write "name(arguments)" or "name@lib(arguments)". */
static void put_call_name(struct replay *replay, const struct task *task, const struct event *event)
{
	const struct func *func = event->func;

	put_name(replay, func);
	put_lib(replay, task, event);
	strbuf_reset(&replay->text);
	if (replay->config.shows_args &&
	    argtext_put_args(&replay->args, task, event, &replay->text))
		sink_put_made(replay->sink, &replay->text);
	else if (name_len_of_call(func) > func->shown_len)
		sink_lit(replay->sink, "()");
}

/*
 * Write " = value". Returns false when the return value of the call is unknown, or must not be
 * shown.
 */
static bool put_retval(struct replay *replay, const struct task *task, const struct event *exit)
{
	strbuf_reset(&replay->text);
	if (!replay->config.shows_args || !exit->data ||
	    !argtext_put_retval(&replay->args, task, exit, &replay->text))
		return false;
	sink_lit(replay->sink, " = ");
	sink_put_made(replay->sink, &replay->text);
	return true;
}

/*
 * If @event contains a call site, keep the call site for the line of the task's next call. Returns
 * false when @event contains no call site.
 */
static bool note_site(struct replay *replay, const struct task *task, const struct event *event)
{
	if (event->type != EVENT_POINT || event->addr != EVENT_ID_CALLSITE || !task ||
	    event->data_len < sizeof(uint64_t))
		return false;
	replay->tasks[task->index].site = get_u64(event->data, replay->pipe->data->is_big_endian);
	replay->tasks[task->index].site_ns = event->time_ns;
	replay->has_sites = true;
	return true;
}

/*
 * Returns the address of the instruction after the call, or 0 if this address is unknown or must
 * not be shown.
 */
static uint64_t take_site(struct replay *replay, const struct task *task, const struct event *entry)
{
	struct replay_task *state = &replay->tasks[task->index];
	uint64_t addr = state->site;

	/*
	 * As in uftrace, the newest call site belongs to @entry if the call site was recorded at
	 * most 1 ns before @entry. An older call site may belong to a call that is not shown.
	 */
	if (entry->time_ns - state->site_ns > 1)
		addr = 0;
	state->site = 0;
	return replay->config.shows_callsite ? addr : 0;
}

/*
 * Write "FILE:LINE" or "symbol+0x12" for @addr, the address of the instruction after a call. A call
 * may be the last instruction of a function. So the function is searched with @addr - 1, an address
 * inside of the call instruction.
 */
static void put_site(const struct task *task, const struct event *entry, uint64_t addr,
		     struct strbuf *out)
{
	struct task_place place;
	const struct func *func = NULL;
	uint64_t offset;

	if (task_place_at(task, 0, entry->time_ns, &place, NULL) == 0)
		func = space_symbol_offset(place.space, addr - 1, &offset);
	if (!func)
		strbuf_addf(out, "%#llx", (unsigned long long)addr);
	else if (!module_put_line(func, offset, out))
		strbuf_addf(out, "%s+%#llx", func->name,
			    (unsigned long long)(offset + 1 - func->sym->addr));
}

/* Write " / * FILE:LINE from FILE:LINE * /": the lines of the function and of the call. */
static void put_places(struct replay *replay, const struct task *task, const struct event *entry)
{
	struct module_set *modules = &replay->pipe->data->modules;
	uint64_t site = unlikely(replay->has_sites) ? take_site(replay, task, entry) : 0;
	const struct dbg_func *debug = NULL;
	struct strbuf text cleanup_strbuf = { 0 };

	if (!replay->config.shows_comments)
		return;
	if (replay->config.shows_source)
		debug = module_debug(modules, entry->func);
	if (debug && debug->file)
		strbuf_addf(&text, " %s:%u", debug->file, debug->line);
	if (site) {
		strbuf_addstr(&text, " from ");
		put_site(task, entry, site, &text);
	}
	if (!text.len)
		return;

	struct strbuf comment cleanup_strbuf = { 0 };

	strbuf_addf(&comment, " /*%s */", strbuf_str(&text));
	source_line_put_word(strbuf_str(&comment), replay->config.color, replay->sink);
}

/* Write the end of a line that begins a call. */
static void end_call_line(struct replay *replay, const struct task *task, const struct event *entry)
{
	const struct func *func = entry->func;

	put_places(replay, task, entry);
	if (replay->config.shows_inlined && replay->config.shows_comments)
		source_put_inlined(&replay->pipe->data->modules, func, replay->config.color,
				   replay->sink);
	sink_lit(replay->sink, "\n");
}

/* True when func->call_text is all that is shown of the call. */
static inline bool is_plain_call(const struct replay *replay, const struct event *entry)
{
	return entry->func->call_len < NAME_MAX_BYTES && replay->shows_plain_calls &&
	       !replay->has_sites && !entry->data;
}

/* HOT: write "name();". */
static void show_leaf(struct replay *replay, const struct task *task, const struct event *entry,
		      const struct event *exit)
{
	const struct func *func = entry->func;
	struct replay_row row = { task, entry, entry->time_ns, time_abs(exit->total_ns), NULL };

	if (unlikely(replay->rules))
		show_backtrace(replay, task, entry);

	char *to = begin_line(replay, &row, entry->indent);

	if (likely(is_plain_call(replay, entry) && !exit->data)) {
		to = copy_over(to, func->call_text, func->call_len);
		*to++ = '\n';
		sink_done(replay->sink, to);
		return;
	}
	sink_done(replay->sink, to);
	put_call_name(replay, task, entry);
	put_retval(replay, task, exit);
	sink_lit(replay->sink, ";");
	end_call_line(replay, task, entry);
}

/* Write "name() {". */
static void show_entry(struct replay *replay, const struct task *task, const struct event *event)
{
	const struct func *func = event->func;
	struct replay_row row = { task, event, event->time_ns, 0, NULL };

	if (unlikely(replay->rules))
		show_backtrace(replay, task, event);

	char *to = begin_line(replay, &row, event->indent);

	if (likely(is_plain_call(replay, event))) {
		to = copy_over(to, func->call_text, name_len_of_call(func));
		memcpy(to, " {\n", 3);
		sink_done(replay->sink, to + 3);
		return;
	}
	sink_done(replay->sink, to);
	put_call_name(replay, task, event);
	sink_lit(replay->sink, " {");
	end_call_line(replay, task, event);
}

/* Write "} / * name * /". */
static void show_exit(struct replay *replay, const struct task *task, const struct event *event)
{
	const struct func *func = event->func;
	struct replay_row row = { task, event, event->time_ns, time_abs(event->total_ns), NULL };
	char *to = begin_line(replay, &row, event->indent);

	*to++ = '}';
	if (likely(func->shown_len < NAME_MAX_BYTES && replay->config.shows_comments &&
		   !replay->config.shows_libname && replay->config.color == COLOR_MODE_OFF &&
		   !event->data)) {
		memcpy(to, " /* ", 4);
		to = copy_over(to + 4, func->call_text, func->shown_len);
		memcpy(to, " */\n", 4);
		sink_done(replay->sink, to + 4);
		return;
	}
	sink_done(replay->sink, to);
	if (put_retval(replay, task, event))
		sink_lit(replay->sink, ";");
	if (replay->config.shows_comments) {
		put_color(replay, COLOR_GRAY);
		sink_lit(replay->sink, " /* ");
		sink_func(replay->sink, func);
		put_lib(replay, task, event);
		sink_lit(replay->sink, " */");
		end_color(replay);
	}
	sink_lit(replay->sink, "\n");
}

/* End the colour green and begin it again, as uftrace does after each part of a note. */
static void renew_green(struct replay *replay, enum color color)
{
	if (color != COLOR_GREEN)
		return;
	end_color(replay);
	put_color(replay, color);
}

/*
 * Write a line that shows only a comment: "/ * NAME (DATA) * /". As in uftrace, the colour ends
 * after the newline.
 *
 * @name: the text NAME
 * @data: the text DATA. If @data is NULL or empty, the line has no parentheses
 */
static void show_note(struct replay *replay, const struct replay_row *row, unsigned indent,
		      enum color color, const struct strbuf *name, const struct strbuf *data)
{
	size_t bytes = indent_bytes(replay, row->task, indent);
	char *to = begin_line(replay, row, 0);

	sink_done(replay->sink, to - indent_bytes(replay, row->task, 0));
	put_color(replay, color);
	sink_fill(replay->sink, ' ', bytes);
	sink_lit(replay->sink, "/* ");
	renew_green(replay, color);
	sink_text(replay->sink, strbuf_str(name), name->len);
	renew_green(replay, color);
	if (data && data->len) {
		sink_lit(replay->sink, " (");
		sink_text(replay->sink, strbuf_str(data), data->len);
		sink_lit(replay->sink, ")");
		renew_green(replay, color);
	}
	sink_lit(replay->sink, " */\n");
	end_color(replay);
}

static void show_event(struct replay *replay, const struct task *task, const struct event *event,
		       uint64_t duration_ns)
{
	struct replay_row row = { task, event, event->time_ns, duration_ns, NULL };
	struct strbuf name cleanup_strbuf = { 0 };
	struct strbuf data cleanup_strbuf = { 0 };

	event_put_name(&replay->texts, event, &name);
	event_put_data(&replay->texts, task, event, &data);
	show_note(replay, &row, event->indent, COLOR_GREEN, &name, &data);
}

static void show_lost(struct replay *replay, const struct task *task, const struct event *event)
{
	struct replay_row row = { task, event, event->time_ns, 0, NULL };
	struct strbuf text cleanup_strbuf = { 0 };

	if (event->addr)
		strbuf_addf(&text, "LOST %llu records!!", (unsigned long long)event->addr);
	else
		strbuf_addstr(&text, "LOST some records!!");
	show_note(replay, &row, event->indent + 1, COLOR_RED, &text, NULL);
}

/* As in uftrace, the text begins one column further right than the text of show_lost(). */
void replay_show_backwards(struct replay *replay, unsigned indent)
{
	static const struct replay_row nobody;
	char *to = begin_line(replay, &nobody, 0);

	sink_done(replay->sink, to);
	put_color(replay, COLOR_RED);
	sink_fill(replay->sink, ' ', MIN(indent * 2UL + 3, INDENT_MAX_BYTES));
	sink_lit(replay->sink, "/* inverted time: broken data? */\n");
	end_color(replay);
}

void replay_show_extern(struct replay *replay, const struct task *task)
{
	struct event *ext = &replay->ext;
	struct replay_row row = { task, ext, ext->time_ns, 0, NULL };
	struct strbuf text cleanup_strbuf = { 0 };

	replay->has_ext = false;
	event_put_name(&replay->texts, ext, &text);
	strbuf_addstr(&text, ": ");
	event_put_data(&replay->texts, NULL, ext, &text);
	show_note(replay, &row, 0, COLOR_GREEN, &text, NULL);
}

void replay_show_single(struct replay *replay, const struct task *task, const struct event *event)
{
	if (unlikely(event->flags & EVENT_BACKWARDS))
		replay_show_backwards(replay, event->indent + (event->type == EVENT_EXIT));
	if (note_site(replay, task, event))
		return;
	switch (event->type) {
	case EVENT_ENTRY:
		show_entry(replay, task, event);
		break;
	case EVENT_EXIT:
		show_exit(replay, task, event);
		break;
	case EVENT_LOST:
		show_lost(replay, task, event);
		break;
	case EVENT_SCHED_IN:
		show_event(replay, task, event, event->total_ns);
		break;
	case EVENT_HIDDEN:
		break;
	default:
		show_event(replay, task, event, 0);
		break;
	}
}

void replay_show_pair(struct replay *replay, const struct task *task, const struct event *first,
		      const struct event *second)
{
	if (first->type == EVENT_ENTRY) {
		if (unlikely(first->flags & EVENT_BACKWARDS))
			replay_show_backwards(replay, first->indent);
		show_leaf(replay, task, first, second);
	} else {
		struct event both = *first;

		both.addr = second->flags & EVENT_PREEMPTED ? EVENT_ID_SCHED_BOTH_PREEMPT
							    : EVENT_ID_SCHED_BOTH;
		show_event(replay, task, &both, second->total_ns);
	}
	if (unlikely(second->flags & EVENT_BACKWARDS))
		replay_show_backwards(replay, first->indent);
}
