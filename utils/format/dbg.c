/* The `<module>.dbg` text (see dbg.h). */
#include "utils/format/dbg.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "utils/base/containers/order.h"
#include "utils/base/containers/vec.h"
#include "utils/format/text.h"

void dbg_deinit(struct dbg *dbg)
{
	free(dbg->enums);
	free(dbg->structs);
	free(dbg->funcs);
	free(dbg->inlined);
	free(dbg->text);
	*dbg = (struct dbg){ 0 };
}

int dbg_add_func(struct dbg *dbg, const struct dbg_func *func)
{
	struct dbg_func *funcs = vec_grow(dbg->funcs, dbg->nr_funcs, sizeof(*funcs));

	if (!funcs)
		return -ENOMEM;
	dbg->funcs = funcs;
	funcs[dbg->nr_funcs] = *func;
	funcs[dbg->nr_funcs].first_inlined = dbg->nr_inlined;
	funcs[dbg->nr_funcs++].nr_inlined = 0;
	return 0;
}

int dbg_add_inline(struct dbg *dbg, const struct dbg_inline *call)
{
	struct dbg_inline *all = vec_grow(dbg->inlined, dbg->nr_inlined, sizeof(*all));

	if (!all)
		return -ENOMEM;
	dbg->inlined = all;
	all[dbg->nr_inlined++] = *call;
	dbg->funcs[dbg->nr_funcs - 1].nr_inlined++;
	return 0;
}

static int add_text(const char ***list, size_t *nr, const char *text)
{
	const char **texts = vec_grow(*list, *nr, sizeof(*texts));

	if (!texts)
		return -ENOMEM;
	*list = texts;
	texts[(*nr)++] = text;
	return 0;
}

int dbg_add_enum(struct dbg *dbg, const char *definition)
{
	return add_text(&dbg->enums, &dbg->nr_enums, definition);
}

int dbg_add_struct(struct dbg *dbg, const char *definition)
{
	return add_text(&dbg->structs, &dbg->nr_structs, definition);
}

_Static_assert(offsetof(struct dbg_func, addr) == 0, "ordered by order_u64()");

void dbg_sort(struct dbg *dbg)
{
	if (dbg->nr_funcs)
		qsort(dbg->funcs, dbg->nr_funcs, sizeof(*dbg->funcs), order_u64);
}

const struct dbg_func *dbg_find(const struct dbg *dbg, uint64_t addr)
{
	struct dbg_func key = { .addr = addr };

	if (!dbg->nr_funcs)
		return NULL;
	return bsearch(&key, dbg->funcs, dbg->nr_funcs, sizeof(key), order_u64);
}

static void put_line(struct strbuf *out, const char *key, const char *value)
{
	if (!value)
		return;
	strbuf_addstr(out, key);
	text_put_name(out, value, strlen(value));
	strbuf_addch(out, '\n');
}

/* Write "# I: <line>\t<name>\t<file>". */
static void put_inline(struct strbuf *out, const struct dbg_inline *call)
{
	strbuf_addf(out, "# I: %u\t", call->line);
	text_put_name(out, call->name, strlen(call->name));
	put_line(out, "\t", call->file ? call->file : "");
}

void dbg_encode(const struct dbg *dbg, struct strbuf *out)
{
	put_line(out, "# path name: ", dbg->path);
	put_line(out, "# build-id: ", dbg->build_id);
	for (size_t i = 0; i < dbg->nr_enums; i++)
		put_line(out, "E: ", dbg->enums[i]);
	/*
	 * Lines of kinds that uftrace does not know begin with "# ", because uftrace skips
	 * comments, but stops at lines of unknown kinds.
	 */
	for (size_t i = 0; i < dbg->nr_structs; i++)
		put_line(out, "# S: ", dbg->structs[i]);
	for (size_t i = 0; i < dbg->nr_funcs; i++) {
		const struct dbg_func *func = &dbg->funcs[i];

		strbuf_addstr(out, "F: ");
		text_put_hex(out, func->addr, 1);
		put_line(out, " ", func->name);
		if (func->file) {
			strbuf_addf(out, "L: %u", func->line);
			put_line(out, " ", func->file);
		}
		for (size_t k = 0; k < func->nr_inlined; k++)
			put_inline(out, &dbg->inlined[func->first_inlined + k]);
		put_line(out, "A: @", func->args);
		put_line(out, "R: @", func->retval);
		put_line(out, "# T: ", func->structs);
	}
}

