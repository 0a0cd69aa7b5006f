/* Files of a recording that belong to one CPU each, as "perf-cpu3.dat". */
#ifndef UTRAIL_PIPELINE_CPU_FILES_H
#define UTRAIL_PIPELINE_CPU_FILES_H

#include <stdint.h>

#include "utils/base/err.h"

/*
 * Call @fn with each file "<prefix><cpu>.dat" in @dir, in the order of CPUs.
 *
 * Returns the first negative result of @fn, which ends the loop, or 0; negative with @err when the
 * directory cannot be read.
 */
int cpu_files_each(const char *dir, const char *prefix,
		   int (*fn)(void *self, const char *name, uint32_t cpu), void *self,
		   struct uft_err *err);

/* Returns the number of the highest CPU that has such a file, plus one; 0: there is no file. */
uint32_t cpu_files_count(const char *dir, const char *prefix);

#endif
