"""Tiny random models of the families that adapters are trained for, each with a tokenizer of its kind.

The chat templates are written after the families' own: the marks, who opens a turn, and whether there is a
system role.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tokenizers import Regex, Tokenizer, decoders, normalizers, pre_tokenizers
from tokenizers.models import BPE
from tokenizers.trainers import BpeTrainer
from transformers import AutoModelForCausalLM as Causal
from transformers import (
    Gemma2Config,
    Gemma3TextConfig,
    LlamaConfig,
    MistralConfig,
    PreTrainedTokenizerFast,
    Qwen2Config,
    Qwen3Config,
)

WORDS = [
    "The Halvorsen Museum in Bergen was designed by Astrid Dahl and opened in 1931. none | located in:",
    '{"triples": [{"subject": "Museum", "relation": "located in", "object": "Bergen"}]}',
    "You extract triples. List the types. museum; city; person. Text: which relations hold here?",
    "This is a faithful trajectory. Let's think step by step. system user assistant",
]

CHATML = (
    "{% for m in messages %}{{ '<|im_start|>' + m['role'] + '\n' }}"
    "{% if thinking and m['role'] == 'assistant' %}{{ '<think>\n\n</think>\n\n' }}{% endif %}"
    "{{ m['content'] + '<|im_end|>\n' }}{% endfor %}"
    "{% if add_generation_prompt %}{{ '<|im_start|>assistant\n' }}"
    "{% if thinking and enable_thinking is false %}{{ '<think>\n\n</think>\n\n' }}{% endif %}{% endif %}"
)
LLAMA3 = (
    "{{ bos_token }}{% for m in messages %}{{ '<|start_header_id|>' + m['role'] + '<|end_header_id|>\n\n' }}"
    "{{ m['content'] | trim + '<|eot_id|>' }}{% endfor %}"
    "{% if add_generation_prompt %}{{ '<|start_header_id|>assistant<|end_header_id|>\n\n' }}{% endif %}"
)
LLAMA2 = (
    "{% for m in messages %}{% if m['role'] == 'assistant' %}"
    "{{ ' ' + m['content'] | trim + ' ' + eos_token }}{% else %}"
    "{% if m['role'] == 'system' %}{{ raise_exception('no system role') }}{% endif %}"
    "{{ bos_token + '[INST] ' + m['content'] | trim + ' [/INST]' }}{% endif %}{% endfor %}"
)
MISTRAL = (
    "{{ bos_token }}{% for m in messages %}{% if m['role'] == 'user' %}"
    "{{ '[INST] ' + m['content'] + ' [/INST]' }}"
    "{% elif m['role'] == 'assistant' %}{{ ' ' + m['content'] + eos_token }}"
    "{% else %}{{ raise_exception('Only user and assistant roles are supported!') }}{% endif %}{% endfor %}"
)
GEMMA = (
    "{{ bos_token }}{% if messages[0]['role'] == 'system' %}"
    "{{ raise_exception('System role not supported') }}"
    "{% endif %}{% for m in messages %}"
    "{{ '<start_of_turn>' + ('model' if m['role'] == 'assistant' else m['role']) + '\n' }}"
    "{{ m['content'] | trim + '<end_of_turn>\n' }}{% endfor %}"
    "{% if add_generation_prompt %}{{ '<start_of_turn>model\n' }}{% endif %}"
)


@dataclass(frozen=True)
class Family:
    """`spaces`: the tokenizer marks spaces as SentencePiece does, else it works on bytes as GPT-2's."""

    config: Callable[..., Any]
    template: str | None
    bos: str | None
    end: str
    special: tuple[str, ...]
    spaces: bool = False
    more: Mapping[str, Any] | None = None

    @property
    def has_system(self) -> bool:
        """Whether its template takes a system role."""
        return self.template is None or "raise_exception" not in self.template


