/* The fields of the kernel's events as text (see kernelfields.h). */
#include "utils/view/values/kernelfields.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <traceevent/event-parse.h>
#include <traceevent/trace-seq.h>

#include "utils/base/cleanup.h"
#include "utils/base/compiler.h"
#include "utils/view/values/kernelformat.h"

/*
 * libtraceevent, "the library" in this file, does not check the offsets in records. Offsets have 16
 * bits. So records are copied to a zeroed buffer that is large enough for all offsets.
 *
 * For some formats (see has_risk()), the library uses numbers from the record as indexes or
 * divisors, and does not check these numbers. The fields of records with such a format are shown
 * one by one, without the format.
 */
#define FIELD_END_MAX	 65536
#define RECORD_MAX	 65536
#define ROOM_BYTES	 (4 * 65536)
#define TREE_DEPTH_MAX	 4000
/* The maximum number of digits of a width in a format. */
#define WIDTH_DIGITS_MAX 3

/*
 * The limit of the work for the texts of records. Each byte of a record permits this number of
 * steps. If a record needs fewer steps, later records may use the remaining steps. Without the
 * limit, a record of a few bytes could get a text with a field of 64 KB, or with thousands of
 * arguments. Records of Linux need at most 5 steps for each byte.
 */
#define STEPS_PER_BYTE	  32
/* If the fields are shown one by one, find_work() multiplies the work by this factor. */
#define STEPS_PER_ELEMENT 4

/*
 * The number of steps for the text of a record is @steps + @nr_dynamic * LENGTH. LENGTH is the
 * length in bytes of the record's longest string or array of variable length.
 */
struct work {
	uint64_t steps;
	uint64_t nr_dynamic;
};

/* @is_plain: show the fields one by one */
struct kernelfields {
	struct tep_handle *tep;
	struct tep_event *event;
	struct work work;
	bool is_plain;
};

bool kernelfields_are_built_in(void)
{
	return true;
}

uint8_t *kernelfields_room(void)
{
	return calloc(1, ROOM_BYTES);
}

/* --- formats that are understood --- */

static bool has_sane_fields(const struct tep_format_field *field)
{
	for (; field; field = field->next) {
		if (field->offset < 0 || field->size < 0 || field->offset > FIELD_END_MAX ||
		    field->size > FIELD_END_MAX - field->offset)
			return false;
	}
	return true;
}

/* True for a number that is in the format itself, and is safe as a divisor or an index. */
static bool is_small_number(const struct tep_print_arg *arg)
{
	char *end;

	if (arg->type != TEP_PRINT_ATOM || !isdigit((unsigned char)arg->atom.atom[0]))
		return false;

	unsigned long long value = strtoull(arg->atom.atom, &end, 0);

	return value > 0 && value <= FIELD_END_MAX;
}

static bool is_zero(const struct tep_print_arg *arg)
{
	return arg->type == TEP_PRINT_ATOM && strcmp(arg->atom.atom, "0") == 0;
}

static bool has_risk(const struct tep_print_arg *arg, unsigned depth);

/* True when element @index of @array is certainly within the buffer of kernelfields_room(). */
static bool is_near(const struct tep_print_arg *array, const struct tep_print_arg *index)
{
	uint64_t element = sizeof(uint64_t);

	while (array && array->type == TEP_PRINT_TYPE)
		array = array->typecast.item;
	if (array && array->type == TEP_PRINT_FIELD && array->field.field)
		element = array->field.field->elementsize;
	return array && index && (is_zero(index) || is_small_number(index)) &&
	       element * (strtoull(index->atom.atom, NULL, 0) + 1) <= FIELD_END_MAX;
}

static bool op_has_risk(const struct tep_print_arg_op *op, unsigned depth)
{
	if (op->op[0] == '[' && !is_near(op->left, op->right))
		return true;
	if (strchr("/%", op->op[0]) && !(op->right && is_small_number(op->right)))
		return true;
	return has_risk(op->left, depth) || has_risk(op->right, depth);
}

