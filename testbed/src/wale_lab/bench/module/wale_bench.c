// SPDX-License-Identifier: GPL-2.0
/*
 * wale_bench - sends packets of its own through the qdisc of a device of its own
 *
 * What a qdisc costs, without sockets and without user space:
 *
 *	timer -> skbs -> dev_queue_xmit() -> the qdisc -> wbench0, which frees them
 *
 * The device is there while the module is loaded.  How many packets, of what
 * size, at what rate and so on is set in the files of WALE_BENCH_DIR in debugfs,
 * one number each (struct wale_bench_settings).  Writing to "run" sends them, and
 * returns when the last one is sent; then "result" has what was measured, and
 * "lateness_ns" how late each packet came out, if that was asked for.
 *
 * Packets are sent by a timer, in softirq context, @burst at a time, at @rate.
 * The first @warmup of them fill the qdisc; what the next @packets cost is
 * measured: everything that the CPU did in that time, so the timers and softirqs
 * of the qdisc too, and the generator itself; that is known from the same
 * packets through a device without a qdisc.
 *
 * Measured is the time in which the CPU was busy.  In User-Mode Linux that is
 * what the kernel's process used of the host's CPU: in virtual time an idle
 * guest uses none.  Elsewhere it is the time in which this CPU was not idle.
 */

#include <linux/completion.h>
#include <linux/debugfs.h>
#include <linux/etherdevice.h>
#include <linux/hrtimer.h>
#include <linux/if_ether.h>
#include <linux/ip.h>
#include <linux/jhash.h>
#include <linux/math64.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/netdevice.h>
#include <linux/skbuff.h>
#include <linux/tcp.h>
#include <linux/tick.h>
#include <linux/udp.h>
#include <linux/unistd.h>
#include <linux/vmalloc.h>
#include <net/ip.h>

#include "compat.h"
#include "scone.h"

#define WALE_BENCH_DIR	"wale_bench"
#define WALE_BENCH_DEV	"wbench0"

/* From the timer's start to the first packet. */
#define WALE_BENCH_LEAD_NS	NSEC_PER_MSEC

/* What is measured is measured in so many parts, too. */
#define WALE_BENCH_SLICES	20

/* Departures are computed in units of 2^-16 ns. */
#define WALE_BENCH_SHIFT	16

/* IP and TCP. */
#define WALE_BENCH_HEADERS	(sizeof(struct iphdr) + sizeof(struct tcphdr))

/* Payload is shared: this many bytes of it per fragment of a packet. */
#define WALE_BENCH_ORDER	3
#define WALE_BENCH_FRAG		(PAGE_SIZE << WALE_BENCH_ORDER)

/**
 * struct wale_bench_settings - what to send; files of the same names
 * @packets: that are measured; with gso_size, GSO packets
 * @warmup: that are sent before
 * @rate: bytes/s of IP on the wire that are offered
 * @link_rate: bytes/s of the link, for @edt and @lateness
 * @delay_ns: of the link, for the same
 * @size: of a packet, bytes of IP
 * @gso_size: payload of each segment of a GSO packet; 0: none
 * @flows: packets belong to them in turn
 * @burst: packets that are sent at once
 * @edt: packets carry the time at which they are to leave, for sch_fq
 * @lateness: write down how late packets come out of a link of this rate
 * @udp: packets are of UDP, not of TCP
 * @scone: of UDP, each so manyth packet begins with a SCONE packet; 0: none
 */
struct wale_bench_settings {
	u64 packets;
	u64 warmup;
	u64 rate;
	u64 link_rate;
	u64 delay_ns;
	u32 size;
	u32 gso_size;
	u32 flows;
	u32 burst;
	u32 edt;
	u32 lateness;
	u32 udp;
	u32 scone;
};

/**
 * struct wale_bench_result - what was measured, from the first packet to the last
 * @busy_ns: time in which the CPU was busy, in each slice of them
 * @elapsed_ns: time of the guest's clock
 * @departed: packets that came out in that time, on the wire
 * @refused: packets that dev_queue_xmit() said it dropped, warm-up and all
 * @behind_ns: how much later than wanted a packet was sent, at most
 */
struct wale_bench_result {
	u64 busy_ns[WALE_BENCH_SLICES];
	u64 elapsed_ns;
	u64 departed;
	u64 refused;
	u64 behind_ns;
};

/*
 * The generator.  While it runs, the timer alone writes here, and the device,
 * which are on one CPU.
 */
