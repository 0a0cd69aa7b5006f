/*
 * Shared libraries that are loaded only when they are needed. If they were loaded at each start,
 * each start would take longer.
 */
#ifndef UTRAIL_BASE_LIBRARY_H
#define UTRAIL_BASE_LIBRARY_H

#include <stddef.h>

/*
 * A function of a library.
 *
 * @name: the function's symbol
 * @offset: the place of the function pointer in the table of library_load(), in bytes
 */
struct library_function {
	const char *name;
	size_t offset;
};

/*
 * Load the library @soname, and write the addresses of @functions into @table. The library stays
 * loaded. Returns NULL on success. On failure returns the message of dlerror(3), which stays valid
 * until the calling thread calls another function of dlfcn.h. Any thread may call library_load().
 */
const char *library_load(const char *soname, const struct library_function *functions, size_t nr,
			 void *table);

#endif
