/* Jumps and their targets (see entrances.h). */
#include "utils/object/code/entrances.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "utils/base/containers/order.h"
#include "utils/base/containers/vec.h"

/*
 * @near: the greatest distance from which a short jump reaches a window
 * @lead: kind of the reference that is being noted
 * @from, @until: the function that contains the reference; both 0: none
 * @is_jump: the reference is a jump, not a call
 * @next_func: index of a function. All functions with lower indexes have been searched, or are too
 *             far from the remaining windows
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
};

/* Returns the index of the first window whose site is at or after @addr. */
static size_t first_from(const struct search *s, uint64_t addr)
{
	_Static_assert(offsetof(struct window, site) == 0, "ordered by order_u64()");
	return order_count_below(s->windows, s->nr, sizeof(*s->windows), addr);
}

/* Returns a text that describes a kind of reference. */
static const char *lead_text(enum lead lead)
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

/* Mark @addr in the windows as the target of the current reference. */
static void note_target(uint64_t addr, void *arg)
{
	struct search *s = arg;

	if (addr < WINDOW_BEHIND || addr + WINDOW_BEFORE < s->windows[0].site ||
	    addr >= s->windows[s->nr - 1].site + WINDOW_BEHIND)
		return;
	/* Windows overlap when sites are near to each other. */
	for (size_t i = first_from(s, addr - WINDOW_BEHIND + 1);
	     i < s->nr && s->windows[i].site <= addr + WINDOW_BEFORE; i++) {
		struct window *w = &s->windows[i];
		uint8_t *led_to = &w->led_to[addr + WINDOW_BEFORE - w->site];
		enum lead lead = lead_to(s, w, addr);

		if (*led_to < lead)
			*led_to = lead;
	}
}

/* Refuse all sites in [@start, @end). */
static void refuse_sites(struct search *s, uint64_t start, uint64_t end, enum site_refusal refusal,
			 const char *why)
{
	for (size_t i = first_from(s, start); i < s->nr && s->windows[i].site < end; i++) {
		if (s->windows[i].why_not)
			continue;
		s->windows[i].why_not = why;
		s->windows[i].refusal = refusal;
	}
}

/* --- functions around the windows --- */

static void note_step(const struct insn_step *step, void *arg)
{
	struct search *s = arg;

	if (!step->has_name)
		return;
	s->is_jump = step->flow == INSN_JUMP || step->flow == INSN_BRANCH;
	note_target(step->names, s);
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
		refuse_sites(s, func->start < s->near ? 0 : func->start - s->near,
			     func->end + s->near, SITE_NOT_CODE,
			     "part of the function is no code that is known");
	s->from = s->until = 0;
}

/* Search the bytes between functions. These bytes are padding, or code that is no function. */
static void look_between(struct search *s, uint64_t start, uint64_t end)
{
	struct insn_text text = { NULL, start, end };

	if (start < end)
		text.bytes = code_bytes(s->code, start, end - start);
	s->lead = LEAD_GAP;
	if (text.bytes && insns_look_through(s->insns, &text, note_step, s, NULL) < 0) {
		s->lead = LEAD_GAP_MAYBE;
		insns_near_names(s->insns, &text, note_target, s);
	}
}

/*
 * Returns the larger of two addresses: the end of function @index - 1, and the start of @sec. If
 * @index is 0, returns the start of @sec.
 */
static uint64_t end_before(const struct code *code, size_t index, const struct code_section *sec)
{
	return index ? MAX(code->funcs[index - 1].end, sec->start) : sec->start;
}

/*
 * Look for references to the bytes of the windows (struct window). This function searches all code
 * from which a short jump may reach the bytes around @site. look_at_functions() passes the sites in
 * ascending order, so no function is searched twice. Bytes between functions may be searched
 * several times.
 */
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

		look_between(s, end_before(code, i, sec), MIN(func->start, sec->end));
		if (func->start >= end)
			break;
		look_through(s, func);
		s->next_func = i + 1;
	}
	if (i == code->nr_funcs)
		look_between(s, end_before(code, i, sec), sec->end);
}

