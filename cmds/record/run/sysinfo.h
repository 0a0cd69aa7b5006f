/* Writes the facts about the machine and the run into the `info` file. */
#ifndef UTRAIL_CMDS_RECORD_RUN_SYSINFO_H
#define UTRAIL_CMDS_RECORD_RUN_SYSINFO_H

#include <sys/resource.h>

#include "utils/format/info.h"

/*
 * Fill the items about the machine: cpu, memory, system, load, sysctl. An unknown item is left out,
 * with its bit. Returns 0 or -ENOMEM.
 */
int sysinfo_add_machine(struct info *info);

/* Fill the item about the resources that the program used. */
void sysinfo_add_usage(struct info *info, const struct rusage *usage);

#endif
