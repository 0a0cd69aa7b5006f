/* Finds code whose return addresses the probe must not replace (see own_frames.h). */
#include "utils/object/code/own_frames.h"

#include <errno.h>
#include <string.h>

#include "utils/base/compiler.h"
#include "utils/object/code/code.h"
#include "utils/object/runtimes.h"

#define V8     "it is builtin code of V8, which finds its frames by return addresses"
#define BLOB   "_embedded_blob_code_"
#define MARKER "embedded_blob_code" /* in names of BLOB symbols and of exported C++ functions */

/*
 * A gap is code that no call frame information describes. Only gaps of at least GAP_MIN bytes count
 * as code of V8, because shorter gaps may have other causes.
 */
#define GAP_MIN 16384

static int add_frames_piece(struct strbuf *out, struct own_frames piece)
{
	if (piece.start < piece.end)
		strbuf_add(out, &piece, sizeof(piece));
	return strbuf_oom(out) ? -ENOMEM : 0;
}

static bool has_end(const char *name, size_t len, const char *end)
{
	size_t n = strlen(end);

	return len >= n && memcmp(name + len - n, end, n) == 0;
}

/*
 * Facts from the symbols of V8.
 *
 * @is_there: the file has V8
 * @start: address of the builtins; @size_at: address at which their size is stored
 * @low, @high: the range of all symbols "Builtins_...". Each builtin function has such a symbol
 */
struct v8 {
	bool is_there;
	uint64_t start;
	uint64_t size_at;
	uint64_t low;
	uint64_t high;
};

static void look_at_symbol(struct v8 *v8, const GElf_Sym *sym, const char *name, size_t len)
{
	if (!memmem(name, len, MARKER, strlen(MARKER))) {
		if (strncmp(name, "Builtins_", strlen("Builtins_")) == 0 && sym->st_size) {
			v8->low = v8->high ? MIN(v8->low, sym->st_value) : sym->st_value;
			v8->high = MAX(v8->high, sym->st_value + sym->st_size);
		}
		return;
	}
	v8->is_there = true;
	if (strncmp(name, "v8_", 3) != 0)
		return;
	if (has_end(name, len, BLOB))
		v8->start = sym->st_value;
	else if (has_end(name, len, BLOB "size_"))
		v8->size_at = sym->st_value;
}

static void look_at_symbols(struct v8 *v8, const struct elf_file *file, uint32_t type)
{
	struct elf_symbols table;

	/* Most files do not contain the marker, so one search of all names comes first. */
	if (!elf_symbols_open(file, type, &table) ||
	    !memmem(table.strings, table.strings_len, MARKER, strlen(MARKER)))
		return;
	for (size_t i = 1; i < table.nr; i++) {
		GElf_Sym sym;
		const char *name;
		size_t len;

		if (elf_symbol(&table, i, &sym, &name, &len) && sym.st_shndx != SHN_UNDEF)
			look_at_symbol(v8, &sym, name, len);
	}
}

/* Add the code that no call frame information describes. */
static int add_gaps(const struct code *code, const struct code_section *sec, struct strbuf *out)
{
	uint64_t at = sec->start;
	int ret = 0;

	for (size_t i = 0; ret == 0 && i < code->nr_funcs; i++) {
		const struct code_func *f = &code->funcs[i];

		if (!f->has_frames || f->end <= at || f->start >= sec->end)
			continue;
		if (f->start > at && f->start - at >= GAP_MIN)
			ret = add_frames_piece(
				out, (struct own_frames){ at, f->start, V8, true, false });
		at = f->end;
	}
	if (ret == 0 && at < sec->end && sec->end - at >= GAP_MIN)
		ret = add_frames_piece(out, (struct own_frames){ at, sec->end, V8, true, false });
	return ret;
}

static int add_all_gaps(const struct code *code, struct strbuf *out)
{
	int ret = 0;

	for (size_t i = 0; ret == 0 && i < code->nr_sections; i++) {
		if (code->sections[i].is_code)
			ret = add_gaps(code, &code->sections[i], out);
	}
	return ret;
}

/*
 * An engine like LuaJIT throws errors with an unwinder of its own. The unwinder uses the positions
 * of frames (_Unwind_GetCFA()). A position is wrong when the return address of an inner frame was
 * replaced.
 */
#define UNWINDS "it has an unwinder of its own"

static int add_unwinders(const struct elf_file *file, const struct code *code, struct strbuf *out)
{
	struct code loaded cleanup_code = { 0 };
	int ret = 0;

	/* This fast check excludes nearly all files. */
	if (!elf_section_has(file, ".eh_frame", "zPR", sizeof("zPR")))
		return 0;
	if (!code) {
		ret = code_load(file, &loaded);
		code = &loaded;
	}
	for (size_t i = 0; ret == 0 && i < code->nr_funcs; i++) {
		const struct code_func *f = &code->funcs[i];

		if (f->has_own_unwinder)
			ret = add_frames_piece(out, (struct own_frames){ f->start, f->end, UNWINDS,
									 false, false });
	}
	return ret;
}

/*
 * Add V8's builtins. If no symbols tell where the builtins are, add each gap of at least GAP_MIN
 * bytes. @code is the loaded code of @file, or NULL. Only the search for gaps uses @code. If @code
 * is NULL, the search for gaps loads the code of @file, which takes time and much memory.
 */
