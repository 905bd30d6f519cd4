// SPDX-License-Identifier: GPL-2.0
/*
 * fuzz_scone.c - SCONE packets: any datagram, any rate
 *
 * What must hold:
 *
 *   - looking at a datagram reads no byte behind its end, nor more than is promised;
 *   - a signal that is set is read again, and no other bit of the packet changes;
 *   - of two rates, the higher one never has the lower signal, and a signal is never
 *     a rate above the one that it was made of, but for what is below all signals.
 */
#include <linux/limits.h>

#include "fuzz.h"
#include "wale_scone.h"

static void check_rates(struct tape *in)
{
	u64 rate = tape_number(in), other = tape_number(in);
	u8 signal = wale_scone_encode(rate);

	must(signal <= SCONE_SIGNAL_MAX);
	must((rate <= other) <= (signal <= wale_scone_encode(other)));
	must(rate < SCONE_RATE_MIN ? !signal
				   : wale_scone_decode(signal) <= rate);
	must(signal == SCONE_SIGNAL_MAX ||
	     wale_scone_decode(signal + 1) > rate);
	must(wale_scone_encode(wale_scone_decode(signal)) == signal);
}

static void check_datagram(struct tape *in, u8 signal)
{
	size_t len = in->left < WALE_SCONE_LOOK ? in->left : WALE_SCONE_LOOK;
	u8 *exact = malloc(len + !len), before[2];
	bool whole;

	must(exact);
	memcpy(exact, in->at, len);
	if (len >= SCONE_HEAD && wale_scone_begins(exact)) {
		memcpy(before, exact, 2);
		whole = wale_scone_is_whole(exact, (u32)in->left);
		must(!whole || len > SCONE_HEAD + 2);
		wale_scone_set(exact, signal);
		must(wale_scone_get(exact) == signal);
		must(wale_scone_begins(exact));
		must(whole == wale_scone_is_whole(exact, (u32)in->left));
		must(!((exact[0] ^ before[0]) & 0xc0));
		must(!((exact[1] ^ before[1]) & 0x7f));
		must(!memcmp(exact + 2, in->at + 2, len - 2));
	}
	free(exact);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct tape in = { data, size };
	u8 signal = tape_u8(&in) % (SCONE_UNKNOWN + 1);

	if (tape_u8(&in) % 2)
		check_rates(&in);
	else
		check_datagram(&in, signal);
	return 0;
}
