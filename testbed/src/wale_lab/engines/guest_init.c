// SPDX-License-Identifier: GPL-2.0
/*
 * guest_init.c - the first process of a guest: mounts, loads modules, runs one
 * command, writes down how it ended, has a kernel that can look for leaks, switches
 * the guest off
 *
 * What to do is in the file "job" beside this program, written by
 * engines/uml.py: pairs of NUL-terminated strings, a key and a value.
 *
 *   out     host folder to mount writable at /run/wale/out
 *   job     host folder to mount writable at /run/wale/job, for "status"
 *   module  kernel module to load, a path; in order
 *   env     NAME=VALUE for the command
 *   cwd     the command's working directory
 *   after   shell script to run when the command has ended
 *   modprobe  program with which the kernel loads modules of its own
 *   tty     "1": the command has the console as its controlling terminal
 *   start   where the clock is set to, ns since 1970
 *   limit   seconds after which everything is ended; a guest in virtual time
 *           that waits for what cannot come gets there at once
 *   arg     the command and its arguments, in order
 *
 * It is C and static so that a guest boots to its command without starting
 * another program: a process start is what costs time in User-Mode Linux.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <net/if.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/reboot.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

#define WORDS_MAX 1024

static char *args[WORDS_MAX + 1];
static char *envs[WORDS_MAX + 1];
static char *modules[WORDS_MAX + 1];
static const char *out, *job, *after, *modprobe, *cwd = "/";
static int tty;
static unsigned int limit_s;
static unsigned long long start_ns;

static void power_off(void)
{
	sync();
	reboot(RB_POWER_OFF);
}

/* What went wrong before the command could run is told like an exit code. */
static void report(const char *text)
{
	int fd = open("/run/wale/job/status", O_WRONLY | O_CREAT | O_TRUNC, 0644);

	if (fd < 0)
		return;
	if (write(fd, text, strlen(text)) < 0)
		perror("status");
	fsync(fd);
	close(fd);
}

static void fail(const char *what, const char *which)
{
	char text[1024];

	snprintf(text, sizeof(text), "error %s %s: %s\n", what, which,
		 strerror(errno));
	fputs(text, stderr);
	report(text);
	power_off();
}

static void push(char **list, char *word)
{
	int n = 0;

	while (list[n])
		n++;
	if (n == WORDS_MAX) {
		errno = E2BIG;
		fail("job", word);
	}
	list[n] = word;
}

static char *read_file(const char *path, size_t *len)
{
	struct stat st;
	char *text = NULL;
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	*len = 0;
	if (fd < 0 || fstat(fd, &st) < 0)
		fail("read", path);
	text = malloc(st.st_size + 1);
	while (text && *len < (size_t)st.st_size) {
		ssize_t n = read(fd, text + *len, st.st_size - *len);

		if (n <= 0)
			fail("read", path);
		*len += n;
	}
	close(fd);
	return text;
}

static void read_job(const char *self)
{
	static char path[4096];
	const char *slash = strrchr(self, '/');
	size_t len;
	char *p, *end;

	snprintf(path, sizeof(path), "%.*s/job", (int)(slash - self), self);
	p = read_file(path, &len);
	for (end = p + len; p < end; ) {
		char *key = p, *value = p + strlen(p) + 1;

		p = value + strlen(value) + 1;
		if (!strcmp(key, "out"))
			out = value;
		else if (!strcmp(key, "job"))
			job = value;
		else if (!strcmp(key, "module"))
			push(modules, value);
		else if (!strcmp(key, "env"))
			push(envs, value);
		else if (!strcmp(key, "after"))
			after = value;
		else if (!strcmp(key, "modprobe"))
			modprobe = value;
		else if (!strcmp(key, "cwd"))
			cwd = value;
		else if (!strcmp(key, "tty"))
			tty = *value == '1';
		else if (!strcmp(key, "start"))
			start_ns = strtoull(value, NULL, 10);
		else if (!strcmp(key, "limit"))
			limit_s = strtoul(value, NULL, 10);
		else if (!strcmp(key, "arg"))
			push(args, value);
	}
}

/* @data for hostfs is the host's folder */
static void must_mount(const char *type, const char *dir, const char *data,
		       unsigned long flags)
{
	mkdir(dir, 0755);
	if (mount(type, dir, type, flags, data))
		fail("mount", dir);
}

