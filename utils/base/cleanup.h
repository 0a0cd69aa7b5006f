/* Variables whose resource is released at the end of the block. */
#ifndef UTRAIL_BASE_CLEANUP_H
#define UTRAIL_BASE_CLEANUP_H

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static inline void cleanup_free_fn(void *p)
{
	free(*(void **)p);
}

static inline void cleanup_fd_fn(int *fd)
{
	if (*fd >= 0)
		close(*fd);
}

static inline void cleanup_file_fn(FILE **f)
{
	if (*f)
		fclose(*f);
}

static inline void cleanup_dir_fn(DIR **dir)
{
	if (*dir)
		closedir(*dir);
}

/* Run @fn(&variable) at the end of the scope. */
#define cleanup(fn)  __attribute__((cleanup(fn)))
/* Heap memory: char *text cleanup_free = strdup(...); */
#define cleanup_free cleanup(cleanup_free_fn)
/* Descriptor: the variable starts as -1 or as an open descriptor. */
#define cleanup_fd   cleanup(cleanup_fd_fn)
#define cleanup_file cleanup(cleanup_file_fn)
#define cleanup_dir  cleanup(cleanup_dir_fn)

/* Returns the pointer @p and sets @p to NULL, so that the cleanup does not free it. */
#define take_ptr(p)                            \
	({                                     \
		__typeof__(p) take_ptr_ = (p); \
		(p) = NULL;                    \
		take_ptr_;                     \
	})

/* Like take_ptr(), for a descriptor: *@fd becomes -1. */
static inline int take_fd(int *fd)
{
	int given = *fd;

	*fd = -1;
	return given;
}

#endif
