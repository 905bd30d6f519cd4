// SPDX-License-Identifier: GPL-2.0
/*
 * outside_frames.c - carries Ethernet frames between passt and a guest
 *
 *   outside_frames STREAM PACKETS
 *
 * The words are the numbers of two inherited sockets.  passt is at the other end of STREAM, where
 * each frame follows its length in 4 bytes, most significant first.  The guest's network device is
 * at the other end of PACKETS, where each message is a frame.  Ends when either side does.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#define FRAME_MAX	65535
#define LENGTH		sizeof(uint32_t)

static int stream, packets;

static void to_passt(void)
{
	static unsigned char frame[FRAME_MAX];
	uint32_t length;
	struct iovec parts[] = {
		{ .iov_base = &length, .iov_len = LENGTH },
		{ .iov_base = frame },
	};
	/* In one piece: passt of 2023 loses its place if a length comes without its frame. */
	struct msghdr message = { .msg_iov = parts, .msg_iovlen = 2 };
	ssize_t n;

	while ((n = recv(packets, frame, sizeof(frame), 0)) > 0) {
		length = htonl(n);
		parts[1].iov_len = n;
		if (sendmsg(stream, &message, MSG_NOSIGNAL) < 0)
			return;
	}
}

/* How many bytes at the beginning are whole frames, which are passed on; -1: no further. */
static ssize_t pass_on(const unsigned char *text, size_t size)
{
	size_t at = 0;
	uint32_t length;

	while (size - at >= LENGTH) {
		memcpy(&length, text + at, LENGTH);
		length = ntohl(length);
		if (length > FRAME_MAX)
			return -1;
		if (size - at - LENGTH < length)
			break;
		if (send(packets, text + at + LENGTH, length, MSG_NOSIGNAL) < 0)
			return -1;
		at += LENGTH + length;
	}
	return at;
}

static void *to_guest(void *unused)
{
	static unsigned char text[4 * FRAME_MAX];
	size_t used = 0;
	ssize_t n, done;

	while ((n = recv(stream, text + used, sizeof(text) - used, 0)) > 0) {
		used += n;
		done = pass_on(text, used);
		if (done < 0)
			break;
		used -= done;
		memmove(text, text + done, used);
	}
	exit(0);
}

int main(int argc, char **argv)
{
	pthread_t thread;

	if (argc != 3) {
		fprintf(stderr, "usage: outside_frames STREAM PACKETS\n");
		return 2;
	}
	stream = atoi(argv[1]);
	packets = atoi(argv[2]);
	errno = pthread_create(&thread, NULL, to_guest, NULL);
	if (errno) {
		perror("outside_frames");
		return 1;
	}
	to_passt();
	return 0;
}
