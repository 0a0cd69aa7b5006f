/* Records the kernel's own reports about the traced tasks (see perf.h). */
#include "cmds/record/sources/perf.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "utils/base/containers/strbuf.h"

#define PERF_RING_BYTES (128U << 10) /* the kernel requires a power of two */
#define PERF_WATERMARK	(8U << 10)   /* bytes of new data at which the kernel wakes the recorder */

/*
 * The ring of a CPU.
 *
 * @page: the control page. The ring follows it in memory
 * @kept: in a flight recording, the data that will be written to the file
 * @stream: in other recordings, the stream of the file
 */
struct perf_cpu {
	struct served served;
	unsigned index;
	int fd;
	int stream;
	struct perf_event_mmap_page *page;
	struct perf *perf;
	struct strbuf kept;
};

static struct perf_event_attr make_attr(const struct record_settings *settings)
{
	/* doc/formats/events.md, "perf-cpu<N>.dat", describes the events. */
	return (struct perf_event_attr){
		.size = sizeof(struct perf_event_attr),
		.type = PERF_TYPE_SOFTWARE,
		.config = PERF_COUNT_SW_DUMMY,
		.sample_type = PERF_SAMPLE_TIME | PERF_SAMPLE_TID,
		.sample_period = 1,
		.sample_id_all = 1,
		.exclude_kernel = 1,
		.disabled = 1,
		.enable_on_exec = 1,
		.inherit = 1,
		.watermark = 1,
		.wakeup_watermark = PERF_WATERMARK,
		.task = settings->use_tasks,
		.comm = settings->use_names,
		.comm_exec = settings->use_names,
		.context_switch = settings->use_switches,
		.use_clockid = 1,
		.clockid = settings->clock_id,
	};
}

static uint64_t kept_bytes(const struct perf_cpu *cpu)
{
	return sources_kept_bytes(cpu->perf->settings, cpu->perf->nr_cpus);
}

/*
 * Drop the oldest records in cpu->kept until at most kept_bytes() bytes remain. The caller must
 * first copy the content of the kernel's ring, up to data_head, into cpu->kept. A record ends at
 * data_head, so cpu->kept ends with a whole record.
 */
static void forget_old(struct perf_cpu *cpu)
{
	struct strbuf *kept = &cpu->kept;
	uint64_t limit = kept_bytes(cpu);
	size_t at = 0;

	while (kept->len - at > limit) {
		struct perf_event_header header;

		memcpy(&header, kept->data + at, sizeof(header));
		at += MAX(header.size, (uint16_t)sizeof(header));
	}
	memmove(kept->data, kept->data + at, kept->len - at);
	kept->len -= at;
}

static int take_perf_data(struct perf_cpu *cpu, const char *data, uint64_t len)
{
	struct store *store = cpu->perf->store;

	if (cpu->perf->settings->flight_bytes) {
		strbuf_add(&cpu->kept, data, len);
		return strbuf_oom(&cpu->kept) ? -ENOMEM : 0;
	}
	return store_may_take(store, len) ? store_append(store, cpu->stream, data, len) : 0;
}

/* Empties the ring of a CPU. Returns 0, or the negative errno of the first failed write. */
static int drain_perf_ring(struct perf_cpu *cpu)
{
	if (!cpu->page)
		return 0;

	const char *ring = (const char *)cpu->page + sysconf(_SC_PAGESIZE);
	_Atomic uint64_t *kernel_head = (_Atomic uint64_t *)&cpu->page->data_head;
	_Atomic uint64_t *our_tail = (_Atomic uint64_t *)&cpu->page->data_tail;
	/*
	 * The kernel writes the data, executes a barrier, and then writes data_head
	 * (perf_event_open(2)). This load pairs with that barrier.
	 */
	uint64_t head = atomic_load_explicit(kernel_head, memory_order_acquire);
	uint64_t tail = atomic_load_explicit(our_tail, memory_order_relaxed);
	int ret = 0;

	while (ret == 0 && tail < head) {
		uint64_t at = tail % PERF_RING_BYTES;
		uint64_t len = MIN(head - tail, PERF_RING_BYTES - at);

		ret = take_perf_data(cpu, ring + at, len);
		tail += len;
	}
	if (cpu->kept.len > 2 * kept_bytes(cpu))
		forget_old(cpu);
	/* Data that could not be written are dropped, to make room for the kernel. */
	atomic_store_explicit(our_tail, head, memory_order_release);
	return ret;
}

