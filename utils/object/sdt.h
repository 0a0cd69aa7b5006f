/* Static probes (SDT): places in a program or library that <sys/sdt.h> marks for tracers. */
#ifndef UTRAIL_OBJECT_SDT_H
#define UTRAIL_OBJECT_SDT_H

#include "utils/base/err.h"
#include "utils/object/elf_file.h"

/*
 * A marked place, which has a `nop`. A probe may have several places (inlined functions, or the
 * same name twice).
 *
 * @provider, @name: on the heap, never empty, without control characters
 * @args: the places of its arguments, in assembler syntax ("4@%eax -8@8(%rsp)"); ""
 *        when it has none
 * @pc: the file's own address of the `nop`
 * @semaphore: the file's own address of a 16-bit counter: while it is 0 the program may skip
 *             the probe. 0: there is none
 *
 * The note format is that of <sys/sdt.h> of SystemTap: section .note.stapsdt, notes of type 3 named
 * "stapsdt".
 */
struct sdt_probe {
	char *provider;
	char *name;
	char *args;
	uint64_t pc;
	uint64_t semaphore;
};

/* Marked places in the file's order. Starts as { 0 }, ends with sdt_probes_deinit(). */
struct sdt_probes {
	struct sdt_probe *probes;
	size_t nr;
};

/*
 * Load the marked places of @file, named @path in errors, into the empty @out. 0, also when it has
 * none or has another byte order; -EINVAL for damaged notes, with the place of the first damage;
 * -ENOMEM. @out is empty after a failure.
 */
int sdt_probes_load(const struct elf_file *file, const char *path, struct sdt_probes *out,
		    struct uft_err *err);

/* Like sdt_probes_load(), for the file @path. Also errors of elf_file_open(). */
int object_sdt_load(const char *path, struct sdt_probes *out, struct uft_err *err);

void sdt_probes_deinit(struct sdt_probes *probes);
#define cleanup_sdt_probes cleanup(sdt_probes_deinit)

#endif
