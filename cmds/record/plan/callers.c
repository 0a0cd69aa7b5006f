/* Finds code to which calls must return directly, and not through the probe (see callers.h). */
#include "cmds/record/plan/callers.h"

#include <string.h>

#include "utils/base/path.h"
#include "utils/object/elf_file.h"
#include "utils/object/code/own_frames.h"

bool callers_have_word(const char *names, const char *word)
{
	size_t len = strlen(word);

	for (const char *at = names; at; at = strchr(at, ',') ? strchr(at, ',') + 1 : NULL) {
		if (strcspn(at, ",") == len && memcmp(at, word, len) == 0)
			return true;
	}
	return false;
}

bool callers_are_named(const char *names, const char *path, bool is_program)
{
	const char *base = path_base(path);

	for (const char *at = names; at; at = strchr(at, ',') ? strchr(at, ',') + 1 : NULL) {
		size_t len = strcspn(at, ",");

		if (len == 1 && *at == '.' ? is_program : len && strncmp(base, at, len) == 0)
			return true;
	}
	return false;
}

/*
 * The runtime of a language such as Go finds the frames of Go code by the return addresses on the
 * stack (own_frames.h). The probe must not replace a return address that points into code of such a
 * language. This function searches the module's file for this code. Each file is searched only
 * once.
 */
static void find_own_frames(struct known_module *known)
{
	struct elf_file file cleanup_elf_file = ELF_FILE_CLOSED;

	if (known->has_own_frames_known)
		return;
	known->has_own_frames_known = true;
	if (elf_file_open(&file, known->path, NULL) == 0)
		object_own_frames(&file, NULL, &known->own_frames);
}

static void add_piece(struct known_module *known, struct plan_callers piece, const char *why,
		      struct strbuf *out)
{
	known->callers_why = why;
	strbuf_add(out, &piece, sizeof(piece));
}

void callers_bind(const struct record_settings *settings, struct known_module *known,
		  const struct control_module *module, bool is_program, struct strbuf *out)
{
	if (settings->estimates_return)
		return;
	if (callers_are_named(settings->keep_returns, known->path, is_program)) {
		add_piece(known, (struct plan_callers){ module->start, module->end },
			  "--keep-returns says so", out);
		return;
	}
	if (callers_are_named(settings->replace_returns, known->path, is_program))
		return;
	find_own_frames(known);

	const struct own_frames *pieces = (const struct own_frames *)known->own_frames.data;

	for (size_t i = 0; i < known->own_frames.len / sizeof(*pieces); i++) {
		struct plan_callers piece = { module->load_bias + pieces[i].start,
					      module->load_bias + pieces[i].end };

		if (pieces[i].is_everywhere)
			piece = (struct plan_callers){ 0, UINT64_MAX };
		add_piece(known, piece, pieces[i].why, out);
	}
}
