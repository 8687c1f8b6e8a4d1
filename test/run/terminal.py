"""Runs a command in a terminal of its own, types what it is asked for, and prints what the terminal showed.

terminal.py '[["text to wait for", "what is typed"], ...]' COMMAND...
"""

import json
import os
import pty
import sys

steps = json.loads(sys.argv[1])
pid, terminal = pty.fork()
if pid == 0:
    os.execvp(sys.argv[2], sys.argv[2:])
shown = ""
while True:
    try:
        piece = os.read(terminal, 4096)
    except OSError:  # Linux's way to say that nobody has the terminal open any more.
        piece = b""
    if not piece:
        break
    shown += piece.decode(errors="replace")
    while steps and steps[0][0] in shown:
        shown = shown.replace(steps[0][0], "", 1)
        os.write(terminal, steps.pop(0)[1].encode())
status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
print(json.dumps({"code": status, "shown": shown, "left": steps}))
