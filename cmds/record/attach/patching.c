/* Adds and removes hooks of a process while the process is recorded (see attach.h). */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>

#include "cmds/record/attach/attaching.h"
#include "utils/base/cleanup.h"
#include "utils/base/containers/order.h"
#include "utils/base/containers/vec.h"

#define ADOPT_TRIES 50
#define TEXT_TRIES  50
#define WAIT_US	    1000

static bool has_site(const struct strbuf *sites, uint64_t site)
{
	return sites->len &&
	       bsearch(&site, sites->data, sites->len / sizeof(site), sizeof(site), order_u64);
}

/* --- patches that the probe does not know yet --- */

static int list_known(const struct text *text, struct strbuf *sites)
{
	for (size_t i = 0; i < text->nr; i++) {
		if (!(text->changes[i].flags & ATTACH_CHANGE_EVENT))
			strbuf_add(sites, &text->changes[i].site, sizeof(uint64_t));
	}
	if (sites->len)
		qsort(sites->data, sites->len / sizeof(uint64_t), sizeof(uint64_t), order_u64);
	return strbuf_oom(sites) ? -ENOMEM : 0;
}

/*
 * Lists the patches that the probe does not know. @all consists of groups. Each patch without
 * PLAN_PATCH_SILENT ends a group. If the probe does not know one patch of a group, all patches of
 * the group are listed.
 */
static int list_missing(const struct strbuf *all, const struct strbuf *known, struct strbuf *out)
{
	const struct plan_patch *patches = (const struct plan_patch *)all->data;
	size_t nr = all->len / sizeof(*patches);
	bool is_known = true;

	for (size_t i = 0, first = 0; i < nr; i++) {
		if (!plan_patch_has_no_text(patches[i].flags))
			is_known &= has_site(known, patches[i].site);
		if (patches[i].flags & PLAN_PATCH_SILENT)
			continue;
		if (!is_known)
			strbuf_add(out, &patches[first], (i + 1 - first) * sizeof(*patches));
		is_known = true;
		first = i + 1;
	}
	return strbuf_oom(out) ? -ENOMEM : 0;
}

/* Makes the stopped thread pass a plan's image to the probe. @result: see ATTACH_ADOPT */
static int adopt_image(struct attaching *a, const void *image, uint64_t bytes, int64_t *result,
		       struct uft_err *err)
{
	int64_t at, unused;
	int ret = attached_map(&a->w, a->thread, bytes, &at, err);

	if (ret < 0)
		return ret;
	if (attached_write(&a->w, at, image, bytes) != bytes)
		ret = err_set_errno(err, -EIO, "cannot write to the memory of process %d",
				    a->w.pid);
	if (ret == 0)
		ret = attaching_call(a, LOAD_MS, a->leave_fn, ATTACH_ADOPT, at, bytes,
				     (uint64_t *)result, err);
	if (a->thread) {
		const uint64_t unmap[6] = { at, bytes };

		attached_syscall(&a->w, a->thread, SYS_munmap, unmap, &unused, NULL);
	}
	return ret;
}

static int make_image(const struct strbuf *missing, struct strbuf *image)
{
	struct plan_view view = { 0 };

	view.lists[PLAN_PATCHES] = plan_list(PLAN_PATCHES, missing->data,
					     missing->len / sizeof(struct plan_patch));

	uint64_t bytes = plan_image_bytes(&view);
	void *at cleanup_free = malloc(bytes);

	if (!at)
		return -ENOMEM;
	plan_image_put(&view, at);
	strbuf_add(image, at, bytes);
	return strbuf_oom(image) ? -ENOMEM : 0;
}

/*
 * Send the probe those patches of @all that the probe does not know. Then read the probe's list of
 * changes into a->text. Returns -EAGAIN in two cases:
 *
 * - A thread of the process holds a lock that the probe needs.
 * - The recorder cannot write the context of the stopped thread (a->thread) to the memory of the
 *   process (attached_syscall()).
 */
static int meet(struct attaching *a, const struct strbuf *all, struct uft_err *err)
{
	struct strbuf known cleanup_strbuf = { 0 };
	struct strbuf missing cleanup_strbuf = { 0 };
	struct strbuf image cleanup_strbuf = { 0 };
	int64_t result = 0;
	int ret = attaching_read_text(a, err);

	if (ret < 0)
		return ret;
	ret = list_known(&a->text, &known);
	if (ret == 0)
		ret = list_missing(all, &known, &missing);
	if (ret == 0 && !missing.len)
		return 0;
	if (ret == 0)
		ret = make_image(&missing, &image);
	if (ret < 0)
		return err_set_errno(err, ret, "cannot patch process %d", a->w.pid);
	ret = adopt_image(a, image.data, image.len, &result, err);
	if (ret == 0 && result == -EAGAIN)
		return -EAGAIN;
	if (ret == 0 && result < 0)
		ret = err_set_errno(err, result, "cannot patch process %d", a->w.pid);
	return ret < 0 ? ret : attaching_read_text(a, err);
}