static void mount_all(void)
{
	must_mount("proc", "/proc", NULL, 0);
	must_mount("sysfs", "/sys", NULL, 0);
	must_mount("devtmpfs", "/dev", "mode=0755", 0);
	must_mount("tmpfs", "/run", "mode=0755", 0);
	mkdir("/run/wale", 0755);
	must_mount("hostfs", "/run/wale/job", job, 0);
	must_mount("devpts", "/dev/pts", "mode=0620,ptmxmode=0666", 0);
	must_mount("tmpfs", "/dev/shm", "mode=1777", 0);
	must_mount("tracefs", "/sys/kernel/tracing", NULL, 0);
	must_mount("debugfs", "/sys/kernel/debug", NULL, 0);
	mkdir("/run/netns", 0755);
	mkdir("/run/tmp", 0777);
	if (out)
		must_mount("hostfs", "/run/wale/out", out, 0);
	/* What programs expect to find in /dev */
	if (symlink("/proc/self/fd", "/dev/fd") ||
	    symlink("/proc/self/fd/0", "/dev/stdin") ||
	    symlink("/proc/self/fd/1", "/dev/stdout") ||
	    symlink("/proc/self/fd/2", "/dev/stderr"))
		fail("symlink", "/dev/fd");
}

static void open_console(void)
{
	int fd = open("/dev/tty0", O_RDWR | O_NOCTTY);
	struct termios mode;

	if (fd < 0)
		fail("open", "/dev/tty0");
	if (!tty && !tcgetattr(fd, &mode)) {
		cfmakeraw(&mode);	/* output as it is, no echo */
		tcsetattr(fd, TCSANOW, &mode);
	}
	dup2(fd, 1);
	dup2(fd, 2);
	if (!tty) {
		close(fd);
		fd = open("/dev/null", O_RDONLY);
	}
	dup2(fd, 0);
	if (fd > 2)
		close(fd);
}

/*
 * When a program touches a page of a file, map what is in memory around it, too: each
 * page fault costs three switches between processes of the host.
 */
static void map_much_at_once(void)
{
	int fd = open("/sys/kernel/debug/fault_around_bytes", O_WRONLY | O_CLOEXEC);
	const char *bytes = "2097152";

	if (fd < 0)
		return;		/* it is slower without, and does the same */
	if (write(fd, bytes, strlen(bytes)) < 0)
		perror("fault_around_bytes");
	close(fd);
}

static void loopback_up(void)
{
	struct ifreq req = { .ifr_name = "lo" };
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	req.ifr_flags = IFF_UP;
	if (fd < 0 || ioctl(fd, SIOCSIFFLAGS, &req))
		fail("up", "lo");
	close(fd);
}

/*
 * The kernel turns high-resolution timers on with its first tick.  Until then they are
 * as coarse as that, and clock_getres(), which programs read once, says so.
 */
static void await_fine_timers(void)
{
	const struct timespec pause = { .tv_nsec = 1000000 };
	struct timespec resolution;

	for (int n = 0; n < 1000; n++) {
		if (clock_getres(CLOCK_MONOTONIC, &resolution))
			fail("read", "the resolution of its clock");
		if (!resolution.tv_sec && resolution.tv_nsec == 1)
			return;
		nanosleep(&pause, NULL);
	}
	errno = ETIME;
	fail("get", "high-resolution timers");
}

static void set_clock(void)
{
	const struct timespec start = {
		.tv_sec = start_ns / 1000000000,
		.tv_nsec = start_ns % 1000000000,
	};

	if (start_ns && clock_settime(CLOCK_REALTIME, &start))
		fail("set", "the clock");
}

/*
 * Where the kernel finds its modules; and the one device whose module is loaded when
 * somebody opens it, for which udev makes a node elsewhere.
 */
static void allow_modules(void)
{
	int fd;

	if (!modprobe)
		return;
	fd = open("/proc/sys/kernel/modprobe", O_WRONLY | O_CLOEXEC);
	if (fd < 0 || write(fd, modprobe, strlen(modprobe)) < 0)
		fail("set the program that loads modules", modprobe);
	close(fd);
	mkdir("/dev/net", 0755);
	if (mknod("/dev/net/tun", S_IFCHR | 0666, makedev(10, 200)))
		fail("make", "/dev/net/tun");
}

static void load_modules(void)
{
	for (char **m = modules; *m; m++) {
		int fd = open(*m, O_RDONLY | O_CLOEXEC);

		if (fd < 0 || syscall(SYS_finit_module, fd, "", 0))
			fail("load module", *m);
		close(fd);
	}
}

