/*
 * Facts about functions that are written in C (see natives.h). A hash table leads from the
 * definition of a function (PyMethodDef) to the facts about the function. All Python objects and
 * bound methods of a function share one definition.
 */
#include "libmcount/python/natives.h"

#include <sys/mman.h>
#include <sys/syscall.h>

#include "libmcount/hot/probe.h"
#include "libmcount/system/own_syscall.h"

_Atomic(struct native_table *) natives_table;
static _Atomic uint32_t is_changing;

#define FIRST_ROOM 1024UL

static struct native *find_place(struct native_table *in, uintptr_t def)
{
	uint64_t at = native_place(def, in->mask);
	uintptr_t there;

	while ((there = atomic_load_explicit(&in->list[at].def, memory_order_acquire)) != def &&
	       there)
		at = (at + 1) & in->mask;
	return &in->list[at];
}

static struct native_table *make_table(uint64_t room)
{
	size_t bytes = sizeof(struct native_table) + room * sizeof(struct native);
	struct native_table *made = (struct native_table *)own_syscall(
		SYS_mmap, NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0L);

	if (made == MAP_FAILED)
		return NULL;
	made->mask = room - 1;
	return made;
}

static void put_native(struct native_table *in, uintptr_t def, name_facts facts, uint64_t check)
{
	struct native *n = find_place(in, def);

	in->nr += !n->def;
	atomic_store_explicit(&n->facts, facts, memory_order_relaxed);
	atomic_store_explicit(&n->check, check, memory_order_release);
	atomic_store_explicit(&n->def, def, memory_order_release);
}

/* Returns a table with room for one more entry, or NULL when there is no memory. */
static struct native_table *table_with_room(void)
{
	struct native_table *now = atomic_load(&natives_table);

	if (now && now->nr < now->mask / 2)
		return now;

	struct native_table *made = make_table(now ? (now->mask + 1) * 2 : FIRST_ROOM);

	if (!made)
		return NULL;
	for (uint64_t i = 0; now && i <= now->mask; i++) {
		if (now->list[i].def)
			put_native(made, now->list[i].def, now->list[i].facts, now->list[i].check);
	}
	atomic_store(&natives_table, made);
	return made;
}

static void keep_native(const struct py_method_def *def, name_facts facts)
{
	uint32_t idle = 0;
	struct native_table *in;

	/*
	 * If another thread is changing the table, the facts are not kept. The next
	 * natives_facts() for the function then calls names_ask_native() again.
	 */
	if (!atomic_compare_exchange_strong(&is_changing, &idle, 1))
		return;
	in = table_with_room();
	if (in)
		put_native(in, (uintptr_t)def, facts, native_check(def));
	atomic_store(&is_changing, 0);
}

name_facts natives_facts(const struct py_c_function *fn)
{
	struct native_table *in = atomic_load_explicit(&natives_table, memory_order_acquire);
	uintptr_t def = (uintptr_t)fn->def;
	struct native *n = in ? find_place(in, def) : NULL;
	name_facts facts;

	if (n && n->def &&
	    atomic_load_explicit(&n->check, memory_order_acquire) == native_check(fn->def))
		return atomic_load_explicit(&n->facts, memory_order_relaxed);
	facts = names_ask_native(fn);
	keep_native(fn->def, facts);
	return facts;
}
