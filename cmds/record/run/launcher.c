/* Detects launchers and their libraries (see launcher.h). */
#include "cmds/record/run/launcher.h"

#include <stdlib.h>
#include <string.h>

#include "utils/base/path.h"
#include "utils/object/elf_file.h"

/*
 * A program is a launcher if the program has at most LAUNCHER_BYTES_MAX bytes of code, and one of
 * its libraries has much more code: at least LIBRARY_BYTES_MIN bytes, and at least TIMES_LARGER
 * times as much code as the program.
 */
#define LAUNCHER_BYTES_MAX (512U << 10)
#define LIBRARY_BYTES_MIN  (1U << 20)
#define TIMES_LARGER	   16

/* True for a library that many programs use. */
static bool is_of_everybody(const char *name)
{
	static const char *const names[] = { "libc.so",	  "libc-",     "libc.musl", "libm.so",
					     "libm-",	  "libstdc++", "libgcc_s",  "ld-linux",
					     "libmcount", "libcrypto", "libicu" };

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		if (strncmp(name, names[i], strlen(names[i])) == 0)
			return true;
	}
	return false;
}

/* Returns the number of bytes of executable code, or 0 when the file cannot be read. */
static uint64_t code_bytes_of(const char *path)
{
	struct elf_file file cleanup_elf_file = ELF_FILE_CLOSED;
	uint64_t bytes = 0;

	if (elf_file_open(&file, path, NULL) < 0)
		return 0;
	for (Elf_Scn *scn = NULL; (scn = elf_nextscn(file.elf, scn)) != NULL;) {
		GElf_Shdr head;

		if (gelf_getshdr(scn, &head) && (head.sh_flags & SHF_EXECINSTR))
			bytes += head.sh_size;
	}
	return bytes;
}

/*
 * Returns the length of the name up to the first dot: "libjvm" in "libjvm.so". Users name a library
 * in this form, as in `-P .@libjvm`.
 */
static int bare_length(const char *name)
{
	return (int)strcspn(name, ".");
}

void launcher_describe(struct recorder *rec, const char *path, struct strbuf *out)
{
	const struct known_module *largest = NULL;
	uint64_t most = LIBRARY_BYTES_MIN - 1;
	char *real;
	uint64_t own;

	if (patches_name_files(rec->settings->patches) ||
	    !patch_rules_have(rec->settings->patches, /* takes_out= */ false))
		return;
	real = realpath(path, NULL);
	own = real ? code_bytes_of(real) : 0;
	for (const struct known_module *m = rec->planner.modules.first;
	     own && own <= LAUNCHER_BYTES_MAX && m; m = m->next) {
		const char *name = path_base(m->path);
		uint64_t bytes = strcmp(m->path, real) == 0 || is_of_everybody(name) ||
						 !strstr(name, ".so")
					 ? 0
					 : code_bytes_of(m->path);

		if (bytes > most) {
			most = bytes;
			largest = m;
		}
	}
	free(real);
	if (!largest || most / TIMES_LARGER < own)
		return;

	const char *name = path_base(largest->path);

	strbuf_addf(out,
		    "'%s' has %llu kB of code, its library '%s' has %llu MB: -P .@%.*s records "
		    "that one",
		    path, (unsigned long long)(own + 1023) >> 10, name,
		    (unsigned long long)most >> 20, bare_length(name), name);
}
