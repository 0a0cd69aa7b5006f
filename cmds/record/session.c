/* Sessions: one per process image, with its module map and the symbol files of what can be traced in it. */
#include "cmds/record/recorder.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cmds/record/files.h"
#include "utils/base/fd.h"
#include "utils/base/order.h"
#include "utils/base/path.h"
#include "utils/object/build_id.h"
#include "utils/object/needed.h"
#include "utils/object/program.h"
#include "utils/object/sym_dir.h"
#include "utils/object/symtab.h"

static void make_sid(char sid[static SID_LEN + 1])
{
	uint64_t random;

	if (getrandom(&random, sizeof(random), 0) != sizeof(random))
		random = (uint64_t)getpid() << 32 ^
			 (uintptr_t)sid; /* unique on this machine is enough */
	snprintf(sid, SID_LEN + 1, "%016llx", (unsigned long long)random);
}

struct session *rec_session_create(struct recorder *rec, pid_t pid, const char *exe)
{
	struct session *s = calloc(1, sizeof(*s));

	if (!s)
		return NULL;
	s->exe = strdup(exe);
	if (!s->exe) {
		free(s);
		return NULL;
	}
	make_sid(s->sid);
	s->pid = pid;
	s->next = rec->sessions;
	rec->sessions = s;
	return s;
}

void rec_session_destroy(struct session *s)
{
	module_map_deinit(&s->map);
	free(s->exe);
	free(s);
}

int session_add_module(struct session *s, const struct control_module *m)
{
	struct map_entry entry = {
		.start = m->start,
		.end = m->end,
		.prot = "r-xp",
		.path = (char *)m->path,
	};

	/* Data-only objects have no calls; uftrace leaves them out of the map, too. */
	return m->has_text ? module_map_add(&s->map, &entry) : 0;
}

/* Where x86_64 puts the stack without randomisation: above all else that a program can map. */
#define STACK_GUESS_START 0x7ffffffde000ULL
#define STACK_GUESS_END	  0x7ffffffff000ULL

/*
 * uftrace guesses the kernel's base address from the stack's line (doc/formats/tasks.md, "Module maps") and takes a program
 * without one for a part of the kernel. So a process that hides its maps gets a usual one.
 */
int session_add_stack(struct session *s, pid_t os_pid)
{
	char path[64];
	struct strbuf text cleanup_strbuf = { 0 };
	struct module_map map cleanup_module_map = { 0 };
	struct map_entry guess = {
		.start = STACK_GUESS_START,
		.end = STACK_GUESS_END,
		.prot = "rw-p",
		.path = "[stack]",
	};

	snprintf(path, sizeof(path), "/proc/%d/maps", os_pid);
	if (file_read_all(path, 64 << 20, &text, NULL) == 0 &&
	    module_map_decode(strbuf_str(&text), text.len, &map, NULL) == 0) {
		for (size_t i = 0; i < map.nr; i++) {
			if (strcmp(map.entries[i].path, "[stack]") == 0)
				return module_map_add(&s->map, &map.entries[i]);
		}
	}
	return module_map_add(&s->map, &guess);
}

_Static_assert(offsetof(struct map_entry, start) == 0, "ordered by order_u64()");

/* So many different files are looked at: programs may name as many as they like. */
#define KNOWN_MODULES_MAX 262144

/* Within rights_enter(): what somebody else's process has named may be a file that this one must not know of. */
static bool may_read(const char *path)
{
	int fd cleanup_fd = file_open_regular(path, NULL);

	return fd >= 0;
}

struct known_module *known_module_get(struct recorder *rec, const char *path)
{
	struct object_program program;
	struct known_module *known;

	if (path[0] != '/' || (rec->reads_as_peer && !may_read(path)))
		return NULL;
	known = strmap_get(&rec->modules_by_path, path);
	if (known)
		return known;
	if (rec->modules_by_path.nr >= KNOWN_MODULES_MAX) {
		rec->talks.nr_modules_left_out++;
		return NULL;
	}

	known = calloc(1, sizeof(*known));
	if (known)
		known->path = strdup(path);
	if (!known || !known->path || strmap_put(&rec->modules_by_path, known->path, known) < 0) {
		free(known ? known->path : NULL);
		free(known);
		return NULL;
	}
	if (object_build_id(path, known->build_id, NULL) < 0)
		known->build_id[0] = '\0';
	if (object_check_program(path, &program, NULL) == 0) {
		known->is_instrumented = program.has_mcount || program.has_fentry ||
					 program.has_cyg_profile;
		known->switches_stacks = program.switches_stacks;
	}
	known->next = rec->known_modules;
	rec->known_modules = known;
	return known;
}

void known_modules_destroy(struct known_module *known)
{
	while (known) {
		struct known_module *next = known->next;

		strbuf_deinit(&known->funcs);
		module_points_deinit(&known->points);
		free(known->path);
		free(known);
		known = next;
	}
}

