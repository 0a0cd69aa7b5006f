/*
 * Decides whether the probe may replace a return address. The decision depends on the code at this
 * address. The words HOT and COLD are explained in libmcount/hot/probe.h.
 */
#ifndef UTRAIL_LIBMCOUNT_CALLERS_H
#define UTRAIL_LIBMCOUNT_CALLERS_H

#include <stdbool.h>
#include <stdint.h>

#include "utils/base/compiler.h"
#include "utils/format/probe/plan.h"

/*
 * The runtimes of some languages generate code, and fail when an unknown return address is on the
 * stack. So the probe replaces a return address only if the address points into the text of a
 * loaded module. With PLAN_REPLACE_ANY, the return address may point anywhere.
 *
 * PLAN_CALLERS lists ranges of code. The probe never replaces a return address that points into a
 * listed range. If a page outside of [@low, @low + @bytes) contains a part of a listed range, no
 * return address that points into this page is replaced. If the return address of a call is not
 * replaced, the end of the call is estimated (FRAME_KEPT in probe.h).
 *
 * @low, @bytes: the largest range of the program's text. Return addresses that point into this
 *               range may be replaced
 * @pages: numbers of other pages. Return addresses that point into these pages may be replaced.
 *         The index is the page's number modulo CALLERS_PAGES. The stubs look here if an address is
 *         not in the range at @low
 */
#define CALLERS_PAGE_SHIFT 12
#define CALLERS_PAGES	   1024

struct callers {
	uint64_t low;
	uint64_t bytes;
	uint64_t pages[CALLERS_PAGES];
};

extern struct callers callers __attribute__((visibility("hidden")));

/* HOT: true when it is known that return address @ret may be replaced. */
static inline bool callers_know(uint64_t ret)
{
	uint64_t page = ret >> CALLERS_PAGE_SHIFT;

	return likely(ret - callers.low < callers.bytes) ||
	       likely(callers.pages[page % CALLERS_PAGES] == page);
}

/*
 * HOT, but rarely called: only if callers_know() returns false. True when return address @ret may
 * be replaced.
 */
bool callers_look_up(uint64_t ret);

static inline bool callers_may_replace(uint64_t ret)
{
	return callers_know(ret) || callers_look_up(ret);
}

/*
 * COLD. Called when the first plan has come. Finds the largest piece of the program's own text. For
 * a return address that lies elsewhere, callers_look_up() is called.
 *
 * @is_any: a return address may be replaced even if it lies outside of all modules
 */
void callers_begin(bool is_any);

/* COLD. From now on, return addresses that lead into the code of @list are not replaced. */
void callers_keep(const struct plan_callers *list, uint32_t nr);

/* COLD. Forgets the known pages after modules were loaded or unloaded. */
void callers_forget(void);

#endif
