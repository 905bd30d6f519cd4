/* SPDX-License-Identifier: GPL-2.0 */
/*
 * guest_batches.h - what the controllers of several machines tell each other between two windows
 */
#ifndef _GUEST_BATCHES_H
#define _GUEST_BATCHES_H

#include <stdint.h>

#include "wire_ring.h"

#define BATCH_MAGIC	0x57424154U
#define BATCH_VERSION	1

/* Exit code of a controller that another machine has left; 1 is for all else. */
#define EXIT_LOST	2

enum batch_flags {
	BATCH_GONE	= 1,	/* the guest has ended */
	BATCH_CONNECTED	= 2,	/* it can be woken */
};

/**
 * struct batch_head - the beginning of a batch
 * @magic: BATCH_MAGIC
 * @version: BATCH_VERSION
 * @window: number of the window that has ended
 * @now_ns: when it ended
 * @data: bytes of records at the end of the batch
 * @guests: how many struct batch_guest follow: those of the sending machine
 * @rings: how many struct batch_ring follow them: all between the two machines
 * @fed: a bit for each guest for which something was sent in the window
 * @over: 1: a guest wants the experiment to end everywhere
 */
struct batch_head {
	uint32_t magic;
	uint32_t version;
	uint64_t window;
	uint64_t now_ns;
	uint64_t data;
	uint32_t guests;
	uint32_t rings;
	uint32_t fed;
	uint32_t over;
};

/**
 * struct batch_guest - a guest at the end of a window
 * @request: its next event
 * @stage: how far the experiment is in it
 * @flags: of enum batch_flags
 */
struct batch_guest {
	uint64_t request;
	uint32_t stage;
	uint32_t flags;
};

/**
 * struct batch_ring - a ring between the two machines, at the end of a window
 * @number: of the ring
 * @bytes: written in the window, if the sending machine writes it; these stand in the data
 * @position: how far it is written, or read, if the sending machine reads it
 */
struct batch_ring {
	uint32_t number;
	uint32_t bytes;
	uint64_t position;
};

void __attribute__((noreturn, format(printf, 2, 3))) fail(int code, const char *format, ...);

void batches_add_peer(const char *text);
void batches_begin(struct wire_memory *memory, unsigned int first, unsigned int count);
uint32_t batches_exchange(struct batch_guest *guests, uint64_t now_ns);

#endif /* _GUEST_BATCHES_H */
