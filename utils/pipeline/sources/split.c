/* A task with many records, split into pieces for several threads (see split.h). */
#include "utils/pipeline/sources/split.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "utils/base/cleanup.h"
#include "utils/format/calls/compact_step.h"
#include "utils/format/record.h"
#include "utils/pipeline/sources/compact_calls.h"
#include "utils/pipeline/stages/stg_calls_fast.h"

/*
 * Each piece has a copy of the list of open calls. If this list has more than COPY_FREE calls, the
 * piece has at least COPY_TIMES as many bytes as the copy.
 */
#define COPY_FREE  4096
#define COPY_TIMES 4

void piece_destroy(struct piece *piece)
{
	if (!piece)
		return;
	stg_calls_deinit(&piece->calls);
	free(piece->path);
	free(piece);
}

/*
 * False when the task executes the program that it already runs, and so begins the same session
 * again. At such an exec, stg_calls() keeps the open calls, but stg_indent() restarts at depth 0.
 */
static bool has_clear_sessions(const struct task *task)
{
	for (size_t i = 1; i < task->nr_refs; i++) {
		if (task->refs[i].session == task->refs[i - 1].session)
			return false;
	}
	return true;
}

/*
 * True when calls of kernel functions were recorded for the task. The records of these calls are in
 * other files. So a position in the task's file does not tell which kernel functions are running.
 */
static bool has_kernel_calls(const struct lane *lane)
{
	const struct survey *surveys = lane->pipe->surveys;

	return surveys && surveys[lane->task->index].nr_calls;
}

bool lane_can_split(const struct lane *lane)
{
	const struct pipeline *pipe = lane->pipe;
	const struct stage_config *config = &pipe->config.stages;

	return !pipe->is_filtered && !lane->holds_back && !config->time_filter_ns &&
	       !config->size_filter && !lane->indent.drops_margin && pipe->start_ns == 0 &&
	       pipe->stop_ns == UINT64_MAX && lane_limit_ns(lane) == UINT64_MAX && !lane->streams &&
	       !lane->user.beside.may_be && !lane->user.is_swapped && !has_kernel_calls(lane) &&
	       has_clear_sessions(lane->task);
}

/*
 * HOT: skip ENTRYs and EXITs that skim_fast() can take. The loop ends before any other record,
 * before a record later than @until_ns, and at @offset of the file.
 */
static void skim(struct lane *lane, uint64_t until_ns, uint64_t offset)
{
	struct stg_calls *calls = &lane->calls;
	struct open_calls open = open_calls_of(calls);
	struct plain_records records;
	struct record rec;

	if (!src_user_plain(&lane->user, offset, &records))
		return;
	/*
	 * The loop ends at a record that is earlier than the previous record: the difference
	 * rec.time_ns - records.last_ns wraps to a huge value.
	 */
	while (plain_record_next(&records, &rec) &&
	       rec.time_ns - records.last_ns <= until_ns - records.last_ns &&
	       skim_fast(&open, calls, rec.time_ns, record_addr(rec.data), rec.data & 1))
		plain_record_took(&records, &rec);
	calls->nr = open.nr;
	calls->last_ns = MAX(calls->last_ns, records.last_ns);
	src_user_plain_put(&records, &lane->user);
}

/*
 * HOT: skip at most @max calls of the block that @cursor reads. Returns the number of skipped
 * calls. *@is_read becomes true if a call that cannot be skipped was read into *@odd.
 */
static size_t skim_calls(struct stg_calls *calls, struct compact_cursor *cursor,
			 struct compact_state *at, size_t max, uint64_t until_ns,
			 struct compact_call *odd, bool *is_read)
{
	struct compact_coder *const coder = cursor->block.coder;
	const uint8_t *const end = cursor->block.end;
	struct open_calls open = open_calls_of(calls);
	struct compact_state state = *at;
	struct compact_call call;
	size_t left = max;

	*is_read = false;
	for (; left && compact_step(coder, end, &state, until_ns, &call); left--) {
		*is_read = !skim_fast(&open, calls, call.time_ns,
				      record_addr(coder->funcs[call.number]), call.is_exit);
		if (unlikely(*is_read))
			break;
	}
	calls->nr = open.nr;
	*odd = call;
	*at = state;
	return max - left;
}

static bool skim_call(struct stg_calls *calls, const struct compact_coder *coder,
		      const struct compact_call *call)
{
	struct open_calls open = open_calls_of(calls);
	bool is_skimmed = skim_fast(&open, calls, call->time_ns,
				    record_addr(coder->funcs[call->number]), call->is_exit);

	calls->nr = open.nr;
	return is_skimmed;
}

/*
 * Skip at most @max calls of the block that @cursor reads. True when a call that cannot be skipped
 * was read into *@odd.
 */