static void look_at_functions(struct search *s)
{
	for (size_t i = 0; i < s->nr; i++) {
		uint64_t site = s->windows[i].site;
		const struct code_section *sec = code_section_at(s->code, site);

		code_tick(s->code, i);
		if (!sec || !sec->is_code ||
		    !(s->windows[i].is_padding || code_func_at(s->code, site))) {
			refuse_sites(s, site, site + 1, SITE_NO_FUNCTION, "it lies in no function");
			continue;
		}
		look_around(s, site);
	}
}

/* --- the whole file --- */

/*
 * One thread's part of the search.
 *
 * @func: index of the function that is being searched; UINT32_MAX: none
 * @lead: the kind of the references that the present step of the search finds
 * @bases: addresses at which jump tables may begin (see insns_far_names())
 */
struct scan {
	const struct code *code;
	struct insns *insns;
	const struct lead_place *places;
	size_t nr_places;
	uint32_t func;
	enum lead lead;
	struct lead_note *notes;
	size_t nr;
	size_t cap;
	uint64_t *bases;
	size_t nr_bases;
	size_t cap_bases;
	bool is_out_of_memory;
};

static void scan_deinit(struct scan *s)
{
	free(s->notes);
	free(s->bases);
}

static void keep_note(struct scan *s, uint64_t addr, uint8_t lead)
{
	struct lead_note *notes = vec_room(s->notes, s->nr, &s->cap, sizeof(*notes));

	if (!notes) {
		s->is_out_of_memory = true;
		return;
	}
	s->notes = notes;
	notes[s->nr++] = (struct lead_note){ addr, s->func, lead };
}

_Static_assert(offsetof(struct lead_place, site) == 0 && offsetof(struct lead_note, addr) == 0,
	       "ordered by order_u64()");

/*
 * True when scan_note() need not keep a reference to @addr. Both conditions must hold:
 *
 * - s->places[@i] is at the start of a function, and @addr is the site or the entry of this place.
 *   References to such an address are allowed, except jumps of the function itself (struct window).
 *   windows_fill() finds these jumps later.
 * - If the probe writes a jump at the preceding place, s->places[@i - 1], this jump does not
 *   overwrite @addr.
 */
static bool is_entry(const struct scan *s, size_t i, uint64_t addr)
{
	const struct lead_place *place = &s->places[i];

	return place->entry && (addr == place->site || addr == place->entry) &&
	       (i == 0 || place[-1].site + WINDOW_BYTES <= addr);
}

/*
 * @addr is the target of a reference in code or data. Keep the reference if @addr is near one of
 * s->places. If @addr is at the start of a function, keep the reference only if a jump at the
 * preceding place would overwrite @addr (is_entry()).
 */
static void scan_note(uint64_t addr, void *arg)
{
	struct scan *s = arg;
	size_t i;

	if (addr < WINDOW_BEHIND || addr + WINDOW_BEFORE < s->places[0].site ||
	    addr >= s->places[s->nr_places - 1].site + WINDOW_BEHIND)
		return;
	i = order_count_until(s->places, s->nr_places, sizeof(*s->places), addr + WINDOW_BEFORE);
	if (!i || addr - s->places[i - 1].site + WINDOW_BEFORE >= WINDOW_BEFORE + WINDOW_BEHIND)
		return;
	for (size_t k = i; k-- > 0 && s->places[k].site + WINDOW_BEFORE >= addr;) {
		if (is_entry(s, k, addr))
			return;
	}
	keep_note(s, addr, s->lead);
}

static int add_base(uint64_t addr, void *arg)
{
	struct scan *s = arg;
	uint64_t *bases = vec_room(s->bases, s->nr_bases, &s->cap_bases, sizeof(*bases));

	if (!bases)
		return -ENOMEM;
	s->bases = bases;
	bases[s->nr_bases++] = addr;
	return 0;
}

