# SPDX-License-Identifier: GPL-2.0
"""The command lines of the programs at the two ends of a flow."""

from wale_lab.guest.shared import WORK

TYPE_CHECKING = False
if TYPE_CHECKING:
    from wale_lab.guest.shared import Plan

#: The folder from which files are served, which holds `file`.
DATA = WORK + "/data"


def server_command(flow: "Plan") -> tuple[list[str], str]:
    """The command of the waiting end, and its namespace."""
    port = str(flow["port"])
    if flow["constant"]:
        argv = ["wale", "receive", "--json", "--listen", flow["receiver_address"], "--port", port]
        if flow["constant"]["logged"]:
            argv += ["--packets-csv", packets_log(flow)]
        return argv, flow["receiver_netns"]
    if flow["tool"] == "wale":
        argv = ["wale", "serve", "--json", "--listen", flow["sender_address"], "--port", port]
        return [*argv, *_batch(flow), "--idle-timeout", "3600", DATA], flow["sender_netns"]
    argv = ["iperf3", "--server", "--one-off", "--json", "--port", port]
    return argv, flow["receiver_netns"]


def client_command(flow: "Plan", at: int, file_bytes: int) -> tuple[list[str], str]:
    """The command of the end that begins, and its namespace; packets at a constant rate have a
    schedule."""
    if flow["constant"]:
        return send_command(flow, at), flow["sender_netns"]
    if flow["tool"] == "wale":
        return _get_command(flow, file_bytes), flow["receiver_netns"]
    return _iperf3_command(flow), flow["sender_netns"]


def packets_log(flow: "Plan") -> str:
    """Where the packets of a flow at a constant rate are logged."""
    return f"{WORK}/packets.{flow['name']}.csv"


def send_command(flow: "Plan", at: int) -> list[str]:
    """Packets at a constant rate; their schedule begins at the flow's own time."""
    constant = flow["constant"]
    argv = ["wale", "send", flow["receiver_address"], "--port", str(flow["port"]), "--json"]
    argv += [*constant["rate"], "--size", str(constant["packet"])]
    return [*argv, "--duration", f"{flow['duration_ns']}ns", "--at", f"{at}ns"]


def _get_command(flow: "Plan", file_bytes: int) -> list[str]:
    arrivals = flow["arrivals"]
    host = flow["sender_address"]
    host = f"[{host}]" if ":" in host else host
    argv = ["wale", "get", f"{host}:file", "--port", str(flow["port"]), "--json"]
    argv += ["--cc", flow["cc"], "--no-progress", "--timeout", "3600"]
    if flow["size"]:
        argv += ["--bytes", str(flow["size"])]
        if flow["size"] > file_bytes:
            argv += ["--repeat"]
    elif arrivals:
        argv += ["--arrivals", str(arrivals["rate"]), "--seed", str(arrivals["seed"])]
        argv += ["--transfers", str(arrivals["sessions"])]
        argv += ["--mean-size", str(arrivals["mean"])]
    else:
        argv += ["--repeat", "--duration", f"{flow['duration_ns']}ns"]
    if not flow["sha256"]:
        argv += ["--no-sha256"]
    return argv + _batch(flow)


def _batch(flow: "Plan") -> list[str]:
    return ["--batch", str(flow["batch"])] if flow["batch"] else []


def _iperf3_command(flow: "Plan") -> list[str]:
    argv = ["iperf3", "--client", flow["receiver_address"], "--port", str(flow["port"])]
    argv += ["--json", "--congestion", flow["cc"]]
    if flow["size"]:
        return [*argv, "--bytes", str(flow["size"])]
    return [*argv, "--time", str(flow["duration_ns"] // 10**9)]
