/*
 * Output files that a user names. A file is created under a random name and renamed when complete,
 * or written in place.
 */
#ifndef UTRAIL_BASE_OUTFILE_H
#define UTRAIL_BASE_OUTFILE_H

#include <sys/types.h>

#include "utils/base/err.h"
#include "utils/base/place.h"

#define OUTFILE_TMP_BYTES 48

/*
 * A file being written.
 *
 * @tmp: the file's name until outfile_publish(); "" when the file is written in place
 */
struct outfile {
	int fd;
	struct place place;
	char tmp[OUTFILE_TMP_BYTES];
	const char *path;
};

#define OUTFILE_CLOSED ((struct outfile){ .fd = -1, .place = { .dir_fd = -1 } })

/*
 * Begin to write @path, which must stay valid until outfile_deinit(). Returns 0, or a negative
 * errno with a text that names @path. Call outfile_deinit() in any case. Links are followed or
 * refused as in place_find().
 *
 * A regular or new file is written under a random name in the file's directory, then renamed. A
 * file that replaces an old file gets the owner, group and mode of the old file. If @mode has
 * rights for the owner alone, the new file gets no rights for the group and for others, even if the
 * old file has such rights. A file that replaces no old file gets @mode without the bits of the
 * umask.
 *
 * Devices and pipes are written in place. A regular file is written in place if a new file cannot
 * get the old file's owner, group and mode. If @path leads to a link of procfs (as /dev/stdout
 * does), the new content is appended to the file. A block device, a socket, and a pipe without a
 * reader are errors.
 */
int outfile_open(struct outfile *out, const char *path, mode_t mode, struct uft_err *err);

/*
 * Complete the file. Returns 0 or a negative errno.
 *
 * - A file with a random name is written to disk (fsync(2)), and renamed to @out->path. After an
 *   error the old file stays.
 * - A regular file that is written in place is cut after the new content, unless the new content
 *   was appended.
 */
int outfile_publish(struct outfile *out, struct uft_err *err);

/* Close the file. A file that still has a random name is removed. */
void outfile_deinit(struct outfile *out);

#define cleanup_outfile __attribute__((__cleanup__(outfile_deinit)))

/*
 * Check, without creating a file, that outfile_open() would accept @path. If the output is written
 * hours after the start of a command, call this function at the start. Returns 0 or a negative
 * errno. Devices, pipes and links of procfs are not opened. So the function does not check the
 * caller's rights for these files, and does not check that a pipe has a reader.
 */
int outfile_check(const char *path, struct uft_err *err);

/*
 * Open @path for appending. A new file gets @mode without the bits of the umask. Returns the
 * descriptor, or a negative errno and fills @err. Links are followed or refused as in place_find().
 * Files of other users are accepted or refused as in place_check_owner(). A block device, a socket,
 * and a pipe without a reader are errors. If the directory is shared with other users (is_shared of
 * struct place), a regular file with several hard links is refused.
 */
int outfile_append(const char *path, mode_t mode, struct uft_err *err);

/* Write a whole file. Returns 0 or a negative errno. */
int outfile_put(const char *path, const void *data, size_t len, struct uft_err *err);

#endif
