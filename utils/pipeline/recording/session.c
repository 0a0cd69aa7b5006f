/* Sessions: the mappings of one process image (see session.h). */
#include "utils/pipeline/recording/session.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "utils/base/fd.h"
#include "utils/base/containers/vec.h"
#include "utils/format/kernel/kernel_graph.h"

#define MAP_FILE_MAX_BYTES (64UL << 20)
#define SPACE_FIRST_SLOTS  256

struct session *session_create(struct module_set *set, const struct task_line *line)
{
	struct session *session = calloc(1, sizeof(*session));

	if (!session)
		return NULL;
	memcpy(session->sid, line->sid, sizeof(session->sid));
	session->set = set;
	session->start_ns = line->time_ns;
	session->pid = line->pid;
	session->exename = strndup(line->path, line->path_len);
	if (!session->exename) {
		free(session);
		return NULL;
	}
	return session;
}

static void space_destroy(struct addr_space *space)
{
	if (!space)
		return;
	free(space->slots);
	free(space);
}

static size_t nr_spaces(const struct session *session)
{
	return READERS_MAX * (session->nr_late + 1);
}

static void drop_spaces(struct session *session)
{
	for (size_t i = 0; session->spaces && i < nr_spaces(session); i++)
		space_destroy(session->spaces[i]);
	free(session->spaces);
	session->spaces = NULL;
}

void session_destroy(struct session *session)
{
	if (!session)
		return;
	drop_spaces(session);
	free(session->late);
	free(session->modules);
	module_map_deinit(&session->map);
	free(session->exename);
	free(session);
}

static int find_modules(struct session *session)
{
	struct module_map *map = &session->map;

	session->modules = calloc(map->nr ? map->nr : 1, sizeof(*session->modules));
	if (!session->modules)
		return -ENOMEM;
	for (size_t i = 0; i < map->nr; i++) {
		if (map->entries[i].path[0] == '[')
			continue;
		session->modules[i] = module_set_get(session->set, map->entries[i].path,
						     map->entries[i].build_id);
		if (!session->modules[i])
			return -ENOMEM;
	}
	return 0;
}

int session_load_map(struct session *session, struct uft_err *err)
{
	char path[PATH_MAX];
	struct strbuf text cleanup_strbuf = { 0 };
	struct uft_err why = { 0 };

	snprintf(path, sizeof(path), "%s/sid-%s.map", session->set->dir, session->sid);

	int ret = file_read_all(path, MAP_FILE_MAX_BYTES, &text, &why);

	if (ret == -ENOENT)
		ret = 0;
	else if (ret < 0)
		return err_set(err, ret, "%s", why.text);
	else
		ret = module_map_decode(text.data, text.len, &session->map, &why);
	if (ret == 0)
		ret = find_modules(session);
	if (ret < 0)
		return err_set(err, ret, "cannot read '%s': %s", path,
			       why.code ? why.text : strerror(-ret));
	return 0;
}

int session_add_late(struct session *session, const struct task_line *line)
{
	char *path cleanup_free = strndup(line->path, line->path_len);
	struct late_module *late = vec_grow(session->late, session->nr_late,
					    sizeof(*session->late));

	if (late)
		session->late = late;
	if (!path || !late)
		return -ENOMEM;

	struct module *mod = module_set_get(session->set, path, "");

	if (!mod)
		return -ENOMEM;

	drop_spaces(session);

	size_t at = session->nr_late++;

	/* Lines come mostly in order of time. */
	for (; at > 0 && late[at - 1].time_ns > line->time_ns; at--)
		late[at] = late[at - 1];
	late[at] = (struct late_module){ line->time_ns, line->base, mod };
	return 0;
}

static struct addr_space *space_create(struct session *session, size_t nr_late)
{
	struct addr_space *space = calloc(1, sizeof(*space));

	if (!space)
		return NULL;
	space->session = session;
	space->nr_late = nr_late;
	space->mask = SPACE_FIRST_SLOTS - 1;
	space->slots = calloc(SPACE_FIRST_SLOTS, sizeof(*space->slots));
	if (!space->slots) {
		free(space);
		return NULL;
	}
	return space;
}

static struct addr_space *get_space(struct session *session, unsigned reader, size_t nr_late)
{
	size_t at = reader * (session->nr_late + 1) + nr_late;

	if (!session->spaces)
		session->spaces = calloc(nr_spaces(session), sizeof(*session->spaces));
	if (!session->spaces)
		return NULL;
	if (!session->spaces[at])
		session->spaces[at] = space_create(session, nr_late);
	return session->spaces[at];
}

struct addr_space *session_space(struct session *session, unsigned reader, uint64_t time_ns,
				 uint64_t *until_ns)
{
	size_t nr = 0;

	while (nr < session->nr_late && session->late[nr].time_ns <= time_ns)
		nr++;
	*until_ns = nr < session->nr_late ? session->late[nr].time_ns : UINT64_MAX;
	pthread_mutex_lock(&session->set->lock);

	struct addr_space *space = get_space(session, reader, nr);

	pthread_mutex_unlock(&session->set->lock);
	return space;
}

