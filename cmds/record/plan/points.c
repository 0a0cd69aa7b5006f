/* Adds patches for the chosen static probes of the program to a plan (see points.h). */
#include "cmds/record/plan/points.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "arch/arch.h"
#include "arch/isa.h"
#include "cmds/record/base/rights.h"
#include "cmds/record/plan/counters.h"
#include "cmds/record/plan/declared.h"
#include "cmds/record/plan/found_patch.h"
#include "cmds/record/plan/modules.h"
#include "cmds/record/plan/values/point_args.h"
#include "cmds/record/store/store.h"
#include "utils/base/cleanup.h"
#include "utils/base/containers/vec.h"
#include "utils/format/event_ids.h"
#include "utils/object/sdt.h"
#include "utils/object/code/sites.h"

#define OPCODE_NOP 0x90 /* the nop that <sys/sdt.h> puts at a probe */

/* A static probe that a rule has chosen. */
struct wanted {
	const struct sdt_probe *probe;
	char *event; /* "provider:event", on the heap */
};

void points_init(struct points *points, const struct event_rules *rules, struct store *store)
{
	*points = (struct points){ .rules = rules, .store = store };
}

void points_deinit(struct points *points)
{
	for (size_t i = 0; i < points->nr_events; i++)
		free(points->events[i].name);
	free(points->events);
	strbuf_deinit(&points->names);
	strbuf_deinit(&points->left_out);
	strbuf_deinit(&points->complaints);
}

void module_points_deinit(struct module_points *points)
{
	strbuf_deinit(&points->found);
	strbuf_deinit(&points->operands);
}

bool points_are_wanted(const struct event_rules *rules)
{
	for (size_t i = 0; i < rules->nr; i++) {
		const struct event_rule *rule = &rules->rules[i];

		/*
		 * A rule "linux:..." requests no static probes. The rule ".*" requests both
		 * static probes and events "linux:...".
		 */
		if (rule->origin == EVENT_OF_PROGRAM &&
		    (!event_rule_linux(rule) || event_rule_matches(rule, EVENT_OF_PROGRAM, "a:b")))
			return true;
	}
	return false;
}

bool points_have_file(const struct record_settings *settings)
{
	return points_are_wanted(settings->events) || settings->filters->counters.nr;
}

int points_make_file(struct store *store, const struct record_settings *settings,
		     struct uft_err *err)
{
	struct strbuf lines cleanup_strbuf = { 0 };

	counters_put_events(&settings->filters->counters, &lines);
	if (strbuf_oom(&lines))
		return err_set_errno(err, -ENOMEM, "cannot write 'events.txt'");
	return store_publish(store, "events.txt", strbuf_str(&lines), lines.len, err);
}

/* --- events and their ids --- */

/*
 * Appends the line of an event to events.txt at once, so that the file has the line even if the
 * recording is interrupted.
 */
static int write_line(const struct points *points, size_t index)
{
	struct strbuf line cleanup_strbuf = { 0 };
	struct rights paused cleanup_rights_pause = rights_pause();

	strbuf_addf(&line, "EVENT: %zu %s\n", EVENT_ID_USER + index, points->events[index].name);
	return store_append_to(points->store, "events.txt", &line);
}

int points_new_event(struct points *points, const char *name, uint32_t *id)
{
	struct point_event *events;

	if (points->nr_events == EVENT_USER_MAX)
		return -ERANGE;
	events = vec_grow(points->events, points->nr_events, sizeof(*events));
	if (!events)
		return -ENOMEM;
	points->events = events;
	events[points->nr_events] = (struct point_event){ .name = strdup(name) };
	if (!events[points->nr_events].name)
		return -ENOMEM;
	*id = EVENT_ID_USER + points->nr_events++;
	return 0;
}

void points_write_event(struct points *points, uint32_t id)
{
	int ret = write_line(points, id - EVENT_ID_USER);

	if (ret < 0 && !points->error)
		points->error = ret;
}

/* Finds the id of the event. A new name gets a new id. Returns the errors of points_new_event(). */
static int event_id(struct points *points, const char *name, uint32_t *id)
{
	for (size_t i = 0; i < points->nr_events; i++) {
		if (points->events[i].is_shared && strcmp(points->events[i].name, name) == 0) {
			*id = EVENT_ID_USER + i;
			return 0;
		}
	}

	int ret = points_new_event(points, name, id);

	if (ret < 0)
		return ret;
	points->events[*id - EVENT_ID_USER].is_shared = true;
	points_write_event(points, *id);
	return 0;
}

/* --- one file --- */

static void add_new(struct strbuf *list, const char *text)
{
	if (!strbuf_list_has(list, text))
		strbuf_list_add(list, text);
}

