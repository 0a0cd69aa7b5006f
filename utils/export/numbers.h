/*
 * Gives a number to each function and to each text, in the order of first use. Export formats that
 * have tables need such numbers.
 */
#ifndef UTRAIL_EXPORT_NUMBERS_H
#define UTRAIL_EXPORT_NUMBERS_H

#include <stddef.h>
#include <stdint.h>

#include "utils/base/compiler.h"
#include "utils/base/containers/strmap.h"
#include "utils/pipeline/recording/module.h"

/*
 * Starts as zeros and ends with func_numbers_deinit().
 *
 * @funcs: the function of each number
 * @by_id: the number of each function plus one; the index is func->id
 */
struct func_numbers {
	const struct func **funcs;
	size_t nr;
	uint32_t *by_id;
	size_t nr_by_id;
};

void func_numbers_deinit(struct func_numbers *numbers);

/* The slow path of func_number(). */
uint32_t func_number_new(struct func_numbers *numbers, const struct func *func);

/*
 * HOT: returns the number of @func plus one, or 0 when memory is short. If @func has no number,
 * @func gets the next number. In this case, the result is the new value of numbers->nr.
 */
static inline uint32_t func_number(struct func_numbers *numbers, const struct func *func)
{
	if (likely(func->id < numbers->nr_by_id && numbers->by_id[func->id]))
		return numbers->by_id[func->id];
	return func_number_new(numbers, func);
}

/*
 * Starts as zeros and ends with text_numbers_deinit().
 *
 * @texts: the text of each number
 * @by_text: maps from a text to its number plus one
 */
struct text_numbers {
	char **texts;
	size_t nr;
	struct strmap by_text;
};

void text_numbers_deinit(struct text_numbers *numbers);

/*
 * Returns the number of @text plus one, or 0 when memory is short. If @text has no number, @text
 * gets the next number. In this case, the result is the new value of numbers->nr.
 */
uint32_t text_number(struct text_numbers *numbers, const char *text);

#endif
