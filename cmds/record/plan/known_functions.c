/* Makes and reads images: blocks of bytes with facts about a file (see known_functions.h). */
#include "cmds/record/plan/known_functions.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "arch/arch.h"
#include "arch/isa.h"
#include "cmds/record/plan/found_patch.h"
#include "utils/base/containers/strmap.h"

/* The bytes "UTRAILF", and the version of this layout. */
#define IMAGE_MAGIC  0x464c494152545501ULL
#define IMAGE_FORMAT 1

/*
 * The head of an image. The functions, the patches and the texts follow the head.
 * @sum: a checksum of all bytes after @sum
 */
struct image_head {
	uint64_t magic;
	uint64_t sum;
	uint32_t format;
	uint32_t machine;
	uint64_t bytes; /* length of the whole image */
	struct functions_key key;
	uint64_t main_at;
	uint32_t nr;
	uint32_t patches_len;
	uint32_t texts_len;
	uint32_t pad;
};

/*
 * A patch. After this struct, the image has insn_code.fixes (@nr_fixes bytes) and insn_code.bytes
 * (@len bytes). Addresses are relative to the function.
 */
struct image_patch {
	int32_t site;
	int32_t addr;
	int32_t ret;
	uint8_t flags;
	uint8_t original[WINDOW_BYTES];
	uint8_t taken;
	uint8_t len;
	uint8_t nr_fixes;
	uint8_t ret_at;
	uint8_t ends;
	uint8_t pad;
};

_Static_assert(sizeof(struct known_function) == 32 && sizeof(struct functions_key) == 112 &&
		       sizeof(struct image_head) == 168 && sizeof(struct image_patch) == 24,
	       "images are laid out without holes");

void known_functions_deinit(struct known_functions *known)
{
	strbuf_deinit(&known->image);
	*known = (struct known_functions){ 0 };
}

/*
 * Returns a checksum that reveals damage. The checksum does not protect against changes by users
 * who may write the file.
 */
static uint64_t sum_of(const char *bytes, size_t len)
{
	uint64_t sum = len * 0x9e3779b97f4a7c15ULL;
	uint64_t word;

	for (; len >= sizeof(word); bytes += sizeof(word), len -= sizeof(word)) {
		memcpy(&word, bytes, sizeof(word));
		sum = (sum ^ word) * 0xff51afd7ed558ccdULL;
		sum ^= sum >> 32;
	}
	word = 0;
	memcpy(&word, bytes, len);
	sum = (sum ^ word) * 0xff51afd7ed558ccdULL;
	return sum ^ sum >> 29;
}

#define SUM_FROM offsetof(struct image_head, format)

bool known_functions_key(const struct strbuf *image, struct functions_key *key)
{
	if (image->len < sizeof(struct image_head))
		return false;
	memcpy(key, image->data + offsetof(struct image_head, key), sizeof(*key));
	return true;
}

void known_functions_seal(struct strbuf *image)
{
	uint64_t sum = sum_of(image->data + SUM_FROM, image->len - SUM_FROM);

	memcpy(image->data + offsetof(struct image_head, sum), &sum, sizeof(sum));
}

/* --- making --- */

/*
 * An image that is being made.
 *
 * @image: the head, space for all functions, and the patches
 * @nr: the number of functions
 * @texts: the texts of the image. After the last function, put_together() appends @texts to @image
 */
struct making {
	struct strbuf image;
	size_t nr;
	struct strbuf texts;
	struct strmap reasons; /* maps each reason to the offset of the reason in @texts */
	bool is_too_much;
};

static void making_deinit(struct making *m)
{
	strbuf_deinit(&m->image);
	strbuf_deinit(&m->texts);
	for (size_t i = 0; i < m->reasons.nr_slots; i++)
		free((char *)m->reasons.slots[i].key);
	strmap_deinit(&m->reasons);
}

