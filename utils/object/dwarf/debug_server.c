/* Debug files from servers (see debug_server.h). */
#include "utils/object/dwarf/debug_server.h"

#include <elfutils/debuginfod.h>
#include <stddef.h>
#include <stdlib.h>
#include <unistd.h>

#include "utils/base/compiler.h"
#include "utils/base/library.h"

struct functions {
	__typeof__(debuginfod_begin) *begin;
	__typeof__(debuginfod_end) *end;
	__typeof__(debuginfod_find_debuginfo) *find_debuginfo;
};

static const struct library_function rows[] = {
	{ "debuginfod_begin", offsetof(struct functions, begin) },
	{ "debuginfod_end", offsetof(struct functions, end) },
	{ "debuginfod_find_debuginfo", offsetof(struct functions, find_debuginfo) },
};

/*
 * Loads libdebuginfod on demand. libdebuginfod needs twenty other libraries, which
 * would slow down each start of utrail.
 */
static bool load_debuginfod(struct functions *server)
{
	return library_load(DEBUGINFOD_SONAME, rows, ARRAY_SIZE(rows), server) == NULL;
}

bool debug_server_open(const char *build_id, struct elf_file *debug)
{
	const char *urls = getenv("DEBUGINFOD_URLS");
	char *path = NULL;
	struct functions server;
	bool is_open = false;

	if (!urls || !*urls || !*build_id || !load_debuginfod(&server))
		return false;

	debuginfod_client *client = server.begin();

	if (!client)
		return false;

	/* Length 0: the build-id is text (debuginfod_find_debuginfo(3)). */
	int fd = server.find_debuginfo(client, (const unsigned char *)build_id, 0, &path);

	if (fd >= 0) {
		is_open = elf_file_open(debug, path, NULL) == 0;
		close(fd);
	}
	free(path);
	server.end(client);
	return is_open;
}
