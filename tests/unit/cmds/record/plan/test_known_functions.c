/*
 * Facts found out about a file, kept as an image: they are read back unchanged, and a damaged image
 * is refused.
 */
#include "tests/unit/lib/unit.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cmds/record/plan/found_patch.h"
#include "cmds/record/plan/functions_cache.h"
#include "utils/base/compiler.h"

/* The library made of lib/probe/shapes.c, which has functions of all shapes. */
static const char *shapes;

struct made {
	struct elf_file file;
	struct unprepared u;
	struct symtab names;
	struct functions_key key;
	struct known_functions known;
};

static int begin(void **state)
{
	struct made *m = calloc(1, sizeof(*m));
	int ret;

	assert_non_null(m);
	*state = m;
	m->file = (struct elf_file)ELF_FILE_CLOSED;
	assert_int_equal(elf_file_open(&m->file, shapes, NULL), 0);
	ret = unprepared_open(&m->u, &m->file, shapes, NULL, NULL);
	if (ret == -ENOSYS)
		skip_because("this build knows no instructions of this machine");
	assert_int_equal(ret, 0);
	functions_cache_key(&m->file, shapes, &m->names, &m->key);
	strcpy(m->key.build_id, "0123456789abcdef");
	assert_int_equal(known_functions_make(&m->known, &m->u, &m->names, 0, &m->key, NULL), 0);
	return 0;
}

static int end(void **state)
{
	struct made *m = *state;

	known_functions_deinit(&m->known);
	unprepared_close(&m->u);
	elf_file_close(&m->file);
	free(m);
	return 0;
}

struct comparison {
	const struct known_functions *known;
	const struct function *first;
	size_t nr;
	size_t nr_patches;
};

static void compare(const struct function *function, const struct unprepared_verdict *verdict,
		    const struct strbuf *found, void *arg)
{
	struct comparison *c = arg;
	size_t index = function - c->first;
	const struct known_function *known = &c->known->list[index];
	const char *why_not = known_function_why_not(c->known, index);
	struct strbuf patches cleanup_strbuf = { 0 };

	/* Functions with this verdict are looked at again later, and may get another one. */
	if (known->way == UNPREPARED_ISLAND && verdict->way != UNPREPARED_ISLAND)
		return;
	assert_int_equal(known->start, function->start);
	assert_int_equal(known->start + known->len, function->end);
	assert_int_equal(known->kind, function->kind);
	assert_int_equal(known->way, verdict->way);
	assert_string_equal(why_not ? why_not : "", verdict->why_not);
	if (function->name)
		assert_string_equal(known_function_name(c->known, index), function->name);
	known_function_add_patches(c->known, index, &patches);
	assert_int_equal(patches.len, found->len);

	const struct found_patch *a = (const struct found_patch *)patches.data;
	const struct found_patch *b = (const struct found_patch *)found->data;

	for (size_t i = 0; i < found->len / sizeof(*a); i++) {
		assert_memory_equal(&a[i].patch, &b[i].patch, sizeof(a[i].patch));
		assert_int_equal(a[i].code.from, b[i].code.from);
		assert_int_equal(a[i].code.taken, b[i].code.taken);
		assert_int_equal(a[i].code.len, b[i].code.len);
		assert_int_equal(a[i].code.ret_at, b[i].code.ret_at);
		assert_true(!a[i].code.ret_at || a[i].code.ret == b[i].code.ret);
		assert_int_equal(a[i].code.ends, b[i].code.ends);
		assert_int_equal(a[i].code.nr_fixes, b[i].code.nr_fixes);
		assert_memory_equal(a[i].code.fixes, b[i].code.fixes, a[i].code.nr_fixes);
		assert_memory_equal(a[i].code.bytes, b[i].code.bytes, a[i].code.len);
		assert_int_equal(a[i].func, b[i].func);
		c->nr_patches++;
	}
	c->nr++;
}

TEST_WITH(it_says_the_same, begin, end)
{
	struct made *m = *state;
	struct known_functions again cleanup_known_functions = { 0 };
	struct comparison c = { .known = &again, .first = m->u.functions.list };
	struct strbuf image = { 0 };

	strbuf_add(&image, m->known.image.data, m->known.image.len);
	assert_true(known_functions_take(&again, &image, &m->key));
	assert_null(image.data);
	assert_int_equal(unprepared_find_all(&m->u, compare, &c, NULL), 0);
	assert_int_equal(c.nr, again.nr);
	assert_true(c.nr > 5 && c.nr_patches > 5);
}

