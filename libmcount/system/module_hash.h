/* A hash to tell modules apart. */
#ifndef UTRAIL_LIBMCOUNT_MODULE_HASH_H
#define UTRAIL_LIBMCOUNT_MODULE_HASH_H

#include <stdint.h>

/*
 * The FNV-1a hash of a module's path. The load address alone does not identify a module, because
 * another module may later be loaded at the same address. The hash distinguishes these modules.
 */
static inline uint64_t module_path_hash(const char *path)
{
	uint64_t hash = 0xcbf29ce484222325ULL;

	for (; *path; path++)
		hash = (hash ^ (unsigned char)*path) * 0x100000001b3ULL;
	return hash;
}

#endif