/*
 * Reports that the event of the static probe @wanted is not recorded at this probe. @why is the
 * reason. If the event was already reported for another static probe, does nothing.
 */
static void leave_out(struct points *points, const struct known_module *known,
		      const struct code *code, const struct wanted *wanted, const char *why)
{
	const struct code_func *func = code_func_at(code, wanted->probe->pc);
	struct strbuf text cleanup_strbuf = { 0 };

	if (strbuf_list_has(&points->left_out, wanted->event))
		return;
	strbuf_addf(&text, "event '%s' is not recorded at %#llx", wanted->event,
		    (unsigned long long)wanted->probe->pc);
	if (func && func->name)
		strbuf_addf(&text, " in %s()", func->name);
	strbuf_addf(&text, " of '%s': %s", known->path, why);
	strbuf_list_add(&points->left_out, wanted->event);
	strbuf_list_add(&points->complaints, strbuf_str(&text));
}

static int compare_pc(const void *a, const void *b)
{
	const struct wanted *x = a;
	const struct wanted *y = b;

	return (x->probe->pc > y->probe->pc) - (x->probe->pc < y->probe->pc);
}

/* Chooses the static probes that a rule names, and sorts them by address. */
static int choose_probes(struct points *points, const struct sdt_probes *probes,
			 struct wanted **out, size_t *nr)
{
	struct strbuf name cleanup_strbuf = { 0 };
	struct wanted *chosen = calloc(probes->nr + 1, sizeof(*chosen));

	*out = chosen;
	*nr = 0;
	if (!chosen)
		return -ENOMEM;
	for (size_t i = 0; i < probes->nr; i++) {
		const struct sdt_probe *probe = &probes->probes[i];

		strbuf_reset(&name);
		strbuf_addf(&name, "%s:%s", probe->provider, probe->name);
		if (strbuf_oom(&name))
			return -ENOMEM;
		add_new(&points->names, strbuf_str(&name));
		if (!event_rules_match(points->rules, EVENT_OF_PROGRAM, strbuf_str(&name)))
			continue;
		chosen[*nr] = (struct wanted){ probe, strdup(strbuf_str(&name)) };
		if (!chosen[(*nr)++].event)
			return -ENOMEM;
	}
	qsort(chosen, *nr, sizeof(*chosen), compare_pc);
	return 0;
}

static void drop_wanted(struct wanted *wanted, size_t nr)
{
	for (size_t i = 0; wanted && i < nr; i++)
		free(wanted[i].event);
	free(wanted);
}

static void complain_of_args(struct points *points, const char *event, size_t nr)
{
	struct strbuf text cleanup_strbuf = { 0 };

	strbuf_addf(&text, "event '%s' has %zu arguments: the first %d are recorded", event, nr,
		    PLAN_OPERANDS_MAX);
	add_new(&points->complaints, strbuf_str(&text));
}

/*
 * Finds the id of the event, and the operands of its arguments. Static probes with one name have
 * different ids if their arguments have different types.
 */
static int identify(struct points *points, struct known_module *known, const struct code *code,
		    const struct wanted *wanted, struct plan_patch *patch)
{
	struct strbuf *operands = &known->points.operands;
	struct strbuf types cleanup_strbuf = { 0 };
	uint32_t first = operands->len / sizeof(struct found_operand) + 1;
	const char *args = wanted->probe->args;

	if (!args[strspn(args, " ")])
		return event_id(points, wanted->event, &patch->event);

	size_t nr = point_args_find(code->file, args, operands, &types);

	if (strbuf_oom(operands) || strbuf_oom(&types))
		return -ENOMEM;
	patch->operands = first;
	patch->event = declared_add_probe(points->declared, wanted->event, strbuf_str(&types));
	if (!patch->event)
		return -ERANGE;
	if (nr > PLAN_OPERANDS_MAX)
		complain_of_args(points, wanted->event, nr);
	return 0;
}

