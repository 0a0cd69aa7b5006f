/* Places for jumps (see sites.h). */
#include "utils/object/sites.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "utils/object/islands.h"

/* The longest padding instruction that compilers use, and some of them. */
#define PADDING_MAX 32

/*
 * Sites that one jump is to serve.
 *
 * @end: what is behind the jump
 * @low, @high: what may be moved: the rest is, with other jumps
 */
struct group {
	const struct code *code;
	struct insns *insns;
	const struct code_func *func;
	struct insn_text text;
	uint64_t jump_at;
	uint64_t end;
	uint64_t low;
	uint64_t high;
	struct code_site *sites;
	size_t nr;
};

static int refuse(struct uft_err *err, const char *why)
{
	return err_set(err, -EXDEV, "%s", why);
}

/*
 * The function's code ends before the jump does, and does not go on there. What is behind it may be overwritten when that is
 * padding.
 */
static int check_behind(const struct group *g, struct uft_err *err)
{
	const struct code_section *sec = code_section_at(g->code, g->func->start);
	const uint8_t *bytes = sec->bytes + (g->func->end - sec->start);
	uint64_t left = sec->end - g->func->end;

	if (g->end <= g->func->end)
		return 0;
	if (g->end > sec->end || code_next_start(g->code, g->func->end - 1) < g->end ||
	    insns_padding(g->insns, bytes, bytes + MIN(left, (uint64_t)PADDING_MAX)) <
		    g->end - g->func->end)
		return refuse(err, "the function ends too soon behind it");
	return 0;
}

/* What is from @from to @until, where the next one begins. */
static int move_between(const struct group *g, uint64_t from, uint64_t until, struct insn_code *out,
			struct uft_err *err)
{
	int ret = insns_move(g->insns, &g->text, from, until - from, out, err);

	if (ret < 0)
		return ret;
	return out->ends || out->taken != until - from
		       ? refuse(err, "it is reached in another way than from what is before it")
		       : 0;
}

static int prepare_group(const struct group *g, struct uft_err *err)
{
	struct insn_code *before = &g->sites->before;
	struct insn_code *last = &g->sites[g->nr - 1].code;
	int ret = 0;

	*before = (struct insn_code){ .from = g->jump_at };
	if (g->jump_at < g->sites->addr)
		ret = move_between(g, g->jump_at, g->sites->addr, before, err);
	for (size_t i = 0; ret == 0 && i + 1 < g->nr; i++)
		ret = move_between(g, g->sites[i].addr, g->sites[i + 1].addr, &g->sites[i].code,
				   err);
	if (ret == 0)
		ret = insns_move(g->insns, &g->text, g->sites[g->nr - 1].addr,
				 MAX(g->end, g->sites[g->nr - 1].addr + 1) -
					 g->sites[g->nr - 1].addr,
				 last, err);
	if (ret == 0)
		ret = check_behind(g, err);
	if (ret == 0 && MAX(g->end, last->from + last->taken) > g->high)
		ret = refuse(err, "another place follows too soon");
	return ret < 0 ? ret : insns_go_on(g->insns, last, last->from + last->taken, err);
}

static void finish_group(const struct group *g, const uint8_t *original)
{
	memcpy(g->sites->original, original, WINDOW_BYTES);
	g->sites->jump_at = g->jump_at;
	for (size_t i = 0; i < g->nr; i++) {
		g->sites[i].is_inner = i > 0;
		g->sites[i].why_not[0] = '\0';
	}
}

/* Try to write a jump of @bytes for the first of @nr sites to @jump_at. How many it serves; 0 when it cannot be. */
static size_t try_jump(struct group *g, const struct window *window, uint64_t jump_at,
		       unsigned bytes, size_t nr, struct uft_err *err)
{
	const char *why_not = window_check(window, jump_at, bytes);
	const uint8_t *original = code_bytes(g->code, jump_at, WINDOW_BYTES);

	if (why_not || !original) {
		refuse(err, why_not ? why_not : "the code ends too soon behind it");
		return 0;
	}
	g->jump_at = jump_at;
	g->end = jump_at + bytes;
	for (g->nr = 1; g->nr < nr && g->sites[g->nr].addr < g->end;)
		g->nr++;
	if (prepare_group(g, err) < 0)
		return 0;
	finish_group(g, original);
	return g->nr;
}

