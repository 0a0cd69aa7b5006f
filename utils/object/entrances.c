/* Who jumps where (see entrances.h). */
#include "utils/object/entrances.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "utils/base/order.h"
#include "utils/base/vec.h"

/* Addresses that code takes, where tables may begin. */
struct bases {
	uint64_t *addrs;
	size_t nr;
	size_t cap;
};

/*
 * @near: so far away a short jump to a window may be
 * @lead: what is being looked at
 * @from, @until: the function that it is in; nothing when it is in none
 * @is_jump: it is an instruction that is known to go there and not to come back
 * @next_func: functions before it have been looked through
 */
struct search {
	const struct code *code;
	struct insns *insns;
	struct window *windows;
	size_t nr;
	uint64_t near;
	enum lead lead;
	uint64_t from;
	uint64_t until;
	bool is_jump;
	size_t next_func;
	struct bases bases;
};

/* The first window of a site at @addr or behind. */
static size_t first_from(const struct search *s, uint64_t addr)
{
	_Static_assert(offsetof(struct window, site) == 0, "ordered by order_u64()");
	return order_count_below(s->windows, s->nr, sizeof(*s->windows), addr);
}

const char *lead_text(enum lead lead)
{
	static const char *const texts[] = {
		[LEAD_NONE] = "nothing leads behind it",
		[LEAD_OWN] = "an instruction of the function leads behind it",
		[LEAD_FUNC] = "an instruction of another function leads behind it",
		[LEAD_GAP] = "what is no function leads behind it",
		[LEAD_GAP_MAYBE] = "what is no function may lead behind it",
		[LEAD_LANDING] = "an exception may be caught behind it",
		[LEAD_FAR] = "something elsewhere may lead behind it",
		[LEAD_WORD] = "an address in the data leads behind it",
		[LEAD_TABLE] = "an entry of a table leads behind it",
	};

	return texts[lead];
}

static enum lead lead_to(const struct search *s, const struct window *w, uint64_t addr)
{
	bool is_own = w->site >= s->from && w->site < s->until;

	if (w->entry && (addr == w->site || addr == w->entry))
		return is_own && s->is_jump ? LEAD_OWN : LEAD_NONE;
	return is_own && s->lead == LEAD_FUNC ? LEAD_OWN : s->lead;
}

/* @addr is led to. */
static void note(uint64_t addr, void *arg)
{
	struct search *s = arg;

	if (addr < WINDOW_BEHIND || addr + WINDOW_BEFORE < s->windows[0].site ||
	    addr >= s->windows[s->nr - 1].site + WINDOW_BEHIND)
		return;
	/* Windows overlap where sites stand close together. */
	for (size_t i = first_from(s, addr - WINDOW_BEHIND + 1);
	     i < s->nr && s->windows[i].site <= addr + WINDOW_BEFORE; i++) {
		struct window *w = &s->windows[i];
		uint8_t *led_to = &w->led_to[addr + WINDOW_BEFORE - w->site];
		enum lead lead = lead_to(s, w, addr);

		if (*led_to < lead)
			*led_to = lead;
	}
}

/* All sites in [@start, @end). */
static void refuse(struct search *s, uint64_t start, uint64_t end, enum site_refusal refusal,
		   const char *why)
{
	for (size_t i = first_from(s, start); i < s->nr && s->windows[i].site < end; i++) {
		if (s->windows[i].why_not)
			continue;
		s->windows[i].why_not = why;
		s->windows[i].refusal = refusal;
	}
}

static uint64_t word_at(const uint8_t *at)
{
	uint64_t value;

	memcpy(&value, at, sizeof(value));
	return value;
}

static int32_t distance_at(const uint8_t *at)
{
	int32_t value;

	memcpy(&value, at, sizeof(value));
	return value;
}

/* --- functions around the windows --- */

static void note_step(const struct insn_step *step, void *arg)
{
	struct search *s = arg;

	if (!step->has_name)
		return;
	s->is_jump = step->flow == INSN_JUMP || step->flow == INSN_BRANCH;
	note(step->names, s);
	s->is_jump = false;
}

static void look_through(struct search *s, const struct code_func *func)
{
	struct insn_text text = { code_bytes(s->code, func->start, func->end - func->start),
				  func->start, func->end };

	s->lead = LEAD_FUNC;
	s->from = func->start;
	s->until = func->end;
	if (!text.bytes || insns_look_through(s->insns, &text, note_step, s, NULL) < 0)
		refuse(s, func->start < s->near ? 0 : func->start - s->near, func->end + s->near,
		       SITE_NOT_CODE, "part of the function is no code that is known");
	s->from = s->until = 0;
}

