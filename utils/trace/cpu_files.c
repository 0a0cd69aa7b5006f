/* Files of a recording of which there is one for each CPU (see cpu_files.h). */
#include "utils/trace/cpu_files.h"

#include <dirent.h>
#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "utils/base/compiler.h"
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

int cpu_files_each(const char *dir, const char *prefix,
		   int (*fn)(void *self, const char *name, uint32_t cpu), void *self,
		   struct uft_err *err)
{
	DIR *open_dir = opendir(dir);
	struct dirent *entry;
	int ret = 0;

	if (!open_dir)
		return err_set_errno(err, -errno, "cannot open '%s'", dir);
	while (ret >= 0 && (entry = readdir(open_dir))) {
		uint32_t cpu;

		if (cpu_of(entry->d_name, prefix, &cpu))
			ret = fn(self, entry->d_name, cpu);
	}
	closedir(open_dir);
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