/* Make the image of @path with the threads and portions that @work states. */
static void make_with(const char *path, struct code_work work, struct known_functions *known)
{
	struct elf_file file cleanup_elf_file = ELF_FILE_CLOSED;
	struct unprepared u cleanup_unprepared = { .code = { .work = work } };
	struct symtab names cleanup_symtab = { 0 };
	const struct functions_key key = { .build_id = "0123456789abcdef" };

	assert_int_equal(elf_file_open(&file, path, NULL), 0);
	assert_int_equal(unprepared_open(&u, &file, path, NULL, NULL), 0);
	assert_int_equal(known_functions_make(known, &u, &names, 0, &key, NULL), 0);
}

/* The image is the same byte by byte for any number of threads, and for portions of any size. */
TEST_WITH(threads_find_the_same, begin, end)
{
	static const struct code_work works[] = { { 1, 1 },  { 2, 1 },	 { 3, 2 },   { 8, 7 },
						  { 8, 64 }, { 4, 333 }, { 2, 1024 } };
	Dl_info libc;

	assert_true(dladdr((void *)qsort, &libc));

	const char *const paths[] = { shapes, libc.dli_fname };

	for (size_t k = 0; k < ARRAY_SIZE(paths); k++) {
		struct known_functions alone cleanup_known_functions = { 0 };

		make_with(paths[k], (struct code_work){ 1, UINT32_MAX / 2 }, &alone);
		assert_true(alone.nr > 5);
		for (size_t i = 0; i < ARRAY_SIZE(works); i++) {
			struct known_functions known cleanup_known_functions = { 0 };

			make_with(paths[k], works[i], &known);
			assert_int_equal(known.image.len, alone.image.len);
			assert_memory_equal(known.image.data, alone.image.data, known.image.len);
		}
	}
}

/* Change each byte of the file, and cut it at each place. */
TEST_WITH(damage_is_seen, begin, end)
{
	struct made *m = *state;
	const struct strbuf *whole = &m->known.image;

	for (size_t i = 0; i < whole->len; i++) {
		struct known_functions known cleanup_known_functions = { 0 };
		struct strbuf image = { 0 };

		strbuf_add(&image, whole->data, whole->len);
		image.data[i] ^= 1 << i % 8;
		assert_false(known_functions_take(&known, &image, &m->key));
		strbuf_add(&image, whole->data, i);
		assert_false(known_functions_take(&known, &image, &m->key));
	}
}

/* --- images whose checksum is right --- */

/* Bytes of the head: the members before the key, and those after it. */
#define MAGIC_AT       0
#define FORMAT_AT      16
#define MACHINE_AT     20
#define LENGTH_AT      24
#define NR_AT	       152
#define PATCHES_LEN_AT 156
#define TEXTS_LEN_AT   160
/* Bytes of a patch. Its fixes and its code follow. */
#define PATCH_FLAGS_AT 12
#define PATCH_LEN_AT   19
#define PATCH_FIXES_AT 20
#define PATCH_RET_AT   21
#define PATCH_ENDS_AT  22
#define PATCH_BYTES    24

/* Returns a copy of the image, in which the test may change bytes. */
static struct strbuf copy_of(const struct made *m)
{
	struct strbuf image = { 0 };

	strbuf_add(&image, m->known.image.data, m->known.image.len);
	return image;
}

/* Give the image a correct checksum. Returns true when the image is then taken. */
static bool is_taken(const struct made *m, struct strbuf *image)
{
	struct known_functions known cleanup_known_functions = { 0 };

	known_functions_seal(image);
	return known_functions_take(&known, image, &m->key);
}

static void add_to_word(struct strbuf *image, size_t at, uint32_t more)
{
	uint32_t word;

	memcpy(&word, image->data + at, sizeof(word));
	word += more;
	memcpy(image->data + at, &word, sizeof(word));
}

