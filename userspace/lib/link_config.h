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
#include "link_options.h"

/* Room for the numbers of a link, as for those of a nest. */
#define LINK_VALUES_MAX TCA_WALE_MAX

/* Numbers by attribute, in its unit; only those that are set mean something. */
struct link_values {
	uint64_t set; /* LINK_BIT(attribute) */
	uint64_t value[LINK_VALUES_MAX + 1];
};

/* Steps as netlink has them: see linux/pkt_sched_wale.h. */
struct link_trace {
	uint64_t *values; /* NULL: there were too many, or there is no trace */
	size_t room; /* numbers for which there is room in @values */
	uint32_t n_steps; /* 0: no more trace */
	uint32_t columns; /* WALE_TRACE_RATE and others */
};

/* How jitter is distributed. */
struct link_table {
	int16_t *entries; /* in 1 / WALE_JITTER_UNIT of the time */
	uint32_t n_entries; /* 0: uniform */
	char name[WALE_JITTER_NAME_MAX];
};

/* The attributes that are set, and what is not a number of them. */
struct link_config {
	struct link_values link;
	struct link_values nest[LINK_NESTS]; /* an empty one: off */
	struct link_trace trace;
	struct link_table table; /* of jitter */
	struct wale_drop_range drop[WALE_DROP_RANGES_MAX];
	uint32_t n_drop; /* 0: none */
	enum link_unit threshold_unit; /* that it was given in */
};

static inline bool link_is_set(const struct link_values *values, int type)
{
	return values->set & LINK_BIT(type);
}

static inline void link_value_set(struct link_values *values, int type,
				  uint64_t value)
{
	values->set |= LINK_BIT(type);
	values->value[type] = value;
}

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

/* Takes an attribute that @from has, with all that belongs to it. */
void link_config_take(struct link_config *c, const struct link_config *from,
		      int type);

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

/* Is it shown: not the rate beside a trace, nor an end without one. */
bool link_config_shows(const struct link_config *c, int type);

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

/* link_trace.c: "DURATION:RATE,..." and files of "DURATION RATE" lines; and more columns. */
int link_trace_parse(struct link_trace *trace, const char *text,
		     struct link_error *error);
int link_trace_read(struct link_trace *trace, const char *path,
		    struct link_error *error);
void link_trace_free(struct link_trace *trace);
/* Bytes of a step. */
size_t link_trace_step_size(uint32_t columns);
struct trace_step;
void link_trace_step(const struct link_trace *trace, uint32_t number,
		     struct trace_step *step);
struct json;
void link_trace_json(struct json *j, const struct link_trace *trace);
/*
 * link_trace_file.c: the steps in a file, for a request that cannot carry so many: its
 * descriptor, or -errno.  It is open until the next one is made: whoever
 * encodes a request does not know when it is sent.
 */
int link_trace_fd(const struct link_trace *trace);

/*
 * link_value.c: one word as the value of an attribute of @values, which becomes set.
 * 0, or -1 if it is refused.
 */
int link_value_parse(struct link_values *values, const struct link_set *set,
		     int type, const char *word, struct link_error *error);
/* The attributes as words with a space behind each, or as members. */
void link_value_print(FILE *to, const struct link_values *values,
		      const struct link_set *set, int type);
void link_value_json(struct json *j, const struct link_values *values,
		     const struct link_set *set, int type);
/* All that are set in a nest. */
void link_values_print(FILE *to, const struct link_values *values,
		       const struct link_set *set);
void link_values_json(struct json *j, const struct link_values *values,
		      const struct link_set *set, const char *name);

/* Forms of their own, each as link_config_parse(). */
typedef int link_parse_fn(struct link_config *c, const struct link_option *o,
			  int argc, char **argv, struct link_error *error);
link_parse_fn link_parse_amount, link_parse_threshold; /* link_amount.c */
link_parse_fn link_parse_losses, link_parse_jitter, link_parse_drop;
link_parse_fn link_parse_slot, link_parse_start, link_parse_trace;
link_parse_fn link_parse_overhead, link_parse_scone;

typedef void link_print_fn(FILE *to, const struct link_config *c, int type);
link_print_fn link_print_amount, link_print_threshold, link_print_losses;
link_print_fn link_print_jitter, link_print_drop, link_print_slot;
link_print_fn link_print_start, link_print_trace, link_print_overhead;
link_print_fn link_print_scone;

/* link_word.c: the word that stands for a former one; any other is returned as it is. */
const char *link_word_now(const char *word);

/* link_amount.c: is a threshold in the unit of the limit, as far as both were given? */
bool link_threshold_fits(const struct link_config *c);

/* link_overhead.c: what packets have more within the layer; fewer if negative */
int32_t link_overhead_bytes(const struct link_config *c);

/* link_loss.c: the correlation behind a loss or a time of jitter. */
int link_parse_correlation(struct link_config *c, int type, int argc,
			   char **argv, struct link_error *error);

/* link_start.c: ns since 1970 */
uint64_t link_start_now(void);

/* link_error.c */
int link_parse_failed(const char *word, int err, const char *expected,
		      struct link_error *error);
int link_error_set(struct link_error *error, enum link_error_kind kind,
		   const char *word, const char *format, ...)
	__attribute__((format(printf, 4, 5)));
/* The sentence, and the end of the line. */
void link_error_print(FILE *to, const struct link_error *error);

#endif /* WALE_LINK_CONFIG_H */
