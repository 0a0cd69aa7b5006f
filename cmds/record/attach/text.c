/* Changes the machine code of a running process (see text.h). */
#include "cmds/record/attach/text.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "utils/base/cleanup.h"
#include "utils/base/compiler.h"
#include "utils/base/containers/order.h"

#define PAGE	    4096
#define CHANGES_MAX (16UL << 20)

/*
 * STACK_MAX is the maximum number of bytes that are read from a stack. PIECE_WORDS is the number of
 * words in one read. STACKS_MAX is the maximum number of stacks of one thread. A thread has several
 * stacks if signal handlers with their own stacks have interrupted it.
 */
#define STACK_MAX   (64UL << 20)
#define PIECE_WORDS 8192
#define STACKS_MAX  8

/*
 * The overlap of two reads of a stack. It is needed to find a signal frame that extends over both.
 */
#define OVERLAP_WORDS 64

void text_deinit(struct text *text)
{
	free(text->changes);
	*text = (struct text){ 0 };
}

int text_read(struct text *text, const struct attached *w, uint64_t address, uint64_t nr,
	      struct uft_err *err)
{
	size_t bytes = nr * sizeof(*text->changes);

	text_deinit(text);
	if (!nr)
		return 0;
	text->changes = nr <= CHANGES_MAX ? malloc(bytes) : NULL;
	if (!text->changes)
		return err_set_errno(err, -ENOMEM, "cannot patch process %d", w->pid);
	text->nr = nr;
	if (attached_read(w, address, text->changes, bytes) != bytes)
		return err_set_errno(err, -EIO, "cannot read the memory of process %d", w->pid);
	/* The data come from the process and are not trusted, so the lengths are limited. */
	for (size_t i = 0; i < nr; i++) {
		struct attach_change *c = &text->changes[i];

		c->len = MIN(c->len, (uint8_t)ATTACH_CHANGE_MAX);
		c->clear = MAX(c->clear, c->len);
	}
	return 0;
}

/* --- ranges of code that must be free of threads --- */

/*
 * The addresses [@start, @end). No thread may be in this range while the recorder makes or undoes
 * the change text->changes[@index].
 */
struct range {
	uint64_t start;
	uint64_t end;
	size_t index;
};

/*
 * A look at all threads.
 *
 * @wanted: for each change, true when the change must be made or undone, and no thread prevents it
 * @ranges: the ranges of the wanted changes, sorted
 */
struct look {
	struct attached *w;
	const struct maps *maps;
	const struct text *text;
	bool *wanted;
	struct range *ranges;
	size_t nr;
	size_t nr_blocked;
};

_Static_assert(offsetof(struct range, start) == 0, "ordered by order_u64()");

/*
 * Returns the range that contains @address, or NULL. The ranges in @look do not overlap
 * (drop_overlaps()).
 */
static const struct range *range_at(const struct look *look, uint64_t address)
{
	size_t nr = look->nr;

	if (!nr || address < look->ranges[0].start || address >= look->ranges[nr - 1].end)
		return NULL;
	nr = order_count_until(look->ranges, nr, sizeof(*look->ranges), address);
	return address < look->ranges[nr - 1].end ? &look->ranges[nr - 1] : NULL;
}

static void block(struct look *look, const struct range *range)
{
	if (!range || !look->wanted[range->index])
		return;
	look->wanted[range->index] = false;
	look->nr_blocked++;
}

/*
 * True when a call instruction ends at @address, either in the current code, or in the code that
 * change @c replaces (@c->before). Also true when the current code cannot be read.
 */
static bool may_return_to(const struct look *look, uint64_t address, const struct attach_change *c)
{
	const uint64_t start = address - ARCH_REMOTE_CALL_BYTES;
	uint8_t code[ARCH_REMOTE_CALL_BYTES];

	if (attached_read(look->w, start, code, sizeof(code)) != sizeof(code) ||
	    arch_remote_may_end_call(code))
		return true;
	for (uint64_t i = 0; i < sizeof(code); i++) {
		if (start + i - c->site < c->len)
			code[i] = c->before[start + i - c->site];
	}
	return arch_remote_may_end_call(code);
}

/*
 * If words[0] is a return address in the range of a change, block this change. words[0] is a return
 * address if a call instruction ends at this address, or if a signal has interrupted the thread at
 * this address.
 */
