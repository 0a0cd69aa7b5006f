/* Islands (see islands.h). */
#include "utils/object/code/islands.h"

#include <errno.h>
#include <stdlib.h>

#include "utils/base/containers/vec.h"

#define REACH_BACK    128
#define REACH_FORWARD 127

void islands_deinit(struct islands *islands)
{
	free(islands->islands);
	*islands = (struct islands){ 0 };
}

static bool is_in_reach(uint64_t from, uint64_t addr)
{
	int64_t distance = addr - (from + SHORT_JUMP_BYTES);

	return distance >= -REACH_BACK && distance <= REACH_FORWARD;
}

/*
 * True when no long jump that is written for @sites overlaps the island at @addr. The last bytes of
 * a long jump may be in the padding after a function.
 */
static bool is_free(const struct code_site *sites, size_t nr, uint64_t addr)
{
	for (size_t i = 0; i < nr; i++) {
		if (!sites[i].refusal && !sites[i].is_inner &&
		    sites[i].jump_at < addr + WINDOW_BYTES &&
		    addr < sites[i].jump_at + WINDOW_BYTES)
			return false;
	}
	return true;
}

/* True when execution does not continue from the end of the function into the next bytes. */
static bool does_end(const struct code *code, struct insns *insns, const struct code_func *func)
{
	struct insn_text text = { code_bytes(code, func->start, func->end - func->start),
				  func->start, func->end };
	struct insn_code last_code;
	uint64_t last;

	return text.bytes && insns_before(insns, &text, func->end, &last, 1) &&
	       insns_move(insns, &text, last, 1, &last_code, NULL) == 0 && last_code.ends &&
	       !last_code.ret_at;
}

static bool has_room(const struct code *code, struct insns *insns, const struct code_func *func)
{
	uint64_t end = code_next_start(code, func->end - 1);
	const uint8_t *bytes = end > func->end ? code_bytes(code, func->end, end - func->end)
					       : NULL;

	return bytes && insns_padding(insns, bytes, bytes + (end - func->end)) >= WINDOW_BYTES &&
	       does_end(code, insns, func);
}

/*
 * Add a window for the padding after each function near @site, if an island fits into the padding.
 * If an earlier call has added a window for this padding, add no second window.
 */
static int add_around(const struct code *code, struct insns *insns, uint64_t site,
		      struct window **windows, size_t *nr)
{
	const struct code_func *func = code_func_at(code, site);
	const struct code_func *end;

	if (!func)
		return 0;
	end = code->funcs + code->nr_funcs;
	while (func > code->funcs && func[-1].end + REACH_BACK + WINDOW_BEFORE > site)
		func--;
	for (; func < end && func->end <= site + REACH_FORWARD + SHORT_JUMP_BYTES; func++) {
		struct window *grown;

		if ((*nr && (*windows)[*nr - 1].site >= func->end) || !has_room(code, insns, func))
			continue;
		grown = vec_grow(*windows, *nr, sizeof(*grown));
		if (!grown)
			return -ENOMEM;
		*windows = grown;
		grown[(*nr)++] = (struct window){ .site = func->end, .is_padding = true };
	}
	return 0;
}

static int keep_good(const struct window *windows, size_t nr, const struct code_site *sites,
		     size_t nr_sites, struct islands *out)
{
	out->islands = calloc(nr + 1, sizeof(*out->islands));
	if (!out->islands)
		return -ENOMEM;
	for (size_t i = 0; i < nr; i++) {
		const struct window *w = &windows[i];

		enum lead lead;

		if (!window_check(w, w->site, WINDOW_BYTES, &lead) && !w->led_to[WINDOW_BEFORE] &&
		    is_free(sites, nr_sites, w->site))
			out->islands[out->nr++].addr = w->site;
	}
	return 0;
}

int islands_find(const struct code *code, struct insns *insns, const struct code_site *sites,
		 size_t nr, struct islands *out)
{
	struct window *windows = NULL;
	size_t nr_windows = 0;
	int ret = 0;

	for (size_t i = 0; ret == 0 && i < nr; i++) {
		if (sites[i].refusal)
			ret = add_around(code, insns, sites[i].addr, &windows, &nr_windows);
	}
	if (ret == 0)
		ret = entrances_find(code, insns, windows, nr_windows);
	if (ret == 0)
		ret = keep_good(windows, nr_windows, sites, nr, out);
	free(windows);
	return ret;
}

struct island *islands_near(const struct islands *islands, uint64_t from)
{
	for (size_t i = 0; i < islands->nr; i++) {
		if (!islands->islands[i].is_used && is_in_reach(from, islands->islands[i].addr))
			return &islands->islands[i];
	}
	return NULL;
}
