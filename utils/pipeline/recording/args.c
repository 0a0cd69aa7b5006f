/* Specifications for the payloads of a recording (see args.h). */
#include "utils/pipeline/recording/args.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "utils/base/containers/vec.h"
#include "utils/format/callables.h"
#include "utils/spec/args/aliases.h"
#include "utils/spec/args/argfind.h"
#include "utils/spec/args/autoargs.h"
#include "utils/pipeline/recording/data.h"

static const struct func_args no_args;

/*
 * Add @items under the demangled form of @mangled. If @alike already has this form, change nothing.
 */
static int add_alike(struct strmap *alike, const char *mangled, char *items)
{
	struct strbuf name cleanup_strbuf = { 0 };

	if (strncmp(mangled, "_Z", 2) != 0)
		return 0;
	demangle(mangled, DEMANGLE_SIMPLE, &name);
	if (strmap_get(alike, strbuf_str(&name)))
		return 0;

	char *key = strbuf_oom(&name) ? NULL : strdup(strbuf_str(&name));

	if (!key || strmap_put(alike, key, items) < 0) {
		free(key);
		return -ENOMEM;
	}
	return 0;
}

static void alike_deinit(struct strmap *alike)
{
	for (size_t i = 0; i < alike->nr_slots; i++)
		free((char *)alike->slots[i].key);
	strmap_deinit(alike);
}

/*
 * Parse @text, which is "name@items;name@items;...". In @map, the key of the items is the name. In
 * @alike, the key is the demangled form of the name (add_alike()). *@kept gets a copy of @text. The
 * keys of @map, and the items in @map and @alike, are parts of this copy. The keys of @alike are on
 * the heap. The caller frees *@kept, also after an error. Returns 0 or -ENOMEM.
 */
static int load_table(struct strmap *map, struct strmap *alike, char **kept, const char *text)
{
	if (!text)
		return 0;
	*kept = strdup(text);
	if (!*kept)
		return -ENOMEM;

	char *left = *kept;

	for (char *row; (row = strsep(&left, ";"));) {
		char *items = row;
		char *name = strsep(&items, "@");

		if (items && *name &&
		    (strmap_put(map, name, items) < 0 || add_alike(alike, name, items) < 0))
			return -ENOMEM;
	}
	return 0;
}

static int load_rules(struct arg_book *book, const struct info *info)
{
	struct argrules_source source = {
		.match = MATCH_REGEX,
		.about = ARGRULES_ARGS,
		.word_bytes = book->word_bytes,
		.is_lenient = true,
	};
	int ret = 0;

	if (info->pattern_type && strcmp(info->pattern_type, "glob") == 0)
		source.match = MATCH_GLOB;
	if (info->pattern_type && strcmp(info->pattern_type, "simple") == 0)
		source.match = MATCH_SIMPLE;
	if (info->argspec)
		ret = argrules_parse(&book->rules, info->argspec, &source, NULL);
	source.about = ARGRULES_RETVAL;
	if (ret == 0 && info->retspec)
		ret = argrules_parse(&book->rules, info->retspec, &source, NULL);
	return ret;
}

int arg_book_open(struct arg_book *book, struct trace_data *data, struct uft_err *err)
{
	const struct info *info = &data->info;

	*book = (struct arg_book){
		.modules = &data->modules,
		.word_bytes = data->header.elf_class == HEADER_CLASS_32 ? 4 : 8,
		.is_auto = info->auto_args,
	};

	int ret = load_rules(book, info);

	book->has_specs = book->rules.nr || book->is_auto;
	if (ret == 0)
		ret = load_table(&book->args_auto, &book->args_alike, &book->tables[0],
				 info->argauto);
	if (ret == 0)
		ret = load_table(&book->retval_auto, &book->retval_alike, &book->tables[1],
				 info->retauto);
	if (ret == 0 && info->enumauto &&
	    enum_defs_parse(&book->enums, info->enumauto, strlen(info->enumauto), NULL) == -ENOMEM)
		ret = -ENOMEM;
	if (ret < 0)
		return err_set_errno(err, ret, "cannot read what arguments were recorded");
	return 0;
}

