// SPDX-License-Identifier: GPL-2.0
/*
 * serve_file.c - files and digests of "wale serve": see serve_file.h
 *
 * SHA-256 comes from Nettle: small, with the instructions of the processor
 * for SHA, and its licence (GPL-2 or later among them) goes with GPL-2.0,
 * which that of OpenSSL 3 does not.
 */
#include "serve_file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/openat2.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define DIGEST_SLICE (512 * 1024) /* bytes: below a millisecond of work */
#define DIGEST_READS 1024 /* in a slice, for a small file that is repeated */
#define FILES_KEPT 256 /* files without users whose digests are kept */
#define DIGESTS_KEPT 32 /* digests of one file that are kept */
#define OPEN_TRIES 8 /* when a rename elsewhere disturbs openat2 */

/*
 * A file written twice within the granularity of its timestamps looks the same
 * after the second time.  A digest is kept only if the file was older than
 * this when it was finished.
 */
#define RACY_S 2

static struct served_file *files;
static struct served_digest *work_first;
static struct served_digest **work_last = &work_first;

/*
 * The file @name beneath the folder, step by step, without following a link: for
 * a sandbox that does not let openat2 through because it cannot look into its
 * arguments, such as RestrictSUIDSGID= and DynamicUser= of systemd.
 */
static int open_steps(int folder_fd, const char *name, int flags)
{
	int dir = folder_fd, fd;

	while (true) {
		size_t len = strcspn(name, "/");
		char step[NAME_MAX + 1];

		errno = ENAMETOOLONG;
		fd = -1;
		if (len <= NAME_MAX) {
			memcpy(step, name, len);
			step[len] = '\0';
			fd = openat(dir, step,
				    (name[len] ? O_PATH | O_DIRECTORY : flags) |
					    O_NOFOLLOW | O_CLOEXEC);
		}
		if (dir != folder_fd)
			close(dir); /* leaves errno as it is */
		if (fd < 0 || !name[len])
			return fd;
		dir = fd;
		name += len + 1;
	}
}

/* The file @name beneath the folder; -1 with errno. */
static int open_beneath(int folder_fd, const char *name, int flags)
{
	const struct open_how how = {
		.flags = (uint64_t)flags | O_CLOEXEC,
		.resolve = RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS,
	};
	int fd = -1;

	for (int i = 0; i < OPEN_TRIES; i++) {
		fd = (int)syscall(SYS_openat2, folder_fd, name, &how,
				  sizeof(how));
		if (fd >= 0 || errno != EAGAIN)
			break;
	}
	if (fd < 0 && errno == ENOSYS)
		return open_steps(folder_fd, name, flags);
	return fd;
}

static bool is_regular(int fd, struct stat *stat)
{
	return !fstat(fd, stat) && S_ISREG(stat->st_mode);
}

/*
 * A regular file beneath the folder, and its @stat; -1 with errno, which is
 * ENXIO for what is no regular file.  First it is only looked at (O_PATH): to
 * open a FIFO would wake who waits at its other end, to open a device could
 * start it.
 */
static int open_regular(int folder_fd, const char *name, struct stat *stat)
{
	static const int flags[] = { O_PATH, O_RDONLY | O_NONBLOCK | O_NOCTTY };
	int fd = -1;

	for (size_t i = 0; i < sizeof(flags) / sizeof(flags[0]); i++) {
		if (fd >= 0)
			close(fd);
		fd = open_beneath(folder_fd, name, flags[i]);
		if (fd < 0)
			return -1;
		if (!is_regular(fd, stat)) {
			close(fd);
			errno = ENXIO;
			return -1;
		}
	}
	return fd;
}

