// SPDX-License-Identifier: GPL-2.0
/*
 * rate_flow.c - sockets that listen to the rate of their path
 *
 * Everything that the owner of a socket does here, it does under the socket's lock.
 * Dumps see a flow under RCU and never touch the socket.
 */

#include <linux/jhash.h>
#include <linux/memcontrol.h>
#include <linux/rcupdate_wait.h>
#include <linux/sched/mm.h>
#include <linux/slab.h>
#include <net/inet_sock.h>
#include <net/ip6_fib.h>
#include <net/route.h>

#include "../compat.h"
#include "rate.h"

/* A flow that has neither sent nor been acknowledged for this long is not active. */
#define RATE_IDLE	HZ

static void rate_flow_key(const struct sock *sk, struct rate_key *key)
{
	const struct inet_sock *inet = inet_sk(sk);

	memset(key, 0, sizeof(*key));
	key->kind = RATE_KEY_FLOW;
	key->sport = inet->inet_sport;
	key->dport = inet->inet_dport;
#if IS_ENABLED(CONFIG_IPV6)
	if (sk->sk_family == AF_INET6 &&
	    !ipv6_addr_v4mapped(&sk->sk_v6_daddr)) {
		key->family = AF_INET6;
		key->saddr = sk->sk_v6_rcv_saddr;
		key->daddr = sk->sk_v6_daddr;
		return;
	}
#endif
	key->family = AF_INET;
	key->saddr.s6_addr32[0] = inet->inet_rcv_saddr;
	key->daddr.s6_addr32[0] = inet->inet_daddr;
}

/* A number that stands for the egress device and the next hop; not 0. */
static u32 rate_flow_route(const struct rate_flow *flow,
			   const struct dst_entry *dst, u32 ifindex)
{
	const struct rtable *rt = (const struct rtable *)dst;
	__be32 gateway = rt->rt_gw4;

#if IS_ENABLED(CONFIG_IPV6)
	if (flow->key.family == AF_INET6) {
		const struct rt6_info *rt6 = (const struct rt6_info *)dst;

		return jhash(&rt6->rt6i_gateway, sizeof(rt6->rt6i_gateway),
			     ifindex) | 1;
	}
	if (rt->rt_gw_family == AF_INET6)
		return jhash(&rt->rt_gw6, sizeof(rt->rt_gw6), ifindex) | 1;
#endif
	/* for an exception, as for a path MTU, of a route without one: the peer */
	if (gateway == flow->key.daddr.s6_addr32[0])
		gateway = 0;
	return jhash_1word((__force u32)gateway, ifindex) | 1;
}

/* Context: RCU read side, path->lock. */
static void rate_flow_set_active(struct rate_flow *flow, struct rate_path *path,
				 bool active)
{
	int change = active - flow->active;
	struct rate_source *source;

	if (!change)
		return;
	WRITE_ONCE(flow->active, active);
	path->active += change;
	source = rcu_dereference(path->source);
	if (source)
		atomic_add(change, &source->active);
}

/**
 * rate_flow_count() - a flow becomes active on its path, or no longer is
 * @flow: the flow
 * @active: which of them
 *
 * Context: RCU read side.  Called by the owner and by the search for idle flows;
 * the lock of the path serializes them.
 */
void rate_flow_count(struct rate_flow *flow, bool active)
{
	struct rate_path *path = rcu_dereference(flow->path);

	if (!path)
		return;
	spin_lock_bh(&path->lock);
	/* the owner may have moved to another path */
	if (rcu_access_pointer(flow->path) == path)
		rate_flow_set_active(flow, path, active);
	spin_unlock_bh(&path->lock);
}

/* A flow is active: start looking for when it no longer is.  RCU read side. */
static void rate_flow_watch(struct rate_flow *flow)
{
	if (!READ_ONCE(flow->rn->dead))
		queue_delayed_work(wale_compat_dfl_wq, &flow->rn->idle, HZ);
}

/* Leave the path for another one, or for none. */
static void rate_flow_leave(struct rate_flow *flow)
{
	struct rate_path *path = rcu_dereference_raw(flow->path);

	if (!path)
		return;
	spin_lock_bh(&path->lock);
	rate_flow_set_active(flow, path, false);
	RCU_INIT_POINTER(flow->path, NULL);
	spin_unlock_bh(&path->lock);
	atomic_dec(&path->listeners);
	rate_path_put(path);
}

static void rate_flow_join(struct rate_flow *flow, struct rate_path *path)
{
	/* it was found in the table, and is being deleted right now */
	if (!refcount_inc_not_zero(&path->refs))
		return;
	atomic_inc(&path->listeners);
	rcu_assign_pointer(flow->path, path);
	rate_flow_count(flow, true);
	rate_flow_watch(flow);
}

/* The table or the socket's egress device has changed. */
static void rate_flow_look_up(struct rate_flow *flow, int table_gen)
{
	struct rate_net *rn = flow->rn;
	struct rate_path *best = NULL;

	flow->table_gen = table_gen;
	if (!READ_ONCE(rn->dead))
		best = rate_path_best(rn, &flow->key, flow->ifindex);
	if (best == rcu_access_pointer(flow->path))
		return;
	rate_flow_leave(flow);
	if (best)
		rate_flow_join(flow, best);
}

