/* Records of processes that died while they wrote them, and of such that only seem to have. */
#include <errno.h>
#include <string.h>

#include "libmcount/posix/posix.h"
#include "tests/unit/lib/unit.h"

#define NR_CELLS 64
#define OWN_PID	 4711

/* Of a cell's word: reserved is 1 there, committed 2. */
#define STATE_BIT  36
#define STATE_MASK (3ULL << STATE_BIT)
#define RESERVED   (1ULL << STATE_BIT)

struct scene {
	struct pxt_stream stream;
	struct pxt_view view;
	struct pxt_cell cells[NR_CELLS];
	uint64_t committed;
};

static struct scene scene;
static bool finishes_before;

bool __wrap_pxt_process_is_dead(pid_t pid);

/* It is now, and may have done something before. */
bool __wrap_pxt_process_is_dead(pid_t pid)
{
	assert_int_equal(pid, OWN_PID);
	if (finishes_before)
		atomic_store(&scene.cells[0].word, scene.committed);
	return true;
}

static int begin(void **state)
{
	struct pxt_event event = { .pid = OWN_PID, .id = PT_UNNAMED, .len = 4 };

	memset(&scene, 0, sizeof(scene));
	atomic_store(&scene.view.stream, &scene.stream);
	scene.view.cells = scene.cells;
	scene.view.nr_cells = NR_CELLS;
	scene.view.shift = (uint32_t)__builtin_ctz(NR_CELLS);
	scene.view.max_data = 16;
	/* Fresh cells are of round 0: the first round is 1. */
	atomic_store(&scene.stream.head, NR_CELLS);
	atomic_store(&scene.stream.tail, NR_CELLS);
	assert_int_equal(pxt_ring_put(&scene.view, &event, "last"), 0);
	scene.committed = atomic_load(&scene.cells[0].word);
	atomic_store(&scene.cells[0].word, (scene.committed & ~STATE_MASK) | RESERVED);
	return 0;
}

static void a_dead_ones_is_skipped(void **state)
{
	struct pxt_event event;
	uint32_t count;

	finishes_before = false;
	assert_int_equal(pxt_ring_peek(&scene.view, NR_CELLS, &event, NULL, &count), -EAGAIN);
	assert_true(pxt_ring_skip_dead(&scene.view, NR_CELLS));
	assert_int_equal(atomic_load(&scene.stream.tail), NR_CELLS + 1);
}

/* Between the look at the record and the question whether its process lives there is time for both to end. */
static void one_that_was_finished_stays(void **state)
{
	struct pxt_event event;
	unsigned char data[64];
	uint32_t count;

	finishes_before = true;
	assert_false(pxt_ring_skip_dead(&scene.view, NR_CELLS));
	assert_int_equal(atomic_load(&scene.stream.tail), NR_CELLS);
	assert_int_equal(pxt_ring_peek(&scene.view, NR_CELLS, &event, data, &count), 1);
	assert_int_equal(event.len, 4);
	assert_memory_equal(data, "last", 4);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(a_dead_ones_is_skipped, begin),
		cmocka_unit_test_setup(one_that_was_finished_stays, begin),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
