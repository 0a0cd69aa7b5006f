/*
 * Unit tests of cmds/record/base/alive.c: the recorder's loop in a simulated world, where all
 * events come in every order.
 */
#include "tests/unit/lib/unit.h"

#include "cmds/record/base/alive.h"
#include "utils/base/compiler.h"

/* External events, one letter each. */
static const char letters[] = {
	'I', /* an interrupt or a hang-up */
	'E', /* the program ends */
	'B', /* a traced process reports itself */
	'X', /* a traced process ends, or its end is told once more */
	'F', /* a child is forked that does not report itself */
	'O', /* such a child ends */
	'.', /* a moment without any event */
};

#define LENGTH 6

enum program {
	RUNS,
	ZOMBIE,
	REAPED,
};

/*
 * @ends_at: the number of the interrupt that ends the program; 0: no interrupt does
 * @batch: the number of events between two looks of the recorder
 * @is_late: the end of the program is told one batch late: other events are seen first
 * @is_untold: the end is never told
 */
struct attached {
	const char *script;
	unsigned ends_at;
	unsigned batch;
	bool is_late;
	bool is_untold;

	struct alive alive;
	enum program program;
	bool is_told;
	unsigned followed, hidden,
		watched; /* numbers: processes, unknown forked children, known ones */
	unsigned interrupts;
	bool interrupted_at_end; /* the interrupt came after the program's end */
	unsigned ticks;
	unsigned ends_at_tick; /* 0: at none */
	unsigned steps;
};

static void fail_world(const struct attached *w, const char *script, const char *what)
{
	fail_msg("%s: script '%s', ends at interrupt %u, batch %u, %s; followed %u hidden %u "
		 "watched %u, program %d",
		 what, script, w->ends_at, w->batch, w->is_late ? "late" : "in time", w->followed,
		 w->hidden, w->watched, w->program);
}

static void reap(void *arg)
{
	struct attached *w = arg;

	if (w->program != ZOMBIE)
		return;
	w->program = REAPED;
	alive_program_ended(&w->alive);
}

static void look(void *arg)
{
	struct attached *w = arg;

	for (; w->hidden; w->hidden--, w->watched++)
		alive_add(&w->alive);
}

static void end_program(struct attached *w)
{
	if (w->program == RUNS)
		w->program = ZOMBIE;
}

static bool somebody_forks(const struct attached *w)
{
	return w->program == RUNS || w->followed || w->hidden || w->watched;
}

static void happen(struct attached *w, char letter)
{
	switch (letter) {
	case 'I':
		w->interrupts++;
		w->interrupted_at_end |= w->program == REAPED;
		/*
		 * The interrupt reaches the program in any case: it is passed on, or the terminal
		 * sends it.
		 */
		assert_int_equal(alive_interrupt(&w->alive), w->program != REAPED);
		if (w->interrupts == w->ends_at)
			end_program(w);
		break;
	case 'E':
		end_program(w);
		break;
	case 'B':
		if (somebody_forks(w)) {
			w->followed++;
			alive_add(&w->alive);
		}
		break;
	case 'X':
		w->followed -= w->followed > 0;
		if (w->alive.nr_followed > w->followed + w->watched || !w->alive.nr_followed)
			alive_remove(&w->alive);
		break;
	case 'F':
		w->hidden += somebody_forks(w);
		break;
	case 'O':
		if (w->watched) {
			w->watched--;
			alive_remove(&w->alive);
		} else if (w->hidden) {
			w->hidden--;
		}
		break;
	}
	assert_int_equal(w->alive.nr_followed, w->followed + w->watched);
}

/*
 * After the script, processes that were not interrupted end one after the other; interrupted ones
 * never end.
 */
static bool go_on(struct attached *w)
{
	if (w->interrupts > 1 || (w->interrupts && w->interrupted_at_end)) {
		if (!alive_wants_ticks(&w->alive))
			return false;
		w->ticks++;
		if (w->ticks == w->ends_at_tick)
			end_program(w);
		alive_tick(&w->alive);
		return true;
	}
	if (w->program == RUNS)
		end_program(w);
	else if (w->followed)
		happen(w, 'X');
	else if (w->watched)
		happen(w, 'O');
	else
		return false;
	return true;
}

static int serve(void *arg, bool waits)
{
	struct attached *w = arg;
	bool was_zombie = w->program == ZOMBIE;
	int nr = 0;

	if (++w->steps > LENGTH + 2 * ALIVE_TICKS)
		return -1;
	for (unsigned i = 0; i < w->batch && *w->script; i++) {
		if (*w->script == '.') {
			w->script++;
			if (!waits || nr)
				break;
			continue;
		}
		happen(w, *w->script++);
		nr++;
	}
	if (nr == 0 && waits && !was_zombie && !go_on(w))
		return -2;
	if (w->program == ZOMBIE && !w->is_untold && (was_zombie || !w->is_late)) {
		reap(w);
		nr++;
	}
	return nr + (waits && nr == 0);
}

