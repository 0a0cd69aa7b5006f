/* Finds the open calls of a stopped thread with libdwfl (see unwind.h). */
#include "cmds/record/attach/unwind.h"

#include <elfutils/libdwfl.h>
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "utils/base/cleanup.h"
#include "utils/base/compiler.h"
#include "utils/base/fd.h"
#include "utils/base/containers/vec.h"

#define FRAMES_MAX     65536
#define PAGE	       4096UL
#define VDSO	       "[vdso]"
#define VDSO_BYTES_MAX (1UL << 20)

/*
 * @thread: the thread that is being unwound
 * @page, @at: the page of the process' memory that was read last, and its address
 */
struct unwinder {
	Dwfl *dwfl;
	const struct attached *w;
	const struct maps *maps;
	const struct attached_thread *thread;
	struct unwind_frame *frames;
	size_t nr;
	uint8_t page[PAGE];
	uint64_t at;
	size_t read;
	char *vdso; /* the bytes of the vDSO; NULL before they are needed */
};

/* --- modules --- */

/*
 * True when the file is probably the mapped file, because the file and the mapping have the same
 * first bytes. These bytes contain the program headers, and usually the build id.
 */
static bool is_mapped(const struct unwinder *u, int fd, uint64_t start)
{
	uint8_t file[1024];
	uint8_t memory[sizeof(file)];
	ssize_t n = fd_pread_full(fd, file, sizeof(file), 0);

	return n > 0 && attached_read(u->w, start, memory, n) == (size_t)n &&
	       memcmp(file, memory, n) == 0;
}

/*
 * Open the file of the module. @path is valid in the mount namespace of the process. If @path does
 * not lead to that file, try /proc/PID/exe: the program's file may be deleted.
 */
static int open_module(const struct unwinder *u, const char *path, uint64_t start)
{
	for (int is_exe = 0; is_exe <= 1; is_exe++) {
		char name[PATH_MAX + 32];
		int len = is_exe ? snprintf(name, sizeof(name), "/proc/%d/exe", u->w->pid)
				 : snprintf(name, sizeof(name), "/proc/%d/root%s", u->w->pid, path);
		int fd cleanup_fd = len < (int)sizeof(name) ? file_open_regular(name, NULL) : -1;

		if (fd >= 0 && is_mapped(u, fd, start))
			return take_fd(&fd);
	}
	return -1;
}

/*
 * Reads the vDSO from memory, because no file contains the vDSO. The vDSO is code of the kernel for
 * functions such as clock_gettime(2).
 */
static Elf *read_vdso(struct unwinder *u, uint64_t start)
{
	const struct mapping *m = maps_find(u->maps, start);
	size_t bytes = m ? MIN(m->end - m->start, (uint64_t)VDSO_BYTES_MAX) : 0;

	if (u->vdso || !bytes)
		return NULL;
	u->vdso = malloc(bytes);
	if (!u->vdso || attached_read(u->w, start, u->vdso, bytes) != bytes)
		return NULL;
	return elf_memory(u->vdso, bytes);
}

/*
 * A callback of libdwfl: finds the file of a module. Returns a descriptor, which libdwfl closes, or
 * -1. For the vDSO, sets *@elf and returns -1.
 *
 * @name: see give_modules()
 */
static int find_elf(Dwfl_Module *module, void **arg, const char *name, Dwarf_Addr start,
		    char **file_name, Elf **elf)
{
	struct unwinder *u = *arg;

	if (u && strcmp(name, VDSO) == 0)
		*elf = read_vdso(u, start);
	return u && !*elf ? open_module(u, name, start) : -1;
}

/*
 * A callback of libdwfl. Always reports that the module has no separate file of debug information.
 * No such file is needed, because the module itself has call frame information.
 */
static int find_no_debuginfo(Dwfl_Module *module, void **arg, const char *name, Dwarf_Addr start,
			     const char *file_name, const char *link, GElf_Word crc,
			     char **debug_name)
{
	return -1;
}

static const Dwfl_Callbacks callbacks = {
	.find_elf = find_elf,
	.find_debuginfo = find_no_debuginfo,
};

/* Passes the modules to libdwfl. Consecutive lines of @maps with the same file are one module. */
static void give_modules(struct unwinder *u)
{
	const struct maps *maps = u->maps;
	size_t end;

	dwfl_report_begin(u->dwfl);
	for (size_t i = 0; i < maps->nr; i = end) {
		const struct mapping *first = &maps->lines[i];
		bool has_code = false;

		for (end = i; end < maps->nr && strcmp(maps->lines[end].path, first->path) == 0;
		     end++)
			has_code |= maps->lines[end].is_code;
		if ((first->path[0] != '/' && strcmp(first->path, VDSO) != 0) || !has_code)
			continue;

		Dwfl_Module *module = dwfl_report_module(u->dwfl, first->path, first->start,
							 maps->lines[end - 1].end);
		void **arg;

		if (module && dwfl_module_info(module, &arg, NULL, NULL, NULL, NULL, NULL, NULL))
			*arg = u;
	}
	dwfl_report_end(u->dwfl, NULL, NULL);
}

