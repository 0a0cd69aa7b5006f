/*
 * `utrail convert`: writes a copy of a data directory. With --compact the copy is a compact
 * directory, otherwise a standard directory. The original may be of either kind.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cmds/cmd.h"
#include "cmds/record/store/dir.h"
#include "utils/base/cleanup.h"
#include "utils/base/fd.h"
#include "utils/format/calls/compact.h"
#include "utils/format/datadir.h"
#include "utils/format/header.h"
#include "utils/pipeline/recording/compact_file.h"

#define PART_BYTES     (1UL << 20)
#define INFO_MAX_BYTES (64UL << 20)

/*
 * @buf: a buffer of PART_BYTES bytes
 * @block: room for one block of a compact file
 * @nr_damaged: the number of files that have lost blocks
 */
struct conversion {
	const struct opts *opts;
	const char *from;
	int from_fd;
	struct store_dir to;
	uint8_t *buf;
	uint8_t *block;
	struct compact_coder *coder;
	unsigned nr_damaged;
};

static void conversion_close(struct conversion *c)
{
	if (c->from_fd >= 0)
		close(c->from_fd);
	store_dir_close(&c->to);
	compact_coder_destroy(c->coder);
	free(c->buf);
	free(c->block);
}

/* A file of the recording, and the file that it is converted to. */
struct one_file {
	const char *name;
	int32_t tid;
	int fd;
	int stream;
};

static int cannot_read(const struct conversion *c, const struct one_file *file, int code,
		       struct uft_err *err)
{
	return err_set_errno(err, code, "cannot read '%s/%s'", c->from, file->name);
}

static int append_converted(struct conversion *c, const struct one_file *file, const void *data,
			    size_t len, struct uft_err *err)
{
	int ret = store_append(&c->to.store, file->stream, data, len);

	return ret < 0 ? err_set_errno(err, ret, "cannot write the converted form of '%s'",
				       file->name)
		       : 0;
}

static int copy(struct conversion *c, const struct one_file *file, struct uft_err *err)
{
	ssize_t got;
	int ret = 0;

	while (ret == 0 && (got = fd_read_full(file->fd, c->buf, PART_BYTES)) != 0) {
		if (got < 0)
			return cannot_read(c, file, got, err);
		ret = append_converted(c, file, c->buf, got, err);
	}
	return ret;
}

/*
 * Writes a compact file. The plain file is read in parts of PART_BYTES. If a part ends within a
 * record, the next part begins with this record.
 */
static int pack_file(struct conversion *c, const struct one_file *file, struct uft_err *err)
{
	uint64_t offset = 0;

	for (;;) {
		ssize_t got = fd_pread_full(file->fd, c->buf, PART_BYTES, offset);
		size_t done = 0;

		if (got <= 0)
			return got < 0 ? cannot_read(c, file, got, err) : 0;
		while (done < (size_t)got) {
			size_t block_len;
			size_t used = compact_encode(c->coder, file->tid, c->buf + done, got - done,
						     got == PART_BYTES, c->block, &block_len);
			int ret = used ? append_converted(c, file, c->block, block_len, err) : 0;

			if (ret < 0)
				return ret;
			if (!used)
				break;
			done += used;
		}
		offset += done;
	}
}

static int unpack_blocks(struct conversion *c, const struct one_file *file,
			 const struct compact_file *blocks, struct uft_err *err)
{
	struct compact_read read = { 0 };
	bool is_damaged = false;

	for (;;) {
		ssize_t got = compact_file_read(blocks, file->fd, c->buf, PART_BYTES, UINT64_MAX,
						&read);

		if (got < 0)
			return cannot_read(c, file, got, err);
		if (got == 0)
			break;
		if (read.damaged_at != UINT64_MAX && !is_damaged)
			msg_warn(&c->opts->msg,
				 "'%s/%s' is damaged at offset %llu: the records of one block are "
				 "lost",
				 c->from, file->name, (unsigned long long)read.damaged_at);
		is_damaged |= read.damaged_at != UINT64_MAX;

		int ret = append_converted(c, file, c->buf, got, err);

		if (ret < 0)
			return ret;
	}
	if (blocks->is_torn)
		msg_warn(&c->opts->msg, "'%s/%s' ends within a block: the records in it are lost",
			 c->from, file->name);
	c->nr_damaged += is_damaged || blocks->is_torn;
	return 0;
}

