/*
 * Checks messages, fills in message headers, and parses addresses (see control.h). The probe
 * contains this file, and the probe must not depend on many functions of libc. So strlen(3) is the
 * single function of libc that this file calls.
 */
#include "utils/format/probe/control.h"

#include <string.h>

#include "utils/format/callables.h"
#include "utils/format/event_ids.h"

/* True when the last byte of the message is a NUL, which ends the path of the module. */
static bool module_is_valid(const void *message, size_t len)
{
	return ((const char *)message)[len - 1] == '\0';
}

static bool crash_is_valid(const void *message, size_t len)
{
	return ((const struct control_crash *)message)->nr_frames <= CONTROL_CRASH_FRAMES;
}

/* True when the bytes from @texts to the end of the message are @nr texts, each with its NUL. */
static bool has_texts(const void *message, const char *texts, size_t len, unsigned nr)
{
	size_t bytes = len - (texts - (const char *)message);

	if (!bytes || texts[bytes - 1])
		return false;
	for (size_t i = 0; i < bytes; i++)
		nr -= !texts[i];
	return !nr;
}

/* True when the message has two texts: a name, which is not empty, and a file. */
static bool callable_is_valid(const void *message, size_t len)
{
	const struct control_callable *m = message;

	return len > sizeof(*m) && m->texts[0] && has_texts(m, m->texts, len, 2);
}

static bool callable_is_is_valid(const void *message, size_t len)
{
	const struct control_callable_is *m = message;

	return m->addr < CALLABLES_END && !(m->values >> CALLABLE_VALUE_BITS);
}

/* True when the message has two or three texts, and nothing after them. */
static bool declare_is_valid(const void *message, size_t len)
{
	const struct control_declare *m = message;

	return m->texts[0] && m->has_common <= 1 && has_texts(m, m->texts, len, 2 + m->has_common);
}

static bool declared_is_valid(const void *message, size_t len)
{
	uint32_t event = ((const struct control_declared *)message)->event;

	return !event || (event >= EVENT_ID_USER && event < EVENT_ID_USER + EVENT_USER_MAX);
}

/* @texts: the least number of bytes of the message's texts */
#define SHAPE(name, NAME, texts, ...)                                                         \
	const struct control_shape control_##name##_shape = {                                 \
		CONTROL_##NAME, sizeof(struct control_##name) + (texts), #NAME, ##__VA_ARGS__ \
	}

SHAPE(hello, HELLO, 0);
SHAPE(module, MODULE, 1, module_is_valid);
SHAPE(ready, READY, 0);
SHAPE(welcome, WELCOME, 0);
SHAPE(plan, PLAN, 0);
SHAPE(set_plan, SET_PLAN, 0);
SHAPE(declare, DECLARE, 3, declare_is_valid);
SHAPE(declared, DECLARED, 0, declared_is_valid);
SHAPE(callable, CALLABLE, 2, callable_is_valid);
SHAPE(callable_is, CALLABLE_IS, 0, callable_is_is_valid);
SHAPE(crash, CRASH, 0, crash_is_valid);
SHAPE(error, ERROR, 0);
SHAPE(status, STATUS, 0);
SHAPE(status_is, STATUS_IS, 0);
SHAPE(working, WORKING, 0);

/*
 * The number of bytes from the start of the header to the end of the field `version`. Messages of
 * all versions begin with the same fields.
 */
#define COMMON_BYTES offsetof(struct control_header, flags)

static enum control_verdict check_header(const struct control_header *h, size_t len)
{
	if (len < COMMON_BYTES || h->magic != CONTROL_MAGIC)
		return CONTROL_NO_MESSAGE;
	if (h->version != CONTROL_VERSION)
		return CONTROL_OTHER_VERSION;
	return len < sizeof(*h) || h->len != len ? CONTROL_NO_MESSAGE : CONTROL_TAKEN;
}

static enum control_verdict check_body(const struct control_shape *shape, const void *packet,
				       size_t len)
{
	if (len < shape->min_len || (shape->is_valid && !shape->is_valid(packet, len)))
		return CONTROL_MALFORMED;
	return CONTROL_TAKEN;
}

static const struct control_row *find_row(const struct control_table *table, uint16_t type)
{
	for (size_t i = 0; i < table->nr; i++) {
		if (table->rows[i].shape->type == type)
			return &table->rows[i];
	}
	return NULL;
}

