#!/bin/sh
# The same agent, with curl.
set -eu

tools='[{"type":"function","function":{"name":"get_weather","parameters":{"type":"object","properties":{"city":{"type":"string"}},"required":["city"]}}}]'
question='{"role":"user","content":"What is the weather in Paris?"}'

ask() {
  curl -fsSN "$OPENAI_BASE_URL/chat/completions" \
    -H 'content-type: application/json' -H "authorization: Bearer $OPENAI_API_KEY" \
    -d "{\"model\":\"gpt-4o-mini\",\"messages\":[$1],\"tools\":$tools,\"stream\":true,\"stream_options\":{\"include_usage\":true}}"
}

# The JSON strings that a stream has under a name, one after the other and still escaped.
joined() {
  grep -oE "\"$1\":\"([^\"\\\\]|\\\\.)*\"" | sed -E "s/^\"$1\":\"//; s/\"$//" | tr -d '\n'
}

first=$(ask "$question")
id=$(printf '%s\n' "$first" | grep -oE '"id":"call_[^"]*"' | head -n 1 | cut -d '"' -f 4)
name=$(printf '%s\n' "$first" | joined name)
arguments=$(printf '%s\n' "$first" | joined arguments)
city=$(printf '%s' "$arguments" | sed -E 's/.*\\"city\\":[ ]*\\"([^\\]*)\\".*/\1/')
echo "[$name $city]"

call="{\"id\":\"$id\",\"type\":\"function\",\"function\":{\"name\":\"$name\",\"arguments\":\"$arguments\"}}"
ask "$question,{\"role\":\"assistant\",\"tool_calls\":[$call]},{\"role\":\"tool\",\"tool_call_id\":\"$id\",\"content\":\"18 degrees in $city\"}" | joined content
echo
