/* Programs that can be recorded, and the messages about others. */
#include "tests/unit/lib/elf_image.h"

#include <errno.h>
#include <sys/stat.h>

#include "arch/arch.h"
#include "cmds/record/run/program.h"
#include "utils/format/callables.h"

static char dir[64];

static int setup(void **state)
{
	strcpy(dir, "/tmp/utrail-program.XXXXXX");
	assert_non_null(mkdtemp(dir));
	return chdir(dir);
}

static int teardown(void **state)
{
	assert_int_equal(chdir("/"), 0);
	return rmdir(dir);
}

static void write_file(const char *name, const void *data, size_t len)
{
	int fd = open(name, O_CREAT | O_TRUNC | O_WRONLY | O_CLOEXEC, 0755);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, data, len), len);
	close(fd);
}

/* Makes the program ./it with this header, which refers to the function @symbol. */
static void make(const char *symbol, uint16_t type, uint16_t machine, bool is_static)
{
	struct elf_image img cleanup_image = { .has_interp = !is_static, .machine = machine };
	struct image_symbols s = { 0 };

	image_symbol(&s, symbol, 0, 0, ELF64_ST_INFO(STB_GLOBAL, STT_NOTYPE), SHN_UNDEF);
	image_symbol_sections(&img, &s, SHT_DYNSYM);
	image_finish(&img);
	((Elf64_Ehdr *)img.data.data)->e_type = type;
	write_file("it", img.data.data, img.data.len);
}

static struct record_program program;
static struct uft_err error;

static int find(const char *name, const struct opts *options)
{
	char *args[] = { (char *)name, "first", "second", NULL };
	struct opts opts = *options;

	err_clear(&error);
	opts.args = args;
	opts.nr_args = 3;
	program = (struct record_program){ 0 };
	int ret = record_program_find(&program, &opts, &error);

	assert_int_equal(program.argv != NULL, ret == 0);
	if (ret == 0) {
		assert_string_equal(program.argv[0], name);
		assert_string_equal(program.argv[1], "first");
		assert_string_equal(program.argv[2], "second");
		assert_null(program.argv[3]);
		record_program_deinit(&(struct record_program *){ &program });
		assert_null(program.argv);
	}
	return ret;
}

static struct patch_rules no_patches;
static const struct opts plain = { .rec.patches = &no_patches };

static void check_refused(const struct opts *opts, const char *text)
{
	assert_int_equal(find("./it", opts), -ENOEXEC);
	assert_non_null(strstr(error.text, text));
}

TEST(programs_with_hooks)
{
	make("mcount", ET_EXEC, arch_elf_machine, false);
	assert_int_equal(find("./it", &plain), 0);
	assert_string_equal(program.path, "./it");
	assert_true(program.facts.has_mcount);
	make("__fentry__", ET_DYN, arch_elf_machine, false);
	assert_int_equal(find("./it", &plain), 0);
	make("__cyg_profile_func_enter", ET_EXEC, arch_elf_machine, false);
	assert_int_equal(find("./it", &plain), 0);
	unlink("it");
	assert_int_equal(find("./it", &plain), -ENOENT);
}

/* A program without hooks is refused unless --force is set, or an option needs no hooks. */
TEST(programs_without_hooks)
{
	struct patch_rules patches = { 0 };
	struct opts opts = plain;

	make("puts", ET_EXEC, arch_elf_machine, false);
	check_refused(&plain, "cannot trace './it': it has no calls of 'mcount'; compile it with");
	opts.rec.force = true;
	assert_int_equal(find("./it", &opts), 0);
	opts = plain;
	opts.rec.nest_libcalls = true;
	assert_int_equal(find("./it", &opts), 0);
	opts = plain;
	opts.rec.proc_way = true;
	assert_int_equal(find("./it", &opts), 0);
	assert_int_equal(patch_rules_parse("main", MATCH_GLOB, &patches, NULL), 0);
	opts = plain;
	opts.rec.patches = &patches;
	assert_int_equal(find("./it", &opts), 0);
	patch_rules_deinit(&patches);
	unlink("it");
}