/*
 * Memory for flows.  A softirq does not know whom to charge for it, but the socket does,
 * though not before it is accepted: then it is charged on its next use.
 */

static struct kmem_cache *rate_flow_cache;

static struct mem_cgroup *rate_flow_payer(const struct sock *sk)
{
#ifdef CONFIG_MEMCG
	return sk->sk_memcg;
#else
	return NULL;
#endif
}

static void rate_flow_charge(struct rate_flow *flow, const struct sock *sk)
{
	struct mem_cgroup *payer = rate_flow_payer(sk), *old;

	if (!payer)
		return;
	old = set_active_memcg(payer);
	wale_compat_charge(flow, GFP_ATOMIC);
	set_active_memcg(old);
	flow->charged = true;
}

static struct rate_flow *rate_flow_alloc(struct rate_net *rn,
					 const struct sock *sk)
{
	struct mem_cgroup *payer = rate_flow_payer(sk), *old;
	gfp_t gfp = GFP_ATOMIC | __GFP_NOWARN | __GFP_ACCOUNT;
	struct rate_flow *flow;
	int err = -ENOMEM;

	old = set_active_memcg(payer);
	flow = kmem_cache_zalloc(rate_flow_cache, gfp);
	if (flow)
		err = xa_alloc_cyclic_bh(&rn->flows, &flow->id, NULL,
					 XA_LIMIT(1, INT_MAX), &rn->next_flow,
					 gfp);
	set_active_memcg(old);
	if (err < 0) {
		if (flow)
			kmem_cache_free(rate_flow_cache, flow);
		return NULL;
	}
	flow->charged = payer || in_task();
	return flow;
}

static void rate_flow_free(struct rcu_head *rcu)
{
	kmem_cache_free(rate_flow_cache,
			container_of(rcu, struct rate_flow, rcu));
}

/**
 * rate_flow_init() - get ready for flows
 *
 * Return: 0 or -ENOMEM.
 */
int rate_flow_init(void)
{
	rate_flow_cache = KMEM_CACHE(rate_flow, 0);
	return rate_flow_cache ? 0 : -ENOMEM;
}

/**
 * rate_flow_exit() - free the cache, after the last flow and an RCU barrier
 */
void rate_flow_exit(void)
{
	kmem_cache_destroy(rate_flow_cache);
}

/* Look up the socket's route and the path that it listens to. */
static void rate_flow_refresh(struct rate_flow *flow, const struct sock *sk)
{
	const struct dst_entry *dst = rcu_dereference(sk->sk_dst_cache);
	int table_gen = atomic_read_acquire(&flow->rn->table_gen);
	u32 ifindex = flow->ifindex;

	/* an accepted socket has had its owner since then */
	if (unlikely(!uid_eq(flow->uid, sk->sk_uid)))
		WRITE_ONCE(flow->uid, sk->sk_uid);
	if (unlikely(!flow->charged))
		rate_flow_charge(flow, sk);
	/* no route for the moment: keep the last one */
	if (dst) {
		ifindex = wale_compat_dst_dev(dst)->ifindex;
		flow->route = rate_flow_route(flow, dst, ifindex);
	}
	if (ifindex == flow->ifindex && table_gen == flow->table_gen)
		return;
	WRITE_ONCE(flow->ifindex, ifindex);
	rate_flow_look_up(flow, table_gen);
}

/* With a reference; NULL if the namespace of a kernel socket is being deleted. */
static struct rate_net *rate_net_of_socket(const struct sock *sk)
{
	struct rate_net *rn;

	rcu_read_lock();
	rn = rate_net(sock_net(sk));
	if (rn && READ_ONCE(rn->dead))
		rn = NULL;
	if (rn)
		rate_net_get(rn);
	rcu_read_unlock();
	return rn;
}

/**
 * rate_feedback_flow_open() - a socket begins to listen
 * @sk: the socket, connected, and locked by the caller
 *
 * Return: the flow; or NULL if there is no memory, and then it has no advice.
 */
struct rate_flow *rate_feedback_flow_open(struct sock *sk)
{
	const struct tcp_congestion_ops *ca = inet_csk(sk)->icsk_ca_ops;
	struct rate_flow *flow;
	struct rate_net *rn;

	rn = rate_net_of_socket(sk);
	if (!rn)
		return NULL;
	flow = rate_flow_alloc(rn, sk);
	if (!flow) {
		rate_net_put(rn);
		return NULL;
	}
	rate_flow_key(sk, &flow->key);
	flow->uid = sk->sk_uid;
	flow->used = jiffies;
	flow->table_gen = atomic_read(&rn->table_gen) - 1;	/* look it up */
	strscpy(flow->congestion, ca->name, sizeof(flow->congestion));
	flow->rn = rn;
	flow->born = atomic_long_inc_return(&rn->flow_births) - 1;
	xa_store_bh(&rn->flows, flow->id, flow, 0);	/* into its reserved place */
	rcu_read_lock();
	rate_flow_refresh(flow, sk);
	rate_notify_flow(flow, RATE_FEEDBACK_CMD_FLOW_NTF);
	rcu_read_unlock();
	return flow;
}
EXPORT_SYMBOL_GPL(rate_feedback_flow_open);

