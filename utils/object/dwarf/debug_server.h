/*
 * Debug files from servers (debuginfod), for users who have configured them in DEBUGINFOD_URLS
 * (debuginfod(8)).
 */
#ifndef UTRAIL_OBJECT_DEBUG_SERVER_H
#define UTRAIL_OBJECT_DEBUG_SERVER_H

#include "utils/object/elf_file.h"

/*
 * Open the debug file of the program with that build-id, in hexadecimal digits. A server sends it
 * once, which may take up to $DEBUGINFOD_TIMEOUT; later it is in the user's cache. False when
 * DEBUGINFOD_URLS is empty, when no server has it, in a build without the feature, and when the
 * library, libdebuginfod.so.1, is not installed. The caller must compare the file's build-id.
 */
bool debug_server_open(const char *build_id, struct elf_file *debug);

#endif
