/* Debug files from servers (see debug_server.h). */
#include "utils/object/dwarf/debug_server.h"

#include <dlfcn.h>
#include <elfutils/debuginfod.h>
#include <stdlib.h>
#include <unistd.h>

struct functions {
	__typeof__(debuginfod_begin) *begin;
	__typeof__(debuginfod_end) *end;
	__typeof__(debuginfod_find_debuginfo) *find_debuginfo;
};

/*
 * Loads the library on demand, because its twenty libraries would slow down each start of utrail.
 * The library has threads, so it stays loaded.
 */
static bool load_debuginfod(struct functions *server)
{
	void *library = dlopen(DEBUGINFOD_SONAME, RTLD_LAZY | RTLD_LOCAL | RTLD_NODELETE);

	if (!library)
		return false;
	server->begin = (__typeof__(server->begin))dlsym(library, "debuginfod_begin");
	server->end = (__typeof__(server->end))dlsym(library, "debuginfod_end");
	server->find_debuginfo = (__typeof__(server->find_debuginfo))dlsym(
		library, "debuginfod_find_debuginfo");
	dlclose(library);
	return server->begin && server->end && server->find_debuginfo;
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