static int make_sites_known(struct attaching *a, const struct strbuf *all, struct uft_err *err)
{
	int ret = -EAGAIN;

	for (int i = 0; ret == -EAGAIN && i < ADOPT_TRIES; i++) {
		if (i)
			attaching_wait(a, WAIT_US);
		ret = maps_read(&a->maps, a->w.pid);
		if (ret < 0)
			return err_set_errno(err, ret, "cannot read the maps of process %d",
					     a->w.pid);
		ret = attaching_begin_calls(a, err);
		if (ret == 0)
			ret = meet(a, all, err);
		attaching_end_calls(a);
	}
	return ret == -EAGAIN ? err_set(err, ret, "process %d is busy loading libraries", a->w.pid)
			      : ret;
}

/* --- changes that must be written --- */

static int add_change(struct text *text, const struct attach_change *change)
{
	struct attach_change *list = vec_grow(text->changes, text->nr, sizeof(*list));

	if (!list)
		return -ENOMEM;
	text->changes = list;
	list[text->nr++] = *change;
	return 0;
}

enum selected {
	TO_COME,
	TO_GO,
	TO_GO_WHEN_UNUSED, /* hooks at the ends of functions: removed after the hooks at starts */
};

/*
 * Selects the changes that must be made. If a change has ATTACH_CHANGE_ON_FORMER, the code of this
 * change jumps to the code of the previous element of a->text.changes. Such a change is selected
 * together with the previous element.
 */
static int select_changes(struct attaching *a, const struct attach_patches *job,
			  enum selected selected, struct text *out)
{
	bool wants_in = selected == TO_COME;

	for (size_t i = 0; i < a->text.nr; i++) {
		const struct attach_change *c = &a->text.changes[i];
		bool is_wanted = has_site(&job->patches->wanted, c->site);
		int ret = 0;

		if ((c->flags & ATTACH_CHANGE_EVENT) || is_wanted != wants_in ||
		    !has_site(&job->patches->sites, c->site) || text_is_in(&a->w, c) == wants_in)
			continue;
		if (!wants_in && (process_patches_end(job->patches, c->site) != NULL) !=
					 (selected == TO_GO_WHEN_UNUSED))
			continue;
		if ((c->flags & ATTACH_CHANGE_ON_FORMER) && i &&
		    (!out->nr || out->changes[out->nr - 1].site != c[-1].site))
			ret = add_change(out, &c[-1]);
		if (ret == 0)
			ret = add_change(out, c);
		if (ret < 0)
			return ret;
	}
	return 0;
}

static size_t count_left(const struct attaching *a, const struct text *text, bool wants_in)
{
	size_t nr = 0;

	for (size_t i = 0; i < text->nr; i++)
		nr += text_is_in(&a->w, &text->changes[i]) != wants_in;
	return nr;
}

static int write_text(struct attaching *a, struct text *in, struct text *out, struct uft_err *err)
{
	for (int i = 0; i < TEXT_TRIES; i++) {
		size_t left = 1;
		int ret = attached_stop(&a->w, err);

		if (ret < 0)
			return ret;
		/* Threads that have started meanwhile have new stacks, so read the maps. */
		ret = maps_read(&a->maps, a->w.pid);
		if (ret == 0)
			left = text_take_out(out, &a->w, &a->maps) +
			       text_put_in(in, &a->w, &a->maps);
		attached_let_go(&a->w);
		if (ret < 0 || !left)
			return ret < 0 ? err_set_errno(err, ret,
						       "cannot read the maps of process %d",
						       a->w.pid)
				       : 0;
		attaching_wait(a, WAIT_US);
	}
	return 0;
}

static int change_text(struct attaching *a, struct attach_patches *job, struct uft_err *err)
{
	struct text in cleanup(text_deinit) = { 0 };
	struct text out cleanup(text_deinit) = { 0 };
	struct text ends cleanup(text_deinit) = { 0 };
	int ret = select_changes(a, job, TO_COME, &in);

	if (ret == 0)
		ret = select_changes(a, job, TO_GO, &out);
	if (ret == 0)
		ret = select_changes(a, job, TO_GO_WHEN_UNUSED, &ends);
	if (ret < 0)
		return err_set_errno(err, ret, "cannot patch process %d", a->w.pid);
	if (in.nr || out.nr)
		ret = write_text(a, &in, &out, err);

	size_t nr_left_in = count_left(a, &out, false);

	job->nr_left = count_left(a, &in, true) + nr_left_in;
	/*
	 * While a function has a hook at its start, more calls may begin. These calls need the
	 * hooks at the function's ends. So hooks at ends stay until all hooks at starts are
	 * removed.
	 */
	if (ret == 0 && !nr_left_in)
		ret = attaching_take_ends_out(a, job->patches, &ends, err);
	return ret;
}

int attach_patch(pid_t pid, const struct attach_how *how, struct attach_patches *job,
		 struct uft_err *err)
{
	struct attaching *a cleanup_attaching = NULL;
	int ret = attaching_open(&a, pid, how, err);

	job->nr_left = 0;
	if (ret == 0)
		ret = make_sites_known(a, &job->patches->all, err);
	return ret < 0 ? ret : change_text(a, job, err);
}
