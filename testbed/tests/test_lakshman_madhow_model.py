# SPDX-License-Identifier: GPL-2.0
"""The analysis of Lakshman and Madhow: against their tables, its limits, and a random walk."""

from __future__ import annotations

import json
import math
import random
import re
from itertools import pairwise, product

import pytest
from scipy.integrate import quad

from wale_lab.cli import main as wale_lab
from wale_lab.papers import MODELS
from wale_lab.papers.karnik_kumar import model as karnik_kumar
from wale_lab.papers.lakshman_madhow import chain as lakshman_madhow_chain
from wale_lab.papers.lakshman_madhow.model import (
    READINGS,
    TCPS,
    Link,
    ack_rate,
    congestion_avoidance,
    cycle,
    cycle_length_law,
    growth_of_window,
    overflow_window,
    random_loss_window,
    rate_of_window,
    second_threshold,
    sharing,
    slow_start,
    slow_start_queue,
    slow_start_window,
    throughput,
    typical_threshold,
    utilisation,
    waiting_time,
    window_growth,
)
from wale_lab.studies.study import Study, XAxis, YAxis, load_published, paper_folder
from wale_lab.tree import SOURCES

every_tcp = pytest.mark.parametrize("tcp", TCPS)
every_reading = pytest.mark.parametrize("reading", READINGS)


def published(table: str, kind: str) -> dict[tuple[str, float], float]:
    """A table of the paper by row and x, from the file that its study has."""
    study = Study(
        title="",
        source="",
        order=1,
        question="",
        x=XAxis(label=""),
        y=YAxis(label=""),
        published=f"{table}.csv",
    )
    values = load_published(f"lakshman-madhow/{table}", study)
    return {(v.row, float(v.x)): v.value for v in values if v.kind == kind}


def test_table_2() -> None:
    """Link utilisation against beta: all ten numbers to the last digit."""
    cells = published("table2", "analysis")
    assert len(cells) == 10
    for (tcp, beta), value in cells.items():
        assert utilisation(Link.of_beta(beta), tcp) == pytest.approx(value, abs=0.0005), (tcp, beta)


def test_table_2_as_printed_has_no_threshold_effect_at_032() -> None:
    """With ceil(log2(B - 1)) Tahoe would still start twice at beta = 0.32: .712 for .856."""
    link = Link.of_beta(0.32)
    assert utilisation(link, "tahoe", 0, "printed") == pytest.approx(0.712, abs=0.0005)
    assert cycle(link, "tahoe", None, "printed").slow_starts == 2
    assert cycle(link, "tahoe", None, "reproducing").slow_starts == 1


def loss_link(row: str) -> tuple[Link, str]:
    """Link and TCP of a row of Table III."""
    tcp, beta = row.split("_")
    return Link.of_beta({"08": 0.8, "02": 0.2}[beta]), tcp


@every_reading
def test_table_3(reading: str) -> None:
    """Utilisation against random loss, eqs. (45), (46): all 28 numbers to the last digit."""
    cells = published("table3", "analysis")
    assert len(cells) == 28
    for (row, q), value in cells.items():
        link, tcp = loss_link(row)
        assert utilisation(link, tcp, q, reading) == pytest.approx(value, abs=0.00055), (row, q)


def test_table_5() -> None:
    for (row, tau), value in published("table5", "analysis").items():
        shares = sharing(100, [tau, 1.0], 80, "tahoe").shares
        assert shares[["far", "near"].index(row)] == pytest.approx(value, abs=0.0005), (row, tau)


def test_table_6() -> None:
    cells = published("table6", "analysis")
    assert len(cells) == 12
    for (row, cells_of_buffer), value in cells.items():
        found = sharing(96_000 / 12, [0.08, 0.04], cells_of_buffer / 12, "reno")
        assert found.shares[["far", "near"].index(row)] == pytest.approx(value, abs=0.00005)
        assert found.large_buffer == (cells_of_buffer >= 14_400)


