/* Functions left out of a recording (see left_funcs.h). */
#include "utils/pipeline/recording/left_funcs.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "utils/base/fd.h"
#include "utils/base/containers/vec.h"

#define LEFT_FILE_MAX_BYTES (16 << 20)

void left_funcs_deinit(struct left_funcs *left)
{
	free(left->all);
	*left = (struct left_funcs){ 0 };
}

static const struct func *find_func(struct module_set *set, const struct left_out *line)
{
	struct module *mod = strmap_get(&set->by_path, line->path);
	struct uft_err ignored = { 0 };
	const struct symbol *sym;

	if (!mod || module_load(set, mod, &ignored) < 0)
		return NULL;
	sym = symtab_find(&mod->symtab, line->addr);
	return sym ? module_func(set, mod, sym) : NULL;
}

/* Store in the last entry of @func the time from which the function is recorded again. */
static void end_at(struct left_funcs *left, const struct func *func, uint64_t time_ns)
{
	for (size_t i = left->nr; i-- > 0;) {
		if (left->all[i].kind == LEFT_OUT_FUNCTION && left->all[i].func == func) {
			left->all[i].until_ns = time_ns;
			return;
		}
	}
}

static int take_line(struct trace_data *data, struct left_funcs *left, const char *text)
{
	struct left_out line;
	struct left_func *grown;
	const struct func *func;

	if (!left_out_decode(text, &line))
		return 0;
	func = find_func(&data->modules, &line);
	if (!func)
		return 0;
	if (line.kind == LEFT_OUT_AGAIN) {
		end_at(left, func, line.time_ns);
		return 0;
	}
	grown = vec_grow(left->all, left->nr, sizeof(*grown));
	if (!grown)
		return -ENOMEM;
	left->all = grown;
	left->all[left->nr++] = (struct left_func){
		.func = func, .kind = line.kind, .since_ns = line.time_ns, .permille = line.permille
	};
	return 0;
}

int left_funcs_read(struct trace_data *data, struct left_funcs *left, struct uft_err *err)
{
	struct strbuf text cleanup_strbuf = { 0 };
	char path[PATH_MAX];
	char *rest, *line;

	snprintf(path, sizeof(path), "%s/%s", data->dir, LEFT_OUT_NAME);

	int ret = file_read_all(path, LEFT_FILE_MAX_BYTES, &text, err);

	if (ret == -ENOENT || (ret == 0 && !text.len)) {
		*err = (struct uft_err){ 0 };
		return 0;
	}
	if (ret < 0)
		return ret;
	rest = text.data;
	while (ret >= 0 && (line = strsep(&rest, "\n")))
		ret = take_line(data, left, line);
	return ret < 0 ? err_set_errno(err, ret, "cannot read '%s'", path) : 0;
}

const struct left_func *left_funcs_find(const struct left_funcs *left, const char *name)
{
	const struct left_func *found = NULL;

	for (size_t i = 0; i < left->nr; i++) {
		const struct left_func *f = &left->all[i];

		if ((!found || f->kind < found->kind) && strcmp(f->func->name, name) == 0)
			found = f;
	}
	return found;
}
