/* Finds functions and their patches in unprepared programs (see unprepared.h). */
#include "cmds/record/plan/unprepared.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "arch/arch.h"
#include "arch/isa.h"
#include "cmds/record/plan/found_patch.h"
#include "utils/base/path.h"
#include "utils/object/code/own_frames.h"
#include "utils/object/runtimes.h"

/* True for the loader and for the probe itself. Their code must not call the probe. */
static bool is_loader(const char *path)
{
	static const char *const names[] = { "ld-linux", "ld-musl", "ld-2.", "libmcount.so" };
	const char *base = path_base(path);

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		if (strncmp(base, names[i], strlen(names[i])) == 0)
			return true;
	}
	return false;
}

/*
 * Functions of the C library that the probe calls. Each name in the list also stands for its
 * variants ("__memcpy_avx_unaligned"). tests/rules/probe.py checks the list.
 */
static const char *const probe_needs[] = {
	"__cxa_finalize",
	"__errno_location",
	"__register_atfork",
	"clock_gettime",
	"dl_iterate_phdr",
	"_dl_find_object",
	"dlsym",
	"fstat",
	"getauxval",
	"getenv",
	"geteuid",
	"getpid",
	"getppid",
	"getrlimit",
	"getsockopt",
	"getuid",
	"gnu_get_libc_version",
	"memcmp",
	"memcpy",
	"memmove",
	"memset",
	"mmap",
	"mprotect",
	"munmap",
	"pthread_key_create",
	"pthread_key_delete",
	"pthread_mutex_init",
	"pthread_mutex_lock",
	"pthread_mutex_trylock",
	"pthread_mutex_unlock",
	"pthread_self",
	"pthread_setspecific",
	"readlink",
	"realpath",
	"sched_yield",
	"setsockopt",
	"sigaddset",
	"sigdelset",
	"sigemptyset",
	"sigismember",
	"snprintf",
	"stpcpy",
	"strcmp",
	"strcpy",
	"strcspn",
	"strlen",
	"strncmp",
	"strnlen",
	"strrchr",
	"strstr",
	"sysconf",
	"syscall",
};

static bool is_libc(const char *path)
{
	const char *base = path_base(path);

	return strncmp(base, "libc.so", strlen("libc.so")) == 0 ||
	       strncmp(base, "libc-", strlen("libc-")) == 0 ||
	       strncmp(base, "libc.musl", strlen("libc.musl")) == 0;
}

static bool is_needed(const char *name)
{
	const char *bare = name + (strncmp(name, "__GI_", 5) == 0 ? 5 : 0);

	bare += strspn(bare, "_");

	for (size_t i = 0; i < ARRAY_SIZE(probe_needs); i++) {
		const char *needed = probe_needs[i] + strspn(probe_needs[i], "_");
		size_t len = strlen(needed);

		if (strncmp(bare, needed, len) == 0 &&
		    (bare[len] == '\0' || (bare != name && bare[len] == '_')))
			return true;
	}
	return false;
}

static void leave_to_probe(struct functions *functions)
{
	for (size_t i = 0; i < functions->nr; i++) {
		struct function *f = &functions->list[i];

		if (f->kind == FUNCTION_WHOLE && f->name && is_needed(f->name))
			f->kind = FUNCTION_NEEDED;
	}
}

/*
 * The runtime of a language may copy or move the code of a function. Marks such functions as
 * FUNCTION_COPIED. Marked functions are not patched.
 */
static int leave_to_run_time(const struct code *code, struct functions *functions)
{
	struct strbuf pieces cleanup_strbuf = { 0 };
	int ret = object_own_frames(code->file, code, &pieces);
	const struct own_frames *piece = (const struct own_frames *)pieces.data;
	const struct own_frames *end = piece + pieces.len / sizeof(*piece);

	for (; ret == 0 && piece < end; piece++) {
		for (size_t i = 0; piece->is_copied && i < functions->nr; i++) {
			struct function *f = &functions->list[i];

			if (f->start >= piece->start && f->start < piece->end)
				f->kind = FUNCTION_COPIED;
		}
	}
	return ret;
}

static const char *reason_of_file(const struct elf_file *file, const char *path)
{
	if (file->head.e_machine != arch_elf_machine ||
	    file->head.e_ident[EI_CLASS] != arch_elf_class)
		return "it is code of another machine";
	if (is_loader(path))
		return "it is needed before anything can be recorded";
	return object_foreign_runtime(file);
}