static struct wale_bench {
	struct mutex lock;	/* of everything here */
	struct wale_bench_settings settings;
	struct wale_bench_result result;
	struct net_device *dev;
	struct dentry *dir;
	struct page *payload;
	struct hrtimer timer;
	struct completion done;

	/* of a run */
	struct wale_bench_settings s;
	u32 wire_len;		/* IP bytes of a packet, or of all its segments */
	u64 sent;
	u64 departed;
	u32 slice;		/* next one to begin */
	u64 slice_from;		/* that many are sent then */
	u64 busy_ns;		/* when the last one began */
	u64 begun_ns;		/* guest's clock, when the first was due */
	u64 served_fp;		/* end of service of the last one, 2^-16 ns */
	u64 service_fp;		/* time of one service */
	u64 *due_ns;		/* departure of each packet */
	s32 *late_ns;		/* of each measured packet that came out */
	u64 late_count;
} bench = {
	.lock = __MUTEX_INITIALIZER(bench.lock),
	.settings = {
		.packets = 100000, .warmup = 1000, .rate = 125000000,
		.link_rate = 125000000, .size = 1500, .flows = 1, .burst = 1,
	},
};

#ifdef CONFIG_UML
/* The kernel is a process of the host, and can ask the host what it used. */
static u64 wale_bench_busy_ns(void)
{
	struct __kernel_timespec used = {};
	long ret;

	asm volatile("syscall"
		     : "=a" (ret)
		     : "0" ((long)__NR_clock_gettime),
		       "D" ((long)CLOCK_PROCESS_CPUTIME_ID), "S" (&used)
		     : "rcx", "r11", "memory");
	WARN_ON_ONCE(ret);
	return used.tv_sec * NSEC_PER_SEC + used.tv_nsec;
}
#else
static u64 wale_bench_busy_ns(void)
{
	u64 idle_us = get_cpu_idle_time_us(smp_processor_id(), NULL);

	return ktime_get_ns() - (idle_us == -1ULL ? 0 : idle_us * 1000);
}
#endif

static void wale_bench_write_tcp(struct sk_buff *skb, u32 flow)
{
	struct tcphdr *tcp = skb_put_zero(skb, sizeof(*tcp));

	tcp->doff = 5;
	tcp->ack = 1;
	tcp->source = htons(1024 + (flow & 0x7fff));
	tcp->dest = htons(80);
}

/* As long as the header of TCP, with what follows that of UDP. */
static void wale_bench_write_udp(struct sk_buff *skb, u32 flow)
{
	/* a long header, the version, no connection IDs; then a short header */
	static const u8 scone[] = {
		0xff, SCONE_VERSION >> 24 | 0x80, SCONE_VERSION >> 16 & 0xff,
		SCONE_VERSION >> 8 & 0xff, SCONE_VERSION & 0xff, 0, 0, 0x40,
	};
	struct udphdr *udp = skb_put_zero(skb, sizeof(struct tcphdr));
	u64 n = bench.sent + 1;

	udp->source = htons(1024 + (flow & 0x7fff));
	udp->dest = htons(443);
	udp->len = htons(bench.s.size - sizeof(struct iphdr));
	if (bench.s.scone && !do_div(n, bench.s.scone))
		memcpy(udp + 1, scone, sizeof(scone));
	else
		*(u8 *)(udp + 1) = 0x40;
}

static void wale_bench_write_headers(struct sk_buff *skb, u32 flow)
{
	struct ethhdr *eth;
	struct iphdr *ip;

	skb_reset_mac_header(skb);
	eth = skb_put(skb, ETH_HLEN);
	ether_addr_copy(eth->h_dest, bench.dev->broadcast);
	ether_addr_copy(eth->h_source, bench.dev->dev_addr);
	eth->h_proto = htons(ETH_P_IP);
	skb->protocol = htons(ETH_P_IP);

	skb_set_network_header(skb, ETH_HLEN);
	ip = skb_put_zero(skb, sizeof(*ip));
	ip->version = 4;
	ip->ihl = 5;
	ip->ttl = 64;
	ip->tot_len = htons(bench.s.size);
	ip->protocol = bench.s.udp ? IPPROTO_UDP : IPPROTO_TCP;
	ip->saddr = htonl(INADDR_LOOPBACK);
	ip->daddr = htonl(0x0a000000 + flow);
	ip_send_check(ip);

	skb_set_transport_header(skb, ETH_HLEN + sizeof(*ip));
	if (bench.s.udp)
		wale_bench_write_udp(skb, flow);
	else
		wale_bench_write_tcp(skb, flow);
	skb_set_hash(skb, jhash_1word(flow, 0), PKT_HASH_TYPE_L4);
}

