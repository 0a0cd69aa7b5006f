/* Launchers: small programs whose code is in a large library. All files are made by hand. */
#include "tests/unit/lib/unit.h"

#include <ftw.h>
#include <limits.h>
#include <sys/stat.h>

#include "tests/unit/lib/elf_image.h"

#include "cmds/record/run/launcher.h"

#define KB (1ULL << 10)
#define MB (1ULL << 20)

/* @files: the modules that the recorder knows; the last one was added first */
struct place {
	char dir[64];
	struct patch_rules rules;
	struct record_settings settings;
	struct recorder rec;
	struct known_module files[4];
	char paths[4][PATH_MAX];
	unsigned nr;
};

static int setup(void **state)
{
	struct place *p = calloc(1, sizeof(*p));

	assert_non_null(p);
	strcpy(p->dir, "/tmp/utrail-unit-XXXXXX");
	assert_non_null(mkdtemp(p->dir));
	assert_int_equal(patch_rules_parse("*", MATCH_GLOB, &p->rules, NULL), 0);
	p->settings.patches = &p->rules;
	p->rec.settings = &p->settings;
	*state = p;
	return 0;
}

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	return remove(path);
}

static int teardown(void **state)
{
	struct place *p = *state;

	patch_rules_deinit(&p->rules);
	nftw(p->dir, remove_one, 16, FTW_DEPTH | FTW_PHYS);
	free(p);
	return 0;
}

/*
 * Make the file @name with two sections of code, which have @bytes together, and one of data. The
 * sections take no room in the file.
 */
static void make_file(const struct place *p, const char *name, uint64_t bytes, char path[PATH_MAX])
{
	struct elf_image img cleanup_image = { 0 };
	Elf64_Shdr head = { .sh_type = SHT_NOBITS, .sh_flags = SHF_ALLOC | SHF_EXECINSTR };
	FILE *file;

	head.sh_size = bytes / 3;
	image_section(&img, ".init", head, "", 0);
	head.sh_size = bytes - bytes / 3;
	image_section(&img, ".text", head, "", 0);
	head.sh_flags = SHF_ALLOC | SHF_WRITE;
	head.sh_size = 1 << 30;
	image_section(&img, ".bss", head, "", 0);
	image_finish(&img);
	snprintf(path, PATH_MAX, "%s/%s", p->dir, name);
	file = fopen(path, "we");
	assert_non_null(file);
	assert_int_equal(fwrite(img.data.data, 1, img.data.len, file), img.data.len);
	assert_int_equal(fclose(file), 0);
}

static void know(struct place *p, const char *path)
{
	struct known_module *m = &p->files[p->nr];

	m->path = p->paths[p->nr++];
	if (!realpath(path, m->path))
		strcpy(m->path, path);
	m->next = p->rec.planner.modules.first;
	p->rec.planner.modules.first = m;
}

/* Make a file with @bytes of code, which the recorder then knows, too. */
static void add_file(struct place *p, const char *name, uint64_t bytes)
{
	char path[PATH_MAX];

	make_file(p, name, bytes, path);
	know(p, path);
}

static void forget_files(struct place *p)
{
	p->nr = 0;
	p->rec.planner.modules.first = NULL;
}

/* Check the sentence after the program's path; an empty one: there is no sentence. */
static void check(struct place *p, const char *path, const char *expected)
{
	struct strbuf out cleanup_strbuf = { 0 };
	char sentence[PATH_MAX + 256];

	launcher_describe(&p->rec, path, &out);
	snprintf(sentence, sizeof(sentence), *expected ? "'%s'%s" : "", path, expected);
	assert_string_equal(strbuf_str(&out), sentence);
}

#define OF_LIBJVM(kb, mb)                                                 \
	" has " kb " kB of code, its library 'libjvm.so' has " mb " MB: " \
	"-P .@libjvm records that one"

