/*
 * Functions in plans: those that are listed, their rules and modules, and the effect of settings on
 * them.
 */
#include "tests/unit/lib/elf_image.h"

#include "cmds/record/plan/image_plan.h"
#include "cmds/record/plan/plan.h"
#include "tests/unit/lib/record/store_memory.h"

#define FUNCTION ELF64_ST_INFO(STB_GLOBAL, STT_FUNC)
#define BIAS	 0x7000000

static char path[64];
static int file = -1;

/* Functions: small at 0x1000 of 8 bytes, middle at 0x1010 of 32, large at 0x1040 of 64. */
static int make_file(void **state)
{
	struct elf_image img cleanup_image = { .has_interp = true };
	struct image_symbols s = { 0 };
	char code[128] = { 0 };
	unsigned text = image_section(&img, ".text",
				      (Elf64_Shdr){ .sh_type = SHT_PROGBITS,
						    .sh_addr = IMAGE_BASE + 0x1000,
						    .sh_flags = SHF_ALLOC | SHF_EXECINSTR },
				      code, sizeof(code));

	image_symbol(&s, "small", IMAGE_BASE + 0x1000, 8, FUNCTION, text);
	image_symbol(&s, "middle", IMAGE_BASE + 0x1010, 32, FUNCTION, text);
	image_symbol(&s, "large", IMAGE_BASE + 0x1040, 64, FUNCTION, text);
	image_symbol_sections(&img, &s, SHT_SYMTAB);
	image_finish(&img);
	file = image_file(img.data.data, img.data.len, path);
	return 0;
}

static int close_file(void **state)
{
	close(file);
	return 0;
}

struct place {
	struct store_memory memory;
	struct filters filters;
	struct watch_spec watch;
	struct event_rules events;
	struct patch_rules patches;
	struct record_settings settings;
	struct planner planner;
	struct known_module *known;
	union {
		struct control_module m;
		char bytes[sizeof(struct control_module) + 64];
	} module;
};

static int setup(void **state)
{
	struct place *p = calloc(1, sizeof(*p));

	assert_non_null(p);
	store_memory_init(&p->memory);
	p->settings = (struct record_settings){
		.filters = &p->filters,
		.watch = &p->watch,
		.events = &p->events,
		.patches = &p->patches,
	};
	planner_init(&p->planner, &p->settings, &p->memory.store);
	p->module.m.start = BIAS;
	p->module.m.end = BIAS + 0x2000;
	p->module.m.has_text = 1;
	strcpy(p->module.m.path, path);
	p->known = known_module_get(&p->planner.modules, path);
	assert_non_null(p->known);
	p->known->has_functions = true;
	*state = p;
	return 0;
}

static int teardown(void **state)
{
	struct place *p = *state;

	planner_deinit(&p->planner);
	filters_deinit(&p->filters);
	store_memory_deinit(&p->memory);
	free(p);
	return 0;
}

static void add(struct place *p, enum spec_option option, const char *text)
{
	assert_int_equal(filters_add(&p->filters, option, MATCH_GLOB, text, NULL), 0);
}

/* After this no more rules are added. */
static void prepare(struct place *p)
{
	assert_int_equal(filters_prepare(&p->filters, NULL), 0);
}

/*
 * Returns "NAME:RULE" with the flags of the rule; "-" is none. @is_late: a module that is loaded
 * later
 */
static const char *planned(struct place *p, bool is_late)
{
	static char text[512];
	struct plan_entries plan cleanup_plan_entries = { 0 };
	struct control_module *modules[] = { &p->module.m };
	const struct plan_func *funcs;
	const struct plan_rule *rules;
	size_t at = 0;

	plan_make(&p->planner, modules, 1, !is_late, &plan);
	funcs = (const struct plan_func *)plan.lists[PLAN_FUNCS].data;
	rules = (const struct plan_rule *)plan.lists[PLAN_RULES].data;
	text[0] = '\0';
	for (size_t i = 0; i < plan_entries_nr(&plan, PLAN_FUNCS); i++) {
		const char *name = funcs[i].start == BIAS + 0x1000   ? "small"
				   : funcs[i].start == BIAS + 0x1010 ? "middle"
				   : funcs[i].start == BIAS + 0x1040 ? "large"
								     : "?";

		assert_int_equal(funcs[i].end - funcs[i].start, name[0] == 's'	 ? 8
								: name[0] == 'm' ? 32
										 : 64);
		at += sprintf(text + at, "%s%s:", at ? " " : "", name);
		if (funcs[i].rule == PLAN_NO_RULE)
			at += sprintf(text + at, "-");
		else if (funcs[i].rule < plan_entries_nr(&plan, PLAN_RULES))
			at += sprintf(text + at, "%x", rules[funcs[i].rule].flags);
		else
			fail_msg("there is no such rule");
	}
	return text;
}

