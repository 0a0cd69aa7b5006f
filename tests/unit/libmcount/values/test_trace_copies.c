/*
 * Copies of libutrail-trace are found by their notes, among other notes of a module. The modules
 * are simulated.
 */
#include "libmcount/values/trace_copies.h"

#include <dlfcn.h>
#include <errno.h>
#include <link.h>

#include "libmcount/values/declared.h"
#include "libmcount/program/loaded.h"
#include "libmcount/hot/probe.h"
#include "tests/unit/lib/unit.h"
#include "trace/seam/recorder.h"

/* The notes of a simulated module. Offsets to functions of this program must fit into 32 bits. */
static struct {
	uint64_t words[64];
	size_t len;
} notes;

/* The address at which the simulated module is loaded: addresses in its segments count from it. */
#define BIAS 0x10000UL

static ElfW(Phdr) segments[3]; /* PT_LOAD of the notes and of all of this program's code, PT_NOTE */
static unsigned nr_modules;    /* all of them have these segments */
static bool is_complete;       /* false: another thread is loading them */

static unsigned nr_opened, nr_closed;
static int answer, after_tries;

static int on_open(const struct utrail_trace_recorder *recorder)
{
	assert_ptr_equal(recorder, declared_recorder());
	nr_opened++;
	return nr_opened <= (unsigned)after_tries ? -EAGAIN : answer;
}

static int on_close(void)
{
	nr_closed++;
	return answer;
}

/* Stand-ins for the rest of the probe. */
struct probe probe;

const struct utrail_trace_recorder *declared_recorder(void)
{
	static const struct utrail_trace_recorder recorder;

	return &recorder;
}

bool loaded_is_complete(const struct dl_phdr_info *info)
{
	return is_complete;
}

/* Takes the place of libc's function, since the program's own comes first. */
int dl_iterate_phdr(int (*fn)(struct dl_phdr_info *info, size_t size, void *arg), void *arg)
{
	static int (*next)(int (*)(struct dl_phdr_info *, size_t, void *), void *);
	struct dl_phdr_info info = {
		.dlpi_addr = BIAS,
		.dlpi_phdr = segments,
		.dlpi_phnum = 3,
	};

	if (!nr_modules) {
		if (!next)
			*(void **)&next = dlsym(RTLD_NEXT, "dl_iterate_phdr");
		return next(fn, arg);
	}
	for (unsigned i = 0; i < nr_modules; i++) {
		int ret = fn(&info, sizeof(info), arg);

		if (ret)
			return ret;
	}
	return 0;
}

static int setup(void **state)
{
	uint64_t a = (uint64_t)on_open;
	uint64_t b = (uint64_t)on_close;

	is_complete = true;
	probe.ready = true;
	probe.is_attached = false;
	memset(&notes, 0, sizeof(notes));
	nr_opened = nr_closed = 0;
	answer = after_tries = 0;
	segments[0] = (ElfW(Phdr)){
		.p_type = PT_LOAD,
		.p_flags = PF_R,
		.p_vaddr = (uint64_t)notes.words - BIAS,
	};
	segments[1] = (ElfW(Phdr)){
		.p_type = PT_LOAD,
		.p_flags = PF_R | PF_X,
		.p_vaddr = MIN(a, b) - BIAS,
		.p_memsz = MAX(a, b) - MIN(a, b) + 1,
	};
	segments[2] = segments[0];
	segments[2].p_type = PT_NOTE;
	segments[2].p_align = 4;
	return 0;
}

static char *add_note(const char *name, uint32_t name_len, uint32_t type, uint32_t len,
		      unsigned align)
{
	ElfW(Nhdr) head = { name_len, len, type };
	char *at = (char *)notes.words + notes.len;
	size_t to_text = (sizeof(head) + name_len + align - 1) / align * align;

	memcpy(at, &head, sizeof(head));
	memcpy(at + sizeof(head), name, name_len);
	notes.len += (to_text + len + align - 1) / align * align;
	assert_in_range(notes.len, 1, sizeof(notes.words));
	segments[0].p_memsz = segments[2].p_memsz = notes.len;
	return at + to_text;
}

static struct utrail_trace_door *add_door(void)
{
	struct utrail_trace_door *door = (struct utrail_trace_door *)add_note(
		UTRAIL_DOOR_NAME, sizeof(UTRAIL_DOOR_NAME), UTRAIL_DOOR_TYPE, sizeof(*door), 4);

	door->open = (uint64_t)on_open - (uint64_t)door;
	door->close = (uint64_t)on_close - (uint64_t)door;
	return door;
}

/* Check that @nr doors are opened and closed. */
static void check(unsigned nr)
{
	int64_t opened, closed;

	nr_modules = 1;
	nr_opened = nr_closed = 0;
	opened = trace_copies_open();
	closed = trace_copies_close();
	nr_modules = 0;
	assert_int_equal(opened, nr);
	assert_int_equal(closed, nr);
	assert_int_equal(nr_opened, nr);
	assert_int_equal(nr_closed, nr);
}

TEST_WITH(a_door_is_opened_and_closed, setup, NULL)
{
	add_door();
	check(1);
}

