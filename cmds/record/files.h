/* The data directory and the files in it, as seen by a recorder. */
#ifndef UTRAIL_CMDS_RECORD_FILES_H
#define UTRAIL_CMDS_RECORD_FILES_H

#include <stdbool.h>
#include <stddef.h>

#include "utils/base/err.h"
#include "utils/base/strbuf.h"

/*
 * Make the data directory @path: what is there and is a recording, or empty, becomes <path>.old, which replaces an older one of that
 * name. What is something else stays, and is an error, and so is an older one that has other files, is a link, or that
 * somebody is recording into. Returns a descriptor of the directory, or negative errno; as long as that is open, the directory is
 * locked, so that nobody replaces it.
 */
int files_make_dir(const char *path, struct uft_err *err);

/*
 * The name of a module's symbol file: <basename>.sym, or with a part of the build-id (or a sum of
 * the path) when another module has taken that (doc/formats/symbols.md, "Names of the files"). False when the
 * module's symbols are saved already.
 */
bool files_choose_name(int dir_fd, const char *path, const char *build_id, char *name, size_t size);

/* Write a whole file of the directory, visible only when it is complete. */
int files_publish(int dir_fd, const char *name, const void *data, size_t len, struct uft_err *err);

/*
 * Files of which there is one for each CPU, "<prefix><cpu>.dat": a descriptor that appends, or negative errno; write a whole one;
 * remove those of the first @nr CPUs.
 */
int files_open_cpu(int dir_fd, const char *prefix, unsigned cpu);
int files_publish_cpu(int dir_fd, const char *prefix, unsigned cpu, const struct strbuf *content);
void files_remove_cpus(int dir_fd, const char *prefix, unsigned nr);

/* When run by sudo: give the directory and all in it to the user who asked. */
void files_give_to_user(int dir_fd);

#endif
