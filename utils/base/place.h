/* The directory and the last name of a path, found without trust in links of other users. */
#ifndef UTRAIL_BASE_PLACE_H
#define UTRAIL_BASE_PLACE_H

#include <limits.h>
#include <stdbool.h>
#include <sys/stat.h>

#include "utils/base/err.h"

/*
 * The place of an existing or new file.
 *
 * @dir_fd: the directory, opened with O_PATH; closed by place_deinit()
 * @name: the last name: not a link, unless @is_kernels
 * @is_there: the name exists, and @st is set
 * @is_kernels: the name is a link of procfs, as for /dev/stdout, which is opened and never replaced
 * @is_shared: users other than the caller and root may create names in the directory
 */
struct place {
	int dir_fd;
	char name[NAME_MAX + 1];
	bool is_there;
	bool is_kernels;
	bool is_shared;
	struct stat st;
};

#define PLACE_NOWHERE ((struct place){ .dir_fd = -1 })

/*
 * Follow @path to its place. Links of the caller and of root are followed. A link of another user
 * is
 *  - refused in a directory in which all may create names (mode o+w or sticky), on any kernel; the
 *    kernel's protected_symlinks refuses a part of them (proc_sys_fs(5));
 *  - followed elsewhere only to files of the owner of the link.
 * The last name need not exist. Each step works on descriptors, so the checked file is the one that
 * is used.
 *
 * 0, or a negative errno with a text that names @path: -EACCES for a refused link, -EISDIR for a
 * directory as the last name, -ELOOP after 40 links.
 */
int place_find(struct place *place, const char *path, struct uft_err *err);

/*
 * Like place_find(), for a directory that will be created: its last name is not followed. Trailing
 * slashes are ignored. -EISDIR for "/" and for paths that end in "." or "..".
 */
int place_find_parent(struct place *place, const char *path, struct uft_err *err);

/*
 * Check that the existing file belongs to us, so that we may write into it. -EACCES with a text for
 * a file of another user.
 */
int place_check_owner(const struct place *place, const char *path, struct uft_err *err);

void place_deinit(struct place *place);

#define cleanup_place __attribute__((__cleanup__(place_deinit)))

#endif