static void wale_bench_add_payload(struct sk_buff *skb)
{
	u32 left = bench.s.size - WALE_BENCH_HEADERS, part;
	int i;

	for (i = 0; left; left -= part, i++) {
		part = min_t(u32, left, WALE_BENCH_FRAG);
		get_page(bench.payload);
		skb_fill_page_desc(skb, i, bench.payload, 0, part);
		skb->len += part;
		skb->data_len += part;
		skb->truesize += part;
	}
}

/* How many packets one is on the wire. */
static u32 wale_bench_segments(void)
{
	u32 payload = bench.s.size - WALE_BENCH_HEADERS;

	if (!bench.s.gso_size || payload <= bench.s.gso_size)
		return 1;
	return DIV_ROUND_UP(payload, bench.s.gso_size);
}

static void wale_bench_make_gso(struct sk_buff *skb)
{
	u32 segments = wale_bench_segments();

	if (segments == 1)
		return;
	skb_shinfo(skb)->gso_size = bench.s.gso_size;
	skb_shinfo(skb)->gso_segs = segments;
	skb_shinfo(skb)->gso_type = SKB_GSO_TCPV4;
	skb->ip_summed = CHECKSUM_PARTIAL;
	skb->csum_start = skb_transport_header(skb) - skb->head;
	skb->csum_offset = offsetof(struct tcphdr, check);
}

/* The next packet; its number is its mark. */
static struct sk_buff *wale_bench_packet(void)
{
	u64 flow = bench.sent;
	struct sk_buff *skb;

	skb = alloc_skb(ETH_HLEN + WALE_BENCH_HEADERS,
			GFP_ATOMIC | __GFP_NOWARN);
	if (!skb)
		return NULL;
	wale_bench_write_headers(skb, do_div(flow, bench.s.flows));
	wale_bench_add_payload(skb);
	wale_bench_make_gso(skb);
	skb->dev = bench.dev;
	skb->mark = bench.sent;
	return skb;
}

/* When a packet that is sent now leaves an exact link. */
static u64 wale_bench_due_ns(void)
{
	u64 now_fp = (ktime_get_ns() - bench.begun_ns) << WALE_BENCH_SHIFT;

	bench.served_fp = max(bench.served_fp, now_fp) + bench.service_fp;
	return bench.begun_ns + (bench.served_fp >> WALE_BENCH_SHIFT) +
	       bench.s.delay_ns;
}

static void wale_bench_send_one(void)
{
	struct sk_buff *skb = wale_bench_packet();

	if (skb && (bench.s.edt || bench.due_ns)) {
		u64 due_ns = wale_bench_due_ns();

		if (bench.s.edt)
			skb->tstamp = ns_to_ktime(due_ns);
		if (bench.due_ns)
			bench.due_ns[bench.sent] = due_ns;
	}
	bench.sent++;
	if (!skb || dev_queue_xmit(skb) & NET_XMIT_MASK)
		bench.result.refused++;
}

static netdev_tx_t wale_bench_xmit(struct sk_buff *skb, struct net_device *dev)
{
	u32 number = skb->mark;

	bench.departed++;
	if (bench.late_ns && number >= bench.s.warmup &&
	    bench.late_count < bench.s.packets) {
		s64 late_ns = ktime_get_ns() - bench.due_ns[number];

		bench.late_ns[bench.late_count++] =
			clamp_t(s64, late_ns, S32_MIN, S32_MAX);
	}
	consume_skb(skb);
	return NETDEV_TX_OK;
}

/* The guest's clock when so many packets are to have been sent. */
static u64 wale_bench_time_of(u64 packets)
{
	return bench.begun_ns + mul_u64_u64_div_u64(packets * bench.wire_len,
						    NSEC_PER_SEC, bench.s.rate);
}

/* Differences are taken from the first packet that is measured to the last. */
static void wale_bench_mark_end(u64 now_ns)
{
	bench.result.elapsed_ns = now_ns - bench.result.elapsed_ns;
	bench.result.departed = bench.departed - bench.result.departed;
}

/* A slice ends here, another begins. */
static void wale_bench_next_slice(u64 now_ns)
{
	u64 busy_ns = wale_bench_busy_ns();
	u32 slice = bench.slice++;

	if (slice)
		bench.result.busy_ns[slice - 1] = busy_ns - bench.busy_ns;
	if (!slice || slice == WALE_BENCH_SLICES)
		wale_bench_mark_end(now_ns);
	bench.busy_ns = busy_ns;
	bench.slice_from = bench.s.warmup +
		div_u64(bench.s.packets * bench.slice, WALE_BENCH_SLICES);
}

