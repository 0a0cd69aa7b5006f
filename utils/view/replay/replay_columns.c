/* The columns in front of a line of replay: the table replay_columns (see replay_columns.h). */
#include "utils/view/replay/replay_columns.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "utils/view/values/number.h"
#include "utils/view/source_line.h"

struct replay_column {
	struct column column;
	char *(*put)(struct replay *replay, const struct replay_row *row, char *to);
};

static char *put_duration(struct replay *replay, const struct replay_row *row, char *to)
{
	if (unlikely(row->label))
		return memcpy(to, row->label, 10) + 10;
	return put_time_color(to, row->duration_ns, replay->config.color);
}

static char *put_tid(struct replay *replay, const struct replay_row *row, char *to)
{
	const struct tid_cell *cell = &replay->tasks[row->task->index].tid_cell;
	size_t len = cell->len - strlen(" ") - strlen(" | ");

	memcpy(to, cell->text + 1, len);
	return to + len;
}

static char *put_addr(struct replay *replay, const struct replay_row *row, char *to)
{
	if (row->event->type <= EVENT_EXIT)
		return put_hex(to, row->event->addr, 12);
	/*
	 * If the row stands for a time off the CPU, the address column shows the id of the
	 * sched-out event, as in uftrace.
	 */
	if (row->event->type == EVENT_SCHED_IN || row->duration_ns)
		return put_hex(to,
			       row->event->flags & EVENT_PREEMPTED ? EVENT_ID_SCHED_OUT_PREEMPT
								   : EVENT_ID_SCHED_OUT,
			       12);
	memset(to, ' ', 12);
	return to + 12;
}

static char *put_time_cell(struct replay *replay, const struct replay_row *row, char *to)
{
	return put_timestamp(to, row->time_ns);
}

static char *put_delta(struct replay *replay, const struct replay_row *row, char *to)
{
	uint64_t last_ns = replay->tasks[row->task->index].line_ns;

	return put_time_color(to, last_ns ? time_abs(row->time_ns - last_ns) : 0,
			      replay->config.color);
}

static char *put_elapsed(struct replay *replay, const struct replay_row *row, char *to)
{
	return put_time_color(to, time_abs(row->time_ns - replay->pipe->first_ns),
			      replay->config.color);
}

/* The width of the longest text in a cell, and the maximum length of the escape for one byte. */
#define TEXT_WIDTH_MAX	 16
#define ESCAPE_MAX_BYTES 6
_Static_assert(TEXT_WIDTH_MAX *ESCAPE_MAX_BYTES <= CELL_MAX_BYTES, "any text fits its cell");

/* Write @text, cut to @width and right-aligned. Escapes may make the cell wider. */
static char *put_text(struct replay *replay, char *to, const char *text, size_t width)
{
	size_t len = strnlen(text, width);

	if (likely(escape_is_plain(replay->sink->medium, text, len))) {
		memset(to, ' ', width - len);
		memcpy(to + width - len, text, len);
		return to + width;
	}

	struct strbuf escaped cleanup_strbuf = { 0 };

	escape_add(&escaped, replay->sink->medium, text, escape_cut(text, width));
	len = MIN(escaped.len, (size_t)CELL_MAX_BYTES);
	memset(to, ' ', width);
	to += width > len ? width - len : 0;
	return memcpy(to, strbuf_str(&escaped), len) + len;
}

static char *put_task(struct replay *replay, const struct replay_row *row, char *to)
{
	return put_text(replay, to, task_name_at(row->task, row->time_ns), 15);
}

static char *put_module(struct replay *replay, const struct replay_row *row, char *to)
{
	const struct func *func = row->event->func;

	if (row->event->type == EVENT_LOST)
		return put_text(replay, to, "", 16);
	if (row->event->type > EVENT_EXIT)
		return put_text(replay, to, "[event]", 16);
	return put_text(replay, to, func->module ? func->module->basename : "[unknown]", 16);
}

enum {
	COLUMN_DURATION,
	COLUMN_TID,
	COLUMN_ADDR,
	COLUMN_TIME,
	COLUMN_DELTA,
	COLUMN_ELAPSED,
	COLUMN_TASK,
	COLUMN_MODULE,
};

static const struct replay_column replay_columns[] = {
	[COLUMN_DURATION] = { { "duration", NULL, " DURATION ", true }, put_duration },
	[COLUMN_TID] = { { "tid", NULL, "   TID   ", true }, put_tid },
	[COLUMN_ADDR] = { { "addr", "address", "   ADDRESS  " }, put_addr },
	[COLUMN_TIME] = { { "time", "timestamp", "     TIMESTAMP    " }, put_time_cell },
	[COLUMN_DELTA] = { { "delta", NULL, " TIMEDELTA" }, put_delta },
	[COLUMN_ELAPSED] = { { "elapsed", NULL, "  ELAPSED " }, put_elapsed },
	[COLUMN_TASK] = { { "task", NULL, "      TASK NAME" }, put_task },
	[COLUMN_MODULE] = { { "module", NULL, "     MODULE NAME" }, put_module },
};

