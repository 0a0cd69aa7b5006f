/* Sleeps in the system call that its argument names. It has a function that can be patched. */

#define _GNU_SOURCE
#include <poll.h>
#include <sys/prctl.h>
#include <sys/select.h>
#include <sys/epoll.h>
#include <sys/wait.h>
#include <sys/msg.h>
#include <sys/sem.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <netinet/in.h>
#include <sys/syscall.h>
#include <pthread.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include <semaphore.h>
#include <errno.h>
#define STOPS (errno == EINTR)
__attribute__((noinline)) void work(void)
{
	__asm__ volatile("nop;nop;nop;nop;nop;nop;nop;nop");
}
int main(int argc, char **argv)
{
	const char *w = argv[1];
	int p[2];
	if (pipe(p))
		return 1;
	char c;
	work();
	struct timespec ts = { 1000, 0 };
	printf("%d\n", getpid());
	fflush(stdout);
	int r = -5;
	if (!strcmp(w, "nanosleep"))
		r = syscall(SYS_nanosleep, &ts, 0);
	else if (!strcmp(w, "sleep"))
		r = sleep(1000);
	else if (!strcmp(w, "clock_nanosleep"))
		r = clock_nanosleep(CLOCK_MONOTONIC, 0, &ts, 0);
	else if (!strcmp(w, "poll"))
		r = poll(0, 0, 1000000);
	else if (!strcmp(w, "ppoll"))
		r = ppoll(0, 0, &ts, 0);
	else if (!strcmp(w, "select")) {
		struct timeval tv = { 1000, 0 };
		r = select(0, 0, 0, 0, &tv);
	} else if (!strcmp(w, "epoll")) {
		struct epoll_event e;
		int E = epoll_create1(0);
		do
			r = epoll_wait(E, &e, 1, 1000000);
		while (r < 0 && STOPS);
	} else if (!strcmp(w, "epoll_pwait2")) {
		struct epoll_event e;
		int E = epoll_create1(0);
		do
			r = syscall(441, E, &e, 1, &ts, 0, 8);
		while (r < 0 && STOPS);
	} else if (!strcmp(w, "read"))
		r = read(p[0], &c, 1);
	else if (!strcmp(w, "accept")) {
		int s = socket(AF_INET, SOCK_STREAM, 0);
		listen(s, 1);
		r = accept(s, 0, 0);
	} else if (!strcmp(w, "wait4")) {
		if (!fork()) {
			close(1);
			prctl(PR_SET_PDEATHSIG, SIGKILL);
			pause();
			_exit(0);
		}
		r = wait(0);
	} else if (!strcmp(w, "sigtimedwait")) {
		sigset_t s;
		sigemptyset(&s);
		sigaddset(&s, SIGUSR1);
		sigprocmask(SIG_BLOCK, &s, 0);
		do
			r = sigtimedwait(&s, 0, &ts);
		while (r < 0 && STOPS);
	} else if (!strcmp(w, "msgrcv")) {
		int q = msgget(IPC_PRIVATE, 0600);
		struct {
			long t;
			char b[8];
		} m;
		r = msgrcv(q, &m, 8, 0, 0);
	} else if (!strcmp(w, "semtimedop")) {
		int q = semget(IPC_PRIVATE, 1, 0600);
		struct sembuf b = { 0, -1, 0 };
		do
			r = semtimedop(q, &b, 1, &ts);
		while (r < 0 && STOPS);
	} else if (!strcmp(w, "flock")) {
		int a = open("lockf", O_CREAT | O_RDWR, 0600), b = open("lockf", O_RDWR);
		flock(a, LOCK_EX);
		r = flock(b, LOCK_EX);
	} else if (!strcmp(w, "setlkw")) {
		int a = open("lockg", O_CREAT | O_RDWR, 0600);
		struct flock l = { .l_type = F_WRLCK };
		fcntl(a, F_OFD_SETLK, &l);
		int b = open("lockg", O_RDWR);
		r = fcntl(b, F_OFD_SETLKW, &l);
	} else if (!strcmp(w, "pause"))
		r = pause();
	else if (!strcmp(w, "sigsuspend")) {
		sigset_t s;
		sigemptyset(&s);
		r = sigsuspend(&s);
	} else if (!strcmp(w, "futex")) {
		int x = 0;
		r = syscall(SYS_futex, &x, 0, 0, &ts, 0, 0);
	} else if (!strcmp(w, "futex_without_end")) {
		int x = 0;
		r = syscall(SYS_futex, &x, 0, 0, 0, 0, 0);
	} else if (!strcmp(w, "cond")) {
		pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
		pthread_cond_t cc = PTHREAD_COND_INITIALIZER;
		pthread_mutex_lock(&m);
		r = pthread_cond_wait(&cc, &m);
	} else if (!strcmp(w, "sem")) {
		sem_t s;
		sem_init(&s, 0, 0);
		clock_gettime(CLOCK_REALTIME, &ts);
		ts.tv_sec += 1000;
		r = sem_timedwait(&s, &ts);
	}
	printf("%s ended %d\n", w, r);
	return 7;
}
