/* Gives numbers to functions and texts, in the order of first use (see numbers.h). */
#include "utils/export/numbers.h"

#include <stdlib.h>
#include <string.h>

#include "utils/base/containers/vec.h"

void func_numbers_deinit(struct func_numbers *numbers)
{
	free(numbers->funcs);
	free(numbers->by_id);
	*numbers = (struct func_numbers){ 0 };
}

static bool grow_by_id(struct func_numbers *numbers, size_t id)
{
	uint32_t *by_id = vec_reach(numbers->by_id, &numbers->nr_by_id, id, sizeof(*by_id));

	if (!by_id)
		return false;
	numbers->by_id = by_id;
	return true;
}

uint32_t func_number_new(struct func_numbers *numbers, const struct func *func)
{
	const struct func **funcs;

	if (func->id >= numbers->nr_by_id && !grow_by_id(numbers, func->id))
		return 0;
	funcs = vec_grow(numbers->funcs, numbers->nr, sizeof(struct func *));
	if (!funcs)
		return 0;
	numbers->funcs = funcs;
	funcs[numbers->nr++] = func;
	return numbers->by_id[func->id] = numbers->nr;
}

void text_numbers_deinit(struct text_numbers *numbers)
{
	for (size_t i = 0; i < numbers->nr; i++)
		free(numbers->texts[i]);
	free(numbers->texts);
	strmap_deinit(&numbers->by_text);
	*numbers = (struct text_numbers){ 0 };
}

uint32_t text_number(struct text_numbers *numbers, const char *text)
{
	uintptr_t known = (uintptr_t)strmap_get(&numbers->by_text, text);

	if (known)
		return known;

	char **texts = vec_grow(numbers->texts, numbers->nr, sizeof(char *));
	char *copy = strdup(text);

	if (texts)
		numbers->texts = texts;
	if (!texts || !copy ||
	    strmap_put(&numbers->by_text, copy, (void *)(uintptr_t)(numbers->nr + 1)) < 0) {
		free(copy);
		return 0;
	}
	texts[numbers->nr++] = copy;
	return numbers->nr;
}
