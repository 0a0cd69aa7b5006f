/*
 * Output files that a user names: made under a secret name and put in place whole, or written where
 * they are.
 */
#ifndef UTRAIL_BASE_OUTFILE_H
#define UTRAIL_BASE_OUTFILE_H

#include <sys/types.h>

#include "utils/base/err.h"
#include "utils/base/place.h"

#define OUTFILE_TMP_BYTES 48

/*
 * A file that is being written.
 *
 * @fd: to write to
 * @tmp: its name until outfile_publish(); "": it is written in place
 */
struct outfile {
	int fd;
	struct place place;
	char tmp[OUTFILE_TMP_BYTES];
	const char *path;
};

#define OUTFILE_CLOSED ((struct outfile){ .fd = -1, .place = { .dir_fd = -1 } })

/*
 * Begin to write @path, which must stay valid until the end. A regular file, or one that is not
 * there, is written under a random name in the same directory and takes the place of the old one by
 * rename(2). It keeps mode, owner and group of the old one (no rights for others when @mode has
 * none); a new one gets @mode and the umask. A device or a pipe is written as it is. A pipe that
 * nobody reads from, and a block device, are errors at once.
 *
 * Links are followed as place_find() says. A file that cannot keep its owner (another user's, and
 * we are not root) is written in place.
 *
 * 0, or a negative errno with a text that names @path. outfile_deinit() is due in any case.
 */
int outfile_open(struct outfile *out, const char *path, mode_t mode, struct uft_err *err);

/*
 * All is written: put it in its place, on disk first (fsync(2)). 0 or negative errno; the old file
 * stays then.
 */
int outfile_publish(struct outfile *out, struct uft_err *err);

/* Close, and remove a file that was not published. */
void outfile_deinit(struct outfile *out);

#define cleanup_outfile __attribute__((__cleanup__(outfile_deinit)))

/*
 * Say the same as outfile_open(), without making anything: for output that is written after hours.
 * 0 or negative errno.
 */
int outfile_check(const char *path, struct uft_err *err);

/*
 * A descriptor that appends to @path, which is made with @mode and the umask if it is not there.
 * The same links, pipes and owners are refused as by outfile_open(), and files with more than one
 * name where others may write.
 */
int outfile_append(const char *path, mode_t mode, struct uft_err *err);

/* Write a whole file by outfile_open() and outfile_publish(). */
int outfile_put(const char *path, const void *data, size_t len, struct uft_err *err);

#endif