/* "<name>.dbg" beside "<name>.sym", when there is anything to say. */
static int save_debug(struct recorder *rec, const struct known_module *known,
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

	if (captures_put_dbg(&rec->settings->captures, &module, &text) < 0)
		return err_set_errno(err, -ENOMEM, "cannot save the debug information of '%s'",
				     known->path);
	if (!text.len)
		return 0;
	snprintf(name, sizeof(name), "%.*s.dbg", (int)(strlen(sym_name) - strlen(".sym")),
		 sym_name);
	rec->has_debug = true;
	return files_publish(rec->dir_fd, name, text.data, text.len, err);
}

int symbols_load(const struct record_settings *settings, const char *path, const char *build_id,
		 struct symtab *out)
{
	const struct sym_query query = { .path = path, .build_id = build_id, .any_path = true };
	int ret = 0;

	if (settings->syms_dir) {
		/* Which the user has named, not the program. */
		struct rights paused cleanup_rights_pause = rights_pause();

		ret = sym_dir_load(settings->syms_dir, &query, out, NULL, NULL);
	}
	return ret == 0 ? object_symtab_load(path, out, NULL) : MIN(ret, 0);
}

/* 0, also for a module that has gone from disk meanwhile: its calls show as addresses. */
static int save_symbols(struct recorder *rec, struct known_module *known, struct uft_err *err)
{
	struct symtab symbols cleanup_symtab = { 0 };
	struct strbuf text cleanup_strbuf = { 0 };
	char name[NAME_MAX + 1];

	if (known->is_saved ||
	    !files_choose_name(rec->dir_fd, known->path, known->build_id, name, sizeof(name)) ||
	    symbols_load(rec->settings, known->path, known->build_id, &symbols) < 0)
		return 0;
	known->is_saved = true;
	if (known->is_instrumented && capture_needs_debug(&rec->settings->captures) &&
	    save_debug(rec, known, &symbols, name, err) < 0)
		return err->code;
	sym_file_encode(&symbols, known->path, known->build_id[0] ? known->build_id : NULL, &text);
	if (strbuf_oom(&text))
		return err_set_errno(err, -ENOMEM, "cannot save the symbols of '%s'", known->path);
	return files_publish(rec->dir_fd, name, text.data, text.len, err);
}

/*
 * Only code that calls one of the probe's hooks can have records, and modules whose library calls are hooked. Their symbols
 * are saved, and those of the libraries that they call, which readers need to say where a function is from
 * (--libname). What those in turn are linked with costs nothing.
 */
static int save_all_symbols(struct recorder *rec, const struct session *s, struct uft_err *err)
{
	struct strbuf needed cleanup_strbuf = { 0 };
	int ret = 0;

	for (size_t i = 0; ret == 0 && i < s->map.nr; i++) {
		const char *path = s->map.entries[i].path;
		struct known_module *known = known_module_get(rec, path);
		bool has_calls = plan_has_calls(rec->settings, path, strcmp(path, s->exe) == 0);

		if (known && (known->is_instrumented || has_calls))
			ret = save_symbols(rec, known, err);
		if (known && has_calls)
			object_needed_load(path, &needed, NULL);
	}
	for (size_t i = 0; ret == 0 && i < s->map.nr; i++) {
		const char *path = s->map.entries[i].path;
		struct known_module *known = known_module_get(rec, path);

		if (known && strbuf_list_has(&needed, path_base(path)))
			ret = save_symbols(rec, known, err);
	}
	return ret;
}

static int save_map(struct recorder *rec, struct session *s, struct uft_err *err)
{
	char name[64];
	struct strbuf text cleanup_strbuf = { 0 };

	if (s->map.nr)
		qsort(s->map.entries, s->map.nr, sizeof(*s->map.entries), order_u64);
	for (size_t i = 0; i < s->map.nr; i++) {
		struct known_module *known = known_module_get(rec, s->map.entries[i].path);

		if (known)
			strcpy(s->map.entries[i].build_id, known->build_id);
	}

	module_map_encode(&s->map, &text);
	snprintf(name, sizeof(name), "sid-%s.map", s->sid);

	return strbuf_oom(&text) ? err_set_errno(err, -ENOMEM, "cannot save '%s'", name)
				 : files_publish(rec->dir_fd, name, text.data, text.len, err);
}

int session_save(struct recorder *rec, struct session *s, struct uft_err *err)
{
	int ret = save_map(rec, s, err);

	return ret < 0 ? ret : save_all_symbols(rec, s, err);
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
 * uftrace looks for specifications of arguments only in modules that are in the map, and ends at a record whose
 * specification it does not find. Where something else had been before, task.txt alone must do.
 */
int session_save_late(struct recorder *rec, struct session *s, const struct control_module *m,
		      struct uft_err *err)
{
	int ret = session_save_module(rec, m->path, err);

	if (ret < 0 || !capture_is_wanted(&rec->settings->captures) || !is_free(&s->map, m))
		return ret;
	if (session_add_module(s, m) < 0)
		return err_set_errno(err, -ENOMEM, "cannot save the map of a session");
	return save_map(rec, s, err);
}

int session_save_module(struct recorder *rec, const char *path, struct uft_err *err)
{
	struct known_module *known = known_module_get(rec, path);

	if (!known || (!known->is_instrumented &&
		       !plan_has_calls(rec->settings, path, /* is_program= */ false)))
		return 0;
	return save_symbols(rec, known, err);
}