static void wale_bench_send_burst(u64 now_ns)
{
	u64 last = bench.s.warmup + bench.s.packets;
	u32 i;

	for (i = 0; i < bench.s.burst && bench.sent < last; i++) {
		if (bench.sent == bench.slice_from)
			wale_bench_next_slice(now_ns);
		wale_bench_send_one();
	}
}

static enum hrtimer_restart wale_bench_on_timer(struct hrtimer *timer)
{
	u64 now_ns = ktime_get_ns(), due_ns = wale_bench_time_of(bench.sent);

	if (now_ns > due_ns)
		bench.result.behind_ns = max(bench.result.behind_ns,
					     now_ns - due_ns);
	wale_bench_send_burst(now_ns);
	if (bench.sent == bench.s.warmup + bench.s.packets) {
		wale_bench_next_slice(ktime_get_ns());
		complete(&bench.done);
		return HRTIMER_NORESTART;
	}
	hrtimer_set_expires(timer,
			    ns_to_ktime(wale_bench_time_of(bench.sent)));
	return HRTIMER_RESTART;
}

static void wale_bench_free_arrays(void)
{
	vfree(bench.due_ns);
	vfree(bench.late_ns);
	bench.due_ns = NULL;
	bench.late_ns = NULL;
	bench.late_count = 0;
}

static int wale_bench_alloc_arrays(void)
{
	wale_bench_free_arrays();
	if (!bench.s.lateness)
		return 0;
	bench.due_ns = vcalloc(bench.s.warmup + bench.s.packets,
			       sizeof(*bench.due_ns));
	bench.late_ns = vcalloc(bench.s.packets, sizeof(*bench.late_ns));
	if (bench.due_ns && bench.late_ns)
		return 0;
	wale_bench_free_arrays();
	return -ENOMEM;
}

static bool wale_bench_settings_valid(const struct wale_bench_settings *s)
{
	return s->packets >= WALE_BENCH_SLICES && s->rate && s->link_rate && s->flows && s->burst &&
	       s->warmup + s->packets <= U32_MAX &&
	       s->size >= WALE_BENCH_HEADERS && s->size <= IP_MAX_MTU;
}

/* There must be no packets of an earlier run in the qdisc. */
static int wale_bench_start(void)
{
	int err;

	bench.s = bench.settings;
	if (!wale_bench_settings_valid(&bench.s))
		return -EINVAL;
	err = wale_bench_alloc_arrays();
	if (err)
		return err;
	memset(&bench.result, 0, sizeof(bench.result));
	bench.sent = 0;
	bench.departed = 0;
	bench.slice = 0;
	bench.slice_from = bench.s.warmup;
	bench.served_fp = 0;
	bench.wire_len = bench.s.size +
			 (wale_bench_segments() - 1) * WALE_BENCH_HEADERS;
	bench.service_fp = div64_u64((u64)bench.wire_len * NSEC_PER_SEC <<
				     WALE_BENCH_SHIFT, bench.s.link_rate);
	bench.begun_ns = ktime_get_ns() + WALE_BENCH_LEAD_NS;
	reinit_completion(&bench.done);
	hrtimer_start(&bench.timer, ns_to_ktime(bench.begun_ns),
		      HRTIMER_MODE_ABS_PINNED_SOFT);
	return 0;
}

static ssize_t wale_bench_run(struct file *file, const char __user *text,
			      size_t len, loff_t *pos)
{
	int err;

	err = mutex_lock_interruptible(&bench.lock);
	if (err)
		return err;
	err = netif_running(bench.dev) ? wale_bench_start() : -ENETDOWN;
	if (!err)
		err = wait_for_completion_interruptible(&bench.done);
	hrtimer_cancel(&bench.timer);
	mutex_unlock(&bench.lock);
	return err ? err : len;
}

static const struct file_operations wale_bench_run_fops = {
	.owner = THIS_MODULE,
	.open = simple_open,
	.write = wale_bench_run,
};

static ssize_t wale_bench_read_lateness(struct file *file, char __user *to,
					size_t len, loff_t *pos)
{
	ssize_t ret;

	ret = mutex_lock_interruptible(&bench.lock);
	if (ret)
		return ret;
	ret = simple_read_from_buffer(to, len, pos, bench.late_ns,
				      bench.late_count *
				      sizeof(*bench.late_ns));
	mutex_unlock(&bench.lock);
	return ret;
}

