/* Functions with room for hooks (see prepared.h). */
#include "utils/object/prepared.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "utils/base/containers/order.h"
#include "utils/base/containers/vec.h"
#include "utils/object/code/hooked.h"

#define PATCHABLE_SECTION "__patchable_function_entries"
#define XRAY_SECTION	  "xray_instr_map"
#define MCOUNT_SECTION	  "__mcount_loc"

_Static_assert(offsetof(struct prepared_site, addr) == 0, "ordered by order_u64()");

void prepared_deinit(struct prepared *prepared)
{
	free(prepared->sites);
	*prepared = (struct prepared){ 0 };
}

/* A file that is searched. */
struct finder {
	const struct elf_file *file;
	const struct hook_code *set;
	struct code code;
	struct prepared *out;
};

/*
 * Returns the code at @addr, or NULL when no section has code at this address. @left gets the
 * number of bytes from @addr to the end of the section.
 */
static const uint8_t *code_at(const struct code *code, uint64_t addr, uint64_t *left)
{
	const struct code_section *sec = code_section_at(code, addr);

	if (!sec || !sec->is_code)
		return NULL;
	*left = sec->end - addr;
	return sec->bytes + (addr - sec->start);
}

static int add_site(struct finder *f, const struct prepared_site *site, const uint8_t *bytes)
{
	struct prepared_site *sites = vec_grow(f->out->sites, f->out->nr, sizeof(*sites));

	if (!sites)
		return -ENOMEM;
	f->out->sites = sites;
	sites[f->out->nr] = *site;
	memcpy(sites[f->out->nr++].original, bytes, site->bytes);
	return 0;
}

/* --- lists of addresses --- */

struct addresses {
	uint64_t *addrs;
	size_t nr;
};

static void addresses_deinit(struct addresses *list)
{
	free(list->addrs);
}
#define cleanup_addresses cleanup(addresses_deinit)

/*
 * The section at @start is a list of addresses. If the section has relocations, the bytes of the
 * section may be zeros, so take each address from the addend (r_addend) of a relocation. The
 * dynamic linker adds the load address to the addend.
 */
static void apply_relocations(const struct elf_file *file, uint64_t start, struct addresses *list)
{
	const uint64_t bytes = list->nr * sizeof(uint64_t);
	struct elf_section sec;

	if (!elf_section_by_name(file, ".rela.dyn", &sec) || !sec.data)
		return;
	for (size_t i = 0; i < sec.data->d_size / sizeof(Elf64_Rela); i++) {
		GElf_Rela reloc;

		/* If a relocation has symbol 0 (none), its addend is the unrelocated address. */
		if (i <= INT32_MAX && gelf_getrela(sec.data, i, &reloc) &&
		    GELF_R_SYM(reloc.r_info) == 0 && reloc.r_offset - start < bytes &&
		    (reloc.r_offset - start) % sizeof(uint64_t) == 0)
			list->addrs[(reloc.r_offset - start) / sizeof(uint64_t)] = reloc.r_addend;
	}
}

static int load_addresses(const struct elf_file *file, const char *name, struct addresses *out)
{
	struct elf_section sec;

	*out = (struct addresses){ 0 };
	if (!elf_section_by_name(file, name, &sec) || !sec.data)
		return 0;
	out->nr = sec.data->d_size / sizeof(uint64_t);
	out->addrs = calloc(out->nr + 1, sizeof(uint64_t));
	if (!out->addrs)
		return -ENOMEM;
	if (out->nr)
		memcpy(out->addrs, sec.data->d_buf, out->nr * sizeof(uint64_t));
	apply_relocations(file, sec.head.sh_addr, out);
	return 0;
}

/* --- nops --- */

/* Returns the total number of bytes of the consecutive nops at @at. */
static uint64_t nops_at(const struct finder *f, const uint8_t *at, uint64_t left)
{
	uint64_t len = 0;
	unsigned one;

	while ((one = f->set->nop(at + len, left - len)))
		len += one;
	return len;
}

/*
 * Add a site at @addr, in the function at @func, if the nops at @addr have room for a call.
 *
 * @is_told: the file names this place. If the nops have no room, the place is counted (nr_short,
 *         nr_unknown)
 */
static int add_nops(struct finder *f, uint64_t func, uint64_t addr, bool is_told)
{
	struct prepared_site site = { .addr = addr, .func = func, .what = PATCH_CALL };
	uint64_t left;
	const uint8_t *at = code_at(&f->code, addr, &left);
	unsigned len = 0;
	unsigned one = 0;

	while (at && len < PLAN_PATCH_JUMP && (one = f->set->nop(at + len, left - len)))
		len += one;
	if (len >= PLAN_PATCH_JUMP && len <= PLAN_PATCH_ORIGINAL) {
		site.bytes = len;
		return add_site(f, &site, at);
	}
	if (is_told && len)
		f->out->nr_short++;
	else if (is_told)
		f->out->nr_unknown++;
	return 0;
}

