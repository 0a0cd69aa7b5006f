/* The text of containers (see argtext_shape.h). */
#include "utils/view/values/argtext_shape.h"

#include <stdio.h>
#include <string.h>

#include "utils/format/bytes.h"
#include "utils/format/probe/capture.h"
#include "utils/spec/args/shape.h"
#include "utils/pipeline/recording/data.h"

/*
 * A position in a captured container (a box, capture.h). The bytes from @at to @end remain to be
 * shown. These bytes may be invalid.
 */
struct box {
	struct subject *s;
	const struct shape *shape;
	const uint8_t *at;
	const uint8_t *end;
	unsigned open; /* number of open braces */
};

static bool take_box_bytes(struct box *box, size_t bytes, const uint8_t **data)
{
	if ((size_t)(box->end - box->at) < bytes)
		return false;
	*data = box->at;
	box->at += bytes;
	return true;
}

static void begin_shape(struct box *box, const struct shape_node *node, struct strbuf *out)
{
	color_begin(out, box->s->text->color, COLOR_CYAN);
	if (node->name)
		argtext_put_text(box->s, node->name, node->name_len, out);
	color_end(out, box->s->text->color);
	strbuf_addch(out, '{');
	box->open++;
}

static void end_shape(struct box *box, struct strbuf *out)
{
	strbuf_addch(out, '}');
	box->open--;
}

static bool put_node(struct box *box, size_t index, struct strbuf *out);

/* Skip the node at @index and all descendants of this node. Returns the index of the next node. */
static size_t behind(const struct box *box, size_t index)
{
	return index + 1 + box->shape->nodes[index].skip;
}

static bool put_bytes(struct box *box, const struct shape_node *node, struct strbuf *out)
{
	static const struct {
		char letter;
		enum arg_format format;
	} formats[] = {
		{ 'i', ARG_SIGNED }, { 'u', ARG_UNSIGNED }, { 'c', ARG_CHAR },
		{ 'f', ARG_FLOAT },  { 'p', ARG_POINTER },  { 'e', ARG_ENUM },
		{ 't', ARG_STRUCT },
	};
	struct argspec spec = { .type = { ARG_AUTO, node->numbers[1] } };
	struct arg_value value = { NULL, node->numbers[1] };
	char name[256];

	snprintf(name, sizeof(name), "%.*s", (int)node->name_len, node->name ? node->name : "");
	for (size_t i = 0; i < ARRAY_SIZE(formats); i++) {
		if (formats[i].letter == node->letter)
			spec.type.format = formats[i].format;
	}
	if (node->letter == 't')
		spec.fields = name;
	else if (node->letter == 'e')
		spec.name = name;
	if (!take_box_bytes(box, value.len, &value.data))
		return false;
	argtext_put_value(box->s, &spec, &value, out);
	return true;
}

static bool put_text(struct box *box, const struct shape_node *node, struct strbuf *out)
{
	struct argspec spec = { .type = { node->letter == 'z' ? ARG_STRING : ARG_STD_STRING, 8 } };
	struct arg_value value;
	const uint8_t *len;

	if (!take_box_bytes(box, sizeof(uint16_t), &len))
		return false;
	value.len = get_u16(len, false);
	if (!take_box_bytes(box, value.len, &value.data))
		return false;
	argtext_put_value(box->s, &spec, &value, out);
	if (node->letter == 'w' && !arg_value_is_null(&value))
		strbuf_addch(out, 'v');
	return true;
}

static bool put_sequence(struct box *box, size_t index, struct strbuf *out)
{
	const uint8_t *head;

	if (!take_box_bytes(box, sizeof(uint32_t) + sizeof(uint16_t), &head))
		return false;

	uint32_t number = get_u32(head, false);
	uint32_t stored = get_u16(head + sizeof(uint32_t), false);

	begin_shape(box, &box->shape->nodes[index], out);
	if (number == BOX_WILD) {
		strbuf_addch(out, '?');
		end_shape(box, out);
		return true;
	}
	if (number == BOX_MANY)
		strbuf_addf(out, "more than %u: ", BOX_WALK_MAX);
	/* The length of an array is not written, because it is in the type. */
	else if (box->shape->nodes[index].letter == 'a')
		number = MIN(number, (uint32_t)UINT16_MAX);
	else
		strbuf_addf(out, "%u%s", number, number ? ": " : "");
	for (uint32_t i = 0; i < MIN(number, stored); i++) {
		if (i)
			strbuf_addstr(out, ", ");
		if (!put_node(box, index + 1, out))
			return false;
	}
	if (stored < number)
		strbuf_addstr(out, stored ? ", ..." : "...");
	end_shape(box, out);
	return true;
}

