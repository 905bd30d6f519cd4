# SPDX-License-Identifier: GPL-2.0
"""`wale-lab evaluate`: is a congestion control fit for the Internet, beside those deployed?"""
