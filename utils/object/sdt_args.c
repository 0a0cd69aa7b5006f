/* Parses the arguments of static probes (see sdt_args.h). The arguments' text is untrusted. */
#include "utils/object/sdt_args.h"

#include <string.h>

#include "utils/base/compiler.h"

/* --- the text --- */

/*
 * Parse a type such as "-4@" or "8f@". Returns the text after the type, or NULL if @at does not
 * begin with a type.
 */
static const char *take_type(const char *at, struct sdt_arg *arg)
{
	bool is_signed = *at == '-';
	unsigned bytes = 0;
	bool is_float;

	at += is_signed;
	if (*at < '0' || *at > '9')
		return NULL;
	for (; *at >= '0' && *at <= '9'; at++)
		bytes = MIN(bytes * 10 + (*at - '0'), 1000U);
	is_float = *at == 'f';
	at += is_float;
	if (*at != '@')
		return NULL;
	*arg = (struct sdt_arg){ 0 };
	if (is_float ? bytes == 4 || bytes == 8
		     : bytes == 1 || bytes == 2 || bytes == 4 || bytes == 8) {
		arg->bytes = bytes;
		arg->is_float = is_float;
		arg->is_signed = is_signed && !is_float;
	}
	return at + 1;
}

/*
 * Returns the end of the argument that contains @at. An argument does not include the blanks before
 * the next argument, or at the end of the text.
 */
static const char *find_end(const char *at)
{
	struct sdt_arg ignored;

	for (;;) {
		const char *blank = at + strcspn(at, " ");
		const char *next = blank + strspn(blank, " ");

		if (!*next || take_type(next, &ignored))
			return blank;
		at = next;
	}
}

/*
 * True when the value can be read. Three kinds of values cannot be read: a constant of a
 * floating-point type, an integer in a vector register, and a value that is larger than its general
 * register (such as 4 bytes in %al).
 */
static bool has_value(const struct sdt_arg *arg)
{
	switch (arg->operand.kind) {
	case OPERAND_CONSTANT:
		return !arg->is_float;
	case OPERAND_REGISTER:
		return arg->bytes <= arg->operand.bytes;
	case OPERAND_VECTOR:
		return arg->is_float;
	default:
		return arg->operand.kind == OPERAND_MEMORY;
	}
}

static void forget_argument(struct sdt_arg *arg)
{
	operand_parse(NULL, "", 0, &arg->operand);
	arg->is_address = false;
}

/*
 * Parse the first argument of @text, and skip the spaces after this argument. Returns the rest of
 * @text.
 */
static const char *take_arg(const struct isa *isa, const char *text, struct sdt_arg *arg)
{
	const char *at = take_type(text, arg);
	const char *end = find_end(at ? at : text);

	if (!at)
		*arg = (struct sdt_arg){ 0 };
	if (!at || !arg->bytes || !operand_parse(isa, at, end - at, &arg->operand) ||
	    !has_value(arg))
		forget_argument(arg);
	return end + strspn(end, " ");
}

size_t sdt_args_parse(const struct isa *isa, const char *text, struct sdt_arg args[SDT_ARGS_MAX])
{
	struct sdt_arg ignored;
	size_t nr = 0;

	for (text += strspn(text, " "); *text; nr++)
		text = take_arg(isa, text, nr < SDT_ARGS_MAX ? &args[nr] : &ignored);
	return nr;
}

void sdt_arg_put_type(const struct sdt_arg *arg, struct strbuf *out)
{
	if (arg->bytes)
		strbuf_addf(out, "%s%u%s", arg->is_signed ? "-" : "", arg->bytes,
			    arg->is_float ? "f" : "");
	else
		strbuf_addch(out, '?');
}

/* --- symbols --- */

/*
 * A symbol that is searched for. @nr: 0: no symbol has the name; 1: @address is the address of all
 * symbols with the name; more: the address is uncertain
 */
struct wanted {
	const char *name;
	size_t len;
	uint64_t address;
	size_t nr;
};

static bool is_plain(const GElf_Sym *sym)
{
	unsigned type = GELF_ST_TYPE(sym->st_info);

	return sym->st_shndx != SHN_UNDEF && sym->st_shndx < SHN_LORESERVE &&
	       (type == STT_NOTYPE || type == STT_OBJECT || type == STT_FUNC);
}

/*
 * Count a symbol with the wanted name. The address is uncertain if symbols with this name have
 * different addresses, or if any of the symbols fails is_plain(), as thread-local symbols do.
 */
static void look_at(struct wanted *wanted, const GElf_Sym *sym)
{
	if (sym->st_shndx == SHN_UNDEF)
		return;
	if (!is_plain(sym))
		wanted->nr += 2;
	else if (!wanted->nr || wanted->address != sym->st_value)
		wanted->nr++;
	wanted->address = sym->st_value;
}

/*
 * Search a table for the symbol. @has_local becomes true when the table names source files
 * (STT_FILE): such a table has all static variables.
 */
static void look_through(const struct elf_file *file, uint32_t type, struct wanted *wanted,
			 bool *has_local)
{
	struct elf_symbols symbols;
	const char *name;
	size_t len;
	GElf_Sym sym;

	if (!elf_symbols_open(file, type, &symbols))
		return;
	for (size_t i = 1; i < symbols.nr; i++) {
		if (!elf_symbol(&symbols, i, &sym, &name, &len))
			continue;
		*has_local |= GELF_ST_TYPE(sym.st_info) == STT_FILE;
		if (len == wanted->len && memcmp(name, wanted->name, len) == 0)
			look_at(wanted, &sym);
	}
}

static bool find_symbol(const struct elf_file *file, const struct operand *operand,
			uint64_t *address)
{
	struct wanted wanted = { .name = operand->symbol, .len = operand->symbol_len };
	bool has_local = false;

	look_through(file, SHT_SYMTAB, &wanted, &has_local);
	if (has_local)
		look_through(file, SHT_DYNSYM, &wanted, &has_local);
	*address = wanted.address;
	return has_local && wanted.nr == 1;
}

void sdt_args_find_symbols(const struct elf_file *file, struct sdt_arg *args, size_t nr)
{
	for (size_t i = 0; i < nr; i++) {
		struct sdt_arg *arg = &args[i];
		uint64_t address;

		if (!arg->operand.symbol)
			continue;
		if (find_symbol(file, &arg->operand, &address)) {
			arg->operand.value += address;
			arg->is_address = true;
		} else {
			forget_argument(arg);
		}
	}
}