/*
 * Search [@start, @end). Each byte is examined as the possible start of an instruction, because
 * the instruction boundaries are unknown.
 *
 * @func: index of the function that contains the bytes; UINT32_MAX: none
 */
static void scan_part(struct scan *s, const struct code_section *sec, uint64_t start, uint64_t end,
		      uint32_t func)
{
	struct insn_text text = { sec->bytes + (start - sec->start), start, end };

	s->lead = func == UINT32_MAX ? LEAD_FAR : LEAD_FUNC;
	s->func = func;
	if (start < end && insns_far_names(s->insns, &text, scan_note, add_base, s) < 0)
		s->is_out_of_memory = true;
	s->func = UINT32_MAX;
}

#define REST_OF_FAR 4 /* bytes after the opcode of a jump with a 32-bit distance */

/*
 * Look for references to s->places in function @index, and in the bytes between the previous
 * function and function @index. Later, look_through() examines the function's references to itself
 * once more.
 */
static void scan_func(struct scan *s, size_t index)
{
	const struct code_func *func = &s->code->funcs[index];
	const struct code_section *sec = code_section_at(s->code, func->start);
	uint64_t before = end_before(s->code, index, sec);

	if (before < func->start)
		scan_part(s, sec, before, MIN(func->start + REST_OF_FAR, sec->end), UINT32_MAX);
	/* If sections overlap, a function may end in another section. */
	scan_part(s, sec, func->start, MIN(func->end + REST_OF_FAR, sec->end), index);
	s->lead = LEAD_LANDING;
	s->func = index;
	if (!code_landings(s->code, func, scan_note, s))
		keep_note(s, func->start, LEAD_UNKNOWN);
	s->func = UINT32_MAX;
}

