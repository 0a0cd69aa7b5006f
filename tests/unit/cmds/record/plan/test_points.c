/* Events of the program: their numbers and lines, and the warnings at the end. */
#include "tests/unit/lib/unit.h"

#include <errno.h>

#include "cmds/record/plan/declared.h"
#include "cmds/record/plan/modules.h"
#include "cmds/record/plan/points.h"
#include "tests/unit/lib/record/store_memory.h"
#include "utils/base/compiler.h"
#include "utils/format/event_data.h"
#include "utils/format/event_ids.h"
#include "utils/object/sdt.h"
#include "utils/spec/filters.h"

struct place {
	struct store_memory memory;
	struct event_rules rules;
	struct points points;
};

static int setup(void **state)
{
	struct place *p = calloc(1, sizeof(*p));

	assert_non_null(p);
	store_memory_init(&p->memory);
	points_init(&p->points, &p->rules, &p->memory.store);
	*state = p;
	return 0;
}

static int teardown(void **state)
{
	struct place *p = *state;

	points_deinit(&p->points);
	event_rules_deinit(&p->rules);
	store_memory_deinit(&p->memory);
	free(p);
	return 0;
}

/* Make @text the only rules. */
static void ask_for(struct place *p, const char *text)
{
	event_rules_deinit(&p->rules);
	p->rules = (struct event_rules){ 0 };
	assert_int_equal(event_rules_parse(text, MATCH_GLOB, &p->rules, NULL), 0);
}

static const char *events_txt(struct place *p)
{
	static char text[4096];
	struct strbuf content cleanup_strbuf = { 0 };

	assert_int_equal(store_read(&p->memory.store, "events.txt", sizeof(text) - 1, &content), 0);
	strcpy(text, strbuf_str(&content));
	return text;
}

/*
 * Linux events are known without the program. A pattern for all events includes those of the
 * program.
 */
TEST_WITH(who_is_asked_for, setup, teardown)
{
	struct place *p = *state;
	struct record_settings settings = { .events = &p->rules };
	struct filters filters = { 0 };

	settings.filters = &filters;
	assert_false(points_are_wanted(&p->rules));
	assert_false(points_have_file(&settings));
	ask_for(p, "linux:schedule");
	assert_false(points_are_wanted(&p->rules));
	filters.counters.nr = 1;
	assert_true(points_have_file(&settings));
	filters.counters.nr = 0;
	assert_false(points_have_file(&settings));
	ask_for(p, "a:b");
	assert_true(points_are_wanted(&p->rules));
	assert_true(points_have_file(&settings));
}

TEST_WITH(everything_is_asked_for, setup, teardown)
{
	struct place *p = *state;

	ask_for(p, "*");
	assert_true(points_are_wanted(&p->rules));
}

TEST_WITH(the_kernels_alone, setup, teardown)
{
	struct place *p = *state;

	ask_for(p, "sched:sched_switch@kernel");
	assert_false(points_are_wanted(&p->rules));
}

TEST_WITH(numbers_and_lines, setup, teardown)
{
	struct place *p = *state;
	struct filters filters = { .counters = { .list = { { .name = "faults" } }, .nr = 1 } };
	const struct record_settings settings = { .events = &p->rules, .filters = &filters };
	char expected[512];
	uint32_t one;
	uint32_t two;

	assert_int_equal(points_make_file(&p->memory.store, &settings, NULL), 0);
	assert_int_equal(points_new_event(&p->points, "a:one", &one), 0);
	assert_int_equal(points_new_event(&p->points, "a:two", &two), 0);
	assert_int_equal(one, EVENT_ID_USER);
	assert_int_equal(two, EVENT_ID_USER + 1);
	/* Two events with the same name are two events. */
	assert_int_equal(points_new_event(&p->points, "a:one", &two), 0);
	assert_int_equal(two, EVENT_ID_USER + 2);
	assert_string_equal(p->points.events[2].name, "a:one");

	/* Each event gets its line when it is written, in any order. */
	points_write_event(&p->points, two);
	points_write_event(&p->points, one);
	snprintf(expected, sizeof(expected),
		 "EVENT: %u read:faults\nEVENT: %u diff:faults\nEVENT: %u a:one\nEVENT: %u a:one\n",
		 (unsigned)EVENT_ID_COUNTER, (unsigned)EVENT_ID_COUNTER + 1, two, one);
	assert_string_equal(events_txt(p), expected);
	assert_int_equal(p->points.error, 0);
}

