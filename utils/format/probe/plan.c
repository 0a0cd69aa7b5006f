/*
 * The plan's image (see plan.h). The probe contains this file, and the probe must not depend on
 * many functions of libc. So this file calls only two of them: memcpy() and memset().
 */
#include "utils/format/probe/plan.h"

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "utils/base/compiler.h"
#include "utils/format/callables.h"
#include "utils/format/probe/automaton.h"

/*
 * The entries, by kind.
 *
 * @bytes: the size of an entry in this version
 * @is_exact: the size of an entry must be @bytes, because other data are stored between the
 *            entries. If @is_exact is false, entries of a newer version may be longer than @bytes
 */
static const struct {
	uint32_t bytes;
	bool is_exact;
} kinds[PLAN_KINDS] = {
	[PLAN_SETTINGS] = { sizeof(struct plan), false },
	[PLAN_FUNCS] = { sizeof(struct plan_func), false },
	[PLAN_CALLS] = { sizeof(struct plan_call_site), false },
	[PLAN_PATCHES] = { sizeof(struct plan_patch), false },
	[PLAN_RULES] = { sizeof(struct plan_rule), false },
	[PLAN_CONDS] = { sizeof(struct plan_cond), true },
	[PLAN_STEPS] = { sizeof(struct capture_step), true },
	[PLAN_WATCHES] = { sizeof(struct plan_watch), false },
	[PLAN_COUNTERS] = { sizeof(struct plan_counter), false },
	[PLAN_OPERANDS] = { sizeof(struct plan_operand), false },
	[PLAN_CALLERS] = { sizeof(struct plan_callers), false },
};

#define ENTRY_ALIGN 8

uint32_t plan_entry_bytes(enum plan_kind kind)
{
	return kinds[kind].bytes;
}

static const void *entry(const struct plan_view *view, enum plan_kind kind, uint32_t index)
{
	const struct plan_list *list = &view->lists[kind];

	return (const uint8_t *)list->entries + (uint64_t)index * list->entry_bytes;
}

void plan_copy(const struct plan_view *view, enum plan_kind kind, void *to)
{
	for (uint32_t i = 0; i < view->lists[kind].nr; i++)
		memcpy((uint8_t *)to + (size_t)i * kinds[kind].bytes, entry(view, kind, i),
		       kinds[kind].bytes);
}

/* --- references between entries --- */

/*
 * Count the steps of a container. Returns 0 if the steps are invalid, or if there are more than
 * @left.
 */
static uint64_t box_steps(const struct capture_step *step, uint64_t left)
{
	if (left < 2)
		return 0;

	uint64_t taken = 2 + (uint64_t)step[1].bytes + step[1].index;
	const struct box_step *shape = (const struct box_step *)(step + 2 + step[1].bytes);
	uint32_t nr = step[1].index / BOX_STEP_UNITS;

	if (taken > left || nr == 0 || step[1].index % BOX_STEP_UNITS)
		return 0;
	for (uint32_t i = 0; i < nr; i++) {
		if (shape[i].skip > nr - i - 1)
			return 0;
	}
	return taken;
}

static bool steps_are_good(const struct capture_step *steps, uint64_t nr)
{
	uint64_t taken;

	for (uint64_t i = 0; i < nr; i += taken) {
		taken = steps[i].op == CAPTURE_BOX ? box_steps(&steps[i], nr - i) : 1;
		if (!taken || steps[i].op == CAPTURE_HEAD)
			return false;
	}
	return true;
}

static const char *check_capture(const struct plan_view *view, uint32_t index)
{
	const struct plan_list *list = &view->lists[PLAN_STEPS];
	const struct capture_step *head;

	if (index >= list->nr)
		return "a function's capture program is not there";
	head = (const struct capture_step *)list->entries + index;
	if (head->op != CAPTURE_HEAD ||
	    (uint64_t)head->bytes + head->index > list->nr - index - 1 ||
	    !steps_are_good(head + 1, head->bytes) ||
	    !steps_are_good(head + 1 + head->bytes, head->index))
		return "a function's capture program leads out of the steps";
	return NULL;
}

