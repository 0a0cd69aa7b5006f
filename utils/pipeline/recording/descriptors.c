/* The file descriptors of processes (see descriptors.h). */
#include "utils/pipeline/recording/descriptors.h"

#include <errno.h>
#include <stdlib.h>

#include "utils/base/compiler.h"
#include "utils/base/containers/vec.h"

static void free_set(struct descriptor_set *set)
{
	free(set->all);
	*set = (struct descriptor_set){ 0 };
}

void descriptors_deinit(struct descriptors *descriptors)
{
	for (size_t i = 0; i < descriptors->nr; i++) {
		free_set(&descriptors->all[i]->now);
		free_set(&descriptors->all[i]->before);
		free(descriptors->all[i]);
	}
	free(descriptors->all);
	intmap_deinit(&descriptors->by_pid);
	*descriptors = (struct descriptors){ 0 };
}

static struct descriptors_of *find_or_add(struct descriptors *descriptors, int32_t pid)
{
	struct descriptors_of *of = intmap_get(&descriptors->by_pid, (uint32_t)pid);
	struct descriptors_of **all;

	if (of)
		return of;
	all = vec_grow(descriptors->all, descriptors->nr, sizeof(*all));
	if (!all)
		return NULL;
	descriptors->all = all;
	of = calloc(1, sizeof(*of));
	if (!of)
		return NULL;
	all[descriptors->nr++] = of;
	of->execution = EXECUTION_NONE;
	return intmap_put(&descriptors->by_pid, (uint32_t)pid, of) < 0 ? NULL : of;
}

struct descriptors_of *descriptors_get(struct descriptors *descriptors, int32_t pid,
				       size_t execution)
{
	struct descriptors_of *of = find_or_add(descriptors, pid);

	if (of && of->execution == EXECUTION_NONE)
		of->execution = execution;
	return of;
}

static struct descriptor *find_descriptor(const struct descriptor_set *set, uint32_t fd)
{
	for (size_t i = set->nr; i > 0; i--) {
		if (set->all[i - 1].fd == fd)
			return &set->all[i - 1];
	}
	return NULL;
}

static bool is_pipe(const struct files *files, uint32_t content)
{
	return files->contents[content].kind == CONTENT_PIPE;
}

/*
 * If the process has only one end of a pipe, store in @files that the process uses the pipe. A
 * process with both ends is not a user of the pipe: such a process may have made the pipe for its
 * children.
 */
static int look_at_pipe(struct files *files, const struct descriptors_of *of, uint32_t content,
			uint64_t now_ns)
{
	bool reads = false, writes = false;

	if (files_spend(files, of->now.nr) < 0)
		return -EDQUOT;
	for (size_t i = 0; i < of->now.nr; i++) {
		reads |= of->now.all[i].content == content && of->now.all[i].reads;
		writes |= of->now.all[i].content == content && of->now.all[i].writes;
	}
	if (reads == writes)
		return 0;

	uint32_t at = files_use(files, of->execution, FILES_NONE, content, now_ns);

	if (at == FILES_NONE)
		return -ENOMEM;

	/* The end of this use is not recorded, so the use stays open. */
	files->uses[at].nr_open = 1;
	file_use_note(&files->uses[at], reads, writes, now_ns);
	return 0;
}

static int end_use(struct files *files, const struct descriptors_of *of,
		   const struct descriptor *gone, uint64_t now_ns)
{
	struct file_use *use;

	if (is_pipe(files, gone->content))
		return look_at_pipe(files, of, gone->content, now_ns);
	if (gone->use == FILES_NONE)
		return 0;
	use = &files->uses[gone->use];
	use->close_ns = now_ns;
	if (use->nr_open)
		use->nr_open--;
	return 0;
}

int descriptors_close(struct files *files, struct descriptors_of *of, uint32_t first, uint32_t last,
		      uint64_t now_ns)
{
	struct descriptor_set *set = &of->now;
	int ret = files_spend(files, set->nr);

	for (size_t i = 0; i < set->nr && ret == 0;) {
		struct descriptor gone = set->all[i];

		if (gone.fd < first || gone.fd > last) {
			i++;
			continue;
		}
		set->all[i] = set->all[--set->nr];
		ret = end_use(files, of, &gone, now_ns);
	}
	return ret;
}

static int append_descriptor(struct descriptor_set *set, const struct descriptor *new)
{
	struct descriptor *all = vec_room(set->all, set->nr, &set->cap, sizeof(*all));

	if (!all)
		return -ENOMEM;
	set->all = all;
	all[set->nr++] = *new;
	return 0;
}

