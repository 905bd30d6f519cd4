/* SPDX-License-Identifier: GPL-2.0 */
/*
 * tc_abi.h - what a qdisc plugin of tc needs to know of tc
 *
 * tc loads q_wale.so with dlopen() and looks for the symbol
 * wale_qdisc_util; the plugin calls functions that the tc binary exports.
 * No distribution packages a header for this, so the binary interface is
 * written down here.  It is that of iproute2 6.1.0, where it was tested;
 * only what the plugin uses is declared.
 */
#ifndef WALE_TC_ABI_H
#define WALE_TC_ABI_H

#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

/* Size of the buffer, behind nlmsghdr and tcmsg, that tc builds requests in. */
#define TC_REQUEST_MAX (64 * 1024)

/*
 * Functions return 0, or -1 after they have printed what is wrong.  They never
 * leave the program, so that "tc -force -batch" goes on with the next line;
 * functions of tc that exit, such as invarg(), are not declared here.
 */
struct qdisc_util {
	struct qdisc_util *next;
	const char *id;
	int (*parse_qopt)(struct qdisc_util *qu, int argc, char **argv,
			  struct nlmsghdr *request, const char *dev);
	int (*print_qopt)(struct qdisc_util *qu, FILE *f, struct rtattr *opt);
	int (*print_xstats)(struct qdisc_util *qu, FILE *f,
			    struct rtattr *xstats);
	/* Options of a class. */
	int (*parse_copt)(struct qdisc_util *qu, int argc, char **argv,
			  struct nlmsghdr *request, const char *dev);
	int (*print_copt)(struct qdisc_util *qu, FILE *f, struct rtattr *opt);
	/* Since 5.9. */
	int (*has_block)(struct qdisc_util *qu, struct nlmsghdr *request,
			 struct rtattr *opt, bool *has);
};

/* Attributes: @maxlen bounds the whole request. */
int addattr_l(struct nlmsghdr *request, int maxlen, int type, const void *data,
	      int length);
struct rtattr *addattr_nest(struct nlmsghdr *request, int maxlen, int type);
int addattr_nest_end(struct nlmsghdr *request, struct rtattr *nest);

/* End of a line of text: "\n", or "\\" with tc -oneline. */
extern const char *_SL_;

/* JSON, with tc -json. */
typedef struct json_writer json_writer_t;

bool is_json_context(void);
json_writer_t *get_json_writer(void);
void jsonw_start_object(json_writer_t *w);
void jsonw_end_object(json_writer_t *w);
void jsonw_start_array(json_writer_t *w);
void jsonw_end_array(json_writer_t *w);
void jsonw_name(json_writer_t *w, const char *name);
void jsonw_string(json_writer_t *w, const char *value);
void jsonw_printf(json_writer_t *w, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

#endif /* WALE_TC_ABI_H */
