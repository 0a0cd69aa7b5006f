/* A sign that the files of a recording have changed since the last look at them. */
#ifndef UTRAIL_CMDS_GROWTH_H
#define UTRAIL_CMDS_GROWTH_H

#include <stdint.h>

/*
 * A number that is another one after a file of the data directory @dir was written or deleted. It
 * comes from the sizes and times of the files. 0 when @dir cannot be read.
 */
uint64_t growth_stamp(const char *dir);

#endif
