/* Paths of files, as text. */
#ifndef UTRAIL_BASE_PATH_H
#define UTRAIL_BASE_PATH_H

#include <string.h>

/* Returns the part of @path after the last '/', or all of @path if @path has no '/'. */
static inline const char *path_base(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

#endif