TEST_WITH(a_door_waits_for_its_relocation, setup, NULL)
{
	add_door();
	is_complete = false;
	check(0);
	is_complete = true;
	check(1);
}

TEST_WITH(other_notes_stand_in_front_and_behind, setup, NULL)
{
	add_note("GNU", 4, 3, 20, 4);
	add_note("x", 2, 1, 1, 4);
	add_door();
	add_note("", 0, 1, 0, 4);
	check(1);
	add_door();
	check(2);
}

/* The linker mold makes one segment for all notes, which has their largest alignment. */
TEST_WITH(notes_of_other_alignments_are_no_obstacle, setup, NULL)
{
	add_note("GNU", 4, 5, 12, 8);
	add_note("GNU", 4, 3, 20, 4);
	add_door();
	segments[2].p_align = 8;
	check(1);
}

TEST_WITH(what_is_no_door_is_left_alone, setup, NULL)
{
	ElfW(Nhdr) *head = (ElfW(Nhdr) *)notes.words;
	char *name = (char *)(head + 1);

	add_door();
	head->n_type = UTRAIL_DOOR_TYPE + 1;
	check(0);
	head->n_type = UTRAIL_DOOR_TYPE;
	name[0] = 'x';
	check(0);
	name[0] = UTRAIL_DOOR_NAME[0];
	name[sizeof(UTRAIL_DOOR_NAME) - 1] = 'x';
	check(0);
	name[sizeof(UTRAIL_DOOR_NAME) - 1] = '\0';
	head->n_namesz++;
	check(0);
	head->n_namesz--;
	head->n_descsz--;
	check(0);
	/* A note that states more bytes than there are. */
	head->n_descsz += 2;
	check(0);
	head->n_descsz--;
	check(1);
	segments[2].p_memsz--;
	check(0);
	segments[2].p_memsz = 0;
	check(0);
	segments[2].p_memsz = 8;
	check(0);
}

/* The door of a newer version has more members than the probe knows. */
TEST_WITH(a_longer_door_is_a_door, setup, NULL)
{
	add_door();
	add_note("a", 2, 1, 0, 4);
	((ElfW(Nhdr) *)notes.words)->n_descsz += 16;
	check(1);
}

TEST_WITH(what_lies_outside_of_the_module_is_not_called, setup, NULL)
{
	uint64_t other = BIAS + segments[1].p_vaddr + segments[1].p_memsz;
	struct utrail_trace_door *door = add_door();

	door->open = other - (uint64_t)door;
	check(0);
	door->open = (uint64_t)on_open - (uint64_t)door;
	door->close = other - (uint64_t)door;
	check(0);
	door->close = (uint64_t)on_close - (uint64_t)door;
	segments[1].p_flags = PF_R;
	check(0);
	segments[1].p_flags = PF_X;
	check(1);
	/* The segment of notes is not readable; then it is too short. */
	segments[0].p_flags = 0;
	check(0);
	segments[0].p_flags = PF_R;
	segments[0].p_memsz--;
	check(0);
	segments[0].p_memsz++;
	segments[0].p_vaddr += 4;
	check(0);
	segments[0].p_vaddr -= 4;
	segments[0].p_type = PT_NULL;
	check(0);
	segments[0].p_type = PT_LOAD;
	check(1);
	segments[2].p_type = PT_NULL;
	check(0);
}

TEST_WITH(those_that_refuse_are_not_counted, setup, NULL)
{
	add_door();
	add_door();
	nr_modules = 3;
	assert_int_equal(trace_copies_open(), 6);
	answer = -EINVAL;
	assert_int_equal(trace_copies_open(), 0);
	assert_int_equal(trace_copies_close(), 0);
	/* After an answer of one door, the others are asked, too. */
	answer = 0;
	nr_opened = 0;
	after_tries = 1;
	assert_int_equal(trace_copies_open(), -EAGAIN);
	assert_int_equal(nr_opened, 6);
	answer = -EAGAIN;
	assert_int_equal(trace_copies_close(), -EAGAIN);
	nr_modules = 0;
}

TEST_WITH(nobody_comes_before_there_is_a_recorder, setup, NULL)
{
	add_door();
	nr_modules = 1;
	probe.ready = false;
	assert_int_equal(trace_copies_open(), 0);
	assert_int_equal(nr_opened, 0);
	assert_int_equal(trace_copies_close(), 1);
	assert_int_equal(nr_closed, 1);
	nr_modules = 0;
}

/*
 * A dlopen opens copies only if the recorder has attached to the process. Otherwise each copy finds
 * the recorder by itself when it is loaded.
 */
TEST_WITH(what_is_loaded_later_is_tried_until_it_can, setup, NULL)
{
	add_door();
	nr_modules = 1;
	trace_copies_after_dlopen();
	assert_int_equal(nr_opened, 0);
	probe.is_attached = true;
	after_tries = 3;
	trace_copies_after_dlopen();
	assert_int_equal(nr_opened, 4);
	nr_opened = 0;
	after_tries = 1000000;
	trace_copies_after_dlopen();
	assert_in_range(nr_opened, 1001, 1001);
	nr_modules = 0;
	probe.is_attached = false;
}
