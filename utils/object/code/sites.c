/* Places for jumps (see sites.h). */
#include "utils/object/code/sites.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "utils/object/code/islands.h"

/* No compiler pads code with an instruction that is longer than this number of bytes. */
#define PADDING_MAX 32

/*
 * Sites that share one jump.
 *
 * @end: the first byte after the jump
 * @all_until: for a loop, all code up to this address is moved; 0: as little as possible is moved
 * @low, @high: the range of code that may be moved; other jumps own the code outside
 */
struct group {
	const struct code *code;
	struct insns *insns;
	const struct code_func *func;
	struct insn_text text;
	uint64_t jump_at;
	uint64_t end;
	uint64_t all_until;
	uint64_t low;
	uint64_t high;
	struct code_site *sites;
	size_t nr;
};

struct verdict {
	enum site_refusal refusal;
	struct uft_err err;
};

const char *site_refusal_text(enum site_refusal refusal)
{
	static const char *const texts[SITE_REFUSALS] = {
		[SITE_CAN] = "it can be patched",
		[SITE_NOT_CODE] = "part of it is no code that is known",
		[SITE_NO_FUNCTION] = "it lies in no function",
		[SITE_LANDINGS] = "where exceptions are caught is not known",
		[SITE_LED_TO] = "its own jumps lead to its beginning",
		[SITE_LED_TO_BY_DATA] = "addresses in the data lead into its beginning",
		[SITE_LED_TO_BY_OTHERS] = "something elsewhere leads into its beginning",
		[SITE_NO_ROOM] = "it is too short",
		[SITE_TOO_NEAR] = "another place follows too soon",
		[SITE_INSN] = "an instruction at its beginning cannot be moved",
	};

	return texts[refusal];
}

static int refuse_site(struct verdict *v, enum site_refusal refusal, const char *why)
{
	if (!v->refusal)
		v->refusal = refusal;
	return err_set(&v->err, -EXDEV, "%s", why);
}

static enum site_refusal refusal_of(enum lead lead)
{
	switch (lead) {
	case LEAD_OWN:
		return SITE_LED_TO;
	case LEAD_WORD:
	case LEAD_TABLE:
		return SITE_LED_TO_BY_DATA;
	default:
		return SITE_LED_TO_BY_OTHERS;
	}
}

/*
 * If insns_move() or a similar function has failed with @ret, store the reason in @v. Returns @ret.
 */
static int check_moved(struct verdict *v, int ret)
{
	if (ret < 0 && !v->refusal)
		v->refusal = SITE_INSN;
	return ret;
}

/* Check that all bytes that the jump overwrites after the end of the function are padding. */
static int check_behind(const struct group *g, struct verdict *v)
{
	const struct code_section *sec = code_section_at(g->code, g->func->start);
	const uint8_t *bytes = sec->bytes + (g->func->end - sec->start);
	uint64_t left = sec->end - g->func->end;

	if (g->end <= g->func->end)
		return 0;
	if (g->end > sec->end || code_next_start(g->code, g->func->end - 1) < g->end ||
	    insns_padding(g->insns, bytes, bytes + MIN(left, (uint64_t)PADDING_MAX)) <
		    g->end - g->func->end)
		return refuse_site(v, SITE_NO_ROOM, "the function ends too soon behind it");
	return 0;
}

/* Move the code from @from to @until, where the next site begins. */
static int move_between(const struct group *g, uint64_t from, uint64_t until, struct insn_code *out,
			struct verdict *v)
{
	int ret = check_moved(v, insns_move(g->insns, &g->text, from, until - from, out, &v->err));

	if (ret < 0)
		return ret;
	return out->ends || out->taken != until - from
		       ? refuse_site(v, SITE_LED_TO,
				     "it is reached in another way than from what is before it")
		       : 0;
}

static int prepare_group(const struct group *g, struct verdict *v)
{
	struct insn_code *before = &g->sites->before;
	const struct code_site *last_site = &g->sites[g->nr - 1];
	struct insn_code *last = &g->sites[g->nr - 1].code;
	uint64_t end = MAX(g->end, last_site->addr + 1);
	int ret = 0;

	*before = (struct insn_code){ .from = g->jump_at };
	if (g->jump_at < g->sites->addr)
		ret = move_between(g, g->jump_at, g->sites->addr, before, v);
	for (size_t i = 0; ret == 0 && i + 1 < g->nr; i++)
		ret = move_between(g, g->sites[i].addr, g->sites[i + 1].addr, &g->sites[i].code, v);
	if (ret == 0)
		ret = check_moved(v, g->all_until
					     ? insns_move_all(g->insns, &g->text, last_site->addr,
							      g->all_until, last, &v->err)
					     : insns_move(g->insns, &g->text, last_site->addr,
							  end - last_site->addr, last, &v->err));
	if (ret == 0)
		ret = check_behind(g, v);
	if (ret == 0 && MAX(g->end, last->from + last->taken) > g->high)
		ret = refuse_site(v, SITE_TOO_NEAR, "another place follows too soon");
	if (ret < 0)
		return ret;
	return check_moved(v, insns_go_on(g->insns, last, last->from + last->taken, &v->err));
}

