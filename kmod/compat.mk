# SPDX-License-Identifier: GPL-2.0
# What the target kernel has, found by looking into its headers: stable kernels
# backport features, so version numbers say little.  The macros are used only in
# compat.h.

# The KUnit tests take as long to build as the modules; WALE_KUNIT=n leaves them out.
with-tests = $(and $(CONFIG_KUNIT),$(filter-out n,$(or $(WALE_KUNIT),y)),$(wildcard $(src)/tests))

# $(call compat-probe,MACRO,FIXED STRING,HEADER)
compat-probe = $(if $(shell grep -sF '$(2)' $(srctree)/include/$(3)),-D$(1))

ccflags-y += $(call compat-probe,WALE_HAVE_KMEM_CACHE_CHARGE,bool kmem_cache_charge,linux/slab.h)
ccflags-y += $(call compat-probe,WALE_HAVE_NET_GSO_H,skb_gso_segment,net/gso.h)
ccflags-y += $(call compat-probe,WALE_HAVE_PKT_SEGS,pkt_segs,net/sch_generic.h)
ccflags-y += $(call compat-probe,WALE_HAVE_ASSIGN_STR_1,__assign_str(dst),trace/stages/stage6_event_callback.h)
ccflags-y += $(call compat-probe,WALE_HAVE_DST_DEV_RCU,dst_dev_rcu,net/dst.h)
ccflags-y += $(call compat-probe,WALE_HAVE_SYSTEM_DFL_WQ,system_dfl_wq;,linux/workqueue.h)
ccflags-y += $(call compat-probe,WALE_HAVE_GENL_INFO_DUMP,genl_info_dump,net/genetlink.h)
ccflags-y += $(call compat-probe,WALE_HAVE_SYSCTL_SZ,register_net_sysctl_sz,net/net_namespace.h)
ccflags-y += $(call compat-probe,WALE_HAVE_CONST_CTL_TABLE,const struct ctl_table *ctl$(comma) int write,linux/sysctl.h)
ccflags-y += $(call compat-probe,WALE_HAVE_CONG_CONTROL_ACK,struct sock *sk$(comma) u32 ack$(comma) int flag$(comma) const struct rate_sample,net/tcp.h)
ccflags-y += $(call compat-probe,WALE_HAVE_ECN_MODE,tcp_ecn_mode_any,net/tcp.h)
ccflags-y += $(call compat-probe,WALE_HAVE_SEND_ACK_FLAGS,__tcp_send_ack(struct sock *sk$(comma) u32 rcv_nxt$(comma) u16 flags),net/tcp.h)
ccflags-y += $(call compat-probe,WALE_HAVE_HRTIMER_SETUP,hrtimer_setup,linux/hrtimer.h)
