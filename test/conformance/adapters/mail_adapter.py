"""An adapter for tests: messages from mail.json in the fixture folder, over JSON-RPC on stdio.

BREAK names a fault for it to have; each is what one rule of the format exists to catch.
"""
import json
import os
import subprocess
import sys
from datetime import datetime, timezone

PROTOCOL = 1
BROKEN = os.environ.get("BREAK", "")
state = {"folder": "", "workdir": "", "slow": set()}


class RpcError(Exception):
    def __init__(self, code, message, data=None):
        super().__init__(message)
        self.code, self.message, self.data = code, message, data


def send(**frame):
    line = (json.dumps({"jsonrpc": "2.0", **frame}, ensure_ascii=False) + "\n").encode("utf-8")
    parts = [line[i : i + 1] for i in range(len(line))] if BROKEN == "split-writes" else [line]
    for part in parts:
        sys.stdout.buffer.write(part)
        sys.stdout.buffer.flush()


def mail():
    try:
        with open(os.path.join(state["folder"], "mail.json"), encoding="utf-8") as file:
            return json.load(file)
    except OSError:
        raise RpcError(-32005, "source unavailable", {"retryable": True}) from None


def initialize(message):
    params = message["params"]
    if params["protocol"] != PROTOCOL:
        raise RpcError(-32001, "protocol version not supported", {"supported": [PROTOCOL]})
    state["folder"], state["workdir"] = params["fixture"], params["workdir"]
    result = {"adapter": {"version": "0.9", "name": "mail"}, "capabilities": {"levels": 3, "partial": True}, "protocol": PROTOCOL}
    if BROKEN == "null-for-absent":
        result["instructions"] = None
    return result


def search(message):
    params = message["params"]
    words = params["query"].lower().split()
    found = []
    for entry in mail():
        text = json.dumps(entry, ensure_ascii=False).lower()
        score = sum(text.count(word) for word in words) / 4
        if score:
            found.append((score, entry))
    found.sort(key=lambda pair: (-pair[0], pair[1]["id"]))
    items = []
    for rank, (score, entry) in enumerate(found):
        item = {"locator": f"mail:{entry['id']}", "subject": entry["subject"], "score": score, "thread": {"size": entry["size"]}}
        if BROKEN == "missing-field" and rank == 0:
            del item["subject"]
        if BROKEN == "extra-field" and rank == 0:
            item["debug"] = True
        if BROKEN == "deep-number" and rank == 1:
            item["thread"]["size"] += 1
        items.append(item)
    if params.get("partial"):
        for item in items[: -1 if BROKEN == "one-too-few" else None]:
            send(method="source/partial", params={"request": message["id"], "locator": item["locator"]})
    return {"items": items, "total": len(items), "checked_at": datetime.now(timezone.utc).isoformat()}


def expand(message):
    params = message["params"]
    if BROKEN == "crash":
        os._exit(3)
    entry = next((entry for entry in mail() if f"mail:{entry['id']}" == params["locator"]), None)
    if entry is None or entry.get("expired"):
        raise RpcError(-32004, "locator expired", {"locator": params["locator"]})
    limit = params.get("limit", 10_000)
    head = f"From: {entry['from']}\nSubject: {entry['subject']}"
    text = {"summary": entry["subject"], "section": head, "full": f"{head}\n\n{entry['body']}"}[params["level"]]
    return {"locator": params["locator"], "level": params["level"], "text": text[:limit], "truncated": len(text) > limit}


def refresh(_message):
    index = os.path.join(state["workdir"], "index.json")
    with open(index, "w", encoding="utf-8") as file:
        json.dump({"count": len(mail())}, file)
    return {"indexed": len(mail()), "index": index}


def shutdown(_message):
    if BROKEN == "orphan":
        subprocess.Popen(["sleep", "60"], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return None


METHODS = {
    "source/initialize": initialize,
    "source/search": search,
    "source/expand": expand,
    "source/refresh": refresh,
    "source/shutdown": shutdown,
}


def cancel(request):
    if request not in state["slow"]:
        return
    state["slow"].discard(request)
    send(id=request, error={"code": -32800, "message": "cancelled"})
    if BROKEN == "late-answer":
        send(id=request, result={"items": [], "total": 0})


def receive(message):
    if message["method"] == "source/cancel":
        cancel(message["params"]["request"])
    if "id" not in message:
        return
    if message.get("params", {}).get("slow"):
        state["slow"].add(message["id"])
        return
    if message["method"] == "source/expand" and BROKEN == "hang":
        return
    if message["method"] == "source/search":
        if BROKEN == "garbage":
            print("debug: searching", flush=True)
        if BROKEN == "loud-stderr":
            for _ in range(50):
                sys.stderr.write("x" * 1024 * 1024)
    request = message["id"]
    if BROKEN == "id-type" and message["method"] == "source/search":
        request = 1 if isinstance(request, str) else str(request)
    try:
        method = METHODS.get(message["method"])
        if method is None:
            raise RpcError(-32601, "method not found")
        send(id=request, result=method(message))
    except RpcError as error:
        data = {} if error.data is None else {"data": error.data}
        send(id=request, error={"code": error.code, "message": error.message, **data})
    if message["method"] == "source/shutdown" and BROKEN == "extra-after-shutdown":
        send(method="source/log", params={"text": "bye"})


for line in sys.stdin.buffer:
    receive(json.loads(line))