int unprepared_open(struct unprepared *out, const struct elf_file *file, const char *path,
		    const struct symtab *names, struct uft_err *err)
{
	int ret;

	out->why_not = reason_of_file(file, path);
	if (out->why_not)
		return 0;
	ret = insns_open(&out->insns, isa_of(arch_elf_machine, 0), err);
	if (ret < 0)
		return ret;
	ret = code_load(file, &out->code);
	if (ret == 0)
		ret = functions_find(&out->code, out->insns, names, &out->functions);
	code_forget_starts(&out->code);
	if (ret == 0)
		ret = leave_to_run_time(&out->code, &out->functions);
	if (ret == 0 && is_libc(path))
		leave_to_probe(&out->functions);
	return ret < 0 ? err_set_errno(err, ret, "cannot look for the functions of '%s'", path) : 0;
}

void unprepared_close(struct unprepared *unprepared)
{
	functions_deinit(&unprepared->functions);
	code_deinit(&unprepared->code);
	insns_close(unprepared->insns);
	*unprepared = (struct unprepared){ 0 };
}

static unsigned way_of(const struct function *function, const struct code_site *site)
{
	if (function->kind != FUNCTION_WHOLE)
		return UNPREPARED_CANNOT + function->kind;
	if (site->refusal)
		return UNPREPARED_CANNOT + FUNCTION_KINDS + site->refusal;
	if (site->island)
		return UNPREPARED_ISLAND;
	return site->is_loop ? UNPREPARED_LOOP : UNPREPARED_JUMP;
}

const char *unprepared_way_text(unsigned way)
{
	switch (way) {
	case UNPREPARED_JUMP:
		return "a jump";
	case UNPREPARED_LOOP:
		return "a jump, and a loop that is moved";
	case UNPREPARED_ISLAND:
		return "a short jump to a long one";
	default:
		return way < UNPREPARED_CANNOT + FUNCTION_KINDS
			       ? function_kind_text(way - UNPREPARED_CANNOT)
			       : site_refusal_text(way - UNPREPARED_CANNOT - FUNCTION_KINDS);
	}
}

/* Returns the site at the start of @function, or after an endbr64 at the start. */
static struct code_site entry_of(const struct unprepared *u, const struct function *function)
{
	struct code_site site = { .addr = function->start, .entry = function->start };
	const uint8_t *at = code_bytes(&u->code, function->start, 1);
	uint64_t left = function->end - function->start;
	struct insn_step step;

	if (at && code_bytes(&u->code, function->start, left) &&
	    insns_is_landing_pad(u->insns, at, left) &&
	    insns_step(u->insns, at, left, function->start, &step) && step.len < left)
		site.addr += step.len;
	return site;
}

static struct lead_place place_of(const struct unprepared *u, const struct function *function)
{
	struct code_site site = entry_of(u, function);

	return (struct lead_place){ site.addr, site.entry };
}

static void add_function(struct strbuf *found, const struct function *function,
			 const struct code_site *site)
{
	struct plan_patch patch = { .what = PATCH_ENTRY, .addr = site->addr + PLAN_PATCH_JUMP };

	/*
	 * In records, patch.addr stands for the function. Usually patch.addr is the address at
	 * which a call instruction at site->addr would end: the return address of such a call. If
	 * this address is not inside of the function, patch.addr is the start of the function.
	 */
	if (patch.addr >= function->end)
		patch.addr = function->start;
	found_patch_add_site(found, site, patch, function->start);
}

static void fill_verdict(struct unprepared_verdict *verdict, const struct function *function,
			 const struct code_site *site)
{
	verdict->way = way_of(function, site);
	if (verdict->way < UNPREPARED_CANNOT)
		verdict->why_not[0] = '\0';
	else
		snprintf(verdict->why_not, sizeof(verdict->why_not), "%s",
			 site && site->refusal ? site->why_not : unprepared_way_text(verdict->way));
}

uint64_t unprepared_main(const struct unprepared *u)
{
	uint64_t entry = u->code.file->head.e_entry;
	const struct code_section *sec = entry ? code_section_at(&u->code, entry) : NULL;
	uint64_t address = 0;

	if (!sec || !insns_main(u->insns, sec->bytes + (entry - sec->start), sec->end - entry,
				entry, &address))
		return 0;
	return address;
}

