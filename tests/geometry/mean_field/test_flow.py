"""A density that moves: mass, positivity, energy, orders, stationary states and growth against hand computations."""

import numpy as np
import pytest
from scipy.integrate import quad

from circle_masses import masses_of
from lengthwise.errors import UsageError
from lengthwise.geometry.mean_field import cell_angles, circle, fastest_degree, flow, growth_rate, sphere


def bumpy(cells: int) -> np.ndarray:
    angles = cell_angles(cells)
    return masses_of(cells, 1 + 0.5 * np.cos(angles) + 0.3 * np.sin(2 * angles))


def rough(cells: int, seed: int) -> np.ndarray:
    """Nothing smooth: many empty cells between very unequal ones."""
    generator = np.random.default_rng(seed)
    values = generator.exponential(size=cells) ** 3 * (generator.random(cells) < 0.5)
    values[0] += 1e-6
    return values / values.sum()


@pytest.mark.parametrize("seed", range(12))
def test_mass_positivity_and_energy_on_rough_starts(seed):
    kind = ("SA", "USA")[seed % 2]
    beta = (0.0, 0.5, 3.0, 9.0, 40.0, 6.0)[seed // 2]
    order = 1 + seed % 4 // 2
    scale = 1.0 if kind == "SA" else np.exp(-beta)
    path = flow(circle(60), rough(60, seed), kind, beta, np.linspace(0, 4 * scale, 80), order)
    assert np.abs(path.masses.sum(1) - 1).max() < 1e-12
    assert path.masses.min() >= 0
    assert np.diff(path.energy).min() > -1e-12 * np.abs(path.energy).max()
    assert path.energy[-1] > path.energy[0]


@pytest.mark.parametrize("kind", ["SA", "USA"])
def test_on_the_sphere_mass_positivity_and_energy(kind):
    mesh = sphere(2)
    path = flow(mesh, rough(len(mesh.areas), 7), kind, 3.0, np.linspace(0, 1, 30))
    assert np.abs(path.masses.sum(1) - 1).max() < 1e-12
    assert path.masses.min() >= 0
    assert np.diff(path.energy).min() > -1e-12
    assert path.energy[-1] > 1.1 * path.energy[0]


def error_against_fine(order: int, cells: int) -> float:
    fine = flow(circle(512), bumpy(512), "SA", 2.0, [0.5], order=2).masses[-1]
    coarse = flow(circle(cells), bumpy(cells), "SA", 2.0, [0.5], order).masses[-1]  # pyright: ignore
    return float(np.abs(coarse - fine.reshape(cells, -1).sum(1)).sum())


def test_orders_are_one_and_two():
    first = np.log2(error_against_fine(1, 32) / error_against_fine(1, 64))
    second = np.log2(error_against_fine(2, 32) / error_against_fine(2, 64))
    assert 0.85 < first < 1.3
    assert 1.6 < second < 2.4


def test_uniform_density_stays_on_the_circle_and_nearly_on_the_sphere():
    ring = circle(50)
    assert np.abs(flow(ring, ring.uniform(), "SA", 5.0, [20.0]).masses * 50 - 1).max() < 1e-6
    drift = []
    for level in (1, 2, 3):
        mesh = sphere(level)
        after = flow(mesh, mesh.uniform(), "SA", 4.0, [1.0]).masses[0]
        drift.append(np.abs(after / mesh.uniform() - 1).max())
    assert drift[0] > 1.7 * drift[1] > 1.7**2 * drift[2]
    assert drift[2] < 1e-3


def test_one_point_stays():
    masses = np.eye(40)[7]
    assert np.array_equal(flow(circle(40), masses, "SA", 3.0, [5.0]).masses[0], masses)


@pytest.mark.parametrize("beta", [0.0, 1.0, 4.0, 9.0])
@pytest.mark.parametrize("kind", ["SA", "USA"])
@pytest.mark.parametrize("degree", [1, 2, 3])
def test_first_waves_on_the_circle_grow_as_computed_by_hand(kind, beta, degree):
    """The rate is k^2 / beta times the k-th Fourier coefficient of e^(beta cos), here by numerical integration."""
    coefficient = quad(lambda u: np.exp(beta * np.cos(u)) * np.cos(degree * u), 0, np.pi)[0] / np.pi
    mean = quad(lambda u: np.exp(beta * np.cos(u)), 0, np.pi)[0] / np.pi
    by_hand = degree**2 * coefficient / beta / (mean if kind == "SA" else 1) if beta else 0.5 * (degree == 1)
    assert growth_rate(kind, beta, degree) == pytest.approx(by_hand, abs=1e-9)
    wave = np.cos(degree * cell_angles(300))
    time = 0.2 if kind == "SA" else 0.2 / mean
    path = flow(circle(300), masses_of(300, 1 + 1e-5 * wave), kind, beta, [0, time], order=2)
    amplitude = path.masses @ wave
    assert np.log(amplitude[1] / amplitude[0]) / time == pytest.approx(by_hand, rel=2e-3, abs=1e-4)


@pytest.mark.parametrize("kind", ["SA", "USA"])
@pytest.mark.parametrize(("beta", "d"), [(5e-324, 2), (1e-310, 3), (1e-50, 20), (0.0, 7), (1e-9, 400), (1e-3, 5000)])
def test_growth_at_small_beta_is_that_at_zero(kind, beta, d):
    """Where functions of Bessel and Gamma are no floats."""
    assert growth_rate(kind, beta, 1, d) == pytest.approx((d - 1) / d, rel=1e-5)
    assert growth_rate(kind, beta, 2, d) == pytest.approx(0.0, abs=1e-6) and fastest_degree(kind, beta, d) == 1


@pytest.mark.parametrize("degree", [1, 2])
def test_first_waves_on_the_sphere(degree):
    """Hand computation: c_l is half the integral of e^(beta z) P_l(z) over [-1, 1]; the mesh comes within 3 %."""
    legendre = np.polynomial.Legendre.basis(degree)
    coefficient = quad(lambda z: np.exp(4 * z) * legendre(z), -1, 1)[0] / 2
    by_hand = degree * (degree + 1) * coefficient / (4 * np.sinh(4) / 4)
    assert growth_rate("SA", 4.0, degree, d=3) == pytest.approx(by_hand, rel=1e-9)
    mesh = sphere(3)
    wave = legendre(mesh.centres[:, 2])
    masses = mesh.areas * (1 + 1e-2 * wave)
    path = flow(mesh, masses / masses.sum(), "SA", 4.0, [0, 0.1])
    still = flow(mesh, mesh.uniform(), "SA", 4.0, [0, 0.1])
    amplitude = (path.masses - still.masses) @ wave
    assert np.log(amplitude[1] / amplitude[0]) / 0.1 == pytest.approx(by_hand, rel=0.03)


def test_cells_of_the_sphere():
    mesh = sphere(2)
    assert len(mesh.areas) == 162
    assert mesh.areas.sum() == pytest.approx(4 * np.pi, rel=1e-12)
    assert len(mesh.first) == 3 * 162 - 6  # Euler's formula: every corner joins three faces
    middle = mesh.centres[mesh.first] + mesh.centres[mesh.second]
    assert np.linalg.norm(mesh.areas @ mesh.centres) < 1e-10
    assert np.all(np.linalg.norm(middle, axis=1) > 1.9)


def test_a_noisy_density_shows_about_as_many_clusters_as_its_fastest_wave_has_crests():
    degree = fastest_degree("SA", 9.0)
    assert growth_rate("SA", 9.0, degree) > max(growth_rate("SA", 9.0, k) for k in (degree - 1, degree + 1))
    noise = 1 + 1e-3 * np.random.default_rng(3).standard_normal(200)
    path = flow(circle(200), masses_of(200, noise), "SA", 9.0, [12.0], order=2)
    spectrum = np.abs(np.fft.rfft(path.masses[0]))[1:10]
    assert abs(1 + int(np.argmax(spectrum)) - degree) <= 1


def test_usage_errors():
    ring = circle(8)
    for arguments in [
        (ring, ring.uniform(), "XX", 1.0, [1.0], 1),
        (ring, ring.uniform(), "SA", -1.0, [1.0], 1),
        (ring, ring.uniform() * 2, "SA", 1.0, [1.0], 1),
        (ring, ring.uniform(), "SA", 1.0, [2.0, 1.0], 1),
        (sphere(1), sphere(1).uniform(), "SA", 1.0, [1.0], 2),
    ]:
        with pytest.raises(UsageError):
            flow(*arguments)
    with pytest.raises(UsageError):
        circle(3)
    with pytest.raises(UsageError):
        sphere(9)
