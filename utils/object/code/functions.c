/* Functions of a file (see functions.h). */
#include "utils/object/code/functions.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "utils/base/containers/order.h"
#include "utils/base/containers/vec.h"

/* The ways in which other code reaches the start of a function. */
enum reached {
	REACHED_CALL = 1 << 0,
	REACHED_JUMP = 1 << 1,
	REACHED_BRANCH = 1 << 2,  /* by a conditional jump, which is hardly ever a call */
	REACHED_ADDRESS = 1 << 3, /* the address of the function is taken */
	FALLEN_INTO = 1 << 4,	  /* execution runs on from the end of the previous function */
};

/*
 * @how: for each function of @code, a mask of values of enum reached
 * @func: the function whose code is read; NULL: the code is outside of functions
 * @last: the last instruction of @func that is no padding
 * @end: end of the searched code
 * @gaps: addresses that are called but are outside of functions
 */
struct survey {
	const struct code *code;
	uint8_t *how;
	const struct code_func *func;
	struct insn_step last;
	uint64_t end;
	uint64_t *gaps;
	size_t nr_gaps;
	size_t cap;
	bool out_of_memory;
};

void functions_deinit(struct functions *functions)
{
	free(functions->list);
	*functions = (struct functions){ 0 };
}

const char *function_kind_text(enum function_kind kind)
{
	static const char *const texts[FUNCTION_KINDS] = {
		[FUNCTION_SHARED] = "it shares code with another function",
		[FUNCTION_RESOLVER] = "the loader calls it to choose a function",
		[FUNCTION_SPECIAL] = "it does not return like others",
		[FUNCTION_COPIED] = "the program's run time copies it, and finds its frames by "
				    "return addresses",
		[FUNCTION_NEEDED] = "the probe calls it itself",
	};

	return texts[kind];
}

/*
 * Returns the index of the last function that begins at or before @addr, or SIZE_MAX when there is
 * none.
 */
static size_t index_of(const struct code *code, uint64_t addr)
{
	return order_count_until(code->funcs, code->nr_funcs, sizeof(*code->funcs), addr) - 1;
}

static void keep_gap(struct survey *s, uint64_t addr)
{
	uint64_t *gaps = vec_room(s->gaps, s->nr_gaps, &s->cap, sizeof(*gaps));
	if (!gaps) {
		s->out_of_memory = true;
		return;
	}
	s->gaps = gaps;
	gaps[s->nr_gaps++] = addr;
}

static void note_gap(struct survey *s, uint64_t addr)
{
	const struct code_section *sec = code_section_at(s->code, addr);

	if (sec && sec->is_code && !sec->is_glue)
		keep_gap(s, addr);
}

static void reach_address(struct survey *s, uint64_t addr, enum reached how)
{
	size_t i = index_of(s->code, addr);
	const struct code_func *func = i == SIZE_MAX ? NULL : &s->code->funcs[i];

	if (func && func->start == addr)
		s->how[i] |= how;
	else if (how == REACHED_CALL && (!func || func->is_guessed || addr >= func->end))
		note_gap(s, addr);
}

static void note_step(const struct insn_step *step, void *arg)
{
	static const uint8_t hows[] = {
		[INSN_CALL] = REACHED_CALL,
		[INSN_JUMP] = REACHED_JUMP,
		[INSN_BRANCH] = REACHED_BRANCH,
		[INSN_END] = 0,
	};
	struct survey *s = arg;

	s->end = step->addr + step->len;
	if (!step->is_padding)
		s->last = *step;
	if (!step->has_name || (s->func && !s->func->is_guessed && step->names > s->func->start &&
				step->names < s->func->end))
		return;
	if (step->flow == INSN_CALL || step->flow == INSN_JUMP || step->flow == INSN_BRANCH)
		reach_address(s, step->names, hows[step->flow]);
	else if (step->is_address)
		reach_address(s, step->names, REACHED_ADDRESS);
}

/*
 * True when execution may continue after the instruction @s->last with the next instruction. False
 * when @s->last is a call, because the called function may never return.
 */
static bool goes_on(const struct survey *s)
{
	return s->last.flow == INSN_PLAIN || s->last.flow == INSN_BRANCH;
}

static void look_through(struct survey *s, struct insns *insns, size_t index)
{
	const struct code_func *func = &s->code->funcs[index];
	const struct code_func *next = func + 1 < s->code->funcs + s->code->nr_funcs ? func + 1
										     : NULL;
	struct insn_text text = { code_bytes(s->code, func->start, func->end - func->start),
				  func->start, func->end };

	s->func = func;
	s->last = (struct insn_step){ 0 };
	if (!text.bytes || insns_look_through(insns, &text, note_step, s, NULL) < 0)
		return;
	if (next && next->start == s->end && goes_on(s))
		s->how[index + 1] |= FALLEN_INTO;
}