TEST_WITH(heads_are_checked, begin, end)
{
	static const size_t places[] = { MAGIC_AT, FORMAT_AT,	   MACHINE_AT,	LENGTH_AT,
					 NR_AT,	   PATCHES_LEN_AT, TEXTS_LEN_AT };
	struct made *m = *state;
	struct strbuf image = copy_of(m);

	assert_true(is_taken(m, &image));
	for (size_t i = 0; i < ARRAY_SIZE(places); i++) {
		image = copy_of(m);
		add_to_word(&image, places[i], 1);
		assert_false(is_taken(m, &image));
		image = copy_of(m);
		add_to_word(&image, places[i], UINT32_MAX);
		assert_false(is_taken(m, &image));
	}
	/* The parts have the right length together, but no texts are left. */
	image = copy_of(m);
	add_to_word(&image, PATCHES_LEN_AT, m->known.texts_len);
	add_to_word(&image, TEXTS_LEN_AT, -(uint32_t)m->known.texts_len);
	assert_false(is_taken(m, &image));
	/* The texts must begin with an empty one, and the last text must have a NUL at its end. */
	image = copy_of(m);
	image.data[m->known.texts - m->known.image.data] = 'x';
	assert_false(is_taken(m, &image));
	image = copy_of(m);
	image.data[image.len - 1] = 'x';
	assert_false(is_taken(m, &image));
}

TEST_WITH(keys_are_read_from_whole_heads, begin, end)
{
	struct made *m = *state;
	struct functions_key key;
	struct strbuf image = copy_of(m);

	assert_true(known_functions_key(&image, &key));
	assert_memory_equal(&key, &m->key, sizeof(key));
	image.len = 168;
	assert_true(known_functions_key(&image, &key));
	image.len = 167;
	assert_false(known_functions_key(&image, &key));
	strbuf_deinit(&image);
}

/* Returns the function @index of an image. */
static struct known_function *function_of(const struct made *m, const struct strbuf *image,
					  size_t index)
{
	size_t at = (const char *)m->known.list - m->known.image.data;

	return (struct known_function *)(image->data + at) + index;
}

TEST_WITH(functions_are_checked, begin, end)
{
	struct made *m = *state;
	struct strbuf image = copy_of(m);
	struct known_function *f = function_of(m, &image, 1);

	f->start = f[-1].start + 1;
	f->len = INT32_MAX;
	assert_true(is_taken(m, &image));
	image = copy_of(m);
	f = function_of(m, &image, 1);
	f->start = f[-1].start;
	assert_false(is_taken(m, &image));
	image = copy_of(m);
	function_of(m, &image, 1)->len = INT32_MAX + 1U;
	assert_false(is_taken(m, &image));

	/* The last function may end at the highest address. */
	image = copy_of(m);
	f = function_of(m, &image, m->known.nr - 1);
	f->start = UINT64_MAX - 100;
	f->len = 100;
	assert_true(is_taken(m, &image));
	image = copy_of(m);
	f = function_of(m, &image, m->known.nr - 1);
	f->start = UINT64_MAX - 100;
	f->len = 101;
	assert_false(is_taken(m, &image));

	image = copy_of(m);
	function_of(m, &image, 0)->kind = FUNCTION_KINDS - 1;
	assert_true(is_taken(m, &image));
	image = copy_of(m);
	function_of(m, &image, 0)->kind = FUNCTION_KINDS;
	assert_false(is_taken(m, &image));
	image = copy_of(m);
	function_of(m, &image, 0)->name = m->known.texts_len - 1;
	assert_true(is_taken(m, &image));
	image = copy_of(m);
	function_of(m, &image, 0)->name = m->known.texts_len;
	assert_false(is_taken(m, &image));
	image = copy_of(m);
	function_of(m, &image, 0)->why_not = m->known.texts_len - 1;
	assert_true(is_taken(m, &image));
	image = copy_of(m);
	function_of(m, &image, 0)->why_not = m->known.texts_len;
	assert_false(is_taken(m, &image));
}

/* A function has patches exactly if it can be patched. */
TEST_WITH(ways_and_patches_agree, begin, end)
{
	struct made *m = *state;

	for (size_t i = 0; i < m->known.nr; i++) {
		for (unsigned way = 0; way <= UNPREPARED_WAYS; way++) {
			struct strbuf image = copy_of(m);
			struct known_function *f = function_of(m, &image, i);
			bool may_be = way < UNPREPARED_CANNOT
					      ? f->nr_patches > 0
					      : way < UNPREPARED_WAYS && !f->nr_patches;

			f->way = way;
			assert_int_equal(is_taken(m, &image), may_be);
		}
	}
}

