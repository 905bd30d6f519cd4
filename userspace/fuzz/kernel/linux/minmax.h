/* SPDX-License-Identifier: GPL-2.0 */
/*
 * minmax.h - the lesser and the greater of two numbers of one type
 */
#ifndef FUZZ_LINUX_MINMAX_H
#define FUZZ_LINUX_MINMAX_H

#define min_t(type, a, b)                          \
	({                                         \
		type min_a_ = (a), min_b_ = (b);   \
		min_a_ < min_b_ ? min_a_ : min_b_; \
	})
#define max_t(type, a, b)                          \
	({                                         \
		type max_a_ = (a), max_b_ = (b);   \
		max_a_ > max_b_ ? max_a_ : max_b_; \
	})
#define min(a, b) min_t(__typeof__((a) + (b)), a, b)
#define max(a, b) max_t(__typeof__((a) + (b)), a, b)
#define clamp_t(type, value, low, high) \
	min_t(type, max_t(type, value, low), high)

#define clamp(value, low, high) min(max(value, low), high)

#endif /* FUZZ_LINUX_MINMAX_H */
