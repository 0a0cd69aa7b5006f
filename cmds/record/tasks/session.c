/*
 * Makes sessions, one for each process image, with its module map and the symbol files of modules
 * that can be traced.
 */
#include "cmds/record/tasks/session.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "cmds/record/base/peer.h"
#include "cmds/record/plan/values/captures.h"
#include "utils/base/fd.h"
#include "utils/base/containers/order.h"
#include "utils/base/path.h"
#include "utils/object/names/symtab.h"

static void make_sid(char sid[static SID_LEN + 1])
{
	uint64_t random;

	if (getrandom(&random, sizeof(random), 0) != sizeof(random))
		random = (uint64_t)getpid() << 32 ^
			 (uintptr_t)sid; /* the id need only be unique on this machine */
	snprintf(sid, SID_LEN + 1, "%016llx", (unsigned long long)random);
}

struct image *image_create(struct sessions *sessions, pid_t pid, const char *exe)
{
	struct image *s = calloc(1, sizeof(*s));

	if (!s)
		return NULL;
	s->exe = strdup(exe);
	if (!s->exe) {
		free(s);
		return NULL;
	}
	make_sid(s->sid);
	s->pid = pid;
	s->next = sessions->first;
	sessions->first = s;
	return s;
}

static void destroy(struct image *s)
{
	module_map_deinit(&s->map);
	free(s->exe);
	free(s);
}

void sessions_deinit(struct sessions *sessions)
{
	for (struct image *s = sessions->first, *next; s; s = next) {
		next = s->next;
		destroy(s);
	}
}

int image_add_module(struct image *s, const struct control_module *m)
{
	struct map_entry entry = {
		.start = m->start,
		.end = m->end,
		.prot = "r-xp",
		.path = (char *)m->path,
	};

	/* An object without code has no calls. Like uftrace, leave such objects out of the map. */
	return m->has_text ? module_map_add(&s->map, &entry) : 0;
}

/*
 * Without address randomisation, the stack on x86_64 usually has these addresses. All modules have
 * lower addresses.
 */
#define STACK_GUESS_START 0x7ffffffde000ULL
#define STACK_GUESS_END	  0x7ffffffff000ULL

static const char STACK_PATH[] = "[stack]";

/*
 * Find the line of the stack in /proc/PID/maps. uftrace needs this line (doc/formats/tasks.md,
 * "Module maps"). If the process hides its maps, s->stack gets the usual addresses of a stack.
 */
void image_note_stack(struct image *s, pid_t os_pid, int pidfd)
{
	char path[64];
	struct strbuf text cleanup_strbuf = { 0 };
	struct module_map map cleanup_module_map = { 0 };

	s->stack = (struct map_entry){
		.start = STACK_GUESS_START,
		.end = STACK_GUESS_END,
		.prot = "rw-p",
		.path = (char *)STACK_PATH,
	};
	snprintf(path, sizeof(path), "/proc/%d/maps", os_pid);
	/*
	 * If the process is still alive after the maps were read, no other process had the same pid
	 * during the reading. So the maps belong to this process.
	 */
	if (!peer_has_ended(pidfd, 0) && file_read_all(path, 64 << 20, &text, NULL) == 0 &&
	    !peer_has_ended(pidfd, 0) &&
	    module_map_decode(strbuf_str(&text), text.len, &map, NULL) == 0) {
		for (size_t i = 0; i < map.nr; i++) {
			if (strcmp(map.entries[i].path, STACK_PATH) != 0)
				continue;
			s->stack = map.entries[i];
			s->stack.path = (char *)STACK_PATH;
			break;
		}
	}
}

_Static_assert(offsetof(struct map_entry, start) == 0, "ordered by order_u64()");

/* Writes "<name>.dbg" beside "<name>.sym", if there is debug information to write. */
static int save_debug(struct sessions *sessions, const struct known_module *known,
		      const struct symtab *symbols, const char *sym_name, struct uft_err *err)
{
	struct capture_module module = {
		.path = known->path,
		.build_id = known->build_id,
		.basename = path_base(known->path),
		.symbols = symbols,
	};
	struct strbuf text cleanup_strbuf = { 0 };
	char name[NAME_MAX + 1];

	if (captures_put_dbg(&sessions->settings->captures, &module, &text) < 0)
		return err_set_errno(err, -ENOMEM, "cannot save the debug information of '%s'",
				     known->path);
	if (!text.len)
		return 0;
	snprintf(name, sizeof(name), "%.*s.dbg", (int)(strlen(sym_name) - strlen(".sym")),
		 sym_name);
	sessions->has_debug = true;
	return store_publish(sessions->store, name, text.data, text.len, err);
}

/*
 * Saves the symbols of a module. It is not an error if the module's file is gone: the calls are
 * then shown as addresses.
 */