/* Search the code between functions for calls. Start files have some code between functions. */
static void look_between(struct survey *s, struct insns *insns, uint64_t start, uint64_t end)
{
	struct insn_text text = { NULL, start, end };

	if (start >= end)
		return;
	text.bytes = code_bytes(s->code, start, end - start);
	s->func = NULL;
	if (text.bytes)
		insns_look_through(insns, &text, note_step, s, NULL);
}

static void look_at_words(struct survey *s, const struct code_section *data)
{
	for (uint64_t at = -data->start & 7; at + 8 <= data->end - data->start; at += 8) {
		uint64_t value;

		memcpy(&value, data->bytes + at, sizeof(value));
		reach_address(s, value, REACHED_ADDRESS);
	}
}

static void look_at_relocations(struct survey *s)
{
	struct elf_section sec;

	if (!elf_section_by_name(s->code->file, ".rela.dyn", &sec) || !sec.data)
		return;
	for (size_t i = 0; i < sec.data->d_size / sizeof(Elf64_Rela); i++) {
		GElf_Rela reloc;

		if (i <= INT32_MAX && gelf_getrela(sec.data, i, &reloc))
			reach_address(s, reloc.r_addend, REACHED_ADDRESS);
	}
}

/*
 * The work of all threads. Each of the @nr threads surveys an equal share of the functions. Thread
 * i also searches the sections i, i + @nr, i + 2 * @nr and so on for addresses of functions.
 *
 * @list: the results of each thread
 */
struct surveys {
	struct survey *list;
	unsigned nr;
	struct insns *insns;
};

static void survey_share(void *arg, unsigned index)
{
	const struct surveys *all = arg;
	struct survey *s = &all->list[index];
	const struct code *code = s->code;
	size_t first = code->nr_funcs * index / all->nr;
	size_t behind = code->nr_funcs * (index + 1) / all->nr;

	for (size_t i = first; i < behind; i++) {
		const struct code_section *sec = code_section_at(code, code->funcs[i].start);
		uint64_t end = i ? code->funcs[i - 1].end : 0;

		if (index == 0)
			code_tick(code, i);
		look_between(s, all->insns, MAX(end, sec->start), code->funcs[i].start);
		look_through(s, all->insns, i);
	}
	for (size_t i = index; i < code->nr_sections; i += all->nr)
		look_at_words(s, &code->sections[i]);
	if (index == 0)
		look_at_relocations(s);
}

static void survey_join(struct survey *s, const struct survey *other)
{
	for (size_t i = 0; i < s->code->nr_funcs; i++)
		s->how[i] |= other->how[i];
	for (size_t i = 0; i < other->nr_gaps; i++)
		keep_gap(s, other->gaps[i]);
	s->out_of_memory |= other->out_of_memory;
}

static void survey_deinit(struct survey *s)
{
	free(s->how);
	free(s->gaps);
}

static int survey_functions(struct survey *s, struct insns *insns)
{
	const struct code *code = s->code;
	struct surveys all = { .nr = code_threads(code, code->nr_funcs), .insns = insns };
	bool is_good = true;

	all.list = calloc(all.nr, sizeof(*all.list));
	if (!all.list)
		return -ENOMEM;
	for (unsigned i = 0; i < all.nr; i++) {
		all.list[i].code = code;
		all.list[i].how = calloc(code->nr_funcs + 1, sizeof(*s->how));
		is_good &= all.list[i].how != NULL;
	}
	if (is_good)
		code_run(code, all.nr, survey_share, &all);
	for (unsigned i = 1; is_good && i < all.nr; i++)
		survey_join(&all.list[0], &all.list[i]);
	for (unsigned i = 1; i < all.nr; i++)
		survey_deinit(&all.list[i]);
	*s = all.list[0];
	free(all.list);
	return is_good && !s->out_of_memory ? 0 : -ENOMEM;
}

/*
 * Survey the added functions: those of @code that do not begin at one of the @nr addresses @starts.
 * The function before an added function may continue into the added function. So this earlier
 * function is surveyed again.
 */