static const struct file_operations wale_bench_lateness_fops = {
	.owner = THIS_MODULE,
	.open = simple_open,
	.read = wale_bench_read_lateness,
};

static int wale_bench_result_show(struct seq_file *seq, void *unused)
{
	const struct wale_bench_result *r = &bench.result;
	int i;

	seq_puts(seq, "busy_ns");
	for (i = 0; i < WALE_BENCH_SLICES; i++)
		seq_printf(seq, " %llu", r->busy_ns[i]);
	seq_puts(seq, "\n");
	seq_printf(seq, "elapsed_ns %llu\n", r->elapsed_ns);
	seq_printf(seq, "departed %llu\n", r->departed);
	seq_printf(seq, "refused %llu\n", r->refused);
	seq_printf(seq, "behind_ns %llu\n", r->behind_ns);
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(wale_bench_result);

static void wale_bench_create_files(void)
{
	struct dentry *dir = debugfs_create_dir(WALE_BENCH_DIR, NULL);
	struct wale_bench_settings *s = &bench.settings;

	bench.dir = dir;
	debugfs_create_u64("packets", 0600, dir, &s->packets);
	debugfs_create_u64("warmup", 0600, dir, &s->warmup);
	debugfs_create_u64("rate", 0600, dir, &s->rate);
	debugfs_create_u64("link_rate", 0600, dir, &s->link_rate);
	debugfs_create_u64("delay_ns", 0600, dir, &s->delay_ns);
	debugfs_create_u32("size", 0600, dir, &s->size);
	debugfs_create_u32("gso_size", 0600, dir, &s->gso_size);
	debugfs_create_u32("flows", 0600, dir, &s->flows);
	debugfs_create_u32("burst", 0600, dir, &s->burst);
	debugfs_create_u32("edt", 0600, dir, &s->edt);
	debugfs_create_u32("lateness", 0600, dir, &s->lateness);
	debugfs_create_u32("udp", 0600, dir, &s->udp);
	debugfs_create_u32("scone", 0600, dir, &s->scone);
	debugfs_create_file("run", 0200, dir, NULL, &wale_bench_run_fops);
	debugfs_create_file("result", 0400, dir, NULL,
			    &wale_bench_result_fops);
	debugfs_create_file("lateness_ns", 0400, dir, NULL,
			    &wale_bench_lateness_fops);
}

static const struct net_device_ops wale_bench_device_ops = {
	.ndo_start_xmit = wale_bench_xmit,
};

/* It takes wire packets alone: GSO packets are split before it. */
static void wale_bench_setup(struct net_device *dev)
{
	ether_setup(dev);
	dev->netdev_ops = &wale_bench_device_ops;
	dev->needs_free_netdev = true;
	dev->flags |= IFF_NOARP;
	dev->features |= NETIF_F_SG | NETIF_F_HW_CSUM | NETIF_F_HIGHDMA;
	eth_hw_addr_random(dev);
}

static int wale_bench_create_device(void)
{
	struct net_device *dev;
	int err;

	dev = alloc_netdev(0, WALE_BENCH_DEV, NET_NAME_USER, wale_bench_setup);
	if (!dev)
		return -ENOMEM;
	err = register_netdev(dev);
	if (err) {
		free_netdev(dev);
		return err;
	}
	bench.dev = dev;
	return 0;
}

static int __init wale_bench_init(void)
{
	int err;

	init_completion(&bench.done);
	wale_compat_hrtimer_setup(&bench.timer, wale_bench_on_timer,
				  CLOCK_MONOTONIC, HRTIMER_MODE_ABS_PINNED_SOFT);
	bench.payload = alloc_pages(GFP_KERNEL | __GFP_COMP | __GFP_ZERO,
				    WALE_BENCH_ORDER);
	if (!bench.payload)
		return -ENOMEM;
	err = wale_bench_create_device();
	if (err) {
		__free_pages(bench.payload, WALE_BENCH_ORDER);
		return err;
	}
	wale_bench_create_files();
	return 0;
}

static void __exit wale_bench_exit(void)
{
	debugfs_remove(bench.dir);
	unregister_netdev(bench.dev);
	wale_bench_free_arrays();
	put_page(bench.payload);
}

module_init(wale_bench_init);
module_exit(wale_bench_exit);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("Sends packets through a qdisc, for benchmarks");