/* True when the library might use a number of the record as an index or a divisor. */
static bool has_risk(const struct tep_print_arg *arg, unsigned depth)
{
	if (!arg)
		return false;
	if (depth > TREE_DEPTH_MAX)
		return true;
	switch (arg->type) {
	case TEP_PRINT_NULL:
	case TEP_PRINT_ATOM:
	case TEP_PRINT_STRING:
	case TEP_PRINT_BSTRING:
	case TEP_PRINT_BITMASK:
	case TEP_PRINT_CPUMASK:
	case TEP_PRINT_FIELD:
	case TEP_PRINT_DYNAMIC_ARRAY_LEN:
		return false;
	case TEP_PRINT_FLAGS:
		return has_risk(arg->flags.field, depth + 1);
	case TEP_PRINT_SYMBOL:
		return has_risk(arg->symbol.field, depth + 1);
	case TEP_PRINT_TYPE:
		return has_risk(arg->typecast.item, depth + 1);
	case TEP_PRINT_OP:
		return op_has_risk(&arg->op, depth + 1);
	default:
		return true;
	}
}

/* True when the format has a width that comes from the record, or that is very large. */
static bool has_wide_texts(const char *format)
{
	size_t digits = 0;

	for (const char *at = format; at && *at; at++) {
		digits = isdigit((unsigned char)*at) ? digits + 1 : 0;
		if (digits > WIDTH_DIGITS_MAX || (*at == '*' && at > format && at[-1] != '.'))
			return true;
	}
	return false;
}

static bool is_risky(const struct tep_event *event)
{
	if (event->flags || has_wide_texts(event->print_fmt.format))
		return true;
	for (const struct tep_print_arg *arg = event->print_fmt.args; arg; arg = arg->next) {
		if (has_risk(arg, 0))
			return true;
	}
	return false;
}

/* --- the work for a record --- */

static uint64_t count_pairs(const struct tep_print_flag_sym *pair)
{
	uint64_t nr = 0;

	for (; pair; pair = pair->next)
		nr++;
	return nr;
}

static void add_field(const struct tep_format_field *field, struct work *work)
{
	if (field && field->flags & TEP_FIELD_IS_DYNAMIC)
		work->nr_dynamic++;
	else if (field && field->flags & TEP_FIELD_IS_ARRAY)
		work->steps += field->size;
}

/* Add the work of printing @arg. has_risk() has limited the nesting of @arg. */
static void add_work(struct tep_event *event, const struct tep_print_arg *arg, struct work *work)
{
	if (!arg)
		return;
	work->steps++;
	switch (arg->type) {
	case TEP_PRINT_STRING:
	case TEP_PRINT_BSTRING:
	case TEP_PRINT_BITMASK:
	case TEP_PRINT_CPUMASK:
		work->nr_dynamic++;
		break;
	case TEP_PRINT_FIELD:
		add_field(tep_find_any_field(event, arg->field.name), work);
		break;
	case TEP_PRINT_FLAGS:
		work->steps += count_pairs(arg->flags.flags);
		add_work(event, arg->flags.field, work);
		break;
	case TEP_PRINT_SYMBOL:
		work->steps += count_pairs(arg->symbol.symbols);
		add_work(event, arg->symbol.field, work);
		break;
	case TEP_PRINT_TYPE:
		add_work(event, arg->typecast.item, work);
		break;
	case TEP_PRINT_OP:
		add_work(event, arg->op.left, work);
		add_work(event, arg->op.right, work);
		break;
	default:
		break;
	}
}

static struct work find_work(struct tep_event *event, bool is_plain)
{
	struct work work = { 0 };

	if (is_plain) {
		for (const struct tep_format_field *field = event->format.fields; field;
		     field = field->next) {
			work.steps++;
			add_field(field, &work);
		}
		work.steps *= STEPS_PER_ELEMENT;
		work.nr_dynamic *= STEPS_PER_ELEMENT;
		return work;
	}
	for (const struct tep_print_arg *arg = event->print_fmt.args; arg; arg = arg->next)
		add_work(event, arg, &work);
	return work;
}

/* Find the symbol at *@addr for libtraceevent, which does not change the returned text. */
static char *resolve(void *syms, unsigned long long *addr, char **module)
{
	uint64_t start;
	const char *name = kernelsyms_find(syms, *addr, &start);

	*module = NULL;
	if (name)
		*addr = start;
	return (char *)name;
}

