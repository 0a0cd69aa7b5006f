/* Opens or makes the directory for imported records (see dir.h). */
#include "cmds/import/dir.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <time.h>

#include "cmds/record/run/infofile.h"
#include "config.h"
#include "utils/base/containers/order.h"

int import_dir_lock(struct store_dir *dir, const char *path, struct uft_err *err)
{
	int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (fd < 0)
		return err_set_errno(err, -errno, "cannot open '%s'", path);
	store_dir_use(dir, fd);
	if (flock(fd, LOCK_EX | LOCK_NB) < 0 && errno == EWOULDBLOCK)
		return err_set(err, -EBUSY,
			       "cannot import into '%s': another process is writing to it", path);
	return 0;
}

int import_dir_make(struct store_dir *dir, const char *path, const char *options,
		    struct uft_err *err)
{
	struct uft_err why = { 0 };
	int ret = store_dir_make(dir, path, &why);

	if (ret == -EEXIST)
		return err_set(err, ret,
			       "cannot make '%s': it, or '%s.old', exists and is not a recording "
			       "that may be replaced; give another name with -d",
			       path, path);
	if (ret < 0)
		return err_set(err, ret, "%s", why.text);
	return store_publish(&dir->store, "default.opts", options, strlen(options), err);
}

struct data_header import_dir_header(const struct opts *opts)
{
	return (struct data_header){
		.version = HEADER_VERSION,
		.endian = BYTE_ORDER == BIG_ENDIAN ? HEADER_BIG_ENDIAN : HEADER_LITTLE_ENDIAN,
		.elf_class = sizeof(long) == 8 ? HEADER_CLASS_64 : HEADER_CLASS_32,
		.feat_mask = FEAT_SYM_REL_ADDR | FEAT_MAX_STACK,
		.max_stack = opts->rec.max_stack,
	};
}

int import_dir_describe(const struct opts *opts, const char *exename, size_t len, struct info *info)
{
	time_t now = time(NULL);
	char date[64];

	info->exename = strndup(exename, len);
	info->cmdline = infofile_command_line(opts);
	info->version = strdup(UTRAIL_VERSION_TEXT);
	info->pattern_type = strdup(pattern_match_name(opts->match));
	info->record_date = ctime_r(&now, date) ? strndup(date, strcspn(date, "\n")) : strdup("");
	if (!info->exename || !info->cmdline || !info->version || !info->pattern_type ||
	    !info->record_date)
		return -ENOMEM;
	info->mask |= INFO_EXE_NAME | INFO_CMDLINE | INFO_VERSION | INFO_PATTERN_TYPE |
		      INFO_RECORD_DATE | INFO_UTC_OFFSET;
	return 0;
}

int import_dir_add_tids(struct info *info, const int32_t *tids, size_t nr)
{
	int32_t *all = reallocarray(info->tids, info->nr_tids + nr + 1, sizeof(*all));

	if (!all)
		return -ENOMEM;
	info->tids = all;
	memcpy(all + info->nr_tids, tids, nr * sizeof(*tids));
	info->nr_tids += nr;
	qsort(all, info->nr_tids, sizeof(*all), order_i32);
	info->mask |= INFO_TASKINFO;
	return 0;
}

int import_dir_publish(struct store_dir *dir, struct data_header *header, const struct info *info,
		       struct uft_err *err)
{
	uint8_t bytes[HEADER_SIZE];
	struct strbuf text cleanup_strbuf = { 0 };

	header->header_size = HEADER_SIZE;
	header->info_mask = info->mask;
	header->feat_mask |= FEAT_TASK_SESSION;
	header_encode(header, bytes);
	strbuf_add(&text, bytes, sizeof(bytes));
	info_encode(info, &text);
	if (strbuf_oom(&text))
		return err_set_errno(err, -ENOMEM, "cannot write 'info'");
	return store_publish(&dir->store, "info", text.data, text.len, err);
}
