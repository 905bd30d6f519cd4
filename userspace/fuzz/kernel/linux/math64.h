/* SPDX-License-Identifier: GPL-2.0 */
/*
 * math64.h - 64-bit products and quotients; one that does not fit aborts
 */
#ifndef FUZZ_LINUX_MATH64_H
#define FUZZ_LINUX_MATH64_H

#include <linux/types.h>
#include <stdlib.h>

static inline u64 div_u64(u64 dividend, u32 divisor)
{
	return dividend / divisor;
}

static inline s64 div_s64(s64 dividend, s32 divisor)
{
	return dividend / divisor;
}

static inline u64 div64_u64(u64 dividend, u64 divisor)
{
	return dividend / divisor;
}

static inline u64 div64_u64_rem(u64 dividend, u64 divisor, u64 *remainder)
{
	*remainder = dividend % divisor;
	return dividend / divisor;
}

static inline u64 fuzz_fits_u64(unsigned __int128 value)
{
	if (value >> 64)
		abort();
	return (u64)value;
}

static inline u64 mul_u64_u64_shr(u64 a, u64 b, unsigned int shift)
{
	return fuzz_fits_u64((unsigned __int128)a * b >> shift);
}

static inline u64 mul_u64_u32_div(u64 a, u32 mul, u32 divisor)
{
	return fuzz_fits_u64((unsigned __int128)a * mul / divisor);
}

static inline u64 mul_u64_u64_div_u64(u64 a, u64 mul, u64 divisor)
{
	return fuzz_fits_u64((unsigned __int128)a * mul / divisor);
}

#endif /* FUZZ_LINUX_MATH64_H */
