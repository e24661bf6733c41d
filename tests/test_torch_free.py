"""Settings, plans and listings do not import torch: what is not built does not need it."""

from __future__ import annotations

import subprocess
import sys

import pytest

pytestmark = pytest.mark.system  # a process each
WITHOUT_TORCH = {
    "architecture": "import lengthwise.models.architecture",
    "recipe": "import lengthwise.training.recipe",
    "plan": "from lengthwise.runs.plan import plan_for; plan_for('sort', 'learned+offset', {'depth': 4}).digest()",
    "grid": "from lengthwise.studies.grid import plans; from lengthwise.studies.spec import Study; "
    "plans(Study('x', ['sort', 'parity'], ['rope', 'fire+randomized'], model={'attention': 'sinkhorn'}))",
    "registries": "from lengthwise.models.attention import attentions; from lengthwise.models.forms import forms; "
    "from lengthwise.positions import positions; from lengthwise.training.lengths import schedules; "
    "[registry.maker(name)() for registry in (attentions, forms, positions, schedules) for name in registry.names()]",
    "prompts": "from lengthwise.prompts.rendering import make_rendering, prompts_of; "
    "from lengthwise.tasks import make_task; plain = make_rendering('plain'); "
    "plain.lenient(make_task('sort'), prompts_of(make_task('sort'), 5, [0], 0, plain, 2)[0][0].text())",
    "positions": "from lengthwise.cli import main; assert main(['positions']) == 0",
    "dry run": "from lengthwise.cli import main; assert main(['train', 'sort', '--depth', '4', '--dry-run']) == 0",
    "models": "from lengthwise.cli import main; assert main(['models']) == 0",
    "dry run of another model": "from lengthwise.cli import main; "
    "assert main(['train', 'parity', '--model', 'looped:position=rope', '--width', '32', '--dry-run']) == 0",
    "forecasts": "import lengthwise.forecasts.checkpoint, lengthwise.forecasts.unlabelled; "
    "from lengthwise.cli import main; assert main(['forecast', 'tomita_3', '--position', 'rope']) == 0",
    "advice": "from lengthwise.evidence import Atlas; from lengthwise.forecasts.advice import advise; "
    "advise('parity', atlas=Atlas(()))",
    "help": "from lengthwise.cli import main; assert main(['train', '--help']) == 0",
}


@pytest.mark.parametrize("what", WITHOUT_TORCH)
def test_torch_is_not_imported(what, tmp_path):
    code = f"import sys\n{WITHOUT_TORCH[what]}\nassert 'torch' not in sys.modules"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=tmp_path, timeout=120)
    assert done.returncode == 0, done.stderr
