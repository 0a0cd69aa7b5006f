/* Where the records of a trace.dat go (see kernel_output.h). */
#include "cmds/import/kernel_output.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>

#include "utils/base/vec.h"
#include "utils/format/datadir.h"

/* What is written at once. */
#define BUFFER_BYTES (1UL << 20)

static void put_name(char name[static NAME_MAX], uint32_t cpu, bool is_hidden)
{
	snprintf(name, NAME_MAX, is_hidden ? DATADIR_TMP("kernel-cpu%u.dat") : "kernel-cpu%u.dat",
		 cpu);
}

static int flush(struct kernel_output *out)
{
	int ret = strbuf_oom(&out->buffered)
			  ? -ENOMEM
			  : store_append(out->store, out->stream, strbuf_str(&out->buffered),
					 out->buffered.len);

	strbuf_reset(&out->buffered);
	return ret;
}

static int take_page(void *self, const uint8_t *page, size_t len)
{
	struct kernel_output *out = self;

	strbuf_add(&out->buffered, page, len);
	return out->buffered.len >= BUFFER_BYTES ? flush(out) : 0;
}

int kernel_output_begin(struct kernel_output *out, uint32_t cpu, struct uft_err *err)
{
	uint32_t *cpus = vec_grow(out->cpus, out->nr_cpus, sizeof(*cpus));
	char name[NAME_MAX];

	if (!cpus)
		return err_set_errno(err, -ENOMEM, "cannot write the records of CPU %u", cpu);
	out->cpus = cpus;
	put_name(name, cpu, out->hides);
	/* What somebody has left who was killed. */
	if (out->hides)
		store_remove(out->store, name);
	out->stream = store_open(out->store, name);
	if (out->stream < 0)
		return err_set_errno(err, out->stream, "cannot write '%s'", name);
	cpus[out->nr_cpus++] = cpu;
	out->pages =
		(struct kernel_pages){ .layout = out->layout, .write = take_page, .self = out };
	return 0;
}

int kernel_output_end(struct kernel_output *out, struct uft_err *err)
{
	int ret = kernel_pages_finish(&out->pages);

	if (ret == 0)
		ret = flush(out);
	kernel_pages_deinit(&out->pages);
	store_close(out->store, out->stream);
	out->stream = -1;
	return ret < 0 ? err_set_errno(err, ret, "cannot write the records of CPU %u",
				       out->cpus[out->nr_cpus - 1])
		       : 0;
}

int kernel_output_publish(struct kernel_output *out, const struct tracedat *file, int dir_fd,
			  struct uft_err *err)
{
	struct strbuf header cleanup_strbuf = { 0 };
	char hidden[NAME_MAX];
	char name[NAME_MAX];
	int ret = 0;

	kernel_header_put_layout(&header, &out->layout);
	strbuf_add(&header, strbuf_str(&file->files), file->files.len);
	if (strbuf_oom(&header))
		return err_set_errno(err, -ENOMEM, "cannot write 'kernel_header'");
	if (file->kallsyms.len)
		ret = store_publish(out->store, "kallsyms", file->kallsyms.data, file->kallsyms.len,
				    err);
	for (size_t i = 0; ret == 0 && out->hides && i < out->nr_cpus; i++) {
		put_name(hidden, out->cpus[i], true);
		put_name(name, out->cpus[i], false);
		if (renameat(dir_fd, hidden, dir_fd, name) < 0)
			ret = err_set_errno(err, -errno, "cannot write '%s'", name);
	}
	/* Without it nobody looks at the others. */
	return ret < 0 ? ret
		       : store_publish(out->store, "kernel_header", header.data, header.len, err);
}

void kernel_output_remove(struct kernel_output *out)
{
	char name[NAME_MAX];

	for (size_t i = 0; i < out->nr_cpus * 2; i++) {
		put_name(name, out->cpus[i / 2], i % 2);
		store_remove(out->store, name);
	}
	store_remove(out->store, "kernel_header");
	store_remove(out->store, "kallsyms");
}

void kernel_output_deinit(struct kernel_output *out)
{
	if (out->stream >= 0)
		store_close(out->store, out->stream);
	kernel_pages_deinit(&out->pages);
	strbuf_deinit(&out->buffered);
	free(out->cpus);
}