/**
 * rate_feedback_flow_close() - a socket no longer listens
 * @flow: the flow; NULL is allowed
 */
void rate_feedback_flow_close(struct rate_flow *flow)
{
	struct rate_net *rn;

	if (!flow)
		return;
	rn = flow->rn;
	xa_erase_bh(&rn->flows, flow->id);
	rcu_read_lock();
	rate_notify_flow(flow, RATE_FEEDBACK_CMD_FLOW_DEL_NTF);
	rate_flow_leave(flow);
	rcu_read_unlock();
	call_rcu(&flow->rcu, rate_flow_free);
	rate_net_put(rn);
}
EXPORT_SYMBOL_GPL(rate_feedback_flow_close);

/**
 * rate_feedback_flow_read() - what does the network advise?
 * @flow: the flow
 * @sk: its socket, locked by the caller
 * @now: ns
 * @base_rtt_ns: base RTT as the socket measured it; 0: not known
 * @advice: set; without advice, only its route
 *
 * Called for each ACK; allocates nothing.
 *
 * Return: true if there is advice.
 */
bool rate_feedback_flow_read(struct rate_flow *flow, const struct sock *sk,
			     u64 now, u64 base_rtt_ns,
			     struct rate_advice *advice)
{
	const struct rate_path *path;
	bool there;

	rcu_read_lock();
	rate_flow_refresh(flow, sk);
	WRITE_ONCE(flow->used, jiffies);
	path = rcu_dereference(flow->path);
	if (path && unlikely(!READ_ONCE(flow->active))) {
		rate_flow_count(flow, true);
		rate_flow_watch(flow);
	}
	there = path && rate_path_read(path, now, base_rtt_ns, advice);
	advice->route = flow->route;
	rcu_read_unlock();
	if (there && advice->in_band)
		return rate_in_band_read(flow, sk, base_rtt_ns, advice);
	flow->in_band.route = 0;
	WRITE_ONCE(flow->in_band.price, 0);
	return there;
}
EXPORT_SYMBOL_GPL(rate_feedback_flow_read);

/**
 * rate_feedback_flow_price() - the price that a flow's rate follows from
 * @flow: the flow
 *
 * Context: the socket's lock.
 * Return: in units of 1 / REM_PRICE_ONE; 0: its rate does not come in band.
 */
u64 rate_feedback_flow_price(const struct rate_flow *flow)
{
	return flow->in_band.price;
}
EXPORT_SYMBOL_GPL(rate_feedback_flow_price);

/**
 * rate_feedback_flow_report() - store a sender's state for dumps and events
 * @flow: the flow
 * @state: the state
 *
 * Context: the socket's lock.
 */
void rate_feedback_flow_report(struct rate_flow *flow,
			       const struct rate_flow_state *state)
{
	if (!flow->state.rate_window != !state->rate_window) {
		u32 *count = state->rate_window ? &flow->found : &flow->lost;

		WRITE_ONCE(*count, *count + 1);
	}
	/* readers may see half of two reports; on 32 bits, half of two numbers */
	WRITE_ONCE(flow->state.rate, state->rate);
	WRITE_ONCE(flow->state.base_rtt_ns, state->base_rtt_ns);
	WRITE_ONCE(flow->state.bytes_acked, state->bytes_acked);
	WRITE_ONCE(flow->state.phase, state->phase);
	WRITE_ONCE(flow->state.rate_window, state->rate_window);
	WRITE_ONCE(flow->state.cwnd, state->cwnd);
	WRITE_ONCE(flow->state.in_flight, state->in_flight);
	WRITE_ONCE(flow->state.packet_size, state->packet_size);
	WRITE_ONCE(flow->state.mss, state->mss);
	WRITE_ONCE(flow->state.price, state->price);
}
EXPORT_SYMBOL_GPL(rate_feedback_flow_report);

/**
 * rate_flow_find_idle() - stop counting flows that have been idle for a while
 * @work: in struct rate_net
 *
 * Runs once a second while there are active flows.
 */
void rate_flow_find_idle(struct work_struct *work)
{
	struct rate_net *rn = container_of(to_delayed_work(work),
					   struct rate_net, idle);
	unsigned long now = jiffies;
	bool any = false;
	struct rate_flow *flow;
	unsigned long id;

	rcu_read_lock();
	xa_for_each(&rn->flows, id, flow) {
		bool active = READ_ONCE(flow->active);

		/* it may have been used since this walk began */
		if (active && time_after_eq(now, READ_ONCE(flow->used) + RATE_IDLE))
			rate_flow_count(flow, false);
		else if (active)
			any = true;
		if (need_resched())
			cond_resched_rcu();
	}
	if (any && !READ_ONCE(rn->dead))
		queue_delayed_work(wale_compat_dfl_wq, &rn->idle, HZ);
	rcu_read_unlock();
}
