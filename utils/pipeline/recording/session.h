/* A session has the mappings of one process image, and finds the function at an address. */
#ifndef UTRAIL_PIPELINE_SESSION_H
#define UTRAIL_PIPELINE_SESSION_H

#include <stdint.h>

#include "utils/base/err.h"
#include "utils/format/probe/map.h"
#include "utils/format/task_txt.h"
#include "utils/pipeline/recording/module.h"

/* A library that was loaded by dlopen(3). */
struct late_module {
	uint64_t time_ns;
	uint64_t base;
	struct module *module;
};

/*
 * A hash table that maps addresses of a session to functions. The table is for a part of the
 * session: from one dlopen(3) to the next. The table uses open addressing, and is at most half
 * full.
 *
 * @nr_late: number of libraries in session.late that were loaded before this part or at its start
 */
struct addr_space {
	struct session *session;
	size_t nr_late;
	size_t nr_used;
	size_t mask;
	struct addr_slot {
		uint64_t addr;
		const struct func *func; /* NULL: free */
	} * slots;
};

/*
 * One process image. The image begins at the start of a process or at an exec. All threads of a
 * process share a session. A forked child shares the session of its parent.
 *
 * @late: libraries loaded by dlopen(3), sorted by time
 * @spaces: for each reader, pointers to @nr_late + 1 address spaces: one without late libraries,
 *          one with the first late library, one with the first two, and so on. A pointer is NULL
 *          until its address space is needed
 */
struct session {
	char sid[SESSION_ID_LEN + 1];
	uint64_t start_ns;
	int32_t pid;
	char *exename;
	struct module_set *set;
	struct module_map map;
	struct module **modules; /* the module of each entry of @map */
	struct late_module *late;
	size_t nr_late;
	struct addr_space **spaces;
};

/* Make the session of a SESS line. Returns NULL when memory is short. */
struct session *session_create(struct module_set *set, const struct task_line *line);
void session_destroy(struct session *session);

/* Read `sid-<id>.map`. A missing file is not an error, but then no address has a name. */
int session_load_map(struct session *session, struct uft_err *err);

/*
 * Add the library of a DLOP line. dlopen(3) has loaded this library. DLOP lines may come in any
 * order. All earlier results of session_space() for @session become invalid. Returns 0 or -ENOMEM.
 */
int session_add_late(struct session *session, const struct task_line *line);

/*
 * The maximum number of threads that look up addresses at the same time. A thread's number is its
 * "reader".
 */
#define READERS_MAX 16

/*
 * Find the address space of the thread with the number @reader for events at @time_ns. Stores in
 * @until_ns the time up to which this address space is valid, or UINT64_MAX if it is valid to the
 * end. Returns NULL when memory is short.
 */
struct addr_space *session_space(struct session *session, unsigned reader, uint64_t time_ns,
				 uint64_t *until_ns);

/* Fibonacci hashing. Addresses of functions differ little, and mostly in the middle bits. */
static inline size_t addr_slot(uint64_t addr)
{
	return (addr * 0x9e3779b97f4a7c15ULL) >> 32;
}

/* The slow path of space_func(). */
const struct func *space_find(struct addr_space *space, uint64_t addr, struct uft_err *err);

/*
 * Find the symbol of the function or variable at @addr. Returns the struct func of the symbol.
 * Returns NULL if there is no symbol, or after an error. Does not add @addr to the hash table of
 * @space.
 */
const struct func *space_symbol(const struct addr_space *space, uint64_t addr);

/*
 * Like space_symbol(). In addition, *@offset becomes the offset of @addr from the start of the
 * module. The member addr of a struct symbol is such an offset.
 */
const struct func *space_symbol_offset(const struct addr_space *space, uint64_t addr,
				       uint64_t *offset);

/*
 * HOT: find the function at @addr. An address without a symbol has a function named "<hex>".
 * Returns NULL with @err if memory is short, or a symbol file is unreadable.
 */
static inline const struct func *space_func(struct addr_space *space, uint64_t addr,
					    struct uft_err *err)
{
	size_t at = addr_slot(addr) & space->mask;

	while (space->slots[at].func) {
		if (likely(space->slots[at].addr == addr))
			return space->slots[at].func;
		at = (at + 1) & space->mask;
	}
	return space_find(space, addr, err);
}

#endif
