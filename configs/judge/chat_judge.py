"""A judge for `goodgain pool judge` that asks an HTTP service with chat completions.

  goodgain pool judge pool --command 'python chat_judge.py --url https://HOST/v1/chat/completions
  --model NAME --prompt prompt.txt'

Copy this file and prompt.txt and edit them. Only the prompt is sent, filled with the document's
topic, query, title, URL and the beginning of its text, and only to this service. The API key, if
the service needs one, is read from the environment variable that --key-env names.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import sys
import urllib.request
from pathlib import Path
from typing import Any

_MOST_TEXT = 6_000  # characters of a document to send
_FIELDS = ("topic", "query", "title", "url", "text")


def main() -> None:
    """Answer each line of stdin on stdout until stdin ends."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--url", required=True, help="URL of the service's chat completions")
    parser.add_argument("--model", required=True)
    parser.add_argument("--prompt", default=str(Path(__file__).with_name("prompt.txt")))
    parser.add_argument("--key-env", default="JUDGE_API_KEY", help="variable that holds the key")
    parser.add_argument("--timeout", type=float, default=60.0)
    args = parser.parse_args()
    prompt = Path(args.prompt).read_text(encoding="utf-8")
    for line in sys.stdin:
        question = json.loads(line)
        try:
            answer = judge(question, prompt, args)
        except (OSError, ValueError, LookupError, TypeError) as error:
            answer = {"error": f"{type(error).__name__}: {error}"}
        sys.stdout.write(json.dumps({"document": question["document"], **answer}) + "\n")
        sys.stdout.flush()


def judge(document: dict[str, Any], prompt: str, args: argparse.Namespace) -> dict[str, Any]:
    """Ask the service about one document."""
    body = json.dumps(
        {
            "model": args.model,
            "temperature": 0,
            "messages": [{"role": "user", "content": fill_prompt(prompt, document)}],
        }
    )
    headers = {"Content-Type": "application/json"}
    if key := os.environ.get(args.key_env):
        headers["Authorization"] = f"Bearer {key}"
    request = urllib.request.Request(args.url, body.encode(), headers)
    with urllib.request.urlopen(request, timeout=args.timeout) as response:
        content = json.loads(response.read())["choices"][0]["message"]["content"]
    digit = re.fullmatch(r"\s*([0-4])\s*\.?\s*", content)
    return {"gain": int(digit[1])} if digit else {"error": f"no single digit: {content[:100]}"}


def fill_prompt(prompt: str, document: dict[str, Any]) -> str:
    """The prompt with the fields of the document; inserted text is not expanded again."""
    values = {name: str(document.get(name) or "")[:_MOST_TEXT] for name in _FIELDS}
    return re.sub(r"\{(\w+)\}", lambda name: values.get(name[1], name[0]), prompt)


if __name__ == "__main__":
    main()
