/*
 * Output files that a user names: created under a secret name and renamed when complete, or written
 * in place.
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
 * @fd: its descriptor
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
 * Begin to write @path, which must stay valid until the end. A regular or new file is written under
 * a random name in the same directory and then renamed over the old one. The new file keeps mode,
 * owner and group of the old one (others get no rights when @mode has none). A new file gets @mode
 * and the umask. A device or a pipe is written in place. A pipe without a reader, and a block
 * device, are errors at once.
 *
 * Links are followed by the rules of place_find(). A file that cannot keep its owner (another
 * user's, and we are not root) is written in place.
 *
 * 0, or a negative errno with a text that names @path. outfile_deinit() is required in any case.
 */
int outfile_open(struct outfile *out, const char *path, mode_t mode, struct uft_err *err);

/*
 * Publish the complete file, after it was written to disk (fsync(2)). 0 or negative errno; after an
 * error the old file stays.
 */
int outfile_publish(struct outfile *out, struct uft_err *err);

/* Close, and remove a file that was not published. */
void outfile_deinit(struct outfile *out);

#define cleanup_outfile __attribute__((__cleanup__(outfile_deinit)))

/*
 * Make the checks of outfile_open(), and create nothing. Call this for output that is written hours
 * later. 0 or negative errno.
 */
int outfile_check(const char *path, struct uft_err *err);

/*
 * Open a descriptor that appends to @path, created with @mode and the umask if missing. It refuses
 * the links, pipes and owners that outfile_open() refuses, and files with several names in
 * directories that others may write to.
 */
int outfile_append(const char *path, mode_t mode, struct uft_err *err);

/* Write a whole file with outfile_open() and outfile_publish(). */
int outfile_put(const char *path, const void *data, size_t len, struct uft_err *err);

#endif
