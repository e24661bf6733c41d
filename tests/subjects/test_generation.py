"""Local completions are those of transformers' own greedy generation, prompt by prompt."""

from __future__ import annotations

import json

import pytest
import torch
import transformers

from lengthwise.errors import UsageError
from lengthwise.prompts.prompt import Prompt
from lengthwise.subjects import generation
from lengthwise.subjects.open import open_subject
from lengthwise.subjects.symbols import token_map
from lengthwise.subjects.tokenizer import chat_tokenizer
from lengthwise.tasks import tasks
from small_gguf import small_llama
from small_language_models import BEGIN, END, TEMPLATE, small_decoder

SHOTS = (("2 1", "1 2"), ("3 1 2", "1 2 3"))
PROMPTS = [Prompt("Sort the numbers.", SHOTS, " ".join("314159265358979"[: 1 + number % 9])) for number in range(14)]
KINDS = ("llama", "gpt2", "mistral", "qwen2", "gpt_neox", "gemma2", "bloom", "opt", "qwen3", "falcon")


@pytest.fixture(scope="module")
def decoder(tmp_path_factory):
    made = {}

    def make(kind, **settings):
        key = f"{kind} {settings}"
        if key not in made:
            made[key] = small_decoder(tmp_path_factory.mktemp("models") / kind, kind, **settings)
        return made[key]

    return make


@torch.inference_mode()
def reference(folder, prompts, chat, budget, **settings):
    """What `generate` of transformers writes to each prompt alone."""
    tokenizer = transformers.PreTrainedTokenizerFast.from_pretrained(folder)
    model = transformers.AutoModelForCausalLM.from_pretrained(folder, attn_implementation="eager", **settings).eval()
    found = []
    for prompt in prompts:
        if chat:
            tokens = tokenizer.apply_chat_template(
                prompt.messages(), add_generation_prompt=True, return_tensors="pt", return_dict=True
            )["input_ids"]
        else:
            tokens = tokenizer(prompt.text(), return_tensors="pt")["input_ids"]
        written = model.generate(
            tokens, attention_mask=torch.ones_like(tokens), do_sample=False, max_new_tokens=budget, pad_token_id=0
        )[0, tokens.shape[1] :]
        text = tokenizer.decode(written, skip_special_tokens=True)
        found.append((text, tokens.shape[1], len(written)))
    return found


def told(completions, prompts, **settings):
    given = list(completions.complete(prompts, **settings))
    assert sorted(place for place, _ in given) == list(range(len(prompts)))
    return [dict(given)[place] for place in range(len(prompts))]


@pytest.mark.parametrize("chat", [True, False])
@pytest.mark.parametrize("kind", KINDS)
def test_answers_are_those_of_transformers(decoder, kind, chat):
    folder = decoder(kind)
    found = open_subject(folder).capability("completions")
    given = told(found, PROMPTS, chat=chat, budget=12)
    assert [(one.text, one.prompt_tokens, one.tokens) for one in given] == reference(folder, PROMPTS, chat, 12)
    assert len({one.text for one in given}) > 1
    assert [found.count(prompt, chat) for prompt in PROMPTS] == [one.prompt_tokens for one in given]
    assert all(one.ending == ("length" if one.tokens == 12 else "stop") and one.seconds > 0 for one in given)


def test_a_trial_says_whether_keys_can_be_shared(decoder):
    for kind in KINDS:
        found = open_subject(decoder(kind)).capability("completions")
        assert found.shares and found.fills == (kind not in ("mistral", "gemma2")), kind


@pytest.mark.parametrize("kind", ["llama", "mistral"])
def test_small_batches_and_pieces_change_nothing(decoder, kind, monkeypatch):
    found = open_subject(decoder(kind)).capability("completions")
    wanted = told(found, PROMPTS, chat=True, budget=12)
    for cells in (1, 30_000):
        monkeypatch.setattr(generation, "_CELLS", cells)
        assert [one.text for one in told(found, PROMPTS, chat=True, budget=12)] == [one.text for one in wanted]
    one = told(found, PROMPTS[3:4], chat=True, budget=12)[0]
    assert (one.text, one.tokens) == (wanted[3].text, wanted[3].tokens)


def test_windows_are_counted_in_tokens(decoder):
    folder = decoder("mistral", sliding_window=16)
    found = open_subject(folder).capability("completions")
    given = told(found, PROMPTS, chat=False, budget=12)
    assert found.shares and not found.fills
    assert [(one.text, one.prompt_tokens, one.tokens) for one in given] == reference(folder, PROMPTS, False, 12)


