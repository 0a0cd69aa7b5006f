/*
 * The directory and the last name that a path leads to, found without trust in links of other
 * users.
 */
#ifndef UTRAIL_BASE_PLACE_H
#define UTRAIL_BASE_PLACE_H

#include <limits.h>
#include <stdbool.h>
#include <sys/stat.h>

#include "utils/base/err.h"

/*
 * The place of a file that is there, or would be.
 *
 * @dir_fd: of the directory, opened with O_PATH; closed by place_deinit()
 * @name: the last name, which is no link, or one that the kernel follows (@is_kernels)
 * @is_there: there is something of that name, and @st tells of it
 * @is_kernels: a link of procfs, as /dev/stdout leads to: it is opened and never replaced
 * @is_shared: others than the caller and root may make names in the directory
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
 * Follow @path to its place. Links of the caller and of root are followed. A link of anybody else
 * is
 *  - refused in a directory in which all may make names (mode o+w or sticky), as the kernel's
 *    protected_symlinks does for a part of these (proc_sys_fs(5)), here on any kernel;
 *  - followed elsewhere only to files of the owner of the link.
 * The last name need not be there. Each step works on descriptors, so the file that was looked at
 * is the file that is used.
 *
 * 0, or a negative errno with a text that names @path: -EACCES for a refused link, -EISDIR for a
 * directory as the last name, -ELOOP after 40 links.
 */
int place_find(struct place *place, const char *path, struct uft_err *err);

/*
 * The same for a directory that is to be made: its last name is not followed, whatever it is.
 * Slashes at the end count for nothing. -EISDIR for "/" and for paths that end in "." or "..".
 */
int place_find_parent(struct place *place, const char *path, struct uft_err *err);

/*
 * Check that it is allowed to write into the file that is there. -EACCES with a text for a file
 * that another user has put there.
 */
int place_check_owner(const struct place *place, const char *path, struct uft_err *err);

void place_deinit(struct place *place);

#define cleanup_place __attribute__((__cleanup__(place_deinit)))

#endif