/* Without rules, functions are not even read from the file. */
TEST_WITH(nothing_to_say, setup, teardown)
{
	struct place *p = *state;

	assert_string_equal(planned(p, false), "");
	assert_false(p->known->is_bound);
	assert_string_equal(planned(p, true), "");
}

/* Functions are listed in the order of their addresses. */
TEST_WITH(rules_of_functions, setup, teardown)
{
	struct place *p = *state;

	add(p, SPEC_FILTER, "large");
	add(p, SPEC_TRIGGER, "small@depth=2");
	prepare(p);
	assert_string_equal(planned(p, false), "small:4 large:1");
	assert_true(p->known->is_bound);
	/*
	 * A file is bound once, for all processes; its functions have other addresses in each of
	 * them.
	 */
	assert_string_equal(planned(p, false), "small:4 large:1");
	/* A module that is loaded later gets a list of its own. */
	assert_string_equal(planned(p, true), "small:4 large:1");
	/* A module that cannot have records lists no functions, nor does one without text. */
	p->known->has_functions = false;
	assert_string_equal(planned(p, false), "");
	assert_string_equal(planned(p, true), "");
	p->known->has_functions = true;
	p->module.m.has_text = 0;
	assert_string_equal(planned(p, false), "");
	assert_string_equal(planned(p, true), "");
}

TEST_WITH(while_it_is_off, setup, teardown)
{
	struct place *p = *state;

	add(p, SPEC_FILTER, "large");
	prepare(p);
	p->planner.is_off = true;
	assert_string_equal(planned(p, false), "");
	assert_string_equal(planned(p, true), "");
	p->planner.is_off = false;
	assert_string_equal(planned(p, false), "large:1");
}

/* Functions below the largest requested size are listed, to tell them from larger ones. */
TEST_WITH(sizes, setup, teardown)
{
	struct place *p = *state;

	p->settings.size_filter = 8;
	assert_string_equal(planned(p, false), "");
	planner_forget(&p->planner);
	p->settings.size_filter = 9;
	assert_string_equal(planned(p, false), "small:-");
	/* The settings are not read again until the plan is forgotten. */
	p->settings.size_filter = 33;
	assert_string_equal(planned(p, false), "small:-");
	planner_forget(&p->planner);
	assert_false(p->known->is_bound);
	assert_string_equal(planned(p, false), "small:- middle:-");
	add(p, SPEC_TRIGGER, "small@size=65");
	prepare(p);
	planner_forget(&p->planner);
	assert_string_equal(planned(p, false), "small:10 middle:- large:-");
}

/*
 * A function that is opted in and out is out. Something was opted in, so functions without a rule
 * are not recorded either.
 */
TEST_WITH(opted_in_and_out, setup, teardown)
{
	struct plan_entries plan cleanup_plan_entries = { 0 };
	struct place *p = *state;
	struct control_module *modules[] = { &p->module.m };

	add(p, SPEC_FILTER, "large;!large");
	prepare(p);
	plan_make(&p->planner, modules, 1, true, &plan);
	assert_int_equal(plan_entries_nr(&plan, PLAN_FUNCS), 1);
	assert_int_equal(plan_entries_nr(&plan, PLAN_RULES), 2);
	assert_int_equal(((const struct plan_rule *)plan.lists[PLAN_RULES].data)[0].flags,
			 PLAN_NOTRACE);
	assert_int_equal(((const struct plan_rule *)plan.lists[PLAN_RULES].data)[1].flags,
			 PLAN_FILTER);
}