static int survey_added(struct survey *s, struct insns *insns, const uint64_t *starts, size_t nr)
{
	const struct code *code = s->code;
	uint8_t *before = s->how;
	size_t old = 0;

	s->how = calloc(code->nr_funcs + 1, sizeof(*s->how));
	if (!s->how) {
		s->how = before;
		return -ENOMEM;
	}
	s->nr_gaps = 0;
	for (size_t i = 0; i < code->nr_funcs; i++) {
		while (old < nr && starts[old] < code->funcs[i].start)
			old++;
		if (old < nr && starts[old] == code->funcs[i].start)
			s->how[i] |= before[old];
		else
			s->how[i] |= REACHED_CALL;
	}
	free(before);
	old = 0;
	for (size_t i = 0; i < code->nr_funcs; i++) {
		while (old < nr && starts[old] < code->funcs[i].start)
			old++;
		if (old < nr && starts[old] == code->funcs[i].start)
			continue;
		code_tick(code, i);
		if (i)
			look_through(s, insns, i - 1);
		look_through(s, insns, i);
	}
	return s->out_of_memory ? -ENOMEM : 0;
}

/*
 * Add functions of unknown extent that are called or have a symbol. Returns 1 when it has added a
 * function, 0 when it has added none, or -ENOMEM.
 */
static int add_unknown(struct survey *s, struct code *code)
{
	struct code_func *funcs;
	size_t nr = 0;
	int ret;

	for (size_t i = 0; i < code->nr_starts; i++) {
		const struct code_func *func = code_func_at(code, code->starts[i].addr);

		if (!func)
			note_gap(s, code->starts[i].addr);
	}
	if (s->out_of_memory)
		return -ENOMEM;
	if (!s->nr_gaps)
		return 0;
	funcs = calloc(s->nr_gaps, sizeof(*funcs));
	if (!funcs)
		return -ENOMEM;
	qsort(s->gaps, s->nr_gaps, sizeof(*s->gaps), order_u64);
	for (size_t i = 0; i < s->nr_gaps; i++) {
		uint64_t end = code_next_start(code, s->gaps[i]);
		size_t around = index_of(code, s->gaps[i]);

		/* If s->gaps[i] is within a guessed function, end this function at s->gaps[i]. */
		if (around != SIZE_MAX && code->funcs[around].is_guessed &&
		    code->funcs[around].start < s->gaps[i])
			code->funcs[around].end = MIN(code->funcs[around].end, s->gaps[i]);
		if (i + 1 < s->nr_gaps && s->gaps[i + 1] == s->gaps[i])
			continue;
		if (i + 1 < s->nr_gaps)
			end = MIN(end, s->gaps[i + 1]);
		funcs[nr++] =
			(struct code_func){ .start = s->gaps[i], .end = end, .is_guessed = true };
	}
	ret = code_add_funcs(code, funcs, nr);
	free(funcs);
	return ret < 0 ? ret : 1;
}

/* True for functions that linkers and compilers add to each program. */
static bool is_of_start_files(const char *name)
{
	static const char *const names[] = { "_dl_relocate_static_pie", "deregister_tm_clones",
					     "register_tm_clones", "__do_global_dtors_aux",
					     "frame_dummy" };

	return name && strchr("_drf", name[0]) &&
	       elf_name_is_one_of(name, names, ARRAY_SIZE(names));
}

/* True for "f.cold", a rarely used part of a function that gcc or clang has placed elsewhere. */
static bool is_part_name(const char *name)
{
	/* Nearly all names have no dot, and need no further search. */
	const char *at = name ? strchr(name, '.') : NULL;

	at = at ? strstr(at, ".cold") : NULL;
	return at && (at[5] == '\0' || at[5] == '.');
}

static int append_function(struct functions *out, struct function function)
{
	struct function *list = vec_grow(out->list, out->nr, sizeof(*list));

	if (!list)
		return -ENOMEM;
	out->list = list;
	list[out->nr++] = function;
	return 0;
}

static const char *name_in(const struct symtab *names, uint64_t addr)
{
	const struct symbol *sym = names ? symtab_find(names, addr) : NULL;

	return sym && sym->addr == addr && symbol_is_function(sym) && sym->type != 'P' ? sym->name
										       : NULL;
}

static int add_whole(const struct survey *s, size_t index, const struct symtab *names,
		     struct functions *out)
{
	const struct code_func *func = &s->code->funcs[index];
	struct function f = { func->start, func->end, func->name, FUNCTION_WHOLE };
	size_t nr_until = order_count_until(s->code->starts, s->code->nr_starts,
					    sizeof(*s->code->starts), f.start);

