# SPDX-License-Identifier: GPL-2.0
"""The kernel's own tests, of the guest's own source, as clients of the engines."""
