// SPDX-License-Identifier: GPL-2.0
/*
 * link_stats.c - the statistics of a wale qdisc
 */
#include <inttypes.h>
#include <string.h>

#include "attributes.h"
#include "link_options.h"
#include "link_stats.h"
#include "units.h"

const char *link_stats_name(int type)
{
	return type >= 0 && type <= TCA_WALE_STATS_MAX ? link_stats_names[type]
						       : NULL;
}

void link_stats_decode(struct link_stats *s, const void *data, size_t length)
{
	const char *at = data;
	struct attribute a;

	memset(s, 0, sizeof(*s));
	while (attribute_next(&at, &length, &a)) {
		if (!link_stats_name(a.type) || a.length < sizeof(uint64_t))
			continue;
		s->known[a.type] = true;
		s->value[a.type] = attribute_u64(&a);
	}
}

/* "LABEL 3p 4500b ": the bytes are the attribute after the packets. */
static void print_pair(FILE *to, const struct link_stats *s, const char *label,
		       int packets)
{
	fprintf(to, "%s %" PRIu64 "p %" PRIu64 "b ", label, s->value[packets],
		s->value[packets + 1]);
}

static void print_feedback(FILE *to, const struct link_stats *s)
{
	fprintf(to,
		"active flows %" PRIu64 " uncounted %" PRIu64
		"p published %" PRIu64 "%s",
		s->value[TCA_WALE_STATS_ACTIVE_FLOWS],
		s->value[TCA_WALE_STATS_UNCOUNTED_PACKETS],
		s->value[TCA_WALE_STATS_PUBLISHED],
		s->value[TCA_WALE_STATS_ATTACHED]
			? ""
			: " (rate_feedback is not there)");
}

/* If the link tells a rate to QUIC endpoints. */
static void print_scone(FILE *to, const struct link_stats *s)
{
	fprintf(to,
		"scone: seen %" PRIu64 "p lowered %" PRIu64 "p limited %" PRIu64
		"p malformed %" PRIu64 "p signal %" PRIu64,
		s->value[TCA_WALE_STATS_SCONE_SEEN],
		s->value[TCA_WALE_STATS_SCONE_LOWERED],
		s->value[TCA_WALE_STATS_SCONE_LIMITED],
		s->value[TCA_WALE_STATS_SCONE_MALFORMED],
		s->value[TCA_WALE_STATS_SCONE_SIGNAL]);
}

static void print_cells(FILE *to, const struct link_stats *s)
{
	fprintf(to,
		"cells: backlog %" PRIu64 " peak %" PRIu64 " dropped %" PRIu64
		" wasted %" PRIu64,
		s->value[TCA_WALE_STATS_BACKLOG_CELLS],
		s->value[TCA_WALE_STATS_PEAK_BACKLOG_CELLS],
		s->value[TCA_WALE_STATS_DROPPED_CELLS],
		s->value[TCA_WALE_STATS_WASTED_CELLS]);
}

/* If the link ever marked a packet, or has a price. */
static void print_marks(FILE *to, const struct link_stats *s,
			const char *indent, const char *newline)
{
	bool price = s->known[TCA_WALE_STATS_PRICE];
	char probability[UNITS_MAX];

	if (!price && !s->value[TCA_WALE_STATS_MARKED_PACKETS])
		return;
	fprintf(to, "%s%s", newline, indent);
	print_pair(to, s, "marked", TCA_WALE_STATS_MARKED_PACKETS);
	print_pair(to, s, "unmarkable", TCA_WALE_STATS_UNMARKABLE_PACKETS);
	if (price)
		fprintf(to, "price %.6f marks %s",
			(double)s->value[TCA_WALE_STATS_PRICE] /
				WALE_REM_PRICE_UNIT,
			units_format_percent(
				probability,
				s->value[TCA_WALE_STATS_MARK_PROBABILITY]));
}

/* If the link ever did one of these. */
static void print_impairments(FILE *to, const struct link_stats *s,
			      const char *indent, const char *newline)
{
	if (!s->value[TCA_WALE_STATS_DUPLICATED_PACKETS] &&
	    !s->value[TCA_WALE_STATS_CORRUPTED_PACKETS] &&
	    !s->value[TCA_WALE_STATS_REORDERED_PACKETS])
		return;
	fprintf(to, "%s%s", newline, indent);
	print_pair(to, s, "duplicated", TCA_WALE_STATS_DUPLICATED_PACKETS);
	print_pair(to, s, "corrupted", TCA_WALE_STATS_CORRUPTED_PACKETS);
	print_pair(to, s, "reordered", TCA_WALE_STATS_REORDERED_PACKETS);
}

