// SPDX-License-Identifier: GPL-2.0
/*
 * wire_rate.c - senders of one guest learn the rate of a link in another
 *
 *	link -> rate_feedback -> a wire of its own ~~~> its device -> rate_feedback -> senders
 *
 * For a link that senders of another guest follow there is a wire that carries nothing else: each
 * step of the link's rate, when it is published.  At the other end the wire's device publishes
 * these steps as the link did, with the time since which each holds.  So a sender that looks as far
 * back as the wire's delay, or further, reads what it would read in the guest of the link.
 *
 * A step has to leave now, and a packet when it left its link, which may have been earlier: on the
 * wire of packets it would hold them up, as what arrives there is in order.
 */
#include <linux/module.h>
#include <linux/netdevice.h>
#include <linux/tracepoint.h>
#include <net/net_namespace.h>
#include <net/rate_feedback.h>

#include "rate_trace.h"
#include "wire.h"

/* Of rate_feedback, which it holds; NULL: no link is told about. */
static struct tracepoint *wire_rate_steps;

static struct wire_port *wire_rate_port(u32 link)
{
	struct wire_port *port;
	u32 n = 0;

	while ((port = wire_guest_port(n++)))
		if (port->link == link)
			return port;
	return NULL;
}

static bool wire_rate_is_told(const struct wire_port *port, const struct net *net, u32 ifindex)
{
	return port->told.ifindex == ifindex && port->told.netns_cookie == net->net_cookie;
}

/* A probe of the tracepoint rate_published. */
static void wire_rate_published(void *unused, const struct net *net, u32 ifindex, u64 since_ns,
				u64 rate, u8 layer, u32 flows)
{
	struct wire_rate step = { .rate = rate, .flows = flows, .layer = layer };
	struct wire_port *port;
	u32 n = 0;

	if (!wire_guest_time(since_ns, &step.since_ns))
		return;
	local_bh_disable();
	while ((port = wire_guest_port(n++)))
		if (wire_rate_is_told(port, net, ifindex))
			wire_device_send_rate(port, &step);
	local_bh_enable();
}

/**
 * wire_rate_receive() - publish a step of another guest's link
 * @port: the receiver
 * @rate: the step, as the ring has it
 *
 * Context: softirq.
 * Return: false if it is not what a guest sends, or nobody is here who wants it.
 */
bool wire_rate_receive(const struct wire_port *port, const struct wire_rate *rate)
{
	if (!port->channel || rate->layer > RATE_FEEDBACK_LAYER_PAYLOAD ||
	    rate->since_ns > port->next.arrival_ns)
		return false;
	port->channel->publish(port->publisher, wire_guest_clock(rate->since_ns), rate->rate,
			       rate->layer, rate->flows);
	return true;
}

static void wire_rate_leave(struct wire_port *port)
{
	if (!port->channel)
		return;
	port->channel->close(port->publisher);
	port->channel = NULL;
	symbol_put(rate_feedback_publisher_ops);
}

/**
 * wire_rate_exit() - no rate is sent or published any more
 *
 * Context: process context; nothing is received any more.
 */
void wire_rate_exit(void)
{
	struct wire_port *port;
	u32 n = 0;

	if (wire_rate_steps) {
		tracepoint_probe_unregister(wire_rate_steps, wire_rate_published, NULL);
		tracepoint_synchronize_unregister();
		symbol_put(__tracepoint_rate_published);
		wire_rate_steps = NULL;
	}
	while ((port = wire_guest_port(n++)))
		wire_rate_leave(port);
}

/* Parameters of a module are written one at a time. */
static int wire_rate_listen(void)
{
	int err;

	if (wire_rate_steps)
		return 0;
	check_trace_callback_type_rate_published(wire_rate_published);
	wire_rate_steps = symbol_get(__tracepoint_rate_published);
	if (!wire_rate_steps)
		return -ENOENT;
	err = tracepoint_probe_register(wire_rate_steps, wire_rate_published, NULL);
	if (err) {
		symbol_put(__tracepoint_rate_published);
		wire_rate_steps = NULL;
	}
	return err;
}

/* LINK DEVICE: the wire of this number carries the rate of a link in the writer's namespace. */
static int wire_rate_set_tell(const char *text, const struct kernel_param *param)
{
	struct net *net = current->nsproxy->net_ns;
	struct wire_port *port;
	struct net_device *dev;
	char name[IFNAMSIZ];
	u32 link;
	int err;

	if (sscanf(text, "%u %15s", &link, name) != 2)
		return -EINVAL;
	port = wire_rate_port(link);
	dev = dev_get_by_name(net, name);
	err = port && dev ? wire_rate_listen() : -ENODEV;
	if (!err) {
		port->told.netns_cookie = net->net_cookie;
		WRITE_ONCE(port->told.ifindex, dev->ifindex);
	}
	dev_put(dev);
	return err;
}

static const struct kernel_param_ops wire_rate_tell_ops = {
	.set = wire_rate_set_tell,
};

module_param_cb(tell, &wire_rate_tell_ops, NULL, 0200);
MODULE_PARM_DESC(tell, "written LINK DEVICE: another guest is told the rate of the link at DEVICE");

/* LINK: the device of the wire of this number publishes what arrives. */
static int wire_rate_set_publish(const char *text, const struct kernel_param *param)
{
	const struct rate_feedback_publisher_ops *channel;
	struct rate_publisher *publisher;
	struct wire_port *port;
	u32 link;
	int err;

	err = kstrtou32(text, 0, &link);
	if (err)
		return err;
	port = wire_rate_port(link);
	if (!port || port->channel)
		return -ENODEV;
	channel = symbol_get(rate_feedback_publisher_ops);
	if (!channel)
		return -ENOENT;
	publisher = channel->open(port->dev, NULL);
	if (IS_ERR(publisher)) {
		symbol_put(rate_feedback_publisher_ops);
		return PTR_ERR(publisher);
	}
	port->publisher = publisher;
	WRITE_ONCE(port->channel, channel);
	return 0;
}

static const struct kernel_param_ops wire_rate_publish_ops = {
	.set = wire_rate_set_publish,
};

module_param_cb(publish, &wire_rate_publish_ops, NULL, 0200);
MODULE_PARM_DESC(publish, "written LINK: its device publishes the rate of another guest's link");