/* Make a string of the rest of @line: a NUL replaces the newline at the end of the line. */
static const char *rest_of(const struct text *line)
{
	*(char *)line->end = '\0';
	return line->at;
}

static int decode_func(struct dbg *dbg, struct text *line)
{
	struct dbg_func func = { 0 };

	if (!text_hex(line, &func.addr) || !text_word(line, " "))
		return -EINVAL;
	func.name = rest_of(line);
	return dbg_add_func(dbg, &func);
}

static int decode_inline(struct dbg *dbg, struct text *line)
{
	struct dbg_inline call = { 0 };
	uint64_t number;

	if (!text_dec(line, &number) || number > UINT32_MAX || !text_word(line, "\t"))
		return -EINVAL;

	char *tab = memchr(line->at, '\t', text_left(line));

	if (!tab)
		return -EINVAL;
	*tab = '\0';
	call.name = line->at;
	call.line = number;
	line->at = tab + 1;
	if (text_left(line))
		call.file = rest_of(line);
	return dbg_add_inline(dbg, &call);
}

/* Parse a line that belongs to the function above it. */
static int decode_detail(struct dbg_func *func, struct text *line)
{
	uint64_t number;

	if (text_word(line, "A: @")) {
		func->args = rest_of(line);
	} else if (text_word(line, "R: @")) {
		func->retval = rest_of(line);
	} else if (text_word(line, "# T: ")) {
		func->structs = rest_of(line);
	} else if (text_word(line, "L: ")) {
		if (!text_dec(line, &number) || number > UINT32_MAX || !text_word(line, " "))
			return -EINVAL;
		func->line = number;
		func->file = rest_of(line);
	}
	return 0;
}

static int decode_line(struct dbg *dbg, struct text *line)
{
	if (text_word(line, "F: "))
		return decode_func(dbg, line);
	if (text_word(line, "E: "))
		return dbg_add_enum(dbg, rest_of(line));
	if (text_word(line, "# S: "))
		return dbg_add_struct(dbg, rest_of(line));
	if (text_word(line, "# path name: "))
		dbg->path = rest_of(line);
	else if (text_word(line, "# build-id: "))
		dbg->build_id = rest_of(line);
	else if (dbg->nr_funcs && text_word(line, "# I: "))
		return decode_inline(dbg, line);
	else if (dbg->nr_funcs)
		return decode_detail(&dbg->funcs[dbg->nr_funcs - 1], line);
	return 0;
}

int dbg_decode(const char *text, size_t len, struct dbg *dbg, struct uft_err *err)
{
	dbg->text = malloc(len + 1);
	if (!dbg->text)
		return err_set_errno(err, -ENOMEM, "cannot read debug information");
	if (len)
		memcpy(dbg->text, text, len);
	dbg->text[len] = '\0';

	struct text in = text_of(dbg->text, len);
	struct text line;
	bool whole;

	for (size_t nr = 1; text_line(&in, &line, &whole); nr++) {
		int ret = decode_line(dbg, &line);

		/* An incomplete last line is no error: the recorder may have been killed. */
		if (ret == -EINVAL && !whole)
			break;
		if (ret < 0) {
			dbg_deinit(dbg);
			return err_set(err, ret, "line %zu: %s", nr,
				       ret == -ENOMEM ? strerror(ENOMEM)
						      : "cannot read it as debug information");
		}
	}
	dbg_sort(dbg);
	return 0;
}
