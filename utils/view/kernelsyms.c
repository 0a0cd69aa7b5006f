/* Names for addresses of the kernel (see kernelsyms.h). */
#include "utils/view/kernelsyms.h"

#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "utils/base/fd.h"
#include "utils/base/order.h"
#include "utils/base/vec.h"
#include "utils/format/text.h"

#define KALLSYMS_MAX_BYTES (256UL << 20)

/* @name: its place in the text */
struct kernelsym {
	uint64_t addr;
	uint32_t name;
};

/* @text: the file, with a NUL behind each name */
struct kernelsyms {
	const char *dir;
	bool was_read;
	struct strbuf text;
	struct kernelsym *syms;
	size_t nr;
};

struct kernelsyms *kernelsyms_create(const char *dir)
{
	struct kernelsyms *syms = calloc(1, sizeof(*syms));

	if (syms)
		syms->dir = dir;
	return syms;
}

void kernelsyms_destroy(struct kernelsyms *syms)
{
	if (!syms)
		return;
	strbuf_deinit(&syms->text);
	free(syms->syms);
	free(syms);
}

/* "<address> <type> <name>", behind a tab the module; who may not know addresses has zeros. */
static bool read_line(struct text line, uint64_t *addr, struct text *name)
{
	if (!text_hex(&line, addr) || *addr == 0 || text_left(&line) < 4 || line.at[0] != ' ' ||
	    line.at[2] != ' ' || !strchr("tTwW", line.at[1]))
		return false;
	line.at += 3;

	const char *tab = memchr(line.at, '\t', text_left(&line));

	*name = (struct text){ line.at, tab ? tab : line.end };
	return text_left(name);
}

static int compare(const void *a, const void *b)
{
	const struct kernelsym *x = a;
	const struct kernelsym *y = b;

	if (x->addr != y->addr)
		return x->addr < y->addr ? -1 : 1;
	return x->name < y->name ? -1 : x->name > y->name;
}

static void load(struct kernelsyms *syms)
{
	char path[PATH_MAX];
	struct text line;
	bool whole;

	snprintf(path, sizeof(path), "%s/kallsyms", syms->dir);
	if (file_read_all(path, KALLSYMS_MAX_BYTES, &syms->text, NULL) < 0)
		return;

	struct text in = text_of(syms->text.data, syms->text.len);

	while (text_line(&in, &line, &whole)) {
		struct kernelsym *grown = vec_grow(syms->syms, syms->nr, sizeof(*grown));
		struct text name;
		uint64_t addr;

		if (!grown)
			return;
		syms->syms = grown;
		if (!read_line(line, &addr, &name))
			continue;
		grown[syms->nr++] = (struct kernelsym){ addr, name.at - syms->text.data };
		syms->text.data[name.end - syms->text.data] = '\0';
	}
	if (syms->nr)
		qsort(syms->syms, syms->nr, sizeof(*syms->syms), compare);
}

const char *kernelsyms_find(struct kernelsyms *syms, uint64_t addr, uint64_t *start)
{
	if (!syms)
		return NULL;
	if (!syms->was_read)
		load(syms);
	syms->was_read = true;

	size_t low = order_count_until(syms->syms, syms->nr, sizeof(*syms->syms), addr);

	if (low == 0)
		return NULL;

	/* Of several names the first. */
	while (low > 1 && syms->syms[low - 2].addr == syms->syms[low - 1].addr)
		low--;
	*start = syms->syms[low - 1].addr;
	return syms->text.data + syms->syms[low - 1].name;
}