def test_two_connections_as_printed() -> None:
    """T_i log2(w_i) in slow start, and the service time in T_i: off by so much."""
    assert sharing(100, [2.0, 1.0], 80, "tahoe", "printed").shares[0] == pytest.approx(
        0.2195, abs=5e-5
    )
    assert sharing(100, [3.0, 1.0], 80, "tahoe", "printed").shares[0] == pytest.approx(
        0.1214, abs=5e-5
    )
    for (row, size), value in published("table6", "analysis").items():
        shares = sharing(8_000, [0.08, 0.04], size / 12, "reno", "printed").shares
        assert shares[["far", "near"].index(row)] == pytest.approx(value, abs=0.0007)


def test_chain_comes_nearer_to_the_published_simulations() -> None:
    """Where random loss counts, the chain that the authors skip is better than their formula."""
    for row, q in (("tahoe_08", 1e-3), ("tahoe_08", 1e-4), ("tahoe_02", 1e-3), ("tahoe_02", 1e-4),
                   ("reno_08", 1e-4), ("reno_02", 1e-4)):  # fmt: skip
        link, tcp = loss_link(row)
        simulated = published("table3", "simulation")[row, q]
        chain = lakshman_madhow_chain.analyse(link, tcp, q).utilisation
        assert abs(chain - simulated) < abs(utilisation(link, tcp, q) - simulated), (row, q)
        assert chain == pytest.approx(simulated, rel=0.025), (row, q)


@pytest.mark.parametrize(
    ("product", "mu", "tau", "expected"),
    [
        (10, 100, 1, {"tahoe": 0.349, "reno": 0.410}),
        (1, 100, 1, {"tahoe": 0.861, "reno": 0.919}),
        (10, 200, 2, {"tahoe": 0.388, "reno": 0.413}),
        (1, 200, 2, {"tahoe": 0.900, "reno": 0.920}),
    ],
)
def test_chain_for_table_4(product: int, mu: int, tau: int, expected: dict[str, float]) -> None:
    link = Link.of_beta(0.8, mu, tau)
    for tcp, value in expected.items():
        found = lakshman_madhow_chain.analyse(link, tcp, product / (mu * tau) ** 2)
        assert found.utilisation == pytest.approx(value, abs=0.0006)


def test_what_is_probably_a_misprint_in_table_4() -> None:
    """Reno at 1, mu tau = 400, is .995; the chain is within 1 % of its neighbours, not of it."""
    simulated = published("table4", "simulation")
    for mu, tau in ((100, 1), (200, 1), (200, 2)):
        q = 1 / (mu * tau) ** 2
        chain = lakshman_madhow_chain.analyse(Link.of_beta(0.8, mu, tau), "reno", q).utilisation
        near = chain == pytest.approx(simulated[f"reno_{mu * tau}", 1], rel=0.01)
        assert near == (mu * tau != 400)


@every_tcp
@every_reading
@pytest.mark.parametrize("beta", [0.1, 0.2, 0.31, 0.8, 1.0])
def test_without_loss_all_agree(tcp: str, reading: str, beta: float) -> None:
    """As q goes to 0, formula and chain become the periodic cycle of section III."""
    link = Link.of_beta(beta)
    without = cycle(link, tcp, None, reading).throughput_packets_per_s
    for q in (0, 1e-9):
        assert throughput(link, tcp, q, reading) == pytest.approx(without, rel=1e-4)
        chain = lakshman_madhow_chain.analyse(link, tcp, q, reading)
        assert chain.throughput_packets_per_s == pytest.approx(without, rel=1e-4)
        assert chain.overflows == pytest.approx(1, abs=1e-4)


