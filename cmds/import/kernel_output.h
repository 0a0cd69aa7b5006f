/*
 * Writes the records of a trace.dat to the files kernel-cpu<N>.dat. Also writes kernel_header and
 * kallsyms, which readers need.
 */
#ifndef UTRAIL_CMDS_IMPORT_KERNEL_OUTPUT_H
#define UTRAIL_CMDS_IMPORT_KERNEL_OUTPUT_H

#include "cmds/record/store/store.h"
#include "utils/format/kernel/kernel_pages.h"
#include "utils/pipeline/recording/kernel_formats.h"

/*
 * Starts as { .store = ... }, ends with kernel_output_deinit().
 *
 * @pages: the pages of the CPU whose file is open
 * @buffered: pages that are not written yet
 * @hides: files have hidden names until kernel_output_publish(), so that no other process reads
 *         incomplete files
 * @cpus: the CPUs that have a file
 * @seen: a bit for each event that has records
 */
struct kernel_output {
	struct store *store;
	struct kernel_layout layout;
	struct kernel_pages pages;
	struct strbuf buffered;
	int stream;
	bool hides;
	uint32_t *cpus;
	size_t nr_cpus;
	uint64_t seen[(UINT16_MAX + 1) / 64];
};

/* Remember that there are records of the event with the number @id. */
static inline void kernel_output_see(struct kernel_output *out, uint16_t id)
{
	out->seen[id / 64] |= 1ULL << id % 64;
}

/*
 * kernel_output_begin() begins the file of @cpu, and kernel_output_end() ends this file. Write the
 * files in the order of the CPUs' numbers. Both functions return 0, or a negative error with @err.
 */
int kernel_output_begin(struct kernel_output *out, uint32_t cpu, struct uft_err *err);
int kernel_output_end(struct kernel_output *out, struct uft_err *err);

/*
 * Finish the output. If @kallsyms is not empty, write the file kallsyms. If out->hides is set,
 * rename the files of the CPUs to their final names in the directory @dir_fd. Last, write the file
 * kernel_header. This file gets formats from @formats: the format of each event that has records,
 * and the formats of function entries and function returns. Returns 0, or a negative error with
 * @err.
 */
int kernel_output_publish(struct kernel_output *out, const struct kernel_formats *formats,
			  const struct strbuf *kallsyms, int dir_fd, struct uft_err *err);

/* Remove the files that were written. */
void kernel_output_remove(struct kernel_output *out);
void kernel_output_deinit(struct kernel_output *out);

#endif
