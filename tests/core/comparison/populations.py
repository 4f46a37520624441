"""Populations of pairs with a known true difference, distributed like search metrics.

Each draws `repetitions` samples of `n` pairs and returns (base, candidate), both of shape
(repetitions, n); `shift` is the true difference of the means, candidate - base.
"""

from __future__ import annotations

import numpy as np

NONE_FOUND = 0.6  # share of conversations in which neither arm can find anything
RESULTS = 10
PRECISION = 2 / 7  # the mean of Beta(2, 5), for conversations in which something can be found
SPREAD = 1.0  # of the logarithm of a gain
SAME_ANSWER = 0.8  # share of conversations with the same answer in both arms


def normal(generator, repetitions, n, shift=0.0, correlation=0.7):
    """Normal values of standard deviation 1: what the t-test assumes."""
    shared, own, other = generator.normal(size=(3, repetitions, n))
    common = np.sqrt(correlation) * shared
    rest = np.sqrt(1 - correlation)
    return common + rest * own, common + rest * other + shift


def precisions(generator, repetitions, n, shift=0.0):
    """Precision at 10 with a shared difficulty: many zeros, and ties on 11 values."""
    possible = generator.random((repetitions, n)) >= NONE_FOUND
    difficulty = generator.beta(2, 5, (repetitions, n)) * possible
    better = 1 + shift / ((1 - NONE_FOUND) * PRECISION)
    base = generator.binomial(RESULTS, difficulty) / RESULTS
    candidate = generator.binomial(RESULTS, np.minimum(difficulty * better, 1)) / RESULTS
    return base, candidate


def gains(generator, repetitions, n, shift=0.0):
    """Cumulated gains: 60 % zeros, the rest lognormal with a long tail, half of it shared."""
    possible = generator.random((repetitions, n)) >= NONE_FOUND
    shared, own, other = generator.normal(size=(3, repetitions, n)) * SPREAD * np.sqrt(0.5)
    mean = (1 - NONE_FOUND) * np.exp(SPREAD**2 / 2)
    base = np.exp(shared + own) * possible
    return base, np.exp(shared + other) * possible * (1 + shift / mean)


def rare_changes(generator, repetitions, n, shift=0.0):
    """Both arms mostly answer alike; otherwise the candidate wins or loses one result of ten."""
    base = generator.integers(0, RESULTS, (repetitions, n)) / RESULTS
    balance = 0.5 + shift * RESULTS / (1 - SAME_ANSWER) / 2
    step = np.where(generator.random((repetitions, n)) < balance, 1, -1) / RESULTS
    return base, base + step * (generator.random((repetitions, n)) >= SAME_ANSWER)


def doubling(generator, repetitions, n, shift=0.0):
    """The candidate's gains are a multiple of the base's: differences are as skewed as gains."""
    base = gains(generator, repetitions, n)[0]
    mean = (1 - NONE_FOUND) * np.exp(SPREAD**2 / 2)
    return base, base * (1 + shift / mean)
