"""The same agent, with the standard library alone."""

import json
import os
import sys
import urllib.request

TOOLS = [
    {
        "type": "function",
        "function": {
            "name": "get_weather",
            "parameters": {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]},
        },
    }
]
messages = [{"role": "user", "content": "What is the weather in Paris?"}]


def stream():
    body = {
        "model": "gpt-4o-mini",
        "messages": messages,
        "tools": TOOLS,
        "stream": True,
        "stream_options": {"include_usage": True},
    }
    request = urllib.request.Request(
        os.environ["OPENAI_BASE_URL"] + "/chat/completions",
        data=json.dumps(body).encode(),
        headers={"content-type": "application/json", "authorization": "Bearer " + os.environ["OPENAI_API_KEY"]},
    )
    with urllib.request.urlopen(request) as response:
        for line in response:
            if line.startswith(b"data: ") and line.strip() != b"data: [DONE]":
                yield json.loads(line[6:])


while True:
    call = None
    for event in stream():
        for choice in event["choices"]:
            delta = choice["delta"]
            if delta.get("content"):
                sys.stdout.write(delta["content"])
                sys.stdout.flush()
            for part in delta.get("tool_calls") or []:
                if call is None:
                    call = {"id": part["id"], "type": "function", "function": {"name": part["function"]["name"], "arguments": ""}}
                call["function"]["arguments"] += part["function"].get("arguments", "")
    if call is None:
        break
    city = json.loads(call["function"]["arguments"])["city"]
    print("[%s %s]" % (call["function"]["name"], city))
    messages.append({"role": "assistant", "tool_calls": [call]})
    messages.append({"role": "tool", "tool_call_id": call["id"], "content": "18 degrees in " + city})
print()
