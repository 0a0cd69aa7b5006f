/* Finds and reads the .sym file of a module (see sym_dir.h). */
#include "utils/object/names/sym_dir.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "utils/base/fd.h"
#include "utils/base/path.h"

#define SYM_FILE_MAX_BYTES (1UL << 30)

bool sym_head_is_of(const struct sym_file_head *head, const struct sym_query *query)
{
	bool knows_ids = head->build_id && query->build_id[0];

	if (knows_ids && strcmp(head->build_id, query->build_id) != 0)
		return false;
	return knows_ids || query->any_path || !head->path || strcmp(head->path, query->path) == 0;
}

/*
 * Try the file @name. Returns 1 when the file belongs to the module of @query. Returns 0 when the
 * file belongs to another module or is missing. Otherwise returns a negative error with @err.
 */
static int try_file(const char *dir, const char *name, const struct sym_query *query,
		    struct symtab *out, struct uft_err *err)
{
	char path[PATH_MAX];
	struct strbuf text cleanup_strbuf = { 0 };
	struct uft_err why = { 0 };

	if (snprintf(path, sizeof(path), "%s/%s", dir, name) >= (int)sizeof(path))
		return 0;

	int ret = file_read_all(path, SYM_FILE_MAX_BYTES, &text, &why);

	if (ret == -ENOENT)
		return 0;
	if (ret < 0)
		return err_set(err, ret, "%s", why.text);

	struct symtab tab = { 0 };
	struct sym_file_head head;

	ret = sym_file_decode(text.data, text.len, &tab, &head, &why);
	if (ret < 0)
		return err_set(err, ret, "cannot read '%s': %s", path, why.text);

	bool is_ours = sym_head_is_of(&head, query);

	free(head.path);
	free(head.build_id);
	if (is_ours)
		*out = tab;
	else
		symtab_deinit(&tab);
	return is_ours;
}

/*
 * True for "<basename>-<4 hex>.sym". When several modules have the same basename, the symbol files
 * of the second and later modules have such names.
 */
static bool is_numbered(const char *name, const char *basename)
{
	size_t len = strlen(basename);

	return strncmp(name, basename, len) == 0 && strlen(name) == len + 9 && name[len] == '-' &&
	       strspn(name + len + 1, "0123456789abcdef") == 4 &&
	       strcmp(name + len + 5, ".sym") == 0;
}

/*
 * Try the files whose names is_numbered() accepts, until a file belongs to the module of @query.
 * @found gets the name of this file, and has room for NAME_MAX + 1 bytes. The results are those of
 * try_file().
 */
static int try_numbered_files(const char *dir, const struct sym_query *query, struct symtab *out,
			      char *found, struct uft_err *err)
{
	DIR *list = opendir(dir);
	struct dirent *entry;
	int ret = 0;

	if (!list)
		return err_set_errno(err, -errno, "cannot open '%s'", dir);
	while (ret == 0 && (entry = readdir(list))) {
		if (!is_numbered(entry->d_name, path_base(query->path)))
			continue;
		ret = try_file(dir, entry->d_name, query, out, err);
		if (ret == 1)
			strcpy(found, entry->d_name);
	}
	closedir(list);
	return ret;
}

int sym_dir_load(const char *dir, const struct sym_query *query, struct symtab *out, char **name,
		 struct uft_err *err)
{
	char found[NAME_MAX + 1];
	int ret = 0;

	if (snprintf(found, sizeof(found), "%s.sym", path_base(query->path)) < (int)sizeof(found))
		ret = try_file(dir, found, query, out, err);
	if (ret == 0)
		ret = try_numbered_files(dir, query, out, found, err);
	if (ret == 1 && name) {
		*name = strdup(found);
		if (!*name)
			return err_set_errno(err, -ENOMEM, "cannot read '%s'", found);
	}
	return ret;
}
