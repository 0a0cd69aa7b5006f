/* Per-CPU files of a recording (see cpu_files.h). */
#include "utils/pipeline/recording/cpu_files.h"

#include <dirent.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "utils/base/cleanup.h"
#include "utils/base/compiler.h"
#include "utils/base/containers/vec.h"
#include "utils/format/text.h"

static bool cpu_of(const char *name, const char *prefix, uint32_t *cpu)
{
	struct text in = text_of(name, strlen(name));
	uint64_t number;

	if (!text_word(&in, prefix) || !text_dec(&in, &number) || !text_word(&in, ".dat") ||
	    in.at != in.end || number > UINT16_MAX)
		return false;
	*cpu = number;
	return true;
}

struct cpu_file {
	char *name;
	uint32_t cpu;
};

struct cpu_list {
	struct cpu_file *files;
	size_t nr;
};

static void list_deinit(struct cpu_list *list)
{
	for (size_t i = 0; i < list->nr; i++)
		free(list->files[i].name);
	free(list->files);
}

static int list_add(struct cpu_list *list, const char *name, uint32_t cpu)
{
	struct cpu_file *files = vec_grow(list->files, list->nr, sizeof(*files));
	char *copy = strdup(name);

	if (files)
		list->files = files;
	if (!files || !copy) {
		free(copy);
		return -ENOMEM;
	}
	files[list->nr++] = (struct cpu_file){ copy, cpu };
	return 0;
}

static int compare_files(const void *a, const void *b)
{
	const struct cpu_file *x = a;
	const struct cpu_file *y = b;

	/* Two files may belong to the same CPU: "perf-cpu3.dat" and "perf-cpu03.dat". */
	return x->cpu != y->cpu ? (x->cpu > y->cpu) - (x->cpu < y->cpu) : strcmp(x->name, y->name);
}

static int find_files(const char *dir, const char *prefix, struct cpu_list *list)
{
	DIR *open_dir cleanup_dir = opendir(dir);
	struct dirent *entry;
	int ret = open_dir ? 0 : -errno;

	while (ret == 0 && (entry = readdir(open_dir))) {
		uint32_t cpu;

		if (cpu_of(entry->d_name, prefix, &cpu))
			ret = list_add(list, entry->d_name, cpu);
	}
	if (list->nr)
		qsort(list->files, list->nr, sizeof(*list->files), compare_files);
	return ret;
}

int cpu_files_each(const char *dir, const char *prefix,
		   int (*fn)(void *self, const char *name, uint32_t cpu), void *self,
		   struct uft_err *err)
{
	struct cpu_list list cleanup(list_deinit) = { 0 };
	int ret = find_files(dir, prefix, &list);

	if (ret < 0)
		return err_set_errno(err, ret, "cannot open '%s'", dir);
	for (size_t i = 0; ret >= 0 && i < list.nr; i++)
		ret = fn(self, list.files[i].name, list.files[i].cpu);
	return MIN(ret, 0);
}

static int note_highest(void *self, const char *name, uint32_t cpu)
{
	uint32_t *nr = self;

	*nr = MAX(*nr, cpu + 1);
	return 0;
}

uint32_t cpu_files_count(const char *dir, const char *prefix)
{
	uint32_t nr = 0;

	cpu_files_each(dir, prefix, note_highest, &nr, NULL);
	return nr;
}