/*
 * True when a comparison is valid. @text_bytes: the number of bytes from the end of the rule's last
 * comparison to the end of PLAN_CONDS
 */
static bool cond_is_good(const struct plan_cond *cond, uint64_t text_bytes)
{
	uint64_t bytes = cond->kind == PLAN_COND_AUTOMATON ? sizeof(struct automaton) : cond->len;

	bool is_of_text = cond->kind == PLAN_COND_NUMBER || cond->kind == PLAN_COND_REAL;

	if ((is_of_text || cond->string == CAPTURE_TEXT) && cond->index > CALLABLE_ARGS_MAX)
		return false;
	if (is_of_text)
		return true;
	if (cond->kind == PLAN_COND_INT || cond->kind == PLAN_COND_FLOAT)
		return cond->index > 0;
	return cond->kind <= PLAN_COND_AUTOMATON && cond->value >= 0 &&
	       (cond->kind != PLAN_COND_AUTOMATON || cond->value % ENTRY_ALIGN == 0) &&
	       bytes <= text_bytes && (uint64_t)cond->value <= text_bytes - bytes;
}

static const char *check_rule(const struct plan_view *view, const struct plan_rule *rule)
{
	const struct plan_list *list = &view->lists[PLAN_CONDS];
	const struct plan_cond *conds;

	if (!rule->nr_conds)
		return NULL;
	if (rule->cond >= list->nr || rule->nr_conds > list->nr - rule->cond)
		return "a rule's conditions are not there";
	conds = (const struct plan_cond *)list->entries + rule->cond;
	for (uint32_t i = 0; i < rule->nr_conds; i++) {
		if (!cond_is_good(&conds[i], ((uint64_t)list->nr - rule->cond - rule->nr_conds) *
						     sizeof(*conds)))
			return "what a condition compares with is not there";
	}
	return NULL;
}

static const char *check_funcs(const struct plan_view *view)
{
	uint64_t end = 0;

	for (uint32_t i = 0; i < view->lists[PLAN_FUNCS].nr; i++) {
		const struct plan_func *func = entry(view, PLAN_FUNCS, i);
		const char *why = NULL;

		if (func->start < end || func->end < func->start)
			return "functions are not in order";
		end = func->end;
		if (func->rule != PLAN_NO_RULE && func->rule >= view->lists[PLAN_RULES].nr)
			why = "a function's rule is not there";
		else if (func->capture != PLAN_NO_CAPTURE)
			why = check_capture(view, func->capture);
		if (why)
			return why;
	}
	return NULL;
}

static bool patch_has_stub(const struct plan_patch *patch)
{
	return patch->what == PATCH_EVENT || patch->what == PATCH_ENTRY;
}

/*
 * Check a patch. @before: the previous patch, or NULL. Returns NULL if the patch is valid, or else
 * the error.
 */
static const char *check_patch(const struct plan_patch *patch, const struct plan_patch *before)
{
	if (patch->what >= PATCH_KINDS)
		return "a patch is of a kind that is not known";
	if (patch->len > PLAN_PATCH_CODE || patch->nr_fixes > PLAN_PATCH_FIXES)
		return "a patch's code is too long";
	if (patch->bytes < PLAN_PATCH_JUMP || patch->bytes > PLAN_PATCH_ORIGINAL)
		return "a patch replaces more bytes than it has, or too few";
	for (uint32_t k = 0; k < patch->nr_fixes; k++) {
		if (patch->fixes[k] + sizeof(uint32_t) > patch->len)
			return "a distance lies behind its patch's code";
	}
	if (patch->flags && !patch_has_stub(patch))
		return "a patch without code has flags for it";
	/* PLAN_PATCH_INNER and PLAN_PATCH_SHORT require a previous patch of the same module. */
	if ((!before || before->load_bias != patch->load_bias) &&
	    (patch->flags & (PLAN_PATCH_INNER | PLAN_PATCH_SHORT)))
		return "a patch has none before it";
	return NULL;
}