static void run_world(struct attached *w, const char *script)
{
	static const struct alive_ops ops = { serve, look, reap };
	int ret;

	w->script = script;
	ret = alive_run(&w->alive, &ops, w);
	if (ret == -1)
		fail_world(w, script, "does not end");
	if (ret == -2)
		fail_world(w, script, "waits for ever");
	if (w->program == ZOMBIE)
		fail_world(w, script, "the status is lost");
	if (w->program == REAPED && alive_wants_ticks(&w->alive))
		fail_world(w, script, "counts on when nobody waits");
	if (w->program == RUNS && (w->interrupts < 2 || w->ticks < ALIVE_FINAL_TICKS))
		fail_world(w, script, "ends before the program");
	if (alive_program_runs(&w->alive) != (w->program == RUNS))
		fail_world(w, script, "says wrongly whether the program goes on");
	if (w->interrupts < 2 && !w->interrupted_at_end && (w->followed || w->hidden || w->watched))
		fail_world(w, script, "does not wait for whom it left behind");
}

static void run_script(const char *script)
{
	for (unsigned ends_at = 0; ends_at <= 3; ends_at++) {
		for (unsigned batch = 1; batch <= 3; batch++) {
			for (unsigned late = 0; late <= 1; late++) {
				struct attached w = { .ends_at = ends_at,
						      .batch = batch,
						      .is_late = late };

				run_world(&w, script);
			}
		}
	}
}

TEST(test_every_order)
{
	char script[LENGTH + 1] = "";
	unsigned long nr = 1;

	for (unsigned len = 0; len <= LENGTH; len++, nr *= sizeof(letters)) {
		for (unsigned long number = 0; number < nr; number++) {
			unsigned long rest = number;

			for (unsigned i = 0; i < len; i++, rest /= sizeof(letters))
				script[i] = letters[rest % sizeof(letters)];
			script[len] = '\0';
			run_script(script);
		}
	}
}

/*
 * The program ignores interrupts: the recorder waits as long as its patience allows, then ends. A
 * further interrupt makes the wait shorter.
 */
TEST(test_patience)
{
	struct attached two = { .batch = 1 };
	struct attached three = { .batch = 1 };

	run_world(&two, "II");
	assert_int_equal(two.program, RUNS);
	assert_int_equal(two.ticks, ALIVE_TICKS);
	run_world(&three, "III");
	assert_int_equal(three.program, RUNS);
	assert_int_equal(three.ticks, ALIVE_FINAL_TICKS);
}

/* The second interrupt ends the program, whenever the recorder sees that end. */
TEST(test_second_interrupt)
{
	for (unsigned late = 0; late <= 1; late++) {
		struct attached w = { .batch = 1, .ends_at = 2, .is_late = late };

		run_world(&w, "BII");
		assert_int_equal(w.program, REAPED);
		assert_int_equal(w.ticks, 0);
	}
}

/*
 * The program ends when the recorder was about to give up waiting. Its status is there, so it is
 * taken.
 */
TEST(test_last_moment)
{
	struct attached w = { .batch = 1, .is_untold = true, .ends_at_tick = ALIVE_TICKS };

	run_world(&w, "II");
	assert_int_equal(w.program, REAPED);
}

/* The program's end is the only event. One more look takes the last records, and the loop ends. */
TEST(test_quiet)
{
	struct attached w = { .batch = 1 };

	run_world(&w, "E");
	assert_int_equal(w.steps, 2);
}

static int chatter(void *arg, bool waits)
{
	struct attached *w = arg;

	w->steps++;
	end_program(w);
	reap(w);
	return 1;
}

/* A process that sends messages for ever does not delay the end. */
TEST(test_chatter)
{
	static const struct alive_ops ops = { chatter, look, reap };
	struct attached w = { 0 };

	assert_int_equal(alive_run(&w.alive, &ops, &w), 0);
	assert_true(w.steps <= ALIVE_LAST_ROUNDS + 1);
}

static int one_tick(void *arg, bool waits)
{
	struct attached *w = arg;

	w->steps++;
	if (w->alive.program_ended)
		alive_tick(&w->alive);
	end_program(w);
	reap(w);
	return waits;
}

/* With leaves_rest, processes that outlive the program are left alone after a while. */
TEST(test_rest)
{
	static const struct alive_ops ops = { one_tick, look, reap };
	struct attached w = { .alive = { .leaves_rest = true } };

	alive_add(&w.alive);
	assert_false(alive_wants_ticks(&w.alive));
	assert_int_equal(alive_run(&w.alive, &ops, &w), 0);
	assert_in_range(w.steps, ALIVE_REST_TICKS, ALIVE_REST_TICKS + 2);
	assert_true(w.alive.has_left_rest);

	w = (struct attached){ .alive = { .leaves_rest = true } };
	assert_int_equal(alive_run(&w.alive, &ops, &w), 0);
	assert_in_range(w.steps, 1, 3);
	assert_false(w.alive.has_left_rest);
}

static int fails(void *arg, bool waits)
{
	return -5;
}

TEST(test_failure)
{
	static const struct alive_ops ops = { fails, look, reap };
	struct attached w = { 0 };

	assert_int_equal(alive_run(&w.alive, &ops, &w), -5);
}
