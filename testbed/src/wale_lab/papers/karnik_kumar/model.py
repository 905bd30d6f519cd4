# SPDX-License-Identifier: GPL-2.0
"""The throughput of one RATCP or TCP session whose fair rate varies: a Markov renewal process.

A. Karnik and A. Kumar, "Performance of TCP Congestion Control With Explicit Rate Feedback",
IEEE/ACM Transactions on Networking, 2005; sections III (model) and VIII (proof).  Equation
numbers in this file are theirs.  Both protocols are OldTahoe: they have no fast retransmit.

Time is in slots of one round trip delay Delta, rates are in packets.  In slot k there are M_k
ephemeral sessions (models/sessions.py), and the persistent session is served at
R_k = C / (M_k + 1).  At its begin, B_k packets are in the buffer, and D_k packets and
acknowledgments (ACKs) are in the delay: D_k ACKs come in the slot, at rate R_{k-1}.  The window
grows by a random N_k.  If that overflows the buffer, a timeout and slow start follow, and the
next state is seen after 3 + L_ss slots; else after one.  The throughput is mean reward over mean
time between such states, eq. (3); the reward counts ACKs.

Two readings of section VIII:

printed
    The algebra as it stands, with max(0, .) for the printed min(0, .) in b_start and b'.
reproducing
    What gives the published numbers of Table I, within 2 %:
    * the window grows by 1 / (2 W) for each ACK, as with delayed ACKs, not 1 / W;
    * packets are followed one by one through the slot, not by the formula of a_eff;
    * what the link sends while the source waits for its window to shrink is taken off twice, so
      that the window falls short of W^rate by as much;
    * the packets ahead of a lost one are those sent in the slot, without the B_max queued ones;
    * L_ss is whole mini-cycles F, not rounded up to whole slots.
    It was found by trying combinations against Table I.  The agreement speaks for the package,
    not for each item.

Misprints, and what is left open:

* p_n = 1 - exp(-mu / n): the text calls mu the mean size, the formula needs its inverse.
* lambda is a probability for each slot; that of Table I is for each second, lambda Delta here.
* b_start and b' are printed with min(0, .): nothing would ever be queued.
* The probability of growth "equals W": 1 / W, as eq. (6) has it.
* A mini-cycle is F in one place and T in another.
* Cases 1 and 2 have d < h and d > h; d = h is Case 1 here.  There is no growth in either.
* h R_k / R_{k-1} packets are served in the idle phase: whole ones, rounded down.
* D_before_loss has no formula: D_k^e, the packets that the link sends until the last ACK, and
  (printed) the full buffer.
* For TCP, ssthresh is not given: half of the window at the loss, growth included.
* The power L_ss of P_M in eq. (11) must be whole: the nearest.
* After a loss within slow start, ssthresh is at most half: exactly half, and another 3 slots.
* Recovery begins 3 slots after a loss, whatever waits in the buffer: with a buffer of many
  bandwidth-delay products, "printed" counts some percent more than the link can carry.
* Table I, TCP at 0.2 (57.27) repeats the number of RATCP: 54.6 here.  RATCP with beta = 4 at 2.0
  (27.67) is above the mean fair rate, 27.18.  RATCP at 0.0 (99.60, 99.68) does not follow: with
  beta = 4 there is always a packet in the buffer, and the link is never idle.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.sparse.linalg import splu
from scipy.stats import binom

from wale_lab.models import sessions

PROTOCOLS = ("ratcp", "tcp")

#: Slots from the begin of a slot with a loss to the recovery (section III-C).
LOSS_SLOTS = 3

#: Growth of the window that is less probable than this is left out.
NEGLIGIBLE = 1e-15

#: Largest |pi P - pi| that is a solution.
RESIDUAL = 1e-9

#: Packets in a round trip and the buffer, and states that they lead to: more take minutes.
MAX_PACKETS = 3_000
MAX_STATES = 30_000


def _whole(value: float) -> int:
    """Round down; a value that is whole but for the rounding of floats stays."""
    return math.floor(value * (1 + 1e-12))


@dataclass(frozen=True)
class Link:
    """A bottleneck link and who shares it; the defaults are section V-A's.

    Raises ValueError if the values are out of range or do not make a chain of sessions.
    """

    rate_Bps: float = 100_000
    packet_bytes: int = 500
    round_trip_s: float = 0.1
    """Delta: fixed, without queueing and service"""
    buffer_packets: int = 10
    """B_max, the packet in service included"""
    mean_session_bytes: float = 200_000
    max_sessions: int = 3
    """M_max"""
    arrival_per_s: float = 0.0
    """of ephemeral sessions"""

    def __post_init__(self) -> None:
        for name in ("rate_Bps", "packet_bytes", "round_trip_s", "mean_session_bytes"):
            value = getattr(self, name)
            if not (_is_number(value) and value > 0):
                raise ValueError(f"{name}: expected a number above 0, got {value!r}")
        for name, least, most in (("buffer_packets", 1, 2**31), ("max_sessions", 0, 63)):
            value = getattr(self, name)
            if not (_is_whole(value) and least <= value <= most):
                raise ValueError(f"{name}: expected {least} to {most}, got {value!r}")
        if not (_is_number(self.arrival_per_s) and self.arrival_per_s >= 0):
            raise ValueError(
                f"arrival_per_s: expected a number from 0 on, got {self.arrival_per_s!r}"
            )
        if _whole(self.pipe(self.max_sessions)) < 1:
            raise ValueError(
                "rate_Bps, round_trip_s, packet_bytes and max_sessions: expected room for a packet "
                "of each session in a round trip, "
                f"got {self.pipe(0):.3g} packets for {self.max_sessions + 1} sessions"
            )
        if not _is_law(self.chain):
            raise ValueError(
                "arrival_per_s, mean_session_bytes and round_trip_s: expected sessions that come "
                f"and go less than once in a round trip of {self.round_trip_s:g} s, got "
                f"{self.arrival_per_s:g}/s of mean size {self.mean_session_bytes:g} bytes, "
                f"at most {self.max_sessions}"
            )

    @cached_property
    def chain(self) -> sessions.Parameters:
        """The chain of ephemeral sessions, section III-A, in steps of Delta."""
        mean = self.mean_session_bytes / (self.rate_Bps * self.round_trip_s)
        return sessions.Parameters(
            arrival=round(self.arrival_per_s * self.round_trip_s * sessions.TWO32),
            mean=round(mean * sessions.TWO32),
            maximum=self.max_sessions,
            step_ns=round(self.round_trip_s * 1e9),
        )

    @cached_property
    def law(self) -> NDArray[np.float64]:
        """P_M, the transition matrix of the number of ephemeral sessions."""
        return np.asarray(sessions.transition_matrix(self.chain))

    def pipe(self, m: int) -> float:
        """Delta C / (m + 1): the bandwidth-delay product beside m sessions, nu, in packets."""
        return self.rate_Bps * self.round_trip_s / self.packet_bytes / (m + 1)


def _is_whole(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _is_law(chain: sessions.Parameters) -> bool:
    """Tell whether P_M is a matrix of probabilities."""
    return chain.arrival <= sessions.TWO32 and chain.mean > 0 and chain.is_valid()


def _is_number(value: object) -> bool:
    return _is_whole(value) or (isinstance(value, float) and math.isfinite(value))


@dataclass(frozen=True)
class Analysis:
    """What the analysis says of a session."""

    throughput_Bps: float
    """gamma of eq. (3), in bytes/s"""
    mean_fair_rate_Bps: float
    """stationary mean of C / (M + 1)"""
    efficiency: float
    """throughput over mean fair rate"""
    loss_probability_per_slot: float
    """that a slot in which the window is open, not in recovery, ends with a loss"""
    losses_per_s: float
    """recoveries by timeout"""
    states: int
    """of the chain"""
    residual: float
    """largest |pi P - pi|"""


class State(NamedTuple):
    """X_k at the begin of a slot; W_k^rate follows from M_{k-1} by eq. (1)."""

    buffer: int  # B_k
    delay: int  # D_k
    window: int  # W_k^cong
    before: int  # M_{k-1}
    now: int  # M_k


class Slot(NamedTuple):
    """What a slot with new packets leads to, for each growth eta of the window."""

    lost: NDArray[np.bool_]
    buffer: NDArray[np.int64]
    delay: NDArray[np.int64]


class SlowStartPoint(NamedTuple):
    """Window and buffer just after an ACK in slow start."""

    mini_cycle: float  # time in mini-cycles F = Delta + 1 / R from the first packet on
    window: int
    buffer: int  # packets, the one in service included


def slow_start_evolution(
    bandwidth_delay_packets: float, buffer_packets: int, ssthresh: int
) -> list[SlowStartPoint]:
    """Follow slow start from a window of 1, as Fig. 16 draws it, ACK by ACK.

    It ends when the window is ssthresh, or with the first loss: then the last point's buffer is
    buffer_packets + 1.  The closed forms of section VIII hold where buffer and ssthresh allow:
    the pipe is full in mini-cycle J = ceil(log2(nu + 1)), within which the buffer rises to
    2^(J-1) + 1; at (J + 1) F the window is 2^J + 1 and the buffer 2^J - nu + 1 (for a whole nu);
    from then on each mini-cycle adds nu + 1 to both.

    Raises ValueError if an argument is not positive.
    """
    nu = bandwidth_delay_packets
    if not 0 < nu < math.inf or buffer_packets < 1 or ssthresh < 1:
        raise ValueError(
            "expected a bandwidth-delay product above 0, a buffer and ssthresh from 1 on, got "
            f"{nu!r}, {buffer_packets!r}, {ssthresh!r}"
        )
    departures = deque([1.0])  # of packets in the buffer; a packet is served in 1
    acks = deque([1.0 + nu])
    free = 1.0  # when the server has done all that was sent
    points = [SlowStartPoint(0.0, 1, 1)]
    while points[-1].window < ssthresh and points[-1].buffer <= buffer_packets:
        time = acks.popleft()
        while departures and departures[0] <= time * (1 + 1e-12):
            departures.popleft()
        for _ in range(2):
            free = max(free, time) + 1
            departures.append(free)
            acks.append(free + nu)
        points.append(SlowStartPoint(time / (nu + 1), points[-1].window + 1, len(departures)))
    return points


class Recovery(NamedTuple):
    """What a slow start leads to."""

    slots: float  # L_ss
    packets: int  # D_slow_start
    buffer: int  # b_ss
    delay: int  # d_ss


def _recover(link: Link, reading: Reading, m: int, ssthresh: int) -> Recovery:
    """Return slow start beside m sessions (section VIII): window - 1 ACKs in whole mini-cycles.

    While the pipe is not full, these are ceil(log2(ssthresh)).
    """
    nu = link.pipe(m)
    last = slow_start_evolution(nu, link.buffer_packets, ssthresh)[-1]
    slots = reading.slots(math.floor(last.mini_cycle + 1e-9) * (1 + 1 / nu))
    delay = min(ssthresh, _whole(nu))
    if last.buffer <= link.buffer_packets and ssthresh - delay <= link.buffer_packets:
        return Recovery(slots, ssthresh - 1, ssthresh - delay, delay)
    again = _recover(link, reading, m, ssthresh // 2)
    return again._replace(
        slots=slots + LOSS_SLOTS + again.slots, packets=last.window - 1 + again.packets
    )


def _served_while(acks: int, state: State) -> int:
    """Return what a busy link sends while so many ACKs come: floor(acks R_k / R_{k-1})."""
    return acks * (state.before + 1) // (state.now + 1)


def _slot_by_formula(link: Link, state: State, h: int, eta: NDArray[np.int64]) -> Slot:
    """Return the next states of Cases 2 and 3 by eqs. (7) and (9)."""
    e = state.delay - h
    b_start = max(0, state.buffer - _served_while(h, state))
    # eq. (7)
    threshold = max(-1, link.buffer_packets - (b_start + e - _served_while(e, state)))
    # (Delta - h / R_{k-1}) R_k
    capacity = _whole(link.pipe(state.now) - h * (state.before + 1) / (state.now + 1))
    a = _whole(link.pipe(state.now))
    sent = state.buffer - b_start + np.minimum(b_start + e + eta, capacity)
    # eq. (9); max for the printed min
    return Slot(
        lost=eta > threshold,
        buffer=np.maximum(0, b_start + e + eta - capacity),
        delay=np.minimum(a, sent),
    )


def _arrivals(state: State, h: int, eta: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return when packets come to the link, in 1 / C from the begin of the slot.

    A row for each growth eta; its extra packets are spread over the effective ACKs.  What is in
    the buffer came at 0.  Rows end with infinity, for packets that there are not.
    """
    e = state.delay - h
    grown = eta[:, None]
    i = np.arange(1, int(eta.max()) + 1)
    extra = np.where(i <= grown, np.ceil(e * i / (grown + 1)), np.inf)
    usual = np.broadcast_to(np.arange(1, e + 1), (len(eta), e))
    acks = np.sort(np.hstack([usual, extra]), axis=1)
    return np.hstack([np.zeros((len(eta), state.buffer)), (h + acks) * (state.before + 1)])