TEST_WITH(numbers_come_to_an_end, setup, teardown)
{
	struct place *p = *state;
	size_t nr = p->points.nr_events;
	uint32_t id = 77;

	p->points.nr_events = EVENT_USER_MAX;
	assert_int_equal(points_new_event(&p->points, "a:b", &id), -ERANGE);
	assert_int_equal(id, 77);
	p->points.nr_events = nr;
}

static int refuse(struct store *store, const char *name)
{
	static int nr;

	assert_string_equal(name, "events.txt");
	return nr++ ? -EIO : -ENOSPC;
}

static const char *warned(const struct points *points, unsigned long long nr_failed, bool has)
{
	static char text[2048];
	struct msg msg = { .file = fmemopen(text, sizeof(text), "w") };

	assert_non_null(msg.file);
	text[0] = '\0';
	points_warn(points, nr_failed, has, &msg);
	fclose(msg.file);
	return text;
}

/* The first failure is the reported one. */
TEST_WITH(lines_that_cannot_be_written, setup, teardown)
{
	const struct store_ops ops = { .open = refuse };
	struct store store = { .ops = &ops };
	struct points points;
	uint32_t id;

	points_init(&points, NULL, &store);
	assert_int_equal(points_new_event(&points, "a:b", &id), 0);
	points_write_event(&points, id);
	points_write_event(&points, id);
	assert_int_equal(points.error, -ENOSPC);
	assert_string_equal(warned(&points, 0, true),
			    "WARN: cannot write 'events.txt': No space left on device\n");
	points_deinit(&points);
}

TEST_WITH(rules_about_nothing, setup, teardown)
{
	struct place *p = *state;

	ask_for(p, "app:begin");
	assert_string_equal(warned(&p->points, 0, false), "");
	assert_string_equal(warned(&p->points, 0, true),
			    "WARN: option '--Event': the program has no event 'app:begin' "
			    "(--list-event shows those that it has); one of the kernel's is "
			    "'app:begin@kernel'\n");
	strbuf_list_add(&p->points.names, "other:thing");
	assert_non_null(strstr(warned(&p->points, 0, true), "(--list-event"));
	strbuf_list_add(&p->points.names, "app:begun");
	assert_string_equal(warned(&p->points, 0, true),
			    "WARN: option '--Event': the program has no event 'app:begin'; the "
			    "nearest: app:begun\n");
	strbuf_list_add(&p->points.names, "app:begin");
	assert_string_equal(warned(&p->points, 0, true), "");
}

/* Rules about Linux and kernel events cause no warnings here: other code checks them. */
TEST_WITH(rules_of_others, setup, teardown)
{
	struct place *p = *state;

	ask_for(p, "linux:schedule;sched:*@kernel");
	assert_string_equal(warned(&p->points, 0, true), "");
}

TEST_WITH(complaints_come_first, setup, teardown)
{
	struct place *p = *state;

	strbuf_list_add(&p->points.complaints, "first");
	strbuf_list_add(&p->points.complaints, "second");
	assert_string_equal(warned(&p->points, 0, false), "WARN: first\nWARN: second\n");
	assert_non_null(strstr(warned(&p->points, 1, false),
			       "WARN: second\nWARN: 1 function or probe of the program"));
}

/* --- probes of a file --- */

#define BIAS 0x70000

/* The library made of lib/probe/probed.c. */
static const char *probed;

/* A file that a process has loaded. */
struct loaded {
	struct place *p;
	struct record_settings settings;
	struct declared declared;
	struct known_modules modules;
	struct known_module *known;
	struct sdt_probes probes;
	struct strbuf patches;
	struct strbuf operands;
};

static struct loaded *load(struct place *p, const char *rules)
{
	static struct loaded l;

	l = (struct loaded){ .p = p, .settings = { .events = &p->rules } };
	if (rules)
		ask_for(p, rules);
	declared_init(&l.declared, &l.settings, &p->points);
	l.known = known_module_get(&l.modules, probed);
	assert_non_null(l.known);
	assert_int_equal(object_sdt_load(probed, &l.probes, NULL), 0);
	return &l;
}

static void unload(struct loaded *l)
{
	strbuf_deinit(&l->patches);
	strbuf_deinit(&l->operands);
	sdt_probes_deinit(&l->probes);
	known_modules_deinit(&l->modules);
	declared_deinit(&l->declared);
}