static uint32_t add_text(struct making *m, const char *text)
{
	size_t at = m->texts.len;

	strbuf_list_add(&m->texts, text);
	m->is_too_much |= m->texts.len > INT32_MAX;
	return (uint32_t)at;
}

/* Adds a reason, and returns its offset. There are only a few reasons, and each is stored once. */
static uint32_t add_reason(struct making *m, const char *text)
{
	uintptr_t known = (uintptr_t)strmap_get(&m->reasons, text);
	char *key = known ? NULL : strdup(text);
	uint32_t at;

	if (known)
		return (uint32_t)known;
	at = add_text(m, text);
	/* If memory is short, the map lacks @text. A later call may store @text a second time. */
	if (!key || strmap_put(&m->reasons, key, (void *)(uintptr_t)at) < 0)
		free(key);
	return at;
}

static int32_t distance(struct making *m, uint64_t addr, uint64_t from)
{
	int64_t far = (int64_t)(addr - from);

	m->is_too_much |= far < INT32_MIN || far > INT32_MAX;
	return (int32_t)far;
}

#define FUNCTIONS_AT sizeof(struct image_head)

static size_t patches_len(const struct making *m)
{
	return m->image.len - FUNCTIONS_AT - m->nr * sizeof(struct known_function);
}

static void add_patch(struct making *m, const struct found_patch *found)
{
	const struct insn_code *code = &found->code;
	struct image_patch patch = {
		.site = distance(m, found->patch.site, found->func),
		.addr = found->patch.addr ? distance(m, found->patch.addr, found->func) : 0,
		.ret = code->ret_at ? distance(m, code->ret, found->func) : 0,
		.flags = found->patch.flags,
		.taken = code->taken,
		.len = code->len,
		.nr_fixes = code->nr_fixes,
		.ret_at = code->ret_at,
		.ends = code->ends,
	};

	memcpy(patch.original, found->patch.original, sizeof(patch.original));
	strbuf_add(&m->image, &patch, sizeof(patch));
	strbuf_add(&m->image, code->fixes, code->nr_fixes);
	strbuf_add(&m->image, code->bytes, code->len);
	m->is_too_much |= patches_len(m) > INT32_MAX;
}

/*
 * Writes a function to its place, and appends its patches. If a function is added a second time,
 * the later facts replace the earlier ones.
 */
static void add_function(struct making *m, size_t index, const struct function *function,
			 bool is_named, const struct unprepared_verdict *verdict,
			 const struct strbuf *found)
{
	const struct found_patch *list = (const struct found_patch *)found->data;
	size_t nr = found->len / sizeof(*list);
	struct known_function out = {
		.start = function->start,
		.len = (uint32_t)(function->end - function->start),
		.name = !is_named && function->name ? add_text(m, function->name) : 0,
		.why_not = verdict->why_not[0] ? add_reason(m, verdict->why_not) : 0,
		.patches = (uint32_t)patches_len(m),
		.kind = function->kind,
		.way = verdict->way,
		.nr_patches = (uint8_t)nr,
	};

	m->is_too_much |= function->end - function->start > INT32_MAX || nr > UINT8_MAX;
	for (size_t i = 0; i < nr; i++)
		add_patch(m, &list[i]);
	memcpy(m->image.data + FUNCTIONS_AT + index * sizeof(out), &out, sizeof(out));
}

struct adding {
	struct making *making;
	const struct function *first;
	const struct symtab *names;
	uint64_t base;
};

static void add_one(const struct function *function, const struct unprepared_verdict *verdict,
		    const struct strbuf *found, void *arg)
{
	const struct adding *adding = arg;
	uint64_t at = function->start - adding->base;
	const struct symbol *sym = symtab_find(adding->names, at);
	bool is_named = sym && sym->addr == at && symbol_is_function(sym);

	add_function(adding->making, function - adding->first, function, is_named, verdict, found);
}

