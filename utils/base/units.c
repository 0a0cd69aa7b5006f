/* Times and sizes as people type them (see units.h). */
#include "utils/base/units.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

struct unit {
	const char *name;
	uint64_t scale;
};

static const struct unit time_units[] = {
	{ "", 1 },
	{ "ns", 1 },
	{ "nsec", 1 },
	{ "us", NSEC_PER_USEC },
	{ "usec", NSEC_PER_USEC },
	{ "ms", NSEC_PER_MSEC },
	{ "msec", NSEC_PER_MSEC },
	{ "s", NSEC_PER_SEC },
	{ "sec", NSEC_PER_SEC },
	{ "m", 60 * NSEC_PER_SEC },
	{ "min", 60 * NSEC_PER_SEC },
};

static const struct unit size_units[] = {
	{ "", 1 },
	{ "k", 1ULL << 10 },
	{ "m", 1ULL << 20 },
	{ "g", 1ULL << 30 },
};

static const struct unit *find_unit(const struct unit *units, size_t nr, const char *name)
{
	for (size_t i = 0; i < nr; i++) {
		if (strcasecmp(units[i].name, name) == 0)
			return &units[i];
	}
	return NULL;
}

/* Parse the digits at *@text. Returns how many digits there are, or -1 when @value overflows. */
static int parse_digits(const char **text, uint64_t *value)
{
	int count = 0;
	bool too_large = false;

	*value = 0;
	for (; **text >= '0' && **text <= '9'; (*text)++, count++) {
		too_large |= __builtin_mul_overflow(*value, 10ULL, value) ||
			     __builtin_add_overflow(*value, (uint64_t)(**text - '0'), value);
	}
	return too_large ? -1 : count;
}

int parse_time(const char *text, uint64_t *time_ns, struct uft_err *err)
{
	const char *at = text;
	const char *fraction = NULL;
	uint64_t whole;
	int digits = parse_digits(&at, &whole);

	if (digits > 0 && *at == '.') {
		fraction = ++at;
		at += strspn(at, "0123456789");
	}

	const struct unit *unit = find_unit(time_units, ARRAY_SIZE(time_units), at);

	if (digits == 0 || !unit)
		return err_set(err, -EINVAL,
			       "invalid time '%s': expected a number and one of ns, us, ms, s, m",
			       text);

	uint64_t ns;

	if (digits < 0 || __builtin_mul_overflow(whole, unit->scale, &ns) || ns > INT64_MAX)
		return err_set(err, -ERANGE, "invalid time '%s': too large", text);

	uint64_t scale = unit->scale;

	for (; fraction && fraction < at; fraction++) {
		scale /= 10;
		ns += (uint64_t)(*fraction - '0') * scale;
	}
	if (ns > INT64_MAX)
		return err_set(err, -ERANGE, "invalid time '%s': too large", text);
	*time_ns = ns;
	return 0;
}

int parse_size(const char *text, uint64_t *bytes, struct uft_err *err)
{
	const char *at = text;
	uint64_t value;
	int digits = parse_digits(&at, &value);
	const struct unit *unit = find_unit(size_units, ARRAY_SIZE(size_units), at);

	if (digits == 0 || !unit)
		return err_set(err, -EINVAL,
			       "invalid size '%s': expected a number and optionally k, m or g",
			       text);
	if (digits < 0 || __builtin_mul_overflow(value, unit->scale, &value) || value > INT64_MAX)
		return err_set(err, -ERANGE, "invalid size '%s': too large", text);
	*bytes = value;
	return 0;
}

void format_time(uint64_t time_ns, struct strbuf *out)
{
	static const struct unit shown[] = {
		{ "ns", 1 },
		{ "us", NSEC_PER_USEC },
		{ "ms", NSEC_PER_MSEC },
		{ "s", NSEC_PER_SEC },
	};
	size_t i = 0;

	while (i + 1 < ARRAY_SIZE(shown) && time_ns >= shown[i + 1].scale)
		i++;

	uint64_t thousandths = i ? time_ns % shown[i].scale / shown[i - 1].scale : 0;

	strbuf_addu64(out, time_ns / shown[i].scale);
	if (thousandths) {
		strbuf_addf(out, ".%03u", (unsigned)thousandths);
		while (!strbuf_oom(out) && out->data[out->len - 1] == '0')
			strbuf_cut(out, out->len - 1);
	}
	strbuf_addstr(out, shown[i].name);
}