static bool operand_is_good(const struct plan_operand *o)
{
	bool has_good_base = o->base < PLAN_REGISTERS;
	bool has_good_bytes = o->bytes == 1 || o->bytes == 2 || o->bytes == 4 || o->bytes == 8;

	switch (o->kind) {
	case PLAN_OPERAND_NONE:
		return true;
	case PLAN_OPERAND_CONSTANT:
		return has_good_bytes;
	case PLAN_OPERAND_REGISTER:
		return has_good_bytes && has_good_base && o->shift < 64;
	case PLAN_OPERAND_VECTOR:
		return has_good_bytes && has_good_base;
	case PLAN_OPERAND_MEMORY:
		return has_good_bytes && (has_good_base || o->base == PLAN_NO_REGISTER) &&
		       (o->index < PLAN_REGISTERS || o->index == PLAN_NO_REGISTER) && o->shift < 64;
	}
	return false;
}

static const char *check_operands(const struct plan_view *view, const struct plan_patch *patch)
{
	uint64_t nr = view->lists[PLAN_OPERANDS].nr;

	if (!patch->operands)
		return NULL;
	if (patch->what != PATCH_EVENT)
		return "a patch that is no event has arguments";
	for (uint64_t i = 0; i < PLAN_OPERANDS_MAX && patch->operands - 1 + i < nr; i++) {
		const struct plan_operand *operand = entry(view, PLAN_OPERANDS,
							   patch->operands - 1 + i);

		if (!operand_is_good(operand))
			return "an argument of an event is where nothing can be";
		if (operand->flags & PLAN_OPERAND_LAST)
			return NULL;
	}
	return "an event's arguments are not there";
}

static const char *check_patches(const struct plan_view *view)
{
	const struct plan_patch *before = NULL;
	const char *why = NULL;

	for (uint32_t i = 0; !why && i < view->lists[PLAN_PATCHES].nr; i++) {
		const struct plan_patch *patch = entry(view, PLAN_PATCHES, i);

		why = check_patch(patch, before);
		if (!why)
			why = check_operands(view, patch);
		before = patch;
	}
	return why;
}

static const char *check_watches(const struct plan_view *view)
{
	if (view->lists[PLAN_WATCHES].nr > PLAN_WATCHES_MAX)
		return "there are too many variables to watch";
	for (uint32_t i = 0; i < view->lists[PLAN_WATCHES].nr; i++) {
		const struct plan_watch *watch = entry(view, PLAN_WATCHES, i);

		if (watch->bytes < 1 || watch->bytes > sizeof(uint64_t))
			return "a variable to watch has a size that cannot be";
	}
	return NULL;
}

static const char *check_entries(const struct plan_view *view)
{
	const char *why = check_funcs(view);

	for (uint32_t i = 0; !why && i < view->lists[PLAN_RULES].nr; i++)
		why = check_rule(view, entry(view, PLAN_RULES, i));
	if (!why)
		why = check_patches(view);
	if (!why)
		why = check_watches(view);
	if (!why && view->lists[PLAN_COUNTERS].nr > PLAN_COUNTERS_MAX)
		why = "there are too many counters";
	if (!why && view->lists[PLAN_SETTINGS].nr > 1)
		why = "there are settings twice";
	return why;
}

/* --- the list of sections at the start of the image --- */

static const char *take_section(struct plan_view *view, const struct plan_section *s,
				const uint8_t *bytes, uint64_t len, uint64_t start)
{
	if (s->offset < start || s->offset > len || s->offset % ENTRY_ALIGN || !s->entry_bytes ||
	    s->entry_bytes % ENTRY_ALIGN || s->nr >= UINT32_MAX ||
	    s->nr > (len - s->offset) / s->entry_bytes)
		return "a section lies outside of it, or is not aligned";
	if (s->kind == 0 || s->kind >= PLAN_KINDS)
		return NULL; /* a kind of a newer version */
	if (view->lists[s->kind].entries)
		return "a section is there twice";
	if (s->entry_bytes < kinds[s->kind].bytes ||
	    (kinds[s->kind].is_exact && s->entry_bytes != kinds[s->kind].bytes))
		return "a section's entries have a size that is not known";
	view->lists[s->kind] = (struct plan_list){ bytes + s->offset, (uint32_t)s->nr,
						   s->entry_bytes };
	return NULL;
}