/* Between functions is padding, and code of which nobody says what it is: the start files'. */
static void look_between(struct search *s, uint64_t start, uint64_t end)
{
	struct insn_text text = { NULL, start, end };

	if (start < end)
		text.bytes = code_bytes(s->code, start, end - start);
	s->lead = LEAD_GAP;
	if (text.bytes && insns_look_through(s->insns, &text, note_step, s, NULL) < 0) {
		s->lead = LEAD_GAP_MAYBE;
		insns_near_names(s->insns, &text, note, s);
	}
}

/* What short jumps can come from. Sites come in their order, so that each function and each gap is looked at once. */
static void look_around(struct search *s, uint64_t site)
{
	const struct code *code = s->code;
	const struct code_section *sec = code_section_at(code, site);
	uint64_t end = MIN(site + s->near, sec->end);
	size_t i = s->next_func;

	while (i < code->nr_funcs &&
	       (code->funcs[i].end + s->near <= site || code->funcs[i].end <= sec->start))
		i++;
	for (; i < code->nr_funcs; i++) {
		const struct code_func *func = &code->funcs[i];
		uint64_t before = i ? MAX(code->funcs[i - 1].end, sec->start) : sec->start;

		look_between(s, before, MIN(func->start, sec->end));
		if (func->start >= end)
			break;
		look_through(s, func);
		s->next_func = i + 1;
	}
	if (i == code->nr_funcs)
		look_between(s, i ? MAX(code->funcs[i - 1].end, sec->start) : sec->start, sec->end);
}

static void look_at_functions(struct search *s)
{
	for (size_t i = 0; i < s->nr; i++) {
		uint64_t site = s->windows[i].site;
		const struct code_section *sec = code_section_at(s->code, site);

		code_tick(s->code, i);
		if (!sec || !sec->is_code ||
		    !(s->windows[i].is_padding || code_func_at(s->code, site))) {
			refuse(s, site, site + 1, SITE_NO_FUNCTION, "it lies in no function");
			continue;
		}
		look_around(s, site);
	}
}

static void look_at_landings(struct search *s)
{
	s->lead = LEAD_LANDING;
	for (size_t i = 0; i < s->code->nr_funcs; i++) {
		const struct code_func *func = &s->code->funcs[i];

		if (!code_landings(s->code, func, note, s))
			refuse(s, func->start, func->end, SITE_LANDINGS,
			       "where exceptions are caught is not known");
	}
}

/* --- the whole file --- */

static int add_base(uint64_t addr, void *arg)
{
	struct search *s = arg;
	struct bases *bases = &s->bases;

	uint64_t *addrs = vec_room(bases->addrs, bases->nr, &bases->cap, sizeof(*addrs));

	if (!addrs)
		return -ENOMEM;
	bases->addrs = addrs;
	addrs[bases->nr++] = addr;
	return 0;
}

/* Any byte of [@start, @end) may be the first of an instruction; those of a function count as its own. */
static int scan_part(struct search *s, const struct code_section *sec, uint64_t start, uint64_t end,
		     const struct code_func *func)
{
	struct insn_text text = { sec->bytes + (start - sec->start), start, end };
	int ret;

	s->lead = func ? LEAD_FUNC : LEAD_FAR;
	s->from = func ? func->start : 0;
	s->until = func ? func->end : 0;
	ret = insns_far_names(s->insns, &text, note, add_base, s);
	s->from = s->until = 0;
	return ret;
}

#define REST_OF_FAR 4 /* bytes that what begins in the last one may have at least */

/* Its own instructions lead into a function in ways that are looked at again. */
static int scan_code(struct search *s, const struct code_section *sec)
{
	const struct code *code = s->code;
	size_t i = order_count_until(code->funcs, code->nr_funcs, sizeof(*code->funcs), sec->start);
	uint64_t at = sec->start;
	int ret = 0;

	for (i = i ? i - 1 : 0; ret == 0 && i < code->nr_funcs; i++) {
		const struct code_func *func = &code->funcs[i];

		code_tick(code, i);
		if (func->start >= sec->end)
			break;
		if (func->start < at || func->end > sec->end)
			continue;
		if (func->start > at)
			ret = scan_part(s, sec, at, MIN(func->start + REST_OF_FAR, sec->end), NULL);
		if (ret == 0)
			ret = scan_part(s, sec, func->start, MIN(func->end + REST_OF_FAR, sec->end),
					func);
		at = func->end;
	}
	if (ret == 0 && at < sec->end)
		ret = scan_part(s, sec, at, sec->end, NULL);
	return ret;
}

