/* Static probes (SDT): places in a program or library that <sys/sdt.h> marks for tracers. */
#ifndef UTRAIL_OBJECT_SDT_H
#define UTRAIL_OBJECT_SDT_H

#include "utils/base/err.h"
#include "utils/object/elf_file.h"

/*
 * A marked place of a static probe: a `nop`. A static probe may have several places (in inlined
 * functions, or because several static probes of the source have the same name). <sys/sdt.h> of
 * SystemTap defines the format: section .note.stapsdt, notes of type 3 named "stapsdt".
 *
 * @provider, @name: on the heap, never empty, without control characters
 * @args: the arguments' sizes and locations in assembler syntax ("4@%eax -8@8(%rsp)"); "": no
 *        arguments
 * @pc: address of the `nop` in the file
 * @semaphore: address of a 16-bit counter in the file; 0: the static probe has no counter. While
 *         the counter is 0, the program may skip the place
 */
struct sdt_probe {
	char *provider;
	char *name;
	char *args;
	uint64_t pc;
	uint64_t semaphore;
};

/* Static probes in the order of the file. Starts as { 0 } and ends with sdt_probes_deinit(). */
struct sdt_probes {
	struct sdt_probe *probes;
	size_t nr;
};

/*
 * Load the static probes of @file. Notes of big-endian files are ignored. Returns 0 on success. If
 * memory is short, returns -ENOMEM with @err. If a note is damaged, returns -EINVAL with @err.
 * After a failure, @out is empty.
 *
 * @path: the file's name in errors
 */
int sdt_probes_load(const struct elf_file *file, const char *path, struct sdt_probes *out,
		    struct uft_err *err);

/*
 * Like sdt_probes_load(), for the file @path. If elf_file_open() fails, returns the error of
 * elf_file_open(), and leaves @out unchanged.
 */
int object_sdt_load(const char *path, struct sdt_probes *out, struct uft_err *err);

void sdt_probes_deinit(struct sdt_probes *probes);
#define cleanup_sdt_probes cleanup(sdt_probes_deinit)

#endif
