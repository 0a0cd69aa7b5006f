/* Events declared in a file (see fstrace_decl.h). */
#include "utils/object/fstrace_decl.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "utils/base/containers/vec.h"
#include "utils/object/c_literal.h"

/* The names of the section and the function in <fstrace.h>. */
#define SECTION "fstrace_decl"
#define DECLARE "fstrace_declare"

static int compare_decls(const void *a, const void *b)
{
	const struct fstrace_decl *x = a;
	const struct fstrace_decl *y = b;
	int order = strcmp(x->id, y->id);

	return order ? order : strcmp(x->format ?: "", y->format ?: "");
}

/*
 * Sort the declarations by name, and drop duplicates: several sources may include one declaration
 * from a header.
 */
static void sort_decls(struct fstrace_decls *decls)
{
	size_t nr = 0;

	if (decls->nr)
		qsort(decls->decls, decls->nr, sizeof(*decls->decls), compare_decls);
	for (size_t i = 0; i < decls->nr; i++) {
		struct fstrace_decl *decl = &decls->decls[i];

		if (nr && compare_decls(&decls->decls[nr - 1], decl) == 0) {
			free(decl->id);
			free(decl->format);
		} else {
			decls->decls[nr++] = *decl;
		}
	}
	decls->nr = nr;
}

/*
 * Make the id of an event from the name of the event's variable, which is the first @len bytes of
 * @entry. As in fstrace_specify(), each '_' becomes '-'. The id is on the heap.
 */
static char *id_of(const char *entry, size_t len)
{
	char *id = strndup(entry, len);

	for (char *c = id; c && *c; c++) {
		if (*c == '_')
			*c = '-';
	}
	return id;
}

static int take_entry(const char *entry, struct fstrace_decls *out)
{
	size_t len = strcspn(entry, " ");

	for (size_t i = 0; i < len; i++) {
		if (entry[i] < '!' || entry[i] > '~')
			return -EINVAL;
	}
	if (!len || entry[len] != ' ')
		return -EINVAL;

	struct fstrace_decl *decls = vec_grow(out->decls, out->nr, sizeof(*decls));

	if (!decls)
		return -ENOMEM;
	out->decls = decls;

	struct fstrace_decl decl = { id_of(entry, len), c_literals_text(entry + len + 1) };

	if (!decl.id) {
		free(decl.format);
		return -ENOMEM;
	}
	decls[out->nr++] = decl;
	return 0;
}

/* Each entry ends in a zero byte. Compilers may put more zero bytes between entries. */
static int take_entries(const struct elf_section *sec, struct fstrace_decls *out, size_t *offset)
{
	const char *start = sec->data->d_buf;
	size_t size = sec->data->d_size;
	int ret = 0;

	for (size_t at = 0; ret == 0 && at < size;) {
		size_t len = strnlen(start + at, size - at);

		*offset = at;
		if (len == size - at)
			return -EINVAL;
		if (len)
			ret = take_entry(start + at, out);
		at += len + 1;
	}
	return ret;
}

/*
 * Find fstrace_declare() in a table of symbols. Returns 1 when the file defines the function, 0
 * when the file imports it, or -1 when the table lacks it.
 */
static int find_declare(const struct elf_file *file, uint32_t type)
{
	struct elf_symbols symbols;
	const char *name;
	size_t len;
	GElf_Sym sym;

	if (!elf_symbols_open(file, type, &symbols))
		return -1;
	for (size_t i = 0; i < symbols.nr; i++) {
		if (elf_symbol(&symbols, i, &sym, &name, &len) && strcmp(name, DECLARE) == 0)
			return sym.st_shndx != SHN_UNDEF;
	}
	return -1;
}

/*
 * True when the program probably calls fstrace_declare(). A program that imports this function
 * counts as a caller. A program with a statically linked libutrail-trace contains the function,
 * even if the program never calls the function. Such a program counts as a caller only if the
 * program has no declarations.
 *
 * @has_entries: the program has declarations
 */
static bool calls_declare(const struct elf_file *file, bool has_entries)
{
	int asked = find_declare(file, SHT_DYNSYM);

	return asked == 0 || (asked < 0 && !has_entries && find_declare(file, SHT_SYMTAB) == 1);
}

int fstrace_decls_load(const struct elf_file *file, const char *path, struct fstrace_decls *out,
		       struct uft_err *err)
{
	struct fstrace_decls decls cleanup_fstrace_decls = { 0 };
	struct elf_section sec;
	size_t offset = 0;
	int ret = 0;

	*out = (struct fstrace_decls){ 0 };
	if (elf_section_by_name(file, SECTION, &sec) && sec.data && sec.data->d_size)
		ret = take_entries(&sec, &decls, &offset);
	if (ret == -EINVAL)
		return err_set(err, ret,
			       "cannot read '%s': section " SECTION ": the entry at %zu is damaged",
			       path, offset);
	if (ret < 0)
		return err_set_errno(err, ret, "cannot read '%s'", path);
	sort_decls(&decls);
	decls.has_others = calls_declare(file, decls.nr > 0);
	*out = decls;
	decls = (struct fstrace_decls){ 0 };
	return 0;
}

int object_fstrace_load(const char *path, struct fstrace_decls *out, struct uft_err *err)
{
	struct elf_file file cleanup_elf_file = ELF_FILE_CLOSED;
	int ret = elf_file_open(&file, path, err);

	return ret < 0 ? ret : fstrace_decls_load(&file, path, out, err);
}

void fstrace_decls_deinit(struct fstrace_decls *decls)
{
	for (size_t i = 0; i < decls->nr; i++) {
		free(decls->decls[i].id);
		free(decls->decls[i].format);
	}
	free(decls->decls);
	*decls = (struct fstrace_decls){ 0 };
}
