# SPDX-License-Identifier: GPL-2.0
"""What is wrong with what a user wrote; what an engine cannot do is an EngineError."""


class ScenarioError(Exception):
    """What is wrong with a scenario, a study or an option, one line for each error."""