static bool skim_block(struct lane *lane, struct compact_cursor *cursor, uint64_t until_ns,
		       size_t max, struct event *odd)
{
	struct stg_calls *calls = &lane->calls;
	struct compact_block *block = &cursor->block;
	struct compact_state state = compact_state_of(block);
	uint64_t last_ns = src_user_last_ns(&lane->user);
	bool is_odd = false;
	size_t nr = 0;

	while (!is_odd) {
		size_t before = nr;
		struct compact_call call;
		bool is_read;

		nr += skim_calls(calls, cursor, &state, max - nr, until_ns, &call, &is_read);
		/*
		 * compact_step() reads no call that is earlier than the previous call. So
		 * state.last_ns is the latest time of the calls that were read.
		 */
		if (nr > before || is_read)
			last_ns = state.last_ns;
		if (nr == max ||
		    (!is_read && compact_odd_call(block, &state, until_ns, &call) != COMPACT_CALL))
			break;
		nr++;
		is_odd = is_read || call.time_ns < last_ns ||
			 !skim_call(calls, block->coder, &call);
		if (is_odd) {
			*odd = (struct event){ 0 };
			compact_call_event(block->coder, &call, last_ns, odd);
		}
		last_ns = call.time_ns;
	}
	compact_state_put(&state, block);
	calls->last_ns = MAX(calls->last_ns, last_ns);
	src_user_took(&lane->user, nr, last_ns);
	return is_odd;
}

/* True when it is certain which calls are open after @event. */
static bool is_clear(const struct lane *lane, const struct event *event)
{
	const struct stg_calls *calls = &lane->calls;

	if (event->flags & EVENT_BACKWARDS || event->type == EVENT_LOST)
		return false;
	if (event->type > EVENT_EXIT)
		return true;
	if (!calls->has_record)
		return event->type == EVENT_ENTRY && event->depth == 0;
	return event->type == EVENT_ENTRY ||
	       (calls->nr && calls->frames[calls->nr - 1].addr == event->addr);
}

/*
 * Add one event to the piece. Returns 1 on success, or a negative errno. Returns 0 if it is
 * uncertain which calls are open after the event. In this case no further piece can begin.
 */
static int add_to_piece(struct lane *lane, struct event *event, struct uft_err *err)
{
	if (!is_clear(lane, event))
		return 0;

	int ret = stg_calls(&lane->calls, event, 1, err);

	return ret < 0 ? ret : 1;
}

static int step_piece(struct lane *lane, struct uft_err *err)
{
	struct event event;

	return lane_read(lane, &event, 1) == 0 ? 0 : add_to_piece(lane, &event, err);
}

/*
 * Skip records of calls, at most to @until_ns and @offset. If skim_block() has read a call that
 * cannot be skipped, add the call to the piece. Returns a result as add_to_piece() does.
 */
static int skim_some(struct lane *lane, uint64_t until_ns, uint64_t offset, struct uft_err *err)
{
	struct src_user *src = &lane->user;
	size_t max = (offset - src_user_offset(src)) / sizeof(struct record);
	struct compact_cursor *cursor = max ? src_user_calls(src, &max) : NULL;
	struct event odd;

	if (cursor)
		return skim_block(lane, cursor, until_ns, max, &odd) ? add_to_piece(lane, &odd, err)
								     : 1;
	skim(lane, until_ns, offset);
	return 1;
}

/*
 * Skip to a record at @offset or later. Returns 1 on success, or a negative errno. Returns 0 if no
 * further piece can begin: the open calls are uncertain, the records have ended, or
 * lane->pipe->is_stopped is true.
 */
static int skim_to(struct lane *lane, uint64_t offset, struct uft_err *err)
{
	const struct stg_calls *calls = &lane->calls;
	const struct src_user *src = &lane->user;
	int ret = 1;

	while (ret > 0) {
		bool is_behind = src_user_offset(src) >= offset;

		if (atomic_load_explicit(&lane->pipe->is_stopped, memory_order_relaxed))
			return 0;
		/* A piece begins only where the task is on the CPU. */
		if (is_behind && calls->has_record && !calls->is_out)
			return 1;

		uint64_t until_ns = MIN(lane_next_other_ns(lane), calls->changes_ns - 1);
		uint64_t before = src_user_offset(src);

		if (calls->has_record && !is_behind && until_ns >= src_user_last_ns(src))
			ret = skim_some(lane, until_ns, offset, err);
		/*
		 * If nothing was skipped, there are two cases: the buffer is empty, or the next
		 * event must go through step_piece().
		 */
		if (ret > 0 && src_user_offset(src) == before)
			ret = step_piece(lane, err);
	}
	return ret;
}

