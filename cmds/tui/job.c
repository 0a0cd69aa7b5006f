/* Reads a recording in a separate thread (see job.h). */
#include "cmds/tui/job.h"

#include <time.h>

#include "cmds/cmd.h"
#include "cmds/read_progress.h"
#include "utils/base/clock.h"
#include "utils/base/workers.h"

#define LOOK_NS 5000000

static int do_work(struct tui_job *job)
{
	struct tui_reading *reading = job->reading;
	int ret = 0;

	if (job->work & JOB_OPEN)
		ret = reading_open(reading, reading->opts, true, &job->err);
	if (ret == 0 && job->work & JOB_TREE)
		ret = reading_run_tree(reading, &job->err);
	if (ret == 0 && job->work & JOB_REPORT)
		ret = reading_add_up(reading, &job->wanted, &job->err);
	return ret;
}

static void *run_job(void *arg)
{
	struct tui_job *job = arg;

	job->status = do_work(job);
	job->took_ns = clock_now_ns(CLOCK_MONOTONIC) - job->began_ns;
	atomic_store(&job->is_done, true);
	return NULL;
}

int job_start(struct tui_job *job, struct tui_reading *reading, unsigned work,
	      const struct report_config *config, struct uft_err *err)
{
	*job = (struct tui_job){ .reading = reading,
				 .work = work,
				 .began_ns = clock_now_ns(CLOCK_MONOTONIC) };
	if (work & JOB_REPORT) {
		int ret = report_init(&job->wanted, config, err);

		if (ret < 0)
			return ret;
	}
	atomic_store(&reading->stops, false);

	int ret = workers_start_thread(&job->thread, NULL, run_job, job);

	if (ret < 0) {
		if (work & JOB_REPORT)
			report_deinit(&job->wanted);
		return err_set_errno(err, ret, "cannot read in the background");
	}
	job->runs = true;
	return 0;
}

bool job_is_done(const struct tui_job *job)
{
	return !job->runs || atomic_load(&job->is_done);
}

int job_end(struct tui_job *job, struct uft_err *err)
{
	pthread_join(job->thread, NULL);
	job->runs = false;
	if (job->work & JOB_REPORT)
		report_deinit(&job->wanted);
	if (job->status && err)
		*err = job->err;
	return job->status;
}

void job_stop(struct tui_job *job)
{
	if (!job->runs)
		return;
	/*
	 * After one pipeline has stopped, the thread may begin another pipeline. So stopping is
	 * repeated until the thread has ended.
	 */
	while (!job_is_done(job)) {
		reading_stop(job->reading);
		nanosleep(&(struct timespec){ .tv_nsec = LOOK_NS }, NULL);
	}
	job_end(job, NULL);
}

void job_put_progress(struct tui_job *job, struct strbuf *out)
{
	struct pipeline *pipe = atomic_load(&job->reading->active);
	uint64_t all = pipe ? pipeline_bytes(pipe) : 0;
	uint64_t done = pipe ? atomic_load(&pipe->read_bytes) : 0;

	if (!all) {
		strbuf_addstr(out, "reading");
		return;
	}
	strbuf_addf(out, "%u %% of %llu MB read", (unsigned)(MIN(done, all) * 100 / all),
		    (unsigned long long)(all >> 20));
	read_progress_add_left(out, done, all, clock_now_ns(CLOCK_MONOTONIC) - job->began_ns);
}
