/* Points: places in the program's code where an event of its own is recorded (-E). */
#ifndef UTRAIL_LIBMCOUNT_POINTS_H
#define UTRAIL_LIBMCOUNT_POINTS_H

#include "utils/format/plan.h"

/*
 * COLD. Put the @nr points of a plan into the program: a stub each, then the jump that leads there. One whose code is not as the
 * recorder has seen it in the file is left alone; what fails is counted for the recorder. There may be other
 * threads, but they must not run in that code: at the start there are none, and a library that was just loaded is run by those that
 * its own constructors have started.
 */
void points_adopt(const struct plan_point *points, uint32_t nr);

/*
 * COLD, after a dlopen(). A module that was closed and came back to the same place has its own code again: put its points in
 * again.
 */
void points_look_again(void);

#endif
