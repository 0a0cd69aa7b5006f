/* The table of the names of user events. Several processes add names to it without a lock. */
#include "posix/posix.h"
#include "tests/unit/lib/trace_place.h"

#define US 4711

static struct pxt_names *names;
static bool is_dead;
static unsigned nr_asked, nr_yields;
/* The number of calls of sched_yield() after which the first name is complete; 0: never. */
static unsigned ready_after;

bool __wrap_pxt_process_is_dead(pid_t pid);
int __wrap_sched_yield(void);

bool __wrap_pxt_process_is_dead(pid_t pid)
{
	assert_int_equal(pid, 55);
	nr_asked++;
	return is_dead;
}

int __wrap_sched_yield(void)
{
	if (++nr_yields == ready_after)
		atomic_store(&names->names[0].state, PT_NAME_READY);
	return 0;
}

static int begin(void **state)
{
	names = calloc(1, sizeof(*names));
	atomic_store(&pxt_process.pid, US);
	is_dead = false;
	nr_asked = nr_yields = ready_after = 0;
	return !names;
}

static int end(void **state)
{
	free(names);
	return 0;
}

TEST_WITH(a_name_has_one_number, begin, end)
{
	char text[PT_NAME_MAX + 1];

	memset(names->names[1].text, 'z', sizeof(names->names[1].text));
	assert_int_equal(pxt_names_open(names, "one"), PT_FIRST_NAMED);
	assert_int_equal(pxt_names_open(names, "two"), PT_FIRST_NAMED + 1);
	assert_int_equal(pxt_names_open(names, "one"), PT_FIRST_NAMED);
	assert_int_equal(pxt_names_open(names, "two"), PT_FIRST_NAMED + 1);
	assert_int_equal(atomic_load(&names->names[1].state), PT_NAME_READY);
	assert_string_equal(pxt_names_get(names, PT_FIRST_NAMED + 1, text), "two");
	assert_ptr_equal(pxt_names_get(names, PT_FIRST_NAMED, text), text);
	assert_string_equal(text, "one");
	/* No byte of an earlier name is left. */
	assert_int_equal(names->names[1].text[4], 0);
	assert_int_equal(names->names[1].text[PT_NAME_MAX], 0);
}

TEST_WITH(what_has_no_name_is_nothing, begin, end)
{
	char text[PT_NAME_MAX + 1];

	assert_null(pxt_names_get(names, PT_FIRST_NAMED, text));
	assert_null(pxt_names_get(names, PT_END_NAMED, text));
	assert_null(pxt_names_get(names, 0, text));
	assert_null(pxt_names_get(names, PT_NR_SYSTEM, text));
	atomic_store(&names->names[0].state, US);
	assert_null(pxt_names_get(names, PT_FIRST_NAMED, text));
	assert_string_equal(pxt_names_get(names, PT_START, text), pxt_fixed_name(PT_START));
	assert_string_equal(pxt_names_get(names, PT_UNNAMED, text), pxt_fixed_name(PT_UNNAMED));
}

TEST_WITH(the_longest_name_has_an_end, begin, end)
{
	char name[PT_NAME_MAX + 1], text[PT_NAME_MAX + 1];

	memset(name, 'x', PT_NAME_MAX);
	name[PT_NAME_MAX] = '\0';
	assert_int_equal(pxt_names_open(names, name), PT_FIRST_NAMED);
	/* Any process may have overwritten the final zero. */
	names->names[0].text[PT_NAME_MAX] = 'y';
	assert_string_equal(pxt_names_get(names, PT_FIRST_NAMED, text), name);
	assert_int_equal(pxt_names_open(names, name), PT_FIRST_NAMED);
}

TEST_WITH(there_are_so_many_names_and_no_more, begin, end)
{
	char name[16], text[PT_NAME_MAX + 1];

	for (uint32_t nr = 0; nr < PT_NR_NAMED; nr++) {
		snprintf(name, sizeof(name), "name%u", nr);
		assert_int_equal(pxt_names_open(names, name), PT_FIRST_NAMED + nr);
	}
	assert_int_equal(pxt_names_open(names, "one more"), PT_UNNAMED);
	assert_int_equal(pxt_names_open(names, name), PT_END_NAMED - 1);
	assert_string_equal(pxt_names_get(names, PT_END_NAMED - 1, text), name);
}

TEST_WITH(who_writes_a_name_is_waited_for, begin, end)
{
	atomic_store(&names->names[0].state, 55);
	strcpy(names->names[0].text, "theirs");
	ready_after = 3;
	assert_int_equal(pxt_names_open(names, "theirs"), PT_FIRST_NAMED);
	assert_int_equal(nr_yields, 3);
	assert_int_equal(nr_asked, 0);
	assert_int_equal(pxt_names_open(names, "ours"), PT_FIRST_NAMED + 1);
	assert_int_equal(nr_yields, 3);
}

TEST_WITH(who_died_writing_it_has_left_its_place, begin, end)
{
	char text[PT_NAME_MAX + 1];

	atomic_store(&names->names[0].state, 55);
	strcpy(names->names[0].text, "a longer one");
	is_dead = true;
	assert_int_equal(pxt_names_open(names, "ours"), PT_FIRST_NAMED);
	assert_int_equal(nr_asked, 1);
	assert_int_equal(nr_yields, 1023);
	assert_string_equal(pxt_names_get(names, PT_FIRST_NAMED, text), "ours");
}

TEST_WITH(nobody_waits_for_ever, begin, end)
{
	atomic_store(&names->names[0].state, 55);
	assert_int_equal(pxt_names_open(names, "ours"), PT_FIRST_NAMED + 1);
	assert_int_equal(nr_yields, (1 << 20) - 1);
	assert_int_equal(nr_asked, 1023);
}

TEST_GROUP(trace_place_make, NULL)