	if (code_section_at(s->code, f.start)->is_glue || f.start == s->code->file->head.e_entry)
		return 0; /* nothing calls the program's entry point */
	if (!f.name && nr_until && s->code->starts[nr_until - 1].addr == f.start)
		f.name = s->code->starts[nr_until - 1].name;
	if (!f.name)
		f.name = name_in(names, f.start - s->code->file->base);
	if (is_part_name(f.name) || is_of_start_files(f.name) || (func->is_framed && !f.name) ||
	    (!f.name && func->has_frames && s->how[index] == REACHED_BRANCH))
		return 0;
	if (func->is_framed || code_is_special(f.name))
		f.kind = FUNCTION_SPECIAL;
	else if (s->how[index] & FALLEN_INTO)
		f.kind = FUNCTION_SHARED;
	return append_function(out, f);
}

static int compare_function(const void *a, const void *b)
{
	const struct function *x = a;
	const struct function *y = b;

	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	return (int)y->kind - (int)x->kind;
}

/*
 * Sort functions. If several functions begin at the same address, keep only the function with the
 * greatest kind (enum function_kind).
 */
static void sort_functions(struct functions *functions)
{
	size_t kept = 0;

	if (functions->nr)
		qsort(functions->list, functions->nr, sizeof(*functions->list), compare_function);
	for (size_t i = 0; i < functions->nr; i++) {
		if (!kept || functions->list[kept - 1].start != functions->list[i].start)
			functions->list[kept++] = functions->list[i];
	}
	functions->nr = kept;
}

/*
 * Add functions that have symbols: resolvers (STT_GNU_IFUNC), functions that code_is_special()
 * knows, and functions that begin within other functions.
 */
static int add_starts(const struct survey *s, struct functions *out)
{
	const struct code *code = s->code;
	int ret = 0;

	for (size_t i = 0; ret == 0 && i < code->nr_starts; i++) {
		const struct code_start *start = &code->starts[i];
		const struct code_func *func = code_func_at(code, start->addr);
		struct function f = { start->addr, func ? func->end : 0, start->name,
				      FUNCTION_SHARED };

		if (!func || start->addr == code->file->head.e_entry || is_part_name(start->name) ||
		    is_of_start_files(start->name) || code_section_at(code, start->addr)->is_glue)
			continue;
		if (start->is_resolver)
			f.kind = FUNCTION_RESOLVER;
		else if (start->is_special)
			f.kind = FUNCTION_SPECIAL;
		else if (func->start == start->addr)
			continue;
		ret = append_function(out, f);
	}
	return ret;
}

/* Add the functions of @names that @code lacks. @names may be the symbols of a debug file. */
static int add_named(struct code *code, const struct symtab *names)
{
	struct code_func *funcs = names ? calloc(names->nr + 1, sizeof(*funcs)) : NULL;
	size_t around = 0;
	size_t nr = 0;
	int ret;

	if (!names)
		return 0;
	if (!funcs)
		return -ENOMEM;
	for (size_t i = 0; i < names->nr; i++) {
		const struct symbol *sym = &names->syms[i];
		uint64_t start = code->file->base + sym->addr;

		if (!symbol_is_function(sym) || sym->type == 'P' ||
		    sym->size > UINT64_MAX - start || code_func_from(code, start, &around))
			continue;
		funcs[nr++] = (struct code_func){ .start = start,
						  .end = start + sym->size,
						  .name = sym->name };
	}
	ret = code_add_funcs(code, funcs, nr);
	free(funcs);
	return ret;
}

static uint64_t *copy_starts(const struct code *code)
{
	uint64_t *starts = malloc((code->nr_funcs + 1) * sizeof(*starts));

	for (size_t i = 0; starts && i < code->nr_funcs; i++)
		starts[i] = code->funcs[i].start;
	return starts;
}

#define ROUNDS_MAX 8 /* new functions call further functions, which the next round finds */

int functions_find(struct code *code, struct insns *insns, const struct symtab *names,
		   struct functions *out)
{
	struct survey s = { .code = code };
	int ret = add_named(code, names);
	int more = 1;

	if (ret == 0)
		ret = survey_functions(&s, insns);
	for (unsigned i = 0; ret == 0 && more > 0 && i < ROUNDS_MAX; i++) {
		size_t nr = code->nr_funcs;
		uint64_t *starts = copy_starts(code);

		more = starts ? add_unknown(&s, code) : -ENOMEM;
		ret = MIN(more, 0);
		if (ret == 0 && more > 0)
			ret = survey_added(&s, insns, starts, nr);
		free(starts);
	}
	for (size_t i = 0; ret == 0 && i < code->nr_funcs; i++)
		ret = add_whole(&s, i, names, out);
	if (ret == 0)
		ret = add_starts(&s, out);
	if (ret == 0)
		sort_functions(out);
	survey_deinit(&s);
	return ret;
}
