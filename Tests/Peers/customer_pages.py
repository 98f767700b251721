# SPDX-License-Identifier: Apache-2.0
"""The pages of a gateway with many customers, several targets, and a cluster whose other parts are away."""
import os
import subprocess

from Peers.browser import LOOKS, named, quiet
from heraldtest.child import wait_until
from heraldtest.directory import ADDRESS, Directory
from heraldtest.gateway import ADMIN, BRAND, CALLER, CARRIER, GATEWAY, PBX, Gateway
from heraldtest.sipp import SCENARIOS

BASE = f"http://{ADMIN}"
# Each customer's brand of the usual caller, and a number whose calls are its own. SIPp's PBX rings for ever at …3.
CUSTOMERS = {"acme": ("Acme Acres", "+49302000003"), "beta": ("Beta & <Bank>", "+49303000003")}
REFUSED, BRANCHES = "gamma", [f"branch-{number:03}" for number in range(1, 41)]
WITHOUT_CUSTOMER = "+493000000003"
SIBLING, SPARE, GONE = "127.0.0.21:5070", "127.0.0.31:5060", "127.0.0.32:5060"


def account(directory, name):
    """An account of the directory with one brand, and its key's file."""
    key = os.path.join(directory.folder, f"{name}.key")
    directory.command("accounts", "add", name)
    directory.command("keys", "add", "gateway", "--account", name, "--write", key)
    path = os.path.join(directory.folder, f"{name}.csv")
    with open(path, "w", encoding="utf-8") as file:
        file.write("number,brand_name,logo_url,call_reason,brand_id\n"
                   f"{CALLER},{CUSTOMERS[name][0]},https://logos.example/{name}.png,About your order,{name}\n")
    directory.command("import", path, "--account", name)
    return key


def configure(folder):
    """A directory with an account of each customer, and a gateway that has the usual brands from a file."""
    directory = Directory(folder)
    directory.prepare()
    keys = {name: account(directory, name) for name in CUSTOMERS}
    keys[REFUSED] = os.path.join(folder, "gamma.key")
    with open(keys[REFUSED], "w", encoding="utf-8", opener=lambda path, flags: os.open(path, flags, 0o600)) as file:
        file.write("a-key-that-nobody-has\n")
    keys.update({name: keys["beta"] for name in BRANCHES})
    with open(os.path.join(folder, "cluster-secret"), "w", encoding="utf-8",
              opener=lambda path, flags: os.open(path, flags, 0o600)) as file:
        file.write("000102030405060708090a0b0c0d0e0f\n")
    directory.start()
    gateway = Gateway(folder)
    lines = ["customers:"]
    lines += [f'  - {{name: {name}, directory: {{url: "http://{ADDRESS}", api_key_file: {key}, sync_interval: 600s}}}}'
              for name, key in keys.items()]
    lines += ["routes:", "  table:"]
    lines += [f"    - {{name: {name}, numbers: ['{number}'], pbx: office, customer: {name}}}"
              for name, (_, number) in CUSTOMERS.items()]
    lines.append(f"    - {{name: {REFUSED}, numbers: ['+4930400*'], pbx: spread, customer: {REFUSED}}}")
    lines += [f"    - {{name: {name}, numbers: ['+49309{number:03}*'], pbx: spread, customer: {name}}}"
              for number, name in enumerate(BRANCHES)]
    lines += ["cluster:", f"  secret_file: {folder}/cluster-secret", f"  listen: {GATEWAY}:5070",
              f"  siblings: ['{SIBLING}']", f"  route: {GATEWAY}", "  ledger: postgres://herald@127.0.0.60/herald",
              "health: {interval: 1s, timeout: 1s, down_after: 2}"]
    with open(gateway.config, encoding="utf-8") as file:
        text = file.read()
    spread = (f"  - {{name: spread, targets: [{{address: '{PBX}:5060'}}, {{address: '{SPARE}', priority: 1}}, "
              f"{{address: '{GONE}', priority: 1}}], listen: side0}}\n")
    with open(gateway.config, "w", encoding="utf-8") as file:
        file.write(text.replace("brands:", spread + "brands:", 1) + "\n".join(lines) + "\n")
    return directory, gateway


