// SPDX-License-Identifier: GPL-2.0
/*
 * get_output.c - where the data of "wale get" go, and what it tells at the end
 *
 * A file is written under a temporary name beside its place and renamed when
 * it is complete and its digest right, so that there is never half a file.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "get_transfer.h"

/*
 * Where a path leads, and so which file is replaced; the path itself, if there is
 * none.  Links are followed as open(2) follows them: not one that somebody else
 * left in /tmp (fs.protected_symlinks), which realpath(3) does not know of.
 */
static char *followed_path(const char *path)
{
	char *name = NULL, *target;
	int fd = open(path, O_PATH | O_CLOEXEC), err;
	ssize_t len = -1;

	if (fd < 0)
		return errno == ENOENT ? strdup(path) : NULL;
	target = calloc(1, PATH_MAX);
	if (target && asprintf(&name, "/proc/self/fd/%d", fd) >= 0)
		len = readlink(name, target, PATH_MAX - 1);
	err = errno;
	free(name);
	close(fd);
	if (len < 0) {
		free(target);
		errno = err;
		return NULL;
	}
	return target;
}

/* The path to write: for a folder, with the last component of the name. */
static char *wanted_path(const struct transfer *t)
{
	const char *slash = strrchr(t->name, '/');
	char *path, *followed;

	if (!t->opt->out_is_folder)
		return followed_path(t->opt->out);
	if (asprintf(&path, "%s/%s", t->opt->out, slash ? slash + 1 : t->name) <
	    0)
		return NULL;
	followed = followed_path(path);
	free(path);
	return followed;
}

/* A name beside @path, for mkostemp(). */
static char *temporary_path(const char *path)
{
	const char *slash = strrchr(path, '/');
	const char *base = slash ? slash + 1 : path;
	char *temporary;

	if (asprintf(&temporary, "%.*s.%.200s.wale-XXXXXX", (int)(base - path),
		     path, base) < 0)
		return NULL;
	return temporary;
}

/* What open(2) would give a new file. */
static void set_new_mode(int fd)
{
	mode_t mask = umask(0);

	umask(mask);
	(void)!fchmod(fd, 0666 & ~mask);
}

/*
 * Owner, group and mode of the file that is replaced, as far as we may: what its
 * group could do another one cannot, nor can it if a list (ACL) said who could.
 */
static void keep_mode(int fd, const char *path, const struct stat *replaced)
{
	mode_t mode = replaced->st_mode & 0777;

	if ((fchown(fd, replaced->st_uid, replaced->st_gid) < 0 &&
	     fchown(fd, (uid_t)-1, replaced->st_gid) < 0) ||
	    getxattr(path, "system.posix_acl_access", NULL, 0) > 0)
		mode &= ~(mode_t)0070;
	(void)!fchmod(fd, mode);
}

bool output_open(struct transfer *t)
{
	struct get_output *output = &t->output;
	struct stat stat_now;
	bool replaces;

	*output = (struct get_output){ .fd = -1 };
	if (!t->opt->out)
		return true;
	if (!strcmp(t->opt->out, "-")) {
		output->fd = STDOUT_FILENO;
		return true;
	}
	output->path = wanted_path(t);
	replaces = output->path && !stat(output->path, &stat_now);
	if (replaces && !S_ISREG(stat_now.st_mode)) {
		snprintf(
			t->error, sizeof(t->error),
			"'%s' is not a regular file: expected a file to replace or a new name",
			output->path);
		output_discard(output);
		return false;
	}
	output->temporary = output->path ? temporary_path(output->path) : NULL;
	if (output->temporary)
		output->fd = mkostemp(output->temporary, O_CLOEXEC);
	if (output->fd < 0) {
		snprintf(t->error, sizeof(t->error),
			 "cannot write a file beside '%s': %s",
			 output->path ? output->path : t->opt->out,
			 strerror(errno));
		free(output->temporary);
		output->temporary = NULL;
		output_discard(output);
		return false;
	}
	if (replaces)
		keep_mode(output->fd, output->path, &stat_now);
	else
		set_new_mode(output->fd);
	return true;
}

bool output_write(struct get_output *output, const void *data, size_t len)
{
	const char *p = data;

	while (output->fd >= 0 && len) {
		size_t most = output->fd == STDOUT_FILENO ? stdout_wait() : len;
		ssize_t n = write(output->fd, p, len < most ? len : most);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return false;
		p += n;
		len -= (size_t)n;
	}
	return true;
}

bool output_commit(struct get_output *output)
{
	int fd = output->fd;

	if (!output->temporary)
		return true;
	output->fd = -1;
	if (close(fd) < 0 || rename(output->temporary, output->path) < 0)
		return false;
	free(output->temporary);
	output->temporary = NULL;
	return true;
}

void output_discard(struct get_output *output)
{
	if (output->fd >= 0 && output->fd != STDOUT_FILENO)
		close(output->fd);
	output->fd = -1;
	if (output->temporary)
		unlink(output->temporary);
	free(output->temporary);
	free(output->path);
	output->temporary = NULL;
	output->path = NULL;
}

static uint64_t seconds_total(const struct transfer *t)
{
	return t->last_ns > t->start_ns ? t->last_ns - t->start_ns : 0;
}

static double goodput(const struct transfer *t)
{
	uint64_t ns = seconds_total(t);

	return ns ? (double)t->received * 1e9 / (double)ns : 0;
}

static void json_time(struct json_line *json, const char *key, uint64_t from,
		      uint64_t to)
{
	if (from && to)
		json_seconds(json, key, to - from);
	else
		json_null(json, key);
}