TEST_WITH(sizes_decide, setup, teardown)
{
	static const struct {
		uint64_t own, library;
		const char *expected;
	} cases[] = {
		{ 1 * KB, 1 * MB, OF_LIBJVM("1", "1") },
		{ 1 * KB, 1 * MB - 1, "" },
		{ 1, 2 * MB - 1, OF_LIBJVM("1", "1") },
		{ 1 * KB + 1, 20 * MB, OF_LIBJVM("2", "20") },
		{ 512 * KB, 8 * MB, OF_LIBJVM("512", "8") },
		{ 512 * KB, 8 * MB - 1, "" },
		{ 512 * KB + 1, 64 * MB, "" },
		{ 100 * KB, 1600 * KB, OF_LIBJVM("100", "1") },
		{ 100 * KB, 1600 * KB - 1, "" },
		{ 0, 64 * MB, "" },
	};
	struct place *p = *state;
	char path[PATH_MAX];

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		make_file(p, "java", cases[i].own, path);
		forget_files(p);
		know(p, path);
		add_file(p, "libjvm.so", cases[i].library);
		check(p, path, cases[i].expected);
	}
}

TEST_WITH(names_decide, setup, teardown)
{
	static const struct {
		const char *name;
		const char *expected;
	} cases[] = {
		{ "libc.so.6", NULL },
		{ "libc-2.31.so", NULL },
		{ "libc.musl-x86_64.so.1", NULL },
		{ "libm.so.6", NULL },
		{ "libm-2.31.so", NULL },
		{ "libstdc++.so.6", NULL },
		{ "libgcc_s.so.1", NULL },
		{ "ld-linux-x86-64.so.2", NULL },
		{ "libmcount.so", NULL },
		{ "libcrypto.so.3", NULL },
		{ "libicudata.so.70", NULL },
		{ "data.bin", NULL },
		{ "libcurl.so.4", "libcurl" },
		{ "mylibc.so", "mylibc" },
		{ "plugin-so.1.so", "plugin-so" },
	};
	struct place *p = *state;
	char path[PATH_MAX];
	char expected[256];

	make_file(p, "start", 4 * KB, path);
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		forget_files(p);
		add_file(p, cases[i].name, 3 * MB);
		snprintf(expected, sizeof(expected),
			 " has 4 kB of code, its library '%s' has 3 MB: -P .@%s records that one",
			 cases[i].name, cases[i].expected);
		check(p, path, cases[i].expected ? expected : "");
	}
}

/* The largest library is neither the first nor the last in the recorder's list of files. */
TEST_WITH(the_largest_library_is_named, setup, teardown)
{
	static const char BIG[] = " has 4 kB of code, its library 'libbig.so' has 9 MB: "
				  "-P .@libbig records that one";
	struct place *p = *state;
	char path[PATH_MAX];

	make_file(p, "start", 4 * KB, path);
	add_file(p, "libone.so", 8 * MB);
	add_file(p, "libbig.so", 9 * MB);
	add_file(p, "libtwo.so", 2 * MB);
	know(p, "/nowhere/libnone.so");
	check(p, path, BIG);
}

/* A program may have a name like a library. It may be started by a link, too. */
TEST_WITH(the_program_is_no_library_of_its_own, setup, teardown)
{
	struct place *p = *state;
	char path[PATH_MAX];
	char link[PATH_MAX];

	make_file(p, "start.so", 64 * KB, path);
	snprintf(link, sizeof(link), "%.64s/link", p->dir);
	assert_int_equal(symlink("start.so", link), 0);
	know(p, path);
	check(p, path, "");
	add_file(p, "libjvm.so", 2 * MB);
	check(p, link, OF_LIBJVM("64", "2"));
	check(p, "/nowhere/start", "");
}

/* The large library is named only if -P inserts hooks, and only into the program. */
TEST_WITH(rules_decide, setup, teardown)
{
	static const struct {
		const char *rules;
		bool is_told;
	} cases[] = {
		{ "*", true },	  { "!*", false },  { "*@libjvm", false },  { "a;b@lib", false },
		{ "a;!b", true }, { "!a;b", true }, { "!a@libx;b", false },
	};
	struct place *p = *state;
	char path[PATH_MAX];

	make_file(p, "java", 4 * KB, path);
	add_file(p, "libjvm.so", 2 * MB);
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		patch_rules_deinit(&p->rules);
		p->rules = (struct patch_rules){ 0 };
		assert_int_equal(patch_rules_parse(cases[i].rules, MATCH_GLOB, &p->rules, NULL), 0);
		check(p, path, cases[i].is_told ? OF_LIBJVM("4", "2") : "");
	}
	patch_rules_deinit(&p->rules);
	p->rules = (struct patch_rules){ 0 };
	check(p, path, "");
}
