// SPDX-License-Identifier: GPL-2.0
/*
 * link_jitter.c - the jitter of a link's delay, as words, and its distribution,
 * which is in a file of tc
 */
#include <ctype.h>
#include <errno.h>
#include <glob.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "link_config.h"
#include "units.h"

static const char distribution_expected[] =
	"a distribution: uniform, or a table of tc such as normal, pareto or paretonormal, or the path of one";

/* Is it the name of a table, and not a path? */
static bool is_name(const char *word)
{
	for (; isalnum((unsigned char)*word) || *word == '-' || *word == '_';
	     word++)
		;
	return !*word;
}

static FILE *open_first(const char *pattern)
{
	glob_t found = { .gl_pathc = 0 };
	FILE *file = NULL;

	if (!glob(pattern, 0, NULL, &found))
		file = fopen(found.gl_pathv[0], "re");
	globfree(&found);
	return file;
}

/* Where tc has its tables. */
static FILE *open_table(const char *name)
{
	static const char *const folders[] = { "/usr/lib/tc", "/usr/lib64/tc",
					       "/usr/lib/*/tc", "/lib/tc" };
	const char *folder = getenv("TC_LIB_DIR");
	char path[PATH_MAX];
	FILE *file = NULL;
	size_t i;

	if (!is_name(name))
		return fopen(name, "re");
	if (folder) {
		snprintf(path, sizeof(path), "%s/%s.dist", folder, name);
		file = fopen(path, "re");
	}
	for (i = 0; !file && i < sizeof(folders) / sizeof(folders[0]); i++) {
		snprintf(path, sizeof(path), "%s/%s.dist", folders[i], name);
		file = open_first(path);
	}
	return file;
}

/* The numbers of a line, up to a #; returns 0, -EINVAL or -ERANGE. */
static int read_line(struct link_table *table, char *line)
{
	char *end;
	long value;

	line[strcspn(line, "#")] = '\0';
	while (*(line += strspn(line, " \t\r\n"))) {
		value = strtol(line, &end, 10);
		if (end == line || !strchr(" \t\r\n", *end))
			return -EINVAL;
		if (value < INT16_MIN || value > INT16_MAX ||
		    table->n_entries == WALE_JITTER_TABLE_MAX)
			return -ERANGE;
		table->entries[table->n_entries++] = value;
		line = end;
	}
	return 0;
}

static int read_table(struct link_table *table, FILE *file)
{
	char *line = NULL;
	size_t size = 0;
	int err = 0;

	table->entries = calloc(WALE_JITTER_TABLE_MAX, sizeof(*table->entries));
	if (!table->entries)
		return -ENOMEM;
	while (!err && getline(&line, &size, file) >= 0)
		err = read_line(table, line);
	free(line);
	return !err && !table->n_entries ? -EINVAL : err;
}

static int parse_distribution(struct link_config *c, const char *word,
			      struct link_error *error)
{
	struct link_values *jitter = &c->nest[LINK_NEST_JITTER];
	FILE *file;
	int err;

	jitter->set |= LINK_BIT(TCA_WALE_JITTER_TABLE);
	if (!strcmp(word, "uniform"))
		return 0;
	if (strlen(word) >= sizeof(c->table.name))
		return link_parse_failed(word, -ERANGE, distribution_expected,
					 error);
	file = open_table(word);
	if (!file)
		return link_parse_failed(word, -ENOENT, distribution_expected,
					 error);
	err = read_table(&c->table, file);
	fclose(file);
	if (err)
		return link_error_set(
			error, LINK_ERROR_INVALID, word,
			"not a table: expected 1 to %u numbers from -32768 to 32767",
			WALE_JITTER_TABLE_MAX);
	jitter->set |= LINK_BIT(TCA_WALE_JITTER_NAME);
	strcpy(c->table.name, word);
	return 0;
}

/* The words behind the time; returns how many, or -1. */
static int parse_rest(struct link_config *c, int argc, char **argv,
		      struct link_error *error)
{
	struct link_values *jitter = &c->nest[LINK_NEST_JITTER];
	int taken = 0;

	for (; taken < argc; taken++) {
		const char *word = link_word_now(argv[taken]);

		if (!strcmp(word, "overtaking") ||
		    !strcmp(word, "noovertaking")) {
			link_value_set(jitter, TCA_WALE_JITTER_REORDERING,
				       *word == 'o');
			continue;
		}
		if (strcmp(word, "distribution"))
			break;
		if (++taken == argc)
			return link_error_set(error, LINK_ERROR_MISSING, word,
					      "expected %s",
					      distribution_expected);
		if (link_is_set(jitter, TCA_WALE_JITTER_TABLE))
			return link_error_set(error, LINK_ERROR_DUPLICATE, word,
					      "%s", argv[taken]);
		if (parse_distribution(c, argv[taken], error))
			return -1;
	}
	return taken;
}

/* jitter TIME [CORRELATION] [distribution NAME] [overtaking|noovertaking] */
int link_parse_jitter(struct link_config *c, const struct link_option *o,
		      int argc, char **argv, struct link_error *error)
{
	int rest, correlation;

	c->link.set |= LINK_BIT(TCA_WALE_JITTER);
	if (link_value_parse(&c->nest[LINK_NEST_JITTER],
			     link_options_set.attributes[TCA_WALE_JITTER].nest,
			     TCA_WALE_JITTER_TIME64, argv[1], error))
		return -1;
	correlation = link_parse_correlation(c, TCA_WALE_JITTER_CORRELATION,
					     argc - 2, argv + 2, error);
	if (correlation < 0)
		return -1;
	rest = parse_rest(c, argc - 2 - correlation, argv + 2 + correlation,
			  error);
	return rest < 0 ? -1 : 2 + correlation + rest;
}

/* Without what every link has: no jitter. */
void link_print_jitter(FILE *to, const struct link_config *c, int type)
{
	const struct link_values *jitter = &c->nest[LINK_NEST_JITTER];
	const uint64_t time_ns = jitter->value[TCA_WALE_JITTER_TIME64];
	const bool overtaking = jitter->value[TCA_WALE_JITTER_REORDERING];
	const bool named = link_is_set(jitter, TCA_WALE_JITTER_NAME);
	char buf[UNITS_MAX];
	const char *p;

	if (!time_ns && !named && !overtaking)
		return;
	fprintf(to, "jitter %s ", units_format_time(buf, time_ns));
	if (named) {
		fputs("distribution ", to);
		for (p = c->table.name; *p; p++)
			fputc(isgraph((unsigned char)*p) ? *p : '?', to);
		fputc(' ', to);
	}
	if (overtaking)
		fputs("overtaking ", to);
}
