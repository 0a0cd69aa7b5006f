/*
 * Writes facts about the machine, and about the resources that the program has used, to the `info`
 * file.
 */
#ifndef UTRAIL_CMDS_RECORD_RUN_SYSINFO_H
#define UTRAIL_CMDS_RECORD_RUN_SYSINFO_H

#include <sys/resource.h>

#include "utils/format/info.h"

/*
 * Fill in the items about the machine: cpu, memory, system, load, sysctl. An unknown item is left
 * out, and its bit is not set. Returns 0 or -ENOMEM.
 */
int sysinfo_add_machine(struct info *info);

/* Fill in the item about the resources that the program has used. */
void sysinfo_add_usage(struct info *info, const struct rusage *usage);

#endif