/* Any aligned word may be an address that is jumped to. */
static void scan_words(struct search *s, const struct code_section *sec)
{
	uint64_t len = sec->end - sec->start;

	s->lead = LEAD_WORD;
	for (uint64_t i = -sec->start & 7; i + sizeof(uint64_t) <= len; i += sizeof(uint64_t))
		note(word_at(sec->bytes + i), s);
}

static void scan_relocations(struct search *s)
{
	struct elf_section sec;

	s->lead = LEAD_WORD;
	if (!elf_section_by_name(s->code->file, ".rela.dyn", &sec) || !sec.data)
		return;
	for (size_t i = 0; i < sec.data->d_size / sizeof(Elf64_Rela); i++) {
		GElf_Rela reloc;

		if (i <= INT32_MAX && gelf_getrela(sec.data, i, &reloc))
			note(reloc.r_addend, s);
	}
}

static bool is_code(const struct search *s, uint64_t addr)
{
	for (size_t i = 0; i < s->code->nr_sections; i++) {
		const struct code_section *sec = &s->code->sections[i];

		if (sec->is_code && sec->start <= addr && addr < sec->end)
			return true;
	}
	return false;
}

/*
 * Entries of a table are distances of 32 bits from its beginning, and how many there are is not said: as long as they lead to code,
 * up to where the next table begins.
 */
static void scan_tables(struct search *s, struct bases *bases)
{
	const struct code_section *sec = NULL;
	uint64_t end;

	s->lead = LEAD_TABLE;
	if (bases->nr)
		qsort(bases->addrs, bases->nr, sizeof(*bases->addrs), order_u64);
	for (size_t i = 0; i < bases->nr; i++) {
		uint64_t base = bases->addrs[i];

		if ((i && base == bases->addrs[i - 1]) || base % sizeof(int32_t))
			continue;
		if (!sec || base < sec->start || base >= sec->end)
			sec = code_section_at(s->code, base);
		if (!sec)
			continue;
		end = sec->end;
		for (size_t k = i + 1; k < bases->nr && end == sec->end; k++) {
			if (bases->addrs[k] != base && bases->addrs[k] % sizeof(int32_t) == 0)
				end = MIN(end, bases->addrs[k]);
			if (bases->addrs[k] >= end)
				break;
		}
		for (uint64_t at = base; end - at >= sizeof(int32_t); at += sizeof(int32_t)) {
			uint64_t target = base + distance_at(sec->bytes + (at - sec->start));

			if (!is_code(s, target))
				break;
			note(target, s);
		}
	}
}

const char *window_check(const struct window *window, uint64_t from, unsigned bytes,
			 enum lead *lead)
{
	uint64_t end = MAX(from + bytes, window->site + 1);
	uint64_t first = window->entry ? MIN(from, window->entry) : from + 1;

	*lead = LEAD_NONE;
	if (window->why_not)
		return window->why_not;
	for (uint64_t addr = first; addr < end; addr++)
		*lead = MAX(*lead, window->led_to[addr + WINDOW_BEFORE - window->site]);
	return *lead ? lead_text(*lead) : NULL;
}

int entrances_find(const struct code *code, struct insns *insns, struct window *windows, size_t nr)
{
	struct search s = {
		.code = code,
		.insns = insns,
		.windows = windows,
		.nr = nr,
		.near = insns_near_reach(insns) + WINDOW_BEFORE + WINDOW_BEHIND,
	};
	int ret = 0;

	if (!nr)
		return 0;
	look_at_functions(&s);
	look_at_landings(&s);
	for (size_t i = 0; ret == 0 && i < code->nr_sections; i++) {
		if (code->sections[i].is_code)
			ret = scan_code(&s, &code->sections[i]);
		scan_words(&s, &code->sections[i]);
	}
	scan_relocations(&s);
	if (ret == 0)
		scan_tables(&s, &s.bases);
	free(s.bases.addrs);
	return ret;
}
