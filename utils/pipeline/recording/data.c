/* An open data directory: header, info, tasks, sessions, modules (see data.h). */
#include "utils/pipeline/recording/data.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "utils/base/cleanup.h"
#include "utils/base/fd.h"
#include "utils/format/datadir.h"
#include "utils/format/event_data.h"
#include "utils/pipeline/recording/compact_file.h"
#include "utils/pipeline/recording/data_tasks.h"

#define INFO_FILE_MAX_BYTES (64UL << 20)

int data_read_file(const struct trace_data *data, const char *name, size_t max_bytes,
		   struct strbuf *out, struct uft_err *err)
{
	char path[PATH_MAX];

	if (snprintf(path, sizeof(path), "%s/%s", data->dir, name) >= (int)sizeof(path))
		return err_set_errno(err, -ENAMETOOLONG, "cannot open '%s'", data->dir);
	return file_read_all(path, max_bytes, out, err);
}

static bool has_file(const struct trace_data *data, const char *name)
{
	char path[PATH_MAX];
	struct stat st;

	snprintf(path, sizeof(path), "%s/%s", data->dir, name);
	return stat(path, &st) == 0;
}

/*
 * Look for the files that define events. If these files exist, set FEAT_EVENT: the header may lack
 * this flag if the recorder was killed.
 */
static void find_definitions(struct trace_data *data)
{
	data->has_declared = has_file(data, EVENT_DEFS_FILE) && has_file(data, "events.txt");
	if (data->has_declared)
		data->header.feat_mask |= FEAT_EVENT;
}

static int load_info(struct trace_data *data, struct uft_err *err)
{
	struct strbuf text cleanup_strbuf = { 0 };
	int ret = data_read_file(data, "info", INFO_FILE_MAX_BYTES, &text, err);

	if (ret < 0)
		return ret;

	struct uft_err why = { 0 };

	ret = header_decode((uint8_t *)text.data, text.len, &data->header, &why);
	if (ret == 0) {
		size_t start = MIN((size_t)data->header.header_size, text.len);

		ret = info_decode(text.data + start, text.len - start, &data->info, &why);
	}
	if (ret < 0)
		return err_set(err, ret, "cannot read '%s/info': %s", data->dir, why.text);
	data->is_big_endian = data->header.endian == HEADER_BIG_ENDIAN;
	find_definitions(data);
	return 0;
}

static int cannot_open(const char *path, int ret, struct uft_err *err)
{
	return err_set_errno(err, ret, "cannot open '%s'", path);
}

/* Sets task->data_bytes from the blocks of <tid>.cdat. A missing or empty file is no error. */
static int measure_blocks(struct trace_data *data, struct task *task, struct uft_err *err)
{
	char path[PATH_MAX];
	struct stat st;

	snprintf(path, sizeof(path), "%s/%d" DATADIR_COMPACT_SUFFIX, data->dir, task->tid);
	if (stat(path, &st) < 0)
		return errno == ENOENT ? 0 : cannot_open(path, -errno, err);
	if (S_ISREG(st.st_mode) && st.st_size == 0)
		return 0;

	int fd cleanup_fd = file_open_regular(path, err);

	if (fd < 0)
		return fd;
	if (!task->compact)
		task->compact = calloc(1, sizeof(*task->compact));

	int ret = task->compact ? compact_file_look(task->compact, fd) : -ENOMEM;

	if (ret < 0)
		return err_set_errno(err, ret, "cannot read '%s'", path);
	task->data_bytes = task->compact->raw_bytes;
	return 0;
}

static int measure_task(struct trace_data *data, struct task *task, struct uft_err *err)
{
	char path[PATH_MAX];
	struct stat st;

	if (task->compact)
		return measure_blocks(data, task, err);
	snprintf(path, sizeof(path), "%s/%d.dat", data->dir, task->tid);
	if (stat(path, &st) < 0)
		return errno == ENOENT ? measure_blocks(data, task, err)
				       : cannot_open(path, -errno, err);
	if (!S_ISREG(st.st_mode)) {
		int fd cleanup_fd = file_open_regular(path, err);

		return MIN(fd, 0);
	}
	task->data_bytes = st.st_size;
	return 0;
}

int data_measure_files(struct trace_data *data, struct uft_err *err)
{
	int ret = 0;

	for (size_t i = 0; ret == 0 && i < data->nr_tasks; i++)
		ret = measure_task(data, &data->tasks[i], err);
	return ret;
}

static int load_all(struct trace_data *data, struct uft_err *err)
{
	int ret = load_info(data, err);

	if (ret == 0)
		ret = data->growth ? data_growth_open(data, err) : data_load_tasks(data, err);
	for (size_t i = 0; ret == 0 && i < data->nr_sessions; i++)
		ret = session_load_map(data->sessions[i], err);
	if (ret == 0)
		ret = data_measure_files(data, err);
	return ret < 0 ? ret : arg_book_open(&data->args, data, err);
}

static int open_dir(struct trace_data *data, const char *dir, enum demangle_mode demangle,
		    struct uft_err *err)
{
	data->dir = strdup(dir);
	if (!data->dir)
		return err_set_errno(err, -ENOMEM, "cannot open '%s'", dir);
	data->modules.dir = data->dir;
	pthread_mutex_init(&data->modules.lock, NULL);
	data->modules.demangle = demangle;

	struct stat st;
	int ret = 0;

	if (stat(dir, &st) < 0)
		ret = err_set_errno(err, -errno, "cannot open '%s'", dir);
	else if (!S_ISDIR(st.st_mode))
		ret = err_set_errno(err, -ENOTDIR, "cannot open '%s'", dir);
	else
		ret = load_all(data, err);
	/*
	 * If the recorder was killed, modules without a .sym file get their symbols from their ELF
	 * files.
	 */
	data->modules.reads_programs = data->info.state == INFO_STATE_RUNNING && !data->growth;
	if (ret < 0)
		data_close(data);
	return ret;
}

int data_open(struct trace_data *data, const char *dir, enum demangle_mode demangle,
	      struct uft_err *err)
{
	*data = (struct trace_data){ 0 };
	return open_dir(data, dir, demangle, err);
}

int data_open_growing(struct trace_data *data, const char *dir, enum demangle_mode demangle,
		      struct uft_err *err)
{
	*data = (struct trace_data){ .growth = data_growth_create(dir) };
	if (!data->growth)
		return err_set_errno(err, -ENOMEM, "cannot open '%s'", dir);
	return open_dir(data, dir, demangle, err);
}

void data_close(struct trace_data *data)
{
	for (size_t i = 0; i < data->nr_sessions; i++)
		session_destroy(data->sessions[i]);
	free(data->sessions);
	for (size_t i = 0; i < data->nr_tasks; i++) {
		for (size_t k = 0; k < data->tasks[i].nr_names; k++)
			free(data->tasks[i].names[k].name);
		free(data->tasks[i].names);
		free(data->tasks[i].refs);
		if (data->tasks[i].compact)
			compact_file_deinit(data->tasks[i].compact);
		free(data->tasks[i].compact);
	}
	if (data->growth)
		data_growth_destroy(data);
	else
		free(data->tasks);
	arg_book_close(&data->args);
	kernel_formats_deinit(&data->kernel);
	module_set_deinit(&data->modules);
	info_deinit(&data->info);
	free(data->dir);
	*data = (struct trace_data){ 0 };
}

bool data_has_records(const struct trace_data *data)
{
	for (size_t i = 0; i < data->nr_tasks; i++) {
		if (data->tasks[i].data_bytes)
			return true;
	}
	return false;
}
