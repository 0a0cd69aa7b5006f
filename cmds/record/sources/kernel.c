/* Records tracepoints and kernel function calls (see kernel.h). */
#include "cmds/record/sources/kernel.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "cmds/record/sources/graph.h"
#include "cmds/record/sources/tracefs.h"
#include "cmds/record/store/dir.h"
#include "utils/base/cleanup.h"
#include "utils/base/fd.h"
#include "utils/base/containers/strbuf.h"
#include "utils/format/kernel/kernel_dat.h"

#define NAME_SIZE	64
/*
 * The fill level of a buffer at which the kernel wakes the recorder. It is low, because the content
 * of a buffer is lost when the recorder is killed.
 */
#define WATERMARK_BYTES 16384ULL
/* The number of pages that fit into a pipe. */
#define PAGES_AT_ONCE	16
#define INSTANCE_PREFIX "utrail-"
/*
 * The kernel's first pid namespace (PROC_PID_INIT_INO). The pids in trace events are numbers of
 * this namespace.
 */
#define FIRST_PID_SPACE "pid:[4026531836]"

/*
 * The kernel's buffer for the events of one CPU. The pages of this buffer are written to the file
 * kernel-cpu<N>.dat.
 *
 * @fd: the buffer's file trace_pipe_raw
 * @kept: in a flight recording, the pages that will be written to kernel-cpu<N>.dat
 * @stream: in other recordings, the number of the stream by which kernel->store writes
 *          kernel-cpu<N>.dat (store.h)
 */
struct kernel_cpu {
	struct served served;
	unsigned index;
	int fd;
	int stream;
	struct kernel *kernel;
	struct strbuf kept;
};

static void instance_name(char name[static NAME_SIZE])
{
	snprintf(name, NAME_SIZE, "instances/" INSTANCE_PREFIX "%d", getpid());
}

/* --- the instance --- */

/*
 * Removes the tracefs instances of killed recorders. The kernel keeps instances that are in use.
 */