static int parse_event_type(struct kernelfields *fields, const struct kernel_event_type *type,
			    const struct kernel_layout *layout, struct kernelsyms *syms)
{
	struct strbuf format cleanup_strbuf = { 0 };
	char *system cleanup_free = text_dup(&type->system);
	bool has_print;

	if (!system || !kernelformat_clean(type->format, &format, &has_print))
		return -1;
	fields->tep = tep_alloc();
	if (!fields->tep)
		return -1;
	tep_set_loglevel(TEP_LOG_NONE);
	tep_set_long_size(fields->tep, layout->long_size);
	tep_set_page_size(fields->tep, layout->page_bytes);
	tep_set_file_bigendian(fields->tep,
			       layout->is_big_endian ? TEP_BIG_ENDIAN : TEP_LITTLE_ENDIAN);
	if (syms)
		tep_set_function_resolver(fields->tep, resolve, syms);
	/*
	 * Ignore errors, because the library knows the fields even of formats that it cannot print.
	 */
	tep_parse_event(fields->tep, format.data, format.len, system);
	fields->event = tep_find_event(fields->tep, type->id);
	if (!fields->event || !has_sane_fields(fields->event->format.common_fields) ||
	    !has_sane_fields(fields->event->format.fields))
		return -1;
	fields->is_plain = !has_print || is_risky(fields->event);
	fields->work = find_work(fields->event, fields->is_plain);
	return 0;
}

struct kernelfields *kernelfields_create(const struct kernel_event_type *type,
					 const struct kernel_layout *layout,
					 struct kernelsyms *syms)
{
	struct kernelfields *fields = calloc(1, sizeof(*fields));

	if (fields && parse_event_type(fields, type, layout, syms) < 0) {
		kernelfields_destroy(fields);
		return NULL;
	}
	return fields;
}

void kernelfields_destroy(struct kernelfields *fields)
{
	if (!fields)
		return;
	if (fields->tep)
		tep_free(fields->tep);
	free(fields);
}

/* --- text --- */

/* Returns the length of the record's longest field of variable length (a string or an array). */
static uint64_t longest_dynamic(const struct kernelfields *fields, const uint8_t *room)
{
	uint64_t longest = 0;

	for (const struct tep_format_field *field = fields->event->format.fields; field;
	     field = field->next) {
		if (field->flags & TEP_FIELD_IS_DYNAMIC)
			longest = MAX(longest,
				      (uint64_t)tep_read_number(fields->tep, room + field->offset,
								field->size) >>
					      16);
	}
	return MIN(longest, (uint64_t)UINT16_MAX);
}

static bool can_pay(const struct kernelfields *fields, const struct tep_record *record,
		    uint64_t *steps)
{
	const struct work *work = &fields->work;
	uint64_t needed = work->steps;

	*steps += (uint64_t)record->size * STEPS_PER_BYTE;
	if (work->nr_dynamic)
		needed += work->nr_dynamic * longest_dynamic(fields, record->data);
	if (needed > *steps)
		return false;
	*steps -= needed;
	return true;
}

/* Write one line, even if fields contain newlines. */
static void put_line(const char *text, struct strbuf *out)
{
	size_t len;

	text += strspn(text, " \n");
	len = strlen(text);
	while (len && (text[len - 1] == ' ' || text[len - 1] == '\n'))
		len--;
	for (size_t i = 0; i < len; i++)
		strbuf_addch(out, text[i] == '\n'		    ? ' '
				  : iscntrl((unsigned char)text[i]) ? '?'
								    : text[i]);
}

void kernelfields_put(const struct kernelfields *fields, uint8_t *room, const uint8_t *data,
		      size_t len, uint64_t *steps, struct strbuf *out)
{
	struct tep_record record = { .data = room, .size = MIN(len, (size_t)RECORD_MAX) };
	struct trace_seq text;

	memcpy(room, data, record.size);
	if (!can_pay(fields, &record, steps)) {
		memset(room, 0, record.size);
		strbuf_addf(out, "fields left out: more than %u steps a byte, which is the limit",
			    STEPS_PER_BYTE);
		return;
	}
	trace_seq_init(&text);
	if (fields->is_plain)
		tep_print_fields(&text, room, record.size, fields->event);
	else
		tep_print_event(fields->tep, &text, &record, "%s", TEP_PRINT_INFO);
	memset(room, 0, record.size);
	trace_seq_terminate(&text);
	if (text.state == TRACE_SEQ__GOOD)
		put_line(text.buffer, out);
	trace_seq_destroy(&text);
}
