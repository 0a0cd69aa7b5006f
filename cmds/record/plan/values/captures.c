/* Chooses the values that are captured at calls of a function (see captures.h). */
#include "cmds/record/plan/values/captures.h"

#include <errno.h>

#include "cmds/record/plan/values/capture_steps.h"
#include "arch/arch.h"
#include "utils/base/containers/vec.h"
#include "utils/format/probe/plan.h"
#include "utils/object/names/demangle.h"
#include "utils/spec/args/argfind.h"
#include "utils/spec/args/autoargs.h"
#include "utils/spec/args/callconv.h"
#include "utils/spec/args/shape.h"

#define WORD_BYTES 8

bool capture_is_wanted(const struct capture_settings *settings)
{
	for (size_t i = 0; settings->rules && i < settings->rules->nr; i++) {
		if (settings->rules->rules[i].is_auto || settings->rules->rules[i].items.nr)
			return true;
	}
	return settings->is_auto;
}

bool capture_needs_debug(const struct capture_settings *settings)
{
	for (size_t i = 0; settings->rules && i < settings->rules->nr; i++) {
		if (settings->rules->rules[i].is_auto)
			return true;
	}
	return settings->is_auto || settings->has_lines;
}

static void move_specs(struct argspecs *to, struct argspecs *from)
{
	argspecs_deinit(to);
	*to = *from;
	*from = (struct argspecs){ 0 };
}

/*
 * The maximum total size of the boxes of a call. With this limit, the payload of the call fits into
 * a record. A box has the captured elements of one container.
 */
#define BOXES_BYTES   800U
/*
 * The minimum size of a box, in bytes. Because of this minimum, the boxes of a call with very many
 * containers exceed BOXES_BYTES. The payload of such a call may not fit into a record.
 */
#define BOX_BYTES_MIN 8U

/*
 * Sets the size of the box of each container in @list. All boxes have the same limit in bytes:
 * BOXES_BYTES divided by the number of containers in @list, rounded down to a multiple of 4, but at
 * least BOX_BYTES_MIN. A box has room for @elements elements. If so many elements need more bytes
 * than the limit, the box has room for fewer elements.
 */
static void size_boxes(struct argspecs *list, unsigned elements)
{
	size_t nr = 0;

	for (size_t i = 0; i < list->nr; i++)
		nr += list->specs[i].shape != NULL;
	for (size_t i = 0; i < list->nr; i++) {
		struct argspec *spec = &list->specs[i];
		struct shape shape;

		if (!spec->shape || !shape_parse(&shape, spec->shape))
			continue;
		spec->elements = MIN(elements, (unsigned)UINT8_MAX);
		spec->type.size = shape_box_bytes(
			&shape, elements, MAX(BOXES_BYTES / (unsigned)nr & ~3U, BOX_BYTES_MIN));
	}
}

/* The argument @self of ask_debug() and ask_table(): the settings, and the captured function. */
struct asked {
	const struct capture_settings *settings;
	const struct capture_subject *subject;
};

/* Finds specifications in the debug information of the function (see argfind_fn). */
static int ask_debug(void *self, int about, struct argfound *found)
{
	const struct asked *asked = self;
	const struct capture_settings *settings = asked->settings;
	const struct capture_subject *subject = asked->subject;
	struct argspecs args cleanup_argspecs = { 0 };
	struct argspecs retval cleanup_argspecs = { 0 };
	enum callconv_kind kind = symbol_is_clone(subject->sym) ? CALLCONV_CLONE : CALLCONV_PLAIN;
	int ret = subject->debug ? callconv_specs(isa_of(arch_elf_machine, 0), subject->debug, kind,
						  &args, &retval)
				 : 0;
	int told = 0;

	if (ret < 0)
		return ret;
	size_boxes(&args, settings->elements);
	size_boxes(&retval, settings->elements);
	if ((about & ARGRULES_ARGS) && args.nr) {
		move_specs(&found->args, &args);
		told |= ARGRULES_ARGS;
	}
	if ((about & ARGRULES_RETVAL) && retval.nr) {
		move_specs(&found->retval, &retval);
		told |= ARGRULES_RETVAL;
	}
	return told;
}

