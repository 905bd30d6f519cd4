/* SPDX-License-Identifier: GPL-2.0 */
/*
 * units.h - numbers with units, as tc users type them
 *
 * The suffixes are those of Documentation/units.rst, which are tc's and some more,
 * upper or lower case.  Unlike tc's own parsers, these work in decimal, without
 * floating point, so that 0.29s is 290000000 ns, and a number too large is refused.
 *
 * What a units_format_*() function writes, the parser of the same kind reads
 * back as the same value.
 *
 * Parsers return 0; -EINVAL for what is not such a number (signs included);
 * -ERANGE for one that does not fit; -EDOM for a rate or a size that is not a whole
 * number of bytes/s or bytes, when the result is the next lower.  Millionths are cut
 * off, and other fractions of the unit of the result are rounded.
 */
#ifndef WALE_UNITS_H
#define WALE_UNITS_H

#include <stddef.h>
#include <stdint.h>

/* Room for anything that units_format_*() writes. */
#define UNITS_MAX 48
/* And for what units_rate_wrong() writes. */
#define UNITS_WRONG_MAX 160

/* bytes/s; without a suffix, bits per second; also "unlimited", ~0 */
int units_parse_rate(const char *text, uint64_t *bytes_per_s);
/*
 * What is wrong, where units_parse_rate() returned @err and set @bytes_per_s:
 * "expected ...", or the nearest rates that are right.
 */
const char *units_rate_wrong(char buf[UNITS_WRONG_MAX], int err,
			     uint64_t bytes_per_s, const char *expected);
/* ns; without a suffix, ns */
int units_parse_time(const char *text, uint64_t *ns);
/* ns; only 0 without a suffix: files are also read by what takes seconds */
int units_parse_time_unit(const char *text, uint64_t *ns);
/* bytes; without a suffix, bytes */
int units_parse_size(const char *text, uint64_t *bytes);
/* a whole number, up to @max */
int units_parse_count(const char *text, uint64_t max, uint64_t *count);
/* a whole number, also in double quotes, as JSON has a large one */
int units_parse_seed(const char *text, uint64_t *seed);
/* 0 .. 100, with or without %; in 2^-32, all is 0xffffffff */
int units_parse_percent(const char *text, uint32_t *fraction);
/* 0 .. 1, or 0 .. 100 with %; in 2^-32, one is 0xffffffff */
int units_parse_probability(const char *text, uint32_t *fraction);
/* any number; in 2^-32 */
int units_parse_fixed32(const char *text, uint64_t *fixed);
/* any number, or with % a hundredth of it; in millionths */
int units_parse_millionths(const char *text, uint32_t *millionths);

const char *units_format_rate(char buf[UNITS_MAX], uint64_t bytes_per_s);
const char *units_format_time(char buf[UNITS_MAX], uint64_t ns);
const char *units_format_size(char buf[UNITS_MAX], uint64_t bytes);
const char *units_format_percent(char buf[UNITS_MAX], uint32_t fraction);
const char *units_format_probability(char buf[UNITS_MAX], uint32_t fraction);
const char *units_format_fixed32(char buf[UNITS_MAX], uint64_t fixed);
const char *units_format_millionths(char buf[UNITS_MAX], uint32_t millionths);
const char *units_format_share(char buf[UNITS_MAX], uint32_t millionths);

#endif /* WALE_UNITS_H */
