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
 * @next_func: functions before it have been looked through
 */
struct search {
	const struct code *code;
	struct insns *insns;
	struct window *windows;
	size_t nr;
	uint64_t near;	  /* so far away a short jump to a window may be */
	const char *what; /* is being looked at */
	size_t next_func;
	struct bases bases;
};

/* The first window of a site at @addr or behind. */
static size_t first_from(const struct search *s, uint64_t addr)
{
	_Static_assert(offsetof(struct window, site) == 0, "ordered by order_u64()");
	return order_count_below(s->windows, s->nr, sizeof(*s->windows), addr);
}

/* @addr is led to. */
static void note(uint64_t addr, void *arg)
{
	struct search *s = arg;

	if (addr < WINDOW_BYTES || addr + WINDOW_BEFORE < s->windows[0].site ||
	    addr >= s->windows[s->nr - 1].site + WINDOW_BYTES)
		return;
	/* Windows overlap where probes stand close together. */
	for (size_t i = first_from(s, addr - WINDOW_BYTES + 1);
	     i < s->nr && s->windows[i].site <= addr + WINDOW_BEFORE; i++) {
		struct window *w = &s->windows[i];
		const char **led_to = &w->led_to[addr + WINDOW_BEFORE - w->site];

		if (!*led_to)
			*led_to = s->what;
	}
}

/* All sites in [@start, @end). */
static void refuse(struct search *s, uint64_t start, uint64_t end, const char *why)
{
	for (size_t i = first_from(s, start); i < s->nr && s->windows[i].site < end; i++) {
		if (!s->windows[i].why_not)
			s->windows[i].why_not = why;
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

static void look_through(struct search *s, const struct code_func *func)
{
	struct insn_text text = { code_bytes(s->code, func->start, func->end - func->start),
				  func->start, func->end };

	s->what = "an instruction of the function leads behind it";
	if (!text.bytes || insns_names(s->insns, &text, note, s, NULL) < 0)
		refuse(s, func->start < s->near ? 0 : func->start - s->near, func->end + s->near,
		       "part of the function is no code that is known");
}

/* Between functions is padding, and code of which nobody says what it is: the start files'. */
static void look_between(struct search *s, uint64_t start, uint64_t end)
{
	struct insn_text text = { NULL, start, end };

	if (start < end)
		text.bytes = code_bytes(s->code, start, end - start);
	s->what = "what is no function leads behind it";
	if (text.bytes && insns_names(s->insns, &text, note, s, NULL) < 0) {
		s->what = "what is no function may lead behind it";
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

		if (!sec || !sec->is_code ||
		    !(s->windows[i].is_padding || code_func_at(s->code, site))) {
			refuse(s, site, site + 1, "it lies in no function");
			continue;
		}
		look_around(s, site);
	}
}

static void look_at_landings(struct search *s)
{
	s->what = "an exception may be caught behind it";
	for (size_t i = 0; i < s->code->nr_funcs; i++) {
		const struct code_func *func = &s->code->funcs[i];

		if (!code_landings(s->code, func, note, s))
			refuse(s, func->start, func->end,
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

/* Any byte may be the first of an instruction. */
static int scan_code(struct search *s, const struct code_section *sec)
{
	struct insn_text text = { sec->bytes, sec->start, sec->end };

	s->what = "something elsewhere may lead behind it";
	return insns_far_names(s->insns, &text, note, add_base, s);
}

/* Any aligned word may be an address that is jumped to. */
static void scan_words(struct search *s, const struct code_section *sec)
{
	uint64_t len = sec->end - sec->start;

	s->what = "an address in the data leads behind it";
	for (uint64_t i = -sec->start & 7; i + sizeof(uint64_t) <= len; i += sizeof(uint64_t))
		note(word_at(sec->bytes + i), s);
}

static void scan_relocations(struct search *s)
{
	struct elf_section sec;

	s->what = "an address in the data leads behind it";
	if (!elf_section_by_name(s->code->file, ".rela.dyn", &sec) || !sec.data)
		return;
	for (size_t i = 0; i < sec.data->d_size / sizeof(Elf64_Rela); i++) {
		GElf_Rela reloc;

		if (i <= INT32_MAX && gelf_getrela(sec.data, i, &reloc))
			note(reloc.r_addend, s);
	}
}

static bool is_code(const struct code *code, uint64_t addr)
{
	for (size_t i = 0; i < code->nr_sections; i++) {
		if (code->sections[i].is_code && code->sections[i].start <= addr &&
		    addr < code->sections[i].end)
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

	s->what = "an entry of a table leads behind it";
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

			if (!is_code(s->code, target))
				break;
			note(target, s);
		}
	}
}

const char *window_check(const struct window *window, uint64_t from, unsigned bytes)
{
	uint64_t end = MAX(from + bytes, window->site + 1);

	if (window->why_not)
		return window->why_not;
	for (uint64_t addr = from + 1; addr < end; addr++) {
		const char *why = window->led_to[addr + WINDOW_BEFORE - window->site];

		if (why)
			return why;
	}
	return NULL;
}

int entrances_find(const struct code *code, struct insns *insns, struct window *windows, size_t nr)
{
	struct search s = {
		.code = code,
		.insns = insns,
		.windows = windows,
		.nr = nr,
		.near = insns_near_reach(insns) + WINDOW_BEFORE + WINDOW_BYTES,
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