void arg_book_close(struct arg_book *book)
{
	for (size_t i = 0; i < book->nr_funcs; i++) {
		struct func_args *known = (struct func_args *)book->funcs[i];

		if (!known || known == &no_args)
			continue;
		argspecs_deinit(&known->args);
		argspecs_deinit(&known->retval);
		free(known);
	}
	free(book->funcs);
	argrules_deinit(&book->rules);
	strmap_deinit(&book->args_auto);
	strmap_deinit(&book->retval_auto);
	alike_deinit(&book->args_alike);
	alike_deinit(&book->retval_alike);
	free(book->tables[0]);
	free(book->tables[1]);
	enum_defs_deinit(&book->enums);
	*book = (struct arg_book){ 0 };
}

/* Parse a function's specification up to the first invalid item. Returns 0 or -ENOMEM. */
static int parse_items(const struct arg_book *book, const char *items, struct argspecs *list)
{
	if (!items)
		return 0;

	int ret = argspecs_parse(items, strlen(items), book->word_bytes, list, NULL);

	return ret == -ENOMEM ? ret : 0;
}

/*
 * Find the items of the function @mangled. First search @table for the mangled name. If @table
 * lacks this name, search @alike for the demangled name. A demangled name has no parameter types.
 * So an overload that @table lacks, for example of "operator delete", gets the items of another
 * overload in @table. uftrace does the same.
 */
static const char *auto_items(const struct strmap *table, const struct strmap *alike,
			      const char *mangled)
{
	struct strbuf name cleanup_strbuf = { 0 };
	const char *items = strmap_get(table, mangled);

	if (items || !alike->nr || strncmp(mangled, "_Z", 2) != 0)
		return items;
	demangle(mangled, DEMANGLE_SIMPLE, &name);
	return strmap_get(alike, strbuf_str(&name));
}

/*
 * Change the format of file modes in @list from hexadecimal to octal. The tables in a recording
 * have the hexadecimal format, because older readers do not know the octal format. @items, from
 * utrail's own table, shows which values are file modes. Returns 0 or -ENOMEM.
 */
static int know_modes(const struct arg_book *book, const char *items, struct argspecs *list)
{
	struct argspecs ours cleanup_argspecs = { 0 };

	if (!items || !strstr(items, "/o"))
		return 0;
	if (parse_items(book, items, &ours) < 0)
		return -ENOMEM;
	for (size_t i = 0; i < MIN(ours.nr, list->nr); i++) {
		struct arg_type *type = &list->specs[i].type;

		if (ours.specs[i].type.format == ARG_OCTAL && type->format == ARG_HEX)
			type->format = ARG_OCTAL;
	}
	return 0;
}

/*
 * Parse "KEY,,KEY" up to @end. For each specification in @list, the text has a key or nothing.
 * Store the keys in those specifications that describe structs. Returns 0 or -ENOMEM.
 */
static int set_fields(const char *keys, const char *end, struct argspecs *list)
{
	for (size_t i = 0; i < list->nr && keys <= end; i++) {
		size_t len = strcspn(keys, ",;");

		if (len && list->specs[i].type.format == ARG_STRUCT && !list->specs[i].fields) {
			list->specs[i].fields = strndup(keys, len);
			if (!list->specs[i].fields)
				return -ENOMEM;
		}
		keys += len + 1;
	}
	return 0;
}

/* The parameters of ask_debug() and ask_table(): the book, and the function to look up. */
struct asked {
	struct arg_book *book;
	const struct func *func;
};

/*
 * Look up the specifications of a function's arguments and return value in the .dbg file of the
 * function's module. If a specification describes a struct, store the key of the struct's
 * definition in the specification. If an item in a list of specifications is invalid, drop this
 * item and all later items of the list.
 */
static int ask_debug(void *self, int about, struct argfound *found)
{
	const struct asked *asked = self;
	const struct dbg_func *dbg = module_debug(asked->book->modules, asked->func);
	const char *keys = dbg && dbg->structs ? dbg->structs : "";
	const char *end = keys + strcspn(keys, ";");
	int told = 0;
	int ret = 0;

	if ((about & ARGRULES_ARGS) && dbg && dbg->args) {
		told |= ARGRULES_ARGS;
		ret = parse_items(asked->book, dbg->args, &found->args);
		if (ret == 0)
			ret = set_fields(keys, end, &found->args);
	}
	if (ret == 0 && (about & ARGRULES_RETVAL) && dbg && dbg->retval) {
		told |= ARGRULES_RETVAL;
		ret = parse_items(asked->book, dbg->retval, &found->retval);
		if (ret == 0 && *end)
			ret = set_fields(end + 1, end + 1 + strlen(end + 1), &found->retval);
	}
	return ret < 0 ? ret : told;
}