static unsigned pad_at(const struct finder *f, uint64_t addr)
{
	uint64_t left;
	const uint8_t *at = code_at(&f->code, addr, &left);

	return at ? f->set->landing_pad(at, left) : 0;
}

/*
 * Add a place that is listed in PATCHABLE_SECTION. If the function has nops before its start (M of
 * -fpatchable-function-entry=N,M), the listed place is the first of these nops, but the site is at
 * the start of the function.
 */
static int add_patchable(struct finder *f, uint64_t addr)
{
	uint64_t left;
	const uint8_t *at = code_at(&f->code, addr, &left);

	if (!at) {
		f->out->nr_unknown++;
		return 0;
	}

	const struct code_func *own = code_func_at(&f->code, addr);
	uint64_t nops = nops_at(f, at, left);
	uint64_t func = own ? own->start : addr;

	if (!own || (addr != own->start && addr != own->start + pad_at(f, own->start))) {
		uint64_t next = code_next_start(&f->code, addr);

		if (next <= addr + nops)
			func = addr = next;
	}
	return add_nops(f, func, addr + pad_at(f, addr), true);
}

static int find_patchable(struct finder *f)
{
	struct addresses list cleanup_addresses = { 0 };
	int ret = load_addresses(f->file, PATCHABLE_SECTION, &list);

	for (size_t i = 0; ret == 0 && i < list.nr; i++) {
		/* The address of a function that the linker has left out is 0. */
		if (list.addrs[i])
			ret = add_patchable(f, list.addrs[i]);
	}
	return ret;
}

static const char *const hook_names[] = { "mcount", "_mcount", "__fentry__", NULL };

/* True for a program that was linked for gprof (-pg) and calls no hook. */
static bool is_for_gprof(const struct elf_file *file)
{
	static const char *const names[] = { "__monstartup", NULL };

	return elf_imports(file, names) && !elf_imports(file, hook_names);
}

static int find_mcount_nops(struct finder *f)
{
	struct addresses list cleanup_addresses = { 0 };
	int ret = load_addresses(f->file, MCOUNT_SECTION, &list);

	if (ret < 0)
		return ret;
	if (!list.nr && is_for_gprof(f->file)) {
		for (size_t i = 0; ret == 0 && i < f->code.nr_funcs; i++) {
			uint64_t func = f->code.funcs[i].start;

			ret = add_nops(f, func, func + pad_at(f, func), false);
		}
	}
	/*
	 * Without -mnop-mcount, the listed places contain calls of the hook instead of nops. Such
	 * places are normal. The argument `false` keeps such places out of nr_unknown and
	 * nr_short.
	 */
	for (size_t i = 0; ret == 0 && i < list.nr; i++) {
		const struct code_func *func = code_func_at(&f->code, list.addrs[i]);

		ret = add_nops(f, func ? func->start : list.addrs[i], list.addrs[i], false);
	}
	return ret;
}

/* --- XRay --- */

/* XRaySledEntry, an entry of xray_instr_map (LLVM's documentation, "XRay Instrumentation"). */
struct sled {
	uint64_t addr;
	uint64_t func;
	uint8_t kind;
	uint8_t always;
	uint8_t version;
	uint8_t pad[13];
};
_Static_assert(sizeof(struct sled) == 32, "sleds are laid out without holes");

enum sled_kind {
	SLED_ENTRY = 0,
	SLED_EXIT = 1,
	SLED_TAIL = 2,
	SLED_ENTRY_WITH_ARGS = 3
};

/* From this version on, an address field holds the distance from that field to the target. */
#define SLED_RELATIVE 2

static int add_sled(struct finder *f, const struct sled *sled)
{
	struct prepared_site site = { .addr = sled->addr, .func = sled->func };
	uint64_t left;
	const uint8_t *at = code_at(&f->code, sled->addr, &left);
	unsigned bytes = 0;

	switch (sled->kind) {
	case SLED_ENTRY:
	case SLED_ENTRY_WITH_ARGS:
		site.what = PATCH_XRAY_ENTRY;
		bytes = at ? f->set->entry_sled(at, left) : 0;
		break;
	case SLED_EXIT:
		site.what = PATCH_XRAY_EXIT;
		bytes = at ? f->set->exit_sled(at, left) : 0;
		break;
	case SLED_TAIL:
		site.what = PATCH_XRAY_TAIL;
		bytes = at ? f->set->tail_sled(at, left) : 0;
		break;
	default:
		return 0; /* the sled marks a custom or typed event, not an entry or exit */
	}
	if (!bytes) {
		f->out->nr_unknown++;
		return 0;
	}
	site.bytes = bytes;
	return add_site(f, &site, at);
}

