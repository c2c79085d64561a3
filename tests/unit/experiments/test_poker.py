"""Poker hands: the labels against the known numbers of all hands, the draws against the rules."""

import numpy as np
import pytest

from edgewise.experiments import poker

# All hands of five cards by class; the numbers are in every book on the game.
KNOWN = [1302540, 1098240, 123552, 54912, 10200, 5108, 3744, 624, 36, 4]


def test_all_hands_are_labelled_right():
    hands = poker.all_hands()
    assert hands.shape == (2598960, 5)
    assert np.bincount(poker.labels(hands)).tolist() == KNOWN


RANKS = "A 2 3 4 5 6 7 8 9 10 J Q K".split()


def hand(text):
    """Cards by name: '10S' is the ten of spades."""
    return [13 * "HSDC".index(card[-1]) + RANKS.index(card[:-1]) for card in text.split()]


@pytest.mark.parametrize(
    ("cards", "label"),
    [
        ("2H 4S 6D 8C 10H", 0),
        ("KH QH JH 9H 8S", 0),
        ("QH KH AH 2H 3S", 0),  # a straight does not go round the ace
        ("2H 2S 6D 8C 10H", 1),
        ("2H 2S 6D 6C 10H", 2),
        ("2H 2S 2D 6C 10H", 3),
        ("AH 2S 3D 4C 5H", 4),
        ("10H JS QD KC AH", 4),
        ("2H 4H 6H 8H 10H", 5),
        ("2H 2S 2D 6C 6H", 6),
        ("2H 2S 2D 2C 6H", 7),
        ("AH 2H 3H 4H 5H", 8),
        ("9S 10S JS QS KS", 8),
        ("AD KD QD JD 10D", 9),
    ],
)
def test_label_of_a_hand_in_any_order(cards, label):
    given = np.array(hand(cards))
    orders = np.random.default_rng(0).permuted(np.tile(given, (20, 1)), axis=1)
    assert (poker.labels(orders) == label).all()


def test_no_hands_have_no_labels():
    assert poker.labels(np.empty((0, 5), dtype=np.int64)).shape == (0,)


def test_drawn_cards_differ_and_are_evenly_spread():
    hands = poker.draw(40_000, np.random.default_rng(1))
    in_order = np.sort(hands, axis=1)
    assert (in_order[:, 1:] > in_order[:, :-1]).all()
    counts = np.bincount(hands.ravel(), minlength=52)
    assert abs(counts / hands.size - 1 / 52).max() < 0.002  # six standard deviations
    found = np.bincount(poker.labels(hands), minlength=10) / len(hands)
    assert abs(found - np.array(KNOWN) / sum(KNOWN)).max() < 0.015


@pytest.mark.parametrize("label", [8, 9])
def test_rare_hands_are_what_they_should_be(label):
    hands = poker.draw_rare(label, 300, np.random.default_rng(2))
    assert (poker.labels(hands) == label).all()
    assert len(np.unique(np.sort(hands, axis=1), axis=0)) == {8: 36, 9: 4}[label]


def test_split_has_uci_s_sizes_and_all_classes_and_comes_again():
    drawn = poker.split(3, test_rows=1000)
    assert drawn.X_train.shape == (25_010, 25)
    assert drawn.X_test.shape == (1000, 25)
    assert np.unique(drawn.y_train).tolist() == list(range(10))
    again = poker.split(3, test_rows=1000)
    assert all((a == b).all() for a, b in zip(drawn, again, strict=True))
    assert (poker.split(4, test_rows=1000).X_test != drawn.X_test).any()


def test_columns_are_a_rank_and_four_bits_per_card():
    X = poker.columns(np.array([hand("AH KS 10D 2C 3H")])).reshape(5, 5)
    assert X[:, 0].tolist() == [1, 13, 10, 2, 3]
    assert X[:, 1:].argmax(axis=1).tolist() == [0, 1, 2, 3, 0]
    assert (X[:, 1:].sum(axis=1) == 1).all()
