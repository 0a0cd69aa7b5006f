/* The advice after "There is no recording": what the user can do, and recordings nearby. */
#ifndef UTRAIL_CMDS_NEAR_DATA_H
#define UTRAIL_CMDS_NEAR_DATA_H

#include <stdbool.h>
#include <time.h>

#include "utils/base/err.h"

/*
 * Append advice to @err. The text in @err says already that the directory @wanted, or the file
 * `info` in it, does not exist.
 * @is_default: the user has not named a directory.
 */
void near_data_add(const char *wanted, bool is_default, struct uft_err *err);

/*
 * True when the folder @name in @dir_fd holds a recording. @time gets the time when the recording
 * was made.
 */
bool near_data_is_recording(int dir_fd, const char *name, time_t *time);

#endif
