/* Places for jumps (see sites.h). */
#include "utils/object/sites.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The longest padding instruction that compilers use, and some of them. */
#define PADDING_MAX 32

/*
 * Sites that one jump is to serve.
 *
 * @end: what is behind the jump
 */
struct group {
	const struct code *code;
	struct insns *insns;
	const struct code_func *func;
	struct insn_text text;
	uint64_t jump_at;
	uint64_t end;
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
	return ret < 0 ? ret : insn_go_on(last, last->from + last->taken, err);
}

static void finish_group(const struct group *g)
{
	memcpy(g->sites->original, code_bytes(g->code, g->jump_at, WINDOW_BYTES), WINDOW_BYTES);
	g->sites->jump_at = g->jump_at;
	for (size_t i = 0; i < g->nr; i++) {
		g->sites[i].is_inner = i > 0;
		g->sites[i].why_not[0] = '\0';
	}
}

/* Try to write the jump of the first of @nr sites to @jump_at. How many it serves; 0 when it cannot be. */
static size_t try_jump(struct group *g, const struct window *window, uint64_t jump_at, size_t nr,
		       struct uft_err *err)
{
	const char *why_not = window_check(window, jump_at);

	if (why_not) {
		refuse(err, why_not);
		return 0;
	}
	g->jump_at = jump_at;
	g->end = jump_at + WINDOW_BYTES;
	for (g->nr = 1; g->nr < nr && g->sites[g->nr].addr < g->end;)
		g->nr++;
	if (prepare_group(g, err) < 0)
		return 0;
	finish_group(g);
	return g->nr;
}

/*
 * The same at @site or, where there is no room for it, a little before: not before @low, where code has been moved already. The
 * reason is that of the site itself.
 */
static size_t find_jump(struct group *g, const struct window *window, uint64_t low, size_t nr,
			struct uft_err *err)
{
	uint64_t site = g->sites->addr;
	uint64_t starts[WINDOW_BEFORE];
	size_t served;

	g->func = window->why_not ? NULL : code_func_at(g->code, site);
	if (!g->func) {
		refuse(err, window->why_not ? window->why_not : "it lies in no function");
		return 0;
	}
	g->text = (struct insn_text){ code_bytes(g->code, g->func->start,
						 g->func->end - g->func->start),
				      g->func->start, g->func->end };
	served = try_jump(g, window, site, nr, err);
	if (served)
		return served;

	unsigned nr_starts = insns_before(g->insns, &g->text, site, starts, ARRAY_SIZE(starts));

	for (unsigned i = 0; i < nr_starts && !served; i++) {
		if (starts[i] < low || site - starts[i] > WINDOW_BEFORE)
			break;
		served = try_jump(g, window, starts[i], nr, NULL);
	}
	return served;
}

int sites_prepare(const struct code *code, struct insns *insns, struct code_site *sites, size_t nr)
{
	struct window *windows cleanup_free = calloc(nr + 1, sizeof(*windows));
	uint64_t low = 0;

	if (!windows)
		return -ENOMEM;
	for (size_t i = 0; i < nr; i++)
		windows[i].site = sites[i].addr;

	int ret = entrances_find(code, insns, windows, nr);

	for (size_t i = 0; ret == 0 && i < nr;) {
		struct group g = { .code = code, .insns = insns, .sites = sites + i };
		struct uft_err err = { 0 };
		size_t served = find_jump(&g, &windows[i], low, nr - i, &err);

		if (!served) {
			/* Those behind it may have a jump of their own. */
			snprintf(sites[i].why_not, sizeof(sites[i].why_not), "%.*s",
				 SITE_REASON_MAX - 1, err.text);
			i++;
			continue;
		}
		i += served;
		low = MAX(g.end, sites[i - 1].code.from + sites[i - 1].code.taken);
	}
	return ret;
}
