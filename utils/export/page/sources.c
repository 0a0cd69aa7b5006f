/* Sources of the page (see sources.h). */
#include "utils/export/page/sources.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "utils/base/containers/strmap.h"
#include "utils/base/containers/vec.h"
#include "utils/base/escape.h"
#include "utils/export/page/marks.h"
#include "utils/export/page/source_text.h"
#include "utils/object/build_id.h"

/* The maximum length of a line in bytes. Longer lines, usually of generated files, are cut off. */
#define LINE_BYTES 300
#define NS_PER_S   1000000000ULL

struct source_file {
	char *key;	  /* the file's name; a relative name is followed by the module's path */
	const char *name; /* as in the recording */
	const struct module *module;
	uint32_t *lines; /* lines where functions begin */
	size_t nr;
};

struct sources {
	struct strmap by_name; /* maps source_file.key to the index in @files, plus one */
	struct source_file *files;
	size_t nr;
	size_t bytes; /* bytes of all lines in the page */
	const struct module *asked;
	uint64_t asked_ns; /* the result of find_built_ns() for @asked */
};

static void sources_deinit(struct sources *sources)
{
	for (size_t i = 0; i < sources->nr; i++) {
		free(sources->files[i].lines);
		free(sources->files[i].key);
	}
	free(sources->files);
	strmap_deinit(&sources->by_name);
}
#define cleanup_sources cleanup(sources_deinit)

/* Returns the number of a file, or SIZE_MAX when memory is short. */
static size_t file_number(struct sources *sources, const char *name, const struct module *module)
{
	struct strbuf key cleanup_strbuf = { 0 };
	struct source_file *files;

	strbuf_addf(&key, "%s\n%s", name, name[0] == '/' ? "" : module->path);
	if (strbuf_oom(&key))
		return SIZE_MAX;

	uintptr_t known = (uintptr_t)strmap_get(&sources->by_name, key.data);

	if (known)
		return known - 1;
	files = vec_grow(sources->files, sources->nr, sizeof(*files));
	if (!files)
		return SIZE_MAX;
	sources->files = files;
	files[sources->nr] = (struct source_file){
		.key = key.data,
		.name = name,
		.module = module,
	};
	key = (struct strbuf){ 0 };
	if (strmap_put(&sources->by_name, files[sources->nr].key,
		       (void *)(uintptr_t)(sources->nr + 1)) < 0) {
		free(files[sources->nr].key);
		return SIZE_MAX;
	}
	return sources->nr++;
}

static int add_place(struct sources *sources, struct strbuf *json, size_t function,
		     const struct func *func, const struct dbg_func *debug)
{
	size_t number = file_number(sources, debug->file, func->module);

	if (number == SIZE_MAX)
		return -ENOMEM;

	struct source_file *file = &sources->files[number];
	uint32_t *lines = vec_grow(file->lines, file->nr, sizeof(*lines));

	if (!lines)
		return -ENOMEM;
	file->lines = lines;
	lines[file->nr++] = debug->line;
	strbuf_addf(json, "%s%zu,%zu,%u", json->data[json->len - 1] == '[' ? "" : ",", function,
		    number, debug->line);
	return 0;
}

static uint64_t changed_ns(const char *path)
{
	struct stat st;

	if (stat(path, &st) < 0)
		return UINT64_MAX;
	return st.st_mtim.tv_sec * NS_PER_S + st.st_mtim.tv_nsec;
}

/*
 * Estimates when the module was built. Returns the time of the last change of the module's file.
 * The module was built before the recording. So if the file was changed after the recording,
 * returns the time of the recording. Also returns the time of the recording if the file does not
 * have the recorded build-id, because another file may have replaced the module.
 */
static uint64_t find_built_ns(const struct trace_data *data, const struct module *module)
{
	char hex[BUILD_ID_HEX_SIZE];
	struct strbuf info cleanup_strbuf = { 0 };

	strbuf_addf(&info, "%s/info", data->dir);

	uint64_t recorded_ns = changed_ns(strbuf_str(&info));

	if (object_build_id(module->path, hex, NULL) < 0 || strcmp(hex, module->build_id) != 0)
		return recorded_ns;
	return MIN(recorded_ns, changed_ns(module->path));
}

static uint64_t built_ns(struct sources *sources, const struct trace_data *data,
			 const struct module *module)
{
	if (sources->asked != module)
		sources->asked_ns = find_built_ns(data, module);
	sources->asked = module;
	return sources->asked_ns;
}

/*
 * Read the source file @file. If the name of @file is relative, the function looks for the file in
 * the current directory, and then in the directory of the module.
 */
static const char *read_file(struct source_text *text, const struct source_file *file,
			     const struct source_asker *asker)
{
	const char *why = source_text_read(text, file->name, asker);
	struct strbuf path cleanup_strbuf = { 0 };

	if (!why || file->name[0] == '/')
		return why;
	strbuf_add(&path, file->module->path, file->module->basename - file->module->path);
	strbuf_addstr(&path, file->name);
	return path.len > strlen(file->name) && !source_text_read(text, strbuf_str(&path), asker)
		       ? NULL
		       : why;
}

