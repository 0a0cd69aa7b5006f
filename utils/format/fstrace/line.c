/* Parses lines of a log (see line.h). */
#include "utils/format/fstrace/line.h"

#include <stdbool.h>
#include <string.h>

/* The form of a time: each '0' stands for a digit. */
static const char time_shape[] = "0000-00-00 00:00:00.000000";

static unsigned number_at(const char *text, int nr_digits)
{
	unsigned value = 0;

	for (int i = 0; i < nr_digits; i++)
		value = value * 10 + (text[i] - '0');
	return value;
}

static bool is_leap(unsigned year)
{
	return (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
}

static unsigned days_of_month(unsigned year, unsigned month)
{
	static const unsigned char days[] = { 31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31 };

	return days[month - 1] + (month == 2 && is_leap(year));
}

/* Returns the days since 1970, which are negative for earlier years. */
static int64_t days_until(unsigned year, unsigned month, unsigned day)
{
	int64_t before = (int64_t)year - 1;
	int64_t days = before * 365 + before / 4 - before / 100 + before / 400 - 719162;

	/* The year 0 is a leap year, so it has a day that the formula does not count. */
	if (year == 0)
		days--;
	for (unsigned i = 1; i < month; i++)
		days += days_of_month(year, i);
	return days + day - 1;
}

static const char *parse_time(const char *text, size_t len, int64_t *us, size_t *at)
{
	for (*at = 0; *at < FST_TIME_LEN; ++*at) {
		if (*at >= len)
			return "the line ends within the time";
		if (time_shape[*at] == '0' ? text[*at] < '0' || text[*at] > '9'
					   : text[*at] != time_shape[*at])
			return "expected a time of the form YYYY-MM-DD hh:mm:ss.dddddd";
	}

	unsigned year = number_at(text, 4), month = number_at(text + 5, 2),
		 day = number_at(text + 8, 2);
	unsigned hour = number_at(text + 11, 2), minute = number_at(text + 14, 2),
		 second = number_at(text + 17, 2);

	*at = 5;
	if (month < 1 || month > 12)
		return "there is no such month";
	*at = 8;
	if (day < 1 || day > days_of_month(year, month))
		return "there is no such day in this month";
	*at = 11;
	if (hour > 23)
		return "there is no such hour";
	*at = 14;
	if (minute > 59)
		return "there is no such minute";
	*at = 17;
	if (second > 59)
		return "there is no such second";
	*us = ((days_until(year, month, day) * 24 + hour) * 60 + minute) * 60 + second;
	*us = *us * 1000000 + number_at(text + 20, 6);
	return NULL;
}

/* Find the first byte of [@at, @len) that is not in the range from @first to @last. */
static size_t span(const char *text, size_t at, size_t len, unsigned char first, unsigned char last)
{
	while (at < len && (unsigned char)text[at] >= first && (unsigned char)text[at] <= last)
		at++;
	return at;
}

const char *fst_line_parse(const char *text, size_t len, struct fst_line *line, size_t *wrong_at)
{
	const char *wrong = parse_time(text, len, &line->time_us, wrong_at);
	size_t at = FST_TIME_LEN;

	if (wrong)
		return wrong;
	*wrong_at = at;
	if (at >= len || text[at] != ' ')
		return "expected a blank after the time";
	line->id = text + ++at;
	*wrong_at = at;
	at = span(text, at, len, '!', '~');
	line->id_len = text + at - line->id;
	if (line->id_len == 0)
		return "expected the name of an event after the time";
	*wrong_at = at;
	if (at >= len)
		return "expected a blank after the event's name";
	if (text[at] != ' ')
		return "a byte that is not printable ASCII in the event's name";
	line->body = text + ++at;
	line->body_len = len - at;
	*wrong_at = span(text, at, len, ' ', '~');
	return *wrong_at < len ? "a byte that is not printable ASCII" : NULL;
}