enum control_verdict control_take(const struct control_table *table, unsigned *state, void *context,
				  const void *packet, size_t len)
{
	const struct control_header *h = packet;
	enum control_verdict verdict = check_header(h, len);

	if (verdict != CONTROL_TAKEN)
		return verdict;

	const struct control_row *row = find_row(table, h->type);

	if (!row)
		return h->flags & CONTROL_OPTIONAL ? CONTROL_SKIPPED : CONTROL_UNKNOWN_TYPE;
	verdict = check_body(row->shape, packet, len);
	if (verdict != CONTROL_TAKEN)
		return verdict;
	if (!(row->states & CONTROL_IN(*state)))
		return CONTROL_OUT_OF_PLACE;
	*state = row->take(context, packet, len);
	return CONTROL_TAKEN;
}

void control_stamp(void *message, enum control_type type, uint32_t flags, size_t len, uint32_t seq)
{
	*(struct control_header *)message = (struct control_header){
		.magic = CONTROL_MAGIC,
		.type = type,
		.version = CONTROL_VERSION,
		.flags = flags,
		.len = len,
		.seq = seq,
	};
}

struct control_error control_error_about(const void *packet, enum control_verdict verdict)
{
	const struct control_header *h = packet;
	struct control_error error = { .verdict = verdict, .type = h->type };

	control_stamp(&error, CONTROL_ERROR, CONTROL_ANSWER, sizeof(error), h->seq);
	return error;
}

static int hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* Find the digits of ":digits". Returns NULL if @text is something else. */
static const char *filters_at(const char *text)
{
	size_t nr = 0;

	if (*text != ':')
		return NULL;
	while (text[1 + nr] >= '0' && text[1 + nr] <= '9')
		nr++;
	return nr == CONTROL_FILTERS_DIGITS && !text[1 + nr] ? text + 1 : NULL;
}

/*
 * @address: "name:secret" or "name:secret:filters" (see control.h)
 *
 * Returns the digits of "filters", or NULL if @address has no such digits.
 */
static const char *filters_of(const char *address)
{
	size_t len = strlen(address);

	return len > CONTROL_FILTERS_DIGITS ? filters_at(address + len - CONTROL_FILTERS_DIGITS - 1)
					    : NULL;
}

size_t control_address_parse(const char *address, uint8_t secret[CONTROL_SECRET_BYTES])
{
	size_t len = 0;
	const char *hex;

	while (address[len] && address[len] != ':' && len < CONTROL_NAME_SIZE)
		len++;
	if (len >= CONTROL_NAME_SIZE || address[len] != ':')
		return 0;
	hex = address + len + 1;
	for (size_t i = 0; i < CONTROL_SECRET_BYTES; i++) {
		int high = hex_digit(hex[2 * i]);
		int low = high < 0 ? -1 : hex_digit(hex[2 * i + 1]);

		if (low < 0)
			return 0;
		secret[i] = high << 4 | low;
	}
	hex += 2 * CONTROL_SECRET_BYTES;
	return *hex && !filters_at(hex) ? 0 : len;
}

unsigned control_address_filters(const char *address)
{
	const char *digits = filters_of(address);
	unsigned number = 0;

	for (; digits && *digits; digits++)
		number = number * 10 + (*digits - '0');
	return number;
}

void control_address_add_filter(char *address)
{
	const char *digits = filters_of(address);
	size_t first = digits ? digits - address : 0;

	for (size_t i = first + CONTROL_FILTERS_DIGITS; digits && i-- > first;) {
		if (address[i] != '9') {
			address[i]++;
			return;
		}
		address[i] = '0';
	}
}

bool control_secret_is(const uint8_t a[CONTROL_SECRET_BYTES], const uint8_t b[CONTROL_SECRET_BYTES])
{
	unsigned differ = 0;

	for (size_t i = 0; i < CONTROL_SECRET_BYTES; i++)
		differ |= a[i] ^ b[i];
	return differ == 0;
}

unsigned control_other_version(const void *packet, size_t len,
			       const uint8_t secret[CONTROL_SECRET_BYTES])
{
	const struct control_hello *hello = packet;

	if (len < offsetof(struct control_hello, token) ||
	    check_header(&hello->h, len) != CONTROL_OTHER_VERSION || hello->h.type != CONTROL_HELLO)
		return 0;
	return control_secret_is(hello->secret, secret) ? hello->h.version : 0;
}