void link_stats_print(FILE *to, const struct link_stats *s, const char *indent,
		      const char *newline)
{
	char rate[UNITS_MAX];

	fputs(indent, to);
	print_pair(to, s, "offered", TCA_WALE_STATS_OFFERED_PACKETS);
	print_pair(to, s, "sent", TCA_WALE_STATS_SENT_PACKETS);
	fprintf(to, "%s%sdropped: ", newline, indent);
	print_pair(to, s, "buffer", TCA_WALE_STATS_DROPPED_BUFFER_PACKETS);
	print_pair(to, s, "loss", TCA_WALE_STATS_DROPPED_LOSS_PACKETS);
	print_pair(to, s, "memory", TCA_WALE_STATS_DROPPED_MEMORY_PACKETS);
	print_pair(to, s, "purge", TCA_WALE_STATS_DROPPED_PURGE_PACKETS);
	if (s->value[TCA_WALE_STATS_DROPPED_EARLY_PACKETS])
		print_pair(to, s, "early",
			   TCA_WALE_STATS_DROPPED_EARLY_PACKETS);
	if (s->value[TCA_WALE_STATS_DROPPED_PARTIAL_PACKETS])
		print_pair(to, s, "partial",
			   TCA_WALE_STATS_DROPPED_PARTIAL_PACKETS);
	if (s->value[TCA_WALE_STATS_DROPPED_CHILD_PACKETS])
		print_pair(to, s, "child",
			   TCA_WALE_STATS_DROPPED_CHILD_PACKETS);
	if (s->value[TCA_WALE_STATS_DROPPED_LINE_PACKETS])
		print_pair(to, s, "line", TCA_WALE_STATS_DROPPED_LINE_PACKETS);
	if (s->value[TCA_WALE_STATS_DROPPED_DOWN_PACKETS])
		print_pair(to, s, "down", TCA_WALE_STATS_DROPPED_DOWN_PACKETS);
	if (s->value[TCA_WALE_STATS_DROPPED_POLICER_PACKETS])
		print_pair(to, s, "policer",
			   TCA_WALE_STATS_DROPPED_POLICER_PACKETS);
	if (s->value[TCA_WALE_STATS_DROPPED_BREAKER_PACKETS])
		print_pair(to, s, "breaker",
			   TCA_WALE_STATS_DROPPED_BREAKER_PACKETS);
	fprintf(to, "%s%s", newline, indent);
	print_pair(to, s, "backlog", TCA_WALE_STATS_BACKLOG_PACKETS);
	print_pair(to, s, "peak", TCA_WALE_STATS_PEAK_BACKLOG_PACKETS);
	print_pair(to, s, "line", TCA_WALE_STATS_LINE_PACKETS);
	if (s->known[TCA_WALE_STATS_LINE_LIMIT])
		fprintf(to, "limit %" PRIu64 "b ",
			s->value[TCA_WALE_STATS_LINE_LIMIT]);
	print_marks(to, s, indent, newline);
	print_impairments(to, s, indent, newline);
	if (s->known[TCA_WALE_STATS_BACKLOG_CELLS]) {
		fprintf(to, "%s%s", newline, indent);
		print_cells(to, s);
	}
	if (s->known[TCA_WALE_STATS_RATE])
		fprintf(to, "%s%srate now %s", newline, indent,
			units_format_rate(rate, s->value[TCA_WALE_STATS_RATE]));
	if (s->known[TCA_WALE_STATS_SESSIONS])
		fprintf(to, " sessions now %" PRIu64,
			s->value[TCA_WALE_STATS_SESSIONS]);
	if (s->known[TCA_WALE_STATS_BUSY_FLOWS])
		fprintf(to, "%s%sbusy flows %" PRIu64 " crowded %" PRIu64 "p",
			newline, indent, s->value[TCA_WALE_STATS_BUSY_FLOWS],
			s->value[TCA_WALE_STATS_CROWDED_PACKETS]);
	if (s->known[TCA_WALE_STATS_ACTIVE_FLOWS]) {
		fprintf(to, "%s%s", newline, indent);
		print_feedback(to, s);
	}
	if (s->known[TCA_WALE_STATS_SCONE_SEEN]) {
		fprintf(to, "%s%s", newline, indent);
		print_scone(to, s);
	}
}