static int prepare_points(struct points *points, struct known_module *known,
			  const struct code *code, struct insns *insns, const struct wanted *wanted,
			  size_t nr)
{
	struct code_site *sites cleanup_free = calloc(nr + 1, sizeof(*sites));
	int ret = sites ? 0 : -ENOMEM;

	for (size_t i = 0; ret == 0 && i < nr; i++)
		sites[i].addr = wanted[i].probe->pc;
	if (ret == 0)
		ret = sites_prepare(code, insns, sites, nr);
	for (size_t i = 0; ret == 0 && i < nr; i++) {
		const uint8_t *nop = code_bytes(code, sites[i].addr, 1);
		struct plan_patch patch = { .what = PATCH_EVENT,
					    .semaphore = wanted[i].probe->semaphore };

		if (!sites[i].why_not[0] && *nop != OPCODE_NOP)
			strcpy(sites[i].why_not, "there is no nop");
		if (!sites[i].why_not[0])
			ret = identify(points, known, code, &wanted[i], &patch);
		if (ret == -ERANGE) {
			strcpy(sites[i].why_not, "there are no numbers left for events");
			ret = 0;
		}
		if (sites[i].why_not[0])
			leave_out(points, known, code, &wanted[i], sites[i].why_not);
		else if (ret == 0)
			found_patch_add_site(&known->points.found, &sites[i], patch,
					     /* func= */ 0);
	}
	return ret;
}

/* Finds the chosen static probes in the file. Adds those that can be recorded to known->points. */
static int find_points(struct points *points, struct known_module *known, struct uft_err *err)
{
	struct elf_file file cleanup_elf_file = ELF_FILE_CLOSED;
	struct sdt_probes probes cleanup_sdt_probes = { 0 };
	struct code code cleanup_code = { 0 };
	struct insns *insns cleanup_insns = NULL;
	struct wanted *wanted = NULL;
	size_t nr = 0;
	int ret = elf_file_open(&file, known->path, err);

	if (ret == 0)
		ret = sdt_probes_load(&file, known->path, &probes, err);
	if (ret < 0 || !probes.nr || file.head.e_machine != arch_elf_machine ||
	    file.head.e_ident[EI_CLASS] != arch_elf_class)
		return ret;
	ret = choose_probes(points, &probes, &wanted, &nr);
	if (ret == 0 && nr)
		ret = insns_open(&insns, isa_of(arch_elf_machine, 0), err);
	if (ret == 0 && nr)
		ret = code_load(&file, &code);
	if (ret == 0 && nr)
		ret = prepare_points(points, known, &code, insns, wanted, nr);
	drop_wanted(wanted, nr);
	if (ret < 0)
		err_set_errno(err, ret, "out of memory");
	if (ret < 0)
		err_prefix(err, "cannot record the events of '%s'", known->path);
	return ret;
}

/* --- one process --- */

static void complain_of_functions(struct points *points, const struct known_module *known)
{
	struct strbuf text cleanup_strbuf = { 0 };

	strbuf_addf(&text,
		    "some events of '%s' are not recorded, where they lie in the first bytes of a "
		    "function that is patched: option '--unpatch' leaves such a function alone",
		    known->path);
	add_new(&points->complaints, strbuf_str(&text));
}

static void bind_one(const struct known_module *known, const struct found_patch *found,
		     uint64_t bias, struct strbuf *out, struct strbuf *operands)
{
	struct found_patch one = *found;

	if (one.patch.operands)
		one.patch.operands = point_args_bind(&known->points.operands, one.patch.operands,
						     bias, operands);
	found_patch_bind(&one, bias, out);
}

/*
 * Add the patches of static probes to @out, each group as a whole. A group is one patch and the
 * PLAN_PATCH_INNER patches that directly follow this patch. If a group shares bytes with the patch
 * of a function, the whole group is left out. sites_prepare() does not find such shared bytes,
 * because sites_prepare() gets only the sites of static probes.
 */
static void bind_groups(struct points *points, const struct known_module *known, uint64_t bias,
			struct strbuf *out, struct strbuf *operands)
{
	const struct found_patch *found = (const struct found_patch *)known->points.found.data;
	size_t nr = known->points.found.len / sizeof(*found);
	size_t nr_before = out->len / sizeof(struct plan_patch);
	size_t nr_group;

	for (size_t i = 0; i < nr; i += nr_group) {
		bool is_free = found_patch_is_free(&found[i], bias, out, nr_before);

		for (nr_group = 1;
		     i + nr_group < nr && (found[i + nr_group].patch.flags & PLAN_PATCH_INNER);
		     nr_group++)
			is_free &= found_patch_is_free(&found[i + nr_group], bias, out, nr_before);
		if (!is_free)
			complain_of_functions(points, known);
		for (size_t k = 0; is_free && k < nr_group; k++)
			bind_one(known, &found[i + k], bias, out, operands);
	}
}

void points_bind(struct points *points, struct known_module *known,
		 const struct control_module *module, struct strbuf *patches,
		 struct strbuf *operands)
{
	if (!known->points.is_known && points_are_wanted(points->rules)) {
		struct uft_err err = { 0 };

		known->points.is_known = true;
		if (find_points(points, known, &err) < 0)
			strbuf_list_add(&points->complaints, err.text);
	}
	bind_groups(points, known, module->load_bias, patches, operands);
}
