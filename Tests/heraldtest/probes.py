# SPDX-License-Identifier: Apache-2.0
"""Readiness and metrics of a running program, over HTTP."""
import urllib.error
import urllib.request


def status(address, path="/healthz", seconds=2):
    """The HTTP status of a GET, or None without a response."""
    try:
        with urllib.request.urlopen(f"http://{address}{path}", timeout=seconds) as response:
            return response.status
    except urllib.error.HTTPError as error:
        return error.code
    except OSError:
        return None


def metrics(address, seconds=30):
    """{series, its labels included: value}"""
    with urllib.request.urlopen(f"http://{address}/metrics", timeout=seconds) as response:
        return parsed(response.read().decode("utf-8"))


def parsed(text):
    """The series of a page of metrics."""
    values = {}
    for line in text.splitlines():
        if line and not line.startswith("#"):
            series, value = line.rsplit(" ", 1)
            values[series] = float(value)
    return values


def family_of(series):
    return series.split("{", 1)[0]


def families(values):
    """{family: sum over its series}"""
    sums = {}
    for series, value in values.items():
        sums[family_of(series)] = sums.get(family_of(series), 0.0) + value
    return sums
