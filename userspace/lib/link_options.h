/* SPDX-License-Identifier: GPL-2.0 */
/*
 * link_options.h - the options of a link as data
 *
 * link_options.c, which is generated, says of each attribute of the qdisc, and of each
 * in a nest, how it is written and what it may be.  Reading, writing, encoding and
 * decoding are loops over it.
 */
#ifndef WALE_LINK_OPTIONS_H
#define WALE_LINK_OPTIONS_H

#include <linux/pkt_sched_wale.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define LINK_BIT(type) (UINT64_C(1) << (type))

/* How it is written. */
enum link_form {
	LINK_NO_OPTION,
	/* One word: link_value.c. */
	LINK_RATE,
	LINK_TIME,
	LINK_SIZE,
	LINK_COUNT,
	LINK_PERCENT,
	LINK_PROBABILITY,
	LINK_FIXED32,
	LINK_MILLIONTHS,
	LINK_SEED,
	LINK_ENUM,
	LINK_FLAG, /* the word, or "no" before it */
	LINK_WORDS, /* the name of a value by itself */
	LINK_AMOUNT, /* with its unit: link_amount.c */
	LINK_NEST, /* members by name */
	/* Each of a form of its own. */
	LINK_THRESHOLD,
	LINK_TRACE,
	LINK_LOSSES,
	LINK_JITTER,
	LINK_DROP,
	LINK_SLOT,
	LINK_START,
	LINK_OVERHEAD,
	LINK_SCONE,
	/* Of an option only. */
	LINK_WORD, /* which says the value */
	LINK_OFF, /* an empty nest */
	LINK_FORMS,
};

/* What an amount is given in. */
enum link_unit { LINK_PACKETS, LINK_BYTES, LINK_CELLS, LINK_UNITS };

/* The nests of a link. */
enum link_nest {
	/* generated: nests */
	LINK_NEST_SESSIONS,
	LINK_NEST_FEEDBACK,
	LINK_NEST_REM,
	LINK_NEST_GEMODEL,
	LINK_NEST_STATE,
	LINK_NEST_JITTER,
	LINK_NEST_SLOT,
	LINK_NEST_POLICER,
	LINK_NEST_BREAKER,
	LINK_NEST_SCONE,
	LINK_NESTS,
	/* generated: end */
};

struct link_set;

struct link_attribute {
	enum link_form form;
	const char *word;
	const char *key; /* of JSON */
	const char *expected; /* what is, if a value is wrong */
	unsigned char width; /* bytes; 0: no number */
	uint64_t min; /* what is not refused here; the kernel may */
	uint64_t max;
	uint64_t also; /* good, too, if it is not 0 */
	uint64_t usual; /* of a new link */
	uint64_t assumed; /* in a nest that is given without it */
	bool unsaid_in_text; /* where it is the usual */
	bool unsaid_in_json;
	const char *const *names; /* of the values, and NULL */
	enum link_unit unit; /* of an amount */
	const struct link_set *nest;
	enum link_nest index; /* of the nest */
	int behind; /* the option behind which it is written, or 0 */
	int part_of; /* the option behind whose value @part switches it on, or 0 */
	const char *part;
};

/* The attributes of a link, or of a nest, by number. */
struct link_set {
	const struct link_attribute *attributes;
	int max;
};

extern const struct link_set link_options_set;

/* Those of the link that are options, as they are shown; 0 behind the last. */
extern const unsigned char link_order[];

/* A way to write an option. */
struct link_option {
	const char *syntax; /* the name comes first; NULL: the end */
	const char *help;
	int type; /* the first of its attributes */
	enum link_form form;
	uint64_t bits; /* its attributes, or alternatives to it */
	bool bare; /* complete without a value */
	uint64_t value; /* of LINK_WORD */
};

extern const struct link_option link_options[];

/* A word that an option, or a part of one, had in an earlier release. */
struct link_former_word {
	const char *word; /* NULL: the end */
	const char *now;
};

extern const struct link_former_word link_former_words[];

extern const char *const link_stats_names[TCA_WALE_STATS_MAX + 1];

#endif /* WALE_LINK_OPTIONS_H */
