/* SPDX-License-Identifier: GPL-2.0 */
/*
 * link_config.h - the configuration of one direction of a link: the options
 * of the wale qdisc as words, as netlink attributes and as text
 *
 * The tc plugin and "wale link" share it, so that both understand and print
 * the same.  It needs no netlink library.
 */
#ifndef WALE_LINK_CONFIG_H
#define WALE_LINK_CONFIG_H

#include <linux/pkt_sched_wale.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "attributes.h"

/* What is known of a link; bits of struct link_config.set. */
enum link_config_bit {
	LINK_RATE = 1 << 0,
	LINK_DELAY = 1 << 1,
	LINK_LIMIT_PACKETS = 1 << 2,
	LINK_LIMIT_BYTES = 1 << 3,
	LINK_LOSS = 1 << 4,
	LINK_OVERHEAD = 1 << 5,
	LINK_DROPS = 1 << 6,
	LINK_SEED = 1 << 7,
	LINK_TRACE = 1 << 8,
	LINK_TRACE_END = 1 << 9,
	LINK_SESSIONS = 1 << 10,
	LINK_FEEDBACK = 1 << 11,
	LINK_LIMIT_CELLS = 1 << 12,
	LINK_POLICY = 1 << 13,
	LINK_THRESHOLD_NUMBER = 1 << 14,
	LINK_THRESHOLD_SHARE = 1 << 15,
	LINK_Z = 1 << 16,
	LINK_LAST = 1 << 17,
	LINK_FLOWS = 1 << 18,
	LINK_INPUT_RATE = 1 << 19,
	LINK_MARK = 1 << 20,
	LINK_REM = 1 << 21,
	LINK_LOSS_GEMODEL = 1 << 22,
	LINK_LOSS_STATE = 1 << 23,
	LINK_ECN = 1 << 24,
	LINK_JITTER = 1 << 25,
	LINK_REORDER = 1 << 26,
	LINK_DUPLICATE = 1 << 27,
	LINK_CORRUPT = 1 << 28,
	LINK_DROP = 1 << 29,
	LINK_SLOT = 1 << 30,
	LINK_START = 1ULL << 31,
	LINK_SLACK = 1ULL << 32,
	LINK_GSO = 1ULL << 33,
	LINK_LIMIT = LINK_LIMIT_PACKETS | LINK_LIMIT_BYTES | LINK_LIMIT_CELLS,
	LINK_THRESHOLD = LINK_THRESHOLD_NUMBER | LINK_THRESHOLD_SHARE,
	LINK_LOSSES = LINK_LOSS | LINK_LOSS_GEMODEL | LINK_LOSS_STATE,
};

/* Bits of struct link_sessions.set; none of them: no sessions. */
enum link_sessions_bit {
	SESSIONS_ARRIVAL = 1 << 0,
	SESSIONS_MEAN = 1 << 1,
	SESSIONS_MAX = 1 << 2,
	SESSIONS_STEP = 1 << 3,
};

struct link_sessions {
	unsigned int set;
	uint32_t arrival; /* 2^-32 per step */
	uint64_t mean; /* 2^-32 of rate * step */
	uint32_t max;
	uint64_t step_ns;
};

struct link_trace {
	struct wale_trace_step *steps; /* none, if there were too many */
	uint32_t n_steps;
};

/* How the buffer is shared. */
struct link_policy {
	uint32_t kind;
	uint64_t threshold; /* in the unit of the limit */
	uint64_t threshold_unit; /* the LINK_LIMIT_... that it was given in */
	uint32_t share; /* millionths of the limit */
	uint32_t z; /* millionths */
	uint32_t last;
	uint32_t mark;
};

/* Bits of struct link_rem.set. */
enum link_rem_bit {
	LINK_REM_INTERVAL = 1 << 0,
	LINK_REM_GAMMA = 1 << 1,
	LINK_REM_ALPHA = 1 << 2,
	LINK_REM_TARGET = 1 << 3,
	LINK_REM_PHI = 1 << 4,
};

/* The price of policy rem. */
struct link_rem {
	unsigned int set;
	uint64_t interval_ns;
	uint64_t target; /* bytes */
	uint32_t gamma; /* millionths, as the two below */
	uint32_t alpha;
	uint32_t phi;
};