static void bind(struct loaded *l, uint64_t bias)
{
	const struct control_module module = { .load_bias = bias };

	points_bind(&l->p->points, l->known, &module, &l->patches, &l->operands);
}

static size_t nr_patches(const struct loaded *l)
{
	return l->patches.len / sizeof(struct plan_patch);
}

static const struct plan_patch *patch_at(const struct loaded *l, size_t i)
{
	assert_true(i < nr_patches(l));
	return (const struct plan_patch *)l->patches.data + i;
}

static const struct plan_operand *operand_at(const struct loaded *l, size_t i)
{
	assert_true(i < l->operands.len / sizeof(struct plan_operand));
	return (const struct plan_operand *)l->operands.data + i;
}

/* Returns probe number @nr of that name, in the order of the notes. */
static const struct sdt_probe *probe(const struct loaded *l, const char *name, unsigned nr)
{
	for (size_t i = 0; i < l->probes.nr; i++) {
		if (strcmp(l->probes.probes[i].name, name) == 0 && nr-- == 0)
			return &l->probes.probes[i];
	}
	fail_msg("there is no %s", name);
	return NULL;
}

static const char *complaints(const struct place *p)
{
	static char text[2048];

	text[0] = '\0';
	strbuf_list_each (&p->points.complaints, line) {
		strcat(text, line);
		strcat(text, "\n");
	}
	return text;
}

static void check_patch(const struct loaded *l, size_t i, const struct sdt_probe *at, uint64_t bias)
{
	const struct plan_patch *patch = patch_at(l, i);
	static const uint8_t original[] = { 0x90, 0x69, 0xc0, 0x87, 0xd6 };

	assert_int_equal(patch->site, at->pc + bias);
	assert_int_equal(patch->load_bias, bias);
	assert_int_equal(patch->what, PATCH_EVENT);
	assert_int_equal(patch->semaphore, at->semaphore ? at->semaphore + bias : 0);
	assert_int_equal(patch->addr, 0);
	assert_int_equal(patch->flags, 0);
	assert_int_equal(patch->bytes, sizeof(original));
	assert_memory_equal(patch->original, original, sizeof(original));
	assert_true(patch->len > 0);
}

TEST_WITH(probes_of_one_name_are_one_event, setup, teardown)
{
	struct place *p = *state;
	struct loaded *l = load(p, "app:begin");

	bind(l, BIAS);
	assert_true(l->known->points.is_known);
	assert_int_equal(nr_patches(l), 2);
	check_patch(l, 0, probe(l, "begin", 0), BIAS);
	check_patch(l, 1, probe(l, "begin", 1), BIAS);
	assert_true(patch_at(l, 0)->site < patch_at(l, 1)->site);
	assert_int_equal(patch_at(l, 0)->semaphore, 0);
	assert_true(patch_at(l, 1)->semaphore > BIAS);
	for (unsigned i = 0; i < 2; i++) {
		assert_int_equal(patch_at(l, i)->event, EVENT_ID_USER);
		assert_int_equal(patch_at(l, i)->operands, 0);
	}
	assert_string_equal(events_txt(p), "EVENT: 1000000 app:begin\n");
	assert_int_equal(l->operands.len, 0);
	assert_string_equal(complaints(p), "");
	/* Another process has the library at another address. */
	bind(l, 2 * BIAS);
	assert_int_equal(nr_patches(l), 4);
	check_patch(l, 2, probe(l, "begin", 0), 2 * BIAS);
	check_patch(l, 3, probe(l, "begin", 1), 2 * BIAS);
	assert_int_equal(patch_at(l, 3)->event, EVENT_ID_USER);
	assert_string_equal(events_txt(p), "EVENT: 1000000 app:begin\n");
	unload(l);
}

TEST_WITH(all_names_are_known_and_each_once, setup, teardown)
{
	struct place *p = *state;
	struct loaded *l = load(p, "other:*");
	struct strbuf names cleanup_strbuf = { 0 };

	bind(l, BIAS);
	strbuf_list_each (&p->points.names, name)
		strbuf_addf(&names, "%s ", name);
	assert_string_equal(strbuf_str(&names), "app:begin app:args app:many app:most app:wrong "
						"app:behind other:one ");
	assert_int_equal(nr_patches(l), 1);
	check_patch(l, 0, probe(l, "one", 0), BIAS);
	unload(l);
}

