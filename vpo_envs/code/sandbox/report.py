"""Which layers protect this machine, as the fork servers found them when they started."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Report:
    """What stands between a program and this machine."""

    seccomp: str
    """The architecture that the list of allowed system calls is for; empty without seccomp."""
    landlock: int
    """Version of Landlock; 0 without: then programs can open no file at all, not even modules not yet imported."""
    namespaces: tuple[str, ...]
    """Namespaces of its own; empty without."""
    no_capabilities: bool
    self_test: dict[str, bool]
    """What a program tried in vain (True), or could do (False)."""
    workers: int

    @classmethod
    def of(cls, layers: dict[str, Any], workers: int) -> Report:
        return cls(
            seccomp=layers["seccomp"],
            landlock=layers["landlock"],
            namespaces=tuple(layers["namespaces"]),
            no_capabilities=layers["capabilities"],
            self_test=dict(layers["self_test"]),
            workers=workers,
        )

    @property
    def faults(self) -> tuple[str, ...]:
        """What makes it unsafe to run untrusted programs here. Empty if it is safe."""
        faults = [] if self.seccomp else ["no seccomp: programs can make any system call"]
        if not self.no_capabilities:
            faults.append("privileges could not be dropped")
        return (*faults, *(f"a program can {what}" for what, refused in self.self_test.items() if not refused))

    @property
    def warnings(self) -> tuple[str, ...]:
        """Layers that are missing without making it unsafe."""
        missing = []
        if not self.landlock:
            missing.append("no Landlock: programs cannot open any file, so that only modules imported before work")
        if not self.namespaces:
            missing.append("no namespaces: only seccomp keeps programs from the network")
        return tuple(missing)

    def __str__(self) -> str:
        lines = [
            f"seccomp       {self.seccomp or 'MISSING'}",
            f"Landlock      {f'version {self.landlock}' if self.landlock else 'missing'}",
            f"namespaces    {' '.join(self.namespaces) or 'missing'}",
            f"capabilities  {'none' if self.no_capabilities else 'KEPT'}",
            *(
                f"self-test     {what}: {'refused' if refused else 'SUCCEEDED'}"
                for what, refused in self.self_test.items()
            ),
            f"workers       {self.workers}",
        ]
        return "\n".join(lines)