TEST_WITH(only_opted_out, setup, teardown)
{
	struct plan_entries plan cleanup_plan_entries = { 0 };
	struct place *p = *state;
	struct control_module *modules[] = { &p->module.m };

	add(p, SPEC_FILTER, "!large");
	prepare(p);
	plan_make(&p->planner, modules, 1, true, &plan);
	assert_int_equal(plan_entries_nr(&plan, PLAN_FUNCS), 1);
	assert_int_equal(plan_entries_nr(&plan, PLAN_RULES), 1);
}

static void leave_out(struct place *p, uint64_t start, uint64_t end, bool is_back)
{
	const struct module_left_out left = {
		.func = { .start = start, .end = end, .rule = 7, .capture = PLAN_NO_CAPTURE },
		.is_back = is_back,
	};

	assert_int_equal(known_left_out_add(p->known, &left), 0);
}

/*
 * A function that is left out for its cost has no other rule. One that is recorded again is like
 * any other.
 */
TEST_WITH(left_out, setup, teardown)
{
	struct place *p = *state;

	leave_out(p, 0x1040, 0x1080, false);
	leave_out(p, 0x1010, 0x1030, true);
	assert_string_equal(planned(p, false), "large:10000");
	assert_string_equal(planned(p, true), "large:10000");
	/* A function that would be listed for its size is not listed when it is left out. */
	p->settings.size_filter = 100;
	assert_string_equal(planned(p, false), "small:- middle:- large:10000");
	assert_string_equal(planned(p, true), "small:- middle:- large:10000");
	p->planner.is_off = true;
	assert_string_equal(planned(p, false), "");
}

TEST_WITH(left_out_with_a_rule, setup, teardown)
{
	struct place *p = *state;

	leave_out(p, 0x1000, 0x1008, false);
	leave_out(p, 0x1040, 0x1080, false);
	add(p, SPEC_FILTER, "small");
	prepare(p);
	assert_string_equal(planned(p, false), "small:1 large:10000");
}

/* --- the effect of settings --- */

TEST_WITH(sizes_of_settings, setup, teardown)
{
	struct place *p = *state;

	assert_int_equal(settings_smallest_size(&p->settings), 0);
	p->settings.size_filter = 50;
	assert_int_equal(settings_smallest_size(&p->settings), 50);
	add(p, SPEC_TRIGGER, "f@size=60;g@depth=1");
	assert_int_equal(settings_smallest_size(&p->settings), 50);
	add(p, SPEC_TRIGGER, "h@size=40");
	assert_int_equal(settings_smallest_size(&p->settings), 40);
}

TEST_WITH(held_back, setup, teardown)
{
	struct place *p = *state;

	assert_false(settings_hold_back(&p->settings));
	p->settings.threshold_ns = 1;
	assert_true(settings_hold_back(&p->settings));
	p->settings.threshold_ns = 0;
	add(p, SPEC_TRIGGER, "f@depth=1");
	assert_false(settings_hold_back(&p->settings));
	add(p, SPEC_TRIGGER, "f@time=1us");
	assert_true(settings_hold_back(&p->settings));
}

TEST_WITH(held_back_for_callers, setup, teardown)
{
	struct place *p = *state;

	add(p, SPEC_CALLER, "f");
	assert_true(settings_hold_back(&p->settings));
}

TEST_WITH(who_can_finish, setup, teardown)
{
	struct place *p = *state;

	assert_false(settings_can_finish(&p->settings));
	add(p, SPEC_TRIGGER, "f@depth=1");
	assert_false(settings_can_finish(&p->settings));
	add(p, SPEC_TRIGGER, "f@finish");
	assert_true(settings_can_finish(&p->settings));
}

TEST_WITH(signals_that_finish, setup, teardown)
{
	struct place *p = *state;

	p->settings.signals.on = 4;
	assert_false(settings_can_finish(&p->settings));
	p->settings.signals.finish = 4;
	assert_true(settings_can_finish(&p->settings));
}