static int find_sleds(struct finder *f)
{
	struct addresses words cleanup_addresses = { 0 };
	struct elf_section sec;
	int ret = load_addresses(f->file, XRAY_SECTION, &words);

	if (ret < 0 || !words.nr || !elf_section_by_name(f->file, XRAY_SECTION, &sec))
		return ret;
	for (size_t i = 0; ret == 0 && i < words.nr / 4; i++) {
		uint64_t at = sec.head.sh_addr + i * sizeof(struct sled);
		struct sled sled;

		memcpy(&sled, &words.addrs[i * 4], sizeof(sled));
		if (sled.version >= SLED_RELATIVE) {
			sled.addr += at;
			sled.func += at + sizeof(uint64_t);
		}
		ret = add_sled(f, &sled);
	}
	return ret;
}

/* --- sites of all kinds --- */

static bool has_section(const struct elf_file *file, const char *name)
{
	struct elf_section sec;

	return elf_section_by_name(file, name, &sec) && sec.data && sec.data->d_size;
}

bool object_is_prepared(const struct elf_file *file)
{
	if (!hooked_code_of(file))
		return false;
	return has_section(file, PATCHABLE_SECTION) || has_section(file, XRAY_SECTION) ||
	       (has_section(file, MCOUNT_SECTION) && !elf_imports(file, hook_names)) ||
	       is_for_gprof(file);
}

/* Sort the sites, and drop each site that overlaps the previous kept site. */
static void sort_sites(struct prepared *out)
{
	size_t kept = 0;

	if (out->nr)
		qsort(out->sites, out->nr, sizeof(*out->sites), order_u64);
	for (size_t i = 0; i < out->nr; i++) {
		const struct prepared_site *last = kept ? &out->sites[kept - 1] : NULL;

		if (!last || out->sites[i].addr >= last->addr + last->bytes)
			out->sites[kept++] = out->sites[i];
	}
	out->nr = kept;
}

static int find_all(const struct elf_file *file, int (*find)(struct finder *f),
		    struct prepared *out)
{
	struct finder f = { .file = file, .set = hooked_code_of(file), .out = out };
	int ret = f.set ? code_load(file, &f.code) : 0;

	if (f.set && ret == 0)
		ret = find(&f);
	sort_sites(out);
	code_deinit(&f.code);
	return ret;
}

static int find_rooms(struct finder *f)
{
	int ret = find_patchable(f);

	if (ret == 0)
		ret = find_sleds(f);
	return ret == 0 ? find_mcount_nops(f) : ret;
}

int prepared_find(const struct elf_file *file, struct prepared *out)
{
	return find_all(file, find_rooms, out);
}

/* --- calls of hooks --- */

/*
 * In the code of @func, find the first instruction that calls a hook, and add a site for this
 * instruction. The search tries every byte, not only the first byte of each instruction. A wrong
 * result is unlikely: the bytes within an instruction hardly ever look like a call of a hook.
 */
static int add_call(struct finder *f, const struct code_func *func, const struct plt_entries *plt)
{
	struct prepared_site site = { .func = func->start, .what = PATCH_NOP };
	const uint8_t *bytes = code_bytes(&f->code, func->start, func->end - func->start);
	struct hook_call call;

	for (uint64_t i = 0; bytes && i < func->end - func->start; i++) {
		site.addr = func->start + i;
		if (!f->set->call(bytes + i, func->end - site.addr, site.addr, &call) ||
		    hooked_called(plt, &call) == HOOKED_NOT)
			continue;
		site.bytes = call.bytes;
		return add_site(f, &site, bytes + i);
	}
	return 0;
}

static void keep_hooks(struct plt_entries *plt)
{
	size_t kept = 0;

	for (size_t i = 0; i < plt->nr; i++) {
		if (hooked_named(&plt->entries[i]) == HOOKED_AT_ENTRY)
			plt->entries[kept++] = plt->entries[i];
	}
	plt->nr = kept;
}

static int find_calls(struct finder *f)
{
	struct plt_entries plt cleanup_plt_entries = { 0 };
	int ret = plt_entries_load(f->file, &plt);

	keep_hooks(&plt);
	for (size_t i = 0; ret == 0 && plt.nr && i < f->code.nr_funcs; i++)
		ret = add_call(f, &f->code.funcs[i], &plt);
	return ret;
}

int prepared_find_calls(const struct elf_file *file, struct prepared *out)
{
	return find_all(file, find_calls, out);
}
