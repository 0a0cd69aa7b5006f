/* Reads response files of compilers (see response_files.h). */
#include "cmds/record/proc/response_files.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cmds/record/proc/paths.h"
#include "cmds/record/base/rights.h"
#include "utils/base/cleanup.h"
#include "utils/base/compiler.h"
#include "utils/base/fd.h"
#include "utils/base/containers/strmap.h"
#include "utils/builddb/compiler/arguments.h"
#include "utils/builddb/compiler/command.h"

/*
 * The recorder reads and records at most this number of response files for each command. Readers
 * read any further files when they make the build database (utils/builddb/compdb.c).
 */
#define NAMES_MAX 200

/*
 * @names: the names that note_name() has noted
 * @seen: a map of the same names. The strings belong to @names
 */
struct reading {
	struct arguments_source source;
	struct proc_log *log;
	const struct view *view;
	const struct peer *user;
	struct words names;
	struct strmap seen;
};

/*
 * True when @execution has an argument that may name a response file: '@' and a name. Most
 * executions have no such argument.
 */
static bool may_have_some(const struct execution *execution)
{
	const char *at = NULL;

	while ((at = execution_next_arg(execution, at))) {
		if (at[0] == '@' && at[1])
			return true;
	}
	return false;
}

/* Opens a regular file. Other files are not opened: opening a device or a FIFO may have effects. */
static int open_regular(const struct view *view, const char *name, size_t max)
{
	int place cleanup_fd = named_files_open(view, name);
	char link[64];
	struct stat st;
	int fd;

	if (place < 0 || fstat(place, &st) < 0)
		return -errno;
	if (S_ISDIR(st.st_mode))
		return -EISDIR;
	if (!S_ISREG(st.st_mode))
		return -EINVAL;
	if ((uint64_t)st.st_size > max)
		return -EFBIG;
	snprintf(link, sizeof(link), "/proc/self/fd/%d", place);
	fd = open(link, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	return fd < 0 ? -errno : fd;
}

static int open_as_process(const struct reading *reading, const char *name, size_t max)
{
	struct rights before;
	int ret = reading->user ? rights_enter(reading->user, &before)
				: rights_enter_as(reading->view->tid, &before);

	if (ret < 0)
		return ret;
	ret = open_regular(reading->view, name, max);
	rights_leave(&before);
	return ret;
}

/*
 * Reads the file up to its present size. The size is checked again, because the file may have grown
 * since open_regular() checked the size.
 */
static int read_whole(int fd, size_t max, struct strbuf *text)
{
	struct stat st;
	ssize_t len;

	if (fstat(fd, &st) < 0)
		return -errno;
	if ((uint64_t)st.st_size > max)
		return -EFBIG;
	if (!strbuf_grow(text, st.st_size + 1))
		return -ENOMEM;
	len = fd_read_full(fd, text->data, st.st_size);
	if (len < 0)
		return len;
	text->len = len;
	text->data[len] = '\0';
	return text->len > max ? -EFBIG : 0;
}

static void write_record(struct reading *reading, const char *name, const struct strbuf *text,
			 int error)
{
	struct proc_log *log = reading->log;
	struct proc_act act = {
		.numbers = { -error },
		.texts = { text_of(name, strlen(name)) },
	};

	if (!error)
		act.texts[1] = text_of_buf(text);
	proc_act_encode(&act, &log->payload);
	proc_log_write_at(log, log->last_ns, PROC_RESPONSE, reading->view->tid, reading->view->tid);
}

/*
 * Notes the name of a response file. Returns -ELOOP when the name is already noted: response files
 * may name each other, and the recorder must read each file only once.
 */
static int note_name(struct reading *reading, const char *name)
{
	int ret;

	if (strmap_get(&reading->seen, name))
		return -ELOOP;
	if (reading->names.nr == NAMES_MAX)
		return -EMFILE;
	ret = arguments_add(&reading->names, name, strlen(name));
	return ret < 0 ? ret
		       : strmap_put(&reading->seen, reading->names.words[reading->names.nr - 1],
				    reading);
}

/*
 * True when the task has ended. After the end of the task, the name of a response file cannot be
 * resolved. In this case the file gets no record, and readers look for the file when they make the
 * build database.
 */
static bool has_gone(const struct view *view)
{
	int cwd cleanup_fd = paths_open_of(view->tid, "cwd", O_PATH);

	return cwd < 0 && (errno == ENOENT || errno == ESRCH);
}

static int read_one(struct arguments_source *source, const char *name, size_t max,
		    struct strbuf *text)
{
	struct reading *reading = container_of(source, struct reading, source);
	int ret = note_name(reading, name);

	if (ret < 0)
		return ret;

	int fd cleanup_fd = open_as_process(reading, name, max);

	if (fd < 0 && has_gone(reading->view))
		return fd;
	ret = fd < 0 ? fd : read_whole(fd, max, text);
	write_record(reading, name, text, ret);
	return ret;
}

void response_files_write(struct proc_log *log, const struct view *view, const struct peer *user,
			  const struct execution *execution)
{
	struct reading reading = { .source = { read_one }, .log = log, .view = view, .user = user };
	struct words argv cleanup_words = { 0 };
	enum compiler_kind kind = COMPILER_NONE;
	struct arguments_read read;

	if (!may_have_some(execution))
		return;
	/*
	 * If there is not enough memory, response files get no records. In this case readers read
	 * the files when they make the build database, and report each missing file.
	 */
	if (compiler_command(execution, &argv, &kind) == 0 && kind != COMPILER_NONE)
		arguments_expand_from(&argv, &reading.source, &read);
	strmap_deinit(&reading.seen);
	words_deinit(&reading.names);
}
