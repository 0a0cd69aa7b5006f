/* A folder for the test alone, with a file in it, by its real path. */
#ifndef UTRAIL_TESTS_BELOW_H
#define UTRAIL_TESTS_BELOW_H

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static char top[PATH_MAX];

/*
 * Returns the path of @name, which begins with a slash, in the folder. The path is valid until the
 * fourth call after this one.
 */
static inline const char *own_file(const char *name)
{
	static char paths[4][PATH_MAX + 64];
	static unsigned next;
	char *path = paths[next++ % 4];

	snprintf(path, sizeof(paths[0]), "%s%s", top, name);
	return path;
}

/* Make the folder, and "/file" in it. Returns 0 or -1. */
static inline int own_folder_make(void)
{
	char template[] = "/tmp/utrail-unit-XXXXXX";
	int fd;

	if (!mkdtemp(template) || !realpath(template, top))
		return -1;
	fd = open(own_file("/file"), O_CREAT | O_WRONLY, 0600);
	return fd < 0 ? -1 : close(fd);
}

#endif