_IM = ("<|im_start|>", "<|im_end|>")
_HEADERS = ("<|start_header_id|>", "<|end_header_id|>", "<|eot_id|>")
_TURNS = ("<start_of_turn>", "<end_of_turn>")
_WINDOW = {"sliding_window": 64}
FAMILIES: Mapping[str, Family] = {
    "smollm": Family(LlamaConfig, CHATML, None, "<|im_end|>", _IM),
    "llama3": Family(LlamaConfig, LLAMA3, "<|begin_of_text|>", "<|eot_id|>", _HEADERS),
    "llama2": Family(LlamaConfig, LLAMA2, "<s>", "</s>", (), spaces=True),
    "llama_base": Family(LlamaConfig, None, "<s>", "</s>", (), spaces=True),
    "qwen2": Family(Qwen2Config, CHATML, None, "<|im_end|>", _IM),
    "qwen3": Family(
        Qwen3Config, "{% set thinking = true %}" + CHATML, None, "<|im_end|>", _IM, more={"head_dim": 16},
    ),
    "mistral": Family(MistralConfig, MISTRAL, "<s>", "</s>", (), spaces=True, more=_WINDOW),
    "gemma2": Family(
        Gemma2Config, GEMMA, "<bos>", "<end_of_turn>", _TURNS, spaces=True,
        more={**_WINDOW, "head_dim": 16, "query_pre_attn_scalar": 16},
    ),
    "gemma3": Family(
        Gemma3TextConfig, GEMMA, "<bos>", "<end_of_turn>", _TURNS, spaces=True,
        more={
            **_WINDOW, "head_dim": 16, "query_pre_attn_scalar": 16,
            "layer_types": ["sliding_attention", "full_attention"],
        },
    ),
}  # fmt: skip


def _tokenizer(family: Family) -> PreTrainedTokenizerFast:
    eos = "<eos>" if family.bos == "<bos>" else family.end
    special = list(dict.fromkeys([*([family.bos] if family.bos else []), eos, *family.special]))
    tokenizer = Tokenizer(BPE(byte_fallback=family.spaces, fuse_unk=family.spaces))
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    if family.spaces:
        tokenizer.normalizer = normalizers.Sequence(
            [normalizers.Prepend("▁"), normalizers.Replace(" ", "▁")] if family.bos == "<s>"
            else [normalizers.Replace(" ", "▁")]
        )  # fmt: skip
        tokenizer.pre_tokenizer = pre_tokenizers.Split(Regex("▁"), "merged_with_next")
        tokenizer.decoder = decoders.Sequence(
            [decoders.Replace("▁", " "), decoders.ByteFallback(), decoders.Fuse()]
        )
        special += [f"<0x{number:02X}>" for number in range(256)]
        alphabet = []
    else:
        tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
        tokenizer.decoder = decoders.ByteLevel()
    trainer = BpeTrainer(
        vocab_size=640, special_tokens=special, initial_alphabet=alphabet, show_progress=False
    )
    tokenizer.train_from_iterator(WORDS * 4, trainer)
    if family.bos:
        from tokenizers.processors import TemplateProcessing

        number = tokenizer.token_to_id(family.bos)
        tokenizer.post_processor = TemplateProcessing(
            single=f"{family.bos} $A", special_tokens=[(family.bos, number)]
        )
    whole = PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, bos_token=family.bos, eos_token=eos, pad_token=eos,
        extra_special_tokens=list(family.special),
    )  # fmt: skip
    whole.chat_template = family.template
    return whole


def write_tiny_model(name: str, folder: Path) -> Path:
    """Write a model of the family with random weights and its tokenizer, as transformers saves them."""
    family = FAMILIES[name]
    tokenizer = _tokenizer(family)
    config = family.config(
        vocab_size=len(tokenizer), hidden_size=32, intermediate_size=64, num_hidden_layers=2,
        num_attention_heads=4, num_key_value_heads=2, max_position_embeddings=4096,
        bos_token_id=tokenizer.bos_token_id, eos_token_id=tokenizer.convert_tokens_to_ids(family.end),
        # Nothing is padding: its vector would be zero, and never be learned as the end of a turn.
        pad_token_id=None, tie_word_embeddings=True,
        initializer_range=0.3,  # the words lie far enough apart for a frozen output layer to tell them
        **(family.more or {}),
    )  # fmt: skip
    Causal.from_config(config).save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder
