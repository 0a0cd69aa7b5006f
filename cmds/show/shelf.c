/* Keeps the recordings that can be shown (see shelf.h). */
#include "cmds/show/shelf.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cmds/advice/near_data.h"
#include "cmds/cmd.h"
#include "cmds/reader.h"
#include "utils/base/cleanup.h"
#include "utils/base/escape.h"
#include "utils/export/export.h"
#include "utils/export/page/marks.h"

#define OTHERS_MAX 100
#define HTML_TYPE  "text/html; charset=utf-8"
#define TEXT_TYPE  "text/plain; charset=utf-8"
#define JSON_TYPE  "application/json"

static int add_shown(struct shelf *shelf, const char *dir, const char *name)
{
	struct shown *all = reallocarray(shelf->all, shelf->nr + 1, sizeof(*all));

	if (!all)
		return -ENOMEM;
	shelf->all = all;

	struct shown *shown = &all[shelf->nr];

	*shown = (struct shown){ .dir = strdup(dir), .name = strdup(name), .page = -1 };
	if (!shown->dir || !shown->name) {
		free(shown->dir);
		free(shown->name);
		return -ENOMEM;
	}
	pthread_mutex_init(&shown->lock, NULL);
	shelf->nr++;
	return 0;
}

/* Compares names for sorting, because readdir(3) returns names in any order. */
static int compare_names(const void *first, const void *second)
{
	const struct shown *a = first, *b = second;

	return strcmp(a->name, b->name);
}

/* Finds the recordings beside @dir. Finds none when the folder that holds @dir is unreadable. */
static int find_others(struct shelf *shelf, const char *dir)
{
	char path[PATH_MAX];
	struct stat self, st;

	if (snprintf(path, sizeof(path), "%s/..", dir) >= PATH_MAX || stat(dir, &self) < 0)
		return 0;

	DIR *folder cleanup_dir = opendir(path);
	int ret = 0;

	for (struct dirent *e = folder ? readdir(folder) : NULL;
	     e && ret == 0 && shelf->nr <= OTHERS_MAX; e = readdir(folder)) {
		time_t time;

		if (e->d_name[0] == '.' || fstatat(dirfd(folder), e->d_name, &st, 0) < 0 ||
		    !S_ISDIR(st.st_mode) ||
		    (st.st_dev == self.st_dev && st.st_ino == self.st_ino) ||
		    !near_data_is_recording(dirfd(folder), e->d_name, &time) ||
		    snprintf(path, sizeof(path), "%s/../%s", dir, e->d_name) >= PATH_MAX)
			continue;
		ret = add_shown(shelf, path, e->d_name);
	}
	if (shelf->nr > 1)
		qsort(shelf->all + 1, shelf->nr - 1, sizeof(*shelf->all), compare_names);
	return ret;
}

int shelf_open(struct shelf *shelf, const struct opts *opts, struct uft_err *err)
{
	const char *dir = reader_data_dir(opts);

	*shelf = (struct shelf){ .opts = opts };

	int ret = add_shown(shelf, dir, dir);

	if (ret == 0)
		ret = find_others(shelf, dir);
	if (ret < 0)
		return err_set_errno(err, ret, "cannot show '%s'", dir);
	ret = reader_open_records(&shelf->all[0].data, opts, err);
	shelf->all[0].is_open = ret == 0;
	return ret;
}

void shelf_stop(struct shelf *shelf)
{
	for (size_t i = 0; i < shelf->nr; i++) {
		struct parts *parts = atomic_load(&shelf->all[i].parts);

		if (parts)
			parts_stop(parts);
	}
}

void shelf_close(struct shelf *shelf)
{
	for (size_t i = 0; i < shelf->nr; i++) {
		struct shown *shown = &shelf->all[i];

		parts_close(shown->parts);
		if (shown->is_open)
			reader_close_data(&shown->data, shelf->opts);
		if (shown->page >= 0)
			close(shown->page);
		pthread_mutex_destroy(&shown->lock);
		free(shown->dir);
		free(shown->name);
	}
	free(shelf->all);
	*shelf = (struct shelf){ 0 };
}

/*
 * Opens the recording. Returns 0, or a negative errno with shown->failure. shown->lock must be
 * held.
 */
static int open_shown(const struct shelf *shelf, struct shown *shown)
{
	struct opts opts = *shelf->opts;

	if (shown->is_open)
		return 0;
	opts.data_dir = shown->dir;
	err_clear(&shown->failure);
	shown->is_open = reader_open_records(&shown->data, &opts, &shown->failure) == 0;
	return shown->is_open ? 0 : shown->failure.code;
}

/*
 * Opens the recording. If parts_are_better() is true, and there is neither shown->parts nor
 * shown->page, the function makes shown->parts, and thus starts to read the recording in parts.
 * Returns 0, or a negative errno with shown->failure. shown->lock must be held.
 */
static int open_parts(const struct shelf *shelf, struct shown *shown)
{
	int ret = open_shown(shelf, shown);

	if (ret < 0 || shown->parts || shown->page >= 0 ||
	    !parts_are_better(shelf->opts, &shown->data))
		return ret;
	shown->parts = parts_open(shelf->opts, shown->dir, &shown->failure);
	return shown->parts ? 0 : shown->failure.code;
}

