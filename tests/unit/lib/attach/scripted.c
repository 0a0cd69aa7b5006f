/* A simulated process (see scripted.h). */
#include "tests/unit/lib/attach/scripted.h"

#include <errno.h>

#include "cmds/record/attach/hand_over.h"
#include "cmds/record/attach/callable_thread.h"
#include "cmds/record/attach/target.h"
#include "cmds/record/attach/unwind.h"
#include "utils/base/compiler.h"
#include "utils/base/containers/strbuf.h"

struct scripted scripted;

static struct {
	char word[32];
	unsigned later;
	int ret;
	uint64_t result;
	bool is_used;
	bool is_for_ever;
} answers[32];
static size_t nr_answers;
static char words[1 << 15];
static size_t words_len;
static struct attached_thread *thread_list[2];

/* The functions of libc, in order of address. */
static const char *const libc_functions[] = { "dlopen", "dlclose", "dlerror", "dladdr1",
					      "syscall" };

static const char *const steps[] = {
	[ATTACH_STATE] = "STATE",	    [ATTACH_WITHDRAW] = "WITHDRAW",
	[ATTACH_COUNT] = "COUNT",	    [ATTACH_GIVE_BACK] = "GIVE_BACK",
	[ATTACH_HANDLE] = "HANDLE",	    [ATTACH_CHANGES] = "CHANGES",
	[ATTACH_CHANGED] = "CHANGED",	    [ATTACH_OPEN_CALLS] = "OPEN_CALLS",
	[ATTACH_BEGIN] = "BEGIN",	    [ATTACH_ADOPT] = "ADOPT",
	[ATTACH_CODES] = "CODES",	    [ATTACH_OPEN_ANNOUNCED] = "OPEN_ANNOUNCED",
	[ATTACH_CHOOSE] = "CHOOSE",	    [ATTACH_CHOSEN] = "CHOSEN",
	[ATTACH_DOORS_OPEN] = "DOORS_OPEN", [ATTACH_DOORS_CLOSE] = "DOORS_CLOSE",
};

/* True if the memory that was opened last belongs to the program before an execve(2). */
static bool was_former;

void scripted_begin(void)
{
	scripted = (struct scripted){ .has_libc = true, .has_linker = true, .has_leave = true };
	for (size_t i = 0; i < ARRAY_SIZE(scripted.threads); i++) {
		scripted.threads[i].tid = SCRIPTED_PID + i;
		thread_list[i] = &scripted.threads[i];
		arch_remote_set_pc(&scripted.threads[i].regs, SCRIPTED_NOWHERE);
	}
	nr_answers = 0;
	words_len = 0;
	was_former = false;
}

void scripted_answer(const char *word, unsigned later, int ret, uint64_t result)
{
	assert_true(nr_answers < ARRAY_SIZE(answers));
	snprintf(answers[nr_answers].word, sizeof(answers[0].word), "%s", word);
	answers[nr_answers].later = later;
	answers[nr_answers].ret = ret;
	answers[nr_answers].result = result;
	answers[nr_answers].is_for_ever = false;
	answers[nr_answers++].is_used = false;
}

void scripted_answer_always(const char *word, int ret, uint64_t result)
{
	scripted_answer(word, 0, ret, result);
	answers[nr_answers - 1].is_for_ever = true;
}

const char *scripted_log(void)
{
	static char log[sizeof(words)];

	memcpy(log, words, words_len);
	log[words_len] = '\0';
	words_len = 0;
	return log;
}

void scripted_check_over(void)
{
	for (size_t i = 0; i < nr_answers; i++) {
		if (!answers[i].is_used && !answers[i].is_for_ever)
			fail_msg("nobody asked for '%s'", answers[i].word);
	}
}

void scripted_wait(void *arg)
{
	assert_ptr_equal(arg, &scripted);
	scripted.waits++;
}

/* Log a word. Returns the result that the test has chosen for it. */
static int act(const char *word, uint64_t *result)
{
	/* Only the first words are logged: a test with a thousand words does not read them. */
	if (words_len + strlen(word) + 2 < sizeof(words))
		words_len += sprintf(words + words_len, "%s%s", words_len ? " " : "", word);
	*result = 0;
	for (size_t i = 0; i < nr_answers; i++) {
		if (answers[i].is_used || strcmp(answers[i].word, word) != 0)
			continue;
		if (answers[i].later) {
			answers[i].later--;
			return 0;
		}
		answers[i].is_used = !answers[i].is_for_ever;
		*result = answers[i].result;
		return answers[i].ret;
	}
	return 0;
}

