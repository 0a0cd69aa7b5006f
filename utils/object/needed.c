/* The libraries that a module needs (see needed.h). */
#include "utils/object/needed.h"

#include <errno.h>
#include <string.h>

#include "utils/object/elf_file.h"

int object_needed_load(const char *path, struct strbuf *names, struct uft_err *err)
{
	struct elf_file file cleanup_elf_file = ELF_FILE_CLOSED;
	struct elf_section dynamic;
	int ret = elf_file_open(&file, path, err);

	if (ret < 0)
		return ret;
	if (!elf_section_by_type(&file, SHT_DYNAMIC, &dynamic) || !dynamic.data)
		return 0;
	for (int i = 0;; i++) {
		GElf_Dyn entry;

		if (!gelf_getdyn(dynamic.data, i, &entry) || entry.d_tag == DT_NULL)
			break;
		if (entry.d_tag != DT_NEEDED)
			continue;

		/* libelf checks that the string ends within its section. */
		const char *name = elf_strptr(file.elf, dynamic.head.sh_link, entry.d_un.d_val);

		if (name)
			strbuf_list_add(names, name);
	}
	return strbuf_oom(names) ? err_set_errno(err, -ENOMEM, "cannot read '%s'", path) : 0;
}