/* Looks up the function in the table of library functions (autoargs.h). */
static int ask_table(void *self, int about, struct argfound *found)
{
	const struct asked *asked = self;
	const struct autoargs *row = autoargs_find(asked->subject->sym->name);

	if (!row)
		return 0;
	if ((about & ARGRULES_ARGS) && row->args)
		argspecs_parse(row->args, strlen(row->args), WORD_BYTES, &found->args, NULL);
	if ((about & ARGRULES_RETVAL) && row->retval)
		argspecs_parse(row->retval, strlen(row->retval), WORD_BYTES, &found->retval, NULL);
	return about;
}

bool captures_llvm_strings(const struct symtab *symbols)
{
	for (size_t i = 0; i < symbols->nr; i++) {
		const char *name = symbols->syms[i].name;

		/* In mangled names, "St3__1" is the namespace std::__1 of LLVM's library. */
		if (strncmp(name, "_Z", 2) == 0 && strstr(name, "St3__1"))
			return true;
	}
	return false;
}

/*
 * Makes "/S" (std::string) in @list mean the strings of LLVM's C++ library. Called when the module
 * of the captured function uses this library. The user's "/S" does not name a library.
 */
static void choose_strings(struct argspecs *list)
{
	for (size_t i = 0; i < list->nr; i++) {
		if (list->specs[i].type.format == ARG_STD_STRING)
			list->specs[i].how = ARG_HOW_LLVM;
	}
}

static int find_args(const struct capture_settings *settings, const struct capture_subject *subject,
		     struct argfound *found)
{
	struct strbuf others cleanup_strbuf = { 0 };
	struct asked asked = { settings, subject };
	struct argfind find = {
		.rules = settings->rules,
		.is_auto = settings->is_auto,
		.debug = ask_debug,
		.table = ask_table,
		.self = &asked,
	};
	struct argrules_subject function = {
		.name = subject->name,
		.module = subject->module,
		.is_plt = subject->sym->type == 'P',
	};

	demangle_others(subject->sym->name, DEMANGLE_SIMPLE, &others);
	function.others = strbuf_str(&others);

	int ret = argfind_function(&find, &function, found);

	if (subject->has_llvm_strings && !(found->from_debug & ARGRULES_ARGS))
		choose_strings(&found->args);
	if (subject->has_llvm_strings && !(found->from_debug & ARGRULES_RETVAL))
		choose_strings(&found->retval);
	return ret;
}

uint32_t captures_add(const struct capture_settings *settings,
		      const struct capture_subject *subject, struct strbuf *steps)
{
	struct argfound found cleanup_argfound = { 0 };
	uint32_t index;

	if (find_args(settings, subject, &found) < 0 || found.args.nr + found.retval.nr == 0 ||
	    !capture_steps_add(steps, &found.args, &found.retval, &index))
		return PLAN_NO_CAPTURE;
	return index;
}

/* The texts of a .dbg file. They are freed after the file is written. */
struct texts {
	char **texts;
	size_t nr;
};

static void texts_deinit(struct texts *texts)
{
	for (size_t i = 0; i < texts->nr; i++)
		free(texts->texts[i]);
	free(texts->texts);
}

/* Moves the text to @texts. Returns NULL for an empty text. Sets *@oom when memory is short. */
static const char *keep_args_text(struct texts *texts, struct strbuf *text, bool *oom)
{
	if (!text->len && !strbuf_oom(text))
		return NULL;

	char **all = vec_grow(texts->texts, texts->nr, sizeof(*all));

	if (all)
		texts->texts = all;
	if (!all || strbuf_oom(text)) {
		*oom = true;
		return NULL;
	}
	all[texts->nr++] = text->data;
	return take_ptr(text->data);
}

static const char *keep_specs(struct texts *texts, const struct argspecs *list, bool *oom)
{
	struct strbuf text cleanup_strbuf = { 0 };

	for (size_t i = 0; i < list->nr; i++) {
		if (i)
			strbuf_addch(&text, ',');
		argspec_put(&list->specs[i], WORD_BYTES, &text);
	}
	return keep_args_text(texts, &text, oom);
}