TEST_WITH(what_is_not_wanted_is_not_looked_for, setup, teardown)
{
	struct place *p = *state;
	struct loaded *l = load(p, NULL);

	bind(l, BIAS);
	assert_false(l->known->points.is_known);
	assert_int_equal(p->points.names.len, 0);
	ask_for(p, "no:such");
	bind(l, BIAS);
	assert_true(l->known->points.is_known);
	assert_true(p->points.names.len > 0);
	assert_int_equal(nr_patches(l), 0);
	assert_int_equal(p->points.nr_events, 0);
	unload(l);
}

static void check_operand(const struct plan_operand *o, unsigned kind, unsigned flags,
			  unsigned bytes, uint64_t value)
{
	assert_int_equal(o->kind, kind);
	assert_int_equal(o->flags, flags);
	assert_int_equal(o->bytes, bytes);
	assert_int_equal(o->value, value);
}

/* The same name with other argument types is another event. */
TEST_WITH(arguments_are_where_the_notes_say, setup, teardown)
{
	struct place *p = *state;
	struct loaded *l = load(p, "app:args");
	struct strbuf definitions cleanup_strbuf = { 0 };
	uint64_t counter = 0;

	bind(l, BIAS);
	assert_int_equal(nr_patches(l), 2);
	check_patch(l, 0, probe(l, "args", 0), BIAS);
	assert_int_equal(patch_at(l, 0)->event, EVENT_ID_USER);
	assert_int_equal(patch_at(l, 0)->operands, 1);
	assert_int_equal(patch_at(l, 1)->event, EVENT_ID_USER + 1);
	assert_int_equal(patch_at(l, 1)->operands, 4);
	check_operand(operand_at(l, 0), PLAN_OPERAND_REGISTER, PLAN_OPERAND_SIGNED, 4, 0);
	assert_int_equal(operand_at(l, 0)->base, 5);
	check_operand(operand_at(l, 1), PLAN_OPERAND_CONSTANT, 0, 8, 7);
	counter = operand_at(l, 2)->value;
	check_operand(operand_at(l, 2), PLAN_OPERAND_MEMORY, PLAN_OPERAND_LAST, 4, counter);
	assert_int_equal(operand_at(l, 2)->base, PLAN_NO_REGISTER);
	assert_int_equal(operand_at(l, 2)->index, PLAN_NO_REGISTER);
	check_operand(operand_at(l, 3), PLAN_OPERAND_REGISTER, PLAN_OPERAND_LAST, 8, 0);
	assert_int_equal(operand_at(l, 3)->base, 4);
	assert_int_equal(l->operands.len, 4 * sizeof(struct plan_operand));
	assert_string_equal(events_txt(p), "EVENT: 1000000 app:args\nEVENT: 1000001 app:args\n");
	assert_int_equal(store_read(&p->memory.store, EVENT_DEFS_FILE, SIZE_MAX, &definitions), 0);
	assert_non_null(strstr(strbuf_str(&definitions),
			       "\nDECLARED: 1000000 sdt app%3Aargs -4+8+4\n"
			       "DECLARED: 1000001 sdt app%3Aargs 8\n"));
	/*
	 * In another process the variable has another address. Patches of this process follow the
	 * earlier ones.
	 */
	bind(l, 2 * BIAS);
	assert_int_equal(patch_at(l, 2)->operands, 5);
	assert_int_equal(patch_at(l, 3)->operands, 8);
	assert_int_equal(patch_at(l, 3)->event, EVENT_ID_USER + 1);
	check_operand(operand_at(l, 5), PLAN_OPERAND_CONSTANT, 0, 8, 7);
	assert_int_equal(operand_at(l, 6)->value, counter + BIAS);
	unload(l);
}

TEST_WITH(the_first_16_arguments_are_recorded, setup, teardown)
{
	struct place *p = *state;
	struct loaded *l = load(p, "app:m*");

	bind(l, BIAS);
	assert_int_equal(nr_patches(l), 2);
	assert_int_equal(l->operands.len, 32 * sizeof(struct plan_operand));
	for (size_t i = 0; i < 32; i++)
		assert_int_equal(operand_at(l, i)->flags, i % 16 == 15 ? PLAN_OPERAND_LAST : 0);
	assert_string_equal(complaints(p),
			    "event 'app:many' has 18 arguments: the first 16 are recorded\n");
	unload(l);
}

