/* The hash that tells modules apart. */
#ifndef UTRAIL_LIBMCOUNT_MODULE_HASH_H
#define UTRAIL_LIBMCOUNT_MODULE_HASH_H

#include <stdint.h>

/*
 * The hash of a module's path. With the load address it distinguishes a module from one that is
 * loaded later at the same address. FNV-1a.
 */
static inline uint64_t module_path_hash(const char *path)
{
	uint64_t hash = 0xcbf29ce484222325ULL;

	for (; *path; path++)
		hash = (hash ^ (unsigned char)*path) * 0x100000001b3ULL;
	return hash;
}

#endif