static int save_symbols(struct sessions *sessions, struct known_module *known, struct uft_err *err)
{
	struct symtab symbols cleanup_symtab = { 0 };
	struct strbuf text cleanup_strbuf = { 0 };
	char name[NAME_MAX + 1];
	int ret = 0;

	if (known->is_saved ||
	    !store_choose_name(sessions->store, known->path, known->build_id, name, sizeof(name)) ||
	    known_symbols_load(sessions->settings, known, &symbols) < 0)
		return 0;
	known->is_saved = true;
	if (known->has_functions && capture_needs_debug(&sessions->settings->captures))
		ret = save_debug(sessions, known, &symbols, name, err);
	if (ret < 0)
		return ret;
	/* The aliases of symbols are not needed if the functions of the module are not recorded. */
	if (!known->has_functions)
		symbols.nr_aliases = 0;
	sym_file_encode(&symbols, known->path, known->build_id[0] ? known->build_id : NULL, &text);
	if (strbuf_oom(&text))
		return err_set_errno(err, -ENOMEM, "cannot save the symbols of '%s'", known->path);
	return store_publish(sessions->store, name, text.data, text.len, err);
}

static void add_names(struct strbuf *list, const struct strbuf *names)
{
	strbuf_list_each (names, name)
		strbuf_list_add(list, name);
}

/*
 * Save the symbols of each module whose functions or library calls can be recorded. If library
 * calls of a module are recorded, also save the symbols of the libraries that the module needs.
 * From these symbols, readers find out the library of a called function (--libname).
 */
int image_save_symbols(struct sessions *sessions, const struct image *s, struct uft_err *err)
{
	struct strbuf needed cleanup_strbuf = { 0 };
	int ret = 0;

	for (size_t i = 0; ret == 0 && i < s->map.nr; i++) {
		const char *path = s->map.entries[i].path;
		struct known_module *known = known_module_get(&sessions->planner->modules, path);
		bool has_calls = plan_has_calls(sessions->settings, path,
						strcmp(path, s->exe) == 0);

		if (known && (known->has_functions || has_calls))
			ret = save_symbols(sessions, known, err);
		if (known && has_calls)
			add_names(&needed, module_links_needed(&known->links, path));
	}
	for (size_t i = 0; ret == 0 && i < s->map.nr; i++) {
		const char *path = s->map.entries[i].path;
		struct known_module *known = known_module_get(&sessions->planner->modules, path);

		if (known && strbuf_list_has(&needed, path_base(path)))
			ret = save_symbols(sessions, known, err);
	}
	return ret;
}

void image_identify_modules(struct sessions *sessions, struct image *s)
{
	for (size_t i = 0; i < s->map.nr; i++) {
		struct known_module *known = known_module_get(&sessions->planner->modules,
							      s->map.entries[i].path);

		if (known)
			strcpy(s->map.entries[i].build_id, known->build_id);
	}
}

/* Makes the text of the map, sorted by address. The map itself keeps its order. */
static int encode_map(const struct image *s, struct strbuf *text)
{
	struct module_map map cleanup_module_map = { 0 };

	for (size_t i = 0; i < s->map.nr; i++) {
		if (module_map_add(&map, &s->map.entries[i]) < 0)
			return -ENOMEM;
	}
	if (s->stack.path && module_map_add(&map, &s->stack) < 0)
		return -ENOMEM;
	if (map.nr)
		qsort(map.entries, map.nr, sizeof(*map.entries), order_u64);
	module_map_encode(&map, text);
	return strbuf_oom(text) ? -ENOMEM : 0;
}

int image_save_map(const struct image *s, struct store *store, struct uft_err *err)
{
	char name[64];
	struct strbuf text cleanup_strbuf = { 0 };

	snprintf(name, sizeof(name), "sid-%s.map", s->sid);
	if (encode_map(s, &text) < 0)
		return err_set_errno(err, -ENOMEM, "cannot save '%s'", name);
	return store_publish(store, name, text.data, text.len, err);
}

static bool is_free(const struct module_map *map, const struct control_module *m)
{
	for (size_t i = 0; i < map->nr; i++) {
		if (m->start < map->entries[i].end && map->entries[i].start < m->end)
			return false;
	}
	return true;
}

/*
 * Save the symbols of a module that was loaded late. If values are captured, also add the module to
 * the session's map, unless the addresses overlap those of another module in the map. uftrace uses
 * argument specifications only for modules in the map.
 */
int image_save_late(struct sessions *sessions, struct image *s, const struct control_module *m,
		    struct uft_err *err)
{
	int ret = sessions_save_module(sessions, m->path, err);

	if (ret < 0 || !capture_is_wanted(&sessions->settings->captures) || !is_free(&s->map, m))
		return ret;
	if (image_add_module(s, m) < 0)
		return err_set_errno(err, -ENOMEM, "cannot save the map of a session");
	image_identify_modules(sessions, s);
	return image_save_map(s, sessions->store, err);
}

int sessions_save_module(struct sessions *sessions, const char *path, struct uft_err *err)
{
	struct known_module *known = known_module_get(&sessions->planner->modules, path);

	if (!known || (!known->has_functions &&
		       !plan_has_calls(sessions->settings, path, /* is_program= */ false)))
		return 0;
	return save_symbols(sessions, known, err);
}