static void point_into(struct known_functions *known, const struct image_head *head)
{
	const char *at = known->image.data + sizeof(*head);

	known->list = (const struct known_function *)at;
	known->nr = head->nr;
	known->patches = (const uint8_t *)at + head->nr * sizeof(*known->list);
	known->patches_len = head->patches_len;
	known->texts = (const char *)known->patches + head->patches_len;
	known->texts_len = head->texts_len;
	known->main_at = head->main_at;
}

static int make_room(struct making *m, size_t nr)
{
	size_t bytes = FUNCTIONS_AT + nr * sizeof(struct known_function);

	m->nr = nr;
	if (nr > UINT32_MAX || !strbuf_grow(&m->image, bytes))
		return -ENOMEM;
	strbuf_addchars(&m->image, '\0', bytes);
	/* The text at offset 0 is empty, since 0 stands for "no text". */
	strbuf_addch(&m->texts, '\0');
	return 0;
}

static int put_together(struct known_functions *out, struct making *m, struct image_head *head)
{
	head->nr = m->nr;
	head->patches_len = (uint32_t)patches_len(m);
	head->texts_len = (uint32_t)m->texts.len;
	strbuf_add(&m->image, m->texts.data, m->texts.len);
	if (strbuf_oom(&m->image) || strbuf_oom(&m->texts))
		return -ENOMEM;
	head->bytes = m->image.len;
	memcpy(m->image.data, head, sizeof(*head));
	known_functions_seal(&m->image);
	out->image = m->image;
	m->image = (struct strbuf){ 0 };
	point_into(out, head);
	return 0;
}

int known_functions_make(struct known_functions *out, const struct unprepared *u,
			 const struct symtab *names, uint64_t base, const struct functions_key *key,
			 struct uft_err *err)
{
	struct making m cleanup(making_deinit) = { 0 };
	struct adding adding = { &m, u->functions.list, names, base };
	struct image_head head = {
		.magic = IMAGE_MAGIC,
		.format = IMAGE_FORMAT,
		.machine = arch_elf_machine,
		.key = *key,
		.main_at = unprepared_main(u),
	};
	int ret = make_room(&m, u->functions.nr);

	if (ret == 0)
		ret = unprepared_find_all(u, add_one, &adding, err);
	if (ret == 0 && m.is_too_much)
		ret = -E2BIG;
	return ret < 0 ? ret : put_together(out, &m, &head);
}

/* --- reading --- */

static bool check_code(const struct image_patch *patch, const uint8_t *fixes)
{
	if (patch->len > INSN_CODE_MAX || patch->nr_fixes > INSN_FIXES_MAX || patch->ends > 1)
		return false;
	if (patch->ret_at && patch->ret_at + INSN_RET_HIGH + sizeof(uint32_t) > patch->len)
		return false;
	for (unsigned i = 0; i < patch->nr_fixes; i++) {
		if (fixes[i] + sizeof(uint32_t) > patch->len)
			return false;
	}
	return true;
}

#define PATCH_FLAGS (PLAN_PATCH_INNER | PLAN_PATCH_SILENT | PLAN_PATCH_SHORT)

/*
 * Reads the patch at *@at, and moves *@at past the patch. Returns false when the patch is invalid.
 */
static bool next_patch(const struct known_functions *known, size_t *at, struct image_patch *out,
		       const uint8_t **bytes)
{
	size_t left = known->patches_len - *at;

	if (*at > known->patches_len || left < sizeof(*out))
		return false;
	memcpy(out, known->patches + *at, sizeof(*out));
	left -= sizeof(*out);
	*bytes = known->patches + *at + sizeof(*out);
	if (left < (size_t)out->nr_fixes + out->len)
		return false;
	*at += sizeof(*out) + out->nr_fixes + out->len;
	return (out->flags & ~PATCH_FLAGS) == 0 && check_code(out, *bytes);
}

