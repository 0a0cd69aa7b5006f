/* The store that is a directory. Each file of a recording is a file in the directory. */
#ifndef UTRAIL_CMDS_RECORD_STORE_DIR_H
#define UTRAIL_CMDS_RECORD_STORE_DIR_H

#include <dirent.h>

#include "cmds/record/store/store.h"

/*
 * A store that writes files in a directory. Each of its streams is the descriptor of a file. The
 * struct starts as STORE_DIR_CLOSED.
 *
 * @fd: the directory
 * @has_reserved: disk space was reserved for files (reserve.h). store_dir_close() frees the unused
 *                part of this space
 */
struct store_dir {
	struct store store;
	int fd;
	_Atomic bool has_reserved;
};

#define STORE_DIR_CLOSED \
	{                \
		.fd = -1 \
	}

/*
 * Make the data directory @path, and lock it against other recorders until store_dir_close(). If
 * @path is already a recording, or an empty directory, the directory is renamed to <path>.old. The
 * renamed directory replaces an older <path>.old.
 *
 * Returns 0 or a negative errno. The function fails if @path exists, and is neither a recording nor
 * an empty directory. The function also fails if it cannot replace an older <path>.old because
 * - <path>.old is a link, or is neither a recording nor an empty directory,
 * - <path>.old contains a file that is not a file of a recording, or
 * - another recorder records into <path>.old.
 */
int store_dir_make(struct store_dir *dir, const char *path, struct uft_err *err);

/* Use the existing directory @fd. The descriptor then belongs to @dir. */
void store_dir_use(struct store_dir *dir, int fd);

/* Close the directory. Call this function after the last append. */
void store_dir_close(struct store_dir *dir);

/*
 * Open a list of the names in the directory @dir_fd. The list has its own read position. The read
 * position of @dir_fd does not change. Returns NULL with errno.
 */
DIR *store_dir_list(int dir_fd);

/*
 * If sudo has started the recorder, give the directory and all its files to the user who ran sudo.
 */
void store_dir_give_to_user(const struct store_dir *dir);

#endif