/*
 * Store in piece->path the functions of the calls that are open at the beginning of the piece.
 * Leave out calls that the stages hide. Returns 0 or -ENOMEM.
 */
static int find_path(struct piece *piece)
{
	const struct stg_calls *calls = &piece->calls;

	piece->path = calloc(calls->nr + 1, sizeof(struct func *));
	if (!piece->path)
		return -ENOMEM;
	for (size_t i = 0; i < calls->nr; i++) {
		if (stg_select_keeps_open(calls->config, calls->frames[i].func, i))
			piece->path[piece->nr_path++] = calls->frames[i].func;
	}
	return 0;
}

/* Make a piece from the lane's position to the end of the file. */
static int new_piece(struct lane *lane, struct piece **out, struct uft_err *err)
{
	struct piece *piece = calloc(1, sizeof(*piece));
	int ret = piece ? stg_calls_copy(&piece->calls, &lane->calls, err) : -ENOMEM;

	if (ret == 0)
		ret = find_path(piece);
	if (ret < 0) {
		piece_destroy(piece);
		return err_set_errno(err, ret, "cannot read task %d", lane->task->tid);
	}
	piece->lane = lane;
	piece->start_offset = src_user_offset(&lane->user);
	piece->end_offset = UINT64_MAX;
	piece->other_at = lane->queued.at;
	piece->other_end = lane->queued.end;
	piece->record_ns = src_user_last_ns(&lane->user);
	*out = piece;
	return 0;
}

/* Returns the length of a piece: @bytes, or more when many calls are open at its beginning. */
static uint64_t piece_length(const struct piece *piece, uint64_t bytes)
{
	uint64_t copied = piece->calls.nr * sizeof(struct pending_call);

	return piece->calls.nr > COPY_FREE ? MAX(bytes, COPY_TIMES * copied) : bytes;
}

int lane_split(struct lane *lane, uint64_t bytes, uint64_t piece_bytes,
	       void (*take)(void *arg, struct piece *piece), void *arg, struct piece **last,
	       struct uft_err *err)
{
	struct piece *piece = NULL;
	int ret = new_piece(lane, &piece, err);

	while (ret == 0 && piece->start_offset + piece_length(piece, piece_bytes) < bytes) {
		struct piece *next;

		ret = skim_to(lane, piece->start_offset + piece_length(piece, piece_bytes), err);
		if (ret > 0)
			ret = new_piece(lane, &next, err);
		else if (ret == 0)
			break;
		if (ret < 0)
			break;
		piece->end_offset = src_user_offset(&lane->user);
		piece->other_end = lane->queued.at;
		take(arg, piece);
		piece = next;
	}
	if (ret < 0)
		piece_destroy(piece);
	else
		*last = piece;
	return ret;
}

/* Prepare a fresh lane to read the piece. The lane becomes the owner of piece->calls. */
static void give(struct piece *piece, struct lane *lane)
{
	const struct piece *of = piece;

	stg_calls_deinit(&lane->calls);
	lane->calls = piece->calls;
	piece->calls = (struct stg_calls){ 0 };
	lane->goes_on = of->end_offset != UINT64_MAX;
	lane_attach(lane, of->lane->feed);
	lane->queued.at = of->other_at;
	lane->queued.end = of->other_end;
	lane->told_offset = of->start_offset;
	src_user_limit(&lane->user, of->start_offset, of->end_offset, of->record_ns);
	if (of->start_offset == 0)
		return;
	lane->has_begun = true;
	/*
	 * Each thread looks up addresses in its own cache. lane->calls.space is the cache of the
	 * thread that made the piece. If changes_ns is 0, stg_calls() sets lane->calls.space to
	 * the cache of the thread that reads the piece.
	 */
	lane->calls.changes_ns = 0;
	stg_indent_more(&lane->indent, lane->calls.last_ns);
	lane->indent.depth = of->nr_path;
	lane->indent.has_first = true;
}

int piece_run(struct piece *piece, unsigned reader, const struct view *view, struct uft_err *err)
{
	struct lane *of = piece->lane;
	const struct src_user_plan plan = src_user_plan(1);
	const struct view_resume at = {
		.task = of->task,
		.path = piece->path,
		.nr_path = piece->nr_path,
		.is_start = piece->start_offset == 0,
		.last_ns = piece->calls.last_ns,
	};
	struct lane lane;
	int ret = lane_open(&lane, of->pipe, of->task, &plan, err);

	if (ret == 0) {
		give(piece, &lane);
		lane_set_reader(&lane, reader);
		ret = view->resume(view->self, &at, err);
	}
	if (ret == 0)
		ret = lane_run(&lane, view, err);
	lane_close(&lane);
	return ret;
}
