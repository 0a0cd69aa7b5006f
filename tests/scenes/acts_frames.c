/*
 * A program that looks for its own frames in a traced call. It exits with the number of the frames
 * that are wrong.
 */
#include <execinfo.h>
#include <stdbool.h>
#include <unwind.h>

#include "acts.h"

#define FRAMES 8

extern char __executable_start[], etext[];

__attribute__((no_instrument_function)) static bool is_here(const void *address)
{
	return (const char *)address >= __executable_start && (const char *)address < etext;
}

/*
 * Returns the number of wrong results of backtrace(), which must find @size frames, all of this
 * program.
 */
__attribute__((no_instrument_function)) static int count_wrong(int size)
{
	void *frames[FRAMES] = { 0 };
	int nr_wrong = backtrace(frames, size) != size;

	for (int i = 0; i < FRAMES; i++)
		nr_wrong += is_here(frames[i]) != (i < size);
	return nr_wrong;
}

struct walk {
	int nr_left;
	int nr_wrong;
};

__attribute__((no_instrument_function)) static _Unwind_Reason_Code see_frame(
	struct _Unwind_Context *context, void *arg)
{
	struct walk *walk = arg;

	walk->nr_wrong += !is_here((const void *)_Unwind_GetIP(context));
	return --walk->nr_left ? _URC_NO_REASON : _URC_NORMAL_STOP;
}

/* see_frame() must end the walk. If the stack ends before that, this counts as wrong, too. */
__attribute__((no_instrument_function)) static int count_wrong_of_walk(int size)
{
	struct walk walk = { size, 0 };
	_Unwind_Reason_Code code = _Unwind_Backtrace(see_frame, &walk);

	return walk.nr_wrong + (walk.nr_left != 0) + (code == _URC_END_OF_STACK);
}

FN int within(int depth, int (*count)(int size), int size)
{
	int nr_wrong = depth > 0 ? within(depth - 1, count, size) : count(size);

	KEEP();
	return nr_wrong;
}

int main(void)
{
	int nr_wrong = backtrace(0, 0) != 0;

	for (int size = 1; size <= FRAMES; size++) {
		nr_wrong += within(7, count_wrong, size);
		nr_wrong += within(7, count_wrong_of_walk, size);
	}
	return nr_wrong;
}