/* --- jumps that lead back --- */

/* A jump of the function to the site or to the bytes after it. @behind: address after the jump */
struct inner_jump {
	uint64_t from;
	uint64_t behind;
	uint64_t to;
};

#define INNER_JUMPS_MAX 32

/*
 * @is_dark: true in two cases: @list has no room for all jumps; or an instruction of the function
 *           is not a jump, but refers to a byte between @site and @site + WINDOW_BEHIND
 */
struct inner_jumps {
	uint64_t site;
	struct inner_jump list[INNER_JUMPS_MAX];
	size_t nr;
	bool is_dark;
};

static void note_jump(const struct insn_step *step, void *arg)
{
	struct inner_jumps *jumps = arg;

	if (!step->has_name || step->names < jumps->site ||
	    step->names >= jumps->site + WINDOW_BEHIND)
		return;
	if (step->flow != INSN_JUMP && step->flow != INSN_BRANCH) {
		/*
		 * The function may call itself, or take its own address. Such an instruction may
		 * refer to the site, because calls of the site are recorded like calls from
		 * outside.
		 */
		jumps->is_dark |= step->names != jumps->site;
		return;
	}
	if (jumps->nr == INNER_JUMPS_MAX) {
		jumps->is_dark = true;
		return;
	}
	jumps->list[jumps->nr++] = (struct inner_jump){ step->addr, step->addr + step->len,
							step->names };
}

/*
 * True when only jumps in jumps->list lead into the range [jumps->site, @end), and each jump into
 * this range begins before @end. For each byte, window->led_to tells what refers to the byte.
 */
static bool is_closed(const struct inner_jumps *jumps, const struct window *window, uint64_t end)
{
	for (uint64_t addr = jumps->site; addr < end; addr++) {
		enum lead lead = window->led_to[addr - window->site + WINDOW_BEFORE];
		bool is_known = false;

		for (size_t i = 0; i < jumps->nr; i++) {
			if (jumps->list[i].to != addr)
				continue;
			if (jumps->list[i].from >= end)
				return false;
			is_known = true;
		}
		if (lead > LEAD_OWN || (lead == LEAD_OWN && !is_known))
			return false;
	}
	return true;
}

/* Returns the end of the instruction that contains the byte before @end. */
static uint64_t round_up(const struct group *g, uint64_t end)
{
	struct insn_step step;
	uint64_t addr = g->sites->addr;

	while (addr < end && insns_step(g->insns, g->text.bytes + (addr - g->text.start),
					g->text.end - addr, addr, &step))
		addr += step.len;
	return addr;
}

/*
 * If the function jumps back into bytes that are overwritten, the whole loop must be moved. Returns
 * the end of the code to move, or 0 when this code cannot be moved.
 */
static uint64_t find_closed_end(const struct group *g, const struct window *window, unsigned bytes)
{
	struct inner_jumps jumps = { .site = g->sites->addr };
	uint64_t end = g->sites->addr + bytes;

	if (!g->sites->entry || g->sites->entry != g->sites->addr || g->jump_at != g->sites->addr ||
	    insns_look_through(g->insns, &g->text, note_jump, &jumps, NULL) < 0 || jumps.is_dark)
		return 0;
	for (uint64_t before = 0; before != end;) {
		before = end;
		for (size_t i = 0; i < jumps.nr; i++) {
			if (jumps.list[i].to < end)
				end = MAX(end, jumps.list[i].behind);
		}
	}
	end = round_up(g, end);
	if (end > jumps.site + WINDOW_BEHIND || end > g->func->end)
		return 0;
	return is_closed(&jumps, window, end) ? end : 0;
}

static void finish_group(const struct group *g, const uint8_t *original)
{
	memcpy(g->sites->original, original, WINDOW_BYTES);
	g->sites->jump_at = g->jump_at;
	g->sites->is_loop = g->all_until != 0;
	for (size_t i = 0; i < g->nr; i++) {
		g->sites[i].is_inner = i > 0;
		g->sites[i].refusal = SITE_CAN;
		g->sites[i].why_not[0] = '\0';
	}
}

