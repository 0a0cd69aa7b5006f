/* The facts about files, as text (see filestext.h). */
#include "tests/unit/lib/read/filestext.h"

#include "tests/unit/lib/unit.h"

static void put_end(struct strbuf *out)
{
	strbuf_addch(out, '\n');
}

void files_put_names(const struct files *files, struct strbuf *out)
{
	for (size_t i = 0; i < files->nr_names; i++) {
		const struct file_name *name = &files->names[i];

		strbuf_addf(out, "%s ", name->path);
		if (name->content == FILES_NONE)
			strbuf_addch(out, '-');
		else
			strbuf_addf(out, "%u", name->content);
		strbuf_addstr(out, name->was_removed ? " removed" : "");
		put_end(out);
	}
}

static const char *path_of(const struct files *files, uint32_t name)
{
	return name == FILES_NONE ? "-" : files->names[name].path;
}

void files_put_contents(const struct files *files, struct strbuf *out)
{
	for (size_t i = 0; i < files->nr_contents; i++) {
		const struct file_content *it = &files->contents[i];
		uint32_t last = FILES_NONE;

		strbuf_addf(out, "#%zu %c %u %s%s", i, "fpo"[it->kind], it -> nr_names,
			    path_of(files, it->name), it -> is_outside ? " outside" : "");
		/* List the uses of the file, in their order. */
		for (uint32_t at = it->first_use; at != FILES_NONE;
		     last = at, at = files->uses[at].next_of_content)
			strbuf_addf(out, " %u", files->uses[at].execution);
		assert_int_equal(last, it->last_use);
		put_end(out);
	}
}

static void put_use(const struct files *files, const struct file_use *use, struct strbuf *out)
{
	strbuf_addf(out, "%u %s #%u %llu-%llu", use->execution, path_of(files, use->name),
		    use->content, (unsigned long long)use->open_ns,
		    (unsigned long long)use->close_ns);
	if (use->read_ns != UINT64_MAX)
		strbuf_addf(out, " r%llu", (unsigned long long)use->read_ns);
	if (use->write_ns != UINT64_MAX)
		strbuf_addf(out, " w%llu", (unsigned long long)use->write_ns);
	if (use->nr_open)
		strbuf_addf(out, " o%u", use->nr_open);
	strbuf_addstr(out, use->what ? " " : "");
	for (unsigned i = 0; i < 4; i++) {
		if (use->what & 1U << i)
			strbuf_addch(out, "SRWX"[i]);
	}
	if (use->given)
		strbuf_addf(out, " (%s)", use->given);
	put_end(out);
}

void files_put_uses(const struct files *files, struct strbuf *out)
{
	for (size_t i = 0; i < files->nr_of; i++) {
		uint32_t last = FILES_NONE;

		for (uint32_t at = files_first_use(files, i); at != FILES_NONE;
		     last = at, at = files->uses[at].next_of_execution)
			put_use(files, &files->uses[at], out);
		assert_int_equal(last, files->of[i].last_use);
	}
}

void files_check(const struct files *files, const char *names, const char *contents,
		 const char *uses)
{
	struct strbuf out cleanup_strbuf = { 0 };

	files_put_names(files, &out);
	assert_string_equal(strbuf_str(&out), names);
	strbuf_reset(&out);
	files_put_contents(files, &out);
	assert_string_equal(strbuf_str(&out), contents);
	strbuf_reset(&out);
	files_put_uses(files, &out);
	assert_string_equal(strbuf_str(&out), uses);
}
