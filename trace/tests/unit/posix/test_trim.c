/*
 * A child that keeps a stream has only the named parts of its parent's memory. Under a sanitizer it
 * has all of that memory.
 */
#include <errno.h>
#include <sys/mman.h>

#include "posix/keeper.h"
#include "tests/unit/lib/trace_place.h"

#define ROOM  (8ul << 20)
#define MANY  (1ul << 20)
#define EVERY 4096

static volatile char *make_room(void)
{
	char *room = mmap(NULL, ROOM, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	assert_true(room != MAP_FAILED);
	memset(room, 'x', ROOM);
	return room;
}

/* The kernel is asked, so that memory that is gone causes no fault. */
static bool is_there(volatile char *at)
{
	unsigned char in_memory;

	return mincore((void *)((uintptr_t)at & -(uintptr_t)EVERY), EVERY, &in_memory) == 0;
}

/*
 * Run @check in a child. Returns the line of the check that failed, or 0. The child does not call
 * exit(), which would use memory that is gone.
 */
static int line_in_child(int (*check)(void *arg), void *arg)
{
	int status;
	pid_t pid = fork();

	assert_true(pid >= 0);
	if (pid == 0)
		_exit(check(arg));
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	return WEXITSTATUS(status);
}

static int check_trims(void *arg)
{
	volatile char *room = make_room();
	const void *const keeps[] = { __builtin_frame_address(0), &errno };

	pxt_trim(keeps, 2);
	return is_there(room);
}

static void skip_if_nothing_is_trimmed(void)
{
	if (line_in_child(check_trims, NULL))
		skip_because("a sanitizer needs all memory");
}

struct rooms {
	volatile char *named, *other;
};

static int check_rooms(void *arg)
{
	const struct rooms rooms = *(struct rooms *)arg;
	const void *const keeps[] = { __builtin_frame_address(0), &errno,
				      (const void *)(rooms.named + ROOM / 2) };
	int own = 42;

	pxt_trim(keeps, 3);
	CHILD_CHECK(own == 42);
	CHILD_CHECK(!is_there(rooms.other));
	CHILD_CHECK(!is_there(rooms.other + ROOM - EVERY));
	CHILD_CHECK(is_there(rooms.named + ROOM / 2));
	CHILD_CHECK(rooms.named[ROOM / 2] == 'x');
	return 0;
}

TEST(what_is_named_stays_and_other_memory_goes)
{
	struct rooms rooms = { make_room(), make_room() };

	skip_if_nothing_is_trimmed();
	assert_int_equal(line_in_child(check_rooms, &rooms), 0);
	/* The parent still has all of its memory. */
	assert_int_equal(rooms.other[0] + rooms.named[0], 2 * 'x');
}

static int check_window(void *arg)
{
	volatile char *room = arg;
	const void *const keeps[] = { __builtin_frame_address(0), &errno,
				      (const void *)(room + ROOM / 2) };

	pxt_trim(keeps, 3);
	CHILD_CHECK(!is_there(room));
	CHILD_CHECK(!is_there(room + ROOM / 2 - MANY));
	CHILD_CHECK(!is_there(room + ROOM / 2 + MANY));
	CHILD_CHECK(!is_there(room + ROOM - EVERY));
	CHILD_CHECK(is_there(room + ROOM / 2 - EVERY));
	CHILD_CHECK(is_there(room + ROOM / 2 + EVERY));
	return 0;
}

TEST(of_a_large_room_a_part_around_what_is_named_stays)
{
	volatile char *room = make_room();

	skip_if_nothing_is_trimmed();
	assert_int_equal(line_in_child(check_window, (void *)room), 0);
}

static int check_code(void *arg)
{
	static int data = 7;
	const void *const keeps[] = { __builtin_frame_address(0), &errno };

	pxt_trim(keeps, 2);
	CHILD_CHECK(data == 7);
	CHILD_CHECK(is_there((volatile char *)(uintptr_t)check_code));
	return 0;
}

TEST(code_and_data_of_files_stay)
{
	assert_int_equal(line_in_child(check_code, NULL), 0);
}
