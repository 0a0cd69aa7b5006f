/* Watched variables: the ones that are found, their addresses, and the messages about others. */
#include "tests/unit/lib/elf_image.h"

#include <errno.h>

#include "cmds/record/plan/watches.h"

#define OBJECT	 ELF64_ST_INFO(STB_GLOBAL, STT_OBJECT)
#define FUNCTION ELF64_ST_INFO(STB_GLOBAL, STT_FUNC)
#define BIAS	 0x7000000

static char path[64];
static int file = -1;
static struct filters filters;
static struct watch_spec watch;
static const struct record_settings settings = { .filters = &filters, .watch = &watch };

static int setup(void **state)
{
	struct elf_image img cleanup_image = { .has_interp = true };
	struct image_symbols s = { 0 };
	unsigned data = image_section(&img, ".data",
				      (Elf64_Shdr){ .sh_type = SHT_PROGBITS,
						    .sh_addr = IMAGE_BASE + 0x1000,
						    .sh_flags = SHF_ALLOC | SHF_WRITE },
				      "0123456789abcdef0123456789abcdef", 32);

	image_symbol(&s, "counter", IMAGE_BASE + 0x1000, 8, OBJECT, data);
	image_symbol(&s, "flag", IMAGE_BASE + 0x1008, 1, OBJECT, data);
	image_symbol(&s, "large", IMAGE_BASE + 0x1010, 9, OBJECT, data);
	image_symbol(&s, "empty", IMAGE_BASE + 0x100a, 0, OBJECT, data);
	image_symbol(&s, "flagger", IMAGE_BASE + 0x1019, 4, FUNCTION, data);
	image_symbol_sections(&img, &s, SHT_SYMTAB);
	image_finish(&img);
	file = image_file(img.data.data, img.data.len, path);
	return 0;
}

static int teardown(void **state)
{
	close(file);
	return 0;
}

static void watches(char **names, size_t nr)
{
	watch.vars = names;
	watch.nr_vars = nr;
}

TEST(good_names)
{
	watches((char *[]){ "flag", "counter" }, 2);
	assert_int_equal(watches_check(&settings, path, NULL), 0);
	/* Without variables the program's symbols are not read. */
	watches(NULL, 0);
	assert_int_equal(watches_check(&settings, "/nothing", NULL), 0);
}

static void check_bad(char *name, const char *text)
{
	struct strbuf expected cleanup_strbuf = { 0 };
	struct uft_err err = { 0 };

	watches((char *[]){ "flag", name }, 2);
	strbuf_addf(&expected, "option '--watch': '%s' has no variable '%s' of at most 8 bytes%s",
		    path, name, text);
	assert_int_equal(watches_check(&settings, path, &err), -ENOENT);
	assert_memory_equal(err.text, strbuf_str(&expected), expected.len);
}

/*
 * A symbol without a size, or with a size that is too large, is no variable and is not suggested.
 */
TEST(bad_names)
{
	check_bad("large", "");
	check_bad("empty", "");
	check_bad("flagger", "; the nearest: flag");
	check_bad("countr", "; the nearest: counter");
}

TEST(bad_files)
{
	struct uft_err err = { 0 };

	watches((char *[]){ "flag" }, 1);
	assert_int_equal(watches_check(&settings, "/dev/null", &err), -ENOENT);
	assert_string_equal(err.text, "option '--watch': '/dev/null' has no symbols");
}

TEST(too_many)
{
	char *names[PLAN_WATCHES_MAX + 1];
	struct uft_err err = { 0 };

	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		names[i] = "flag";
	watches(names, PLAN_WATCHES_MAX);
	assert_int_equal(watches_check(&settings, path, NULL), 0);
	watches(names, PLAN_WATCHES_MAX + 1);
	assert_int_equal(watches_check(&settings, path, &err), -ERR_USAGE);
	assert_non_null(strstr(err.text, "variables can be watched"));
}

/* Variables have the order of the user's names, and their addresses in the process. */
TEST(in_a_process)
{
	struct plan_entries plan cleanup_plan_entries = { 0 };
	struct control_module *module = calloc(1, sizeof(*module) + sizeof(path));
	const struct plan_watch *list;

	assert_non_null(module);
	module->start = BIAS;
	strcpy(module->path, path);
	watches((char *[]){ "flag", "large", "nothing", "counter" }, 4);
	watches_bind(&settings, module, &plan);
	assert_int_equal(plan_entries_nr(&plan, PLAN_WATCHES), 2);
	list = (const struct plan_watch *)plan.lists[PLAN_WATCHES].data;
	assert_int_equal(list[0].addr, BIAS + 0x1008);
	assert_int_equal(list[0].bytes, 1);
	assert_int_equal(list[1].addr, BIAS + 0x1000);
	assert_int_equal(list[1].bytes, 8);

	/* First a file without symbols, then no variable to watch. */
	strcpy(module->path, "/dev/null");
	watches_bind(&settings, module, &plan);
	strcpy(module->path, path);
	watches(NULL, 0);
	watches_bind(&settings, module, &plan);
	assert_int_equal(plan_entries_nr(&plan, PLAN_WATCHES), 2);
	free(module);
}

TEST_GROUP(setup, teardown)
