/* Writes JSON that lists the files of each execution (see tree_files.h). */
#include "utils/builddb/tree_files.h"

#include <errno.h>
#include <sys/stat.h>

#include "utils/base/containers/intmap.h"
#include "utils/base/containers/vec.h"

#define PID_BITS 22

/* Bits of the JSON member "m": the file exists now; its type; how it was used. */
#define MODE_IS_THERE	0x40
#define MODE_TYPE_SHIFT 2
#define MODE_WRITTEN	1
#define MODE_BOTH	2

unsigned long long tree_process_number(const struct execution *execution)
{
	return (unsigned long long)execution->task << PID_BITS |
	       ((uint32_t)execution->pid & ((1U << PID_BITS) - 1));
}

/*
 * Write each execution that can read from the pipe of @write. Leave out the executions of the
 * process of @write, and the executions in @told. After writing an execution, add the execution
 * to @told.
 */
static void put_readers_of(struct sink *sink, const struct executions *executions,
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
		sink_either(sink, told->nr, ",", "");
		sink_putf(sink, "{\"p\":%llu,\"x\":%u}", tree_process_number(reader),
			  reader->index);
		sink_fail(sink, intmap_put(told, use->execution, (void *)reader));
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
		       struct sink *sink)
{
	struct intmap told cleanup_intmap = { 0 };

	sink_lit(sink, ",\"i\":[");
	for (uint32_t i = files_first_use(files, at); i != FILES_NONE;
	     i = files->uses[i].next_of_execution) {
		const struct file_use *use = &files->uses[i];

		if (files->contents[use->content].kind == CONTENT_PIPE &&
		    use->write_ns != UINT64_MAX)
			put_readers_of(sink, executions, files, use, &told);
	}
	sink_lit(sink, "]");
}

static unsigned int access_bits(uint32_t what)
{
	if (!(what & FILE_SHOWN_WRITTEN))
		return 0;
	return what & FILE_SHOWN_READ ? MODE_BOTH : MODE_WRITTEN;
}

static void put_file(struct sink *sink, const struct files *files, const struct file_use *use,
		     uint64_t first_ns)
{
	const char *path = files->names[use->name].path;
	unsigned int mode = access_bits(use->what);
	struct stat st = { 0 };

	if (path[0] == '/' && lstat(path, &st) == 0)
		mode |= MODE_IS_THERE | (st.st_mode & S_IFMT) >> 12 << MODE_TYPE_SHIFT;
	sink_lit(sink, "{\"p\":");
	sink_quoted(sink, path);
	if (use->given) {
		sink_lit(sink, ",\"o\":");
		sink_quoted(sink, use->given);
	}
	sink_putf(sink, ",\"b\":%llu,\"e\":%llu,\"m\":%u,\"s\":%lld}",
		  (unsigned long long)(use->open_ns - first_ns),
		  (unsigned long long)(use->close_ns - first_ns), mode, (long long)st.st_size);
}

/*
 * Add @use to @all. If an element of @all has the same name, merge @use into that element.
 *
 * @by_name: the key is a name. The value is the index of the element in @all with this name, plus
 *           one
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

void tree_files_json(const struct executions *executions, const struct files *files, size_t at,
		     struct sink *sink)
{
	struct intmap by_name cleanup_intmap = { 0 };
	struct file_use *all cleanup_free = NULL;
	size_t nr = 0;

	for (uint32_t i = files_first_use(files, at); i != FILES_NONE;
	     i = files->uses[i].next_of_execution) {
		const struct file_use *use = &files->uses[i];

		if (use->what & FILE_SHOWN && use->name != FILES_NONE &&
		    !add_use(use, &by_name, &all, &nr))
			sink_fail(sink, -ENOMEM);
	}
	sink_lit(sink, ",\"o\":[");
	for (size_t i = 0; i < nr; i++) {
		sink_either(sink, i, ",", "");
		put_file(sink, files, &all[i], executions->all[0].start_ns);
	}
	sink_lit(sink, "]");
}