/* With a time range and without -f, the first column shows the times. */
static void add_range_column(struct replay *replay)
{
	const struct time_range *range = &replay->pipe->config.range;
	bool is_elapsed = (range->start.is_set && range->start.is_elapsed) ||
			  (range->stop.is_set && range->stop.is_elapsed);
	struct column_choice *columns = &replay->columns;

	if (replay->config.fields || !time_range_is_set(range))
		return;
	memmove(columns->columns + 1, columns->columns, columns->nr);
	columns->columns[0] = is_elapsed ? COLUMN_ELAPSED : COLUMN_TIME;
	columns->nr++;
}

static void make_tid_cell(struct tid_cell *cell, int32_t tid)
{
	cell->len = snprintf(cell->text, sizeof(cell->text), " [%7d] | ", tid);
}

/* True when replay shows the default columns, without colours. This case has a fast path. */
static bool is_plain(const struct replay *replay)
{
	const struct column_choice *columns = &replay->columns;

	return columns->nr == 2 && columns->columns[0] == COLUMN_DURATION &&
	       columns->columns[1] == COLUMN_TID && replay->config.color == COLOR_MODE_OFF;
}

const struct column *replay_fields(size_t *nr, size_t *stride)
{
	*nr = ARRAY_SIZE(replay_columns);
	*stride = sizeof(*replay_columns);
	return &replay_columns[0].column;
}

static int choose(const char *fields, struct column_choice *choice, struct uft_err *err)
{
	return columns_choose(replay_columns, ARRAY_SIZE(replay_columns), sizeof(*replay_columns),
			      fields, choice, err);
}

int replay_check_fields(const char *fields, struct uft_err *err)
{
	struct column_choice choice;

	return choose(fields, &choice, err);
}

int replay_columns_init(struct replay *replay, struct uft_err *err)
{
	int ret = choose(replay->config.fields, &replay->columns, err);

	if (ret < 0)
		return ret;
	add_range_column(replay);
	replay->is_plain = is_plain(replay);
	return replay_grow(replay, err);
}

int replay_grow(struct replay *replay, struct uft_err *err)
{
	const struct trace_data *data = replay->pipe->data;
	struct replay_task *tasks;

	if (data->nr_tasks <= replay->nr_tasks)
		return 0;
	tasks = reallocarray(replay->tasks, data->nr_tasks, sizeof(*tasks));
	if (!tasks)
		return err_set_errno(err, -ENOMEM, "cannot show %zu tasks", data->nr_tasks);
	replay->tasks = tasks;
	for (; replay->nr_tasks < data->nr_tasks; replay->nr_tasks++) {
		tasks[replay->nr_tasks] = (struct replay_task){ 0 };
		make_tid_cell(&tasks[replay->nr_tasks].tid_cell, data->tasks[replay->nr_tasks].tid);
	}
	return 0;
}

void replay_put_header(struct replay *replay)
{
	const struct column_choice *columns = &replay->columns;

	if (columns->nr == 0)
		return;
	for (size_t i = 0; i < columns->nr; i++) {
		sink_either(replay->sink, i, " ", "#");
		sink_str(replay->sink, replay_columns[columns->columns[i]].column.header);
	}
	sink_lit(replay->sink, "   FUNCTION");
	if (replay->config.shows_source)
		source_line_put_word(" [SOURCE]", replay->config.color, replay->sink);
	sink_lit(replay->sink, "\n");
}

static char *put_blank_cells(const struct column_choice *columns, char *to)
{
	for (size_t i = 0; i < columns->nr; i++) {
		size_t width = strlen(replay_columns[columns->columns[i]].column.header) + 1;

		memset(to, ' ', width);
		to += width;
	}
	return to;
}

char *replay_put_cells(struct replay *replay, const struct replay_row *row, size_t extra)
{
	const struct column_choice *columns = &replay->columns;
	char *to = sink_room(replay->sink, extra + COLUMNS_MAX * CELL_MAX_BYTES / 2);

	if (likely(replay->is_plain && row->task && !row->label)) {
		const struct tid_cell *cell = &replay->tasks[row->task->index].tid_cell;

		*to = ' ';
		to = put_time(to + 1, row->duration_ns);
		memcpy(to, cell->text, sizeof(cell->text));
		return to + cell->len;
	}
	if (columns->nr == 0)
		return to;
	if (!row->task) {
		to = put_blank_cells(columns, to);
	} else {
		for (size_t i = 0; i < columns->nr; i++) {
			*to++ = ' ';
			to = replay_columns[columns->columns[i]].put(replay, row, to);
		}
		replay->tasks[row->task->index].line_ns = row->time_ns;
	}
	return memcpy(to, " | ", 3) + 3;
}