static const char *take_directory(struct plan_view *view, const uint8_t *bytes, uint64_t len)
{
	const struct plan_header *header = (const struct plan_header *)bytes;
	const struct plan_section *sections = (const struct plan_section *)(header + 1);
	const char *why = NULL;

	if (len < sizeof(*header) || header->magic != PLAN_MAGIC)
		return "it is no plan";
	if (header->nr_sections > PLAN_SECTIONS_MAX ||
	    header->nr_sections > (len - sizeof(*header)) / sizeof(*sections))
		return "its directory is too long";
	for (uint32_t i = 0; !why && i < header->nr_sections; i++)
		why = take_section(view, &sections[i], bytes, len,
				   sizeof(*header) + header->nr_sections * sizeof(*sections));
	return why;
}

int plan_open(struct plan_view *view, const void *bytes, uint64_t len, const char **why)
{
	const char *wrong;

	*view = (struct plan_view){ 0 };
	wrong = take_directory(view, bytes, len);
	if (!wrong)
		wrong = check_entries(view);
	if (why)
		*why = wrong;
	return wrong ? -EINVAL : 0;
}

/* --- making an image --- */

static uint64_t list_bytes(const struct plan_list *list)
{
	return ALIGN_UP((uint64_t)list->nr * list->entry_bytes, (uint64_t)PLAN_ALIGN);
}

static uint32_t count_lists(const struct plan_view *view)
{
	uint32_t nr = 0;

	for (unsigned i = 0; i < PLAN_KINDS; i++)
		nr += view->lists[i].nr != 0;
	return nr;
}

uint64_t plan_image_head_bytes(const struct plan_view *view)
{
	return ALIGN_UP(sizeof(struct plan_header) +
				count_lists(view) * sizeof(struct plan_section),
			(uint64_t)PLAN_ALIGN);
}

/*
 * Returns the offset in the image at which the list of @kind begins. The lists of all lower kinds
 * are before this offset. For PLAN_KINDS, returns the size of the image.
 */
static uint64_t place_behind(const struct plan_view *view, unsigned kind)
{
	uint64_t bytes = plan_image_head_bytes(view);

	for (unsigned i = 0; i < kind; i++)
		bytes += list_bytes(&view->lists[i]);
	return bytes;
}

uint64_t plan_image_bytes(const struct plan_view *view)
{
	return place_behind(view, PLAN_KINDS);
}

uint64_t plan_image_place(const struct plan_view *view, enum plan_kind kind)
{
	return view->lists[kind].nr ? place_behind(view, kind) : 0;
}

void plan_image_put_head(const struct plan_view *view, void *to)
{
	struct plan_header *header = to;
	struct plan_section *section = (struct plan_section *)(header + 1);

	memset(to, 0, plan_image_head_bytes(view));
	*header = (struct plan_header){ .magic = PLAN_MAGIC, .nr_sections = count_lists(view) };
	for (uint32_t i = 0; i < PLAN_KINDS; i++) {
		const struct plan_list *list = &view->lists[i];

		if (list->nr)
			*section++ = (struct plan_section){ i, list->entry_bytes, list->nr,
							    plan_image_place(view, i) };
	}
}

void plan_image_put(const struct plan_view *view, void *to)
{
	plan_image_put_head(view, to);
	for (uint32_t i = 0; i < PLAN_KINDS; i++) {
		const struct plan_list *list = &view->lists[i];
		uint64_t bytes = (uint64_t)list->nr * list->entry_bytes;
		uint8_t *at = (uint8_t *)to + plan_image_place(view, i);

		if (!list->nr)
			continue;
		memcpy(at, list->entries, bytes);
		memset(at + bytes, 0, list_bytes(list) - bytes);
	}
}
