/* The libraries that are loaded with a program (see libraries.h). */
#include "cmds/libraries.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <spawn.h>
#include <stdbool.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "utils/base/compiler.h"
#include "utils/base/path.h"
#include "utils/object/elf_file.h"

extern char **environ;

/*
 * Directories of the system. Each user may put files into the stores of Nix and Guix, so linkers in
 * these stores are not run.
 */
static const char *const linker_dirs[] = {
	"/lib/",       "/lib32/",     "/lib64/",      "/libx32/",	 "/usr/lib/",
	"/usr/lib32/", "/usr/lib64/", "/usr/libx32/", "/usr/local/lib/",
};

/*
 * True when @linker is in one of linker_dirs, and has a name that glibc gives to a dynamic linker.
 * Other files are not run, because a program from a stranger may name any file as the linker.
 */
static bool is_linker_of_system(const char *linker)
{
	if (strncmp(path_base(linker), "ld-linux", strlen("ld-linux")) != 0 ||
	    strstr(linker, "/../"))
		return false;
	for (size_t i = 0; i < ARRAY_SIZE(linker_dirs); i++) {
		if (strncmp(linker, linker_dirs[i], strlen(linker_dirs[i])) == 0)
			return true;
	}
	return false;
}

/*
 * Returns the greatest address at which a segment of the program may end. utrail runs the dynamic
 * linker as a program of its own, and the linker maps the segments of the traced program. An
 * ET_EXEC has fixed addresses. The limit keeps these addresses below the memory of the dynamic
 * linker. For an ET_DYN, the dynamic linker chooses a free area that is large enough for all
 * segments. So the limit for a 64-bit ET_DYN only keeps the sums of addresses and sizes from
 * overflowing.
 */
static uint64_t greatest_end(const struct elf_file *file)
{
	if (file->head.e_ident[EI_CLASS] == ELFCLASS32)
		return 1ULL << 30;
	return file->head.e_type == ET_EXEC ? 1ULL << 33 : INT64_MAX / 2;
}

/*
 * True when the segments have ascending addresses, do not overlap, and do not end beyond
 * greatest_end(). Otherwise, the dynamic linker could map a segment over the linker's own code.
 */
static bool has_plain_segments(const struct elf_file *file)
{
	const uint64_t max = greatest_end(file);
	uint64_t end = 0;
	GElf_Phdr segment;

	if (file->head.e_type != ET_EXEC && file->head.e_type != ET_DYN)
		return false;
	for (size_t i = 0; elf_next_segment(file, &i, &segment);) {
		if (segment.p_type != PT_LOAD)
			continue;
		if (segment.p_vaddr < end || segment.p_filesz > segment.p_memsz ||
		    segment.p_memsz > max || segment.p_vaddr > max - segment.p_memsz)
			return false;
		end = segment.p_vaddr + segment.p_memsz;
	}
	return true;
}

/* The maximum size of a dynamic table in bytes. A usual table has about a thousand bytes. */
#define DYNAMIC_MAX_BYTES 65536

/* Finds the program's only dynamic table. Returns false when there is none, or more than one. */
static bool find_dynamic(const struct elf_file *file, GElf_Phdr *table)
{
	GElf_Phdr segment;
	unsigned nr = 0;

	/*
	 * PN_XNUM means that another place in the file has the number of segments. libelf reads
	 * this place, but no dynamic linker does.
	 */
	if (file->head.e_phnum == PN_XNUM)
		return false;
	for (size_t i = 0; elf_next_segment(file, &i, &segment);) {
		if (segment.p_type != PT_DYNAMIC)
			continue;
		*table = segment;
		nr++;
	}
	return nr == 1 && table->p_filesz <= DYNAMIC_MAX_BYTES;
}

/*
 * True when @load maps the whole table to table->p_vaddr. The table consists of the table->p_filesz
 * bytes at table->p_offset in the file.
 */
static bool has_all_of(const GElf_Phdr *load, const GElf_Phdr *table)
{
	uint64_t at = table->p_vaddr - load->p_vaddr;

	return table->p_vaddr >= load->p_vaddr && at <= load->p_filesz &&
	       table->p_filesz <= load->p_filesz - at && table->p_offset - load->p_offset == at;
}

/*
 * True when @load and @table share a page of memory, or when the end of @load cannot be computed.
 */
static bool shares_page(const GElf_Phdr *load, const GElf_Phdr *table, bool is_32)
{
	const uint64_t page = sysconf(_SC_PAGESIZE);
	const uint64_t max = is_32 ? UINT32_MAX : UINT64_MAX;
	uint64_t len = MAX(load->p_filesz, load->p_memsz);

	if (load->p_vaddr > max - page || len > max - page - load->p_vaddr)
		return true;
	return ALIGN_UP(load->p_vaddr + len, page) > (table->p_vaddr & ~(page - 1)) &&
	       (load->p_vaddr & ~(page - 1)) < ALIGN_UP(table->p_vaddr + table->p_filesz, page);
}

