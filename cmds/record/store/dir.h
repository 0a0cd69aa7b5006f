/* The store that is a directory: each file of a recording is a file in it. */
#ifndef UTRAIL_CMDS_RECORD_STORE_DIR_H
#define UTRAIL_CMDS_RECORD_STORE_DIR_H

#include <dirent.h>

#include "cmds/record/store/store.h"

/*
 * @fd: the directory. A stream is a descriptor. Starts as STORE_DIR_CLOSED.
 * @has_reserved: files may have reserved space that they do not need (reserve.h)
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
 * Make the data directory @path, and lock it against other recorders until store_dir_close(). An
 * existing directory that is a recording, or empty, becomes <path>.old, and replaces an older
 * <path>.old. Returns 0 or negative errno. It is an error when @path is something else, or when
 * <path>.old has other files, is a link, or is being recorded into.
 */
int store_dir_make(struct store_dir *dir, const char *path, struct uft_err *err);

/* Use the existing directory @fd; the descriptor then belongs to @dir. */
void store_dir_use(struct store_dir *dir, int fd);

/* Close the directory. Call it when nothing is appended any more. */
void store_dir_close(struct store_dir *dir);

/*
 * Open the list of the directory @dir_fd, with a read position of its own. Returns NULL with errno.
 */
DIR *store_dir_list(int dir_fd);

/* When run by sudo: give the directory and all files in it to the user who ran sudo. */
void store_dir_give_to_user(const struct store_dir *dir);

#endif
