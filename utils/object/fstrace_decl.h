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
 * Load the declarations of @file. Returns 0, -EINVAL for a damaged section, or -ENOMEM. For a
 * damaged section, @err has the place of the damage. A file without declarations is no error. @out
 * is empty after a failure.
 *
 * @path: the name of @file in the text of @err
 */
int fstrace_decls_load(const struct elf_file *file, const char *path, struct fstrace_decls *out,
		       struct uft_err *err);

/*
 * Open the file @path, and load its declarations with fstrace_decls_load(). If elf_file_open()
 * fails, returns the error of elf_file_open(), and leaves @out unchanged.
 */
int object_fstrace_load(const char *path, struct fstrace_decls *out, struct uft_err *err);

void fstrace_decls_deinit(struct fstrace_decls *decls);
#define cleanup_fstrace_decls cleanup(fstrace_decls_deinit)

#endif