static void put_keys(const struct argspecs *list, struct strbuf *out, bool *any)
{
	for (size_t i = 0; i < list->nr; i++) {
		if (i)
			strbuf_addch(out, ',');
		if (list->specs[i].fields) {
			strbuf_addstr(out, list->specs[i].fields);
			*any = true;
		}
	}
}

/* Stores texts of the debug information. Readers need these texts to show the fields of structs. */
static const char *keep_keys(struct texts *texts, const struct argfound *found, bool *oom)
{
	struct strbuf text cleanup_strbuf = { 0 };
	bool any = false;

	if (found->from_debug & ARGRULES_ARGS)
		put_keys(&found->args, &text, &any);
	strbuf_addch(&text, ';');
	if (found->from_debug & ARGRULES_RETVAL)
		put_keys(&found->retval, &text, &any);
	return any ? keep_args_text(texts, &text, oom) : NULL;
}

static int add_inlined(const struct dwarf_func *debug, struct texts *texts, struct dbg *dbg)
{
	for (uint32_t i = 0; i < debug->nr_inlined; i++) {
		const struct dwarf_inline *from = &debug->inlined[i];
		struct strbuf name cleanup_strbuf = { 0 };
		bool oom = false;

		demangle(from->name, DEMANGLE_SIMPLE, &name);

		struct dbg_inline call = {
			.name = keep_args_text(texts, &name, &oom),
			.file = from->file,
			.line = from->line,
		};

		if (oom || (call.name && dbg_add_inline(dbg, &call) < 0))
			return -ENOMEM;
	}
	return 0;
}

static int add_func(const struct capture_settings *settings, const struct capture_module *module,
		    const struct symbol *sym, struct texts *texts, struct dbg *dbg)
{
	struct strbuf name cleanup_strbuf = { 0 };
	struct argfound found cleanup_argfound = { 0 };
	const struct dwarf_info *info = debuginfo_of(settings->debug, module->path);
	const struct dwarf_func *debug = debuginfo_func(info, sym);
	bool oom = false;

	if (!debug)
		return 0;
	demangle(sym->name, DEMANGLE_SIMPLE, &name);

	struct capture_subject subject = { strbuf_str(&name), sym, module->basename, debug, false };

	if (find_args(settings, &subject, &found) < 0)
		return -ENOMEM;

	struct dbg_func func = {
		.addr = sym->addr,
		.args = found.from_debug & ARGRULES_ARGS ? keep_specs(texts, &found.args, &oom)
							 : NULL,
		.retval = found.from_debug & ARGRULES_RETVAL
				  ? keep_specs(texts, &found.retval, &oom)
				  : NULL,
		.structs = keep_keys(texts, &found, &oom),
		.file = debug->file,
		.line = debug->line,
	};

	func.name = keep_args_text(texts, &name, &oom);
	if (oom || dbg_add_func(dbg, &func) < 0)
		return -ENOMEM;
	return settings->has_lines ? add_inlined(debug, texts, dbg) : 0;
}

int captures_put_dbg(const struct capture_settings *settings, const struct capture_module *module,
		     struct strbuf *out)
{
	const struct dwarf_info *info = debuginfo_of(settings->debug, module->path);
	struct texts texts cleanup(texts_deinit) = { 0 };
	struct dbg dbg cleanup_dbg = {
		.path = module->path,
		.build_id = module->build_id[0] ? module->build_id : NULL,
	};

	if (!info)
		return -ENOMEM;
	for (size_t i = 0; i < info->nr_enums; i++) {
		if (dbg_add_enum(&dbg, info->enums[i]) < 0)
			return -ENOMEM;
	}
	for (size_t i = 0; capture_is_wanted(settings) && i < info->nr_structs; i++) {
		if (dbg_add_struct(&dbg, info->structs[i]) < 0)
			return -ENOMEM;
	}
	for (size_t i = 0; i < module->symbols->nr; i++) {
		int ret = add_func(settings, module, &module->symbols->syms[i], &texts, &dbg);

		if (ret < 0)
			return ret;
	}
	if (dbg.nr_funcs)
		dbg_encode(&dbg, out);
	return strbuf_oom(out) ? -ENOMEM : 0;
}
