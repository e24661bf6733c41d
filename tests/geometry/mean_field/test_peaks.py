"""Peaks of densities with a known number of them, and the noisy start."""

import numpy as np
import pytest

from circle_masses import masses_of
from lengthwise.errors import UsageError
from lengthwise.geometry.mean_field import cell_angles, circle, noisy, peaks, sphere


@pytest.mark.parametrize("crests", [1, 2, 5])
def test_crests_on_the_circle_also_across_the_cut(crests):
    for shift in (0.0, 1.0):
        wave = np.exp(4 * np.cos(crests * (cell_angles(200) - shift)))
        assert peaks(circle(200), masses_of(200, wave)) == crests


def test_no_peak_in_a_gentle_wave_and_one_in_a_point():
    ring = circle(100)
    assert peaks(ring, masses_of(100, 1 + 0.9 * np.cos(cell_angles(100)))) == 0
    assert peaks(ring, np.eye(100)[3]) == 1
    assert peaks(ring, (np.eye(100)[3] + np.eye(100)[5]) / 2) == 2
    assert peaks(ring, (np.eye(100)[3] + np.eye(100)[4]) / 2) == 1


def test_peaks_on_the_sphere():
    mesh = sphere(2)
    axes = np.exp(20 * np.abs(mesh.centres).max(1)) * mesh.areas
    assert peaks(mesh, axes / axes.sum()) == 6
    poles = np.exp(9 * np.abs(mesh.centres[:, 2])) * mesh.areas
    assert peaks(mesh, poles / poles.sum()) == 2


def test_noise_is_small_and_reproducible():
    mesh = sphere(2)
    masses = noisy(mesh, 0.01, 3)
    assert masses.sum() == pytest.approx(1) and masses.min() > 0
    assert 0.008 < (masses / mesh.uniform()).std() < 0.012
    assert np.array_equal(masses, noisy(mesh, 0.01, 3)) and not np.array_equal(masses, noisy(mesh, 0.01, 4))
    for wrong in (0.0, 0.5, np.nan):
        with pytest.raises(UsageError, match="noise"):
            noisy(mesh, wrong, 0)
    with pytest.raises(UsageError, match="162 cells"):
        peaks(mesh, np.ones(5))
