/* Return addresses that may be replaced. The loaded modules are simulated. */
#include "libmcount/hot/callers.h"

#include <dlfcn.h>
#include <elf.h>
#include <link.h>

#include "libmcount/hot/probe.h"
#include "tests/unit/lib/unit.h"

#define PAGE 0x1000UL
#define BIAS 0x7000000UL

/* The file of the program, as it lies in memory. */
static struct {
	ElfW(Ehdr) head;
	ElfW(Phdr) segments[6];
} file;

static unsigned nr_asked; /* how many times the linker was asked for a module */
static bool is_loaded;	  /* false: no address belongs to a module */
static bool is_simulated; /* a test runs */

/* Stand-ins for the rest of the probe. */
struct probe probe;

void slow_call(void (*fn)(void *), void *arg)
{
	fn(arg);
}

/* Both functions take the place of libc's, since the program's own come first. */
int dl_iterate_phdr(int (*fn)(struct dl_phdr_info *info, size_t size, void *arg), void *arg)
{
	static int (*next)(int (*)(struct dl_phdr_info *, size_t, void *), void *);
	struct dl_phdr_info info = {
		.dlpi_addr = BIAS,
		.dlpi_phdr = file.segments,
		.dlpi_phnum = ARRAY_SIZE(file.segments),
	};

	/* A library, which has more text than the program. */
	static const ElfW(Phdr) text = {
		.p_type = PT_LOAD,
		.p_flags = PF_R | PF_X,
		.p_filesz = 0x100000,
	};
	struct dl_phdr_info library = {
		.dlpi_addr = BIAS + 0x2000000,
		.dlpi_phdr = &text,
		.dlpi_phnum = 1,
	};

	if (!is_simulated) {
		if (!next)
			*(void **)&next = dlsym(RTLD_NEXT, "dl_iterate_phdr");
		return next(fn, arg);
	}
	nr_asked++;

	int ret = fn(&info, sizeof(info), arg);

	return ret ? ret : fn(&library, sizeof(library), arg);
}

#ifdef DLFO_STRUCT_HAS_EH_DBASE
int _dl_find_object(void *pc, struct dl_find_object *object)
{
	static int (*next)(void *, struct dl_find_object *);
	static struct link_map map = { .l_addr = BIAS };

	if (!is_simulated) {
		if (!next)
			*(void **)&next = dlsym(RTLD_NEXT, "_dl_find_object");
		return next(pc, object);
	}
	nr_asked++;
	if (!is_loaded)
		return -1;
	object->dlfo_map_start = &file;
	object->dlfo_link_map = &map;
	return 0;
}
#endif

static ElfW(Phdr) segment(uint32_t type, uint32_t flags, uint64_t at, uint64_t bytes)
{
	/* The segment takes 4 pages more in memory than in the file. */
	return (ElfW(Phdr)){
		.p_type = type,
		.p_flags = flags,
		.p_vaddr = at,
		.p_filesz = bytes,
		.p_memsz = bytes + 4 * PAGE,
	};
}

static int setup(void **state)
{
	memset(&file, 0, sizeof(file));
	memcpy(file.head.e_ident, ELFMAG, SELFMAG);
	file.head.e_phoff = sizeof(file.head);
	file.head.e_phnum = ARRAY_SIZE(file.segments);
	file.segments[0] = segment(PT_LOAD, PF_R, 0, PAGE);
	file.segments[1] = segment(PT_LOAD, PF_R | PF_X, 0x11800, 0x1900);
	file.segments[2] = segment(PT_LOAD, PF_R | PF_W | PF_X, 0x20000, 0x3000);
	file.segments[3] = segment(PT_NOTE, PF_R | PF_X, 0x30000, 0x3000);
	file.segments[4] = segment(PT_LOAD, PF_R | PF_W, 0x40000, 0x3000);
	file.segments[5] = segment(PT_LOAD, PF_X, 0x50000, 0x1000);
	is_loaded = is_simulated = true;
	callers_begin(false);
	nr_asked = 0;
	return 0;
}

static int teardown(void **state)
{
	is_simulated = false;
	return 0;
}

static const struct {
	uint64_t at;
	bool is_text;
} places[] = {
	{ 0, false },	    { 0x10fff, false }, { 0x11000, true },  { 0x117ff, true },
	{ 0x13fff, true },  { 0x14000, false }, { 0x20000, false }, { 0x21000, false },
	{ 0x30000, false }, { 0x40000, false }, { 0x4ffff, false }, { 0x50000, true },
	{ 0x50fff, true },  { 0x51000, false },
};