static void refuse_open(struct wale_refusal *why, const char *name)
{
	switch (errno) {
	case ENOENT:
	case ENOTDIR:
		wale_refuse(why, WALE_E_NOT_FOUND, "there is no file '%.200s'",
			    name);
		break;
	case EXDEV:
	case ELOOP:
		wale_refuse(why, WALE_E_OUTSIDE,
			    "'%.200s' leads out of the served folder", name);
		break;
	case ENXIO: /* see open_regular() */
		wale_refuse(why, WALE_E_NOT_FILE,
			    "'%.200s' is not a regular file", name);
		break;
	case ENAMETOOLONG:
		wale_refuse(why, WALE_E_NAME,
			    "'%.200s...' is too long for a file name", name);
		break;
	case EMFILE:
	case ENFILE:
	case ENOMEM:
		wale_refuse(
			why, WALE_E_BUSY,
			"the server has no descriptors or memory left: try again later");
		break;
	default:
		wale_refuse(why, WALE_E_READ, "cannot open '%.200s': %s", name,
			    strerror(errno));
	}
}

static bool same_time(const struct timespec *a, const struct timespec *b)
{
	return a->tv_sec == b->tv_sec && a->tv_nsec == b->tv_nsec;
}

static bool same_content(const struct stat *a, const struct stat *b)
{
	return a->st_dev == b->st_dev && a->st_ino == b->st_ino &&
	       a->st_size == b->st_size && same_time(&a->st_mtim, &b->st_mtim);
}

/* Take a known file out of the list, or NULL. */
static struct served_file *take_known(const struct stat *stat)
{
	for (struct served_file **p = &files; *p; p = &(*p)->next) {
		struct served_file *file = *p;

		if (same_content(&file->stat, stat) &&
		    same_time(&file->stat.st_ctim, &stat->st_ctim)) {
			*p = file->next;
			return file;
		}
	}
	return NULL;
}

/* Put it into the list. */
static void keep_file(struct served_file *file)
{
	file->next = files;
	files = file;
}

static void free_file(struct served_file *file)
{
	while (file->digests) {
		struct served_digest *digest = file->digests;

		file->digests = digest->next;
		free(digest);
	}
	free(file);
}

/* Keep the files in use, and the first @keep others. */
static void trim_files(unsigned int keep)
{
	struct served_file **p = &files;

	while (*p) {
		struct served_file *file = *p;

		if (file->users || keep) {
			keep -= !file->users;
			p = &file->next;
			continue;
		}
		*p = file->next;
		free_file(file);
	}
}

/*
 * A file that is open, or NULL.  A name that leads through no folder and is no link stands for
 * the file itself, which need not be opened again.
 */
static struct served_file *take_open(int folder_fd, const char *name)
{
	struct served_file *file;
	struct stat stat;

	if (!files || strchr(name, '/') ||
	    fstatat(folder_fd, name, &stat, AT_SYMLINK_NOFOLLOW))
		return NULL;
	file = take_known(&stat);
	if (file && file->fd < 0) {
		keep_file(file);
		return NULL;
	}
	return file;
}

struct served_file *served_file_open(int folder_fd, const char *name,
				     struct wale_refusal *why)
{
	struct served_file *file = take_open(folder_fd, name);
	struct stat stat;
	int fd;

	if (file) {
		file->users++;
		keep_file(file);
		return file;
	}
	fd = open_regular(folder_fd, name, &stat);
	if (fd < 0) {
		refuse_open(why, name);
		return NULL;
	}

	file = take_known(&stat);
	if (!file) {
		file = calloc(1, sizeof(*file));
		if (!file) {
			wale_refuse(why, WALE_E_INTERNAL, "out of memory");
			close(fd);
			return NULL;
		}
		file->stat = stat;
		file->fd = -1;
	}
	if (file->fd < 0)
		file->fd = fd;
	else
		close(fd);
	file->users++;
	keep_file(file);
	return file;
}

void served_file_put(struct served_file *file)
{
	if (--file->users)
		return;
	close(file->fd);
	file->fd = -1;
	trim_files(FILES_KEPT);
}

bool served_file_unchanged(const struct served_file *file)
{
	struct stat now;

	return !fstat(file->fd, &now) && same_content(&file->stat, &now);
}

uint64_t served_file_position(const struct served_file *file, uint64_t at)
{
	uint64_t size = (uint64_t)file->stat.st_size;

	return size && at >= size ? at % size : at;
}

void served_files_forget(void)
{
	trim_files(0);
}

