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
