/*
 * Events that a program or library declares with FSTRACE_DECL() of <fstrace.h>. These declarations
 * are read from the file of the program or library.
 */
#ifndef UTRAIL_OBJECT_FSTRACE_DECL_H
#define UTRAIL_OBJECT_FSTRACE_DECL_H

#include "utils/base/err.h"
#include "utils/object/elf_file.h"

/*
 * @id: name of the event; printable and without blanks
 * @format: NULL when the source has no literal as the format, so that only the running program
 *         knows the format
 */
struct fstrace_decl {
	char *id;
	char *format;
};

/*
 * Declarations, sorted by name, without duplicates. Starts as { 0 } and ends with
 * fstrace_decls_deinit().
 *
 * @has_others: the program may call fstrace_declare(), to declare events that are not in the
 *              program's file
 */
struct fstrace_decls {
	struct fstrace_decl *decls;
	size_t nr;
	bool has_others;
};

/*
 * Load the declarations of @file. @path is its name in errors. Returns 0, also when the file has no
 * declarations; -EINVAL for a damaged section, with the place of the damage in @err; or -ENOMEM.
 * @out is empty after a failure.
 */
int fstrace_decls_load(const struct elf_file *file, const char *path, struct fstrace_decls *out,
		       struct uft_err *err);

/* Like fstrace_decls_load(), for the file @path. It may also return errors of elf_file_open(). */
int object_fstrace_load(const char *path, struct fstrace_decls *out, struct uft_err *err);

void fstrace_decls_deinit(struct fstrace_decls *decls);
#define cleanup_fstrace_decls cleanup(fstrace_decls_deinit)

#endif
