/* SPDX-License-Identifier: GPL-2.0 */
/*
 * scone.h - rate advice in QUIC packets, after draft-ietf-scone-protocol
 *
 * The numbers of that draft, for C; for Python they are in wale_lab/models/scone.py, which
 * names its version.
 *
 * A SCONE packet is the first QUIC packet of a UDP datagram:
 *
 *	byte 0		0x80: long header; 0x3f: the six high bits of the signal
 *	bytes 1 to 4	the version, of which 0x80000000 is the low bit of the signal
 *	then		length and destination connection ID, the same of the source
 *
 * and another QUIC packet follows in the same datagram.
 */
#ifndef _NET_SCONE_H
#define _NET_SCONE_H

#define SCONE_LONG_HEADER	0x80
#define SCONE_VERSION		0x6f7dc0fd
#define SCONE_VERSION_MASK	0x7fffffff
#define SCONE_HEAD		5	/* bytes up to the version */
#define SCONE_CID_MAX		255

/* Signal n is 100 kbit/s * 10^(n / 20). */
#define SCONE_SIGNALS_PER_DECADE 20
#define SCONE_RATE_MIN		12500	/* bytes/s */
#define SCONE_SIGNAL_MAX	126
#define SCONE_UNKNOWN		127

#define SCONE_PERIOD_NS		67000000000ULL

#endif /* _NET_SCONE_H */