/* Bits of struct link_jitter.set. */
enum link_jitter_bit {
	LINK_JITTER_TIME = 1 << 0,
	LINK_JITTER_TABLE = 1 << 1,
	LINK_JITTER_NAME = 1 << 2,
	LINK_JITTER_REORDERING = 1 << 3,
};

struct link_jitter {
	unsigned int set;
	uint64_t time_ns;
	int16_t *entries; /* in 1 / WALE_JITTER_UNIT of the time */
	uint32_t n_entries; /* 0: uniform */
	char name[WALE_JITTER_NAME_MAX];
	uint32_t reordering;
};

/* To which departures are held. */
struct link_slot {
	uint64_t min_ns;
	uint64_t max_ns; /* 0: there are none */
	uint32_t packets; /* 0: any number, as below */
	uint32_t bytes;
};

/* Most numbers that a model of losses has. */
#define LINK_LOSS_NUMBERS TCA_WALE_LOSS_STATE_MAX

/* In the units of the attributes; only what is in @set means something. */
struct link_config {
	uint64_t set;
	uint64_t rate; /* bytes/s */
	uint64_t delay_ns;
	uint32_t limit_packets;
	uint64_t limit_bytes;
	uint32_t limit_cells;
	uint32_t loss; /* 2^-32 */
	uint32_t loss_numbers[LINK_LOSS_NUMBERS]; /* of a model, 2^-32 */
	uint32_t ecn;
	struct link_jitter jitter;
	uint32_t reorder; /* 2^-32, as the two below the next */
	uint32_t reorder_gap;
	uint32_t duplicate;
	uint32_t corrupt;
	struct wale_drop_range drop[WALE_DROP_RANGES_MAX];
	uint32_t n_drop; /* 0: none */
	struct link_slot slot;
	uint32_t overhead;
	uint32_t drops;
	uint64_t seed;
	struct link_trace trace;
	uint32_t trace_end;
	uint64_t start_ns; /* since 1970 */
	uint32_t slack_ns;
	uint32_t gso;
	struct link_sessions sessions;
	uint64_t feedback_idle_ns; /* 0: no feedback */
	struct link_policy policy;
	struct link_rem rem;
	uint32_t flows;
	uint64_t input_rate; /* bytes/s */
};

enum link_error_kind {
	LINK_ERROR_MISSING = 1, /* the words end too early */
	LINK_ERROR_DUPLICATE, /* of @word; @text is the second value */
	LINK_ERROR_UNKNOWN, /* @word is not an option; @text goes on */
	LINK_ERROR_INVALID, /* @text says what is wrong with @word */
	LINK_ERROR_FILE, /* ... in the file @word; it begins with LINE: or a space */
};

struct link_error {
	enum link_error_kind kind;
	const char *word;
	char text[240];
};

void link_config_free(struct link_config *c);

/*
 * Takes one option, its name and what belongs to it, from the front of the
 * words.  Returns how many words it took, 0 if there is no option of this
 * name, -1 if something is wrong with it (see @error).
 */
int link_config_parse(struct link_config *c, int argc, char **argv,
		      struct link_error *error);

/*
 * What to say of a word that link_config_parse() does not know; -1.  The
 * @before words in front of it are an option.  Options have @dashes before
 * their names.
 */
int link_config_unknown(char **argv, int before, const char *dashes,
			struct link_error *error);

/* The syntax of the options, one a line, with @dashes before each name. */
void link_config_help(FILE *to, const char *dashes);

/* The names of the enums' values; NULL for a value unknown here. */
const char *link_overhead_name(uint32_t overhead);
const char *link_drops_name(uint32_t drops);
const char *link_gso_name(uint32_t gso);
const char *link_trace_end_name(uint32_t end);
const char *link_policy_name(uint32_t kind);

/* The options as words with a space between, as they could be typed. */
void link_config_print(FILE *to, const struct link_config *c);

/* The options as members of the object that is open. */
struct json;
void link_config_json(struct json *j, const struct link_config *c);

/*
 * As netlink attributes: put() gets each one, and returns 0 or an error.  -EREMOTEIO if
 * the kernel does not take a trace; errno says why.
 */
int link_config_encode(const struct link_config *c, attribute_put_fn put,
		       void *to);

/*
 * The payload of TCA_OPTIONS.  Returns 0, or -EINVAL or -ENOMEM; to be freed
 * in any case.
 */