static bool put_members(struct box *box, size_t index, struct strbuf *out)
{
	const struct shape_node *node = &box->shape->nodes[index];
	/* A node with the name "=" is a pair of a map, which is written as key=value. */
	bool is_entry = node->name && node->name_len == 1 && node->name[0] == '=';
	size_t child = index + 1;

	if (!is_entry)
		begin_shape(box, node, out);
	for (unsigned i = 0; i < node->nr_children; i++) {
		if (i)
			strbuf_addstr(out, is_entry ? "=" : ", ");
		if (!put_node(box, child, out))
			return false;
		child = behind(box, child);
	}
	if (!is_entry)
		end_shape(box, out);
	return true;
}

/*
 * Write a std::optional, a smart pointer, or a std::variant. A byte precedes the value. For a
 * variant, the byte is the index of the alternative. Otherwise, the byte is 0 if there is no value,
 * and BOX_EXPIRED for an expired weak_ptr.
 */
static bool put_maybe(struct box *box, size_t index, struct strbuf *out)
{
	const struct shape_node *node = &box->shape->nodes[index];
	const uint8_t *which;
	size_t child = index + 1;
	bool good = true;

	if (!take_box_bytes(box, 1, &which))
		return false;
	begin_shape(box, node, out);
	if (node->letter == 'v') {
		for (unsigned i = 0; i < *which && *which < node->nr_children; i++)
			child = behind(box, child);
		if (*which < node->nr_children)
			good = put_node(box, child, out);
	} else if (node->letter == 'Q' && *which == BOX_EXPIRED) {
		strbuf_addstr(out, "expired");
	} else if (*which) {
		good = put_node(box, child, out);
	} else if (node->letter == 'q' || node->letter == 'Q') {
		strbuf_addstr(out, "NULL");
	}
	if (good)
		end_shape(box, out);
	return good;
}

/* The children of a struct that are not written yet. */
struct fields {
	struct box *box;
	size_t next;
	unsigned left;
};

static bool put_boxed_field(void *self, struct strbuf *out)
{
	struct fields *fields = self;
	size_t index = fields->next;

	if (fields->left == 0)
		return false;
	fields->left--;
	fields->next = behind(fields->box, index);
	return put_node(fields->box, index, out);
}

/*
 * Write a struct without its name: only its fields in braces, with the contents of its containers
 * and strings.
 */
static bool put_struct(struct box *box, size_t index, struct strbuf *out)
{
	const struct shape_node *node = &box->shape->nodes[index];
	struct fields fields = { box, index + 1, node->nr_children };
	const struct boxed_fields boxed = { put_boxed_field, &fields };
	struct argspec spec = { .type = { ARG_STRUCT, node->numbers[1] } };
	struct arg_value value = { NULL, node->numbers[1] };
	char key[256];

	snprintf(key, sizeof(key), "%.*s", (int)node->name_len, node->name ? node->name : "");
	spec.fields = key;
	if (!take_box_bytes(box, value.len, &value.data))
		return false;
	box->open++;
	if (!argtext_put_fields(box->s, &spec, &value, &boxed, out))
		return false;
	box->open--;
	return true;
}

static bool put_node(struct box *box, size_t index, struct strbuf *out)
{
	const struct shape_node *node = &box->shape->nodes[index];

	if (box->s->fields == 0)
		return false;
	box->s->fields--;
	switch (node->letter) {
	case 'z':
	case 's':
	case 'S':
	case 'w':
		return put_text(box, node, out);
	case 'm':
		return put_members(box, index, out);
	case 'x':
		return put_struct(box, index, out);
	case 'o':
	case 'q':
	case 'Q':
	case 'v':
		return put_maybe(box, index, out);
	default:
		if (shape_is_sequence(node->letter))
			return put_sequence(box, index, out);
		return put_bytes(box, node, out);
	}
}

bool argtext_put_container(struct subject *s, const struct argspec *spec,
			   const struct arg_value *value, struct strbuf *out)
{
	const struct struct_def *def = arg_book_struct(s->event->func, spec);
	struct shape shape;
	struct box box = { s, &shape, value->data + 1, value->data + value->len, 0 };

	if (!def || !def->shape || !shape_parse(&shape, def->shape) || value->len == 0 ||
	    s->text->data->is_big_endian || s->nesting)
		return false;
	if (shape.nodes[0].letter == 'x')
		argtext_put_struct_name(s, spec, out);
	if (value->data[0] != BOX_GOOD && shape.nodes[0].letter == 'x') {
		strbuf_addstr(out, "{?}");
	} else if (value->data[0] != BOX_GOOD) {
		begin_shape(&box, &shape.nodes[0], out);
		strbuf_addch(out, '?');
	} else {
		s->nesting++;
		if (!put_node(&box, 0, out))
			strbuf_addstr(out, "...");
		s->nesting--;
	}
	while (box.open)
		end_shape(&box, out);
	return true;
}
