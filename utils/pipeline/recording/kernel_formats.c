/* Formats of the kernel's records (see kernel_formats.h). */
#include "utils/pipeline/recording/kernel_formats.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "utils/base/fd.h"
#include "utils/format/bytes.h"

#define HEADER_MAX_BYTES (64UL << 20)

static int compare_types(const void *a, const void *b)
{
	const struct kernel_event_type *x = a;
	const struct kernel_event_type *y = b;

	return (x->id > y->id) - (x->id < y->id);
}

static int collect_types(struct kernel_formats *formats)
{
	const struct kernel_header *header = &formats->header;

	formats->types = calloc(header->nr_files + 1, sizeof(*formats->types));
	if (!formats->types)
		return -ENOMEM;
	for (size_t i = 0; i < header->nr_files; i++)
		formats->nr_types += kernel_event_type_of(&header->files[i],
							  &formats->types[formats->nr_types]);
	qsort(formats->types, formats->nr_types, sizeof(*formats->types), compare_types);
	if (!formats->nr_types)
		return 1;
	formats->nr_places = formats->types[formats->nr_types - 1].id + 1UL;
	formats->places = calloc(formats->nr_places, sizeof(*formats->places));
	if (!formats->places)
		return -ENOMEM;
	/* If formats have the same number, the first of them counts. So the loop runs backwards. */
	for (size_t i = formats->nr_types; i-- > 0;)
		formats->places[formats->types[i].id] = i + 1;
	return 1;
}

int kernel_formats_read(struct kernel_formats *formats, struct strbuf *text, struct uft_err *err)
{
	bool is_cut;

	kernel_formats_deinit(formats);
	formats->text = *text;
	*text = (struct strbuf){ 0 };

	int ret = kernel_header_decode(
		&formats->header, text_of(formats->text.data, formats->text.len), &is_cut, err);

	return ret == 0 ? collect_types(formats) : ret;
}

int kernel_formats_load(struct kernel_formats *formats, const char *dir, struct uft_err *broken,
			struct uft_err *err)
{
	struct strbuf text cleanup_strbuf = { 0 };
	struct uft_err why = { 0 };
	char path[PATH_MAX];

	if (formats->types)
		return 1;
	if (formats->damage.code) {
		err_set(broken, formats->damage.code, "%s", formats->damage.text);
		return 0;
	}
	snprintf(path, sizeof(path), "%s/kernel_header", dir);
	if (access(path, F_OK) < 0)
		return 0;

	int ret = file_read_all(path, HEADER_MAX_BYTES, &text, err);

	if (ret < 0)
		return ret;
	ret = kernel_formats_read(formats, &text, &why);
	if (ret < 0)
		kernel_formats_deinit(formats);
	if (ret == -EBADMSG) {
		err_set(&formats->damage, ret, "cannot read '%s': %s", path, why.text);
		err_set(broken, ret, "%s", formats->damage.text);
		return 0;
	}
	return ret < 0 ? err_set_errno(err, ret, "cannot read '%s'", path) : ret;
}

void kernel_formats_deinit(struct kernel_formats *formats)
{
	kernel_header_deinit(&formats->header);
	strbuf_deinit(&formats->text);
	free(formats->types);
	free(formats->places);
	*formats = (struct kernel_formats){ 0 };
}

bool kernel_formats_have_calls(const struct kernel_formats *formats)
{
	for (size_t i = 0; i < formats->nr_types; i++) {
		if (formats->types[i].graph.kind)
			return true;
	}
	return false;
}

int32_t kernel_formats_other_task(const struct kernel_formats *formats,
				  const struct kernel_event_type *type,
				  const struct kernel_record *rec)
{
	if (!type || !type->task_offset || rec->len < type->task_offset + 4)
		return 0;
	return get_u32(rec->data + type->task_offset, formats->header.layout.is_big_endian);
}