/* Rules that only take functions out are no source of records. */
TEST(only_taken_out)
{
	struct patch_rules patches = { 0 };
	struct opts opts = { .rec.patches = &patches };

	make("puts", ET_EXEC, arch_elf_machine, false);
	assert_int_equal(patch_rules_parse("main", MATCH_GLOB, &patches, NULL), 0);
	for (size_t i = 0; i < patches.nr; i++)
		patches.rules[i].takes_out = true;
	check_refused(&opts, "it has no calls of 'mcount'");
	patch_rules_deinit(&patches);
	unlink("it");
}

TEST(other_kinds)
{
	struct opts opts = plain;

	opts.rec.force = true;
	make("mcount", ET_REL, arch_elf_machine, false);
	check_refused(&opts, "cannot trace './it': ELF type 1 is not a program");
	make("mcount", ET_CORE, arch_elf_machine, false);
	check_refused(&opts, "ELF type 4 is not a program");
	make("mcount", ET_EXEC, arch_elf_machine, true);
	check_refused(&opts, "cannot trace './it': it is statically linked");
	make("mcount", ET_EXEC, EM_S390, false);
	check_refused(&opts, "cannot trace './it': it is for machine 22 with 64-bit words, this "
			     "utrail is for machine");
	write_file("it", "neither", 7);
	check_refused(&opts, "cannot trace './it': not a program for Linux (ELF)");
	opts.rec.proc_way = true;
	check_refused(&opts, "not a program for Linux (ELF)");
	make("mcount", ET_REL, arch_elf_machine, false);
	check_refused(&opts, "ELF type 1 is not a program");
	unlink("it");
}

/* Events of processes need no probe, so the program may be for any machine. */
TEST(processes_of_any_machine)
{
	struct opts opts = plain;

	opts.rec.proc_way = true;
	make("puts", ET_EXEC, EM_S390, true);
	assert_int_equal(find("./it", &opts), 0);
	assert_int_equal(program.facts.machine, EM_S390);
	assert_int_equal(program.facts.elf_class, arch_elf_class);
	assert_int_equal(program.facts.endian,
			 __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__ ? ELFDATA2MSB : ELFDATA2LSB);
	unlink("it");
}

/* The facts about a script are those of its interpreter. The path is that of the script. */
TEST(scripts)
{
	struct strbuf text cleanup_strbuf = { 0 };
	struct opts opts = plain;

	make("mcount", ET_EXEC, arch_elf_machine, false);
	strbuf_addf(&text, "#!%s/it\n", dir);
	write_file("script", text.data, text.len);
	assert_int_equal(find("./script", &plain), -ENOEXEC);
	assert_string_equal(error.text, "cannot trace './script': it is a script; use --force to "
					"trace the programs that it starts");
	opts.rec.force = true;
	assert_int_equal(find("./script", &opts), 0);
	assert_string_equal(program.path, "./script");
	assert_int_equal(program.facts.kind, OBJECT_ELF);
	assert_true(program.facts.has_mcount);
	opts = plain;
	opts.rec.proc_way = true;
	assert_int_equal(find("./script", &opts), 0);

	/* An error about the interpreter is reported as one about the script. */
	make("mcount", ET_EXEC, arch_elf_machine, true);
	opts = plain;
	opts.rec.force = true;
	assert_int_equal(find("./script", &opts), -ENOEXEC);
	assert_non_null(strstr(error.text, "cannot trace './script': it is statically linked"));
	unlink("it");
	assert_int_equal(find("./script", &opts), -ENOENT);
	assert_non_null(strstr(error.text, "/it'"));
	unlink("script");
}

/* As with pyenv, "python3" is a bash script that starts the interpreter. */
TEST(scripts_of_scripts)
{
	struct strbuf text cleanup_strbuf = { 0 };
	struct opts opts = plain;

	make("mcount", ET_EXEC, arch_elf_machine, false);
	strbuf_addf(&text, "#!%s/it\n", dir);
	write_file("python3", text.data, text.len);
	strbuf_reset(&text);
	strbuf_addf(&text, "#!%s/python3\n", dir);
	write_file("script", text.data, text.len);
	assert_int_equal(find("./script", &plain), 0);
	assert_int_equal(program.facts.kind, OBJECT_ELF);
	assert_true(program.facts.runs_python);
	assert_string_equal(program.path, "./script");

	/* If the script is not called python3, --force is needed. */
	assert_int_equal(rename("python3", "other"), 0);
	strbuf_reset(&text);
	strbuf_addf(&text, "#!%s/other\n", dir);
	write_file("script", text.data, text.len);
	assert_int_equal(find("./script", &plain), -ENOEXEC);
	opts.rec.force = true;
	assert_int_equal(find("./script", &opts), 0);

	/* "other" is its own interpreter, without end: the kernel refuses such scripts, too. */
	write_file("other", text.data, text.len);
	assert_int_equal(find("./script", &opts), -ELOOP);
	assert_non_null(strstr(error.text, "whose interpreter is one, too"));
	unlink("script");
	unlink("other");
	unlink("it");
}