def _slot_by_packets(link: Link, state: State, h: int, eta: NDArray[np.int64]) -> Slot:
    """Return the next states of Cases 2 and 3 with each packet followed through the slot.

    ACKs come at j / R_{k-1}, a service takes 1 / R_k, and none straddles the end of the slot.
    """
    e = state.delay - h
    service = state.now + 1  # in 1 / C
    arrivals = _arrivals(state, h, eta)
    index = np.arange(arrivals.shape[1])
    # c_i = max(c_{i-1}, arrival_i) + service, for all i at once
    completions = np.maximum.accumulate(arrivals - index * service, axis=1) + (index + 1) * service
    sent = (completions <= link.pipe(0) * (1 + 1e-12)).sum(axis=1)
    # a packet finds the buffer full if the one that is B_max before it is still there
    room = link.buffer_packets
    lost = np.logical_or.reduce(completions[:, :-room] > arrivals[:, room:], axis=1)
    b_start = max(0, state.buffer - _served_while(h, state))
    left = b_start + e + eta - sent
    return Slot(lost=lost, buffer=np.maximum(0, left), delay=sent)


@dataclass(frozen=True)
class Reading:
    """What the two readings of section VIII differ in."""

    growth: float
    """times 1 / W is the probability that an ACK opens the window"""
    slot: Callable[[Link, State, int, NDArray[np.int64]], Slot]
    """the next states, if h ACKs are not effective"""
    queue_before_loss: bool
    """D_before_loss has the full buffer too"""
    slots: Callable[[float], float]
    """L_ss from the length of slow start"""