/*
 * Finds a function whose first patch has neither a place for a return address nor fixes. Returns
 * the offset of this patch in the image.
 */
static size_t find_patch(const struct made *m, size_t *function)
{
	for (size_t i = 0; i < m->known.nr; i++) {
		const struct known_function *f = &m->known.list[i];
		const uint8_t *patch = m->known.patches + f->patches;

		if (f->nr_patches && !patch[PATCH_RET_AT] && !patch[PATCH_FIXES_AT]) {
			*function = i;
			return (const char *)patch - m->known.image.data;
		}
	}
	skip_because("no function has such a patch");
	return 0;
}

TEST_WITH(patches_are_checked, begin, end)
{
	struct made *m = *state;
	size_t function = 0;
	size_t at = find_patch(m, &function);
	unsigned len = (uint8_t)m->known.image.data[at + PATCH_LEN_AT];
	const struct {
		unsigned place;
		unsigned value;
		bool is_good;
	} cases[] = {
		{ PATCH_FLAGS_AT, 0, true },
		{ PATCH_FLAGS_AT, PLAN_PATCH_INNER | PLAN_PATCH_SILENT | PLAN_PATCH_SHORT, true },
		{ PATCH_FLAGS_AT, 0x80, false },
		{ PATCH_ENDS_AT, 1, true },
		{ PATCH_ENDS_AT, 2, false },
		{ PATCH_RET_AT, len - INSN_RET_HIGH - 4, true },
		{ PATCH_RET_AT, len - INSN_RET_HIGH - 3, false },
		{ PATCH_RET_AT, 255, false },
		{ PATCH_FIXES_AT, INSN_FIXES_MAX + 1, false },
		{ PATCH_LEN_AT, INSN_CODE_MAX + 1, false },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct strbuf image = copy_of(m);

		if (cases[i].place == PATCH_RET_AT && len < INSN_RET_HIGH + 5) {
			strbuf_deinit(&image);
			continue;
		}
		image.data[at + cases[i].place] = (char)cases[i].value;
		assert_int_equal(is_taken(m, &image), cases[i].is_good);
	}
	/* A fix is a place in the code at which four bytes are changed. */
	for (unsigned is_far = 0; is_far < 2 && len > 4; is_far++) {
		struct strbuf image = copy_of(m);

		function_of(m, &image, function)->nr_patches = 1;
		image.data[at + PATCH_FIXES_AT] = 1;
		image.data[at + PATCH_LEN_AT] = (char)(len - 1);
		image.data[at + PATCH_BYTES] = (char)(len - 1 - 4 + is_far);
		assert_int_equal(is_taken(m, &image), !is_far);
	}
	/* A function whose patches reach beyond the end of the list is refused. */
	struct strbuf image = copy_of(m);

	function_of(m, &image, function)->patches = m->known.patches_len;
	assert_false(is_taken(m, &image));
	image = copy_of(m);
	function_of(m, &image, function)->patches = m->known.patches_len - PATCH_BYTES + 1;
	assert_false(is_taken(m, &image));
	image = copy_of(m);
	function_of(m, &image, function)->patches = m->known.patches_len + 1;
	assert_false(is_taken(m, &image));
	image = copy_of(m);
	function_of(m, &image, function)->nr_patches = UINT8_MAX;
	assert_false(is_taken(m, &image));
}

/* A different key is refused, too: it belongs to another file, or to another version of utrail. */
TEST_WITH(another_file_is_not_this_one, begin, end)
{
	struct made *m = *state;

	for (size_t i = 0; i < sizeof(m->key); i++) {
		struct known_functions known cleanup_known_functions = { 0 };
		struct functions_key other = m->key;
		struct strbuf image = { 0 };

		((uint8_t *)&other)[i] ^= 0x40;
		strbuf_add(&image, m->known.image.data, m->known.image.len);
		assert_false(known_functions_take(&known, &image, &other));
	}
}

/* --- the cache --- */

/* Returns the checksum of names in the key of file @path, which has one symbol. */
static uint64_t sum_of(const struct made *m, const char *path, uint64_t addr, uint64_t size,
		       char type, const char *name)
{
	struct symbol sym = { .addr = addr, .size = size, .type = type, .name = (char *)name };
	const struct symtab names = { .syms = &sym, .nr = 1 };
	struct functions_key key;

	functions_cache_key(&m->file, path, &names, &key);
	return key.names;
}

