/* Debug files from servers (debuginfod(8)), for users who have set DEBUGINFOD_URLS. */
#ifndef UTRAIL_OBJECT_DEBUG_SERVER_H
#define UTRAIL_OBJECT_DEBUG_SERVER_H

#include "utils/object/elf_file.h"

/*
 * Open the debug file of the program with @build_id, in hexadecimal digits. The caller must compare
 * the build-id of the file.
 *
 * A server sends a file once, which may take $DEBUGINFOD_TIMEOUT, into the user's cache. Returns
 * false when no server of DEBUGINFOD_URLS has the file, or without libdebuginfod.so.1 or the
 * feature of this build.
 */
bool debug_server_open(const char *build_id, struct elf_file *debug);

#endif