static bool check_function(const struct known_functions *known, size_t index)
{
	const struct known_function *f = &known->list[index];
	size_t at = f->patches;

	if ((index && f->start <= f[-1].start) || f->len > INT32_MAX ||
	    f->len > UINT64_MAX - f->start || f->kind >= FUNCTION_KINDS ||
	    f->way >= UNPREPARED_WAYS || f->name >= known->texts_len ||
	    f->why_not >= known->texts_len || !f->nr_patches != (f->way >= UNPREPARED_CANNOT))
		return false;
	for (unsigned i = 0; i < f->nr_patches; i++) {
		struct image_patch patch;
		const uint8_t *bytes;

		if (!next_patch(known, &at, &patch, &bytes))
			return false;
	}
	return true;
}

/*
 * True when utrail can move instructions of the processor architecture on which utrail runs.
 * Otherwise no patch in the image can be used.
 */
static bool moves_code(void)
{
	const struct isa *isa = isa_of(arch_elf_machine, 0);

	return isa && isa->insns;
}

static bool check_head(const struct strbuf *image, const struct functions_key *key,
		       struct image_head *head)
{
	if (image->len < sizeof(*head))
		return false;
	memcpy(head, image->data, sizeof(*head));
	return head->magic == IMAGE_MAGIC && head->format == IMAGE_FORMAT &&
	       head->machine == arch_elf_machine && moves_code() && head->bytes == image->len &&
	       memcmp(&head->key, key, sizeof(*key)) == 0 && head->texts_len &&
	       sizeof(*head) + (uint64_t)head->nr * sizeof(struct known_function) +
			       head->patches_len + head->texts_len ==
		       image->len &&
	       head->sum == sum_of(image->data + SUM_FROM, image->len - SUM_FROM);
}

bool known_functions_take(struct known_functions *out, struct strbuf *image,
			  const struct functions_key *key)
{
	struct known_functions known cleanup_known_functions = { .image = *image };
	struct image_head head;

	*image = (struct strbuf){ 0 };
	if (!check_head(&known.image, key, &head))
		return false;
	point_into(&known, &head);
	if (known.texts[0] || known.texts[known.texts_len - 1])
		return false;
	for (size_t i = 0; i < known.nr; i++) {
		if (!check_function(&known, i))
			return false;
	}
	*out = known;
	known = (struct known_functions){ 0 };
	return true;
}

const char *known_function_name(const struct known_functions *known, size_t index)
{
	return known->list[index].name ? known->texts + known->list[index].name : NULL;
}

const char *known_function_why_not(const struct known_functions *known, size_t index)
{
	return known->list[index].why_not ? known->texts + known->list[index].why_not : NULL;
}

void known_function_add_patches(const struct known_functions *known, size_t index,
				struct strbuf *found)
{
	const struct known_function *f = &known->list[index];
	size_t at = f->patches;
	struct image_patch patch;
	const uint8_t *bytes;

	for (unsigned i = 0; i < f->nr_patches && next_patch(known, &at, &patch, &bytes); i++) {
		struct found_patch one = {
			.patch = {
				.site = f->start + patch.site,
				.what = PATCH_ENTRY,
				.flags = patch.flags,
				.bytes = WINDOW_BYTES,
			},
			.code = {
				.from = f->start + patch.site,
				.ret = patch.ret_at ? f->start + patch.ret : 0,
				.taken = patch.taken,
				.len = patch.len,
				.nr_fixes = patch.nr_fixes,
				.ret_at = patch.ret_at,
				.ends = patch.ends,
			},
			.func = f->start,
		};

		/* A silent patch records no function, so it has no address of a function. */
		if (!(patch.flags & PLAN_PATCH_SILENT))
			one.patch.addr = f->start + patch.addr;
		memcpy(one.patch.original, patch.original, sizeof(patch.original));
		memcpy(one.code.fixes, bytes, patch.nr_fixes);
		memcpy(one.code.bytes, bytes + patch.nr_fixes, patch.len);
		strbuf_add(found, &one, sizeof(one));
	}
}
