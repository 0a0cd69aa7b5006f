/* Opening a trace.dat (see tracedat.h). */
#include "utils/tracecmd/tracedat.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "utils/base/cleanup.h"
#include "utils/base/fd.h"
#include "utils/format/text.h"
#include "utils/tracecmd/parts.h"

static const char magic[] = "\x17\x08\x44tracing";
#define MAGIC_BYTES (sizeof(magic) - 1)

static const struct packing {
	const char *name;
	unpack_fn *unpack;
} packings[] = {
	{ "none", NULL },
	{ "zstd", unpack_zstd },
	{ "zlib", unpack_zlib },
};

void tracedat_note(struct tracedat *file, const char *fmt, ...)
{
	struct strbuf line cleanup_strbuf = { 0 };
	va_list ap;

	if (file->nr_damage++ >= TRACEDAT_NOTES_MAX)
		return;
	va_start(ap, fmt);
	strbuf_vaddf(&line, fmt, ap);
	va_end(ap);
	strbuf_list_add(&file->damage, strbuf_str(&line));
}

static int read_version(struct tracedat *file, struct tracedat_cursor *in, struct uft_err *err)
{
	char text[16];
	uint64_t version = 0;

	if (tracedat_take_word(in, magic, MAGIC_BYTES, NULL) < 0)
		return err_set(err, -EINVAL, "it is not a file of trace-cmd");

	int ret = tracedat_take_text(in, text, sizeof(text), err);
	struct text number = text_of(text, ret == 0 ? strlen(text) : 0);

	if (ret < 0)
		return ret;
	if (!text_dec(&number, &version) || text_left(&number) || (version != 6 && version != 7))
		return err_set(err, -EINVAL,
			       "it is of version '%s' of trace-cmd's format; 6 and 7 can be read",
			       text);
	file->version = version;
	return 0;
}

/* Read the byte order, sizeof(long) in user programs, and the size of a page. */
static int read_machine(struct tracedat *file, struct tracedat_cursor *in, struct uft_err *err)
{
	uint8_t bytes[2];
	int ret = tracedat_take(in, bytes, sizeof(bytes), err);

	if (ret == 0 && bytes[0] > 1)
		ret = err_set(err, -EBADMSG, "offset %" PRIu64 ": expected the byte order",
			      in->at - sizeof(bytes));
	if (ret < 0)
		return ret;
	file->is_big_endian = in->is_big_endian = bytes[0];
	file->long_size = bytes[1] == 4 ? 4 : 8;
	return tracedat_take_u32(in, &file->page_bytes, err);
}

static const struct packing *find_packing(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(packings); i++) {
		if (strcmp(packings[i].name, name) == 0)
			return &packings[i];
	}
	return NULL;
}

static int read_packing(struct tracedat *file, struct tracedat_cursor *in, struct uft_err *err)
{
	const struct packing *packing;
	char version[TRACEDAT_NAME_MAX];
	int ret = tracedat_take_text(in, file->packing, sizeof(file->packing), err);

	if (ret == 0)
		ret = tracedat_take_text(in, version, sizeof(version), err);
	if (ret < 0)
		return ret;
	packing = find_packing(file->packing);
	if (!packing)
		return err_set(err, -EINVAL,
			       "it is compressed with '%s'; zstd and zlib can be read",
			       file->packing);
	file->unpack = packing->unpack;
	if (file->unpack && file->unpack("", 0, version, 0) == -ENOSYS)
		return err_set(err, -ENOSYS,
			       "it is compressed with %s, and utrail was built without that",
			       file->packing);
	return 0;
}

static int read_all(struct tracedat *file, struct uft_err *err)
{
	struct tracedat_cursor in = { .fd = file->fd, .end = file->bytes };
	int ret = read_version(file, &in, err);

	if (ret == 0)
		ret = read_machine(file, &in, err);
	if (ret == 0 && file->version == 7)
		ret = read_packing(file, &in, err);
	if (ret < 0)
		return ret;

	struct uft_err why = { 0 };

	ret = file->version == 6 ? tracedat_read_v6(file, &in, &why)
				 : tracedat_read_v7(file, &in, &why);
	if (ret < 0 && (ret != -EBADMSG || !file->nr_buffers))
		return err_set(err, ret, "%s", why.text);
	if (ret < 0)
		tracedat_note(file, "%s", why.text);
	return 0;
}

int tracedat_open(struct tracedat *file, const char *path, enum tracedat_limit limit,
		  struct uft_err *err)
{
	struct uft_err why = { 0 };
	struct stat st;

	*file = (struct tracedat){ .fd = file_open_regular(path, err) };
	if (file->fd < 0)
		return file->fd;

	int ret = fstat(file->fd, &st) < 0 ? -errno : 0;

	if (ret < 0)
		return err_set_errno(err, ret, "cannot read '%s'", path);
	file->bytes = st.st_size;
	budget_begin(&file->budget, file->bytes, limit);
	ret = read_all(file, &why);
	return ret < 0 ? err_set(err, ret, "cannot read '%s': %s", path, why.text) : 0;
}

void tracedat_close(struct tracedat *file)
{
	for (size_t i = 0; i < file->nr_buffers; i++)
		free(file->buffers[i].cpus);
	free(file->buffers);
	strbuf_deinit(&file->files);
	strbuf_deinit(&file->kallsyms);
	strbuf_deinit(&file->cmdlines);
	strbuf_deinit(&file->damage);
	budget_deinit(&file->budget);
	if (file->fd >= 0)
		close(file->fd);
	*file = (struct tracedat){ .fd = -1 };
}
