/* Limits for reading a trace.dat (see budget.h). */
#include "utils/tracecmd/budget.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "utils/base/compiler.h"
#include "utils/base/containers/order.h"
#include "utils/base/containers/vec.h"

void budget_begin(struct tracedat_budget *budget, uint64_t file_bytes, enum tracedat_limit limit)
{
	uint64_t times = file_bytes > UINT64_MAX / TRACEDAT_UNPACK_TIMES
				 ? UINT64_MAX
				 : file_bytes * TRACEDAT_UNPACK_TIMES;
	uint64_t unpack = MAX(times, TRACEDAT_UNPACK_MIN_BYTES);

	*budget = (struct tracedat_budget){
		.limit = limit,
		.unpack_max = unpack,
		.unpack_left = unpack,
		.memory_left = TRACEDAT_MEMORY_MAX_BYTES,
	};
}

void budget_deinit(struct tracedat_budget *budget)
{
	free(budget->taken);
	*budget = (struct tracedat_budget){ 0 };
}

int budget_unpack(struct tracedat_budget *budget, uint64_t bytes, struct uft_err *err)
{
	if (budget->limit == TRACEDAT_UNLIMITED)
		return 0;
	if (bytes > budget->unpack_left)
		return err_set(err, -EDQUOT,
			       "unpacked it would have more than %" PRIu64
			       " bytes, which is the limit for a file of this size; if you trust "
			       "it, use --no-limit",
			       budget->unpack_max);
	budget->unpack_left -= bytes;
	return 0;
}

int budget_hold(struct tracedat_budget *budget, uint64_t bytes, struct uft_err *err)
{
	if (budget->limit == TRACEDAT_UNLIMITED)
		return 0;
	if (bytes > budget->memory_left)
		return err_set(err, -EDQUOT,
			       "reading it takes more than %lu MB of memory, which is the limit; "
			       "if you trust it, use --no-limit",
			       TRACEDAT_MEMORY_MAX_BYTES >> 20);
	budget->memory_left -= bytes;
	return 0;
}

void budget_give_back(struct tracedat_budget *budget, uint64_t bytes)
{
	if (budget->limit != TRACEDAT_UNLIMITED)
		budget->memory_left += bytes;
}

_Static_assert(offsetof(struct tracedat_extent, at) == 0, "searched by order_count_below()");

int budget_take_part(struct tracedat_budget *budget, uint64_t at, uint64_t bytes,
		     struct uft_err *err)
{
	size_t i = order_count_below(budget->taken, budget->nr_taken, sizeof(*budget->taken), at);
	struct tracedat_extent *taken;

	if (!bytes)
		return 0;
	if ((i > 0 && budget->taken[i - 1].end > at) ||
	    (i < budget->nr_taken && budget->taken[i].at - at < bytes))
		return err_set(err, -EBADMSG,
			       "offset %" PRIu64 ": these %" PRIu64
			       " bytes belong to another part of the file, too",
			       at, bytes);
	taken = vec_grow(budget->taken, budget->nr_taken, sizeof(*taken));
	if (!taken)
		return err_set_errno(err, -ENOMEM, "cannot keep %zu parts", budget->nr_taken + 1);
	budget->taken = taken;
	memmove(taken + i + 1, taken + i, (budget->nr_taken - i) * sizeof(*taken));
	taken[i] = (struct tracedat_extent){ at, at + bytes };
	budget->nr_taken++;
	return 0;
}
