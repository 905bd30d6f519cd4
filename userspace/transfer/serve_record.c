// SPDX-License-Identifier: GPL-2.0
/*
 * serve_record.c - what "wale serve" tells about a transfer that is over
 */
#include <linux/sockios.h>
#include <linux/tcp.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>

#include "serve_conn.h"
#include "serve_output.h"

uint64_t conn_unacked(const struct conn *conn)
{
	int unacked = 0;

	if (ioctl(conn->watch.fd, SIOCOUTQ, &unacked) < 0 || unacked < 0)
		return 0;
	return (uint64_t)unacked;
}

uint64_t conn_data_acked(const struct conn *conn)
{
	uint64_t unacked, acked;

	if (conn->status && !strcmp(conn->status, "complete"))
		return conn->sent;
	unacked = conn_unacked(conn);
	if (conn->written < unacked + conn->head_len)
		return 0;
	acked = conn->written - unacked - conn->head_len;
	return acked < conn->sent ? acked : conn->sent;
}

/* The server's end of the connection, as the client's "remote" has it. */
static void record_local(struct json_line *json, const struct conn *conn)
{
	struct sockaddr_storage address = { 0 };
	socklen_t len = sizeof(address);
	char text[ADDRESS_MAX];

	if (conn->local) {
		json_text(json, "local", conn->local);
		return;
	}
	if (getsockname(conn->watch.fd, (struct sockaddr *)&address, &len)) {
		json_null(json, "local");
		return;
	}
	address_text(&address, text);
	json_text(json, "local", text);
}

const struct tcp_info *conn_tcp_info(struct conn *conn)
{
	/* of the connection that was over last, not in each: there are thousands */
	static const struct conn *of;
	static struct tcp_info info;
	socklen_t len = sizeof(info);

	if (conn->has_info && of == conn)
		return &info;
	memset(&info, 0, sizeof(info));
	getsockopt(conn->watch.fd, IPPROTO_TCP, TCP_INFO, &info, &len);
	of = conn;
	conn->has_info = true;
	return &info;
}

static void record_json(FILE *out, struct conn *conn, uint64_t bytes,
			uint64_t ns)
{
	const struct tcp_info *info = conn_tcp_info(conn);
	struct json_line json;

	json_begin(&json, out);
	json_text(&json, "peer", conn->peer);
	record_local(&json, conn);
	if (conn->name)
		json_text(&json, "name", conn->name);
	else
		json_null(&json, "name");
	json_text(&json, "status", conn->status);
	if (conn->why.code) {
		json_text(&json, "error_code", conn->why.code);
		json_text(&json, "error", conn->why.text);
	} else {
		json_null(&json, "error_code");
		json_null(&json, "error");
	}
	json_text(&json, "cc", conn->cc);
	json_u64(&json, "bytes", bytes);
	json_seconds(&json, "seconds", ns);
	json_u64(&json, "retransmits", info->tcpi_total_retrans);
	json_u64(&json, "retransmitted_bytes", info->tcpi_bytes_retrans);
	json_u64(&json, "data_segments", info->tcpi_data_segs_out);
	json_u64(&json, "delivered_segments", info->tcpi_delivered);
	json_u64(&json, "mss_bytes", info->tcpi_snd_mss);
	json_u64(&json, "min_rtt_us", info->tcpi_min_rtt);
	json_u64(&json, "rtt_us", info->tcpi_rtt);
	json_u64(&json, "rttvar_us", info->tcpi_rttvar);
	json_u64(&json, "rto_us", info->tcpi_rto);
	json_u64(&json, "cwnd_segments", info->tcpi_snd_cwnd);
	json_u64(&json, "ssthresh_segments", info->tcpi_snd_ssthresh);
	json_u64(&json, "busy_us", info->tcpi_busy_time);
	json_u64(&json, "rwnd_limited_us", info->tcpi_rwnd_limited);
	json_u64(&json, "sndbuf_limited_us", info->tcpi_sndbuf_limited);
	json_end(&json);
}

static void record_text(FILE *out, struct conn *conn, uint64_t bytes,
			uint64_t ns)
{
	char total[HUMAN_MAX], rate[HUMAN_MAX];

	if (!conn->file) {
		fprintf(out, "%s %s: %s\n", conn->peer, conn->status,
			conn->why.text);
		return;
	}
	wale_make_printable(conn->name); /* its file is open */
	fprintf(out, "%s %s: %s, %s in %.3f s, %s, %s%s%s\n", conn->peer,
		conn->name, conn->status, human_bytes((double)bytes, total),
		(double)ns / 1e9,
		human_rate(ns ? (double)bytes * 1e9 / (double)ns : 0, rate),
		conn->cc, conn->why.code ? ": " : "",
		conn->why.code ? conn->why.text : "");
}

void conn_record(struct conn *conn)
{
	struct server *server = conn->server;
	uint64_t bytes, ns;
	FILE *out;

	if (conn->recorded || !conn->status)
		return;
	conn->recorded = true;
	bytes = conn_data_acked(conn);
	ns = conn->start_ns ? clock_ns() - conn->start_ns : 0;
	ns -= ns < conn->idle_ns ? ns : conn->idle_ns;
	if (conn->file) {
		server->transfers++;
		server->complete += !strcmp(conn->status, "complete");
		server->bytes += bytes;
	} else {
		server->refused++;
	}
	if (server->quiet && !server->json)
		return;
	out = serve_output_begin();
	if (!out)
		return;
	if (server->json)
		record_json(out, conn, bytes, ns);
	else
		record_text(out, conn, bytes, ns);
	serve_output_end(out);
}
