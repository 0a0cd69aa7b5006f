/* Modules of a recording, and their functions. Views show these functions instead of addresses. */
#ifndef UTRAIL_PIPELINE_MODULE_H
#define UTRAIL_PIPELINE_MODULE_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "utils/base/err.h"
#include "utils/base/containers/strmap.h"
#include "utils/format/dbg.h"
#include "utils/format/sym.h"
#include "utils/object/names/demangle.h"
#include "utils/spec/args/enumdef.h"
#include "utils/spec/args/structdef.h"

/*
 * A function. All addresses of a function, in all sessions, share one struct func, because views
 * compare pointers. The struct is valid as long as the recording is open.
 *
 * @name: demangled; "<hex>" for an address without a symbol
 * @others: the other names of the function (demangle_others()); NULL: none
 * @call_text: "name();", or "name;" if the name has its own brackets. This text stands for a call
 *             without arguments and without callees. The name is escaped for terminals
 * @shown_len: the length of the name in @call_text
 * @call_len: the length of @call_text
 * @id: the index of the function in arrays that a view keeps
 * @count_id: usually @id. If the compiler made this function as a copy or a part of another
 *            function, the @count_id of the other function. Nested calls with the same count_id
 *            are recursion
 * @sym: NULL: there is no symbol
 * @module: NULL: a pseudo function, or an address outside of all modules
 */
struct func {
	const char *name;
	char *others;
	const char *call_text;
	uint32_t name_len;
	uint32_t shown_len;
	uint32_t call_len;
	uint32_t id;
	uint32_t count_id;
	bool is_libcall; /* an entry of a PLT */
	bool is_end;	 /* a library call that ends its process or thread */
	bool is_exec;	 /* a library call that replaces the program of its process */
	bool is_fork;	 /* has the name of a function from which two processes return */
	bool is_kernel;	 /* a function of the kernel, as the kernel's tracer records it */
	const struct symbol *sym;
	const struct module *module;
};

/* The number of readable bytes after the texts of a func. Views copy texts in large pieces. */
#define FUNC_TEXT_SLACK 32

/*
 * One object file of the traced program. Its symbols are loaded when the first address is looked
 * up, and its debug information on demand.
 *
 * @old: earlier tables of the module. Functions may still point into these tables
 * @growing_bytes: the size that a growing symbol file (utils/format/callables.h) had when it was
 *                 read
 * @damage: the negative errno of a symbol file that cannot be read; 0: none
 * @why: the message about the damage, on the heap; NULL: there is no message
 * @sym_name: name of the symbol file in @sym_dir; NULL: there is none
 */
struct module {
	char *path;
	const char *basename; /* within @path */
	char *build_id;	      /* "" when unknown */
	struct module *next;  /* next module of the same path, with another build-id */
	bool is_loaded;
	struct symtab symtab;
	struct old_symbols *old;
	uint64_t growing_bytes;
	int damage;
	char *why;
	struct func **funcs; /* the function of each symbol; NULL: not made yet */
	char *sym_name;
	const char *sym_dir; /* the folder of the symbol file; borrowed */
	bool has_debug;	     /* true after a search for the .dbg file */
	struct dbg dbg;
	struct enum_defs enums;
	struct struct_defs structs;
	struct srcline *lines; /* source lines; NULL: the module has none */
	bool has_lines;	       /* true after a search for source lines */
};

struct srcline;

/* All modules and functions of a recording. Starts as { 0 } with @dir and @demangle set. */
struct module_set {
	const char *dir;      /* the folder with the .sym files; borrowed */
	const char *syms_dir; /* --with-syms: the folder that is searched first, or NULL */
	/* true: if a module has no .sym file, the symbols are read from the module's ELF file */
	bool reads_programs;
	enum demangle_mode demangle;
	struct module **modules;
	size_t nr_modules;
	struct strmap by_path; /* the newest module of each path */
	struct module *kernel; /* the kernel; NULL: none of its functions was called */
	pthread_mutex_t lock;  /* protects all members while several threads read */
	struct func **funcs;   /* the index is func->id */
	size_t nr_funcs;
};

void module_set_deinit(struct module_set *set);

/* Find the module with this path and build-id, or add it. Returns NULL when memory is short. */
struct module *module_set_get(struct module_set *set, const char *path, const char *build_id);

/* Get the kernel as a module, whose symbols are in kallsyms. Returns NULL when memory is short. */
struct module *module_set_kernel(struct module_set *set);
#define KERNEL_MODULE_PATH "[kernel]"

/*
 * Find the kernel's function at @addr. KERNEL_ADDR_BIT must be set in @addr. No address space
 * (session.h) is needed, because all sessions share the kernel's functions. Not thread-safe.
 *
 * Returns 1 with *@func, 0 if kallsyms has no symbol, or a negative errno with @err.
 */
int module_set_kernel_func(struct module_set *set, uint64_t addr, const struct func **func,
			   struct uft_err *err);

/*
 * Read the module's symbols, unless they were read already. If no file has the module's symbols,
 * the call succeeds, and the module has no symbols. If the call fails, the module has no symbols
 * either. After a failure, the next call reads the symbol file again if the symbol file has grown,
 * or if memory or descriptors were short. Otherwise the next call returns the same error.
 */
int module_load(struct module_set *set, struct module *mod, struct uft_err *err);

/*
 * Read the module's symbols again if the module's symbol file has grown. The symbol file grows when
 * functions of Python are called for the first time. Known functions stay valid. Returns true when
 * the file was read, and has symbols.
 */
bool module_has_grown(struct module_set *set, struct module *mod, struct uft_err *err);

/* Find the source file of the function @sym. Returns NULL if no debug information was recorded. */
const char *module_source(struct module_set *set, struct module *mod, const struct symbol *sym);

/* Get the function of a symbol of @mod. Returns NULL when memory is short. */
const struct func *module_func(struct module_set *set, struct module *mod,
			       const struct symbol *sym);

/*
 * A function may have several names. If @name is one of the names of a function, show the function
 * under @name. Call module_set_prefer() before the first function is looked up. Returns 0, -ENOMEM,
 * or the error of an unreadable symbol file.
 */
int module_set_prefer(struct module_set *set, const char *name, struct uft_err *err);

/* True when @func has this name. */
bool func_is_called(const struct func *func, const char *name);

/*
 * Append "FILE:LINE" of the instruction at @offset of @func's module. Returns false if the module's
 * file does not tell the line. Not thread-safe.
 */
bool module_put_line(const struct func *func, uint64_t offset, struct strbuf *out);

/*
 * Find debug information about @func. Returns NULL if no debug information is found. A damaged .dbg
 * file counts as absent.
 */
const struct dbg_func *module_debug(struct module_set *set, const struct func *func);

/*
 * Add a function "<hex>" for an address without a symbol. @mod: its module, or NULL. Returns NULL
 * when memory is short.
 */
const struct func *module_set_add_unknown(struct module_set *set, uint64_t addr,
					  const struct module *mod);

/* Add a function with this name and without a symbol. Returns NULL when memory is short. */
const struct func *module_set_add_func(struct module_set *set, const char *name);

#endif