static void block_word(struct look *look, const uint64_t *words, size_t nr)
{
	const struct range *range = range_at(look, words[0]);

	if (range && (arch_remote_may_be_interrupted(words, nr) ||
		      may_return_to(look, words[0], &look->text->changes[range->index])))
		block(look, range);
}

/* The stacks of one thread. @pointers: for each stack, where look_at_stack() begins */
struct stacks {
	uint64_t pointers[STACKS_MAX];
	size_t nr;
};

/*
 * Looks at words of @stack. The words may contain the frame of a signal handler, and the signal may
 * have interrupted code on another stack. In this case that other stack is added to @stacks.
 */
static void look_at_words(struct look *look, const uint64_t *words, size_t nr, size_t nr_new,
			  const struct mapping *stack, struct stacks *stacks)
{
	for (size_t i = 0; i < nr_new; i++) {
		block_word(look, words + i, nr - i);
		if (words[i] != look->w->return_gadget || i + 1 >= nr)
			continue;

		uint64_t sp = arch_remote_sigframe_sp(words + i + 1, nr - i - 1);

		if (sp && sp - stack->start >= stack->end - stack->start && stacks->nr < STACKS_MAX)
			stacks->pointers[stacks->nr++] = sp;
	}
}

static void look_at_stack(struct look *look, uint64_t sp, uint64_t *words, struct stacks *stacks)
{
	const struct mapping *stack = maps_find(look->maps, sp);
	uint64_t at = sp & ~(uint64_t)7;
	uint64_t end = stack ? MIN(stack->end, at + STACK_MAX) : at;

	while (at < end) {
		size_t wanted = MIN((size_t)(end - at) / sizeof(*words), (size_t)PIECE_WORDS);
		size_t nr = attached_read(look->w, at, words, wanted * sizeof(*words)) /
			    sizeof(*words);
		size_t nr_new = nr == PIECE_WORDS ? nr - OVERLAP_WORDS : nr;

		if (!nr)
			break;
		look_at_words(look, words, nr, nr_new, stack, stacks);
		at += nr_new * sizeof(*words);
	}
}

static void look_at_thread(struct look *look, const struct attached_thread *t, uint64_t *words)
{
	struct stacks stacks = { { arch_remote_sp(&t->regs) }, 1 };

	block(look, range_at(look, arch_remote_pc(&t->regs)));
	for (size_t i = 0; i < stacks.nr; i++)
		look_at_stack(look, stacks.pointers[i], words, &stacks);
}

/*
 * lead_out() moves a thread out of at most LEAVES_MAX ranges, one after the other. A thread that
 * leaves a range may enter another range.
 */
#define LEAVES_MAX 4

static void lead_out(const struct look *look, struct attached_thread *t)
{
	for (int i = 0; i < LEAVES_MAX && !t->is_gone; i++) {
		const struct range *range = range_at(look, arch_remote_pc(&t->regs));

		if (!range || attached_step_out(look->w, t, range->start, range->end) < 0)
			return;
	}
}

static int look_at_threads(struct look *look)
{
	uint64_t *words cleanup_free = malloc(PIECE_WORDS * sizeof(*words));

	if (!words)
		return -ENOMEM;
	for (size_t i = 0; i < look->w->nr; i++)
		lead_out(look, look->w->threads[i]);
	for (size_t i = 0; i < look->w->nr; i++) {
		if (!look->w->threads[i]->is_gone)
			look_at_thread(look, look->w->threads[i], words);
	}
	return 0;
}

/* --- writing --- */

static bool holds_bytes(const struct attached *w, const struct attach_change *c,
			const uint8_t *bytes)
{
	uint8_t there[ATTACH_CHANGE_MAX];

	return c->len && attached_read(w, c->site, there, c->len) == c->len &&
	       memcmp(there, bytes, c->len) == 0;
}

/*
 * True when the change lies within one page of code. The kernel writes pages one by one. If the
 * recorder were killed between two pages, a change across both would stay half made.
 */
static bool can_be_made(const struct maps *maps, const struct attach_change *c)
{
	const struct mapping *code = maps_find(maps, c->site);

	return code && code->is_code && c->site % PAGE + c->len <= PAGE;
}

/*
 * If two new changes overlap, drops the second change with its range. If both ranges stayed,
 * range_at() might find the second range in place of the first. holds_bytes() detects overlaps with
 * older changes.
 */
