/* Files of executions as JSON (see tree_files.h). */
#include "utils/builddb/tree_files.h"

#include <sys/stat.h>

#include "utils/base/containers/intmap.h"
#include "utils/base/containers/vec.h"
#include "utils/builddb/json.h"

#define PID_BITS 22

/* Bits of "m": the file is there now, its type, its uses. */
#define MODE_IS_THERE	0x40
#define MODE_TYPE_SHIFT 2
#define MODE_WRITTEN	1
#define MODE_BOTH	2

unsigned long long tree_process_number(const struct execution *execution)
{
	return (unsigned long long)execution->task << PID_BITS |
	       ((uint32_t)execution->pid & ((1U << PID_BITS) - 1));
}

/* Each once, in however many ways they could: @told has them. */
static void put_readers_of(struct strbuf *out, const struct executions *executions,
			   const struct files *files, const struct file_use *write,
			   struct intmap *told)
{
	const struct execution *writer = &executions->all[write->execution];
	uint32_t at = files->contents[write->content].first_use;

	for (; at != FILES_NONE; at = files->uses[at].next_of_content) {
		const struct file_use *use = &files->uses[at];
		const struct execution *reader = &executions->all[use->execution];

		if (use->read_ns == UINT64_MAX || reader->process == writer->process ||
		    intmap_get(told, use->execution))
			continue;
		strbuf_addf(out, "%s{\"p\":%llu,\"x\":%u}", told->nr ? "," : "",
			    tree_process_number(reader), reader->index);
		out->oom |= intmap_put(told, use->execution, (void *)reader) < 0;
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
	struct intmap told cleanup_intmap = { 0 };

	strbuf_addstr(out, ",\"i\":[");
	for (uint32_t i = files_first_use(files, at); i != FILES_NONE;
	     i = files->uses[i].next_of_execution) {
		const struct file_use *use = &files->uses[i];

		if (files->contents[use->content].kind == CONTENT_PIPE &&
		    use->write_ns != UINT64_MAX)
			put_readers_of(out, executions, files, use, &told);
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

/*
 * Uses of one file: all that was opened, renamed or linked by one name, whatever was in it by and
 * by.
 */
static bool add_use(const struct file_use *use, struct intmap *by_name, struct file_use **all,
		    size_t *nr)
{
	size_t at = (uintptr_t)intmap_get(by_name, use->name);
	struct file_use *shown = at ? &(*all)[at - 1] : vec_grow(*all, *nr, sizeof(**all));

	if (!shown)
		return false;
	if (at) {
		shown->open_ns = MIN(shown->open_ns, use->open_ns);
		shown->close_ns = MAX(shown->close_ns, use->close_ns);
		shown->what |= use->what;
		shown->given = shown->given ?: use->given;
		return true;
	}
	*all = shown;
	(*all)[(*nr)++] = *use;
	return intmap_put(by_name, use->name, (void *)(uintptr_t)*nr) == 0;
}

bool tree_files_json(const struct executions *executions, const struct files *files, size_t at,
		     struct strbuf *out)
{
	struct intmap by_name cleanup_intmap = { 0 };
	struct file_use *all cleanup_free = NULL;
	bool is_exact = true;
	size_t nr = 0;

	for (uint32_t i = files_first_use(files, at); i != FILES_NONE;
	     i = files->uses[i].next_of_execution) {
		const struct file_use *use = &files->uses[i];

		if (use->what & FILE_SHOWN && use->name != FILES_NONE)
			out->oom |= !add_use(use, &by_name, &all, &nr);
	}
	strbuf_addstr(out, ",\"o\":[");
	for (size_t i = 0; i < nr; i++) {
		if (i)
			strbuf_addch(out, ',');
		is_exact &= put_file(out, files, &all[i], executions->all[0].start_ns);
	}
	strbuf_addch(out, ']');
	return is_exact;
}