static enum site_refusal window_refusal(const struct window *window, enum lead lead)
{
	return window->why_not ? (enum site_refusal)window->refusal : refusal_of(lead);
}

/*
 * Tries to place a jump instruction at @jump_at, for the first site of @g. Returns the number of
 * sites that the jump serves. If no jump is possible, returns 0 with the reason in @v.
 *
 * @bytes: the length of the instruction
 * @nr: the number of sites in g->sites that the jump may serve
 */
static size_t try_jump(struct group *g, const struct window *window, uint64_t jump_at,
		       unsigned bytes, size_t nr, struct verdict *v)
{
	enum lead lead;
	bool has_entry = false;
	const char *why_not = window_check(window, jump_at, bytes, &lead);
	const uint8_t *original = code_bytes(g->code, jump_at, WINDOW_BYTES);

	g->jump_at = jump_at;
	g->end = jump_at + bytes;
	g->all_until = 0;
	if (lead == LEAD_OWN && g->sites->entry) {
		g->all_until = find_closed_end(g, window, bytes);
		why_not = g->all_until ? NULL : why_not;
	}
	if (why_not) {
		refuse_site(v, window_refusal(window, lead), why_not);
		return 0;
	}
	if (!original) {
		refuse_site(v, SITE_NO_ROOM, "the code ends too soon behind it");
		return 0;
	}
	for (g->nr = 1; g->nr < nr && g->sites[g->nr].addr < MAX(g->end, g->all_until);)
		g->nr++;
	/*
	 * Refuse the jump if a function starts at a later site of the group: any code may call that
	 * function.
	 */
	for (size_t i = 1; i < g->nr; i++)
		has_entry |= g->sites[i].entry != 0;
	if ((g->all_until || has_entry) && g->nr > 1) {
		refuse_site(v, SITE_TOO_NEAR, "another place follows too soon");
		return 0;
	}
	if (prepare_group(g, v) < 0)
		return 0;
	finish_group(g, original);
	return g->nr;
}

static size_t try_island(struct group *g, const struct window *window, uint64_t jump_at,
			 const struct islands *islands, size_t nr)
{
	struct island *island = islands_near(islands, jump_at);
	struct verdict verdict = { 0 };
	size_t served = island ? try_jump(g, window, jump_at, SHORT_JUMP_BYTES, nr, &verdict) : 0;

	if (served) {
		island->is_used = true;
		g->sites->island = island->addr;
		memcpy(g->sites->island_original, code_bytes(g->code, island->addr, WINDOW_BYTES),
		       WINDOW_BYTES);
	}
	return served;
}

/*
 * Finds a place for the jump, at the site or a little before it. Returns the number of sites that
 * the jump serves, or 0 with the reason in @v.
 *
 * @islands: the islands that a short jump can use; NULL for a long jump
 */
static size_t find_jump(struct group *g, const struct window *window, const struct islands *islands,
			size_t nr, struct verdict *v)
{
	uint64_t site = g->sites->addr;
	uint64_t starts[WINDOW_BEFORE + 1] = { site };
	size_t served = 0;

	g->func = window->why_not ? NULL : code_func_at(g->code, site);
	if (!g->func) {
		if (window->why_not)
			refuse_site(v, window->refusal, window->why_not);
		else
			refuse_site(v, SITE_NO_FUNCTION, "it lies in no function");
		return 0;
	}
	g->text = (struct insn_text){ code_bytes(g->code, g->func->start,
						 g->func->end - g->func->start),
				      g->func->start, g->func->end };

	/* If the site is the start of a function, the jump must be written at the site itself. */
	unsigned nr_starts = 1;

	if (!g->sites->entry)
		nr_starts += insns_before(g->insns, &g->text, site, starts + 1, WINDOW_BEFORE);

	for (unsigned i = 0; i < nr_starts && !served; i++) {
		uint64_t at = starts[i];

		if (at < g->low)
			refuse_site(v, SITE_TOO_NEAR,
				    "it is within code that was moved for the one before it");
		if (at < g->low || site - at > WINDOW_BEFORE)
			break;
		/* Do not overwrite an `endbr64`, which marks a target of indirect jumps. */
		if (at < site &&
		    insns_is_landing_pad(g->insns, g->text.bytes + (at - g->text.start),
					 g->text.end - at))
			continue;
		served = islands ? try_island(g, window, at, islands, nr)
				 : try_jump(g, window, at, WINDOW_BYTES, nr, v);
	}
	return served;
}

