# SPDX-License-Identifier: Apache-2.0
"""Situations of routes and customers: two accounts of one directory behind one gateway."""
import os
import urllib.request

from heraldtest.addresses import HOST
from heraldtest.child import Failed, wait_until
from heraldtest.records import Event, read_json
from .situations import CAUSE_16, GAVE_UP, NO_BRAND, SEEN, both, brand, step

# One caller with another name in each account, and none in the usual one.
CALLER = brand(9101)
CUSTOMERS = {"acme": ("Acme Acres", "+61255502101"), "beta": ("Beta Bank", "+61255502102")}
WITHOUT_ROUTE = "+61755501000"


def prepare(testbed, folder):
    """An account, a key and a brand of each customer."""
    for name, (shown, _) in CUSTOMERS.items():
        options = ("--state", testbed.directory_state)
        testbed.command(testbed.directory_binary, "accounts", "add", name, *options)
        testbed.command(
            testbed.directory_binary, "keys", "add", "gateway", "--account", name, "--write", key(folder, name),
            *options)
        path = os.path.join(folder, f"{name}.csv")
        with open(path, "w", encoding="utf-8") as file:
            file.write(
                "number,brand_name,logo_url,call_reason,brand_id\n"
                f"{CALLER},{shown},https://logos.example/{name}-128x128.png,Your appointment,{name}\n")
        testbed.command(testbed.directory_binary, "import", path, "--account", name, *options)


def key(folder, name):
    return os.path.join(folder, f"{name}.key")


def sections(folder, names, default="reject"):
    """Customers and routes; the numbers of each customer are in a list file."""
    lines = ["customers:"]
    for name in names:
        lines.append(f"  - {{name: {name}, directory: {{api_key_file: {key(folder, name)}, sync_interval: 1s}}}}")
    lines += ["routes:", f"  default: {default}", "  table:"]
    for name in CUSTOMERS:
        path = os.path.join(folder, f"{name}.txt")
        with open(path, "w", encoding="utf-8") as file:
            file.write(f"# {name}\n{CUSTOMERS[name][1]}\n")
        customer = f", customer: {name}" if name in names else ", brands: false"
        lines.append(f"    - {{name: {name}, list: {path}, pbx: office{customer}}}")
    lines.append("    - {name: usual, numbers: [+6125550*], pbx: office}")
    return "\n".join(lines) + "\n"


def answered_by(name, called):
    """A call that is answered, and has this name at the phone."""
    pbx = "unbranded" if name == NO_BRAND else "answered"
    return step("answered/carrier.xml", f"{pbx}/pbx.xml", name=name, called=called)


def events_of(testbed, account):
    text = testbed.command(
        testbed.directory_binary, "events", "--json", "--limit", "1000", "--account", account, "--state",
        testbed.directory_state)
    return [Event(item) for item in read_json(text)]


def expect_stories(testbed, account, expected):
    """Waits until an account has these stories of the caller, and no others."""
    def stories():
        return sorted(event.story for event in events_of(testbed, account) if event.number == CALLER)

    try:
        wait_until(lambda: len(stories()) >= len(expected), 60, "")
    except Failed:
        pass
    if stories() != sorted(expected):
        raise Failed(f"events of {account}: expected {sorted(expected)}, recorded {stories()}")


def loaded(testbed, names):
    for name in names:
        wait_until(
            lambda name=name: testbed.metric(f'herald_customer_brand_numbers{{customer="{name}"}}') == 1, 60,
            f"the brands of {name} are not loaded")


def customers(testbed, folder, run):
    """Each customer's calls have its own brand, and its own account alone gets their events."""
    prepare(testbed, folder)
    testbed.gateway.stop()
    testbed.write_config(more=sections(folder, CUSTOMERS))
    testbed.start_gateway()
    try:
        loaded(testbed, CUSTOMERS)
        for name, (shown, called) in CUSTOMERS.items():
            run.place(answered_by(shown, called), CALLER, os.path.join(folder, name))
        run.place(step("no-route/carrier.xml", called=WITHOUT_ROUTE), CALLER, os.path.join(folder, "no-route"))
        for name in CUSTOMERS:
            expect_stories(testbed, name, SEEN)
        expect_records(testbed)
        called_back(testbed, folder, run)
        removed(testbed, folder, run)
    finally:
        testbed.gateway.stop()
        testbed.write_config()
        testbed.start_gateway()
    if any(event.number == CALLER for event in testbed.events()):
        raise Failed("the usual account has an event of a customer")


