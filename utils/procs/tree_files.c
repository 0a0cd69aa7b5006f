/* Files of executions as JSON (see tree_files.h). */
#include "utils/procs/tree_files.h"

#include <sys/stat.h>

#include "utils/procs/json.h"

#define PID_BITS 22

/* Of "m": the file is there now, its type, how it was used. */
#define MODE_IS_THERE	0x40
#define MODE_TYPE_SHIFT 2
#define MODE_WRITTEN	1
#define MODE_BOTH	2

unsigned long long tree_process_number(const struct execution *execution)
{
	return (unsigned long long)execution->process << PID_BITS |
	       ((uint32_t)execution->pid & ((1U << PID_BITS) - 1));
}

static void put_readers_of(struct strbuf *out, const struct executions *executions,
			   const struct files *files, const struct file_use *write, bool *is_first)
{
	const struct execution *writer = &executions->all[write->execution];
	uint32_t at = files->contents[write->content].first_use;

	for (; at != FILES_NONE; at = files->uses[at].next_of_content) {
		const struct file_use *use = &files->uses[at];
		const struct execution *reader = &executions->all[use->execution];

		if (use->read_ns == UINT64_MAX || reader->process == writer->process)
			continue;
		strbuf_addf(out, "%s{\"p\":%llu,\"x\":%u}", *is_first ? "" : ",",
			    tree_process_number(reader), reader->index);
		*is_first = false;
	}
}

uint64_t tree_count_readers(const struct files *files)
{
	uint64_t nr = 0;

	for (size_t i = 0; i < files->nr_contents; i++) {
		uint32_t at = files->contents[i].kind == CONTENT_PIPE ? files->contents[i].first_use
								      : FILES_NONE;
		uint64_t reads = 0, writes = 0;

		for (; at != FILES_NONE; at = files->uses[at].next_of_content) {
			reads += files->uses[at].read_ns != UINT64_MAX;
			writes += files->uses[at].write_ns != UINT64_MAX;
		}
		nr += reads * writes;
	}
	return nr;
}

void tree_readers_json(const struct executions *executions, const struct files *files, size_t at,
		       struct strbuf *out)
{
	bool is_first = true;

	strbuf_addstr(out, ",\"i\":[");
	for (uint32_t i = files_first_use(files, at); i != FILES_NONE;
	     i = files->uses[i].next_of_execution) {
		const struct file_use *use = &files->uses[i];

		if (files->contents[use->content].kind == CONTENT_PIPE &&
		    use->write_ns != UINT64_MAX)
			put_readers_of(out, executions, files, use, &is_first);
	}
	strbuf_addch(out, ']');
}

static unsigned int access_bits(uint32_t what)
{
	if (!(what & FILE_SHOWN_WRITTEN))
		return 0;
	return what & FILE_SHOWN_READ ? MODE_BOTH : MODE_WRITTEN;
}

static bool put_file(struct strbuf *out, const struct files *files, const struct file_use *use,
		     uint64_t first_ns)
{
	const char *path = files->names[use->name].path;
	unsigned int mode = access_bits(use->what);
	struct stat st = { 0 };
	bool is_exact;

	if (path[0] == '/' && lstat(path, &st) == 0)
		mode |= MODE_IS_THERE | (st.st_mode & S_IFMT) >> 12 << MODE_TYPE_SHIFT;
	strbuf_addstr(out, "{\"p\":");
	is_exact = json_string(out, path);
	if (use->given) {
		strbuf_addstr(out, ",\"o\":");
		is_exact &= json_string(out, use->given);
	}
	strbuf_addf(out, ",\"b\":%llu,\"e\":%llu,\"m\":%u,\"s\":%lld}",
		    (unsigned long long)(use->open_ns - first_ns),
		    (unsigned long long)(use->close_ns - first_ns), mode, (long long)st.st_size);
	return is_exact;
}

bool tree_files_json(const struct executions *executions, const struct files *files, size_t at,
		     struct strbuf *out)
{
	bool is_exact = true;
	bool is_first = true;

	strbuf_addstr(out, ",\"o\":[");
	for (uint32_t i = files_first_use(files, at); i != FILES_NONE;
	     i = files->uses[i].next_of_execution) {
		const struct file_use *use = &files->uses[i];

		if (!(use->what & FILE_SHOWN) || use->name == FILES_NONE)
			continue;
		if (!is_first)
			strbuf_addch(out, ',');
		is_first = false;
		is_exact &= put_file(out, files, use, executions->all[0].start_ns);
	}
	strbuf_addch(out, ']');
	return is_exact;
}
