"""Where the polynomial coefficients of src/rt/Math*.mica come from; needs mpmath. `coefficients.py` prints them with the errors reached,
`coefficients.py --check` also looks each up in the sources and ends with `N passed, N failed`.

Each is a weighted least squares fit on Chebyshev nodes, in 400 bits; a few rounds of reweighting by the error (Lawson) flatten it towards the
best possible. Then the coefficients are rounded to float64 from the lowest power on, and after each the rest are fitted again, so that
they make up for its rounding. The weight is the factor by which the polynomial's error enters the relative error of the function."""
import glob
import os
import re
import sys

import mpmath as m
from mpmath import mpf

m.mp.prec = 400
failed = passed = 0


def nodes(a, b, n):
    return [(a + b) / 2 - (b - a) / 2 * m.cos(m.pi * (2 * i + 1) / (2 * n)) for i in range(n)]


def least_squares(xs, values, weights, powers):
    rows = [[x ** p for p in powers] for x in xs]
    n = len(powers)
    left, right = m.matrix(n, n), m.matrix(n, 1)
    for i in range(n):
        for j in range(i, n):
            left[i, j] = left[j, i] = m.fsum(w * w * r[i] * r[j] for w, r in zip(weights, rows))
        right[i] = m.fsum(w * w * r[i] * v for w, r, v in zip(weights, rows, values))
    solution = m.lu_solve(left, right)
    return [solution[i] for i in range(n)]


def fit(name, f, a, b, degree, weight=lambda x: mpf(1), fixed=None, rounds=4, count=None):
    """Prints the coefficients of f on [a, b]. `fixed` gives some in advance."""
    a, b = mpf(a), mpf(b)
    chosen = dict(fixed or {})
    powers = [p for p in range(degree + 1) if p not in chosen]
    n = count or max(40, 4 * (degree + 1))
    xs = nodes(a, b, n)
    values = [f(x) for x in xs]
    weights = [weight(x) for x in xs]

    def residuals():
        return [v - m.fsum(c * x ** p for p, c in chosen.items()) for x, v in zip(xs, values)]

    emphasis = [mpf(1)] * n
    for _ in range(rounds):
        ws = [w * m.sqrt(e) for w, e in zip(weights, emphasis)]
        solution = least_squares(xs, residuals(), ws, powers)
        errors = [abs(w * (r - m.fsum(c * x ** p for c, p in zip(solution, powers)))) for w, r, x in zip(weights, residuals(), xs)]
        largest = max(errors)
        emphasis = [e * (error / largest + mpf('0.02')) for e, error in zip(emphasis, errors)]
    ws = [w * m.sqrt(e) for w, e in zip(weights, emphasis)]
    while powers:
        chosen[powers[0]] = mpf(float(least_squares(xs, residuals(), ws, powers)[0]))
        powers = powers[1:]
    grid = [a + (b - a) * i / 1000 for i in range(1, 1000)]
    error = max(abs(weight(x) * (f(x) - m.fsum(c * x ** p for p, c in chosen.items()))) for x in grid)
    print(f'{name}: error 2^{float(m.log(error, 2)):.2f}')
    for p in sorted(chosen):
        show(p, chosen[p], fixed and p in fixed)


def show(power, value, is_given):
    global passed, failed
    number = float(value)
    mark = ''
    if '--check' in sys.argv and not is_given:
        found = number in constants
        passed, failed = passed + found, failed + (not found)
        mark = '' if found else '   is not in the sources'
    print(f'  x^{power:<3} {number!r:>26} {number.hex():>26}{mark}')


def numbers_of_sources():
    folder = os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', '..', 'src', 'rt')
    found = set()
    for path in glob.glob(os.path.join(folder, 'Math*.mica')):
        with open(path, encoding='utf-8') as file:
            found |= {float(x) for x in re.findall(r'-?\d+\.\d+(?:e-?\d+)?', file.read())}
    return found


constants = numbers_of_sources()
half_ln2 = m.log(2) / 2 * mpf('1.0005')
quarter_pi_square = (m.pi / 4 * mpf('1.0001')) ** 2
log_reach = ((m.sqrt(2) - 1) / (m.sqrt(2) + 1)) ** 2 * mpf('1.0002')
two_by_root_pi = 2 / m.sqrt(m.pi)