def expect_records(testbed):
    """Ledger, metrics and lookup keep the customers apart."""
    for name, (shown, called) in CUSTOMERS.items():
        calls = read_json(testbed.command(
            testbed.herald_binary, "calls", "--json", "--customer", name, "--config", testbed.config))
        if [(call["brandname"], call["destination"]) for call in calls] != [(shown, called)]:
            raise Failed(f"calls of {name}: {calls}")
        counted = testbed.metric(f'herald_customer_calls_total{{customer="{name}",decision="branded"}}')
        if counted != 1:
            raise Failed(f"herald_customer_calls_total of {name} is {counted}")
        text = testbed.command(
            testbed.herald_binary, "lookup", "--called", called, CALLER, "--config", testbed.config)
        if shown not in text or f"customer  {name}" not in text:
            raise Failed(f"lookup of {called}:\n{text}")
        wait_until(lambda name=name: is_synced(testbed, name), 30, f"herald sync --customer {name} does not succeed")
        if shown not in page(testbed, f"/calls?customer={name}"):
            raise Failed(f"the page has no call of {name}")
    text = page(testbed, "/customers")
    if any(f"/calls?customer={name}" not in text for name in CUSTOMERS):
        raise Failed(f"the page of customers:\n{text}")
    text = testbed.command(testbed.herald_binary, "status", "--config", testbed.config)
    if "2 with 2 accounts; 2 sets of brands in memory" not in text:
        raise Failed(f"status:\n{text}")


def is_synced(testbed, name):
    """A full sync of a customer's account, unless one of its own runs at this moment."""
    try:
        text = testbed.command(
            testbed.herald_binary, "sync", "--full", "--customer", name, "--config", testbed.config)
    except Failed as trouble:
        if "a sync runs already" in str(trouble):
            return False
        raise
    return "full sync: nothing has changed; 1 numbers in use" in text


def page(testbed, path):
    with urllib.request.urlopen(f"http://{HOST}:{testbed.ports.admin}{path}", timeout=30) as response:
        return response.read().decode("utf-8")


def called_back(testbed, folder, run):
    """A call back from another customer's number is none; one from the customer's own number is."""
    shown, called = CUSTOMERS["acme"]
    missed = both("missed", reason=CAUSE_16, called=called, name=shown)
    run.place(missed, CALLER, os.path.join(folder, "missed"))
    for name, number in (("foreign", CUSTOMERS["beta"][1]), ("own", called)):
        back = step(
            "return-call/pbx.xml", "return-call/carrier.xml", name="Front Desk", called=CALLER, caller=number)
        run.place(back, CALLER, os.path.join(folder, name))
    expect_stories(testbed, "acme", SEEN + GAVE_UP + ("returned",))
    expect_stories(testbed, "beta", SEEN)


def removed(testbed, folder, run):
    """After a reload without a customer its calls have no brand, and a bad list changes nothing."""
    testbed.write_config(more=sections(folder, ("acme",)))
    testbed.reload()
    shown, called = CUSTOMERS["beta"]
    run.place(answered_by(NO_BRAND, called), CALLER, os.path.join(folder, "removed"))
    run.place(answered_by(*CUSTOMERS["acme"]), CALLER, os.path.join(folder, "stays"))
    with open(os.path.join(folder, "acme.txt"), "a", encoding="utf-8") as file:
        file.write("no number\n")
    testbed.reload()
    if "acme.txt:3:1: route acme: " not in testbed.gateway.tail():
        raise Failed("the log does not name the bad line\n" + testbed.gateway.tail())
    run.place(answered_by(*CUSTOMERS["acme"]), CALLER, os.path.join(folder, "kept"))
    expect_stories(testbed, "acme", SEEN * 3 + GAVE_UP + ("returned",))
    expect_stories(testbed, "beta", SEEN)


CUSTOMER_SITUATIONS = (("two customers", customers),)