/* Look up a function in the recorder's tables of library functions. */
static int ask_table(void *self, int about, struct argfound *found)
{
	const struct asked *asked = self;
	const struct arg_book *book = asked->book;
	const char *name = asked->func->sym->name;
	const struct autoargs *ours = autoargs_find(name);
	int ret = 0;

	if (about & ARGRULES_ARGS) {
		ret = parse_items(book, auto_items(&book->args_auto, &book->args_alike, name),
				  &found->args);
		if (ret == 0 && ours)
			ret = know_modes(book, ours->args, &found->args);
	}
	if (ret == 0 && (about & ARGRULES_RETVAL)) {
		ret = parse_items(book, auto_items(&book->retval_auto, &book->retval_alike, name),
				  &found->retval);
		if (ret == 0 && ours)
			ret = know_modes(book, ours->retval, &found->retval);
	}
	return ret < 0 ? ret : about;
}

static int collect_specs(struct arg_book *book, const struct func *func, struct func_args *out)
{
	struct strbuf name cleanup_strbuf = { 0 };
	struct strbuf others cleanup_strbuf = { 0 };
	struct asked asked = { book, func };
	struct argfind find = {
		.rules = &book->rules,
		.is_auto = book->is_auto,
		.debug = ask_debug,
		.table = ask_table,
		.self = &asked,
		.has_texts = strcmp(func->module->basename, CALLABLES_MODULE) == 0,
	};
	struct argfound found = { 0 };

	/*
	 * The recorder compares rules with a name in the form DEMANGLE_SIMPLE. This name may have
	 * been an alias of the function. So rules are compared with all names of the function here.
	 */
	aliases_all_names(&func->module->symtab, func->sym, DEMANGLE_SIMPLE, &name, &others);

	struct argrules_subject subject = {
		.name = strbuf_str(&name),
		.others = strbuf_str(&others),
		.module = func->module->basename,
		.is_plt = func->is_libcall,
	};
	int ret = argfind_function(&find, &subject, &found);

	*out = (struct func_args){
		.args = found.args,
		.retval = found.retval,
		.is_known = (found.from_table & ARGRULES_ARGS) && found.args.nr,
	};
	return ret;
}

static const struct func_args *make_func_args(struct arg_book *book, const struct func *func)
{
	struct func_args *made = calloc(1, sizeof(*made));

	if (!made)
		return NULL;
	if (collect_specs(book, func, made) == 0 && made->args.nr + made->retval.nr)
		return made;
	argspecs_deinit(&made->args);
	argspecs_deinit(&made->retval);
	free(made);
	return &no_args;
}

static bool make_room(struct arg_book *book, size_t id)
{
	const struct func_args **funcs = vec_reach(book->funcs, &book->nr_funcs, id,
						   sizeof(*funcs));

	if (!funcs)
		return false;
	book->funcs = funcs;
	return true;
}

const struct func_args *arg_book_find(struct arg_book *book, const struct func *func)
{
	if (!book->has_specs || !func->sym || !func->module || !make_room(book, func->id))
		return NULL;
	if (!book->funcs[func->id])
		book->funcs[func->id] = make_func_args(book, func);
	return book->funcs[func->id] == &no_args ? NULL : book->funcs[func->id];
}

const struct enum_def *arg_book_enum(const struct arg_book *book, const struct func *func,
				     const char *name)
{
	const struct enum_def *def = NULL;

	if (func->module)
		def = enum_defs_find(&func->module->enums, name);
	return def ? def : enum_defs_find(&book->enums, name);
}

const struct struct_def *arg_book_struct(const struct func *func, const struct argspec *spec)
{
	const struct struct_def *def = NULL;

	if (!func->module)
		return NULL;
	if (spec->fields)
		def = struct_defs_find(&func->module->structs, spec->fields);
	else if (spec->name)
		def = struct_defs_find(&func->module->structs, spec->name);
	return def && (def->shape || def->bytes == spec->type.size) ? def : NULL;
}

size_t func_args_length(const struct func_args *known, bool is_exit, const uint8_t *payload,
			size_t left, bool big)
{
	const struct argspecs *specs = is_exit ? &known->retval : &known->args;
	size_t nr = is_exit ? MIN(specs->nr, (size_t)1) : specs->nr;
	ssize_t len = 0;

	for (size_t i = 0; i < nr && len >= 0; i++) {
		struct arg_value value;

		len = argblob_next(payload, left, len, specs->specs[i].type, big, &value);
	}
	return MAX(len, 0);
}
