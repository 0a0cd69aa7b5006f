/* Types of events: acts of processes, such as open(2) and rename(2) (see src_proc.h). */
#include <fcntl.h>
#include <string.h>

#include "trace/seam/reader.h"
#include "utils/format/event_ids.h"
#include "utils/format/proc_dat.h"
#include "utils/pipeline/kinds/event_kind.h"

/* The member of struct proc_act that has the value of a field. */
enum act_place {
	NUMBER_0,
	NUMBER_1,
	NUMBER_2,
	NUMBER_OF_TWO, /* numbers[0] is the lower half, numbers[1] the upper one */
	ERROR,	       /* numbers[2] is an error number; the field's value is the error's name */
	TEXT_0,
	TEXT_1,
	TEXT_2,
};

static const struct event_field open_fields[] = {
	{ "fd", FIELD_INT, .place = NUMBER_0 },	  { "flags", FIELD_HEX, .place = NUMBER_1 },
	{ "mode", FIELD_HEX, .place = NUMBER_2 }, { "path", FIELD_TEXT, .place = TEXT_0 },
	{ "given", FIELD_TEXT, .place = TEXT_1 },
};
static const struct event_field close_fields[] = {
	{ "fd", FIELD_INT, .place = NUMBER_0 },
	{ "last", FIELD_UINT, .place = NUMBER_1 },
	{ "flags", FIELD_HEX, .place = NUMBER_2 },
};
static const struct event_field dup_fields[] = {
	{ "old", FIELD_INT, .place = NUMBER_0 },
	{ "new", FIELD_INT, .place = NUMBER_1 },
	{ "flags", FIELD_HEX, .place = NUMBER_2 },
};
static const struct event_field pipe_fields[] = {
	{ "read", FIELD_INT, .place = NUMBER_0 },
	{ "write", FIELD_INT, .place = NUMBER_1 },
	{ "flags", FIELD_HEX, .place = NUMBER_2 },
};
static const struct event_field move_fields[] = {
	{ "flags", FIELD_HEX, .place = NUMBER_0 },
	{ "from", FIELD_TEXT, .place = TEXT_0 },
	{ "to", FIELD_TEXT, .place = TEXT_1 },
};
static const struct event_field symlink_fields[] = {
	{ "target", FIELD_TEXT, .place = TEXT_0 },
	{ "path", FIELD_TEXT, .place = TEXT_1 },
	{ "resolved", FIELD_TEXT, .place = TEXT_2 },
};
static const struct event_field path_fields[] = {
	{ "flags", FIELD_HEX, .place = NUMBER_0 },
	{ "path", FIELD_TEXT, .place = TEXT_0 },
};
static const struct event_field mount_fields[] = {
	{ "flags", FIELD_HEX, .place = NUMBER_0 },
	{ "source", FIELD_TEXT, .place = TEXT_0 },
	{ "path", FIELD_TEXT, .place = TEXT_1 },
	{ "type", FIELD_TEXT, .place = TEXT_2 },
};
static const struct event_field inherit_fields[] = {
	{ "fd", FIELD_INT, .place = NUMBER_0 },
	{ "flags", FIELD_HEX, .place = NUMBER_1 },
	{ "path", FIELD_TEXT, .place = TEXT_0 },
};
static const struct event_field move_failed_fields[] = {
	{ "flags", FIELD_HEX, .place = NUMBER_0 },
	{ "from", FIELD_TEXT, .place = TEXT_0 },
	{ "to", FIELD_TEXT, .place = TEXT_1 },
	{ "error", FIELD_TEXT, .place = ERROR },
};
static const struct event_field mount_failed_fields[] = {
	{ "flags", FIELD_HEX, .place = NUMBER_0 }, { "source", FIELD_TEXT, .place = TEXT_0 },
	{ "path", FIELD_TEXT, .place = TEXT_1 },   { "type", FIELD_TEXT, .place = TEXT_2 },
	{ "error", FIELD_TEXT, .place = ERROR },
};
static const struct event_field path_failed_fields[] = {
	{ "flags", FIELD_HEX, .place = NUMBER_0 },
	{ "path", FIELD_TEXT, .place = TEXT_0 },
	{ "error", FIELD_TEXT, .place = ERROR },
};
static const struct event_field clone_failed_fields[] = {
	{ "flags", FIELD_HEX, .place = NUMBER_OF_TWO },
	{ "error", FIELD_TEXT, .place = ERROR },
};
static const struct event_field name_fields[] = { { "name", FIELD_TEXT, .place = TEXT_0 } };
static const struct event_field env_fields[] = { { "environment", FIELD_TEXT, .place = TEXT_0 } };

static bool decode_act(const struct event_context *context, struct proc_act *act)
{
	const struct event *event = context->event;

	return event->data &&
	       proc_act_decode(event->data, event->data_len, context->data->is_big_endian, act);
}

/* Find the name of the error. Returns an empty text if the error is unknown. */
static struct text error_of(const struct proc_act *act)
{
	const char *name = act->numbers[NUMBER_2] ? fst_errno_name((int)act->numbers[NUMBER_2])
						  : NULL;

	return text_of(name, name ? strlen(name) : 0);
}

/*
 * Get a field of an act. Flags of 0 are left out. The field "last" is left out when close(2) has
 * closed only one descriptor. Variables of the environment are separated by NULs.
 */