static int act_err(const char *word, struct uft_err *err)
{
	uint64_t unused;
	int ret = act(word, &unused);

	return ret < 0 ? err_set(err, ret, "'%s' failed", word) : 0;
}

/* --- attached.h --- */

int __wrap_attached_open(struct attached *w, pid_t pid, struct uft_err *err);
int __wrap_attached_open(struct attached *w, pid_t pid, struct uft_err *err)
{
	*w = (struct attached)ATTACHED_CLOSED;
	w->pid = pid;
	w->threads = thread_list;
	w->nr = ARRAY_SIZE(thread_list);
	scripted.is_former = scripted.is_former && !was_former;
	was_former = scripted.is_former;
	return act_err("open", err);
}

void __wrap_attached_close(struct attached *w);
void __wrap_attached_close(struct attached *w)
{
	act_err("close", NULL);
}

int __wrap_attached_stop(struct attached *w, struct uft_err *err);
int __wrap_attached_stop(struct attached *w, struct uft_err *err)
{
	return act_err("stop", err);
}

void __wrap_attached_let_go(struct attached *w);
void __wrap_attached_let_go(struct attached *w)
{
	act_err("let-go", NULL);
}

void __wrap_attached_let_others_go(struct attached *w, const struct attached_thread *thread);
void __wrap_attached_let_others_go(struct attached *w, const struct attached_thread *thread)
{
	assert_ptr_equal(thread, &scripted.threads[0]);
	act_err("let-others-go", NULL);
}

size_t __wrap_attached_read(const struct attached *w, uint64_t address, void *to, size_t len);
size_t __wrap_attached_read(const struct attached *w, uint64_t address, void *to, size_t len)
{
	if (act_err("read", NULL) < 0)
		return 0;
	/* A read of one byte asks whether memory is mapped at the address. */
	if (len == 1 && address < SCRIPTED_ROOM)
		return !scripted.is_former;
	if (address < SCRIPTED_ROOM || address + len > SCRIPTED_ROOM + sizeof(scripted.room))
		return 0;
	memcpy(to, &scripted.room[address - SCRIPTED_ROOM], len);
	return len;
}

size_t __wrap_attached_write(const struct attached *w, uint64_t address, const void *from,
			     size_t len);
size_t __wrap_attached_write(const struct attached *w, uint64_t address, const void *from,
			     size_t len)
{
	if (act_err("write", NULL) < 0 || address < SCRIPTED_ROOM ||
	    address + len > SCRIPTED_ROOM + sizeof(scripted.room))
		return 0;
	memcpy(&scripted.room[address - SCRIPTED_ROOM], from, len);
	return len;
}

uint64_t __wrap_attached_args(const struct attached *w);
uint64_t __wrap_attached_args(const struct attached *w)
{
	return SCRIPTED_ROOM;
}

int __wrap_attached_find_gadgets(struct attached *w, uint64_t start, uint64_t end,
				 struct uft_err *err);
int __wrap_attached_find_gadgets(struct attached *w, uint64_t start, uint64_t end,
				 struct uft_err *err)
{
	assert_int_equal(start, SCRIPTED_LIBC + 0x1000);
	assert_int_equal(end, SCRIPTED_LIBC_END);
	return act_err("gadgets", err);
}

int __wrap_attached_syscall(struct attached *w, struct attached_thread *thread, long nr,
			    const uint64_t args[6], int64_t *result, struct uft_err *err);
int __wrap_attached_syscall(struct attached *w, struct attached_thread *thread, long nr,
			    const uint64_t args[6], int64_t *result, struct uft_err *err)
{
	char word[32];
	uint64_t value;
	int ret;

	assert_ptr_equal(thread, &scripted.threads[0]);
	snprintf(word, sizeof(word), "syscall-%ld", nr);
	ret = act(word, &value);
	*result = value;
	return ret < 0 ? err_set(err, ret, "'%s' failed", word) : 0;
}

int __wrap_attached_make_room(struct attached *w, struct attached_thread *thread,
			      struct uft_err *err);
int __wrap_attached_make_room(struct attached *w, struct attached_thread *thread,
			      struct uft_err *err)
{
	assert_ptr_equal(thread, &scripted.threads[0]);
	return act_err("make-room", err);
}

int __wrap_attached_drop_room(struct attached *w, struct attached_thread *thread,
			      struct uft_err *err);
