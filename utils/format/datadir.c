/* The names of the files of a data directory (see datadir.h). */
#include "utils/format/datadir.h"

#include <stddef.h>
#include <string.h>

#include "utils/base/compiler.h"
#include "utils/format/probe/request.h"
#include "utils/format/text.h"

enum middle {
	NOTHING,
	NUMBER,	    /* the number of a task or a CPU */
	SESSION_ID, /* 16 letters and digits */
	ANYTHING,   /* the name of a module */
};

static const struct name_form {
	const char *before;
	enum middle middle;
	const char *after;
} forms[] = {
	{ "info", NOTHING, "" },
	{ "task.txt", NOTHING, "" },
	{ "task", NOTHING, "" }, /* in recordings of early versions of uftrace */
	{ "default.opts", NOTHING, "" },
	{ "sid-", SESSION_ID, ".map" },
	{ "", ANYTHING, ".sym" },
	{ "", ANYTHING, ".dbg" },
	{ "", NUMBER, ".dat" },
	{ "", NUMBER, DATADIR_COMPACT_SUFFIX },
	{ "perf-cpu", NUMBER, ".dat" },
	{ "kernel-cpu", NUMBER, ".dat" },
	{ "kernel_header", NOTHING, "" },
	{ "kallsyms", NOTHING, "" },
	{ "events.txt", NOTHING, "" },
	{ "events.def", NOTHING, "" },
	{ "", NUMBER, DATADIR_EVENT_DATA_SUFFIX },
	{ "left-out.txt", NOTHING, "" },
	{ DATADIR_PROCESSES, NOTHING, "" },
	{ ".channel", NOTHING, "" }, /* uftrace has this file while it records */
	{ REQUEST_DOOR_NAME, NOTHING, "" },
	/* Users write the next two files; `utrail info` and `utrail replay` show them. */
	{ "note.txt", NOTHING, "" },
	{ "extern.dat", NOTHING, "" },
};

static bool is_middle(const char *text, size_t len, enum middle middle)
{
	static const char digits[] = "0123456789";
	static const char letters[] =
		"0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";

	switch (middle) {
	case NOTHING:
		return len == 0;
	case NUMBER:
		return len > 0 && strspn(text, digits) == len;
	case SESSION_ID:
		return len == 16 && strspn(text, letters) >= len;
	case ANYTHING:
		return len > 0;
	}
	return false;
}

static bool has_form(const char *name, size_t len, const struct name_form *form)
{
	size_t before = strlen(form->before);
	size_t after = strlen(form->after);

	return len >= before + after && memcmp(name, form->before, before) == 0 &&
	       memcmp(name + len - after, form->after, after) == 0 &&
	       is_middle(name + before, len - before - after, form->middle);
}

static bool is_name(const char *name, size_t len)
{
	for (size_t i = 0; i < ARRAY_SIZE(forms); i++) {
		if (has_form(name, len, &forms[i]))
			return true;
	}
	return false;
}

static int32_t tid_of(const char *name, const char *suffix)
{
	struct text in = text_of(name, strlen(name));
	int32_t tid;

	if (*name < '0' || *name > '9' || !text_i32(&in, &tid) || !text_word(&in, suffix) ||
	    in.at != in.end)
		return 0;
	return tid;
}

int32_t datadir_records_tid(const char *name)
{
	return tid_of(name, ".dat");
}

int32_t datadir_compact_tid(const char *name)
{
	return tid_of(name, DATADIR_COMPACT_SUFFIX);
}

bool datadir_has_name(const char *name)
{
	size_t len = strlen(name);
	size_t tmp = strlen(DATADIR_TMP(""));

	if (is_name(name, len))
		return true;
	return len > tmp && name[0] == '.' && strcmp(name + len - strlen(".tmp"), ".tmp") == 0 &&
	       is_name(name + 1, len - tmp);
}

bool datadir_is_private(const char *name)
{
	return strcmp(name, REQUEST_DOOR_NAME) == 0;
}