TEST_WITH(only_text_is_replaced, setup, teardown)
{
	for (int by_list = 0; by_list < 2; by_list++) {
		/* Without the head of an ELF file, the list of modules tells the segments. */
		file.head.e_ident[EI_MAG3] = by_list ? 'x' : ELFMAG3;
		callers.bytes = 0;
		callers_forget();
		for (size_t i = 0; i < ARRAY_SIZE(places); i++) {
			assert_int_equal(callers_look_up(BIAS + places[i].at), places[i].is_text);
			assert_int_equal(callers_know(BIAS + places[i].at), places[i].is_text);
			assert_int_equal(callers_may_replace(BIAS + places[i].at),
					 places[i].is_text);
		}
	}
}

#ifdef DLFO_STRUCT_HAS_EH_DBASE
TEST_WITH(code_of_no_module_is_not_searched_in_the_list, setup, teardown)
{
	is_loaded = false;
	assert_false(callers_look_up(BIAS + 0x11000));
	assert_int_equal(nr_asked, 1);
}
#endif

/* The program comes first in the list of modules, and the library after it. */
TEST_WITH(text_of_a_library, setup, teardown)
{
	file.head.e_ident[EI_MAG3] = 'x';
	assert_false(callers_look_up(BIAS + 0x1fff000));
	assert_true(callers_look_up(BIAS + 0x2000000));
	assert_true(callers_look_up(BIAS + 0x20fffff));
	assert_false(callers_look_up(BIAS + 0x2100000));
}

TEST_WITH(each_page_is_looked_up_once, setup, teardown)
{
	const uint64_t stranger = BIAS + 0x40000;
	/* These two have the same place in the table. */
	const uint64_t rivals[] = { BIAS + 0x50000, BIAS + 0x50000 + CALLERS_PAGES * PAGE };
	unsigned asked;

	assert_false(callers_look_up(stranger));
	asked = nr_asked;
	assert_in_range(asked, 1, 2);
	assert_false(callers_look_up(stranger + 8));
	assert_int_equal(nr_asked, asked);
	callers_forget();
	assert_false(callers_look_up(stranger));
	assert_int_equal(nr_asked, 2 * asked);

	file.segments[5].p_filesz = CALLERS_PAGES * PAGE + PAGE;
	callers.bytes = 0;
	for (int i = 0; i < 2; i++) {
		assert_true(callers_look_up(rivals[i]));
		assert_true(callers_know(rivals[i]));
		assert_false(callers_know(rivals[!i]));
	}
	callers_forget();
	assert_false(callers_know(rivals[1]));
}

/* The first and the last place of the table. */
TEST_WITH(all_places_of_the_table_are_forgotten, setup, teardown)
{
	static const uint64_t ends[] = { BIAS + 0x400000, BIAS + 0x3ff000 };

	file.segments[5].p_filesz = 2 * CALLERS_PAGES * PAGE;
	callers.bytes = 0;
	for (int i = 0; i < 2; i++) {
		assert_true(callers_look_up(ends[i]));
		assert_true(callers_know(ends[i]));
	}
	callers_forget();
	for (int i = 0; i < 2; i++) {
		assert_false(callers_know(ends[i]));
		nr_asked = 0;
		file.segments[5].p_filesz = 0;
		assert_false(callers_look_up(ends[i]));
		callers_forget();
		file.segments[5].p_filesz = 2 * CALLERS_PAGES * PAGE;
		assert_true(callers_look_up(ends[i]));
	}
}

TEST_WITH(anything_may_be_replaced_on_request, setup, teardown)
{
	const struct plan_callers kept = { .start = 0x123000, .end = 0x123001 };

	callers_begin(true);
	nr_asked = 0;
	is_loaded = false;
	assert_true(callers_look_up(0x4000));
	assert_true(callers_know(0x4fff));
	assert_true(callers_look_up(BIAS + 0x40000));
	assert_int_equal(nr_asked, 0);
	/* Return addresses into kept pieces are not replaced. */
	callers_keep(&kept, 1);
	assert_false(callers_know(0x4fff));
	assert_false(callers_look_up(0x123fff));
	assert_true(callers_look_up(0x124000));
	callers_begin(false);
	assert_false(callers_look_up(0x124000));
}

TEST_WITH(the_largest_text_of_the_program_is_known, setup, teardown)
{
	const uint64_t low = BIAS + 0x11800;

	assert_int_equal(callers.low, low);
	assert_int_equal(callers.bytes, 0x1900);
	assert_false(callers_know(low - 1));
	assert_true(callers_know(low));
	assert_true(callers_know(low + 0x18ff));
	assert_false(callers_know(low + 0x1900));
	/* If two segments are equally large, the first one counts. Only bytes of the file count. */
	file.segments[5].p_filesz = 0x1900;
	file.segments[5].p_memsz = 0x10000;
	callers_begin(false);
	assert_int_equal(callers.low, low);
	file.segments[5].p_filesz = 0x1901;
	callers_begin(false);
	assert_int_equal(callers.low, BIAS + 0x50000);
	assert_int_equal(callers.bytes, 0x1901);
	/* Nothing is left of an earlier range. */
	memset(file.segments, 0, sizeof(file.segments));
	callers_begin(false);
	assert_int_equal(callers.low, 0);
	assert_int_equal(callers.bytes, 0);
}