/* Writes the page of `dump --format=html`, and notes in the page that a server is available. */
static int write_page(const struct shelf *shelf, struct shown *shown, struct sink *sink)
{
	const struct exporter *exporter = exporter_by_number(EXPORT_html);
	const struct opts *opts = shelf->opts;
	struct export_config config = reader_export_config(opts);
	struct pipeline pipe cleanup_pipeline = { 0 };
	int ret = reader_open_export(&pipe, opts, exporter, &shown->data, &shown->failure);

	config.is_served = true;
	if (ret == 0)
		ret = reader_export(&pipe, opts, exporter, &config, sink, &shown->failure);
	if (ret < 0)
		return ret;
	ret = sink_flush(sink);
	return ret < 0 ? err_set_errno(&shown->failure, ret, "cannot make the page") : 0;
}

/* If there is no page yet, makes the page as a file in memory. shown->lock must be held. */
static int make_page(const struct shelf *shelf, struct shown *shown)
{
	if (shown->page >= 0)
		return 0;

	int ret = open_shown(shelf, shown);

	if (ret < 0)
		return ret;

	struct sink sink cleanup_sink = { 0 };
	int fd cleanup_fd = memfd_create("page", MFD_CLOEXEC);

	ret = fd < 0 ? -errno : sink_init_fd(&sink, fd);
	if (ret < 0)
		return err_set_errno(&shown->failure, ret, "cannot make the page");
	ret = write_page(shelf, shown, &sink);
	if (ret < 0)
		return ret;
	shown->page_bytes = sink_bytes(&sink);
	shown->page = take_fd(&fd);
	return 0;
}

static void reply_failure(const struct shown *shown, struct server_reply *reply)
{
	reply->status = 500;
	reply->type = TEXT_TYPE;
	escape_addstr(&reply->body, MEDIUM_TERMINAL, shown->failure.text);
	strbuf_addch(&reply->body, '\n');
}

static void reply_page(struct shelf *shelf, struct shown *shown, struct server_reply *reply)
{
	pthread_mutex_lock(&shown->lock);

	int ret = make_page(shelf, shown);

	if (ret == 0) {
		reply->fd = fcntl(shown->page, F_DUPFD_CLOEXEC, 3);
		reply->len = shown->page_bytes;
		ret = reply->fd < 0 ? err_set_errno(&shown->failure, -errno, "cannot give the page")
				    : 0;
	}
	if (ret < 0) {
		reply_failure(shown, reply);
	} else {
		reply->status = 200;
		reply->type = HTML_TYPE;
	}
	pthread_mutex_unlock(&shown->lock);
}

/*
 * Sends the names of the recordings, such as ["uftrace.data", "before.data"]. The number of a
 * recording is its index in the list.
 */
static void reply_names(const struct shelf *shelf, struct server_reply *reply)
{
	reply->status = 200;
	reply->type = JSON_TYPE;
	strbuf_addch(&reply->body, '[');
	for (size_t i = 0; i < shelf->nr; i++) {
		strbuf_addstr(&reply->body, i ? ", " : "");
		page_put_string(&reply->body, MEDIUM_JSON, shelf->all[i].name);
	}
	strbuf_addstr(&reply->body, "]\n");
}

/*
 * Finds the recording that has the number at the start of @path, such as 12 in "/12/rest". Returns
 * NULL when the number is missing, or when there is no recording with this number.
 */
static struct shown *find_shown(struct shelf *shelf, const char *path, const char **rest)
{
	size_t number = 0, digits = 0;

	for (path++; *path >= '0' && *path <= '9' && digits < 4; path++, digits++)
		number = number * 10 + (*path - '0');
	*rest = path;
	return digits && *path == '/' && number < shelf->nr ? &shelf->all[number] : NULL;
}

/*
 * Decides whether the recording is shown as a whole or in parts. If the recording cannot be opened,
 * puts the error into @reply and returns false.
 */
static bool choose_way(const struct shelf *shelf, struct shown *shown, struct server_reply *reply)
{
	pthread_mutex_lock(&shown->lock);

	int ret = open_parts(shelf, shown);

	if (ret < 0)
		reply_failure(shown, reply);
	pthread_mutex_unlock(&shown->lock);
	return ret == 0;
}

static void answer_shown(struct shelf *shelf, struct shown *shown, const char *path,
			 const struct server_query *query, struct server_reply *reply)
{
	if (shown->parts)
		parts_answer(shown->parts, path, query, reply);
	else if (strcmp(path, "/") == 0)
		reply_page(shelf, shown, reply);
}

void shelf_answer(void *self, const char *path, const struct server_query *query,
		  struct server_reply *reply)
{
	struct shelf *shelf = self;
	const char *rest;
	struct shown *shown = find_shown(shelf, path, &rest);

	if (shown && choose_way(shelf, shown, reply))
		answer_shown(shelf, shown, rest, query, reply);
	else if (strcmp(path, "/recordings") == 0)
		reply_names(shelf, reply);
}
