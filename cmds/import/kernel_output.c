/* Writes the records of a trace.dat (see kernel_output.h). */
#include "cmds/import/kernel_output.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>

#include "utils/base/cleanup.h"
#include "utils/base/containers/vec.h"
#include "utils/format/datadir.h"

/* The number of bytes that are written at once. */
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
	/* A previous import that was killed may have left a file with the name @name. */
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

/*
 * True for formats that readers need. trace-cmd saves the formats of all kernel events, and old
 * readers cannot read some of these formats.
 */
static bool is_wanted(const struct kernel_output *out, const struct kernel_file *file)
{
	struct kernel_event_type type;

	if (!kernel_event_type_of(file, &type))
		return true;
	/*
	 * Readers need the formats of function entries and returns. The format of any other event
	 * is needed only if a record has this event.
	 */
	return type.graph.kind || (out->seen[type.id / 64] >> type.id % 64 & 1);
}

static int put_header(const struct kernel_output *out, const struct kernel_header *from,
		      struct strbuf *to)
{
	kernel_header_put_layout(to, &out->layout);
	for (size_t i = 0; i < from->nr_files; i++) {
		const struct kernel_file *file = &from->files[i];
		char *name cleanup_free = text_dup(&file->name);

		if (!name)
			return -ENOMEM;
		if (is_wanted(out, file))
			kernel_header_put_file(to, name, file->content.at,
					       text_left(&file->content));
	}
	return strbuf_oom(to) ? -ENOMEM : 0;
}

int kernel_output_publish(struct kernel_output *out, const struct kernel_formats *formats,
			  const struct strbuf *kallsyms, int dir_fd, struct uft_err *err)
{
	struct strbuf header cleanup_strbuf = { 0 };
	char hidden[NAME_MAX];
	char name[NAME_MAX];
	int ret = put_header(out, &formats->header, &header);

	if (ret < 0)
		return err_set_errno(err, ret, "cannot write 'kernel_header'");
	if (kallsyms->len)
		ret = store_publish(out->store, "kallsyms", kallsyms->data, kallsyms->len, err);
	for (size_t i = 0; ret == 0 && out->hides && i < out->nr_cpus; i++) {
		put_name(hidden, out->cpus[i], true);
		put_name(name, out->cpus[i], false);
		if (renameat(dir_fd, hidden, dir_fd, name) < 0)
			ret = err_set_errno(err, -errno, "cannot write '%s'", name);
	}
	/* The header is written last: readers use the other files only when the header exists. */
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