/* @stat: a line of /proc/PID/stat, "pid (name) state parent ..." */
static int is_kernel_thread(const char *stat)
{
	const char *end = strrchr(stat, ')');

	return !end || atoi(end + 4) == 2;
}

/* Who is there, and in which state: for the message about a hung guest. */
static void print_processes(void)
{
	struct dirent *entry;
	char path[300], line[200];
	DIR *proc = opendir("/proc");

	while (proc && (entry = readdir(proc))) {
		FILE *file;

		snprintf(path, sizeof(path), "/proc/%s/stat", entry->d_name);
		if (atoi(entry->d_name) < 2 || !(file = fopen(path, "r")))
			continue;
		if (fgets(line, sizeof(line), file) && !is_kernel_thread(line))
			fprintf(stderr, "waiting: %.50s\n", line);
		fclose(file);
	}
}

static void hung(int number)
{
	(void)number;
	print_processes();
	report("hung\n");
	power_off();
}

/* Those of a scenario with many sessions; each process raises its own limit. */
static void allow_files(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit))
		return;
	limit.rlim_max = 1 << 17;
	setrlimit(RLIMIT_NOFILE, &limit);
}

static void run(void)
{
	setsid();
	if (tty)
		ioctl(0, TIOCSCTTY, 1);
	if (chdir(cwd))
		fail("chdir", cwd);
	environ = envs;
	execvp(args[0], args);
	fprintf(stderr, "%s: %s\n", args[0], strerror(errno));
	_exit(errno == ENOENT ? 127 : 126);
}

/* What the kernel's log says, it says on its console: the host reads that. */
static void complain(const char *text)
{
	int fd = open("/dev/kmsg", O_WRONLY | O_CLOEXEC);
	char line[1000];
	int len = snprintf(line, sizeof(line), "<4>%s\n", text);

	if (fd < 0 || write(fd, line, len) < 0)
		perror("/dev/kmsg");
	close(fd);
}

static void pass_on_leaks(void)
{
	FILE *leaks = fopen("/sys/kernel/debug/kmemleak", "r");
	char line[900], text[1000];

	while (leaks && fgets(line, sizeof(line), leaks)) {
		line[strcspn(line, "\n")] = '\0';
		snprintf(text, sizeof(text), "kmemleak: %s", line);
		complain(text);
	}
	if (leaks)
		fclose(leaks);
}

/*
 * In a kernel with kmemleak: look for memory that nobody points to.  Two scans,
 * since one sees what changes meanwhile; the time passes first, since kmemleak
 * takes no notice of what is younger than 5 s, and since the kernel frees much
 * a little later.
 */
static void look_for_leaks(void)
{
	int knob = open("/sys/kernel/debug/kmemleak", O_WRONLY | O_CLOEXEC);

	if (knob < 0)
		return;
	sleep(10);
	if (write(knob, "scan", 4) < 0 || write(knob, "scan", 4) < 0)
		complain("kmemleak: cannot scan");
	close(knob);
	pass_on_leaks();
}

/* In a kernel with lockdep: it stops at its first report, and for other reasons. */
static void look_at_lockdep(void)
{
	FILE *stats = fopen("/proc/lockdep_stats", "r");
	char line[200];
	int on;

	while (stats && fgets(line, sizeof(line), stats))
		if (sscanf(line, " debug_locks: %d", &on) == 1 && !on)
			complain("WARNING: lockdep is off");
	if (stats)
		fclose(stats);
}

int main(int argc, char **argv)
{
	char text[64];
	int status = 0;
	pid_t pid, got;

	(void)argc;
	read_job(argv[0]);
	mount_all();
	open_console();
	map_much_at_once();
	loopback_up();
	await_fine_timers();
	set_clock();
	allow_modules();
	load_modules();
	allow_files();

	pid = fork();
	if (pid < 0)
		fail("fork", args[0]);
	if (!pid)
		run();
	if (limit_s) {
		signal(SIGALRM, hung);
		alarm(limit_s);
	}
	do {
		got = wait(&status);
	} while (got != pid && (got > 0 || errno == EINTR));

	if (after && system(after))
		fail("run", after);
	snprintf(text, sizeof(text), "exit %d\n",
		 WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status));
	report(text);
	alarm(0);
	look_for_leaks();
	look_at_lockdep();
	power_off();
	return 0;
}