/* A short jump at @jump_at, to an island within its reach. */
static size_t try_island(struct group *g, const struct window *window, uint64_t jump_at,
			 const struct islands *islands, size_t nr)
{
	struct island *island = islands_near(islands, jump_at);
	size_t served = island ? try_jump(g, window, jump_at, SHORT_JUMP_BYTES, nr, NULL) : 0;

	if (served) {
		island->is_used = true;
		g->sites->island = island->addr;
		memcpy(g->sites->island_original, code_bytes(g->code, island->addr, WINDOW_BYTES),
		       WINDOW_BYTES);
	}
	return served;
}

/*
 * A jump at the site or, where there is no room for it, a little before: not before g->low. With @islands a short one, else a long
 * one. The reason is that of the site itself.
 */
static size_t find_jump(struct group *g, const struct window *window, const struct islands *islands,
			size_t nr, struct uft_err *err)
{
	uint64_t site = g->sites->addr;
	uint64_t starts[WINDOW_BEFORE + 1] = { site };
	size_t served = 0;

	g->func = window->why_not ? NULL : code_func_at(g->code, site);
	if (!g->func) {
		refuse(err, window->why_not ? window->why_not : "it lies in no function");
		return 0;
	}
	g->text = (struct insn_text){ code_bytes(g->code, g->func->start,
						 g->func->end - g->func->start),
				      g->func->start, g->func->end };

	unsigned nr_starts = 1 + insns_before(g->insns, &g->text, site, starts + 1, WINDOW_BEFORE);

	for (unsigned i = 0; i < nr_starts && !served; i++) {
		uint64_t at = starts[i];

		if (at < g->low)
			refuse(err, "it is within code that was moved for the one before it");
		if (at < g->low || site - at > WINDOW_BEFORE)
			break;
		/* Who comes there by an indirect jump may have to find it. */
		if (at < site &&
		    insns_is_landing_pad(g->insns, g->text.bytes + (at - g->text.start),
					 g->text.end - at))
			continue;
		served = islands ? try_island(g, window, at, islands, nr)
				 : try_jump(g, window, at, WINDOW_BYTES, nr, err);
	}
	return served;
}

/* What the sites before @index have taken: behind it the next may be moved. */
static uint64_t end_of_last(const struct code_site *sites, size_t index)
{
	uint64_t end = 0;

	for (size_t i = 0; i < index; i++) {
		if (sites[i].why_not[0])
			continue;
		end = MAX(end, sites[i].code.from + sites[i].code.taken);
		if (!sites[i].is_inner)
			end = MAX(end, sites[i].jump_at +
					       (sites[i].island ? SHORT_JUMP_BYTES : WINDOW_BYTES));
	}
	return end;
}

/* How many sites from the first on have no jump yet. */
static size_t count_left(const struct code_site *sites, size_t nr)
{
	size_t count = 0;

	while (count < nr && sites[count].why_not[0])
		count++;
	return count;
}

static void find_jumps(struct group *g, const struct window *windows, const struct islands *islands,
		       struct code_site *sites, size_t nr)
{
	for (size_t i = 0; i < nr;) {
		size_t left = count_left(sites + i, nr - i);
		struct uft_err err = { 0 };
		size_t served;

		if (!left) {
			i++;
			continue;
		}
		g->sites = sites + i;
		g->low = end_of_last(sites, i);
		g->high = i + left < nr ? sites[i + left].jump_at : UINT64_MAX;
		served = find_jump(g, &windows[i], islands, left, &err);
		/* Those behind it may have a jump of their own. */
		if (!served && !islands)
			snprintf(sites[i].why_not, sizeof(sites[i].why_not), "%.*s",
				 SITE_REASON_MAX - 1, err.text);
		i += MAX(served, (size_t)1);
	}
}

int sites_prepare(const struct code *code, struct insns *insns, struct code_site *sites, size_t nr)
{
	struct window *windows cleanup_free = calloc(nr + 1, sizeof(*windows));
	struct islands islands cleanup_islands = { 0 };
	struct group group = { .code = code, .insns = insns };

	if (!windows)
		return -ENOMEM;
	for (size_t i = 0; i < nr; i++) {
		windows[i].site = sites[i].addr;
		strcpy(sites[i].why_not, "it was not looked at");
	}

	int ret = entrances_find(code, insns, windows, nr);

	if (ret < 0)
		return ret;
	find_jumps(&group, windows, NULL, sites, nr);
	ret = islands_find(code, insns, sites, nr, &islands);
	if (ret == 0 && islands.nr)
		find_jumps(&group, windows, &islands, sites, nr);
	return ret;
}
