"""A sandbox for untrusted Python programs that computes every verdict outside of them. See docs/sandbox.md."""

from vpo_envs.code.sandbox.checks import make_check
from vpo_envs.code.sandbox.limits import (
    CallTest,
    Check,
    Job,
    Limits,
    SandboxError,
    StdinTest,
    TestResult,
    Verdict,
    check_tolerance,
)
from vpo_envs.code.sandbox.report import Report
from vpo_envs.code.sandbox.supervisor import Sandbox

__all__ = [
    "CallTest",
    "Check",
    "Job",
    "Limits",
    "Report",
    "Sandbox",
    "SandboxError",
    "StdinTest",
    "TestResult",
    "Verdict",
    "check_tolerance",
    "make_check",
]