TEST_WITH(a_kept_piece_is_cut_out, setup, teardown)
{
	/*
	 * A kept piece from @start to @end is cut out of a range of 0x1900 bytes. The larger piece
	 * of the rest remains: @bytes at @low.
	 */
	static const struct {
		int64_t start, end;
		uint64_t low, bytes;
	} cases[] = {
		{ 0x800, 0x900, 0x900, 0x1000 },
		{ 0x1000, 0x1100, 0, 0x1000 },
		{ 0, 0x10, 0x10, 0x18f0 },
		{ 0x18f0, 0x1900, 0, 0x18f0 },
		{ 0xc00, 0xd00, 0, 0xc00 },
		{ 0xbff, 0xd00, 0xd00, 0xc00 },
		{ -0x100, 0x100, 0x100, 0x1800 },
		{ 0x1800, 0x2000, 0, 0x1800 },
		{ -0x100, 0, 0, 0x1900 },
		{ 0x1900, 0x2000, 0, 0x1900 },
		{ -0x100, 1, 1, 0x18ff },
		{ 0x18ff, 0x2000, 0, 0x18ff },
		{ 0, 0x1900, 0, 0 },
		{ -0x100, 0x2000, 0, 0 },
	};
	const uint64_t low = BIAS + 0x11800;

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct plan_callers kept = { low + cases[i].start, low + cases[i].end };

		callers_begin(false);
		callers_keep(&kept, 1);
		assert_int_equal(callers.bytes, cases[i].bytes);
		if (callers.bytes)
			assert_int_equal(callers.low, low + cases[i].low);
	}
}

TEST_WITH(pages_with_bytes_of_a_kept_piece_are_left_alone, setup, teardown)
{
	static const struct {
		uint64_t start, end;
		bool is_first, is_second;
	} cases[] = {
		{ 0x12100, 0x12101, false, true },  { 0x12fff, 0x13000, false, true },
		{ 0x12fff, 0x13001, false, false }, { 0x13000, 0x13001, true, false },
		{ 0x11fff, 0x12000, true, true },   { 0x11fff, 0x12001, false, true },
		{ 0x14000, 0x14001, true, true },   { 0x13fff, 0x14001, true, false },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct plan_callers kept[] = {
			{ BIAS + 0x50000, BIAS + 0x50001 },
			{ BIAS + cases[i].start, BIAS + cases[i].end },
		};

		callers_begin(false);
		assert_true(callers_look_up(BIAS + 0x12800));
		/* No piece: the pages that are known stay. */
		callers_keep(kept, 0);
		callers.bytes = 0;
		assert_true(callers_know(BIAS + 0x12800));
		callers_keep(kept, 2);
		assert_false(callers_know(BIAS + 0x12800));
		assert_false(callers_look_up(BIAS + 0x50800));
		assert_int_equal(callers_look_up(BIAS + 0x12800), cases[i].is_first);
		assert_int_equal(callers_look_up(BIAS + 0x13800), cases[i].is_second);
	}
}

/* More than 128 pieces are too many: nothing outside of the range is replaced. */
TEST_WITH(with_many_kept_pieces_only_the_range_is_replaced, setup, teardown)
{
	struct plan_callers kept[128];

	for (size_t i = 0; i < ARRAY_SIZE(kept); i++)
		kept[i] = (struct plan_callers){ 16 * i, 16 * i + 8 };
	callers_keep(kept, 127);
	assert_true(callers_look_up(BIAS + 0x50000));
	kept[0] = (struct plan_callers){ BIAS + 0x12000, BIAS + 0x12008 };
	callers_keep(kept, 1);
	assert_true(callers_look_up(BIAS + 0x50000));
	assert_false(callers_look_up(BIAS + 0x12000));
	for (int i = 0; i < 3; i++) {
		callers_keep(kept + 1, 1);
		assert_false(callers_look_up(BIAS + 0x50000));
	}
	assert_true(callers_know(BIAS + 0x13000));
	/* Another plan begins without these callers. */
	callers_begin(false);
	assert_true(callers_look_up(BIAS + 0x50000));
	assert_true(callers_look_up(BIAS + 0x12000));
}
