#!/usr/bin/env bash
# Checks and measures the learner and the generator on a GPU within five minutes: scripts/gpu_check.sh FOLDER
# Needs Python 3.11 with torch, transformers, numpy and safetensors. Trial run: ... FOLDER --device cpu --small
set -euo pipefail
exec "${PYTHON:-python3}" "$(dirname "${BASH_SOURCE[0]}")/gpu_check.py" "$@"