READINGS = {
    "printed": Reading(1.0, _slot_by_formula, True, lambda length: math.ceil(length - 1e-9)),
    "reproducing": Reading(0.5, _slot_by_packets, False, lambda length: length),
}


@lru_cache(maxsize=4096)
def _growth_law(acks: int, probability: float) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Return the possible values of N_k and their probabilities, eq. (6)."""
    law = binom.pmf(np.arange(acks + 1), acks, probability)
    eta = np.flatnonzero(law > NEGLIGIBLE)
    return eta, law[eta]


class _Open(NamedTuple):
    """After a slot without a loss: the next state but for M_{k+1}."""

    buffer: int
    delay: int
    window: int
    now: int


class _Lost(NamedTuple):
    """After a slot with a loss: M_k, and TCP's ssthresh (RATCP's is W^rate: 0)."""

    now: int
    ssthresh: int


class _Outcome(NamedTuple):
    """What can happen in one slot, from one state."""

    ways: list[tuple[float, _Open | _Lost]]
    reward: float  # mean ACKs in the slot, and packets ahead of a lost one
    p_loss: float  # eq. (8)


class _After(NamedTuple):
    """The law of the next state, the time until it and the reward beside the slot's ACKs."""

    law: list[tuple[float, State]]
    slots: float
    reward: float


