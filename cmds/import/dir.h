/*
 * The directory of a recording into which events are imported. The recording exists already, or is
 * made for the events.
 */
#ifndef UTRAIL_CMDS_IMPORT_DIR_H
#define UTRAIL_CMDS_IMPORT_DIR_H

#include "cmds/opts.h"
#include "cmds/record/store/dir.h"
#include "utils/format/header.h"
#include "utils/format/info.h"

/*
 * Open and lock the recording @path. While the lock is held, no other process can write to the
 * recording. Returns 0, or a negative error with @err.
 */
int import_dir_lock(struct store_dir *dir, const char *path, struct uft_err *err);

/*
 * Make the directory @path, and write @options to the directory's file default.opts. Commands that
 * read the recording use these options by default. Returns 0, or a negative error with @err.
 */
int import_dir_make(struct store_dir *dir, const char *path, const char *options,
		    struct uft_err *err);

/* Returns the header of `info` for a new recording that is made on this machine. */
struct data_header import_dir_header(const struct opts *opts);

/*
 * Set the members of @info for a new recording: the program @exename, the command line of utrail,
 * the version of utrail, the type of patterns (such as glob), and the date. Returns 0 or -ENOMEM.
 */
int import_dir_describe(const struct opts *opts, const char *exename, size_t len,
			struct info *info);

/* Add @tids to the tasks of @info. Returns 0 or -ENOMEM. */
int import_dir_add_tids(struct info *info, const int32_t *tids, size_t nr);

/*
 * Set the size and the masks in @header, and write `info`. Returns 0, or a negative error with
 * @err.
 */
int import_dir_publish(struct store_dir *dir, struct data_header *header, const struct info *info,
		       struct uft_err *err);

#endif
