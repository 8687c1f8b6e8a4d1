"""Adds, finds and removes a download over a Unix socket. Prints what it saw, one line a step."""

import json
import socket
import sys


class Daemon:
    def __init__(self, path):
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.connect(path)
        self.lines = self.socket.makefile("r", encoding="utf-8")
        self.events = []
        self.last_id = 0

    def call(self, method, **params):
        self.last_id += 1
        request = {"jsonrpc": "2.0", "id": self.last_id, "method": method, "params": params}
        self.socket.sendall((json.dumps(request) + "\n").encode())
        while True:
            message = json.loads(self.lines.readline())
            if message.get("id") == self.last_id:
                return message
            self.events.append(message)

    def event(self, method):
        while True:
            for event in self.events:
                if event["method"] == method:
                    self.events.remove(event)
                    return event["params"]
            self.events.append(json.loads(self.lines.readline()))


daemon = Daemon(sys.argv[1])
task = daemon.call("download.add", url="https://example.net/mine.iso", startMode="later")["result"]
print("added", task["state"])
print("told of it", daemon.event("download.added")["task"]["id"] == task["id"])
print("found", daemon.call("download.get", id=task["id"])["result"]["id"] == task["id"])
print("kept", daemon.call("download.get", id=task["id"])["result"]["url"])
print("listed", task["id"] in [other["id"] for other in daemon.call("download.list")["result"]["tasks"]])
print("paused", daemon.call("download.pause", id=task["id"])["result"]["state"])
print("removed", daemon.call("download.remove", id=task["id"])["result"]["removed"])
print("gone", daemon.call("download.get", id=task["id"])["error"]["code"])
token = daemon.call("pairing.confirm", code=daemon.call("pairing.begin")["result"]["code"])["result"]["token"]
print("set", sorted(daemon.call("settings.set", token=token, maxActive=5)["result"]))
print("outside", daemon.call("download.add", url="https://example.org/x", saveDir="../../etc")["error"]["code"])
