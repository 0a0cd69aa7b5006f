/* Files that do not count as dependencies (see deps_ignored.h). */
#include "utils/builddb/deps_ignored.h"

#include <errno.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include "utils/base/cleanup.h"
#include "utils/base/compiler.h"

/*
 * Files that count as no dependency: caches of the dynamic linker; tables of character sets,
 * languages, time zones, users and hosts; and files of the kernel. A change in one of them does not
 * change any output.
 */
static const char *const defaults[] = {
	"/etc/ld.so.cache",
	"/etc/ld.so.preload",
	"/etc/ld-musl-*.path",
	"/usr/lib*/gconv/*",
	"/lib*/gconv/*",
	"/usr/lib/locale/*",
	"/usr/share/locale/*",
	"/usr/share/locale-langpack/*",
	"/etc/locale.alias",
	"/etc/localtime",
	"/etc/timezone",
	"/usr/share/zoneinfo/*",
	"/etc/nsswitch.conf",
	"/etc/passwd",
	"/etc/group",
	"/etc/host.conf",
	"/etc/hosts",
	"/etc/resolv.conf",
	"/etc/gai.conf",
	"/proc/*",
	"/sys/*",
	"/dev/shm/sem.*",
	"/dev/[!s]*",
};

static bool is_word(const char *word, size_t len, const char *right)
{
	return strlen(right) == len && memcmp(word, right, len) == 0;
}

/* Take the next word of a list, and move *@at past it. Returns false at the end. *@len may be 0. */
static bool next_word(const char **at, const char **word, size_t *len)
{
	if (!*at)
		return false;
	*word = *at;
	*len = strcspn(*at, ";");
	*at = (*word)[*len] ? *word + *len + 1 : NULL;
	return true;
}

int deps_ignored_check(const char *list, struct uft_err *err)
{
	const char *word;
	size_t len;

	while (next_word(&list, &word, &len)) {
		if (is_word(word, len, "default") || is_word(word, len, "none"))
			continue;
		if (!len || !strchr("/*?[", *word))
			return err_set(err, -ERR_USAGE,
				       "option '--ignore-files': '%.*s' matches no path: globs of "
				       "whole paths begin with / or *, and else there are the "
				       "words default and none",
				       (int)len, word);
	}
	return 0;
}

/* The part before the first special character is compared first: most paths differ there. */
static bool matches_glob(const char *glob, const char *path)
{
	size_t plain = strcspn(glob, "*?[\\");

	return strncmp(glob, path, plain) == 0 && fnmatch(glob, path, 0) == 0;
}

static void hide(struct files *files, const char *glob, const char *without)
{
	size_t len = without ? strlen(without) : 0;

	for (size_t i = 0; i < files->nr_names; i++) {
		const char *path = files->names[i].path;
		bool is_kept = len > 1 && strncmp(path, without, len) == 0 && path[len] == '/';

		if (!is_kept && !files->names[i].is_hidden)
			files->names[i].is_hidden = matches_glob(glob, path);
	}
}

static void hide_defaults(struct files *files, const struct executions *executions)
{
	const char *dir = executions->nr ? executions->all[0].cwd : NULL;

	for (size_t i = 0; i < ARRAY_SIZE(defaults); i++)
		hide(files, defaults[i], dir);
}

int deps_ignored_hide(struct files *files, const struct executions *executions, const char *list)
{
	const char *word;
	size_t len;

	list = list ? list : "default";
	while (next_word(&list, &word, &len)) {
		char *glob cleanup_free = strndup(word, len);

		if (!glob)
			return -ENOMEM;
		if (strcmp(glob, "default") == 0)
			hide_defaults(files, executions);
		else if (strcmp(glob, "none") != 0)
			hide(files, glob, NULL);
	}
	return 0;
}