/* True when the dynamic table in the file is the one that a dynamic linker will see in memory. */
static bool is_mapped_once(const struct elf_file *file, const GElf_Phdr *table)
{
	bool is_32 = file->head.e_ident[EI_CLASS] == ELFCLASS32;
	GElf_Phdr segment;
	unsigned nr = 0;

	for (size_t i = 0; elf_next_segment(file, &i, &segment);) {
		if (segment.p_type != PT_LOAD || !shares_page(&segment, table, is_32))
			continue;
		if (!has_all_of(&segment, table))
			return false;
		nr++;
	}
	return nr == 1;
}

/*
 * True when `LINKER --list PROGRAM` runs no code that the program chooses. A program with DT_AUDIT
 * or DT_DEPAUDIT chooses such code: the dynamic linker runs code of the libraries that these
 * entries name, even with --list.
 */
static bool runs_no_code(const struct elf_file *file)
{
	Elf_Data *entries;
	GElf_Phdr table = { 0 };
	GElf_Dyn entry;

	if (!has_plain_segments(file) || !find_dynamic(file, &table) ||
	    !is_mapped_once(file, &table))
		return false;
	entries = elf_getdata_rawchunk(file->elf, (int64_t)table.p_offset, table.p_filesz,
				       ELF_T_DYN);
	for (int i = 0; entries && gelf_getdyn(entries, i, &entry); i++) {
		if (entry.d_tag == DT_NULL)
			return true;
		if (entry.d_tag == DT_AUDIT || entry.d_tag == DT_DEPAUDIT)
			return false;
	}
	return false;
}

/*
 * The result of find_linker(). LINKER_REFUSED: the program has a dynamic linker, but utrail does
 * not ask this linker for the libraries
 */
enum linker {
	LINKER_NONE,
	LINKER_REFUSED,
	LINKER_FOUND,
};

/*
 * Finds the segment that names the dynamic linker. Like the kernel, takes the first such segment.
 * Sections are not searched, because a program need not have sections.
 */
static bool find_interp(const struct elf_file *file, GElf_Phdr *interp)
{
	for (size_t i = 0; elf_next_segment(file, &i, interp);) {
		if (interp->p_type == PT_INTERP)
			return true;
	}
	return false;
}

static enum linker find_linker(const char *path, char linker[static PATH_MAX])
{
	struct elf_file file cleanup_elf_file = ELF_FILE_CLOSED;
	GElf_Phdr interp;
	const Elf_Data *name = NULL;

	if (elf_file_open(&file, path, NULL) < 0 || !find_interp(&file, &interp))
		return LINKER_NONE;
	if (interp.p_filesz > 0 && interp.p_filesz <= PATH_MAX)
		name = elf_getdata_rawchunk(file.elf, (int64_t)interp.p_offset, interp.p_filesz,
					    ELF_T_BYTE);
	if (!name)
		return LINKER_REFUSED;
	memcpy(linker, name->d_buf, name->d_size);
	linker[name->d_size - 1] = '\0';
	return is_linker_of_system(linker) && runs_no_code(&file) ? LINKER_FOUND : LINKER_REFUSED;
}

static int ask_linker(char *linker, const char *path, struct strbuf *text)
{
	char *argv[] = { linker, (char *)"--list", (char *)path, NULL };
	posix_spawn_file_actions_t actions;
	char buffer[4096];
	int pipes[2];
	ssize_t len;
	pid_t pid;
	int ret;

	if (pipe2(pipes, O_CLOEXEC) < 0)
		return -errno;
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_adddup2(&actions, pipes[1], STDOUT_FILENO);
	ret = -posix_spawn(&pid, linker, &actions, NULL, argv, environ);
	posix_spawn_file_actions_destroy(&actions);
	close(pipes[1]);
	while (ret == 0 && (len = read(pipes[0], buffer, sizeof(buffer))) > 0)
		strbuf_add(text, buffer, len);
	close(pipes[0]);
	while (ret == 0 && waitpid(pid, NULL, 0) < 0 && errno == EINTR)
		;
	return ret;
}

int libraries_of(const char *path, struct strbuf *paths)
{
	struct strbuf text cleanup_strbuf = { 0 };
	char linker[PATH_MAX];
	char *line;
	char *rest;
	int ret;

	switch (find_linker(path, linker)) {
	case LINKER_NONE:
		return 0;
	case LINKER_REFUSED:
		return 1;
	case LINKER_FOUND:
		break;
	}
	ret = ask_linker(linker, path, &text);
	rest = text.data;
	/*
	 * Most lines of the output have the form
	 * "\tlibc.so.6 => /lib/x86_64-linux-gnu/libc.so.6 (0x00007f...)". A line without "=>"
	 * begins with the library's path, which may be relative.
	 */
	while (ret == 0 && (line = strsep(&rest, "\n"))) {
		const char *arrow = strstr(line, " => ");
		const char *library = arrow ? arrow + strlen(" => ") : line + strspn(line, "\t");
		const char *end = strstr(library, " (0x");

		/* The library that the kernel provides (vDSO) has no file. */
		if (!end || !memchr(library, '/', end - library))
			continue;
		strbuf_add(paths, library, end - library);
		strbuf_addch(paths, '\0');
	}
	return ret;
}

void libraries_warn(const char *path, const struct msg *msg)
{
	msg_warn(msg,
		 "the libraries of '%s' are not shown: utrail does not run the dynamic linker that "
		 "it names",
		 path);
}