static int unpack(struct conversion *c, const struct one_file *file, struct uft_err *err)
{
	struct compact_file blocks = { 0 };
	int ret = compact_file_look(&blocks, file->fd);

	ret = ret < 0 ? cannot_read(c, file, ret, err) : unpack_blocks(c, file, &blocks, err);
	compact_file_deinit(&blocks);
	return ret;
}

/* True for a compact file that readers ignore because its task also has a plain file. */
static bool is_hidden(const struct conversion *c, const struct one_file *file)
{
	char plain[NAME_MAX];

	snprintf(plain, sizeof(plain), "%d.dat", file->tid);
	return faccessat(c->from_fd, plain, F_OK, AT_SYMLINK_NOFOLLOW) == 0;
}

static int convert_open(struct conversion *c, struct one_file *file, struct uft_err *err)
{
	int32_t plain_tid = datadir_records_tid(file->name);
	int32_t compact_tid = datadir_compact_tid(file->name);
	bool packs = plain_tid && c->opts->compact;
	bool unpacks = compact_tid && !c->opts->compact;
	char other[NAME_MAX];
	const char *name = packs || unpacks ? other : file->name;

	file->tid = plain_tid ? plain_tid : compact_tid;
	if (compact_tid && is_hidden(c, file))
		return 0;
	snprintf(other, sizeof(other), "%d%s", file->tid, packs ? DATADIR_COMPACT_SUFFIX : ".dat");
	file->stream = store_open(&c->to.store, name);
	if (file->stream < 0)
		return err_set_errno(err, file->stream, "cannot create '%s'", name);

	int ret = packs	    ? pack_file(c, file, err)
		  : unpacks ? unpack(c, file, err)
			    : copy(c, file, err);

	store_close(&c->to.store, file->stream);
	return ret;
}

static int open_regular(const struct conversion *c, const char *name)
{
	struct stat st;
	int fd = openat(c->from_fd, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);

	if (fd >= 0 && (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode))) {
		close(fd);
		return -EINVAL;
	}
	return fd < 0 ? -errno : fd;
}

/* Converts `info` last: this file marks the directory as a complete recording. */
static int convert_info(struct conversion *c, struct uft_err *err)
{
	struct one_file file = { .name = "info", .fd = open_regular(c, "info") };
	struct strbuf bytes cleanup_strbuf = { 0 };
	int fd cleanup_fd = file.fd;
	ssize_t got;

	if (fd < 0)
		return cannot_read(c, &file, fd, err);
	while ((got = fd_read_full(fd, c->buf, PART_BYTES)) > 0 && bytes.len < INFO_MAX_BYTES)
		strbuf_add(&bytes, c->buf, got);
	/* If the loop has ended before the end of the file, the file is too large. */
	if (got > 0)
		got = -EFBIG;
	if (got < 0 || strbuf_oom(&bytes))
		return cannot_read(c, &file, got < 0 ? got : -ENOMEM, err);
	return store_publish(&c->to.store, "info", bytes.data, bytes.len, err);
}

