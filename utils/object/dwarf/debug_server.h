/* Debug files from servers (debuginfod(8)), for users who have set DEBUGINFOD_URLS. */
#ifndef UTRAIL_OBJECT_DEBUG_SERVER_H
#define UTRAIL_OBJECT_DEBUG_SERVER_H

#include "utils/object/elf_file.h"

/*
 * Open the debug file of the program with @build_id (hexadecimal digits). The caller must compare
 * @build_id with the build-id of the opened file. After a transfer, libdebuginfod keeps the file in
 * the user's cache. libdebuginfod gives up when a server sends less than 100 KB in
 * $DEBUGINFOD_TIMEOUT seconds. The whole transfer may take longer.
 *
 * Returns false when no server in DEBUGINFOD_URLS has the file. Also returns false when
 * libdebuginfod.so.1 is not installed, or this build lacks the feature.
 */
bool debug_server_open(const char *build_id, struct elf_file *debug);

#endif