int link_config_decode(struct link_config *c, const void *data, size_t length);

/* link_trace.c: "DURATION:RATE,..." and files of "DURATION RATE" lines. */
int link_trace_parse(struct link_trace *trace, const char *text,
		     struct link_error *error);
int link_trace_read(struct link_trace *trace, const char *path,
		    struct link_error *error);
/*
 * link_trace_file.c: the steps in a file, for a request that cannot carry so many: its
 * descriptor, or -errno.  It is open until the next one is made: whoever
 * encodes a request does not know when it is sent.
 */
int link_trace_fd(const struct link_trace *trace);

/* link_start.c: start at TIME, as link_config_parse(). */
int link_parse_start(struct link_config *c, int argc, char **argv,
		     struct link_error *error);
void link_start_print(FILE *to, const struct link_config *c);
uint64_t link_start_now(void); /* ns since 1970 */

/* link_policy.c: the options of the buffer, each as link_config_parse(). */
int link_parse_limit(struct link_config *c, int argc, char **argv,
		     struct link_error *error);
/* Is a threshold in the unit of the limit, as far as both were given? */
bool link_threshold_fits(const struct link_config *c);
int link_parse_policy(struct link_config *c, int argc, char **argv,
		      struct link_error *error);
int link_parse_threshold(struct link_config *c, int argc, char **argv,
			 struct link_error *error);
int link_parse_z(struct link_config *c, int argc, char **argv,
		 struct link_error *error);
int link_parse_last(struct link_config *c, int argc, char **argv,
		    struct link_error *error);
int link_parse_flows(struct link_config *c, int argc, char **argv,
		     struct link_error *error);
int link_parse_input_rate(struct link_config *c, int argc, char **argv,
			  struct link_error *error);
int link_parse_mark(struct link_config *c, int argc, char **argv,
		    struct link_error *error);
int link_parse_rem(struct link_config *c, int argc, char **argv,
		   struct link_error *error);
/* link_loss.c: random loss, each as link_config_parse(). */
int link_parse_loss(struct link_config *c, int argc, char **argv,
		    struct link_error *error);
int link_parse_ecn(struct link_config *c, int argc, char **argv,
		   struct link_error *error);
void link_loss_print(FILE *to, const struct link_config *c);
/* Of LINK_LOSS_GEMODEL or LINK_LOSS_STATE; NULL: it has fewer numbers. */
const char *link_loss_number_name(unsigned int bit, unsigned int i);

/* link_jitter.c: as link_config_parse(). */
int link_parse_jitter(struct link_config *c, int argc, char **argv,
		      struct link_error *error);
void link_jitter_print(FILE *to, const struct link_config *c);

/* link_impair.c: each as link_config_parse(). */
int link_parse_reorder(struct link_config *c, int argc, char **argv,
		       struct link_error *error);
int link_parse_duplicate(struct link_config *c, int argc, char **argv,
			 struct link_error *error);
int link_parse_corrupt(struct link_config *c, int argc, char **argv,
		       struct link_error *error);
void link_impair_print(FILE *to, const struct link_config *c);

/* link_drop.c: as link_config_parse(). */
int link_parse_drop(struct link_config *c, int argc, char **argv,
		    struct link_error *error);
void link_drop_print(FILE *to, const struct link_config *c);

/* link_slot.c: as link_config_parse(). */
int link_parse_slot(struct link_config *c, int argc, char **argv,
		    struct link_error *error);
void link_slot_print(FILE *to, const struct link_config *c);

void link_rem_print(FILE *to, const struct link_rem *rem);
void link_limit_print(FILE *to, const struct link_config *c);
void link_policy_print(FILE *to, const struct link_config *c);
/* A rate, in bytes/s: 0, or -1 as link_parse_failed(). */
int link_parse_rate(const char *word, uint64_t *rate, const char *expected,
		    struct link_error *error);
int link_parse_failed(const char *word, int err, const char *expected,
		      struct link_error *error);
int link_error_set(struct link_error *error, enum link_error_kind kind,
		   const char *word, const char *format, ...)
	__attribute__((format(printf, 4, 5)));
/* The sentence, and the end of the line. */
void link_error_print(FILE *to, const struct link_error *error);

#endif /* WALE_LINK_CONFIG_H */
