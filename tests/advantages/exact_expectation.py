"""E_w[max over one or two answers of w . r] for w uniform on the simplex, exactly, in rational arithmetic.

For two answers max(w.a, w.b) = w.b + (w.d)^+ with d = a - b, and E[w.b] is the plain mean of b. The Hermite-Genocchi
formula says that the divided difference of f at d_1, ..., d_k is the integral over the simplex of the (k-1)-th
derivative of f at w.d; the simplex has the volume 1 / (k-1)!, so with f(x) = (x^+)^k / k!, whose (k-1)-th derivative
is x^+,

    E[(w.d)^+] = (k-1)! [d_1, ..., d_k] f = (1/k) [d_1, ..., d_k] (x^+)^k.

Equal knots take derivatives: the r-th divided difference of (x^+)^k at r + 1 equal x is C(k, r) (x^+)^(k-r).
"""

from __future__ import annotations

import math
from fractions import Fraction

Answer = list[float]


def expected_best(answers: list[Answer]) -> float:
    """Of one or two answers with k >= 1 real objectives each, alpha = 1."""
    exact = [[Fraction(value) for value in answer] for answer in answers]
    mean = sum(exact[-1]) / len(exact[-1])
    if len(exact) == 1:
        return float(mean)
    first, last = exact
    return float(mean + expected_positive_part([a - b for a, b in zip(first, last, strict=True)]))


def expected_positive_part(d: list[Fraction]) -> Fraction:
    """E[(w.d)^+], w uniform on the simplex."""
    k = len(d)
    knots = sorted(d)
    table = [max(x, Fraction(0)) ** k for x in knots]
    for r in range(1, k):  # the r-th differences: table[i] belongs to knots i ... i + r
        table = [
            (table[i + 1] - table[i]) / (knots[i + r] - knots[i])
            if knots[i + r] != knots[i]
            else math.comb(k, r) * max(knots[i], Fraction(0)) ** (k - r)
            for i in range(k - r)
        ]
    return table[0] / k