static void json_text_or_null(struct json_line *json, const char *key,
			      const char *value)
{
	if (value && *value)
		json_text(json, key, value);
	else
		json_null(json, key);
}

static void json_session(struct json_line *json, const struct transfer *t)
{
	if (!t->session)
		return;
	json_u64(json, "session", t->session);
	json_seconds(json, "arrival_s", t->arrival_ns);
	json_u64(json, "epoch_ns", t->epoch_ns);
	json_u64(json, "seed", t->opt->arrivals.seed);
}

static void report_json(const struct transfer *t)
{
	struct json_line json;

	json_begin(&json, stdout);
	json_session(&json, t);
	json_text(&json, "name", t->name);
	json_text(&json, "host", t->host);
	json_u64(&json, "port", t->opt->port);
	json_text_or_null(&json, "local", t->local);
	json_text_or_null(&json, "remote", t->remote);
	json_text_or_null(&json, "cc", t->cc);
	json_u64(&json, "bytes", t->received);
	json_time(&json, "seconds", t->start_ns, t->last_ns);
	json_time(&json, "first_byte_s", t->start_ns, t->first_ns);
	json_time(&json, "data_s", t->first_ns, t->last_ns);
	if (seconds_total(t))
		json_real(&json, "goodput_Bps", goodput(t));
	else
		json_null(&json, "goodput_Bps");
	json_text_or_null(&json, "sha256", t->hex);
	if (t->verified || t->mismatch)
		json_bool(&json, "sha256_ok", t->verified);
	else
		json_null(&json, "sha256_ok");
	if (t->has_stats) {
		json_u64(&json, "retransmits", t->retransmits);
		json_u64(&json, "min_rtt_us", t->min_rtt_us);
	} else {
		json_null(&json, "retransmits");
		json_null(&json, "min_rtt_us");
	}
	json_text_or_null(&json, "completed", t->completed);
	json_text_or_null(&json, "error", t->error);
	json_end(&json);
}

static void report_name(FILE *out, const struct transfer *t)
{
	if (t->session)
		fprintf(out, "session %u at %.3f s, ", t->session,
			(double)t->arrival_ns / 1e9);
	fputs(t->source, out);
}

static void report_text(const struct transfer *t)
{
	char bytes[HUMAN_MAX], rate[HUMAN_MAX];
	FILE *out = t->opt->out && !strcmp(t->opt->out, "-") ? stderr : stdout;

	if (!t->completed)
		return;
	report_name(out, t);
	fprintf(out, ": %s in %.3f s, %s, %s",
		human_bytes((double)t->received, bytes),
		(double)seconds_total(t) / 1e9, human_rate(goodput(t), rate),
		t->cc);
	if (t->has_stats)
		fprintf(out, ", %llu retransmitted",
			(unsigned long long)t->retransmits);
	if (!strcmp(t->completed, "duration"))
		fputs(", stopped after its duration", out);
	else
		fputs(t->verified ? ", SHA-256 right" : ", SHA-256 not checked",
		      out);
	fputc('\n', out);
	fflush(out);
}

void transfer_report(const struct transfer *t)
{
	if (*t->error) {
		fputs("wale get: ", stderr);
		report_name(stderr, t);
		fprintf(stderr, ": %s\n", t->error);
	}
	if (t->opt->json)
		report_json(t);
	else
		report_text(t);
}

static int compare(const void *a, const void *b)
{
	const double *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

/* The value that a share of the @n sorted ones is below, interpolated. */
static double quantile(const double *sorted, unsigned int n, double share)
{
	double at = share * (n - 1);
	unsigned int below = (unsigned int)at;
	double rest = at - below;

	return below + 1 < n
		       ? sorted[below] * (1 - rest) + sorted[below + 1] * rest
		       : sorted[n - 1];
}

static void report_throughputs(double *throughputs, unsigned int n)
{
	char mean[HUMAN_MAX], low[HUMAN_MAX], median[HUMAN_MAX],
		high[HUMAN_MAX];
	double sum = 0;

	for (unsigned int i = 0; i < n; i++)
		sum += throughputs[i];
	qsort(throughputs, n, sizeof(*throughputs), compare);
	printf("throughput of a session: mean %s; 10 %% below %s, half below %s, 90 %% below %s\n",
	       human_rate(sum / n, mean),
	       human_rate(quantile(throughputs, n, 0.1), low),
	       human_rate(quantile(throughputs, n, 0.5), median),
	       human_rate(quantile(throughputs, n, 0.9), high));
}

void sessions_report(const struct transfer *sessions, unsigned int n)
{
	double *throughputs = calloc(n, sizeof(*throughputs));
	unsigned int completed = 0;
	uint64_t bytes = 0, end_ns = 0;
	char total[HUMAN_MAX];

	for (unsigned int i = 0; i < n; i++) {
		const struct transfer *t = &sessions[i];

		if (!t->completed)
			continue;
		if (throughputs)
			throughputs[completed] = goodput(t);
		completed++;
		bytes += t->received;
		if (t->last_ns > end_ns)
			end_ns = t->last_ns;
	}
	printf("%u of %u sessions, %s", completed, n,
	       human_bytes((double)bytes, total));
	if (completed)
		printf(" in %.3f s",
		       (double)(end_ns - sessions->epoch_ns) / 1e9);
	printf(", seed %llu\n",
	       (unsigned long long)sessions->opt->arrivals.seed);
	if (completed && throughputs)
		report_throughputs(throughputs, completed);
	fflush(stdout);
	free(throughputs);
}