TEST(test_names_of_python)
{
	static const char *const yes[] = { "python", "python3", "/usr/bin/python3.11",
					   "/opt/python3.12d", "python3-dbg" };
	static const char *const no[] = {
		"",	   "pytho",	  "/usr/bin/python-config", "python3x", "/python3/tool",
		"bpython", "python3-dbgx"
	};

	for (size_t i = 0; i < sizeof(yes) / sizeof(*yes); i++)
		assert_true(python_is_name(yes[i]));
	for (size_t i = 0; i < sizeof(no) / sizeof(*no); i++)
		assert_false(python_is_name(no[i]));
	assert_true(python_is_library("/usr/lib/libpython3.11.so.1.0"));
	assert_true(python_is_library("libpython3.9d.so.1.0"));
	assert_false(python_is_library("/libpython3.11/python"));
	assert_false(python_is_library("/usr/lib/libboost_python311.so"));
}

static int compare(int64_t integer, double real)
{
	uint64_t bits;

	memcpy(&bits, &real, sizeof(bits));
	return callable_compare(integer, bits);
}

TEST(test_integers_and_doubles)
{
	static const struct {
		int64_t integer;
		double real;
		int order;
	} cases[] = {
		{ 0, 0, 0 },
		{ 0, -0.0, 0 },
		{ 0, 5e-324, -1 },
		{ 0, -5e-324, 1 },
		{ 0, 0.5, -1 },
		{ 0, -0.999999, 1 },
		{ 1, 1, 0 },
		{ -1, -1, 0 },
		{ 1, 0.9999999999999999, 1 },
		{ 2, 2.5, -1 },
		{ 3, 2.5, 1 },
		{ -2, -2.5, 1 },
		{ -3, -2.5, -1 },
		{ 4503599627370497, 4503599627370497.0, 0 },
		{ 4503599627370496, 4503599627370495.5, 1 },
		{ 9007199254740993, 9007199254740992.0, 1 },
		{ INT64_MAX, 9223372036854775808.0, -1 },
		{ INT64_MAX, 9223372036854774784.0, 1 },
		{ INT64_MIN, -9223372036854775808.0, 0 },
		{ INT64_MIN + 1, -9223372036854775808.0, 1 },
		{ INT64_MIN, -9223372036854777856.0, 1 },
		{ INT64_MIN, -1e300, 1 },
		{ INT64_MAX, 1e300, -1 },
		{ INT64_MAX, __builtin_inf(), -1 },
		{ INT64_MIN, -__builtin_inf(), 1 },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
		assert_int_equal(compare(cases[i].integer, cases[i].real), cases[i].order);
}

TEST(test_numbers_of_texts)
{
	static const struct {
		const char *text;
		bool is;
		int64_t number;
	} cases[] = {
		{ "0", true, 0 },
		{ "-1", true, -1 },
		{ "True", true, 1 },
		{ "False", true, 0 },
		{ "", false, 0 },
		{ "-", false, 0 },
		{ "1.5", false, 0 },
		{ "'1'", false, 0 },
		{ "12...", false, 0 },
		{ "9223372036854775807", true, INT64_MAX },
		{ "-9223372036854775808", true, INT64_MIN },
		{ "9223372036854775808", false, 0 },
		{ "-9223372036854775809", false, 0 },
		{ "99999999999999999999", false, 0 },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		int64_t number = 77;

		assert_int_equal(
			callable_text_number(cases[i].text, strlen(cases[i].text), &number),
			cases[i].is);
		if (cases[i].is)
			assert_int_equal(number, cases[i].number);
	}
}

TEST_GROUP(setup, teardown)
