/* Debug files from servers, in a build without libdebuginfod: none (see debug_server.h). */
#include "utils/object/dwarf/debug_server.h"

bool debug_server_open(const char *build_id, struct elf_file *debug)
{
	return false;
}