@pytest.mark.slow
@every_tcp
@pytest.mark.parametrize("model", ["formula", "chain"])
def test_more_loss_is_worse_and_more_buffer_better(tcp: str, model: str) -> None:
    def value(beta: float, q: float) -> float:
        link = Link.of_beta(beta)
        if model == "formula":
            return utilisation(link, tcp, q)
        return lakshman_madhow_chain.analyse(link, tcp, q).utilisation

    by_loss = [value(0.8, q) for q in (0, 1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 1e-1)]
    assert all(a > b for a, b in pairwise(by_loss))
    by_buffer = [value(beta, 1e-4) for beta in (0.1, 0.2, 0.4, 0.8, 1.0)]
    assert all(a < b for a, b in pairwise(by_buffer))
    assert all(0 < u <= 1 for u in by_loss + by_buffer)


def walked(link: Link, tcp: str, q: float, cycles: int) -> tuple[float, float]:
    """Throughput of the cycles of (18)-(20) as a random walk, and its standard error."""
    rng = random.Random(1997)
    trip, pipe, end = link.round_trip_s, link.pipe_packets, link.largest_window
    overflow = overflow_window(link.buffer_packets)
    w, sums = end / 2, []
    for _ in range(20):
        total = time = 0.0
        for _ in range(cycles // 20):
            left = n = math.floor(math.log(1 - rng.random()) / math.log(1 - q))
            window = w
            phases = [] if tcp == "reno" else [w]
            if phases and overflow <= w:
                phases = [overflow, min(overflow - 1, w / 2)]
            for number, top in enumerate(phases):
                reached = min(left + 1.0, top)
                time += trip * math.log2(max(1, reached))
                left -= int(min(left, round(top)))
                window = reached
                if reached < top:
                    break
                time += trip if number + 1 < len(phases) else 0
            else:
                last = min(end, math.sqrt(window**2 + 2 * left))
                n -= round(max(0, left - (end**2 - window**2) / 2))
                time += trip * max(0, min(pipe, last) - window)
                time += max(0, last**2 - max(pipe, window) ** 2) / (2 * link.rate_packets_per_s)
                window = last
            total += n
            w = max(1, window / 2)
        sums.append(total / time)
    mean = sum(sums) / len(sums)
    spread = math.sqrt(sum((s - mean) ** 2 for s in sums) / (len(sums) - 1) / len(sums))
    return mean / link.rate_packets_per_s, spread / link.rate_packets_per_s


@every_tcp
@pytest.mark.parametrize(("beta", "q"), [(0.8, 1e-3), (0.8, 1e-4), (0.2, 1e-4), (0.2, 3e-3)])
def test_random_walk_agrees_with_the_chain(tcp: str, beta: float, q: float) -> None:
    link = Link.of_beta(beta)
    mean, error = walked(link, tcp, q, 20_000)
    chain = lakshman_madhow_chain.analyse(link, tcp, q).utilisation
    print(chain, mean, error)
    assert error < 0.01 * mean
    assert abs(chain - mean) < 4 * error + 0.004 * mean  # whole packets here, not there


@pytest.mark.slow
def test_chain_does_not_depend_on_its_grid() -> None:
    long = Link(1e9 / 8 / 1500, 0.2, 8000)
    for link, tcp, q in product(
        (Link.of_beta(0.8), Link.of_beta(0.2), long), TCPS, (1e-4, 1e-3, 1e-2, 0.3)
    ):
        coarse, fine = (
            lakshman_madhow_chain.analyse(link, tcp, q, cells=n).utilisation for n in (200, 400)
        )
        assert coarse == pytest.approx(fine, rel=3e-3)
        if link is not long:
            assert coarse == pytest.approx(fine, abs=3e-4)


def test_more_loss_is_never_better() -> None:
    for tcp in TCPS:
        for of in (utilisation, lambda *a: lakshman_madhow_chain.analyse(*a).utilisation):
            values = [of(Link.of_beta(0.8), tcp, q) for q in (0.001, 0.01, 0.1, 0.2, 0.3)]
            assert values == sorted(values, reverse=True)
            with pytest.raises(
                ValueError, match=r"expected at most 0\.3, got 0\.5: .* no timeouts"
            ):
                of(Link.of_beta(0.8), tcp, 0.5)


def test_table_1() -> None:
    """(2) and (3) are slow start ACK by ACK, as another model follows it."""
    points = karnik_kumar.slow_start_evolution(100, 1000, 33)[1:]
    found = [
        (slow_start_window(n, m), slow_start_queue(n, m)) for n in range(5) for m in range(2**n)
    ]
    assert found == [(p.window, p.buffer) for p in points[: len(found)]]
    assert found[7] == (9, 2)  # after ACK 8, at 4 T


def test_figures_1_and_2() -> None:
    """What the text reads from them: windows of 26, 25 and 111; 181 and 91."""
    small = Link(100, 1.0, 10)
    assert overflow_window(10) == 26
    assert second_threshold(26, 55.5) == 25
    assert small.largest_window == 111
    assert slow_start(small, 111 / 2).windows == (26, 25)
    large = Link(100, 1.0, 80)
    assert large.largest_window == 181
    assert slow_start(large, 90.5).windows == (90.5,)


def test_congestion_avoidance_solves_its_equation() -> None:
    """(12)-(15) against (10), (11) integrated: dt = dW / (dW / dt), dn = lambda dt."""
    link = Link.of_beta(0.5)
    for start, end in ((10, 60), (40, 151.5), (120, 140)):
        part = congestion_avoidance(link, start, end)
        pipe = min(max(link.pipe_packets, start), end)
        time, packets = (
            sum(quad(f, low, high)[0] for low, high in ((start, pipe), (pipe, end)))
            for f in (
                lambda w: 1 / window_growth(link, w),
                lambda w: ack_rate(link, w) / window_growth(link, w),
            )
        )
        assert part.time_s == pytest.approx(time)
        assert part.packets == pytest.approx(packets) == pytest.approx((end**2 - start**2) / 2)


def test_law_of_the_cycle_length() -> None:
    law = [cycle_length_law(0.1, n, 30) for n in range(31)]
    assert sum(law) == pytest.approx(1)
    assert law[3] == pytest.approx(0.9**3 * 0.1)
    assert law[30] == pytest.approx(0.9**30)


def test_typical_threshold_is_a_fixed_point() -> None:
    """(22): from w_l on, 1 / q packets lead to 2 w_l; buffers bound it."""
    link = Link.of_beta(0.8)
    w = random_loss_window(1e-3)
    assert congestion_avoidance(link, w, 2 * w).packets == pytest.approx(1000)
    assert typical_threshold(link, 1e-3) == w
    assert typical_threshold(link, 1e-6) == link.largest_window / 2
    assert random_loss_window(0) == math.inf


def test_waiting_time_fills_the_link() -> None:
    """(28), (30)."""
    waiting = waiting_time(100, [120, 100], [1.0, 2.0])
    assert rate_of_window(120, 1, waiting) + rate_of_window(100, 2, waiting) == pytest.approx(100)
    assert growth_of_window(1.0, waiting) == 1 / (1 + waiting)
    with pytest.raises(ValueError, match="expected to fill 100 packets/s"):
        waiting_time(100, [10], [1.0])


def test_more_halvings_leave_less() -> None:
    """c of (37): a smaller window after an episode, and a link that is idle for longer."""
    args = (8000, [0.08, 0.04], 2304 / 12, "reno")
    assert sharing(*args, halvings=2) == sharing(*args)
    used = [sum(sharing(*args, halvings=c).shares) for c in (1, 2, 3)]
    assert used == sorted(used, reverse=True)
    with pytest.raises(ValueError, match="halvings: expected a number above 0"):
        sharing(*args, halvings=0)


@every_tcp
def test_sharing_of_equals_and_of_unequals(tcp: str) -> None:
    one, other = sharing(100, [1.0, 1.0], 80, tcp).shares
    assert one == other
    by_delay = [sharing(100, [tau, 1.0], 80, tcp).shares for tau in (1.0, 1.5, 2.0, 3.0)]
    assert all(a[0] > b[0] and a[1] < b[1] for a, b in pairwise(by_delay))
    far, near = by_delay[2]
    assert 1 < math.log(near / far) / math.log(2) < 2  # the exponent a of section V
    assert all(sum(shares) < 1 for shares in by_delay)
    ample = sharing(100, [2.0, 1.0], 2000, tcp)
    assert ample.large_buffer
    assert (
        0.7 < ample.shares[0] / ample.shares[1] < 1
    )  # section V-A: the queue is most of the delay


@pytest.mark.parametrize(
    ("wrong", "expected"),
    [
        ({"rate_packets_per_s": 0}, "rate_packets_per_s: expected a number above 0"),
        ({"rate_packets_per_s": "fast"}, "rate_packets_per_s: expected a number above 0"),
        ({"delay_s": math.nan}, "delay_s: expected a number above 0"),
        ({"buffer_packets": 102}, "at most the 101 packets of a round trip, got 102"),
        ({"buffer_packets": 1.5}, "buffer_packets: expected 2 or more"),
        ({"buffer_packets": True}, "buffer_packets: expected a number above 0"),
    ],
)
def test_link_refuses(wrong: dict[str, float], expected: str) -> None:
    with pytest.raises(ValueError, match=re.escape(expected)):
        Link(**wrong)


def test_functions_refuse() -> None:
    link = Link()
    with pytest.raises(ValueError, match="tcp: expected tahoe or reno, got 'vegas'"):
        utilisation(link, "vegas")
    with pytest.raises(ValueError, match="reading: expected printed or reproducing, got 'literal'"):
        utilisation(link, "reno", 0, "literal")
    for q in (-0.1, 1, math.nan):
        with pytest.raises(ValueError, match="loss_probability: expected 0 to below 1"):
            utilisation(link, "reno", q)
        with pytest.raises(ValueError, match="loss_probability: expected 0 to below 1"):
            lakshman_madhow_chain.analyse(link, "reno", q)
    with pytest.raises(ValueError, match=r"threshold: expected 1 to 181\.8 packets"):
        cycle(link, "tahoe", 0.5)
    with pytest.raises(ValueError, match=r"n from 0 on and m from 0 to 2\^n - 1"):
        slow_start_window(2, 4)
    with pytest.raises(ValueError, match="delays_s: expected at least one"):
        sharing(100, [], 80, "reno")
    with pytest.raises(ValueError, match="delays_s: expected a number above 0, got -1"):
        sharing(100, [1, -1], 80, "reno")
    with pytest.raises(ValueError, match="0 < start <= end"):
        congestion_avoidance(link, 20, 10)


def test_what_a_study_measures() -> None:
    model = MODELS["lakshman-madhow"]
    link = Link.of_beta(0.8)
    chain = lakshman_madhow_chain.analyse(link, "reno", 1e-3).utilisation
    assert model("efficiency", 0.8, of="beta", tcp="tahoe") == utilisation(link, "tahoe")
    assert model("efficiency", 1e-3, of="loss", tcp="reno", by="chain", beta=0.8) == chain
    assert model("efficiency", 10, of="product", tcp="reno", beta=0.8) == utilisation(
        link, "reno", 1e-3
    )
    two = {"tcp": "tahoe", "near_delay_s": 1.0, "which": 0}
    share = sharing(100, [2.0, 1.0], 80, "tahoe").shares[0]
    assert model("efficiency", 2.0, of="far_delay_s", buffer_packets=80, **two) == share
    assert model("efficiency", 80, of="buffer_packets", far_delay_s=2.0, **two) == share
    assert model("efficiency", 960, of="buffer_cells", far_delay_s=2.0, **two) == share
    with pytest.raises(ValueError, match="measure: expected efficiency, got 'jitter'"):
        model("jitter", 1, of="beta", tcp="reno")
    with pytest.raises(ValueError, match="of: expected one of beta, loss"):
        model("efficiency", 1, of="luck", tcp="reno")


def test_every_table_has_its_file() -> None:
    assert {p.name for p in paper_folder("lakshman-madhow").glob("table*.csv")} >= {
        f"table{n}.csv" for n in (2, 3, 4, 5, 6)
    }


def test_documented_table() -> None:
    page = (SOURCES / "Documentation" / "models.rst").read_text(encoding="utf-8")
    lines = re.findall(r'^   "q = ([\d.]+), beta = ([\d.]+)", (\w+), (.*)$', page, re.M)
    assert len(lines) == 6
    for q, beta, tcp, cells in lines:
        link, loss, tcp = Link.of_beta(float(beta)), float(q), tcp.lower()
        chain = lakshman_madhow_chain.analyse(link, tcp, loss).utilisation
        simulated = published("table3", "simulation")[f"{tcp}_{beta.replace('.', '')}", loss]
        values = (utilisation(link, tcp, loss), chain, simulated)
        assert [float(cell) for cell in cells.split(", ")] == pytest.approx(values, abs=0.00055)


def command(capsys: pytest.CaptureFixture[str], words: str) -> tuple[int, str, str]:
    """Run `wale-lab model lakshman-madhow`: exit code, what it printed, what it said."""
    code = wale_lab(["model", "lakshman-madhow", *words.split()])
    said = capsys.readouterr()
    return code, said.out, said.err


def test_command_prints_a_table(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = command(capsys, "--beta 0.31 0.32 --tcp tahoe --reading both")
    assert code == 0
    found = [re.findall(r"[\d.]+", line) for line in out.splitlines() if "tahoe" in line]
    assert [line[3:5] for line in found] == [
        *(["2", "0.7079"], ["2", "0.7079"], ["2", "0.7119"], ["1", "0.8557"])
    ]


def test_command_takes_units(capsys: pytest.CaptureFixture[str]) -> None:
    _, out, _ = command(
        capsys, "--rate 10mbit --packet 1250 --delay 100ms --buffer 50kB --loss 0.1% --json"
    )
    found = json.loads(out)
    assert found["link"] == {"rate_packets_per_s": 1000, "delay_s": 0.1}
    link = Link(1000, 0.1, 40)
    assert [p["formula_utilisation"] for p in found["points"]] == [
        utilisation(link, tcp, 1e-3) for tcp in TCPS
    ]
    _, out, _ = command(capsys, "--delay 2s 1s --buffer 80 --tcp tahoe --json")
    shares = [point["share"] for point in json.loads(out)["points"]]
    assert tuple(shares) == sharing(100, [2, 1], 80, "tahoe").shares


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("--rate 3furlongs", "--rate: expected a rate such as"),
        ("--packet 0", "--packet: expected a size above 0"),
        ("--delay x", "--delay: expected a time such as"),
        ("--buffer 200", "--buffer: expected at most the 101 packets of a round trip, got '200'"),
        ("--beta 5", "--beta: of the buffer that it gives, expected at most the 101 packets"),
        ("--delay 0 1s --buffer 80", "--delay: expected a number above 0, got '0 1s'"),
        ("--loss 1", "--loss: expected 0 to below 1, got '1'"),
        ("--beta big", "--beta: expected a number, got 'big'"),
        ("--loss 120%", "--loss: expected a probability such as"),
        ("--delay 2s 1s", "--delay: with several, expected --buffer, and no --loss"),
    ],
)
def test_command_refuses_in_one_line(
    words: str, expected: str, capsys: pytest.CaptureFixture[str]
) -> None:
    code, out, err = command(capsys, words)
    assert (code, out) == (2, "")
    assert err.startswith("wale-lab: ")
    assert err.count("\n") == 1
    assert expected in err
