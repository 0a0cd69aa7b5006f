/* Finds the directory and the last name of a path, and distrusts symbolic links of other users. */
#ifndef UTRAIL_BASE_PLACE_H
#define UTRAIL_BASE_PLACE_H

#include <limits.h>
#include <stdbool.h>
#include <sys/stat.h>

#include "utils/base/err.h"

/*
 * The place of an existing or new file.
 *
 * @dir_fd: the directory, opened with O_PATH
 * @name: the last name of the path. After place_find(), @name is a link only if @is_kernels
 *         is set
 * @is_there: a file with the name @name exists, and @st describes the file
 * @is_kernels: the name is a link of procfs (as for /dev/stdout): open it, and never replace it
 * @is_shared: all users may create files in the directory, or the directory belongs neither to the
 *         caller nor to root. Write permission for the directory's group does not matter
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
 * Find the place of @path; the last name need not exist. Each step works on descriptors, so the
 * file that is used is the file that was checked.
 *
 * Here, a directory is public if all users may create names in it (mode o+w). A sticky directory
 * that belongs neither to the caller nor to root also counts as public.
 *
 * Links that belong to the caller or to root are followed. A link that belongs to another user is
 * - refused in a public directory, even if the kernel lacks protected_symlinks (proc_sys_fs(5));
 * - followed in any other directory, but only to files that belong to the owner of the link.
 *
 * Returns 0, or a negative errno with a text that names @path: -EACCES for a refused link, -EISDIR
 * for a directory as the last name, -ELOOP after 40 links.
 */
int place_find(struct place *place, const char *path, struct uft_err *err);

/*
 * Like place_find(), for a directory that will be created. If the last name of @path is a link, the
 * link is not followed. Trailing slashes are ignored. @is_there and @st do not describe the last
 * name, and must not be used. Returns -EISDIR for "/" and for paths that end in "." or "..".
 */
int place_find_parent(struct place *place, const char *path, struct uft_err *err);

/*
 * Check that we may write into an existing file. A file is accepted if it belongs to the caller or
 * to root, or if place->is_kernels is set. Any other file is refused in two cases (-EACCES with a
 * text), and is accepted in all other cases:
 *
 * - The directory is public (see place_find()).
 * - The directory belongs neither to the caller nor to root, and the file is not regular.
 */
int place_check_owner(const struct place *place, const char *path, struct uft_err *err);

void place_deinit(struct place *place);

#define cleanup_place __attribute__((__cleanup__(place_deinit)))

#endif
