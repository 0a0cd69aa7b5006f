/*
 * Fuzz target: the image of a plan. An image that is accepted can be read to its end, and made
 * again.
 */
#include <string.h>

#include "tests/fuzz/fuzz.h"
#include "utils/format/probe/plan.h"

/* Returns a copy of the entries, in the size that this build knows. The caller frees it. */
static void *copy_of(const struct plan_view *view, enum plan_kind kind)
{
	size_t bytes = (size_t)view->lists[kind].nr * plan_entry_bytes(kind);
	void *copy = malloc(bytes + 1);

	FUZZ_CHECK(copy);
	plan_copy(view, kind, copy);
	return copy;
}

static void make_again(const struct plan_view *view)
{
	struct plan_view made = { 0 };
	struct plan_view read;
	void *copies[PLAN_KINDS] = { 0 };

	for (unsigned kind = 1; kind < PLAN_KINDS; kind++) {
		copies[kind] = copy_of(view, kind);
		made.lists[kind] = plan_list(kind, copies[kind], view->lists[kind].nr);
	}

	uint64_t len = plan_image_bytes(&made);
	void *image = malloc(len);

	FUZZ_CHECK(image);
	plan_image_put(&made, image);
	FUZZ_CHECK(plan_open(&read, image, len, NULL) == 0);
	for (unsigned kind = 1; kind < PLAN_KINDS; kind++) {
		void *copy = copy_of(&read, kind);

		FUZZ_CHECK(read.lists[kind].nr == view->lists[kind].nr);
		FUZZ_CHECK(memcmp(copy, copies[kind],
				  (size_t)read.lists[kind].nr * plan_entry_bytes(kind)) == 0);
		free(copy);
		free(copies[kind]);
	}
	free(image);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct plan_view view;
	const char *why;
	/* malloc() aligns the image as a mapping would be. */
	void *image = malloc(size + 1);

	FUZZ_CHECK(image);
	memcpy(image, data, size);

	int ret = plan_open(&view, image, size, &why);

	FUZZ_CHECK((ret != 0) == (why != NULL));
	if (ret == 0)
		make_again(&view);
	free(image);
	return 0;
}