@dataclass
class _Process:
    """The Markov renewal process of one session (Proposition 3.1)."""

    link: Link
    rate_window: Callable[[int], int] | None
    """W^rate for the M of a slot before, eq. (1); none: TCP"""
    reading: Reading

    def outcome(self, state: State) -> _Outcome:
        """Return one slot: the cases of section III-C."""
        flying = state.buffer + state.delay
        window = flying
        if self.rate_window:
            window = min(state.window, self.rate_window(state.before))  # eq. (2)
        h = flying - window
        if h and state.delay <= h:
            return _Outcome([(1.0, self._case_1(state, window))], state.delay, 0.0)
        return self._cases_2_and_3(state, window, h)

    def _case_1(self, state: State, window: int) -> _Open:
        """Return where an idle source leads to, eq. (4)."""
        a = _whole(self.link.pipe(state.now))
        buffer = state.buffer
        return _Open(max(0, buffer - a), min(buffer, a), window, state.now)

    def _cases_2_and_3(self, state: State, window: int, h: int) -> _Outcome:
        e = state.delay - h
        eta, law = _growth_law(e, self.reading.growth / window)
        slot = self.reading.slot(self.link, state, h, eta)
        ways: list[tuple[float, _Open | _Lost]] = []
        chances = zip(law, eta, slot.lost, slot.buffer, slot.delay, strict=True)
        for chance, growth, lost, buffer, delay in chances:
            way: _Open | _Lost = _Open(int(buffer), int(delay), int(buffer + delay), state.now)
            if lost:
                half = 0 if self.rate_window else max(2, (window + int(growth)) // 2)
                way = _Lost(state.now, half)
            ways.append((float(chance), way))
        p_loss = float(law[slot.lost].sum())  # eq. (8)
        ahead = _served_while(e, state)
        if self.reading.queue_before_loss:
            ahead += self.link.buffer_packets
        return _Outcome(ways, state.delay + p_loss * ahead, p_loss)

    def after(self, way: _Open | _Lost) -> _After:
        """Return the next states."""
        if isinstance(way, _Lost):
            return self._after_loss(way)
        chances = self.link.law[way.now]
        law = [(float(p), State(*way, m)) for m, p in enumerate(chances) if p > 0]  # eqs. (4), (9)
        return _After(law, 1.0, 0.0)  # eqs. (5), (10)

    def _after_loss(self, way: _Lost) -> _After:
        """Return eqs. (11), (12): ssthresh is W^rate_{k+3}, the rate in slow start R_{k+3}."""
        law: list[tuple[float, State]] = []
        slots = reward = 0.0
        # Q^3: M_{k+2} makes the rate window, M_{k+3} the rate
        twice = np.linalg.matrix_power(self.link.law, 2)[way.now]
        for before, now in np.argwhere(twice[:, None] * self.link.law > 0):
            chance = float(twice[before] * self.link.law[before, now])
            ssthresh = self.rate_window(before) if self.rate_window else way.ssthresh
            found = _recover(self.link, self.reading, int(now), ssthresh)
            slots += chance * (LOSS_SLOTS + found.slots)
            reward += chance * found.packets
            later = np.linalg.matrix_power(self.link.law, math.floor(found.slots + 0.5))[now]
            window = found.buffer + found.delay
            law += [
                (chance * float(p), State(found.buffer, found.delay, window, int(now), m))
                for m, p in enumerate(later)
                if p > 0
            ]
        return _After(law, slots, reward)


class _Table:
    """Probabilities from rows to columns; both get their numbers as they are met."""

    def __init__(self) -> None:
        self.rows: list[int] = []
        self.columns: list[int] = []
        self.values: list[float] = []

    def add(self, row: int, column: int, value: float) -> None:
        self.rows.append(row)
        self.columns.append(column)
        self.values.append(value)

    def matrix(self, rows: int, columns: int) -> Any:
        entries = (self.values, (self.rows, self.columns))
        return sparse.csr_array(entries, shape=(rows, columns))


class _Explored(NamedTuple):
    """The process on all states that it reaches, as vectors by state."""

    matrix: Any  # of the embedded chain
    reward: NDArray[np.float64]  # E V, packets
    slots: NDArray[np.float64]  # E U, slots
    p_loss: NDArray[np.float64]


def _explore(process: _Process) -> _Explored:
    """Follow the process from an open pipe on, state by state."""
    full = _whole(process.link.pipe(0))
    states = {State(0, full, full, 0, 0): 0}
    ways: dict[_Open | _Lost, int] = {}
    first, second = _Table(), _Table()
    reward, p_loss = [], []
    after_reward, after_slots = [], []
    queue = deque(states)
    while queue:
        state = queue.popleft()
        outcome = process.outcome(state)
        reward.append(outcome.reward)
        p_loss.append(outcome.p_loss)
        for chance, way in outcome.ways:
            if way not in ways:
                ways[way] = len(ways)
                after = process.after(way)
                after_reward.append(after.reward)
                after_slots.append(after.slots)
                for share, following in after.law:
                    if following not in states:
                        states[following] = len(states)
                        queue.append(following)
                    second.add(ways[way], states[following], share)
            first.add(states[state], ways[way], chance)
        if len(states) > MAX_STATES:
            raise ValueError(
                f"buffer_packets and max_sessions: expected at most {MAX_STATES} states of the "
                "link: fewer packets in a round trip and the buffer, or fewer sessions"
            )
    to_way = first.matrix(len(states), len(ways))
    return _Explored(
        matrix=to_way @ second.matrix(len(ways), len(states)),
        reward=np.array(reward) + to_way @ np.array(after_reward),
        slots=to_way @ np.array(after_slots),
        p_loss=np.array(p_loss),
    )


def _stationary(matrix: Any) -> tuple[NDArray[np.float64], float]:
    """Return pi with pi P = pi, and the residual; ArithmeticError if there is none.

    The equations are solved for pi / pi_r, where r is a state that is seen often.
    """
    size = matrix.shape[0]
    transposed = matrix.T.tocsc()
    guess = np.full(size, 1 / size)
    for _ in range(1000):
        guess = transposed @ guess
    r = int(guess.argmax())
    others = np.flatnonzero(np.arange(size) != r)
    pi = np.ones(size)
    if size > 1:
        system = sparse.eye_array(size - 1, format="csc") - transposed[others][:, others]
        try:
            factors = splu(system.tocsc())
        except RuntimeError as error:
            raise ArithmeticError(f"no stationary law: {error}") from None
        pi[others] = factors.solve(transposed[others][:, [r]].toarray().ravel())
    pi /= pi.sum()
    residual = float(np.abs(transposed @ pi - pi).max())
    if not residual < RESIDUAL or pi.min() < -RESIDUAL:
        raise ArithmeticError(f"no stationary law: residual {residual:.3g}")
    return pi, residual


def mean_fair_rate_Bps(link: Link) -> float:
    """Return the stationary mean of C / (M + 1) in bytes/s (section V-A)."""
    return link.rate_Bps * sessions.mean_share(link.chain)


@lru_cache(maxsize=1024, typed=True)
def analyse(
    link: Link, protocol: str = "ratcp", beta: int = 1, reading: str = "reproducing"
) -> Analysis:
    """Analyse a persistent session on the link; beta (packets) is RATCP's alone.

    Raises ValueError if a name or a number is none that there is, ArithmeticError if the chain
    cannot be solved.
    """
    if protocol not in PROTOCOLS:
        raise ValueError(f"protocol: expected {' or '.join(PROTOCOLS)}, got {protocol!r}")
    if reading not in READINGS:
        raise ValueError(f"reading: expected {' or '.join(READINGS)}, got {reading!r}")
    if not (_is_whole(beta) and beta >= 0):
        raise ValueError(f"beta: expected a number of packets from 0 on, got {beta!r}")

    if link.pipe(0) + link.buffer_packets > MAX_PACKETS:
        raise ValueError(
            "rate_Bps, round_trip_s, packet_bytes and buffer_packets: expected at most "
            f"{MAX_PACKETS} packets in a round trip and the buffer, "
            f"got {link.pipe(0) + link.buffer_packets:.0f}"
        )

    def rate_window(m: int) -> int:
        return _whole(link.pipe(m)) + beta  # eq. (1)

    process = _Process(link, rate_window if protocol == "ratcp" else None, READINGS[reading])
    found = _explore(process)
    pi, residual = _stationary(found.matrix)
    slots = pi @ found.slots
    throughput = link.packet_bytes * (pi @ found.reward) / (slots * link.round_trip_s)  # eq. (3)
    fair = mean_fair_rate_Bps(link)
    p_loss = float(pi @ found.p_loss)
    return Analysis(
        throughput_Bps=float(throughput),
        mean_fair_rate_Bps=fair,
        efficiency=float(throughput) / fair,
        loss_probability_per_slot=p_loss,
        losses_per_s=p_loss / (float(slots) * link.round_trip_s),
        states=len(pi),
        residual=residual,
    )


def throughput_kBps(
    protocol: str,
    arrival_per_s: float,
    beta: int = 1,
    reading: str = "reproducing",
    **link: Any,
) -> float:
    """Return the throughput in kB/s (1 kB = 1000 bytes); `link` as in Link."""
    path = Link(arrival_per_s=arrival_per_s, **link)
    return analyse(path, protocol, beta, reading).throughput_Bps / 1e3


def study_value(
    measure: str,
    arrival_per_s: float,
    protocol: str = "ratcp",
    beta: int = 1,
    reading: str = "reproducing",
    **link: Any,
) -> float:
    """Return what a study measures (results/measures.py), computed; else ValueError."""
    found = analyse(Link(arrival_per_s=arrival_per_s, **link), protocol, beta, reading)
    values = {
        "throughput_kBps": found.throughput_Bps / 1e3,
        "adjusted_throughput_kBps": found.throughput_Bps / 1e3,
        "mean_fair_rate_kBps": found.mean_fair_rate_Bps / 1e3,
        "efficiency": found.efficiency,
    }
    if measure not in values:
        raise ValueError(f"measure: expected one of {', '.join(values)}, got {measure!r}")
    return values[measure]
