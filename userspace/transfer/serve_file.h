/* SPDX-License-Identifier: GPL-2.0 */
/*
 * serve_file.h - the files of "wale serve": opened inside the served folder,
 * shared between transfers, with the digests of what is sent
 *
 * A file is known by what stat says of it: device, inode, size, times of its
 * last change.  Transfers of the same file share one descriptor and one digest
 * of the same range.  A digest is computed in slices by
 * served_digest_work(), never further than a transfer has sent, so that
 * one digest cannot hold up the other transfers, and the pages that it reads
 * have just been read for sendfile.  A finished digest is kept for the next
 * transfer of an unchanged file.
 */
#ifndef WALE_SERVE_FILE_H
#define WALE_SERVE_FILE_H

#include <nettle/sha2.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>

#include "transfer_proto.h"

/**
 * struct served_digest - SHA-256 of a range of a file
 * @next: of the same file
 * @next_work: in the queue of those that have something to do
 * @file: what it is of
 * @offset: first byte of the range
 * @length: bytes of the range; goes on at the start of the file at its end
 * @done: bytes that went in so far
 * @target: bytes that have been sent, the limit of @done
 * @users: transfers that wait for it
 * @queued: it is in the queue
 * @ready: @value is valid
 * @error: reading failed, errno; ENODATA for a file that became shorter
 * @context: the computation
 * @value: the result
 */
struct served_digest {
	struct served_digest *next;
	struct served_digest *next_work;
	struct served_file *file;
	uint64_t offset;
	uint64_t length;
	uint64_t done;
	uint64_t target;
	unsigned int users;
	bool queued;
	bool ready;
	int error;
	struct sha256_ctx context;
	uint8_t value[WALE_SHA256_SIZE];
};

/**
 * struct served_file - a file that is being sent, or was not long ago
 * @next: in the list of all files, the last used first
 * @digests: of its ranges
 * @stat: what it was when it was opened
 * @users: transfers that send it
 * @fd: open while there are users, else -1
 */
struct served_file {
	struct served_file *next;
	struct served_digest *digests;
	struct stat stat;
	unsigned int users;
	int fd;
};

/* Open a regular file beneath @folder_fd; NULL with the reason in @why. */
struct served_file *served_file_open(int folder_fd, const char *name,
				     struct wale_refusal *why);
void served_file_put(struct served_file *file);

/* Is the open file still what it was when it was opened? */
bool served_file_unchanged(const struct served_file *file);

/* Where in the file byte @at of the file repeated without end is. */
uint64_t served_file_position(const struct served_file *file, uint64_t at);

/* The digest of a range; NULL without memory. */
struct served_digest *served_digest_get(struct served_file *file,
					uint64_t offset, uint64_t length);
void served_digest_put(struct served_digest *digest);

/* @sent bytes of the range have been sent: compute up to there. */
void served_digest_allow(struct served_digest *digest, uint64_t sent);

/* If little is missing of a digest with one user, do it now. */
void served_digest_hurry(struct served_digest *digest);

/* Has a digest something to do? */
bool served_digest_pending(void);

/*
 * Do one slice of work.  Returns the digest that it finished (ready or with
 * an error), or NULL.
 */
struct served_digest *served_digest_work(void);

/* Forget every file without users. */
void served_files_forget(void);

#endif
