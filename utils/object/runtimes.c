/* Languages whose calls are not like those of C (see runtimes.h). */
#include "utils/object/runtimes.h"

#include <string.h>

#include "utils/base/compiler.h"

#define GO	"it is written in Go, whose stacks move"
#define OCAML	"it is written in OCaml, whose run time looks for return addresses on the stack"
#define HASKELL "it is written in Haskell, whose functions do not return to who has called them"

static const struct {
	const char *section;
	const char *why;
} sections[] = {
	{ ".gopclntab", GO }, { ".data.rel.ro.gopclntab", GO },	   { ".note.go.buildid", GO },
	{ ".ghc", HASKELL },  { ".debug-ghc-link-info", HASKELL },
};

/*
 * Symbols that a file of OCaml or Haskell defines or imports. A shared library in one of these
 * languages imports such symbols from the runtime of the language.
 */
static const struct {
	const char *name;
	const char *why;
} symbols[] = {
	{ "caml_call_gc", OCAML },    { "caml_frametable", OCAML },
	{ "caml_globals", OCAML },    { "caml_start_program", OCAML },
	{ "stg_ap_0_fast", HASKELL }, { "stg_ap_v_fast", HASKELL },
	{ "stg_gc_noregs", HASKELL }, { "stg_upd_frame_info", HASKELL },
};

/*
 * Names of environment variables that the runtimes of OCaml and Haskell read. of_texts() searches
 * the section .rodata for each name with the NUL after it. A longer text that ends with the name
 * also counts.
 */
static const struct {
	const char *text;
	const char *why;
} texts[] = {
	{ "CAMLRUNPARAM", OCAML },
	{ "GHCRTS", HASKELL },
};

static const char *of_symbols(const struct elf_file *file, uint32_t type)
{
	struct elf_symbols table;

	if (!elf_symbols_open(file, type, &table))
		return NULL;
	for (size_t i = 1; i < table.nr; i++) {
		GElf_Sym sym;
		const char *name;
		size_t len;

		if (!elf_symbol(&table, i, &sym, &name, &len))
			continue;
		/* The check of the first letter quickly excludes nearly all names. */
		for (size_t k = 0; strchr("cs", name[0]) && k < ARRAY_SIZE(symbols); k++) {
			if (strcmp(name, symbols[k].name) == 0)
				return symbols[k].why;
		}
	}
	return NULL;
}

/*
 * Recognise a stripped program of OCaml or Haskell by the names in texts[], because the program has
 * no other marks. If a program in another language contains one of these names, that program counts
 * as OCaml or Haskell.
 */
static const char *of_texts(const struct elf_file *file)
{
	for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
		if (elf_section_has(file, ".rodata", texts[i].text, strlen(texts[i].text) + 1))
			return texts[i].why;
	}
	return NULL;
}

const char *object_foreign_runtime(const struct elf_file *file)
{
	struct elf_section sec;
	const char *why;

	for (size_t i = 0; i < ARRAY_SIZE(sections); i++) {
		if (elf_section_by_name(file, sections[i].section, &sec))
			return sections[i].why;
	}
	why = of_symbols(file, SHT_DYNSYM);
	if (!why)
		why = of_symbols(file, SHT_SYMTAB);
	return why ? why : of_texts(file);
}