/* Any other name, place or file name leads to another key. */
TEST_WITH(names_are_part_of_the_key, begin, end)
{
	static const char *const texts[] = { "",	  "a",	       "b",
					     "aa",	  "abcdefg",   "abcdefgh",
					     "abcdefghi", "xbcdefghi", "abcdefghj" };
	struct made *m = *state;
	uint64_t sums[ARRAY_SIZE(texts) + 5];
	size_t nr = 0;

	for (; nr < ARRAY_SIZE(texts); nr++)
		sums[nr] = sum_of(m, "/x/lib.so", 1, 2, 'T', texts[nr]);
	sums[nr++] = sum_of(m, "/x/lib.so", 2, 2, 'T', "a");
	sums[nr++] = sum_of(m, "/x/lib.so", 1, 3, 'T', "a");
	sums[nr++] = sum_of(m, "/x/lib.so", 1, 2, 't', "a");
	sums[nr++] = sum_of(m, "/x/lib.so.1", 1, 2, 'T', "a");
	sums[nr++] = sum_of(m, "/x/libc.so.6", 1, 2, 'T', "a");
	for (size_t i = 0; i < nr; i++) {
		for (size_t k = 0; k < i; k++)
			assert_true(sums[i] != sums[k]);
	}
	/* The directory does not matter. */
	assert_int_equal(sum_of(m, "/y/z/lib.so", 1, 2, 'T', "a"), sums[1]);
	assert_int_equal(sum_of(m, "lib.so", 1, 2, 'T', "a"), sums[1]);
}

TEST_WITH(files_are_part_of_the_key, begin, end)
{
	struct made *m = *state;
	struct functions_key key;
	struct stat st, maker;

	functions_cache_key(&m->file, shapes, &m->names, &key);
	assert_int_equal(stat(shapes, &st), 0);
	assert_int_equal(stat("/proc/self/exe", &maker), 0);
	if (!key.build_id[0]) {
		assert_int_equal(key.size, 0);
		skip_because("the library has no build id");
	}
	assert_int_equal(key.device, st.st_dev);
	assert_int_equal(key.inode, st.st_ino);
	assert_int_equal(key.size, st.st_size);
	assert_int_equal(key.mtime_ns, st.st_mtim.tv_sec * 1000000000 + st.st_mtim.tv_nsec);
	assert_int_equal(key.ctime_ns, st.st_ctim.tv_sec * 1000000000 + st.st_ctim.tv_nsec);
	assert_int_equal(key.maker_size, maker.st_size);
	assert_int_equal(key.maker_mtime_ns,
			 maker.st_mtim.tv_sec * 1000000000 + maker.st_mtim.tv_nsec);
}

/* The cache is in a directory of this test, which is removed. */
TEST_WITH(in_the_cache, begin, end)
{
	struct made *m = *state;
	char place[] = "/tmp/utrail-unit-XXXXXX";
	char path[128];
	struct known_functions known cleanup_known_functions = { 0 };

	assert_non_null(mkdtemp(place));
	assert_int_equal(setenv("XDG_CACHE_HOME", place, 1), 0);
	assert_false(functions_cache_load(&m->key, &known));
	/* Functions of a file that has changed in the meantime are not kept. */
	m->key.size++;
	functions_cache_save(&m->file, &m->key, &m->known);
	assert_false(functions_cache_load(&m->key, &known));
	m->key.size--;
	functions_cache_save(&m->file, &m->key, &m->known);
	assert_true(functions_cache_load(&m->key, &known));
	assert_int_equal(known.nr, m->known.nr);

	/* A damaged cache file is replaced. */
	snprintf(path, sizeof(path), "%s/utrail/%s.functions", place, m->key.build_id);
	assert_int_equal(truncate(path, m->known.image.len - 1), 0);
	known_functions_deinit(&known);
	assert_false(functions_cache_load(&m->key, &known));
	functions_cache_save(&m->file, &m->key, &m->known);
	assert_true(functions_cache_load(&m->key, &known));
	assert_int_equal(unlink(path), 0);
	snprintf(path, sizeof(path), "%s/utrail", place);
	assert_int_equal(rmdir(path), 0);
	assert_int_equal(rmdir(place), 0);
}

int main(int argc, char **argv)
{
	assert_int_equal(argc, 2);
	shapes = argv[1];
	return unit_run();
}