int descriptors_put(struct files *files, struct descriptors_of *of, const struct descriptor *new,
		    uint64_t now_ns)
{
	/*
	 * @of may still have an older descriptor with the number new->fd, because no record shows
	 * that the older descriptor was closed. Close the older descriptor first.
	 */
	int ret = descriptors_close(files, of, new->fd, new->fd, now_ns);

	return ret < 0 ? ret : append_descriptor(&of->now, new);
}

/*
 * If the file of @it is not a pipe, note in @files that of->execution uses this file. For a pipe,
 * look_at_pipe() notes the use.
 */
static int begin_use(struct files *files, const struct descriptors_of *of, struct descriptor *it,
		     uint32_t name, uint64_t now_ns)
{
	if (is_pipe(files, it->content))
		return 0;
	it->use = files_use(files, of->execution, name, it->content, now_ns);
	if (it->use == FILES_NONE)
		return -ENOMEM;
	files->uses[it->use].nr_open++;
	file_use_note(&files->uses[it->use], it->reads, it->writes, now_ns);
	return 0;
}

int descriptors_add(struct files *files, struct descriptors_of *of, const struct descriptor *new,
		    uint32_t name, uint64_t now_ns)
{
	struct descriptor it = *new;
	int ret = begin_use(files, of, &it, name, now_ns);

	return ret < 0 ? ret : descriptors_put(files, of, &it, now_ns);
}

int descriptors_dup(struct files *files, struct descriptors_of *of, uint32_t old, uint32_t new,
		    uint64_t now_ns)
{
	const struct descriptor *found = find_descriptor(&of->now, old);
	struct descriptor it;

	if (files_spend(files, of->now.nr) < 0)
		return -EDQUOT;
	if (old == new)
		return 0;
	if (!found)
		return descriptors_close(files, of, new, new, now_ns);
	it = *found;
	it.fd = new;
	if (it.use != FILES_NONE)
		files->uses[it.use].nr_open++;
	return descriptors_put(files, of, &it, now_ns);
}

int descriptors_pipe(struct files *files, struct descriptors_of *of, uint32_t read, uint32_t write,
		     uint64_t now_ns)
{
	uint32_t content = files_new_content(files, FILES_NONE, CONTENT_PIPE);
	struct descriptor end = { read, content, FILES_NONE, true, false };
	int ret = content == FILES_NONE ? -ENOMEM : descriptors_put(files, of, &end, now_ns);

	end = (struct descriptor){ write, content, FILES_NONE, false, true };
	return ret < 0 ? ret : descriptors_put(files, of, &end, now_ns);
}

int descriptors_fork(struct files *files, struct descriptors *descriptors,
		     struct descriptors_of *parent, int32_t pid, size_t child, uint64_t now_ns)
{
	struct descriptors_of *of = find_or_add(descriptors, pid);
	int ret = 0;

	if (!of)
		return -ENOMEM;
	/* An earlier process may have had the same pid. */
	free_set(&of->now);
	free_set(&of->before);
	of->execution = child;
	of->since_ns = now_ns;
	of->is_new = true;
	for (size_t i = 0; i < parent->now.nr && ret == 0; i++) {
		struct descriptor it = parent->now.all[i];
		uint32_t name = it.use == FILES_NONE ? FILES_NONE : files->uses[it.use].name;

		/*
		 * The numbers of the parent's descriptors are all different. So no descriptor with
		 * the number of @it has to be closed in the child.
		 */
		ret = files_spend(files, sizeof(it) * FILES_HELD_COST);
		if (ret == 0)
			ret = begin_use(files, of, &it, name, now_ns);
		if (ret == 0)
			ret = append_descriptor(&of->now, &it);
	}
	return ret;
}

void descriptors_exec(struct descriptors_of *of, size_t execution, uint64_t now_ns)
{
	free_set(&of->before);
	of->before = of->now;
	of->now = (struct descriptor_set){ 0 };
	of->execution = execution;
	of->since_ns = now_ns;
	of->is_new = true;
}

uint32_t descriptors_before(const struct descriptors_of *of, uint32_t fd)
{
	const struct descriptor *found = find_descriptor(&of->before, fd);

	return found ? found->content : FILES_NONE;
}

int descriptors_settle(struct files *files, struct descriptors_of *of)
{
	int ret = 0;

	if (!of->is_new)
		return 0;
	of->is_new = false;
	free_set(&of->before);
	for (size_t i = 0; i < of->now.nr && ret == 0; i++) {
		if (is_pipe(files, of->now.all[i].content))
			ret = look_at_pipe(files, of, of->now.all[i].content, of->since_ns);
	}
	return ret;
}

int descriptors_settle_all(struct files *files, struct descriptors *descriptors)
{
	int ret = 0;

	for (size_t i = 0; i < descriptors->nr && ret == 0; i++)
		ret = descriptors_settle(files, descriptors->all[i]);
	return ret;
}