struct served_digest *served_digest_get(struct served_file *file,
					uint64_t offset, uint64_t length)
{
	struct served_digest *digest;

	for (digest = file->digests; digest; digest = digest->next)
		if (digest->offset == offset && digest->length == length &&
		    !digest->error)
			break;
	if (!digest) {
		digest = calloc(1, sizeof(*digest));
		if (!digest)
			return NULL;
		digest->file = file;
		digest->offset = offset;
		digest->length = length;
		sha256_init(&digest->context);
		digest->next = file->digests;
		file->digests = digest;
	}
	digest->users++;
	return digest;
}

static void unqueue(struct served_digest *digest)
{
	struct served_digest **p = &work_first;

	if (!digest->queued)
		return;
	while (*p != digest)
		p = &(*p)->next_work;
	*p = digest->next_work;
	if (work_last == &digest->next_work)
		work_last = p;
	digest->queued = false;
}

/* Free the unfinished ones without users, and the oldest above the limit. */
static void trim_digests(struct served_file *file)
{
	struct served_digest **p = &file->digests;
	unsigned int kept = 0;

	while (*p) {
		struct served_digest *digest = *p;

		if (digest->users || (digest->ready && kept++ < DIGESTS_KEPT)) {
			p = &digest->next;
			continue;
		}
		*p = digest->next;
		unqueue(digest);
		free(digest);
	}
}

static bool is_racy(const struct served_file *file)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	return llabs((long long)now.tv_sec - file->stat.st_ctim.tv_sec) <=
		       RACY_S ||
	       llabs((long long)now.tv_sec - file->stat.st_mtim.tv_sec) <=
		       RACY_S;
}

void served_digest_put(struct served_digest *digest)
{
	if (--digest->users)
		return;
	if (digest->ready && is_racy(digest->file))
		digest->ready = false;
	trim_digests(digest->file);
}

void served_digest_allow(struct served_digest *digest, uint64_t sent)
{
	if (sent > digest->target)
		digest->target = sent;
	if (digest->queued || digest->ready || digest->error)
		return;
	if (digest->done == digest->target && digest->done < digest->length)
		return;
	digest->queued = true;
	digest->next_work = NULL;
	*work_last = digest;
	work_last = &digest->next_work;
}

bool served_digest_pending(void)
{
	return work_first;
}

/* Read and add at most @room bytes that are there in one piece. */
static void digest_read(struct served_digest *digest, uint64_t room)
{
	static uint8_t buffer[DIGEST_SLICE];
	uint64_t size = (uint64_t)digest->file->stat.st_size;
	uint64_t at = served_file_position(digest->file,
					   digest->offset + digest->done);
	ssize_t n;

	if (room > size - at)
		room = size - at;
	if (room > sizeof(buffer))
		room = sizeof(buffer);
	n = pread(digest->file->fd, buffer, room, (off_t)at);
	if (n > 0) {
		sha256_update(&digest->context, (size_t)n, buffer);
		digest->done += (uint64_t)n;
	} else if (n < 0 && errno != EINTR) {
		digest->error = errno;
	} else if (!n) {
		digest->error = ENODATA;
	}
}

/* One slice; true when @digest is finished, ready or with an error. */
static bool digest_slice(struct served_digest *digest)
{
	uint64_t end = digest->done + DIGEST_SLICE;

	if (end > digest->target)
		end = digest->target;
	for (int i = 0; i < DIGEST_READS && digest->done < end; i++) {
		digest_read(digest, end - digest->done);
		if (digest->error)
			return true;
	}
	if (digest->done < digest->length)
		return false;
	sha256_digest(&digest->context, sizeof(digest->value), digest->value);
	digest->ready = true;
	return true;
}

void served_digest_hurry(struct served_digest *digest)
{
	/* other users are told by who calls served_digest_work() */
	if (digest->ready || digest->error || digest->users > 1 ||
	    digest->length - digest->done > DIGEST_SLICE)
		return;
	unqueue(digest);
	if (!digest_slice(digest))
		served_digest_allow(digest, 0);
}

struct served_digest *served_digest_work(void)
{
	struct served_digest *digest = work_first;

	if (!digest)
		return NULL;
	unqueue(digest);
	if (digest_slice(digest))
		return digest;
	served_digest_allow(digest, 0);
	return NULL;
}
