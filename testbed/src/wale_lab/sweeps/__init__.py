# SPDX-License-Identifier: GPL-2.0
"""`wale-lab sweep`: a scenario with all combinations of some values, as a table and a picture."""
