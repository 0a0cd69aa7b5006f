/* Suggests recordings near a directory that is no recording (see near_data.h). */
#include "cmds/advice/near_data.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "utils/base/cleanup.h"
#include "utils/base/fd.h"
#include "utils/base/containers/strbuf.h"
#include "utils/format/header.h"

/*
 * The maximum number of entries that are read in one folder. Nearby recordings are only a hint, so
 * a part of a large folder is enough.
 */
#define LOOKED_AT_MAX 4096
#define SHOWN_MAX     3

struct near_recording {
	struct strbuf path; /* the path as the user would type it */
	time_t time;
};

/* The newest of the recordings that were found, in descending order of time. */
struct near_list {
	struct near_recording best[SHOWN_MAX];
	size_t nr;
};

static void cleanup_near_list(struct near_list *list)
{
	for (size_t i = 0; i < list->nr; i++)
		strbuf_deinit(&list->best[i].path);
}

bool near_data_is_recording(int dir_fd, const char *name, time_t *time)
{
	uint8_t bytes[HEADER_SIZE];
	struct data_header header;
	struct stat st;
	int fd cleanup_fd = openat(dir_fd, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	int info cleanup_fd = fd < 0 ? -1 : openat(fd, "info", O_RDONLY | O_CLOEXEC | O_NONBLOCK);

	if (info < 0 || fstat(info, &st) < 0 || !S_ISREG(st.st_mode) ||
	    fd_read_full(info, bytes, sizeof(bytes)) != sizeof(bytes) ||
	    header_decode(bytes, sizeof(bytes), &header, NULL) < 0)
		return false;
	*time = st.st_mtime;
	return true;
}

static void keep_near(struct near_list *list, const char *top, const char *name, time_t time)
{
	struct near_recording near = { .time = time };
	size_t at = list->nr;

	while (at && list->best[at - 1].time < time)
		at--;
	if (at == SHOWN_MAX)
		return;
	strbuf_addf(&near.path, "%s%s", top, name);
	if (list->nr == SHOWN_MAX)
		strbuf_deinit(&list->best[--list->nr].path);
	memmove(&list->best[at + 1], &list->best[at], (list->nr - at) * sizeof(near));
	list->best[at] = near;
	list->nr++;
}

/* @top: a folder, with a slash at its end; "" is the working directory */
static void look_in(const char *top, struct near_list *list)
{
	DIR *dir cleanup_dir = opendir(*top ? top : ".");
	unsigned nr = 0;

	for (struct dirent *e = dir ? readdir(dir) : NULL; e && nr < LOOKED_AT_MAX;
	     e = readdir(dir), nr++) {
		time_t time;

		if ((e->d_type == DT_DIR || e->d_type == DT_UNKNOWN) &&
		    strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0 &&
		    near_data_is_recording(dirfd(dir), e->d_name, &time))
			keep_near(list, top, e->d_name, time);
	}
}

void near_data_add(const char *wanted, bool is_default, struct uft_err *err)
{
	const char *slash = strrchr(wanted, '/');
	char *top cleanup_free = strndup(wanted, slash ? slash + 1 - wanted : 0);
	struct near_list list cleanup(cleanup_near_list) = { 0 };
	struct strbuf text cleanup_strbuf = { 0 };

	if (!top)
		return;
	look_in(top, &list);
	if (!list.nr && !*top)
		look_in("../", &list);
	if (is_default)
		strbuf_addstr(&text, "; 'utrail record PROGRAM' makes a recording");
	for (size_t i = 0; i < list.nr; i++)
		strbuf_addf(&text, "%s'%s'", i ? ", " : "; recordings near by (see -d): ",
			    strbuf_str(&list.best[i].path));
	if (strbuf_oom(&text))
		return;

	size_t used = strlen(err->text);

	snprintf(err->text + used, sizeof(err->text) - used, "%s", strbuf_str(&text));
}
