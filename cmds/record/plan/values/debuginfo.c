/* Keeps debug information of traced modules (see debuginfo.h). */
#include "cmds/record/plan/values/debuginfo.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct debuginfo_file {
	char *path;
	struct dwarf_info info;
	struct debuginfo_file *next;
};

void debuginfo_deinit(struct debuginfo *debug)
{
	while (debug->files) {
		struct debuginfo_file *file = debug->files;

		debug->files = file->next;
		dwarf_info_deinit(&file->info);
		free(file->path);
		free(file);
	}
}

static struct debuginfo_file *find_file(const struct debuginfo *debug, const char *path)
{
	struct debuginfo_file *file = debug->files;

	while (file && strcmp(file->path, path) != 0)
		file = file->next;
	return file;
}

const struct dwarf_info *debuginfo_of(struct debuginfo *debug, const char *path)
{
	struct debuginfo_file *file = find_file(debug, path);

	if (file)
		return &file->info;
	file = calloc(1, sizeof(*file));
	if (file)
		file->path = strdup(path);
	/*
	 * Return NULL when memory is short. Do not return NULL for a file that cannot be read. Such
	 * a file gets empty debug information, so that calls of its functions are recorded.
	 */
	if (!file || !file->path) {
		free(file);
		return NULL;
	}
	struct uft_err err = { 0 };

	int ret = object_dwarf_load(path, &file->info, &err);

	if ((ret == -E2BIG || ret == -ENODATA) && !debug->problem.code)
		debug->problem = err;
	file->next = debug->files;
	debug->files = file;
	return &file->info;
}

bool debuginfo_has(const struct debuginfo *debug, const char *path)
{
	return find_file(debug, path);
}

const struct dwarf_func *debuginfo_func(const struct dwarf_info *info, const struct symbol *sym)
{
	if (!info || (sym->type != 't' && sym->type != 'T' && sym->type != 'w'))
		return NULL;
	return dwarf_info_find(info, sym->addr);
}

bool symbol_is_clone(const struct symbol *sym)
{
	static const char *const marks[] = { ".isra.", ".constprop.", ".part." };

	for (size_t i = 0; i < ARRAY_SIZE(marks); i++) {
		if (strstr(sym->name, marks[i]))
			return true;
	}
	return false;
}