typedef void (*visit_fn)(const struct function *function, const struct unprepared_verdict *verdict,
			 const struct strbuf *found, void *arg);

/* One thread of the search. The thread searches @nr functions, beginning with index @first. */
struct finder {
	struct code code;
	struct insns *insns;
	struct code_site *sites;
	size_t first;
	size_t nr;
	int ret;
};

/*
 * The search for sites at the entries of all functions. Each thread searches a range of functions.
 * The results are taken in the order of functions, so the number of threads does not matter.
 *
 * @places: for each function that can have a jump, the addresses of its site and of its entry
 * @refused: the indexes of the functions that find_islands() examines again
 */
struct finding_all {
	const struct unprepared *unprepared;
	size_t nr;
	struct lead_place *places;
	struct leads leads;
	struct finder *finders;
	unsigned nr_finders;
	struct strbuf refused;
	struct strbuf found;
	visit_fn fn;
	void *arg;
};

static void finding_all_deinit(struct finding_all *all)
{
	for (unsigned i = 0; i < all->nr_finders; i++) {
		insns_close(all->finders[i].insns);
		free(all->finders[i].sites);
	}
	free(all->finders);
	free(all->places);
	leads_deinit(&all->leads);
	strbuf_deinit(&all->refused);
	strbuf_deinit(&all->found);
}

static const struct function *function_at(const struct finding_all *all, size_t index)
{
	return &all->unprepared->functions.list[index];
}

static int find_leads(struct finding_all *all)
{
	const struct unprepared *u = all->unprepared;
	size_t nr = 0;
	int ret;

	all->places = malloc((all->nr + 1) * sizeof(*all->places));
	if (!all->places)
		return -ENOMEM;
	for (size_t i = 0; i < all->nr; i++) {
		const struct function *function = function_at(all, i);

		if (function->kind == FUNCTION_WHOLE)
			all->places[nr++] = place_of(u, function);
	}
	ret = leads_find(&u->code, u->insns, all->places, nr, &all->leads);
	free(all->places);
	all->places = NULL;
	return ret;
}

/* Prepares the threads, each with its own disassembler. Only the first thread calls code.tick. */
static int open_finders(struct finding_all *all, struct uft_err *err)
{
	const struct unprepared *u = all->unprepared;
	unsigned nr = code_threads(&u->code, all->nr);
	size_t nr_sites = MIN(code_piece(&u->code), all->nr) + 1;
	int ret = 0;

	all->finders = calloc(nr, sizeof(*all->finders));
	if (!all->finders)
		return -ENOMEM;
	for (; ret == 0 && all->nr_finders < nr; all->nr_finders++) {
		struct finder *finder = &all->finders[all->nr_finders];

		finder->code = u->code;
		if (all->nr_finders)
			finder->code.tick = NULL;
		finder->sites = calloc(nr_sites, sizeof(*finder->sites));
		ret = finder->sites ? insns_open_same(&finder->insns, u->insns, err) : -ENOMEM;
	}
	return ret;
}

static void find_piece(void *arg, unsigned index)
{
	struct finding_all *all = arg;
	struct finder *finder = &all->finders[index];
	size_t nr = 0;

	size_t end = finder->first + finder->nr;
	bool is_over = false;

	/*
	 * Examine the functions of the range, and the next function after the range. If this next
	 * function begins too soon after the last function of the range, the last function has no
	 * room for a jump.
	 */
	for (size_t i = finder->first; i < all->nr && !is_over; i++) {
		const struct function *function = function_at(all, i);

		if (function->kind != FUNCTION_WHOLE)
			continue;
		finder->sites[nr++] = entry_of(all->unprepared, function);
		is_over = i >= end;
	}
	finder->ret = sites_prepare_near(&finder->code, finder->insns, &all->leads, finder->sites,
					 nr);
}

static void visit_function(struct finding_all *all, const struct function *function,
			   const struct code_site *site)
{
	struct unprepared_verdict verdict;

	strbuf_reset(&all->found);
	if (site && !site->refusal)
		add_function(&all->found, function, site);
	fill_verdict(&verdict, function, site);
	all->fn(function, &verdict, &all->found, all->arg);
}

