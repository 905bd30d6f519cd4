/* SPDX-License-Identifier: GPL-2.0 */
/*
 * fuzz.h - what the fuzz targets share: how an input is read, what must hold
 *
 * A target is a function that libFuzzer calls with one input after the other.
 * A text is taken as it is; for what is not text, the input is a tape of numbers
 * that says what to do.  Behind the end of the tape there are zeros.
 */
#ifndef WALE_FUZZ_H
#define WALE_FUZZ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef unsigned __int128 u128;

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* A condition that holds for all inputs; otherwise this one is a finding. */
#define must(condition)                                                   \
	do {                                                              \
		if (!(condition)) {                                       \
			fprintf(stderr, "%s:%d: must be: %s\n", __FILE__, \
				__LINE__, #condition);                    \
			abort();                                          \
		}                                                         \
	} while (0)

struct tape {
	const uint8_t *at;
	size_t left;
};

static inline uint64_t tape_bytes(struct tape *tape, unsigned int n)
{
	uint64_t value = 0;

	while (n-- && tape->left) {
		value = value << 8 | *tape->at++;
		tape->left--;
	}
	return value;
}

static inline uint8_t tape_u8(struct tape *tape)
{
	return (uint8_t)tape_bytes(tape, 1);
}

/* Small and large numbers alike: the first byte says how many bytes follow. */
static inline uint64_t tape_number(struct tape *tape)
{
	return tape_bytes(tape, tape_u8(tape) % 9);
}

static inline uint64_t tape_range(struct tape *tape, uint64_t min, uint64_t max)
{
	uint64_t value = tape_number(tape);

	return max - min == UINT64_MAX ? value : min + value % (max - min + 1);
}

/* The input as a string, to be freed; it ends at a NUL. */
static inline char *input_text(const uint8_t *data, size_t size)
{
	char *text = malloc(size + 1);

	must(text);
	if (size)
		memcpy(text, data, size);
	text[size] = '\0';
	return text;
}

#endif /* WALE_FUZZ_H */
