/* The end of a recording (see ending.h). */
#include "utils/pipeline/recording/ending.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>

#include "utils/base/fd.h"
#include "utils/format/datadir.h"
#include "utils/pipeline/recording/compact_file.h"

/*
 * True when the recorder may be alive: it holds a lock until it ends. If the file system has no
 * locks, the recorder counts as alive.
 */
static bool is_being_recorded(const char *dir)
{
	int fd cleanup_fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	return fd < 0 || flock(fd, LOCK_SH | LOCK_NB) < 0;
}

/*
 * Find a task whose file was truncated, for example by an incomplete copy. A complete file has a
 * multiple of 8 bytes.
 */
static const struct task *find_torn(const struct trace_data *data)
{
	for (size_t i = 0; i < data->nr_tasks; i++) {
		const struct task *task = &data->tasks[i];

		if (task->compact ? task->compact->is_torn : task->data_bytes % 8 != 0)
			return task;
	}
	return NULL;
}

static bool describe_torn(const struct trace_data *data, struct strbuf *out)
{
	const struct task *torn = data->info.state == INFO_STATE_ENDED && !data->growth
					  ? find_torn(data)
					  : NULL;

	if (torn)
		strbuf_addf(out, "incomplete: '%d%s' ends within a record; later ones are lost",
			    torn->tid, torn->compact ? DATADIR_COMPACT_SUFFIX : ".dat");
	return torn;
}

bool data_describe_end(const struct trace_data *data, struct strbuf *out)
{
	const struct info *info = &data->info;

	if (info->state == INFO_STATE_RUNNING) {
		if (data->growth || is_being_recorded(data->dir))
			return false;
		strbuf_addstr(out, "incomplete: its recorder was killed, or had no room to say how "
				   "it ended; the last records are lost");
		return true;
	}
	if (!info->records_lost && !info->write_error && !info->cut_events)
		return describe_torn(data, out);
	strbuf_addstr(out, "incomplete: ");
	if (info->cut_events)
		strbuf_addf(out, "%s%s", info->cut_events,
			    info->records_lost || info->write_error ? "; " : "");
	if (info->records_lost)
		strbuf_addf(out, "%llu %s lost", (unsigned long long)info->records_lost,
			    info->records_lost == 1 ? "record was" : "records were");
	if (info->write_error)
		strbuf_addf(out, "%s(%s)",
			    info->records_lost ? " "
					       : "something could not be written, and is lost ",
			    strerror(info->write_error));
	return true;
}