static void visit_piece(struct finding_all *all, const struct finder *finder)
{
	size_t next = 0;

	for (size_t i = finder->first; i < finder->first + finder->nr; i++) {
		const struct function *function = function_at(all, i);
		const struct code_site *site = NULL;

		if (function->kind == FUNCTION_WHOLE)
			site = &finder->sites[next++];
		if (site && site->refusal)
			strbuf_add(&all->refused, &i, sizeof(i));
		visit_function(all, function, site);
	}
}

static int find_pieces(struct finding_all *all)
{
	size_t piece = code_piece(&all->unprepared->code);
	size_t done = 0;
	int ret = 0;

	while (ret == 0 && done < all->nr) {
		unsigned nr = 0;

		for (; nr < all->nr_finders && done < all->nr; nr++) {
			all->finders[nr].first = done;
			all->finders[nr].nr = MIN(piece, all->nr - done);
			done += all->finders[nr].nr;
		}
		code_run(&all->unprepared->code, nr, find_piece, all);
		for (unsigned i = 0; ret == 0 && i < nr; i++) {
			ret = all->finders[i].ret;
			if (ret == 0)
				visit_piece(all, &all->finders[i]);
		}
	}
	return ret;
}

/*
 * Adds the refused function @index and its neighbours to @around. Neighbours begin less than
 * SITES_APART bytes before or after the refused function. The refused function needs an island
 * (islands.h). The jump of a neighbour could overlap this island, or the neighbour could need this
 * island, too. Returns the index of the first function after the neighbours.
 */
static size_t add_around(const struct finding_all *all, size_t index, size_t next, uint32_t *around,
			 size_t *nr)
{
	uint64_t at = function_at(all, index)->start;
	size_t i = index;

	while (i > next && at - function_at(all, i - 1)->start < SITES_APART)
		i--;
	for (; i < all->nr && (i <= index || function_at(all, i)->start - at < SITES_APART); i++) {
		if (i >= next && function_at(all, i)->kind == FUNCTION_WHOLE)
			around[(*nr)++] = i;
	}
	return i;
}

/*
 * Examines the refused functions again, together with their neighbours. A function that gets an
 * island is passed to all->fn again.
 */
static int find_islands(struct finding_all *all)
{
	const struct unprepared *u = all->unprepared;
	const size_t *refused = (const size_t *)all->refused.data;
	size_t nr_refused = all->refused.len / sizeof(*refused);
	uint32_t *around cleanup_free = malloc((all->nr + 1) * sizeof(*around));
	struct code_site *sites cleanup_free = NULL;
	size_t next = 0;
	size_t nr = 0;
	int ret;

	if (!around || strbuf_oom(&all->refused))
		return -ENOMEM;
	for (size_t i = 0; i < nr_refused; i++)
		next = MAX(next, add_around(all, refused[i], next, around, &nr));
	sites = calloc(nr + 1, sizeof(*sites));
	if (!sites)
		return -ENOMEM;
	for (size_t i = 0; i < nr; i++)
		sites[i] = entry_of(u, function_at(all, around[i]));
	ret = sites_prepare_with(&u->code, u->insns, &all->leads, sites, nr);
	for (size_t i = 0; ret == 0 && i < nr; i++) {
		if (sites[i].island)
			visit_function(all, function_at(all, around[i]), &sites[i]);
	}
	return ret;
}

int unprepared_find_all(const struct unprepared *unprepared, visit_fn fn, void *arg,
			struct uft_err *err)
{
	struct finding_all all cleanup(finding_all_deinit) = {
		.unprepared = unprepared,
		.nr = unprepared->functions.nr,
		.fn = fn,
		.arg = arg,
	};
	int ret = all.nr > UINT32_MAX ? -ENOMEM : 0;

	if (ret == 0 && all.nr)
		ret = find_leads(&all);
	if (ret == 0 && all.nr)
		ret = open_finders(&all, err);
	if (ret == 0)
		ret = find_pieces(&all);
	if (ret == 0 && all.refused.len)
		ret = find_islands(&all);
	return ret < 0 || strbuf_oom(&all.found) || strbuf_oom(&all.refused)
		       ? err_set_errno(err, -ENOMEM, "cannot look for places to patch")
		       : 0;
}
