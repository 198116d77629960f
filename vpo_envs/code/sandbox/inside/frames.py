"""Messages from a child to the supervisor, and from the supervisor to the fork server: their layout on the wire.

A frame is a header and a payload. Everything in it is only a claim of an untrusted process.
"""

from __future__ import annotations

import struct

HEADER = struct.Struct("<BIQQI")  # kind, test, size of standard output so far, of standard error, bytes of payload

# A test ended ...
DONE = 0  # normally; payload: the encoded result of a call, else empty
ERROR = 1  # with an exception
MEMORY = 2  # for want of memory
TOO_LARGE = 3  # with a result above the limits
# The program cannot run, so none of its tests can:
COMPILE_ERROR = 4
SETUP_ERROR = 5  # an exception when the functions were defined
SETUP_MEMORY = 6
# Others:
LEAVE = 7  # this child is used up (threads were left behind); `test` and what follows need a new one
READY = 8  # the functions are defined, calls may come
CALL = 9  # from a check: call the candidate; payload: the encoded arguments
ASSERT = 10  # from a check: assert statement `test` was evaluated; payload: TRUE or FALSE, and LAST or AGAIN
CHECK_END = 11  # the check returned
CHECK_ERROR = 12  # the check was left by an exception
KINDS = range(13)

TRUE, FALSE = b"1", b"0"
LAST, AGAIN = b"L", b"A"  # whether the statement stands where it can be evaluated once only

# What a program is made to do.
STDIN, CALLS, SERVE, CHECK = "stdin", "calls", "serve", "check"

# A request to a child in mode SERVE, or an answer to one in mode CHECK: announces so many bytes in its standard input.
# The sign tells an answer apart: a result (0) or an exception (1).
REQUEST = struct.Struct("<BI")

# From the supervisor to the fork server: start a child. With the descriptors of job, stdin, stdout, stderr, frames and,
# in the modes SERVE and CHECK, requests.
SPAWN = struct.Struct("<IIIQQ")  # token, first test, CPU seconds, bytes of memory, bytes of the largest file
# From the fork server: a child has started (with its pidfd), has ended, or could not be started.
REPLY = struct.Struct(
    "<BIiQ"
)  # kind, token, and pid, exit code or -signal, or error number; CPU microseconds at the end
STARTED, ENDED, FAILED = 0, 1, 2