def give_up(report, what, called, port):
    """A call that rings at a customer's number and is given up."""
    done = subprocess.run(
        ["sipp", f"{GATEWAY}:5060", "-sf", os.path.join(SCENARIOS, "rings-then-cancel.xml"), "-i", CARRIER, "-p",
         str(port), "-m", "1", "-nostdin", "-timeout", "20", "-timeout_error", "-s", called, "-key", "caller", CALLER,
         "-key", "from", "", "-key", "line", "Subject: none"],
        capture_output=True, timeout=40, check=False)
    report.equal(f"a call to {what} ends", done.returncode, 0)


def herald(gateway, *words):
    done = subprocess.run([os.environ["HERALD"], *words, "--config", gateway.config], capture_output=True, text=True,
                          timeout=60, check=False)
    return done.stdout + done.stderr


def first_page(report, browser):
    """The problems of customers, targets, sibling and shared ledger, each with its remedy."""
    browser.open(BASE + "/")
    wanted = ("1 of 43 customers has a problem", f"{GONE} is down", f"{SPARE} is disabled",
              f"The gateway {SIBLING} does not respond", "The shared ledger is not written")
    browser.wait_for(lambda: all(text in browser.part("troubles") for text in wanted), "the problems are not at the top")
    for text in wanted:
        report.check(f"the first page has: {text}", True)
    report.check("the tile counts customers and sets of brands", "43, " in browser.part("brands"), browser.part("brands"))
    browser.wait_for(lambda: "Beta & <Bank>, beta" in browser.part("top"), "the brands of the day have no customers")
    report.check("a brand of the day has its customer", "Acme Acres, acme" in browser.part("top"), browser.part("top"))
    states = [line for line in browser.part("peers").splitlines() if "pbx spread" in line]
    report.equal("targets of the PBX with several", len(states), 3)
    browser.press("43, 3 sets of brands")
    report.equal("the tile leads to", browser.title, "Customers")


def rows(browser):
    """The cells of each row."""
    return browser.driver.execute_script(
        "return [...document.querySelectorAll('tbody tr')].map(r => [...r.children].map(c => c.innerText.trim()))")


def customers(report, browser):
    """Each customer's row, its calls, and a sync of one alone."""
    browser.open(BASE + "/customers")
    found = {cells[0]: cells for cells in rows(browser)}
    report.equal("a row for each customer", len(found), 43)
    report.equal("the first row is of the customer with a problem", next(iter(found)), REFUSED)
    report.check("with the cause", "refused" in found[REFUSED][4].lower() or "401" in found[REFUSED][4], found[REFUSED][4])
    report.equal("numbers, brands and account of acme", found["acme"][1:4], ["1", "1", "its own"])
    report.equal("calls of acme, and their branded share", found["acme"][6:8], ["1", "100 %"])
    report.equal("a branch has the account of", found["branch-001"][3], "that of beta")
    for name, result in (("acme", "acme: Synced: 0 written"), (REFUSED, f"{REFUSED}: The sync failed")):
        browser.leave(browser.find(f"button[aria-label='Sync {name}']").click)
        report.check(f"a sync of {name} has a result with its name", result in browser.main, browser.main[:200])
        report.equal("the person stays on the page", browser.path, "/customers")
    browser.leave(browser.find("a[aria-label='Preview for beta']").click)
    report.equal("the row leads to the preview of its customer", browser.value("Customer"), "beta")
    browser.open(BASE + "/customers")
    browser.leave(lambda: next(a for a in browser.all("tbody a") if a.text == "acme").click())
    report.check("the calls of acme, and nobody else's",
                 "Acme Acres" in browser.main and "Beta" not in browser.main.split("newest first")[1], browser.main)