/* The message about the wrong probe comes once, and the other probes are found. */
TEST_WITH(a_probe_that_is_no_nop_is_left_out, setup, teardown)
{
	struct place *p = *state;
	struct loaded *l = load(p, "app:wrong;app:behind");
	char expected[1024];

	bind(l, BIAS);
	assert_int_equal(nr_patches(l), 1);
	check_patch(l, 0, probe(l, "behind", 0), BIAS);
	snprintf(expected, sizeof(expected),
		 "event 'app:wrong' is not recorded at %#llx in probed_wrong() of '%s': there is "
		 "no nop\n",
		 (unsigned long long)probe(l, "wrong", 0)->pc, probed);
	assert_string_equal(complaints(p), expected);
	assert_true(strbuf_list_has(&p->points.left_out, "app:wrong"));
	assert_string_equal(events_txt(p), "EVENT: 1000000 app:behind\n");
	unload(l);
}

TEST_WITH(an_event_without_a_number_is_left_out, setup, teardown)
{
	struct place *p = *state;
	struct loaded *l = load(p, "app:many;app:most");
	size_t nr = p->points.nr_events;

	p->points.nr_events = EVENT_USER_MAX;
	bind(l, BIAS);
	p->points.nr_events = nr;
	assert_int_equal(nr_patches(l), 0);
	assert_non_null(strstr(complaints(p), "event 'app:many' is not recorded at 0x"));
	assert_non_null(strstr(complaints(p), "event 'app:most' is not recorded at 0x"));
	assert_non_null(strstr(complaints(p), ": there are no numbers left for events\n"));
	assert_null(strstr(complaints(p), "arguments"));
	unload(l);
}

static void add_patch(struct loaded *l, uint64_t bias, uint64_t site, unsigned bytes,
		      unsigned clear)
{
	const struct plan_patch patch = {
		.load_bias = bias, .site = site, .bytes = bytes, .clear = clear
	};

	strbuf_add(&l->patches, &patch, sizeof(patch));
}

/*
 * A probe is left out even if it shares only one byte with the patch of a function. Patches of
 * other modules do not matter.
 */
TEST_WITH(a_probe_in_a_functions_patch_is_left_out, setup, teardown)
{
	struct place *p = *state;
	struct loaded *l = load(p, "app:begin");
	char expected[1024];
	uint64_t first;
	uint64_t second;

	/*
	 * A patch reaches to the end of its jump, or to the end of the moved bytes, if that is
	 * later.
	 */
	bind(l, BIAS);
	first = patch_at(l, 0)->site;
	second = patch_at(l, 1)->site;

	uint64_t reach = MAX(patch_at(l, 0)->bytes, patch_at(l, 0)->clear);

	strbuf_reset(&l->patches);
	add_patch(l, BIAS, first + reach, 5, 0);
	add_patch(l, BIAS, first - 5, 5, 3);
	add_patch(l, BIAS, second - 5, 3, 5);
	bind(l, BIAS);
	assert_int_equal(nr_patches(l), 5);
	assert_string_equal(complaints(p), "");

	strbuf_reset(&l->patches);
	add_patch(l, BIAS, first + reach - 1, 5, 0);
	add_patch(l, BIAS, second - 5, 5, 6);
	bind(l, BIAS);
	assert_int_equal(nr_patches(l), 2);
	snprintf(expected, sizeof(expected),
		 "some events of '%s' are not recorded, where they lie in the first bytes of a "
		 "function that is patched: option '--unpatch' leaves such a function alone\n",
		 probed);
	assert_string_equal(complaints(p), expected);

	strbuf_reset(&l->patches);
	add_patch(l, 0, first, 5, 0);
	bind(l, BIAS);
	assert_int_equal(nr_patches(l), 3);
	assert_string_equal(complaints(p), expected);
	unload(l);
}

TEST_WITH(a_file_that_cannot_be_read_is_told, setup, teardown)
{
	struct place *p = *state;
	struct loaded *l = load(p, "app:begin");

	free(l->known->path);
	l->known->path = strdup("/dev/null/none");
	bind(l, BIAS);
	bind(l, BIAS);
	assert_int_equal(nr_patches(l), 0);
	assert_non_null(strstr(complaints(p), "'/dev/null/none'"));
	/* The message comes once. */
	assert_ptr_equal(strchr(complaints(p), '\n'), strrchr(complaints(p), '\n'));
	unload(l);
}

int main(int argc, char *argv[])
{
	if (argc != 2)
		return 2;
	probed = argv[1];

	return unit_run();
}