static int convert_files(struct conversion *c, struct uft_err *err)
{
	int list_fd = openat(c->from_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *dir cleanup_dir = list_fd < 0 ? NULL : fdopendir(list_fd);
	int ret = 0;

	if (!dir)
		return err_set_errno(err, -errno, "cannot open '%s'", c->from);
	for (struct dirent *e; ret == 0 && (e = readdir(dir));) {
		struct one_file file = { .name = e->d_name };

		if (e->d_name[0] == '.' || strcmp(e->d_name, "info") == 0)
			continue;
		if (!datadir_has_name(e->d_name)) {
			msg_warn(&c->opts->msg, "'%s/%s' is not a file of a recording: left out",
				 c->from, e->d_name);
			continue;
		}
		file.fd = open_regular(c, e->d_name);
		if (file.fd < 0)
			return cannot_read(c, &file, file.fd, err);
		ret = convert_open(c, &file, err);
		close(file.fd);
	}
	return ret;
}

static int open_source(struct conversion *c, struct uft_err *err)
{
	uint8_t bytes[HEADER_SIZE];
	struct data_header header;

	c->from_fd = open(c->from, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (c->from_fd < 0)
		return err_set_errno(err, -errno, "cannot open '%s'", c->from);

	int fd cleanup_fd = open_regular(c, "info");
	struct uft_err why = { 0 };

	if (fd < 0)
		return err_set_errno(err, fd, "cannot read '%s/info'", c->from);

	ssize_t got = fd_read_full(fd, bytes, sizeof(bytes));

	if (got < 0 || header_decode(bytes, got, &header, &why) < 0)
		return err_set(err, -EBADMSG, "cannot read '%s/info': %s", c->from,
			       why.code ? why.text : "it is not a recording");
	/*
	 * A running recorder holds the lock. The recorder is not noticed on file systems without
	 * locks, such as some network file systems.
	 */
	if (flock(c->from_fd, LOCK_SH | LOCK_NB) < 0 && errno == EWOULDBLOCK)
		return err_set(err, -EBUSY, "cannot convert '%s': it is still being recorded",
			       c->from);
	return 0;
}

static bool is_same(const struct conversion *c, const char *path)
{
	struct stat from, to;

	return fstat(c->from_fd, &from) == 0 && stat(path, &to) == 0 && from.st_dev == to.st_dev &&
	       from.st_ino == to.st_ino;
}

/*
 * Makes the output directory. If a recording with the path of this directory exists, the recording
 * is first renamed, as by `record`.
 */
static int make_output(struct conversion *c, struct uft_err *err)
{
	const char *path = c->opts->args[0];
	struct uft_err why = { 0 };
	int ret = store_dir_make(&c->to, path, &why);

	if (ret == -EEXIST)
		return err_set(err, ret,
			       "cannot make '%s': it, or '%s.old', exists and is not a recording "
			       "that may be replaced; give another name",
			       path, path);
	return ret < 0 ? err_set(err, ret, "%s", why.text) : ret;
}

static int check_convert(const struct opts *opts, struct uft_err *err)
{
	if (opts->nr_args == 0)
		return err_set(err, -ERR_USAGE,
			       "convert needs the name of the directory to make: utrail convert -d "
			       "DIR OUTPUT");
	if (opts->nr_args > 1)
		return err_set(err, -ERR_USAGE, "convert makes one directory, not also '%s'",
			       opts->args[1]);
	return 0;
}

static int run_convert(const struct opts *opts, struct uft_err *err)
{
	struct conversion c cleanup(conversion_close) = {
		.opts = opts,
		.from = opts->data_dir,
		.from_fd = -1,
		.to = STORE_DIR_CLOSED,
		.buf = malloc(PART_BYTES),
		.block = malloc(compact_bound(COMPACT_RAW_MAX)),
		.coder = compact_coder_create(),
	};
	int ret = open_source(&c, err);

	if (ret == 0 && (!c.buf || !c.block || !c.coder))
		ret = err_set_errno(err, -ENOMEM, "cannot convert '%s'", c.from);
	if (ret == 0 && is_same(&c, opts->args[0]))
		ret = err_set(err, -ERR_USAGE,
			      "cannot convert '%s' into itself: give another directory", c.from);
	if (ret == 0)
		ret = make_output(&c, err);
	if (ret == 0)
		ret = convert_files(&c, err);
	if (ret == 0)
		ret = convert_info(&c, err);
	if (ret == 0)
		store_dir_give_to_user(&c.to);
	return ret < 0 ? ret : c.nr_damaged ? CMD_FAILED : CMD_DONE;
}

const struct cmd cmd_convert = {
	.name = "convert",
	.args = "OUTPUT",
	.help = "turn a compact recording into a standard directory, or the other way round",
	.bit = CMD_CONVERT,
	.check = check_convert,
	.run = run_convert,
};