/* Search the part of a section after its last function. */
static void scan_rest(struct scan *s, const struct code_section *sec)
{
	const struct code *code = s->code;
	size_t i = order_count_below(code->funcs, code->nr_funcs, sizeof(*code->funcs), sec->end);

	scan_part(s, sec, end_before(code, i, sec), sec->end, UINT32_MAX);
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

/* Search the aligned words of a section. Each word may be an address in the code. */
static void scan_words(struct scan *s, const struct code_section *sec)
{
	uint64_t len = sec->end - sec->start;

	s->lead = LEAD_WORD;
	for (uint64_t i = -sec->start & 7; i + sizeof(uint64_t) <= len; i += sizeof(uint64_t))
		scan_note(word_at(sec->bytes + i), s);
}

static void scan_relocations(struct scan *s)
{
	struct elf_section sec;

	s->lead = LEAD_WORD;
	if (!elf_section_by_name(s->code->file, ".rela.dyn", &sec) || !sec.data)
		return;
	for (size_t i = 0; i < sec.data->d_size / sizeof(Elf64_Rela); i++) {
		GElf_Rela reloc;

		if (i <= INT32_MAX && gelf_getrela(sec.data, i, &reloc))
			scan_note(reloc.r_addend, s);
	}
}

static bool is_code(const struct code *code, uint64_t addr)
{
	for (size_t i = 0; i < code->nr_sections; i++) {
		const struct code_section *sec = &code->sections[i];

		if (sec->is_code && sec->start <= addr && addr < sec->end)
			return true;
	}
	return false;
}

/*
 * Searches tables whose entries are 32-bit distances from the table. A table ends at the next
 * table, or at an entry that does not lead to code.
 */
static void scan_tables(struct scan *s)
{
	const struct code_section *sec = NULL;
	uint64_t end;

	s->lead = LEAD_TABLE;
	if (s->nr_bases)
		qsort(s->bases, s->nr_bases, sizeof(*s->bases), order_u64);
	for (size_t i = 0; i < s->nr_bases; i++) {
		uint64_t base = s->bases[i];

		if ((i && base == s->bases[i - 1]) || base % sizeof(int32_t))
			continue;
		if (!sec || base < sec->start || base >= sec->end)
			sec = code_section_at(s->code, base);
		if (!sec)
			continue;
		end = sec->end;
		for (size_t k = i + 1; k < s->nr_bases && end == sec->end; k++) {
			if (s->bases[k] != base && s->bases[k] % sizeof(int32_t) == 0)
				end = MIN(end, s->bases[k]);
			if (s->bases[k] >= end)
				break;
		}
		for (uint64_t at = base; end - at >= sizeof(int32_t); at += sizeof(int32_t)) {
			uint64_t target = base + distance_at(sec->bytes + (at - sec->start));

			if (!is_code(s->code, target))
				break;
			scan_note(target, s);
		}
	}
}

/*
 * The parts of the search, one for each thread. Each part has an equal share of the functions, and
 * every @nr-th section.
 */
struct scans {
	struct scan *list;
	unsigned nr;
};

static void scan_share(void *arg, unsigned index)
{
	const struct scans *scans = arg;
	struct scan *s = &scans->list[index];
	const struct code *code = s->code;
	size_t end = code->nr_funcs * (index + 1) / scans->nr;

	for (size_t i = code->nr_funcs * index / scans->nr; i < end; i++) {
		if (index == 0)
			code_tick(code, i);
		scan_func(s, i);
	}
	for (size_t i = index; i < code->nr_sections; i += scans->nr) {
		if (code->sections[i].is_code)
			scan_rest(s, &code->sections[i]);
		scan_words(s, &code->sections[i]);
	}
	if (index == 0)
		scan_relocations(s);
}

static bool join_bases(struct scan *to, const struct scan *from)
{
	for (size_t i = 0; i < from->nr_bases; i++) {
		if (add_base(from->bases[i], to) < 0)
			return false;
	}
	return true;
}

static int compare_note(const void *a, const void *b)
{
	const struct lead_note *x = a;
	const struct lead_note *y = b;

	if (x->addr != y->addr)
		return x->addr < y->addr ? -1 : 1;
	if (x->func != y->func)
		return x->func < y->func ? -1 : 1;
	return (int)x->lead - (int)y->lead;
}

static void sort_notes(struct leads *leads)
{
	size_t kept = 0;

	if (leads->nr)
		qsort(leads->list, leads->nr, sizeof(*leads->list), compare_note);
	for (size_t i = 0; i < leads->nr; i++) {
		if (!kept || compare_note(&leads->list[kept - 1], &leads->list[i]) != 0)
			leads->list[kept++] = leads->list[i];
	}
	leads->nr = kept;
}

static int join_notes(const struct scans *scans, struct leads *out)
{
	size_t nr = 0;

	for (unsigned i = 0; i < scans->nr; i++)
		nr += scans->list[i].nr;
	out->list = malloc((nr + 1) * sizeof(*out->list));
	if (!out->list)
		return -ENOMEM;
	for (unsigned i = 0; i < scans->nr; i++) {
		struct scan *s = &scans->list[i];

		if (s->nr)
			memcpy(out->list + out->nr, s->notes, s->nr * sizeof(*s->notes));
		out->nr += s->nr;
		free(s->notes);
		s->notes = NULL;
	}
	sort_notes(out);
	return 0;
}

void leads_deinit(struct leads *leads)
{
	free(leads->list);
	*leads = (struct leads){ 0 };
}

/*
 * Search the whole file for references to the places in @scans. A table of distances ends at the
 * latest where the next table begins. So scan_tables() runs last, when the beginnings of all tables
 * are known.
 */
static int scan_all(const struct scans *scans, struct leads *out)
{
	bool is_good = true;

	code_run(scans->list[0].code, scans->nr, scan_share, (void *)scans);
	for (unsigned i = 1; is_good && i < scans->nr; i++)
		is_good = join_bases(&scans->list[0], &scans->list[i]);
	if (is_good)
		scan_tables(&scans->list[0]);
	for (unsigned i = 0; i < scans->nr; i++)
		is_good &= !scans->list[i].is_out_of_memory;
	return is_good ? join_notes(scans, out) : -ENOMEM;
}

int leads_find(const struct code *code, struct insns *insns, const struct lead_place *places,
	       size_t nr, struct leads *out)
{
	struct scans scans = { .nr = code_threads(code, code->nr_funcs) };
	int ret;

	if (!nr)
		return 0;
	scans.list = calloc(scans.nr, sizeof(*scans.list));
	if (!scans.list)
		return -ENOMEM;
	for (unsigned i = 0; i < scans.nr; i++)
		scans.list[i] = (struct scan){ .code = code,
					       .insns = insns,
					       .places = places,
					       .nr_places = nr,
					       .func = UINT32_MAX };
	ret = scan_all(&scans, out);
	for (unsigned i = 0; i < scans.nr; i++)
		scan_deinit(&scans.list[i]);
	free(scans.list);
	return ret;
}

/* --- the references in the whole file, applied to the windows --- */

static void apply_lead(struct search *s, const struct lead_note *n)
{
	const struct code_func *func = n->func == UINT32_MAX ? NULL : &s->code->funcs[n->func];

	if (n->lead == LEAD_UNKNOWN) {
		refuse_sites(s, func->start, func->end, SITE_LANDINGS,
			     "where exceptions are caught is not known");
		return;
	}
	s->lead = n->lead;
	s->from = func ? func->start : 0;
	s->until = func ? func->end : 0;
	note_target(n->addr, s);
}

/*
 * Apply the notes in @leads to the windows. A note with LEAD_UNKNOWN is about a whole function, and
 * contains the address of the function's start. This address may be far before the first window.
 * So the loop begins at or before the start of the function that contains the first site.
 */
static void apply_all(struct search *s, const struct leads *leads)
{
	const struct code_func *first = code_func_at(s->code, s->windows[0].site);
	uint64_t low = s->windows[0].site - MIN(s->windows[0].site, (uint64_t)WINDOW_BEFORE);
	uint64_t high = s->windows[s->nr - 1].site + WINDOW_BEHIND;

	if (first)
		low = MIN(low, first->start);
	for (size_t i = order_count_below(leads->list, leads->nr, sizeof(*leads->list), low);
	     i < leads->nr && leads->list[i].addr < high; i++)
		apply_lead(s, &leads->list[i]);
}

/*
 * Returns the index of the first function from which a short jump may reach the bytes around @site
 * (struct window).
 */
static size_t first_near(const struct search *s, uint64_t site)
{
	size_t nr = order_count_until(s->code->funcs, s->code->nr_funcs, sizeof(*s->code->funcs),
				      site - MIN(site, s->near));

	return nr ? nr - 1 : 0;
}

void windows_fill(const struct code *code, struct insns *insns, const struct leads *leads,
		  struct window *windows, size_t nr)
{
	struct search s = {
		.code = code,
		.insns = insns,
		.windows = windows,
		.nr = nr,
		.near = insns_near_reach(insns) + WINDOW_BEFORE + WINDOW_BEHIND,
	};

	if (!nr)
		return;
	s.next_func = first_near(&s, windows[0].site);
	look_at_functions(&s);
	apply_all(&s, leads);
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
	struct lead_place *places cleanup_free = calloc(nr + 1, sizeof(*places));
	struct leads leads cleanup_leads = { 0 };
	int ret;

	if (!places)
		return -ENOMEM;
	for (size_t i = 0; i < nr; i++)
		places[i] = (struct lead_place){ windows[i].site, windows[i].entry };
	ret = leads_find(code, insns, places, nr, &leads);
	if (ret == 0)
		windows_fill(code, insns, &leads, windows, nr);
	return ret;
}