def calls(report, browser):
    """The list of all calls says whose each is; the choice of a customer leaves the others out."""
    browser.open(BASE + "/calls")
    owners = sorted(cells[-1] for cells in rows(browser))
    report.equal("trunk and customer of each call", owners, ["carrier", "carrier, acme", "carrier, beta"])
    browser.choose("Customer", "beta")
    browser.press("Search")
    report.equal("the calls of beta", [cells[3] for cells in rows(browser)], ["Beta & <Bank>"])
    path = browser.follow("tbody a").removeprefix(BASE)
    report.check("the story names the customer", "beta" in browser.main.split("Evidence")[0], browser.main[:400])
    return path


def preview(report, browser):
    """The same number rings with the brand of the chosen customer."""
    browser.open(BASE + "/preview")
    for choice, name in (("none", BRAND), ("acme", "Acme Acres"), ("beta", "Beta & <Bank>")):
        browser.fill("Number of the caller", CALLER)
        browser.choose("Customer", choice)
        browser.press("Show")
        report.equal(f"the name at phones of {choice}", browser.text(".ring .name"), name)
        report.equal("the choice stays", browser.value("Customer"), "" if choice == "none" else choice)
    browser.choose("Customer", REFUSED)
    browser.press("Show")
    report.check("a customer whose key is refused has no brand", browser.text(".ring .name") == CALLER, browser.main)
    browser.open(BASE + f"/preview?number={CALLER.replace('+', '%2B')}&customer=acmee")
    report.check("an unknown customer is explained", "did you mean \"acme\"?" in browser.main, browser.main[:300])
    quiet(report, browser, "customers and their preview", but=("status of 400",))


def commands(report, gateway):
    """The commands have the same rows and the same rule."""
    text = herald(gateway, "customers")
    report.equal("herald customers has a title and a row of each", len(text.splitlines()), 44)
    text = herald(gateway, "customers", "--problems")
    report.check("herald customers --problems has the refused one alone",
                 [line.split()[0] for line in text.splitlines()] == ["CUSTOMER", REFUSED], text)
    for name, (brand, _) in CUSTOMERS.items():
        report.check(f"herald lookup --customer {name}", brand in herald(gateway, "lookup", CALLER, "--customer", name))
        report.check(f"herald logos --customer {name}",
                     f"https://logos.example/{name}.png" in herald(gateway, "logos", "--customer", name))
    text = herald(gateway, "events", "--customer", "branch-41")
    report.check("an unknown name is refused with a name like it, and with no list of 43",
                 "did you mean" in text and "more, see herald customers" in text, text)


def every_look(report, browser, call):
    pages = {"customers-first": "/", "customers": "/customers", "customers-calls": "/calls", "customers-call": call,
             "customers-preview": f"/preview?customer=acme&number={CALLER.replace('+', '%2B')}"}
    for name, path in pages.items():
        for width, dark in LOOKS:
            browser.look(width, dark)
            browser.open(BASE + path)
            look = f"{name}-{named(width, dark)}"
            found = browser.findings()
            report.check(f"{look}: axe-core, captions, width", not found, "; ".join(found[:4]))
            browser.shoot(look)
    browser.look()
    quiet(report, browser, "every look of the pages with customers")


def walk(report, browser, folder):
    """All of it; the PBX must run. Ends the gateway and its directory."""
    directory, gateway = configure(folder)
    try:
        gateway.start()
        wait_until(lambda: gateway.metric("herald_customer_brand_numbers") == 42, 60, "the brands do not arrive")
        for port, (what, called) in enumerate(
                [*((name, number) for name, (_, number) in CUSTOMERS.items()), ("nobody", WITHOUT_CUSTOMER)]):
            give_up(report, what, called, 5061 + port)
        wait_until(lambda: len(gateway.calls()) == 3, 20, "the calls are not in the ledger")
        herald(gateway, "targets", "disable", SPARE)
        first_page(report, browser)
        customers(report, browser)
        call = calls(report, browser)
        preview(report, browser)
        commands(report, gateway)
        every_look(report, browser, call)
    finally:
        gateway.stop()
        directory.stop()
