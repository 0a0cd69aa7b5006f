/* Makes a stamp that shows whether the files of a recording have changed. */
#ifndef UTRAIL_CMDS_GROWTH_H
#define UTRAIL_CMDS_GROWTH_H

#include <stdint.h>

/*
 * Returns a number that changes with the sizes and times of the files in the data directory @dir.
 * Returns 0 when @dir cannot be read.
 */
uint64_t growth_stamp(const char *dir);

#endif