def test_frequencies_that_grow_with_the_sequence_share_no_keys(decoder):
    """Keys that were turned by another base are not used: every token is that of a whole pass."""
    scaled = {"rope_type": "dynamic", "rope_theta": 10000.0, "factor": 4.0, "original_max_position_embeddings": 32}
    found = open_subject(decoder("llama", rope_parameters=scaled)).capability("completions")
    assert not found.shares
    given = told(found, PROMPTS[:4], chat=False, budget=5)
    for prompt, one in zip(PROMPTS, given, strict=False):
        tokens = found._tokens(prompt.text(), chat=False)
        for _ in range(one.tokens):
            with torch.inference_mode():
                tokens.append(
                    int(found.model(input_ids=torch.tensor([tokens]), use_cache=False).logits[0, -1].argmax())
                )
        assert found.tokenizer.decode(tokens[one.prompt_tokens :], skip_special_tokens=True) == one.text


def test_prompts_with_other_examples_are_computed_apart(decoder):
    folder = decoder("llama")
    mixed = [*PROMPTS[:5], *(Prompt("Add.", (("1 2", "3"),), prompt.question) for prompt in PROMPTS[:5]), PROMPTS[6]]
    given = told(open_subject(folder).capability("completions"), mixed, chat=True, budget=8)
    assert [(one.text, one.prompt_tokens, one.tokens) for one in given] == reference(folder, mixed, True, 8)


def test_what_does_not_fit_is_not_run(decoder, monkeypatch):
    found = open_subject(decoder("gpt2")).capability("completions")
    assert found.context == 400
    longest = Prompt("Sort.", (), "9 " * 200)
    given = told(found, [PROMPTS[0], longest, Prompt("Sort.", (), "9 " * 150)], chat=False, budget=40, reasoning=20)
    assert [one.ending == "overlong" for one in given] == [False, True, False]
    assert (given[1].text, given[1].tokens) == ("", 0) and given[1].prompt_tokens == found.count(longest, False) > 400
    assert [one.ending for one in told(found, [PROMPTS[0]], chat=False, budget=400)] == ["overlong"]


def scripted(found, monkeypatch, script):
    """Let the model write this text, whatever it is asked."""
    tokens = [*found._tokens(script, chat=True), max(found.ends)]
    calls = {"step": 0}

    def logits(given, at, mask, cache):
        step = max(0, int(at.max()) - calls["start"] + 1) if "start" in calls else 0
        calls.setdefault("start", int(at.max()) + 1)
        out = torch.zeros(len(given), found.model.config.vocab_size)
        out[:, tokens[min(step, len(tokens) - 1)]] = 1
        return out

    monkeypatch.setattr(found, "apart", False)
    monkeypatch.setattr(found, "_read", lambda same: generation.DynamicCache(config=found.model.config))
    monkeypatch.setattr(found, "_logits", logits)


@pytest.mark.parametrize(
    ("script", "settings", "wanted"),
    [
        ("1 2 3", {"budget": 20}, ("1 2 3", "stop", "", 6)),
        ("1 2 3", {"budget": 5}, ("1 2 3", "length", "", 5)),
        ("1 2\n3", {"budget": 20, "stop": ["\n", "x"]}, ("1 2", "stop", "", 4)),
        ("", {"budget": 20}, ("", "stop", "", 1)),
        ("<think>a\nb</think>\n1 2\n3", {"budget": 9, "reasoning": 30, "stop": ["\n"]}, ("1 2", "stop", "a\nb", 23)),
        ("<think>a\nb", {"budget": 5, "reasoning": 3, "stop": ["\n"]}, ("", "length", "a", 8)),
    ],
)
def test_endings(decoder, monkeypatch, script, settings, wanted):
    found = open_subject(decoder("llama")).capability("completions")
    scripted(found, monkeypatch, script)
    one = told(found, PROMPTS[:1], chat=True, **settings)[0]
    assert (one.text, one.ending, one.reasoning, one.tokens) == wanted


def test_a_prompt_may_end_inside_reasoning(tmp_path, monkeypatch):
    folder = small_decoder(tmp_path, template=TEMPLATE.replace("assistant\n'", "assistant\n<think>\n'"))
    found = open_subject(folder).capability("completions")
    scripted(found, monkeypatch, "a\nb</think>1 2")
    one = told(found, PROMPTS[:1], chat=True, budget=40, stop=["\n"])[0]
    assert (one.text, one.reasoning) == ("1 2", "a\nb")
    scripted(found, monkeypatch, "a\nb")
    one = told(found, PROMPTS[:1], chat=True, budget=40, stop=["\n"])[0]
    assert (one.text, one.reasoning, one.ending) == ("", "a\nb", "stop")


def test_the_end_of_a_turn_ends_an_answer(tmp_path, monkeypatch):
    """A template may end turns with a token that is not the end of a text."""
    folder = small_decoder(tmp_path, eos_token_id=3)
    settings = json.loads((folder / "tokenizer_config.json").read_text())
    (folder / "tokenizer_config.json").write_text(json.dumps({**settings, "eos_token": "$"}))
    (folder / "generation_config.json").write_text(json.dumps({"eos_token_id": [3, 5]}))
    found = open_subject(folder).capability("completions")
    end = found.tokenizer.convert_tokens_to_ids(END)
    assert {3, 5} <= found.ends and end not in found.ends and found._turn_ends(PROMPTS[0]) == {end}


