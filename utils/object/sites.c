/* Places for jumps (see sites.h). */
#include "utils/object/sites.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The longest padding instruction that compilers use, and some of them. */
#define PADDING_MAX 32

static int refuse(struct uft_err *err, const char *why)
{
	return err_set(err, -EXDEV, "%s", why);
}

/*
 * The function's code ends before the jump does, and does not go on there. What is behind it may be overwritten when that is
 * padding.
 */
static int check_behind(const struct code *code, struct insns *insns, const struct code_func *func,
			uint64_t end, struct uft_err *err)
{
	const struct code_section *sec = code_section_at(code, func->start);
	const uint8_t *bytes = sec->bytes + (func->end - sec->start);
	uint64_t left = sec->end - func->end;

	if (end <= func->end)
		return 0;
	if (end > sec->end || code_next_start(code, func->end - 1) < end ||
	    insns_padding(insns, bytes, bytes + MIN(left, (uint64_t)PADDING_MAX)) < end - func->end)
		return refuse(err, "the function ends too soon behind it");
	return 0;
}

/* The first of @nr sites gets a jump, the others are inner ones of it. */
static int prepare_group(const struct code *code, struct insns *insns, struct code_site *sites,
			 size_t nr, struct uft_err *err)
{
	const struct code_func *func = code_func_at(code, sites->addr);
	struct insn_text text = { code_bytes(code, func->start, func->end - func->start),
				  func->start, func->end };
	uint64_t end = sites->addr + WINDOW_BYTES;
	struct insn_code *last = &sites[nr - 1].code;

	for (size_t i = 0; i < nr; i++) {
		uint64_t until = i + 1 < nr ? sites[i + 1].addr : end;
		struct insn_code *moved = &sites[i].code;
		int ret = insns_move(insns, &text, sites[i].addr, until - sites[i].addr, moved,
				     err);

		if (ret < 0)
			return ret;
		if (i + 1 < nr && (moved->ends || moved->taken != until - sites[i].addr))
			return refuse(err, "the next one is reached in another way");
	}
	/* Nothing is there behind the end of the file's code either. */
	int ret = check_behind(code, insns, func, end, err);

	return ret < 0 ? ret : insn_go_on(last, last->from + last->taken, err);
}

static size_t group_size(const struct code_site *sites, size_t nr)
{
	size_t size = 1;

	while (size < nr && sites[size].addr - sites->addr < WINDOW_BYTES)
		size++;
	return size;
}

static void finish_group(const struct code *code, struct code_site *sites, size_t nr)
{
	memcpy(sites->original, code_bytes(code, sites->addr, WINDOW_BYTES), WINDOW_BYTES);
	for (size_t i = 0; i < nr; i++) {
		sites[i].is_inner = i > 0;
		sites[i].why_not[0] = '\0';
	}
}

int sites_prepare(const struct code *code, struct insns *insns, struct code_site *sites, size_t nr)
{
	struct window *windows cleanup_free = calloc(nr + 1, sizeof(*windows));

	if (!windows)
		return -ENOMEM;
	for (size_t i = 0; i < nr; i++)
		windows[i].start = sites[i].addr;

	int ret = entrances_find(code, insns, windows, nr);

	for (size_t i = 0; ret == 0 && i < nr;) {
		size_t size = group_size(sites + i, nr - i);
		struct uft_err err = { 0 };

		if (windows[i].why_not)
			err_set(&err, -EXDEV, "%s", windows[i].why_not);
		else
			prepare_group(code, insns, sites + i, size, &err);
		if (!err.code) {
			finish_group(code, sites + i, size);
			i += size;
			continue;
		}
		/* Those behind it may have a jump of their own. */
		snprintf(sites[i].why_not, sizeof(sites[i].why_not), "%.*s", SITE_REASON_MAX - 1,
			 err.text);
		i++;
	}
	return ret;
}