/*
 * Serves a ring. When the traced tasks have ended, removes the ring's descriptor from the loop,
 * because the kernel would report EPOLLHUP for the descriptor again and again.
 */
static void serve_cpu(struct served *served, uint32_t epoll_events)
{
	struct perf_cpu *cpu = container_of(served, struct perf_cpu, served);

	store_note_error(cpu->perf->store, drain_perf_ring(cpu));
	if (epoll_events & (EPOLLHUP | EPOLLERR))
		loop_remove(cpu->perf->loop, cpu->fd, served);
}

static int open_cpu(struct perf_cpu *cpu, pid_t pid, struct perf_event_attr *attr)
{
	cpu->fd = syscall(SYS_perf_event_open, attr, pid, cpu->index, -1, PERF_FLAG_FD_CLOEXEC);
	if (cpu->fd < 0)
		return -errno;

	void *map = mmap(NULL, sysconf(_SC_PAGESIZE) + PERF_RING_BYTES, PROT_READ | PROT_WRITE,
			 MAP_SHARED, cpu->fd, 0);

	if (map == MAP_FAILED)
		return -errno;
	cpu->page = map;
	cpu->stream = store_open_cpu(cpu->perf->store, "perf-cpu", cpu->index);
	if (cpu->stream < 0)
		return cpu->stream;
	cpu->served = (struct served){ serve_cpu, cpu->perf };
	return loop_add(cpu->perf->loop, cpu->fd, &cpu->served);
}

static void close_all(struct perf *perf)
{
	for (unsigned i = 0; i < perf->nr_cpus; i++) {
		struct perf_cpu *cpu = &perf->cpus[i];

		if (cpu->page)
			munmap(cpu->page, sysconf(_SC_PAGESIZE) + PERF_RING_BYTES);
		if (cpu->fd >= 0)
			close(cpu->fd);
		if (cpu->stream >= 0)
			store_close(perf->store, cpu->stream);
		strbuf_deinit(&cpu->kept);
	}
	free(perf->cpus);
	*perf = (struct perf){ 0 };
}

static int perf_save(struct source *source)
{
	struct perf *perf = container_of(source, struct perf, source);
	int ret = 0;

	for (unsigned i = 0; i < perf->nr_cpus; i++) {
		struct perf_cpu *cpu = &perf->cpus[i];
		int served = drain_perf_ring(cpu);

		if (ret == 0)
			ret = served;
		if (cpu->kept.len && ret == 0) {
			forget_old(cpu);
			ret = store_publish_cpu(perf->store, "perf-cpu", i, &cpu->kept);
		}
	}
	return ret;
}

static int perf_finish(struct source *source)
{
	int ret = perf_save(source);

	close_all(container_of(source, struct perf, source));
	return ret;
}

int perf_open(struct perf *perf, struct sources *sources, pid_t pid, struct uft_err *err)
{
	struct perf_event_attr attr = make_attr(sources->settings);
	unsigned nr = sysconf(_SC_NPROCESSORS_CONF);
	int ret = 0;

	*perf = (struct perf){
		.source = { perf_save, perf_finish },
		.cpus = calloc(nr, sizeof(*perf->cpus)),
		.nr_cpus = nr,
		.settings = sources->settings,
		.store = sources->store,
		.loop = sources->loop,
	};
	if (!perf->cpus)
		return err_set_errno(err, -ENOMEM, "cannot record scheduler events");
	for (unsigned i = 0; i < nr; i++)
		perf->cpus[i] =
			(struct perf_cpu){ .index = i, .fd = -1, .stream = -1, .perf = perf };
	for (unsigned i = 0; ret == 0 && i < nr; i++) {
		ret = open_cpu(&perf->cpus[i], pid, &attr);
		if (ret == -ENODEV) /* an offline CPU has no events */
			ret = 0;
	}
	if (ret < 0) {
		store_remove_cpus(sources->store, "perf-cpu", nr);
		close_all(perf);
		return err_set_errno(err, ret, "cannot record scheduler events");
	}
	sources_add(sources, &perf->source);
	return 0;
}