bool unwind_module(struct unwinder *u, uint64_t pc, struct unwind_module *out)
{
	Dwfl_Module *module = dwfl_addrmodule(u->dwfl, pc);
	GElf_Addr bias = 0;
	Dwarf_Addr start, end;
	size_t size = 0;
	Elf *elf = module ? dwfl_module_getelf(module, &bias) : NULL;

	if (!elf)
		return false;
	out->path = dwfl_module_info(module, NULL, &start, &end, NULL, NULL, NULL, NULL);
	/* libdwfl may find a module for an address between two modules. */
	if (pc < start || pc >= end)
		return false;
	out->bias = bias;
	elf_rawfile(elf, &size);
	out->file = (struct elf_file){ .fd = -1, .elf = elf, .size = size };
	return out->path && gelf_getehdr(elf, &out->file.head);
}

/* --- threads --- */

static pid_t next_thread(Dwfl *dwfl, void *arg, void **thread_arg)
{
	return 0;
}

static bool get_thread(Dwfl *dwfl, pid_t tid, void *arg, void **thread_arg)
{
	*thread_arg = arg;
	return true;
}

static bool read_memory(Dwfl *dwfl, Dwarf_Addr addr, Dwarf_Word *word, void *arg)
{
	struct unwinder *u = arg;
	uint64_t page = addr & ~(PAGE - 1);

	if (u->at != page) {
		u->at = page;
		u->read = attached_read(u->w, page, u->page, PAGE);
	}
	if (addr - page + sizeof(*word) > u->read)
		return attached_read(u->w, addr, word, sizeof(*word)) == sizeof(*word);
	memcpy(word, u->page + (addr - page), sizeof(*word));
	return true;
}

static bool set_registers(Dwfl_Thread *thread, void *arg)
{
	const struct unwinder *u = arg;
	uint64_t numbers[ARCH_REMOTE_DWARF_REGS];
	Dwarf_Word regs[ARRAY_SIZE(numbers)];
	unsigned nr = arch_remote_dwarf_regs(&u->thread->regs, numbers);

	for (unsigned i = 0; i < nr; i++)
		regs[i] = numbers[i];
	return nr && dwfl_thread_state_registers(thread, 0, nr, regs);
}

static const Dwfl_Thread_Callbacks thread_callbacks = {
	.next_thread = next_thread,
	.get_thread = get_thread,
	.memory_read = read_memory,
	.set_initial_registers = set_registers,
};

static int add_frame(Dwfl_Frame *state, void *arg)
{
	struct unwinder *u = arg;
	struct unwind_frame *frames = vec_grow(u->frames, u->nr, sizeof(*frames));
	struct unwind_frame frame;
	Dwarf_Addr pc;
	Dwarf_Word sp;

	if (!frames)
		return DWARF_CB_ABORT;
	u->frames = frames;
	if (u->nr == FRAMES_MAX || !dwfl_frame_pc(state, &pc, &frame.is_interrupted) ||
	    dwfl_frame_reg(state, arch_remote_dwarf_sp, &sp) != 0)
		return DWARF_CB_ABORT;
	frame.pc = pc;
	frame.sp = sp;
	frames[u->nr++] = frame;
	return DWARF_CB_OK;
}

/* Makes an error text with the place where the unwinding has ended. */
static int say_where(const struct unwinder *u, const char *why, struct uft_err *err)
{
	uint64_t pc = u->nr ? u->frames[u->nr - 1].pc : arch_remote_pc(&u->thread->regs);
	const struct mapping *m = maps_find(u->maps, pc);

	return err_set(err, -ENOENT, "%s (at %#" PRIx64 " in '%s')", why, pc,
		       m && m->path[0] ? m->path : "?");
}

int unwind_thread(struct unwinder *u, const struct attached_thread *thread,
		  const struct unwind_frame **frames, struct uft_err *err)
{
	u->thread = thread;
	u->nr = 0;
	u->at = 1; /* no page was read yet: 1 is never the address of a page */
	*frames = NULL;

	int ret = dwfl_getthread_frames(u->dwfl, thread->tid, add_frame, u);

	if (ret != 0 || !u->nr)
		return say_where(u, ret < 0 ? dwfl_errmsg(-1) : "there are too many", err);
	*frames = u->frames;
	return u->nr;
}

struct unwinder *unwinder_open(const struct attached *w, const struct maps *maps,
			       struct uft_err *err)
{
	struct unwinder *u = calloc(1, sizeof(*u));

	if (!u) {
		err_set_errno(err, -ENOMEM, "cannot walk stacks");
		return NULL;
	}
	u->w = w;
	u->maps = maps;
	u->dwfl = dwfl_begin(&callbacks);
	if (u->dwfl) {
		give_modules(u);
		if (dwfl_attach_state(u->dwfl, NULL, w->pid, &thread_callbacks, u))
			return u;
	}
	err_set(err, -ENOENT, "%s", dwfl_errmsg(-1));
	unwinder_close(u);
	return NULL;
}

void unwinder_close(struct unwinder *u)
{
	if (!u)
		return;
	if (u->dwfl)
		dwfl_end(u->dwfl);
	free(u->vdso);
	free(u->frames);
	free(u);
}