def exp_part(skip):
    """(exp(r) - the first `skip` terms) / r^skip"""
    def f(r):
        if abs(r) < mpf('1e-20'):
            return 1 / m.factorial(skip)
        return (m.exp(r) - m.fsum(r ** i / m.factorial(i) for i in range(skip))) / r ** skip
    return f


def artanh_part(skip):
    """(2 artanh(s) / s - the first `skip` terms in z = s²) / z^skip"""
    def f(z):
        if z < mpf('1e-12'):
            return m.fsum(2 * z ** i / (2 * (i + skip) + 1) for i in range(4))
        s = m.sqrt(z)
        return (2 * m.atanh(s) / s - m.fsum(2 * z ** i / (2 * i + 1) for i in range(skip))) / z ** skip
    return f


def sin_part(z):
    r = m.sqrt(z)
    return (m.sin(r) - r) / (r * z) if z > mpf('1e-20') else -mpf(1) / 6 + z / 120


def cos_part(z):
    r = m.sqrt(z)
    return (m.cos(r) - 1 + z / 2) / (z * z) if z > mpf('1e-14') else mpf(1) / 24 - z / 720 + z * z / 40320


def erf_part(z):
    z = max(z, mpf('1e-14'))
    x = m.sqrt(z)
    return (m.erf(x) / x - two_by_root_pi) / z


def erfc_part(u):
    x = (2 + 3 * u) / (1 - u)
    return m.erfc(x) * m.exp(x * x)


# float32 (MathLanes)
fit('ExpTail: (exp(r) - 1 - r) / r²', exp_part(2), -half_ln2, half_ln2, 8, lambda r: r * r / m.exp(r))
fit('Expm1Tail: the same', exp_part(2), -half_ln2, half_ln2, 9, lambda r: abs(r) + mpf('0.02'), {0: mpf(1) / 2})
fit('LogSeries: (2 artanh(s) - 2 s) / s³ in s²', artanh_part(1), 0, log_reach, 6, lambda z: z / 2 + mpf('1e-4'))
fit('Erf below 1: (erf(x) / x - 2/sqrt(pi)) / x² in x²', erf_part, 0, 1, 10, lambda z: z + mpf('1e-3'))
fit('Erf from 1 to 4: erf(u + 5/2)', lambda u: m.erf(u + mpf('2.5')), -1.5, 1.5, 28, rounds=2, count=80)
fit('SinOf: (sin(r) - r) / r³ in r²', sin_part, 0, quarter_pi_square, 5, lambda z: z + mpf('1e-3'))
fit('CosOf: (cos(r) - 1 + r²/2) / r⁴ in r²', cos_part, 0, quarter_pi_square, 5, lambda z: z * z / m.cos(m.sqrt(z)) + mpf('1e-4'))
# float64 (MathPairs, Math64)
fit('ExpTail: (exp(r) - 1 - r - r²/2) / r³', exp_part(3), -half_ln2, half_ln2, 9, lambda r: abs(r) ** 3 + mpf('1e-3'))
fit('LogOf: (2 artanh(s)/s - 2 - 2/3 s² - 2/5 s⁴) / s⁶ in s²', artanh_part(3), 0, log_reach, 6, lambda z: z ** 3 / 2 + mpf('1e-7'))
fit('SinOf: (sin(r) - r) / r³ in r²', sin_part, 0, quarter_pi_square, 6, lambda z: z + mpf('1e-3'))
fit('CosOf: (cos(r) - 1 + r²/2) / r⁴ in r²', cos_part, 0, quarter_pi_square, 5, lambda z: z * z + mpf('1e-3'))
fit('Erf below 5/4: (erf(x) / x - 2/sqrt(pi)) / x² in x²', erf_part, 0, mpf('1.5625'), 13, lambda z: z + mpf('1e-3'), {0: -two_by_root_pi / 3})
fit('Erf from 5/4: erfc(x) exp(x²) in (x - 2) / (x + 3)', erfc_part, -mpf('0.75') / mpf('4.25'), mpf(4) / 9, 12,
    lambda u: m.exp(-((2 + 3 * u) / (1 - u)) ** 2), rounds=8)
if '--check' in sys.argv:
    print(f'{passed} passed, {failed} failed')
    sys.exit(failed != 0)