static void drop_overlaps(struct look *look, const struct text *text)
{
	uint64_t end = 0;
	size_t nr = 0;

	for (size_t i = 0; i < look->nr; i++) {
		const struct range *range = &look->ranges[i];
		const struct attach_change *c = &text->changes[range->index];

		if (c->site < end) {
			look->wanted[range->index] = false;
		} else {
			end = c->site + c->clear;
			look->ranges[nr++] = *range;
		}
	}
	look->nr = nr;
}

static void add_range(struct look *look, const struct text *text, size_t index, bool is_out)
{
	const struct attach_change *c = &text->changes[index];
	/*
	 * A thread at the first byte of a change can execute either the old bytes or the new bytes.
	 * So this thread does not prevent the change. The removal of an island is an exception,
	 * because no code is left there. A thread at the first byte of an island prevents the
	 * removal.
	 */
	uint64_t first = is_out && (c->flags & ATTACH_CHANGE_ISLAND) ? 0 : 1;
	uint64_t len = is_out ? c->len : c->clear;

	look->wanted[index] = true;
	if (first < len)
		look->ranges[look->nr++] = (struct range){ c->site + first, c->site + len, index };
}

bool text_is_in(const struct attached *w, const struct attach_change *c)
{
	return holds_bytes(w, c, c->after);
}

/*
 * Tells the probe whether the change is taken out of the program's code. When a module is loaded
 * again, the probe makes the module's changes again, except the changes that were taken out.
 */
static void tell_probe(const struct attached *w, const struct attach_change *c, uint8_t is_out)
{
	if (c->out_at)
		attached_write(w, c->out_at, &is_out, sizeof(is_out));
}

/*
 * Writes the changes that are marked in look->wanted. A change with ATTACH_CHANGE_ON_FORMER jumps
 * to the code of the previous change in @text. Such a change is written only when the code of the
 * process contains the previous change.
 */
static void write_in(const struct look *look, const struct text *text)
{
	for (size_t i = 0; i < text->nr; i++) {
		const struct attach_change *c = &text->changes[i];

		if (look->wanted[i] && holds_bytes(look->w, c, c->before) &&
		    (!(c->flags & ATTACH_CHANGE_ON_FORMER) ||
		     (i && holds_bytes(look->w, &c[-1], c[-1].after)))) {
			attached_write(look->w, c->site, c->after, c->len);
			tell_probe(look->w, c, 0);
		}
	}
}

/*
 * Takes out the changes that are marked in look->wanted. Returns the number of changes that are
 * still in the code of the process.
 */
static size_t write_out(const struct look *look, const struct text *text)
{
	size_t left = 0;

	for (size_t i = text->nr; i-- > 0;) {
		const struct attach_change *c = &text->changes[i];
		bool is_needed = i + 1 < text->nr && (c[1].flags & ATTACH_CHANGE_ON_FORMER) &&
				 holds_bytes(look->w, &c[1], c[1].after);

		if (look->wanted[i] && !is_needed) {
			tell_probe(look->w, c, 1);
			attached_write(look->w, c->site, c->before, c->len);
		}
		left += can_be_made(look->maps, c) && holds_bytes(look->w, c, c->after);
	}
	return left;
}

static size_t make_changes(struct text *text, struct attached *w, const struct maps *maps,
			   bool is_out)
{
	bool *wanted cleanup_free = calloc(text->nr + 1, sizeof(*wanted));
	struct range *ranges cleanup_free = calloc(text->nr + 1, sizeof(*ranges));
	struct look look = { w, maps, text, wanted, ranges, 0, 0 };

	if (!wanted || !ranges)
		return text->nr;
	for (size_t i = 0; i < text->nr; i++) {
		const struct attach_change *c = &text->changes[i];

		if (can_be_made(maps, c) && holds_bytes(w, c, is_out ? c->after : c->before))
			add_range(&look, text, i, is_out);
	}
	qsort(ranges, look.nr, sizeof(*ranges), order_u64);
	if (!is_out)
		drop_overlaps(&look, text);
	if (look_at_threads(&look) < 0)
		return text->nr;
	if (is_out)
		return write_out(&look, text);
	write_in(&look, text);
	return look.nr_blocked;
}

size_t text_put_in(struct text *text, struct attached *w, const struct maps *maps)
{
	return make_changes(text, w, maps, false);
}

size_t text_take_out(struct text *text, struct attached *w, const struct maps *maps)
{
	return make_changes(text, w, maps, true);
}