int __wrap_attached_drop_room(struct attached *w, struct attached_thread *thread,
			      struct uft_err *err)
{
	assert_ptr_equal(thread, &scripted.threads[0]);
	return act_err("drop-room", err);
}

static void name_of(uint64_t fn, const uint64_t args[6], char word[32])
{
	for (size_t i = 0; i < ARRAY_SIZE(libc_functions); i++) {
		if (fn == SCRIPTED_LIBC + i + 1)
			strcpy(word, libc_functions[i]);
	}
	if (fn == SCRIPTED_ATTACH)
		strcpy(word, "ATTACH");
	if (fn == SCRIPTED_LEAVE)
		strcpy(word, steps[args[0]]);
}

int __wrap_attached_call(struct attached *w, struct attached_thread *thread, uint64_t fn,
			 const uint64_t args[6], int patience_ms, uint64_t *result,
			 struct uft_err *err);
int __wrap_attached_call(struct attached *w, struct attached_thread *thread, uint64_t fn,
			 const uint64_t args[6], int patience_ms, uint64_t *result,
			 struct uft_err *err)
{
	char word[32] = "wild";
	int ret;

	assert_ptr_equal(thread, &scripted.threads[0]);
	assert_true(patience_ms >= LOAD_MS);
	name_of(fn, args, word);
	ret = act(word, result);
	if (fn == SCRIPTED_LIBC + 1 && !scripted.keeps_probe && *result)
		scripted.has_probe = true;
	if (ret < 0)
		return err_set(err, ret, "'%s' failed", word);
	if (fn == SCRIPTED_LIBC + 2 && !scripted.keeps_probe)
		scripted.has_probe = false;
	return 0;
}

/* --- maps.h --- */

static void map(struct maps *maps, uint64_t start, uint64_t end, bool is_code, const char *path)
{
	maps->lines = realloc(maps->lines, (maps->nr + 1) * sizeof(*maps->lines));
	assert_non_null(maps->lines);
	maps->lines[maps->nr++] = (struct mapping){ start, end, is_code, strdup(path) };
}

static void map_all(struct maps *maps)
{
	static const char libc[] = "/lib/libc.so.6";
	static const char linker[] = "/lib/ld-linux.so.2";
	static const char probe[] = "/lib/libmcount.so";

	if (scripted.has_libc) {
		map(maps, SCRIPTED_LIBC, SCRIPTED_LIBC + 0x1000, false, libc);
		map(maps, SCRIPTED_LIBC + 0x1000, SCRIPTED_LIBC_END, true, libc);
	}
	if (scripted.has_musl)
		map(maps, SCRIPTED_LIBC, SCRIPTED_LIBC_END, true, "/lib/ld-musl.so.1");
	if (scripted.has_linker) {
		map(maps, SCRIPTED_LINKER, SCRIPTED_LINKER_CODE, false, linker);
		map(maps, SCRIPTED_LINKER_CODE, SCRIPTED_LINKER_END, true, linker);
	}
	if (scripted.has_probe) {
		map(maps, SCRIPTED_PROBE, SCRIPTED_PROBE_CODE, false, probe);
		map(maps, SCRIPTED_PROBE_CODE, SCRIPTED_PROBE_END, true, probe);
	}
}

int __wrap_maps_read(struct maps *maps, pid_t pid);
int __wrap_maps_read(struct maps *maps, pid_t pid)
{
	uint64_t unused;
	int ret = act("maps", &unused);

	assert_int_equal(pid, SCRIPTED_PID);
	maps_deinit(maps);
	if (ret == 0)
		map_all(maps);
	return ret;
}

uint64_t __wrap_maps_symbol(const struct attached *w, uint64_t base, const char *name);
uint64_t __wrap_maps_symbol(const struct attached *w, uint64_t base, const char *name)
{
	if (scripted.is_former || (scripted.missing && strcmp(name, scripted.missing) == 0))
		return 0;
	for (size_t i = 0; i < ARRAY_SIZE(libc_functions); i++) {
		if (base == SCRIPTED_LIBC && strcmp(name, libc_functions[i]) == 0)
			return SCRIPTED_LIBC + i + 1;
	}
	if (base == SCRIPTED_PROBE && strcmp(name, ATTACH_FUNCTION) == 0)
		return SCRIPTED_ATTACH;
	if (base == SCRIPTED_PROBE && strcmp(name, LEAVE_FUNCTION) == 0)
		return SCRIPTED_LEAVE;
	return 0;
}

/* --- callable_thread.h, target.h --- */

int __wrap_callable_thread_stop(struct attached *w, const struct maps *maps,
				struct attached_thread **thread, struct uft_err *err);
