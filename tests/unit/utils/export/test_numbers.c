/* Functions and texts numbered as they come. */
#include <stdint.h>

#include "tests/unit/lib/unit.h"

#include "utils/export/numbers.h"

TEST(first_come_first_numbered)
{
	const struct func late = { .id = 7 };
	const struct func early = { .id = 0 };
	struct func_numbers numbers = { 0 };

	assert_int_equal(func_number(&numbers, &late), 1);
	assert_int_equal(func_number(&numbers, &early), 2);
	assert_int_equal(func_number(&numbers, &late), 1);
	assert_int_equal(numbers.nr, 2);
	assert_ptr_equal(numbers.funcs[0], &late);
	assert_ptr_equal(numbers.funcs[1], &early);
	func_numbers_deinit(&numbers);
	assert_int_equal(numbers.nr, 0);
}

TEST(any_number_of_them)
{
	struct func_numbers numbers = { 0 };
	struct func funcs[1000];

	for (uint32_t i = 0; i < 1000; i++) {
		funcs[i] = (struct func){ .id = i * 3 };
		assert_int_equal(func_number(&numbers, &funcs[i]), i + 1);
	}
	for (uint32_t i = 0; i < 1000; i++) {
		assert_int_equal(func_number(&numbers, &funcs[i]), i + 1);
		assert_ptr_equal(numbers.funcs[i], &funcs[i]);
	}
	func_numbers_deinit(&numbers);
}

TEST(a_text_has_one_number)
{
	struct text_numbers numbers = { 0 };
	char text[] = "late";

	assert_int_equal(text_number(&numbers, text), 1);
	text[0] = 'd';
	assert_int_equal(text_number(&numbers, "early"), 2);
	assert_int_equal(text_number(&numbers, "late"), 1);
	assert_int_equal(text_number(&numbers, ""), 3);
	assert_int_equal(numbers.nr, 3);
	assert_string_equal(numbers.texts[0], "late");
	assert_string_equal(numbers.texts[1], "early");
	text_numbers_deinit(&numbers);
	assert_int_equal(numbers.nr, 0);
}