static void remove_stale_instances(int tracefs_fd)
{
	int fd cleanup_fd = openat(tracefs_fd, "instances", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *dir cleanup_dir = fd < 0 ? NULL : store_dir_list(fd);
	struct dirent *entry;

	while (dir && (entry = readdir(dir))) {
		struct text name = text_of(entry->d_name, strlen(entry->d_name));
		int32_t pid;

		if (text_word(&name, INSTANCE_PREFIX) && text_i32(&name, &pid) &&
		    !text_left(&name) && pid > 0 &&
		    (pid == getpid() || (kill(pid, 0) < 0 && errno == ESRCH)))
			unlinkat(dirfd(dir), entry->d_name, AT_REMOVEDIR);
	}
}

static int make_instance(struct kernel *kernel, struct uft_err *err)
{
	char name[NAME_SIZE];

	remove_stale_instances(kernel->tracefs_fd);
	instance_name(name);
	if (mkdirat(kernel->tracefs_fd, name, 0700) < 0)
		return err_set_errno(err, -errno, "cannot make '%s' in tracefs", name);
	kernel->instance_fd = openat(kernel->tracefs_fd, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	return kernel->instance_fd < 0 ? err_set_errno(err, -errno, "cannot open '%s'", name) : 0;
}

/*
 * Uses the global instance, and changes its settings. Fails if another program traces in the global
 * instance.
 */
static int take_everybodys(struct kernel *kernel, struct uft_err *err)
{
	int ret = tracefs_state_keep(&kernel->state, kernel->tracefs_fd, err);

	if (ret < 0)
		return ret;
	kernel->is_everybodys = true;
	kernel->instance_fd = fcntl(kernel->tracefs_fd, F_DUPFD_CLOEXEC, 0);
	return kernel->instance_fd < 0 ? err_set_errno(err, -errno, "cannot open tracefs") : 0;
}

static void leave_instance(struct kernel *kernel)
{
	char name[NAME_SIZE];

	if (kernel->instance_fd >= 0)
		close(kernel->instance_fd);
	if (kernel->is_everybodys) {
		tracefs_state_restore(&kernel->state);
	} else if (kernel->instance_fd >= 0) {
		instance_name(name);
		unlinkat(kernel->tracefs_fd, name, AT_REMOVEDIR);
	}
	kernel->instance_fd = -1;
	kernel->is_everybodys = false;
}

/*
 * Make a tracefs instance for this recorder. If calls cannot be traced in this instance, use the
 * global instance.
 */
static int choose_instance(struct kernel *kernel, struct uft_err *err)
{
	int ret = make_instance(kernel, err);

	if (ret < 0 || !kernel->has_graph || graph_fits_instance(kernel->instance_fd))
		return ret;
	leave_instance(kernel);
	return take_everybodys(kernel, err);
}

static const char *clock_name(int clock_id)
{
	switch (clock_id) {
	case CLOCK_MONOTONIC:
		return "mono";
	case CLOCK_MONOTONIC_RAW:
		return "mono_raw";
	case CLOCK_BOOTTIME:
		return "boot";
	default:
		return NULL;
	}
}

/*
 * Refuses to run outside of the first pid namespace. The recorder writes a pid to set_event_pid,
 * and the kernel reads this pid as a number of the first pid namespace.
 */
static int check_pid_space(struct uft_err *err)
{
	char space[NAME_SIZE] = { 0 };

	if (readlink("/proc/self/ns/pid", space, sizeof(space) - 1) > 0 &&
	    strcmp(space, FIRST_PID_SPACE) != 0)
		return err_set(
			err, -EOPNOTSUPP,
			"this process is in a pid name space of its own (a container); record "
			"outside of it");
	return 0;
}

/*
 * Set the fill level at which the kernel wakes the recorder. It is at least two pages, because
 * serve_cpu() does not take the page that is still being filled.
 */
static void set_watermark(struct kernel *kernel)
{
	uint64_t size = kernel->buffer_bytes;
	uint64_t wanted = MAX(WATERMARK_BYTES, 4 * (uint64_t)kernel->page_bytes);
	uint64_t least = (200 * (uint64_t)kernel->page_bytes + size - 1) / size;
	uint64_t percent = MAX(wanted * 100 / size, 1ULL);
	char text[NAME_SIZE];

	percent = MIN(percent, MAX(least, 50ULL));
	snprintf(text, sizeof(text), "%u", (unsigned)MIN(percent, 100ULL));
	kernel->has_watermark = tracefs_write(kernel->instance_fd, "buffer_percent", text, NULL) ==
				0;
}

static int set_up(struct kernel *kernel, pid_t pid, struct uft_err *err)
{
	const struct record_settings *settings = kernel->settings;
	int fd = kernel->instance_fd;
	char size[NAME_SIZE];
	char who[NAME_SIZE];

	snprintf(size, sizeof(size), "%llu", (unsigned long long)(kernel->buffer_bytes >> 10));
	snprintf(who, sizeof(who), "%d", pid);

	int ret = tracefs_write(fd, "trace_clock", clock_name(settings->clock_id), err);

	if (ret == 0)
		ret = tracefs_write(fd, "buffer_size_kb", size, err);
	set_watermark(kernel);
	if (ret == 0 && kernel->has_events)
		ret = tracefs_write(fd, "options/event-fork", "1", err);
	if (ret == 0 && kernel->has_events)
		ret = tracefs_write(fd, "set_event_pid", who, err);
	/*
	 * While a file trace_pipe_raw is open, the kernel does not allow a change of the tracer. So
	 * set up the tracer before open_cpus() opens these files.
	 */
	if (ret == 0 && kernel->has_graph)
		ret = graph_set_up(kernel, pid, err);
	return ret;
}

/* --- the events, and the data about them that readers need --- */

static int add_file(struct kernel *kernel, const char *name, struct strbuf *header)
{
	struct strbuf content cleanup_strbuf = { 0 };
	int ret = tracefs_read(kernel->tracefs_fd, name, &content, NULL);

	if (ret == 0)
		kernel_header_put_file(header, name, strbuf_str(&content), content.len);
	return ret;
}

static void begin_header(struct kernel *kernel, struct strbuf *header)
{
	static const uint16_t order = 1;
	struct strbuf page cleanup_strbuf = { 0 };
	uint32_t word = 0;

	if (tracefs_read(kernel->tracefs_fd, "events/header_page", &page, NULL) == 0)
		word = kernel_header_page_long(text_of(page.data, page.len));
	kernel_header_put_layout(header, &(struct kernel_layout){
						 .page_bytes = kernel->page_bytes,
						 .long_size = word ? word : sizeof(long),
						 .is_big_endian = *(const uint8_t *)&order == 0,
					 });
	if (page.len)
		kernel_header_put_file(header, "events/header_page", page.data, page.len);
	/* Old readers require these formats. Some kernels do not have them. */
	add_file(kernel, "events/ftrace/funcgraph_entry/format", header);
	add_file(kernel, "events/ftrace/funcgraph_exit/format", header);
}

/* Switch on the event of a tracepoint. Events of tracers have no file "enable". */
static int enable(struct kernel *kernel, const char *name, struct strbuf *header,
		  struct uft_err *err)
{
	struct strbuf path cleanup_strbuf = { 0 };
	const char *colon = strchr(name, ':');
	int ret;

	strbuf_addf(&path, "events/%.*s/%s/enable", (int)(colon - name), name, colon + 1);
	if (strbuf_oom(&path))
		return err_set_errno(err, -ENOMEM, "cannot record '%s'", name);
	ret = tracefs_write(kernel->instance_fd, path.data, "1", err);
	if (ret < 0)
		return ret;
	strbuf_reset(&path);
	strbuf_addf(&path, "events/%.*s/%s/format", (int)(colon - name), name, colon + 1);
	return strbuf_oom(&path) ? -ENOMEM : add_file(kernel, path.data, header);
}

/*
 * Reports the first rule for the kernel's events that matches no event, because such a rule is most
 * likely misspelt.
 */
static void check_rules(const struct event_rules *rules, const struct strbuf *names,
			struct uft_err *err)
{
	for (size_t i = 0; i < rules->nr; i++) {
		const struct event_rule *rule = &rules->rules[i];
		struct text in = text_of(names->data, names->len);
		struct text name;
		bool is_found = rule->origin != EVENT_OF_KERNEL;

		while (!is_found && tracefs_next_event(&in, &name)) {
			char *copy cleanup_free = text_dup(&name);

			is_found = copy && event_rule_matches(rule, EVENT_OF_KERNEL, copy);
		}
		if (!is_found)
			err_set(err, -ENOENT,
				"no event of the kernel is called '%s' (--list-event shows those "
				"that are)",
				rule->text);
	}
}

/* Switches on all chosen events. @nr gets their number. */
static int enable_all(struct kernel *kernel, struct strbuf *header, unsigned *nr,
		      struct uft_err *err)
{
	const struct event_rules *rules = kernel->settings->events;
	struct strbuf names cleanup_strbuf = { 0 };
	int ret = tracefs_read(kernel->tracefs_fd, "available_events", &names, err);
	struct text in = text_of(names.data, names.len);
	struct text name;

	if (ret < 0)
		return ret;
	check_rules(rules, &names, err);
	*nr = 0;
	while (tracefs_next_event(&in, &name)) {
		char *copy cleanup_free = text_dup(&name);

		if (!copy)
			return err_set_errno(err, -ENOMEM, "cannot read the events' names");
		if (event_rules_match(rules, EVENT_OF_KERNEL, copy))
			*nr += enable(kernel, copy, header, err) == 0;
	}
	return *nr ? 0 : err->code;
}

/* Saves the names of kernel addresses. Without the names, events show numbers. */
static void save_symbols(struct kernel *kernel)
{
	struct strbuf symbols cleanup_strbuf = { 0 };

	if (tracefs_read(AT_FDCWD, "/proc/kallsyms", &symbols, NULL) == 0)
		store_publish(kernel->store, "kallsyms", symbols.data, symbols.len, NULL);
}

static int choose_events(struct kernel *kernel, struct uft_err *err)
{
	struct strbuf header cleanup_strbuf = { 0 };
	unsigned nr = 0;
	int ret = 0;

	begin_header(kernel, &header);
	if (kernel->has_events)
		ret = enable_all(kernel, &header, &nr, err);
	/* If no event can be recorded, the kernel's calls may still be recorded. */
	if (ret < 0 && !kernel->has_graph)
		return ret;
	save_symbols(kernel);
	if (strbuf_oom(&header))
		return err_set_errno(err, -ENOMEM, "cannot write 'kernel_header'");
	return store_publish(kernel->store, "kernel_header", header.data, header.len, err);
}

/* --- pages --- */

static void serve_cpu(struct served *served, uint32_t epoll_events);

static int open_cpu(struct kernel_cpu *cpu, struct uft_err *err)
{
	struct kernel *kernel = cpu->kernel;
	char name[NAME_SIZE];

	snprintf(name, sizeof(name), "per_cpu/cpu%u/trace_pipe_raw", cpu->index);
	cpu->fd = openat(kernel->instance_fd, name, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	if (cpu->fd < 0 && errno == ENOENT) /* the machine does not have this CPU */
		return 0;
	if (cpu->fd < 0)
		return err_set_errno(err, -errno, "cannot open '%s'", name);
	cpu->stream = store_open_cpu(kernel->store, "kernel-cpu", cpu->index);
	if (cpu->stream < 0)
		return err_set_errno(err, cpu->stream, "cannot write 'kernel-cpu%u.dat'",
				     cpu->index);

	int ret = loop_add(kernel->loop, cpu->fd, &cpu->served);

	return ret < 0 ? err_set_errno(err, ret, "cannot watch '%s'", name) : 0;
}

static int open_cpus(struct kernel *kernel, struct uft_err *err)
{
	unsigned nr = sysconf(_SC_NPROCESSORS_CONF);
	int ret = 0;

	if (pipe2(kernel->pipe, O_CLOEXEC | O_NONBLOCK) < 0)
		return err_set_errno(err, -errno, "cannot make a pipe");
	kernel->pages = malloc(PAGES_AT_ONCE * kernel->page_bytes);
	kernel->cpus = calloc(nr, sizeof(*kernel->cpus));
	if (!kernel->cpus || !kernel->pages)
		return err_set_errno(err, -ENOMEM, "cannot record events of %u CPUs", nr);
	kernel->nr_cpus = nr;
	for (unsigned i = 0; i < nr; i++)
		kernel->cpus[i] = (struct kernel_cpu){
			.served = { serve_cpu, kernel },
			.index = i,
			.fd = -1,
			.stream = -1,
			.kernel = kernel,
		};
	for (unsigned i = 0; ret == 0 && i < nr; i++)
		ret = open_cpu(&kernel->cpus[i], err);
	return ret;
}

/* The files of the instance are closed first, because an open instance cannot be removed. */
static void close_all(struct kernel *kernel)
{
	for (unsigned i = 0; i < kernel->nr_cpus; i++) {
		struct kernel_cpu *cpu = &kernel->cpus[i];

		if (cpu->fd >= 0)
			close(cpu->fd);
		if (cpu->stream >= 0)
			store_close(kernel->store, cpu->stream);
		strbuf_deinit(&cpu->kept);
	}
	for (int i = 0; i < 2; i++) {
		if (kernel->pipe[i] >= 0)
			close(kernel->pipe[i]);
		kernel->pipe[i] = -1;
	}
	free(kernel->pages);
	kernel->pages = NULL;
	free(kernel->cpus);
	kernel->cpus = NULL;
	kernel->nr_cpus = 0;
	leave_instance(kernel);
	if (kernel->tracefs_fd >= 0)
		close(kernel->tracefs_fd);
	kernel->tracefs_fd = -1;
}

static void remove_files(struct store *store, unsigned nr_cpus)
{
	store_remove_cpus(store, "kernel-cpu", nr_cpus);
	store_remove(store, "kernel_header");
	store_remove(store, "kallsyms");
}

static int open_all(struct kernel *kernel, pid_t pid, struct uft_err *err)
{
	int ret = check_pid_space(err);

	if (ret < 0)
		return ret;
	if (!clock_name(kernel->settings->clock_id))
		return err_set(err, -EOPNOTSUPP,
			       "the kernel's events have no realtime clock; use --clock=mono");
	kernel->tracefs_fd = tracefs_open(err);
	if (kernel->tracefs_fd < 0)
		return kernel->tracefs_fd;
	ret = choose_instance(kernel, err);
	if (ret == 0)
		ret = tracefs_write(kernel->instance_fd, "tracing_on", "0", err);
	if (ret == 0)
		ret = set_up(kernel, pid, err);
	if (ret == 0)
		ret = open_cpus(kernel, err);
	if (ret == 0)
		ret = choose_events(kernel, err);
	if (ret == 0)
		ret = tracefs_write(kernel->instance_fd, "tracing_on", "1", err);
	return ret;
}

static uint64_t kept_bytes(const struct kernel *kernel)
{
	return sources_kept_bytes(kernel->settings, kernel->nr_cpus);
}

static void forget_old(struct kernel_cpu *cpu)
{
	struct strbuf *kept = &cpu->kept;
	size_t page = cpu->kernel->page_bytes;
	size_t limit = MAX(kept_bytes(cpu->kernel) / page, 1UL) * page;

	if (kept->len <= limit)
		return;
	memmove(kept->data, kept->data + kept->len - limit, limit);
	kept->len = limit;
}

/*
 * True when the pages fit into half of --max-size. The other half is for calls, because events are
 * useless without calls.
 */
static bool has_share(struct kernel *kernel, size_t len)
{
	uint64_t max = kernel->settings->max_bytes;

	if (max && kernel->bytes_written + len > max / 2)
		kernel->is_full = true;
	return !kernel->is_full;
}

/*
 * In a flight recording, keeps the pages at @pages in memory. In other recordings, writes the pages
 * to the store, or drops the pages if a size limit is reached. @len: the bytes of all pages.
 */
static int take_pages(struct kernel_cpu *cpu, const uint8_t *pages, size_t len)
{
	struct kernel *kernel = cpu->kernel;

	if (kernel->settings->flight_bytes) {
		strbuf_add(&cpu->kept, pages, len);
		if (cpu->kept.len > 2 * kept_bytes(kernel) + len)
			forget_old(cpu);
		return strbuf_oom(&cpu->kept) ? -ENOMEM : 0;
	}
	if (!has_share(kernel, len) || !store_may_take(kernel->store, len))
		return 0;
	kernel->bytes_written += len;
	return store_append(kernel->store, cpu->stream, pages, len);
}

/* Reads full pages by splice(2). Returns the number of bytes, or 0 when no full page is left. */
static ssize_t get_full_pages(struct kernel_cpu *cpu)
{
	struct kernel *kernel = cpu->kernel;
	ssize_t n = splice(cpu->fd, NULL, kernel->pipe[1], NULL, PAGES_AT_ONCE * kernel->page_bytes,
			   SPLICE_F_NONBLOCK | SPLICE_F_MOVE);

	return n > 0 ? fd_read_full(kernel->pipe[0], kernel->pages, n) : 0;
}

/* Reads a page by read(2), which also returns pages that are not full. */
static ssize_t get_any_page(struct kernel_cpu *cpu)
{
	struct kernel *kernel = cpu->kernel;
	ssize_t n;

	do {
		n = read(cpu->fd, kernel->pages, kernel->page_bytes);
	} while (n < 0 && errno == EINTR);
	if (n <= 0)
		return 0;
	/* Readers expect whole pages, so the rest of the page is filled with zeros. */
	memset(kernel->pages + n, 0, kernel->page_bytes - n);
	return kernel->page_bytes;
}

/*
 * Take pages with @get. Stop when @get finds no page, or when more bytes were taken than the
 * kernel's buffer of one CPU can hold. Without this limit, a continuous stream of events would keep
 * the recorder in this loop. Pages that cannot be written are dropped.
 */
static int drain_kernel_cpu(struct kernel_cpu *cpu, ssize_t (*get)(struct kernel_cpu *cpu))
{
	uint64_t most = cpu->kernel->buffer_bytes;
	uint64_t taken = 0;
	int ret = 0;
	ssize_t n;

	while (cpu->fd >= 0 && taken <= most && (n = get(cpu)) > 0) {
		int result = take_pages(cpu, cpu->kernel->pages, n);

		taken += n;
		if (ret == 0)
			ret = result;
	}
	return ret;
}

/* Takes all full pages, and then the page that is not full. */
static int empty_all(struct kernel_cpu *cpu)
{
	int ret = drain_kernel_cpu(cpu, get_full_pages);
	int last = drain_kernel_cpu(cpu, get_any_page);

	return ret ? ret : last;
}

static void serve_cpu(struct served *served, uint32_t epoll_events)
{
	struct kernel_cpu *cpu = container_of(served, struct kernel_cpu, served);

	store_note_error(cpu->kernel->store, cpu->kernel->has_watermark
						     ? drain_kernel_cpu(cpu, get_full_pages)
						     : empty_all(cpu));
}

static int kernel_save(struct source *source)
{
	struct kernel *kernel = container_of(source, struct kernel, source);
	int ret = 0;

	for (unsigned i = 0; i < kernel->nr_cpus; i++) {
		struct kernel_cpu *cpu = &kernel->cpus[i];
		int served = empty_all(cpu);

		if (ret == 0)
			ret = served;
		if (cpu->kept.len && ret == 0) {
			forget_old(cpu);
			ret = store_publish_cpu(kernel->store, "kernel-cpu", i, &cpu->kept);
		}
	}
	return ret;
}

/*
 * Returns the number of lost records: records that the kernel has overwritten, and records for
 * which the buffer had no room.
 */
static uint64_t count_lost(struct kernel_cpu *cpu)
{
	struct strbuf text cleanup_strbuf = { 0 };
	char name[NAME_SIZE];
	uint64_t lost = 0;
	bool whole;

	snprintf(name, sizeof(name), "per_cpu/cpu%u/stats", cpu->index);
	if (cpu->fd < 0 || tracefs_read(cpu->kernel->instance_fd, name, &text, NULL) < 0)
		return 0;

	struct text in = text_of(text.data, text.len);
	struct text line;

	while (text_line(&in, &line, &whole)) {
		uint64_t nr;

		if ((text_word(&line, "overrun: ") || text_word(&line, "commit overrun: ") ||
		     text_word(&line, "dropped events: ")) &&
		    text_dec(&line, &nr))
			lost += nr;
	}
	return lost;
}

static int kernel_finish(struct source *source)
{
	struct kernel *kernel = container_of(source, struct kernel, source);

	/*
	 * Stop tracing first. If new events came during kernel_save(), some events might stay
	 * unread.
	 */
	tracefs_write(kernel->instance_fd, "tracing_on", "0", NULL);

	int ret = kernel_save(source);

	for (unsigned i = 0; i < kernel->nr_cpus; i++)
		kernel->lost += count_lost(&kernel->cpus[i]);
	close_all(kernel);
	return ret;
}

/*
 * Returns the default size of the buffer on each CPU, in bytes. The more levels of calls are
 * recorded (@depth), the larger the buffer, as in uftrace.
 */
static uint64_t default_buffer_bytes(unsigned depth)
{
	return depth >= 8 ? 4 << 20 : depth >= 4 ? 3 << 20 : depth >= 2 ? 2 << 20 : 1408 << 10;
}

static int open_kinds(struct kernel *kernel, struct sources *sources, pid_t pid, bool graph,
		      bool events, struct uft_err *err)
{
	uint64_t bytes = sources->settings->kernel_buffer_bytes;
	unsigned depth = graph ? sources->settings->kernel_depth : 0;

	*kernel = (struct kernel){
		.tracefs_fd = -1,
		.instance_fd = -1,
		.state = TRACEFS_STATE_NONE,
		.pipe = { -1, -1 },
		.page_bytes = sysconf(_SC_PAGESIZE),
		.source = { kernel_save, kernel_finish },
		.settings = sources->settings,
		.store = sources->store,
		.loop = sources->loop,
		.has_graph = graph,
		.has_events = events,
		.buffer_bytes = bytes ? bytes : default_buffer_bytes(depth),
	};

	int ret = open_all(kernel, pid, err);

	if (ret == 0) {
		sources_add(sources, &kernel->source);
		return 0;
	}
	remove_files(kernel->store, kernel->nr_cpus);
	close_all(kernel);
	err_prefix(err, graph ? "cannot record calls of the kernel"
			      : "cannot record events of the kernel");
	return ret;
}

int kernel_open(struct kernel *kernel, struct sources *sources, pid_t pid, struct uft_err *err)
{
	bool events = event_rules_want(sources->settings->events, EVENT_OF_KERNEL);
	bool graph = sources->settings->kernel_depth;
	struct uft_err why = { 0 };
	int ret = open_kinds(kernel, sources, pid, graph, events, err);

	if (ret == 0 || !graph || !events)
		return ret;
	/*
	 * The recording of calls may be the cause of the error, so record the events without calls.
	 */
	return open_kinds(kernel, sources, pid, false, true, &why) == 0 ? 0 : ret;
}