static bool get_act(const struct event_kind *kind, const struct event_context *context,
		    size_t index, struct event_value *out)
{
	enum proc_kind number = kind->id - EVENT_ID_PROC;
	enum act_place place = kind->fields[index].place;
	struct proc_act act;

	if (!decode_act(context, &act))
		return false;
	*out = (struct event_value){ .type = kind->fields[index].type };
	if (place >= ERROR) {
		out->text = place == ERROR ? error_of(&act) : act.texts[place - TEXT_0];
		if (number == PROC_ENV && text_left(&out->text) && !out->text.end[-1])
			out->text.end--;
		return text_left(&out->text);
	}
	if (place == NUMBER_OF_TWO) {
		out->number = (uint64_t)act.numbers[NUMBER_1] << 32 | act.numbers[NUMBER_0];
		return out->number;
	}
	out->number = act.numbers[place];
	if (out->type == FIELD_INT)
		out->number = (int64_t)(int32_t)act.numbers[place];
	if (out->type == FIELD_UINT)
		return act.numbers[place] != act.numbers[NUMBER_0];
	return out->type != FIELD_HEX || out->number;
}

/*
 * Write flags as "O_WRONLY|O_CREAT|0x8000". Only flags that are the same on all machines get names.
 */
static void put_open_flags(uint32_t flags, struct strbuf *out)
{
	static const char *const access[] = { "O_RDONLY", "O_WRONLY", "O_RDWR", "3" };
	static const struct {
		uint32_t bit;
		const char *name;
	} names[] = {
		{ 0100, "O_CREAT" },	   { 0200, "O_EXCL" },	    { 0400, "O_NOCTTY" },
		{ 01000, "O_TRUNC" },	   { 02000, "O_APPEND" },   { 04000, "O_NONBLOCK" },
		{ 02000000, "O_CLOEXEC" }, { 010000000, "O_PATH" },
	};

	strbuf_addstr(out, access[flags & 3]);
	flags &= ~3U;
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		if (flags & names[i].bit)
			strbuf_addf(out, "|%s", names[i].name);
		flags &= ~names[i].bit;
	}
	if (flags)
		strbuf_addf(out, "|%#x", flags);
}

static void put_environment(struct text all, struct strbuf *out)
{
	struct text one;

	for (const char *blank = ""; proc_next_arg(&all, &one); blank = " ") {
		strbuf_addstr(out, blank);
		event_word_put(&one, out);
	}
}

/* Write "fd=3 flags=O_RDONLY|O_CLOEXEC path=/etc/ld.so.cache". */
static void put_act(const struct event_kind *kind, const struct event_context *context,
		    struct strbuf *out)
{
	enum proc_kind number = kind->id - EVENT_ID_PROC;
	bool opens = number == PROC_OPEN || number == PROC_INHERIT;
	size_t before = out->len;
	struct event_value value = { 0 };
	struct proc_act act;

	if (!decode_act(context, &act))
		return;
	for (size_t i = 0; i < kind->nr_fields; i++) {
		const struct event_field *field = &kind->fields[i];
		bool is_flags = opens && strcmp(field->name, "flags") == 0;

		if (!get_act(kind, context, i, &value) && !is_flags)
			continue;
		strbuf_addf(out, "%s%s=", out->len > before ? " " : "", field->name);
		if (number == PROC_ENV)
			put_environment(value.text, out);
		else if (field->type == FIELD_TEXT)
			event_word_put(&value.text, out);
		else if (is_flags)
			put_open_flags(value.number, out);
		else if (strcmp(field->name, "mode") == 0)
			strbuf_addf(out, "%#o", (unsigned)value.number);
		else if (field->type == FIELD_HEX)
			strbuf_addf(out, "%#llx", (unsigned long long)value.number);
		else
			strbuf_addf(out, "%lld", (long long)value.number);
	}
}

#define ACT(id, name, fields)                                                  \
	{                                                                      \
		id, name, EVENT_FIELDS(fields), .get = get_act, .put = put_act \
	}

static const struct event_kind rows[] = {
	ACT(EVENT_ID_PROC_OPEN, "proc:open", open_fields),
	ACT(EVENT_ID_PROC_CLOSE, "proc:close", close_fields),
	ACT(EVENT_ID_PROC_DUP, "proc:dup", dup_fields),
	ACT(EVENT_ID_PROC_PIPE, "proc:pipe", pipe_fields),
	ACT(EVENT_ID_PROC_RENAME, "proc:rename", move_fields),
	ACT(EVENT_ID_PROC_LINK, "proc:link", move_fields),
	ACT(EVENT_ID_PROC_SYMLINK, "proc:symlink", symlink_fields),
	ACT(EVENT_ID_PROC_UNLINK, "proc:unlink", path_fields),
	ACT(EVENT_ID_PROC_MOUNT, "proc:mount", mount_fields),
	ACT(EVENT_ID_PROC_UMOUNT, "proc:umount", path_fields),
	ACT(EVENT_ID_PROC_INHERIT, "proc:inherit", inherit_fields),
	ACT(EVENT_ID_PROC_NAME, "proc:name", name_fields),
	ACT(EVENT_ID_PROC_ENV, "proc:env", env_fields),
	ACT(EVENT_ID_PROC_RENAME_FAILED, "proc:rename-failed", move_failed_fields),
	ACT(EVENT_ID_PROC_LINK_FAILED, "proc:link-failed", move_failed_fields),
	{ EVENT_ID_PROC_SYMLINK_FAILED, "proc:symlink-failed", .get = get_act, .put = put_act },
	ACT(EVENT_ID_PROC_MOUNT_FAILED, "proc:mount-failed", mount_failed_fields),
	ACT(EVENT_ID_PROC_UMOUNT_FAILED, "proc:umount-failed", path_failed_fields),
	ACT(EVENT_ID_PROC_CLONE_FAILED, "proc:clone-failed", clone_failed_fields),
};

const struct event_rows event_rows_proc_acts = { rows, ARRAY_SIZE(rows) };