/*
 * Returns the end of the code that is moved or overwritten for the jump of @site. The next jump may
 * begin at this address.
 */
static uint64_t end_of(const struct code_site *site)
{
	uint64_t end = site->code.from + site->code.taken;

	if (site->is_inner)
		return end;
	return MAX(end, site->jump_at + (site->island ? SHORT_JUMP_BYTES : WINDOW_BYTES));
}

/*
 * Returns the number of sites before the first site that has a jump, or that is more than
 * WINDOW_BEHIND + WINDOW_BEFORE bytes after sites[0]. Returns @nr if there is no such site. Sites
 * at a greater distance do not affect sites[0].
 */
static size_t count_left(const struct code_site *sites, size_t nr)
{
	size_t count = 0;

	while (count < nr && sites[count].refusal &&
	       sites[count].addr <= sites->addr + WINDOW_BEHIND + WINDOW_BEFORE)
		count++;
	return count;
}

static void find_jumps(struct group *g, const struct window *windows, const struct islands *islands,
		       struct code_site *sites, size_t nr)
{
	g->low = 0;
	for (size_t i = 0; i < nr;) {
		size_t left = count_left(sites + i, nr - i);
		struct verdict verdict = { 0 };
		size_t served;

		code_tick(g->code, i);
		if (!left) {
			g->low = MAX(g->low, end_of(&sites[i]));
			i++;
			continue;
		}
		g->sites = sites + i;
		g->high = UINT64_MAX;
		if (i + left < nr && !sites[i + left].refusal)
			g->high = sites[i + left].jump_at;
		served = find_jump(g, &windows[i], islands, left, &verdict);
		/* Refuse only sites[i], because a jump may be possible for the next sites. */
		if (!served && !islands) {
			sites[i].refusal = verdict.refusal;
			snprintf(sites[i].why_not, sizeof(sites[i].why_not), "%.*s",
				 SITE_REASON_MAX - 1, verdict.err.text);
		}
		for (size_t k = 0; k < served; k++)
			g->low = MAX(g->low, end_of(&sites[i + k]));
		i += MAX(served, (size_t)1);
	}
}

static struct window *make_windows(const struct code *code, struct insns *insns,
				   const struct leads *leads, struct code_site *sites, size_t nr)
{
	struct window *windows = calloc(nr + 1, sizeof(*windows));

	for (size_t i = 0; windows && i < nr; i++) {
		windows[i].site = sites[i].addr;
		windows[i].entry = sites[i].entry;
		sites[i].refusal = SITE_NO_FUNCTION;
		strcpy(sites[i].why_not, "it was not looked at");
	}
	if (windows)
		windows_fill(code, insns, leads, windows, nr);
	return windows;
}

int sites_prepare_near(const struct code *code, struct insns *insns, const struct leads *leads,
		       struct code_site *sites, size_t nr)
{
	struct window *windows cleanup_free = make_windows(code, insns, leads, sites, nr);
	struct group group = { .code = code, .insns = insns };

	if (!windows)
		return -ENOMEM;
	find_jumps(&group, windows, NULL, sites, nr);
	return 0;
}

int sites_prepare_with(const struct code *code, struct insns *insns, const struct leads *leads,
		       struct code_site *sites, size_t nr)
{
	struct window *windows cleanup_free = make_windows(code, insns, leads, sites, nr);
	struct islands islands cleanup_islands = { 0 };
	struct group group = { .code = code, .insns = insns };
	int ret;

	if (!windows)
		return -ENOMEM;
	find_jumps(&group, windows, NULL, sites, nr);
	ret = islands_find(code, insns, sites, nr, &islands);
	if (ret == 0 && islands.nr)
		find_jumps(&group, windows, &islands, sites, nr);
	return ret;
}

int sites_prepare(const struct code *code, struct insns *insns, struct code_site *sites, size_t nr)
{
	struct lead_place *places cleanup_free = calloc(nr + 1, sizeof(*places));
	struct leads leads cleanup_leads = { 0 };
	int ret;

	if (!places)
		return -ENOMEM;
	for (size_t i = 0; i < nr; i++)
		places[i] = (struct lead_place){ sites[i].addr, sites[i].entry };
	ret = leads_find(code, insns, places, nr, &leads);
	return ret < 0 ? ret : sites_prepare_with(code, insns, &leads, sites, nr);
}
