/* The names and ids of user events. Several processes add names without a lock. */
#include "posix/posix.h"

#include <sched.h>
#include <string.h>

/*
 * Copies the text of a name. The copy ends with a zero byte even if another process writes to the
 * name at the same time.
 */
static void copy_text(const struct pxt_name *name, char text[PT_NAME_MAX + 1])
{
	memcpy(text, name->text, PT_NAME_MAX);
	text[PT_NAME_MAX] = '\0';
}

/*
 * The number of checks after which a thread stops waiting for a writer. Usually a writer needs less
 * than a microsecond. If a writer has died and another process has got its pid, the waiting thread
 * does not notice the death. Without a maximum, the thread would wait for ever.
 */
#define WAITS_MAX (1 << 20)

/*
 * Waits for the writer of a name. Returns false if the writer has died. In this case this process
 * must write the name.
 */
static bool wait_for(struct pxt_name *name, uint32_t state, uint32_t self)
{
	for (int nr = 1; state != PT_NAME_READY && nr < WAITS_MAX; nr++) {
		if (nr % 1024 == 0 && pxt_process_is_dead((pid_t)state) &&
		    atomic_compare_exchange_strong(&name->state, &state, self))
			return false;
		sched_yield();
		state = atomic_load_explicit(&name->state, memory_order_acquire);
	}
	return true;
}

/*
 * All processes search the names in the same order. A process takes an entry only after all earlier
 * entries are finished. So no name has two entries.
 */
uint32_t pxt_names_open(struct pxt_names *names, const char *text)
{
	uint32_t self = atomic_load_explicit(&pxt_process.pid, memory_order_relaxed);
	char other[PT_NAME_MAX + 1];

	for (uint32_t nr = 0; nr < PT_NR_NAMED; nr++) {
		struct pxt_name *name = &names->names[nr];
		uint32_t state = 0;

		if (atomic_compare_exchange_strong(&name->state, &state, self) ||
		    !wait_for(name, state, self)) {
			memset(name->text, 0, sizeof(name->text));
			memcpy(name->text, text, strlen(text));
			atomic_store_explicit(&name->state, PT_NAME_READY, memory_order_release);
			return PT_FIRST_NAMED + nr;
		}
		copy_text(name, other);
		if (!strcmp(other, text))
			return PT_FIRST_NAMED + nr;
	}
	return PT_UNNAMED;
}

const char *pxt_names_get(const struct pxt_names *names, uint32_t id, char text[PT_NAME_MAX + 1])
{
	const char *fixed = pxt_fixed_name(id);
	const struct pxt_name *name;

	if (fixed)
		return strcpy(text, fixed);
	if (id < PT_FIRST_NAMED || id >= PT_END_NAMED)
		return NULL;
	name = &names->names[id - PT_FIRST_NAMED];
	if (atomic_load_explicit(&name->state, memory_order_acquire) != PT_NAME_READY)
		return NULL;
	copy_text(name, text);
	return text;
}