static int add_v8(const struct elf_file *file, const struct code *code, const struct v8 *v8,
		  struct strbuf *out)
{
	struct code loaded cleanup_code = { 0 };
	uint32_t bytes = 0;
	int ret;

	if (v8->start && elf_read_at(file, v8->size_at, &bytes, sizeof(bytes)) && bytes)
		return add_frames_piece(
			out, (struct own_frames){ v8->start, v8->start + bytes, V8, true, false });
	if (v8->high)
		return add_frames_piece(out,
					(struct own_frames){ v8->low, v8->high, V8, true, false });
	if (code)
		return add_all_gaps(code, out);
	ret = code_load(file, &loaded);
	return ret < 0 ? ret : add_all_gaps(&loaded, out);
}

/*
 * Some coroutines share one stack. A switch saves the frames of one coroutine elsewhere, and copies
 * the saved frames of the next coroutine to the stack. So frames of several calls may have the same
 * address, and the address does not identify a call. Code that adds the same register to the stack
 * pointer and to the frame pointer most likely switches coroutines.
 */
#define SLICES	    "it copies pieces of the stack, so no return address of the process is replaced"
#define SHIFT_BYTES 6
#define CHUNK	    65536U

/* True for the instructions add %reg,%rsp; add %reg,%rbp. */
static bool is_shift(const uint8_t *at)
{
	uint8_t reg = at[2] & 0x38;

	return (at[0] & 0xfb) == 0x48 && at[1] == 0x01 && at[2] == (0xc4 | reg) && at[3] == at[0] &&
	       at[4] == 0x01 && at[5] == (0xc5 | reg);
}

static bool has_shift(const uint8_t *bytes, size_t len)
{
	const uint8_t *end = bytes + len;

	for (const uint8_t *at = bytes + 1; end - at >= SHIFT_BYTES - 1; at++) {
		at = memchr(at, 0x01, end - at);
		if (!at || end - at < SHIFT_BYTES - 1)
			return false;
		if (is_shift(at - 1))
			return true;
	}
	return false;
}

/*
 * The largest section that is searched. Searching larger sections would slow down each recording.
 * The known libraries that copy pieces of stacks have smaller code sections.
 */
#define TEXT_MAX (1U << 20)

static bool section_has_shift(const struct elf_file *file, const GElf_Shdr *sh)
{
	uint8_t chunk[CHUNK];
	uint64_t len;

	if (sh->sh_size > TEXT_MAX)
		return false;
	for (uint64_t at = 0; at < sh->sh_size; at += len) {
		len = MIN(sh->sh_size - at, CHUNK);
		if (!elf_read_at(file, sh->sh_addr + at, chunk, len))
			return false;
		if (has_shift(chunk, len))
			return true;
		/* Chunks overlap: a shift may begin in one chunk and end in the next. */
		if (at + len < sh->sh_size)
			len -= SHIFT_BYTES - 1;
	}
	return false;
}

/*
 * Ruby's callcc copies the whole stack. The functions of callcc are in libruby, and
 * continuation.so is the only library that imports them.
 */
static bool needs_continuations(const struct elf_file *file)
{
	static const char *const needed[] = { "ruby_Init_Continuation_body", NULL };
	struct elf_symbols table;

	return elf_symbols_open(file, SHT_DYNSYM, &table) &&
	       memmem(table.strings, table.strings_len, *needed, strlen(*needed) + 1) &&
	       elf_imports(file, needed);
}

static int add_slicing(const struct elf_file *file, struct strbuf *out)
{
	bool is_sure = needs_continuations(file);

	for (Elf_Scn *scn = elf_nextscn(file->elf, NULL); scn; scn = elf_nextscn(file->elf, scn)) {
		GElf_Shdr sh;

		if (gelf_getshdr(scn, &sh) && (sh.sh_flags & SHF_EXECINSTR) &&
		    sh.sh_type == SHT_PROGBITS && (is_sure || section_has_shift(file, &sh)))
			return add_frames_piece(out, (struct own_frames){ sh.sh_addr,
									  sh.sh_addr + sh.sh_size,
									  SLICES, false, true });
	}
	return 0;
}

static int add_all(const struct elf_file *file, const char *why, struct strbuf *out)
{
	GElf_Phdr ph;
	int ret = 0;

	for (size_t i = 0; ret == 0 && elf_next_segment(file, &i, &ph);) {
		if (ph.p_type == PT_LOAD && (ph.p_flags & PF_X))
			ret = add_frames_piece(out, (struct own_frames){ ph.p_vaddr,
									 ph.p_vaddr + ph.p_memsz,
									 why, false, false });
	}
	return ret;
}

int object_own_frames(const struct elf_file *file, const struct code *code, struct strbuf *out)
{
	const char *why = object_foreign_runtime(file);
	struct v8 v8 = { 0 };
	int ret;

	if (why)
		return add_all(file, why, out);
	look_at_symbols(&v8, file, SHT_DYNSYM);
	look_at_symbols(&v8, file, SHT_SYMTAB);
	if (v8.is_there)
		return add_v8(file, code, &v8, out);
	ret = add_unwinders(file, code, out);
	return ret < 0 ? ret : add_slicing(file, out);
}