int __wrap_callable_thread_stop(struct attached *w, const struct maps *maps,
				struct attached_thread **thread, struct uft_err *err)
{
	int ret = act_err("quiet", err);

	*thread = ret < 0 ? NULL : &scripted.threads[0];
	return ret;
}

bool __wrap_callable_thread_has_interrupted(const struct attached *w, const struct maps *maps,
					    const struct attached_thread *t, uint64_t start,
					    uint64_t end);
bool __wrap_callable_thread_has_interrupted(const struct attached *w, const struct maps *maps,
					    const struct attached_thread *t, uint64_t start,
					    uint64_t end)
{
	return scripted.pc >= start && scripted.pc < end;
}

int __wrap_target_explain(pid_t pid, int ret, struct uft_err *err);
int __wrap_target_explain(pid_t pid, int ret, struct uft_err *err)
{
	assert_int_equal(pid, SCRIPTED_PID);
	return err_set(err, ret, "explained");
}

/* --- text.h --- */

int __wrap_text_read(struct text *text, const struct attached *w, uint64_t address, uint64_t nr,
		     struct uft_err *err);
int __wrap_text_read(struct text *text, const struct attached *w, uint64_t address, uint64_t nr,
		     struct uft_err *err)
{
	int ret = act_err("text-read", err);

	text_deinit(text);
	if (ret == 0 && nr) {
		assert_int_equal(nr, scripted.nr_changes);
		text->changes = exact_copy(scripted.changes, nr * sizeof(*text->changes));
		text->nr = nr;
	}
	return ret;
}

/*
 * Runs "put-in(SITE,SITE)" or "take-out(SITE)". The changes that are not left over are then in the
 * text, or out of it.
 */
static size_t change(const char *word, const struct text *text, bool is_in)
{
	char whole[512];
	int at = snprintf(whole, sizeof(whole), "%s(", word);
	uint64_t left;

	for (size_t i = 0; i < text->nr; i++)
		at += snprintf(whole + at, sizeof(whole) - at, "%s%llx", i ? "," : "",
			       (unsigned long long)text->changes[i].site);
	snprintf(whole + at, sizeof(whole) - at, ")");
	act(whole, &left);
	for (size_t i = 0; i < text->nr && !left; i++) {
		for (size_t k = 0; k < scripted.nr_changes; k++) {
			if (scripted.changes[k].site != text->changes[i].site)
				continue;
			scripted.in &= ~(1ULL << k);
			scripted.in |= (uint64_t)is_in << k;
		}
	}
	return left;
}

size_t __wrap_text_put_in(struct text *text, struct attached *w, const struct maps *maps);
size_t __wrap_text_put_in(struct text *text, struct attached *w, const struct maps *maps)
{
	return change("put-in", text, true);
}

size_t __wrap_text_take_out(struct text *text, struct attached *w, const struct maps *maps);
size_t __wrap_text_take_out(struct text *text, struct attached *w, const struct maps *maps)
{
	scripted.now_us += scripted.look_us;
	return change("take-out", text, false);
}

bool __wrap_text_is_in(const struct attached *w, const struct attach_change *change);
bool __wrap_text_is_in(const struct attached *w, const struct attach_change *change)
{
	for (size_t k = 0; k < scripted.nr_changes; k++) {
		if (scripted.changes[k].site == change->site)
			return scripted.in >> k & 1;
	}
	return false;
}

/* --- time --- */

int __wrap_clock_gettime(clockid_t clock, struct timespec *ts);
int __wrap_clock_gettime(clockid_t clock, struct timespec *ts)
{
	*ts = (struct timespec){ scripted.now_us / 1000000, scripted.now_us % 1000000 * 1000 };
	return 0;
}

int __wrap_usleep(unsigned us);
int __wrap_usleep(unsigned us)
{
	char word[32];

	snprintf(word, sizeof(word), "sleep-%u", us);
	scripted.now_us += us;
	if (scripted.libc_after && --scripted.libc_after == 0)
		scripted.has_libc = true;
	return act_err(word, NULL);
}

static const struct attach_how how = { .wait = scripted_wait, .wait_arg = &scripted };

struct attaching *scripted_make(void)
{
	struct attaching *a = attaching_make(SCRIPTED_PID, &how, NULL);

	assert_non_null(a);
	assert_int_equal(attaching_find_libc(a, NULL), 0);
	if (scripted.has_probe)
		assert_true(attaching_find_probe(a));
	scripted_log();
	return a;
}