/* Each of these settings alone makes a difference between functions or calls. */
TEST_WITH(selective, setup, teardown)
{
	struct place *p = *state;
	struct record_settings *set = &p->settings;

	assert_false(settings_are_selective(set));
	set->size_filter = 1;
	assert_true(settings_are_selective(set));
	set->size_filter = 0;
	set->estimates_return = true;
	assert_true(settings_are_selective(set));
	set->estimates_return = false;
	set->signals.on = 1;
	assert_true(settings_are_selective(set));
	set->signals.on = 0;
	set->signals.off = 1;
	assert_true(settings_are_selective(set));
	set->signals.off = 0;
	set->signals.finish = 1;
	assert_true(settings_are_selective(set));
	set->signals.finish = 0;
	p->watch.cpu = true;
	assert_true(settings_are_selective(set));
	p->watch.cpu = false;
	p->watch.nr_vars = 1;
	assert_true(settings_are_selective(set));
	p->watch.nr_vars = 0;
	set->captures.is_auto = true;
	assert_true(settings_are_selective(set));
	set->captures.is_auto = false;
	assert_false(settings_are_selective(set));
	add(p, SPEC_FILTER, "f");
	assert_true(settings_are_selective(set));
}

static uint32_t let_in(struct place *p)
{
	struct plan plan = { .flags = PLAN_OPT_IN_LOCATION | PLAN_TRACE_OFF };

	p->settings.trace_on = true;
	image_plan_choose(&plan, &p->settings, true);
	return plan.flags;
}

TEST_WITH(what_is_let_in, setup, teardown)
{
	struct place *p = *state;

	assert_int_equal(let_in(p), 0);
	add(p, SPEC_FILTER, "!f");
	assert_int_equal(let_in(p), 0);
	add(p, SPEC_FILTER, "f");
	assert_int_equal(let_in(p), PLAN_OPT_IN_FILTER);
	add(p, SPEC_CALLER, "g");
	assert_int_equal(let_in(p), PLAN_OPT_IN_FILTER | PLAN_OPT_IN_CALLER);
	add(p, SPEC_LOCATION, "a.c");
	assert_int_equal(let_in(p), PLAN_OPT_IN_FILTER | PLAN_OPT_IN_CALLER | PLAN_OPT_IN_LOCATION);
}

/*
 * Library calls of the program are recorded, and those of libraries on request; calls within the C
 * library and its parts are not.
 */
TEST_WITH(library_calls, setup, teardown)
{
	struct place *p = *state;

	assert_false(plan_has_calls(&p->settings, "/a/prog", true));
	p->settings.use_libcalls = true;
	assert_true(plan_has_calls(&p->settings, "/a/prog", true));
	assert_false(plan_has_calls(&p->settings, "/a/libz.so.1", false));
	p->settings.nest_libcalls = true;
	assert_true(plan_has_calls(&p->settings, "/a/libz.so.1", false));
	assert_false(plan_has_calls(&p->settings, "/a/libc.so.6", false));
	p->settings.use_libcalls = false;
	assert_false(plan_has_calls(&p->settings, "/a/libz.so.1", false));
}

/* An empty plan has no image. Any other plan has one, and it can be read back. */
TEST_WITH(images, setup, teardown)
{
	struct plan_entries plan cleanup_plan_entries = { 0 };
	const struct plan_watch watch = { 0x1234, 4 };
	struct plan_view view = { 0 };
	void *bytes;
	off_t len;
	int fd;

	assert_int_equal(plan_memfd(&plan), -1);
	strbuf_add(&plan.lists[PLAN_WATCHES], &watch, sizeof(watch));
	assert_int_equal(plan_entries_nr(&plan, PLAN_WATCHES), 1);
	assert_int_equal(plan_entries_nr(&plan, PLAN_FUNCS), 0);
	fd = plan_memfd(&plan);
	assert_true(fd >= 0);
	len = lseek(fd, 0, SEEK_END);
	bytes = mmap(NULL, len, PROT_READ, MAP_PRIVATE, fd, 0);
	assert_true(bytes != MAP_FAILED);
	assert_int_equal(plan_open(&view, bytes, len, NULL), 0);
	assert_int_equal(view.lists[PLAN_WATCHES].nr, 1);
	assert_memory_equal(view.lists[PLAN_WATCHES].entries, &watch, sizeof(watch));
	munmap(bytes, len);
	close(fd);
}

TEST_GROUP(make_file, close_file)