static int compare_lines(const void *a, const void *b)
{
	uint32_t one = *(const uint32_t *)a;
	uint32_t other = *(const uint32_t *)b;

	return (one > other) - (one < other);
}

/* Append a line as a string. Tabs become blanks, since page_put_string() shows a tab as \x09. */
static void add_line(struct strbuf *json, const struct source_text *text, size_t number)
{
	struct strbuf plain cleanup_strbuf = { 0 };
	struct strbuf shown cleanup_strbuf = { 0 };
	size_t len;
	const char *line = source_text_line(text, number, &len);

	for (size_t i = 0; i < len && plain.len < LINE_BYTES + 8; i++) {
		if (line[i] == '\t')
			strbuf_addchars(&plain, ' ', 8 - plain.len % 8);
		else
			strbuf_addch(&plain, line[i]);
	}

	size_t cut = escape_cut(strbuf_str(&plain), LINE_BYTES);

	strbuf_add(&shown, strbuf_str(&plain), cut);
	strbuf_addstr(&shown, cut < plain.len ? " ..." : "");
	page_put_string(json, MEDIUM_SCRIPT, strbuf_str(&shown));
	json->oom |= strbuf_oom(&plain) || strbuf_oom(&shown);
}

static void add_ends(const struct source_file *file, const struct source_text *text,
		     struct strbuf *json)
{
	bool is_first = true;

	strbuf_addstr(json, ",\"ends\":[");
	for (size_t i = 0; i < file->nr && file->lines[i] <= text->nr; i++) {
		if (file->lines[i] == 0)
			continue;
		strbuf_addf(json, "%s%u,%zu", is_first ? "" : ",", file->lines[i],
			    source_text_end(text, file->lines[i]));
		is_first = false;
	}
	strbuf_addch(json, ']');
}

/*
 * Append the lines of all functions. Functions whose lines overlap or are adjacent share one run of
 * lines.
 */
static void add_runs(struct sources *sources, const struct source_file *file,
		     const struct source_text *text, struct strbuf *json)
{
	size_t begin = json->len;
	size_t shown = 0; /* the last line that was written; 0: none */

	qsort(file->lines, file->nr, sizeof(file->lines[0]), compare_lines);
	strbuf_addstr(json, ",\"runs\":[");
	for (size_t i = 0; i < file->nr && file->lines[i] <= text->nr; i++) {
		size_t end = file->lines[i] ? source_text_end(text, file->lines[i]) : 0;
		size_t from = MAX(shown + 1, file->lines[i]);

		if (from > end || sources->bytes + json->len - begin > SOURCES_BYTES_MAX)
			continue;
		if (!shown || from > shown + 1)
			strbuf_addf(json, "%s[%zu", shown ? "]," : "", from);
		for (size_t number = from; number <= end; number++) {
			strbuf_addch(json, ',');
			add_line(json, text, number);
		}
		shown = end;
	}
	strbuf_addstr(json, shown ? "]]" : "]");
	add_ends(file, text, json);
	sources->bytes += json->len - begin;
}

static void add_file(struct sources *sources, struct trace_data *data, struct source_file *file,
		     uid_t owner, struct strbuf *json)
{
	struct source_asker asker = { .owner = owner };
	struct source_text text cleanup(source_text_deinit) = { 0 };
	const char *why = "is left out: the page has a megabyte of sources";

	strbuf_addstr(json, "{\"file\":");
	page_put_string(json, MEDIUM_SCRIPT, file->name);
	if (sources->bytes <= SOURCES_BYTES_MAX) {
		asker.built_ns = built_ns(sources, data, file->module);
		why = read_file(&text, file, &asker);
	}
	if (why)
		strbuf_addf(json, ",\"why\":\"%s\"", why);
	else
		add_runs(sources, file, &text, json);
	strbuf_addch(json, '}');
}

int sources_put(struct strbuf *json, struct trace_data *data, const struct func_numbers *functions)
{
	struct sources sources cleanup_sources = { 0 };
	struct stat st = { .st_uid = (uid_t)-1 };
	int ret = 0;

	strbuf_addstr(json, ",\n\"places\":[");
	for (size_t i = 0; ret == 0 && i < functions->nr && !strbuf_oom(json); i++) {
		const struct func *func = functions->funcs[i];
		const struct dbg_func *debug = module_debug(&data->modules, func);

		if (debug && debug->file)
			ret = add_place(&sources, json, i, func, debug);
	}
	strbuf_addstr(json, "],\n\"sources\":[");
	stat(data->dir, &st);
	for (size_t i = 0; ret == 0 && i < sources.nr; i++) {
		strbuf_addstr(json, i ? ",\n" : "");
		add_file(&sources, data, &sources.files[i], st.st_uid, json);
	}
	strbuf_addch(json, ']');
	return ret < 0 || strbuf_oom(json) ? -ENOMEM : 0;
}