SYSTEMLESS = TEMPLATE.replace(
    "{% for message in messages %}",
    "{% for message in messages %}{% if message['role'] == 'system' %}{{ raise_exception('no system') }}{% endif %}",
)
IGNORANT = TEMPLATE.replace("in messages %}", "in messages if message['role'] != 'system' %}")


@pytest.mark.parametrize("template", [SYSTEMLESS, IGNORANT])
def test_a_template_without_a_place_for_the_instruction(tmp_path, template):
    found = open_subject(small_decoder(tmp_path, template=template)).capability("completions")
    text, first = found._rendered(PROMPTS[0], True), PROMPTS[0].messages()[1]["content"]
    assert text.startswith(f"{BEGIN}user\nSort the numbers.\n\n{first}{END}") and text.count("Sort the numbers.") == 1


@pytest.mark.parametrize("template", ["{{ messages[7].content }}", "{% for", "{{ ''.__class__.__mro__ }}", "{{ 1 }}"])
def test_a_template_that_fails_is_one_sentence(tmp_path, template):
    found = open_subject(small_decoder(tmp_path, template=template)).capability("completions")
    with pytest.raises(UsageError, match="the chat template of"):
        found.count(PROMPTS[0], True)
    assert found.count(PROMPTS[0], False) == len(PROMPTS[0].text())


def test_a_tokenizer_that_lacks_its_unknown_token_is_one_sentence(tmp_path):
    """It can be read, and breaks on the first text with another word."""
    folder = small_decoder(tmp_path)
    broken = {"type": "WordLevel", "vocab": {"1": 0}, "unk_token": "[UNK]"}
    content = json.loads((folder / "tokenizer.json").read_text()) | {"model": broken}
    (folder / "tokenizer.json").write_text(json.dumps(content))
    with pytest.raises(UsageError, match="UNK"):
        open_subject(folder).capability("completions").count(PROMPTS[0], chat=False)
    symbols = token_map("tokenizer", lambda: chat_tokenizer(folder, None))
    with pytest.raises(UsageError, match="UNK"):
        symbols.check(tasks.make("sort"), "it", 100)


def test_templates_by_name_and_in_a_file(tmp_path):
    folder = small_decoder(tmp_path / "named", template=None)
    assert not open_subject(folder).capability("completions").templated
    with pytest.raises(UsageError, match="has no chat template"):
        open_subject(folder).capability("completions").count(PROMPTS[0], True)
    by_name = [{"name": "tool_use", "template": "?"}, {"name": "default", "template": TEMPLATE}]
    (folder / "tokenizer_config.json").write_text(json.dumps({"chat_template": by_name, "bos_token": "unheard of"}))
    named = open_subject(folder).capability("completions")
    assert named._rendered(PROMPTS[0], True).startswith(BEGIN) and len(named.tokenizer) == 258
    (folder / "chat_template.jinja").write_text("[{{ messages[0].content }}]")
    assert open_subject(folder).capability("completions")._rendered(PROMPTS[0], True) == "[Sort the numbers.]"


def test_what_writes_no_text(tmp_path):
    from small_hub import small_bert

    with pytest.raises(UsageError, match="does not write text"):
        open_subject(small_bert(tmp_path / "bert")).capability("completions")
    headless = small_decoder(tmp_path / "base")
    transformers.AutoModel.from_pretrained(headless).save_pretrained(headless)
    with pytest.raises(UsageError, match="does not write text"):
        open_subject(headless).capability("completions")
    (headless / "tokenizer.json").unlink()
    assert not open_subject(headless).offers("completions")
    with pytest.raises(UsageError, match="does not offer"):
        open_subject(transformers.AutoModel.from_pretrained(headless)).capability("completions")


def test_a_gguf_file_with_the_tokenizer_of_its_folder(tmp_path):
    pytest.importorskip("gguf")
    small_llama(tmp_path / "small.gguf", vocabulary=258)
    assert not open_subject(tmp_path / "small.gguf").offers("completions")
    (tmp_path / "made").mkdir()
    small_decoder(tmp_path / "made")
    for name in ("tokenizer.json", "tokenizer_config.json"):
        (tmp_path / "made" / name).rename(tmp_path / name)
    found = open_subject(tmp_path / "small.gguf").capability("completions")
    asked = [Prompt("", (), "3 1 2"), Prompt("", (), "9")]
    assert found.templated and found.context == 16
    found.context = found.count(asked[1], False) + 2
    assert [one.ending for one in told(found, asked, chat=False, budget=2)] == ["overlong", "length"]
