"""Poker hands, labelled by the rules: a data set that is always available, in any size.

UCI's "Poker Hand" (Cattral, Oppacher 2002) is a deterministic function of five cards, so it can be
drawn again: suits 1..4, ranks 1..13 with the ace as 1, the classes

    0 nothing        1 one pair      2 two pairs         3 three of a kind    4 straight
    5 flush          6 full house    7 four of a kind    8 straight flush     9 royal flush

Li's experiments use 25 columns, which can only be the rank and four bits for the suit of each card.
UCI's training part has 25 010 hands with five each of the two rarest classes, which 25 000 hands
would hardly contain: 25 000 drawn evenly and these ten. The test hands are drawn evenly.
"""

from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from ._data import Split

SUITS, RANKS, CARDS = 4, 13, 5
TRAIN_ROWS, TEST_ROWS, RARE_ROWS = 25_000, 1_000_000, 5
STRAIGHT_FLUSH, ROYAL_FLUSH = 8, 9
Hands = NDArray[np.int64]  # (n, 5): cards 0..51, the suit is card // 13, the rank card % 13 + 1

# The number of pairs of equal rank determines the hand: two pairs have two, a full house 3 + 1, #
# four of a kind six.
_BY_TWINS = np.array([0, 1, 2, 3, 6, 0, 7])


def labels(hands: Hands) -> NDArray[np.int64]:
    """The class of each hand, for any order of its cards."""
    suit, rank = np.divmod(hands.T.astype(np.int8), RANKS)  # (5, n)
    twins = sum((a == b).astype(np.int8) for a, b in combinations(rank, 2))
    low, high = rank.min(axis=0), rank.max(axis=0)
    # Ranks 0 (the ace) and 12 with a sum of 42 leave 9, 10 and 11 to the other three.
    broadway = (low == 0) & (high == 12) & (rank.sum(axis=0) == 42) & (twins == 0)
    straight = broadway | ((twins == 0) & (high - low == 4))
    flush = (suit == suit[0]).all(axis=0)
    found: NDArray[np.int64] = _BY_TWINS[twins]
    for rule, label in (
        (straight, 4),
        (flush, 5),
        (straight & flush, STRAIGHT_FLUSH),
        (broadway & flush, ROYAL_FLUSH),
    ):
        found[rule] = label
    return found


def all_hands() -> Hands:
    """All 2 598 960 hands, cards in ascending order."""
    hands = np.empty((1, 0), dtype=np.int64)
    last = np.array([-1])
    for _ in range(CARDS):  # every hand so far, with every higher card
        room = SUITS * RANKS - 1 - last
        step = np.arange(room.sum()) - np.repeat(room.cumsum() - room, room)
        hands = np.column_stack([np.repeat(hands, room, axis=0), np.repeat(last, room) + 1 + step])
        last = hands[:, -1]
    return hands


def draw(n: int, rng: np.random.Generator) -> Hands:
    """n hands, all orders of five different cards being equally likely."""
    hands = rng.integers(SUITS * RANKS, size=(n, CARDS))
    while len(again := np.flatnonzero(_has_twins(hands))):
        hands[again] = rng.integers(SUITS * RANKS, size=(len(again), CARDS))
    return hands


def _has_twins(hands: Hands) -> NDArray[np.bool_]:
    in_order = np.sort(hands, axis=1)
    return np.asarray((in_order[:, 1:] == in_order[:, :-1]).any(axis=1))


def draw_rare(label: int, n: int, rng: np.random.Generator) -> Hands:
    """n hands that are straight flushes or royal flushes, their cards in random order."""
    lowest = 9 if label == ROYAL_FLUSH else rng.integers(9, size=n)  # 10 J Q K A, or A..5 to 9..K
    rank = (np.reshape(lowest, (-1, 1)) + np.arange(CARDS)) % RANKS
    suit = rng.integers(SUITS, size=(n, 1))
    return rng.permuted(suit * RANKS + rank, axis=1)


def columns(hands: Hands) -> NDArray[np.float32]:
    """(n, 25): for each card its rank and four bits for its suit."""
    rank = (hands % RANKS + 1)[:, :, np.newaxis]
    suit = (hands // RANKS)[:, :, np.newaxis] == np.arange(SUITS)
    return np.concatenate([rank, suit], axis=2).reshape(len(hands), -1).astype(np.float32)


def split(seed: int, train_rows: int = TRAIN_ROWS, test_rows: int = TEST_ROWS) -> Split:
    """Training and test hands; training has all ten classes."""
    rng = np.random.default_rng(seed)
    rare = [draw_rare(label, RARE_ROWS, rng) for label in (STRAIGHT_FLUSH, ROYAL_FLUSH)]
    train = np.concatenate([draw(train_rows, rng), *rare])
    test = draw(test_rows, rng)
    return Split(columns(train), labels(train), columns(test), labels(test))
