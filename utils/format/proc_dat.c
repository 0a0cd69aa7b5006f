/* The records of proc.dat (see proc_dat.h). */
#include "utils/format/proc_dat.h"

#include <errno.h>

#include "utils/base/compiler.h"
#include "utils/format/bytes.h"

static void add_u32(struct strbuf *out, uint32_t v)
{
	strbuf_add(out, &v, sizeof(v));
}

static uint32_t padded(uint32_t len)
{
	return ALIGN_UP(len, 8U);
}

void proc_record_encode(const struct proc_record *rec, struct strbuf *out)
{
	uint8_t head[PROC_HEAD_BYTES];

	put_u64(head, rec->time_ns, PROC_IS_BIG);
	put_u32(head + 8, rec->tid, PROC_IS_BIG);
	put_u32(head + 12, rec->pid, PROC_IS_BIG);
	put_u32(head + 16, rec->kind, PROC_IS_BIG);
	put_u32(head + 20, rec->len, PROC_IS_BIG);
	strbuf_add(out, head, sizeof(head));
	strbuf_add(out, rec->data, rec->len);
	strbuf_addchars(out, '\0', padded(rec->len) - rec->len);
}

void proc_fork_encode(const struct proc_fork *made, struct strbuf *out)
{
	add_u32(out, made->child);
	add_u32(out, made->child_pid);
	add_u32(out, made->how);
	strbuf_add(out, &made->flags, sizeof(made->flags));
}

static size_t length_of(const struct text *text)
{
	return MIN(text_left(text), (size_t)PROC_TEXT_MAX);
}

/* Append the lengths of the texts, and then the texts. */
static void add_texts(const struct text *texts, size_t nr, struct strbuf *out)
{
	for (size_t i = 0; i < nr; i++)
		add_u32(out, length_of(&texts[i]));
	for (size_t i = 0; i < nr; i++)
		strbuf_add(out, texts[i].at, length_of(&texts[i]));
}

void proc_exec_encode(const struct proc_exec *exec, struct strbuf *out)
{
	const struct text texts[] = { exec->interpreter, exec->program, exec->cwd, exec->args };

	add_u32(out, exec->old_tid);
	add_texts(texts, ARRAY_SIZE(texts), out);
}

void proc_act_encode(const struct proc_act *act, struct strbuf *out)
{
	for (size_t i = 0; i < PROC_ACT_NUMBERS; i++)
		add_u32(out, act->numbers[i]);
	add_texts(act->texts, PROC_ACT_TEXTS, out);
}

void proc_exit_encode(int status, struct strbuf *out)
{
	add_u32(out, status);
}

void proc_cpu_encode(int cpu, struct strbuf *out)
{
	add_u32(out, cpu);
}

ssize_t proc_record_decode(const uint8_t *data, size_t len, bool big, struct proc_record *rec,
			   size_t *wanted, struct uft_err *err)
{
	*wanted = PROC_HEAD_BYTES;
	if (len < PROC_HEAD_BYTES)
		return 0;
	*rec = (struct proc_record){
		.time_ns = get_u64(data, big),
		.tid = get_u32(data + 8, big),
		.pid = get_u32(data + 12, big),
		.kind = get_u32(data + 16, big),
		.data = data + PROC_HEAD_BYTES,
		.len = get_u32(data + 20, big),
	};
	if (rec->len > PROC_PAYLOAD_MAX)
		return err_set(err, -EBADMSG, "a record of kind %u has %u bytes", rec->kind,
			       rec->len);
	if (rec->tid <= 0 || rec->pid <= 0)
		return err_set(err, -EBADMSG, "a record of kind %u is of task %d of process %d",
			       rec->kind, rec->tid, rec->pid);
	*wanted += padded(rec->len);
	return len < *wanted ? 0 : (ssize_t)*wanted;
}

bool proc_fork_decode(const uint8_t *data, size_t len, bool big, struct proc_fork *made)
{
	if (len < PROC_FORK_BYTES)
		return false;
	*made = (struct proc_fork){
		.child = get_u32(data, big),
		.child_pid = get_u32(data + 4, big),
		.how = get_u32(data + 8, big),
		.flags = len < PROC_FORK_BYTES + 8 ? 0 : get_u64(data + PROC_FORK_BYTES, big),
	};
	return made->child > 0 && made->child_pid > 0;
}

/*
 * Read @nr texts. Their lengths are at @at, and the texts follow. If @data is truncated, the last
 * texts are shorter or empty.
 */
static void take_texts(const uint8_t *data, size_t len, size_t at, bool big, struct text *texts,
		       size_t nr)
{
	size_t from = at + 4 * nr;

	for (size_t i = 0; i < nr; i++) {
		size_t there = MIN((size_t)get_u32(data + at + 4 * i, big), len - from);

		texts[i] = text_of((const char *)data + from, there);
		from += there;
	}
}

bool proc_exec_decode(const uint8_t *data, size_t len, bool big, struct proc_exec *exec)
{
	struct text texts[4];

	if (len < PROC_EXEC_BYTES)
		return false;
	take_texts(data, len, 4, big, texts, ARRAY_SIZE(texts));
	*exec = (struct proc_exec){
		.old_tid = get_u32(data, big),
		.interpreter = texts[0],
		.program = texts[1],
		.cwd = texts[2],
		.args = texts[3],
	};
	return true;
}

bool proc_act_decode(const uint8_t *data, size_t len, bool big, struct proc_act *act)
{
	if (len < PROC_ACT_BYTES)
		return false;
	for (size_t i = 0; i < PROC_ACT_NUMBERS; i++)
		act->numbers[i] = get_u32(data + 4 * i, big);
	take_texts(data, len, 4 * PROC_ACT_NUMBERS, big, act->texts, PROC_ACT_TEXTS);
	return true;
}

bool proc_exit_decode(const uint8_t *data, size_t len, bool big, int *status)
{
	if (len < PROC_EXIT_BYTES)
		return false;
	*status = (int32_t)get_u32(data, big);
	return true;
}

bool proc_cpu_decode(const uint8_t *data, size_t len, bool big, int *cpu)
{
	if (len < PROC_CPU_BYTES)
		return false;
	*cpu = (int32_t)get_u32(data, big);
	return *cpu >= 0 && *cpu <= PROC_CPU_MAX;
}

bool proc_next_arg(struct text *args, struct text *arg)
{
	size_t left = text_left(args);
	const char *end = left ? memchr(args->at, '\0', left) : NULL;

	if (!left)
		return false;
	*arg = (struct text){ args->at, end ? end : args->end };
	args->at = end ? end + 1 : args->end;
	return true;
}
