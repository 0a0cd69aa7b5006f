/* Per-CPU files of a recording, for example "perf-cpu3.dat". */
#ifndef UTRAIL_PIPELINE_CPU_FILES_H
#define UTRAIL_PIPELINE_CPU_FILES_H

#include <stdint.h>

#include "utils/base/err.h"

/*
 * Call @fn for each file "<prefix><cpu>.dat" in @dir, in the order of CPUs.
 *
 * Returns 0. If @fn returns a negative value, the loop ends, and cpu_files_each() returns this
 * value. If @dir cannot be read, or memory is short, returns a negative errno and sets @err.
 */
int cpu_files_each(const char *dir, const char *prefix,
		   int (*fn)(void *self, const char *name, uint32_t cpu), void *self,
		   struct uft_err *err);

/*
 * Returns the number of the highest CPU that has a file "<prefix><cpu>.dat" in @dir, plus one.
 * Returns 0 if no CPU has such a file.
 */
uint32_t cpu_files_count(const char *dir, const char *prefix);

#endif