/*
 * Find the function at @offset of @mod. On success, returns 1 and sets *@func. If there is no
 * symbol at @offset, returns 0. On failure, returns a negative errno with @err.
 */
static int find_in_module(struct session *session, struct module *mod, uint64_t offset,
			  const struct func **func, struct uft_err *err)
{
	int ret = module_load(session->set, mod, err);

	if (ret < 0)
		return ret;

	const struct symbol *sym = symtab_find(&mod->symtab, offset);

	if (!sym && module_has_grown(session->set, mod, err))
		sym = symtab_find(&mod->symtab, offset);
	if (!sym)
		return 0;
	*func = module_func(session->set, mod, sym);
	return *func ? 1 : err_set_errno(err, -ENOMEM, "cannot name a function");
}

/*
 * The function and the module at an address. @func: NULL if the module has no symbol there. @start:
 * the address of the module
 */
struct found {
	const struct func *func;
	const struct module *mod;
	uint64_t start;
};

static int find_of_kernel(struct session *session, uint64_t addr, struct found *found,
			  struct uft_err *err)
{
	struct module *kernel = module_set_kernel(session->set);

	if (!kernel)
		return err_set_errno(err, -ENOMEM, "cannot name a function");
	found->mod = kernel;
	return find_in_module(session, kernel, addr, &found->func, err);
}

static int find_func(const struct addr_space *space, uint64_t addr, struct found *found,
		     struct uft_err *err)
{
	struct session *session = space->session;

	if (addr & KERNEL_ADDR_BIT)
		return find_of_kernel(session, addr, found, err);
	for (size_t i = 0; i < session->map.nr; i++) {
		const struct map_entry *entry = &session->map.entries[i];

		if (addr < entry->start || addr >= entry->end || !session->modules[i])
			continue;
		found->mod = session->modules[i];
		found->start = entry->start;

		int ret = find_in_module(session, session->modules[i], addr - entry->start,
					 &found->func, err);

		if (ret)
			return ret;
	}
	/*
	 * A library may be loaded at the addresses of an unloaded library. So the library that was
	 * loaded last is searched first.
	 */
	for (size_t i = space->nr_late; i-- > 0;) {
		const struct late_module *late = &session->late[i];

		if (addr < late->base)
			continue;

		int ret = find_in_module(session, late->module, addr - late->base, &found->func,
					 err);

		if (ret) {
			found->start = late->base;
			return ret;
		}
	}
	return 0;
}

const struct func *space_symbol(const struct addr_space *space, uint64_t addr)
{
	struct found found = { 0 };

	return find_func(space, addr, &found, NULL) < 0 ? NULL : found.func;
}

const struct func *space_symbol_offset(const struct addr_space *space, uint64_t addr,
				       uint64_t *offset)
{
	struct found found = { 0 };

	if (find_func(space, addr, &found, NULL) <= 0)
		return NULL;
	*offset = addr - found.start;
	return found.func;
}

static bool space_grow(struct addr_space *space)
{
	size_t nr = (space->mask + 1) * 2;
	struct addr_slot *slots = calloc(nr, sizeof(*slots));

	if (!slots)
		return false;
	for (size_t i = 0; i <= space->mask; i++) {
		uint64_t addr = space->slots[i].addr;
		size_t at = addr_slot(addr) & (nr - 1);

		if (!space->slots[i].func)
			continue;
		while (slots[at].func)
			at = (at + 1) & (nr - 1);
		slots[at] = space->slots[i];
	}
	free(space->slots);
	space->slots = slots;
	space->mask = nr - 1;
	return true;
}

/*
 * Find the function at @addr in the module set, which all readers share. If the set has no such
 * function, add one. The caller holds the lock of the set.
 */
static const struct func *find_or_make(struct addr_space *space, uint64_t addr, struct uft_err *err)
{
	struct found found = { 0 };

	if (find_func(space, addr, &found, err) < 0)
		return NULL;
	if (found.func)
		return found.func;
	/*
	 * No symbol contains @addr, so the function gets the name "<hex>", where hex is @addr. If
	 * two address spaces use the same @addr, each address space makes a function. If a view has
	 * one total for each name, the view combines these functions.
	 */
	return module_set_add_unknown(space->session->set, addr, found.mod);
}

const struct func *space_find(struct addr_space *space, uint64_t addr, struct uft_err *err)
{
	struct module_set *set = space->session->set;

	pthread_mutex_lock(&set->lock);

	const struct func *func = find_or_make(space, addr, err);

	pthread_mutex_unlock(&set->lock);
	if (!func || (space->nr_used * 2 > space->mask && !space_grow(space))) {
		err_set_errno(err, -ENOMEM, "cannot name a function");
		return NULL;
	}

	size_t at = addr_slot(addr) & space->mask;

	while (space->slots[at].func)
		at = (at + 1) & space->mask;
	space->slots[at] = (struct addr_slot){ addr, func };
	space->nr_used++;
	return func;
}
