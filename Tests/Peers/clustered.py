# SPDX-License-Identifier: Apache-2.0
"""Three gateways with a shared ledger between Kamailio's dispatcher and its like at the PBX, and everything behind them."""
import collections
import csv
import datetime
import json
import os
import random
import time

from heraldtest import probes
from heraldtest.child import Failed, wait_until
from heraldtest.records import read_json
from . import accounts, stories as story
from .cluster import CARRIER, EDGE, PBX, PHONES, SHARED, Cluster, Relay, lay_network
from .mix import first
from .roamer import CARRIER as ROAMER, DESK, Roamer
from .replicated import Balancer, DirectoryNode, Servers
from .tally import say

DATABASE = "192.0.2.40"
DIRECTORIES, DIRECTORY = ("192.0.2.50:8088", "192.0.2.51:8088"), "192.0.2.52:8088"
PLACES = story.Places(CARRIER, EDGE, PHONES, PBX)
OUTCOMES = 'retry_window: 20s, voicemail: {headers: ["X-Answer: voicemail"]}'
# Seconds that a duration in the ledger may differ from the carrier's, on a busy machine.
EXACT = 1.5
# Seconds until the gateway that has a call knows of its attempts at others; docs/shared-ledger.md.
KNOWN_AFTER = 5
# More than a clock of a gateway is set back.
EARLIER = datetime.timedelta(seconds=60)
# Seconds from the answer of a call back until its original is settled.
RETURN_WITHIN = 2
# The moment at which a return is found, by the clock of PostgreSQL; the ledger has that of the call back.
WATCH_RETURNS = """
    CREATE TABLE found_return (call_id text NOT NULL, at timestamptz NOT NULL DEFAULT clock_timestamp());
    CREATE FUNCTION record_return() RETURNS trigger LANGUAGE plpgsql AS
        'BEGIN INSERT INTO public.found_return VALUES (NEW.call_id); RETURN NULL; END';
    CREATE TRIGGER found AFTER INSERT OR UPDATE OF return_call_id ON ledger.returned
        FOR EACH ROW WHEN (NEW.return_call_id IS NOT NULL) EXECUTE FUNCTION record_return()"""
RETURN_DELAYS = """
    SELECT '+' || original.destination AS called,
        extract(epoch FROM found.at) - (returned.at + back.answered_at - back.invite_at) / 1e6 AS seconds
    FROM found_return AS found JOIN ledger.returned USING (call_id)
        JOIN ledger.call AS back ON (back.node, back.ledger, back.id)
            = (returned.return_node, returned.return_ledger, returned.return_call)
        JOIN ledger.call AS original ON (original.node, original.ledger, original.id)
            = (returned.node, returned.ledger, returned.call)"""


class Field:
    """The peers, the servers and the gateways of the step."""

    def __init__(self, folder, chance):
        self.folder, self.chance, self.relays, self.directories = folder, chance, [], []
        self.cluster = self.balancer = self.roamer = None
        # Called numbers of calls that an earlier phase has lost, and that stay open until their deadline.
        self.left_open = set()
        # A time before the first call of this phase.
        self.since = ""
        self.servers = Servers(DATABASE, ["192.0.2.0/24"])
        self.port = 5432

    def begin(self):
        lay_network(ROAMER, DESK, DATABASE, *(address.split(":")[0] for address in (*DIRECTORIES, DIRECTORY)))
        self.servers.begin("directory")
        self.directories = [
            DirectoryNode(os.path.join(self.folder, f"directory-{place}"), address, self.servers.url("directory"))
            for place, address in enumerate(DIRECTORIES)]
        key = self.fill(self.directories[0])
        for node in self.directories:
            node.start()
        self.balancer = Balancer(DIRECTORY, DIRECTORIES)
        self.cluster = Cluster(
            3, self.folder, carrier=EDGE, has_clock=True, ledger=self.servers.url(), outcomes=OUTCOMES,
            directory=f'{{url: "http://{DIRECTORY}", api_key_file: "{key}", sync_interval: 30s}}')
        self.cluster.start()
        self.servers.query(self.port, WATCH_RETURNS)
        self.roamer = Roamer(self.cluster, random.Random(self.chance.random()))
        self.keeper = self.cluster.nodes[0]
        self.keeper.take_address()
        for node in self.cluster.nodes:
            wait_until(lambda node=node: node.metric("herald_brand_numbers") >= story.BRANDS, 60, "the brands did not arrive")

    def fill(self, node):
        """The brands in the directory; the file of the gateways' key."""
        path = os.path.join(self.folder, "brands.csv")
        with open(path, "w", encoding="utf-8") as file:
            rows = csv.writer(file)
            rows.writerow(["number", "brand_name", "logo_url", "call_reason", "brand_id"])
            rows.writerows([*row, f"b-{place}"] for place, row in enumerate(story.brands()))
        node.command("import", path)
        key = os.path.join(self.folder, "api-key")
        node.command("keys", "add", "gateways", "--write", key)
        return key

    def relay(self, folder):
        """Kamailio on both sides, new for each phase."""
        os.makedirs(folder, exist_ok=True)
        self.since = (datetime.datetime.now(datetime.timezone.utc) - EARLIER).strftime("%Y-%m-%dT%H:%M:%SZ")
        own = [node.own for node in self.cluster.nodes]
        self.relays = [Relay("edge", EDGE, CARRIER, own, folder), Relay("inner", PBX, PHONES, [*own, SHARED], folder)]
        alive = len(self.cluster.running())
        wait_until(lambda: all(relay.active() >= alive for relay in self.relays), 30, "Kamailio does not find the gateways")

    def end_relays(self):
        for relay in self.relays:
            relay.child.stop(2)
        self.relays = []

    def move_address(self, away_from):
        """Another gateway gets the shared address, as by keepalived, if this one has it."""
        if self.keeper is away_from:
            time.sleep(1)
            away_from.leave_address()
            self.keeper = next(node for node in self.cluster.running() if node is not away_from)
            self.keeper.take_address()

    def settled(self, excused):
        """Nothing waits, and no call is open but those of the numbers in `excused`."""
        waits = any(
            node.metric(name) for node in self.cluster.running()
            for name in ("herald_events_waiting", "herald_shared_waiting", "herald_shared_behind_seconds"))
        return not waits and not self.open_numbers() - excused

    def open_numbers(self):
        """The called numbers of this phase's calls that are open in the ledger of a gateway that runs."""
        return {row["destination"] for node in self.cluster.running() if node.metric("herald_open_calls")
                for row in local_calls(node) if not row.get("outcome")} - self.left_open

    def left(self, excused):
        """What `settled` waits for."""
        return "; ".join(f"{node.name} " + " ".join(
            f"{name}={node.metric('herald_' + name)}" for name in (
                "open_calls", "events_waiting", "shared_waiting", "shared_behind_seconds"))
            for node in self.cluster.running()) + f"; open: {sorted(self.open_numbers() - excused)}"

    def query(self, sql, database="directory"):
        """Rows of the directory's database, or of the shared ledger's, `herald`."""
        lines = self.servers.query(self.port, f"SELECT row_to_json(found) FROM ({sql}) found", database)
        return [list(json.loads(line).values()) for line in lines]

    def end(self):
        self.end_relays()
        if self.roamer:
            self.roamer.stop()
        if self.cluster:
            self.cluster.stop()
        for node in self.directories:
            node.stop()
        if self.balancer:
            self.balancer.stop()
        self.servers.stop()


class Ledger:
    """The calls of one phase in the shared ledger, each once."""

    def __init__(self, field, numbers):
        calls = field.cluster.running()[0].calls("--since", field.since)
        self.rows = [call for call in calls if numbers & {call.get("destination"), call.get("caller")}]
        if not all("gateway" in row for row in self.rows):
            raise Failed("herald calls could not read the shared ledger, and listed the calls of one gateway alone")
        self.by_call = collections.defaultdict(list)
        for row in self.rows:
            self.by_call[row["callid"]].append(row)

    def calls(self):
        """A call of two gateways by the row that has ended."""
        return [sorted(rows, key=lambda row: not row.get("outcome"))[0] for rows in self.by_call.values()]

    def doubled(self):
        return {call: rows for call, rows in self.by_call.items() if len(rows) > 1}


class Events:
    """The events of one phase in the directory."""

    def __init__(self, field, numbers):
        self.field, self.numbers = field, numbers

    def query(self, sql):
        return [row for row in self.field.query(sql) if accounts.Event(row).subscriber in self.numbers]


def audit(report, field, stories):
    """Each call of SIPp, in the shared ledger, in the gateways' own ledgers and in the directory."""
    refused = sum(node.metric("herald_events_refused") for node in field.cluster.running())
    report.equal("events that the directory has refused", refused, 0)
    numbers = {call.called for call in stories.calls}
    ledger = Ledger(field, numbers)
    accounts.compare(report, Events(field, numbers), ledger, stories)
    doubled = ledger.doubled()
    report.check("no call has rows of two gateways", not doubled, first(
        f"{rows[0]['destination']} " + ", ".join(f"{row['gateway']} {row.get('outcome')}" for row in rows)
        for rows in doubled.values()))
    talked, wrong = stories.talked(), []
    for call in ledger.calls():
        lasted = talked.get(call.get("destination"))
        if call["direction"] == "inbound" and lasted is not None:
            seconds, (least, most) = span(call), (part / 1000 for part in lasted)
            if seconds is None or not least - EXACT <= seconds <= most + EXACT:
                wrong.append(f"{call['gateway']} {call['destination']}: {seconds} s, the carrier {least} to {most} s")
    report.check(f"each of {len(talked)} answered calls lasted as long as at the carrier", not wrong, first(wrong))
    own = collections.defaultdict(set)
    for node in field.cluster.running():
        for row in local_calls(node):
            own[row["callid"]].add((node.name, *facts(row)))
    alive = {node.name for node in field.cluster.running()} - ({field.death.without_ledger} if field.death else set())
    wrong = [f"{row['destination']} {facts(row)}: {own[row['callid']]}" for row in ledger.calls()
             if row["gateway"] in alive and (row["gateway"], *facts(row)) not in own[row["callid"]]]
    report.check("the ledger of the gateway that has a call has the same of it", not wrong, first(wrong))


def apart(report, field, stories, is_allowed):
    """The called numbers whose second attempt is a call of its own; `is_allowed` if the gateways could not join them."""
    numbers = {call.called for call in stories.calls if call.kind == "tried-again"}
    found = collections.defaultdict(list)
    for row in Ledger(field, numbers).calls():
        found[row["destination"]].append(row)
    two = {number for number, rows in found.items() if len(rows) == 2}
    events = accounts.told(Events(field, two))
    wrong = []
    for number in two:
        ends = sorted(row.get("outcome") or "OPEN" for row in found[number])
        told = sorted(event.outcome for event in events[number])
        if ends != ["ANSWERED", "FAILED"] or told != ["call_seen", "displayed", "error"]:
            wrong.append(f"{number} {ends} {told}")
    report.check("a second attempt that is a call of its own has its events, and the first one an error", not wrong, first(wrong))
    if is_allowed:
        say(f"{len(numbers) - len(two)} of {len(numbers)} second attempts are one call with the first")
    else:
        report.check(f"each of {len(numbers)} second attempts is one call with the first", not two, first(sorted(two)))
    return two


def uncounted(field, stories):
    """The called numbers of second attempts that ended before their gateway could know of the first.

    Their event may lack `attempts`.
    """
    talked = stories.talked()
    short = {call.called for call in stories.calls
             if call.kind == "tried-again" and talked.get(call.called, (0,))[0] < 1000 * KNOWN_AFTER}
    events = accounts.told(Events(field, short))
    lack = {number for number in short if events.get(number) and not any("attempts" in event.meta for event in events[number])}
    say(f"{len(lack)} of {len(short)} second attempts shorter than {KNOWN_AFTER} s have an event without the number of attempts")
    return short


def audit_returns(report, field, stories):
    """How long after its answer each call back was found to be one, over all gateways."""
    numbers = {call.called for call in stories.backs}
    delays = sorted(seconds for called, seconds in field.query(RETURN_DELAYS, "herald") if called in numbers)
    report.check(f"each of {len(numbers)} call backs was found within {RETURN_WITHIN} s of its answer",
                 len(delays) == len(numbers) and delays and delays[-1] <= RETURN_WITHIN,
                 f"{len(delays)} found, the last after {', '.join(f'{delay:.2f}' for delay in delays[-5:])} s")
    if delays:
        say(f"call backs were found {sum(delays) / len(delays):.2f} s after their answer on average, "
            f"the last after {delays[-1]:.2f} s")


class Death:
    """What a gateway had when it died for good."""

    def __init__(self, victim, ended, window):
        """`ended`: when it died; `window`: seconds before in which a row may have been on its way to the shared ledger."""
        self.victim, self.begin, self.ended = victim.name, ended - window, ended
        # Its name once its own ledger is lost.
        self.without_ledger = None
        # Called numbers of calls that rang there, and of those with a message in its last seconds.
        self.lost, self.late = set(), set()
        inbound = [row for row in local_calls(victim) if row["direction"] == "inbound"]
        self.last_moment = {row["destination"] for row in inbound if moment(row["inviteat"]).timestamp() > ended - window}
        rows = [row for row in inbound if not row.get("outcome")]
        self.ringing = ringing(inbound)
        self.answered = {row["destination"] for row in rows if row.get("answeredat")}

    def is_over(self, victim):
        """The gateway is back with its disk: only those are excused that rang there, also when its ledger had not stored them."""
        more = self.late & ringing(local_calls(victim))
        say(f"allowance, rang at {self.victim} in its last second: {len(more)} calls")
        self.lost |= more
        self.late = set()


def ringing(rows):
    """Called numbers of inbound calls that are open without a 2xx."""
    return {row["destination"] for row in rows
            if row["direction"] == "inbound" and not row.get("outcome") and not row.get("answeredat")}


def excuse(report, stories, roaming, death):
    """Finds the calls that rang at a gateway that died, or that had a message in its last seconds.

    docs/cluster.md says that the former are lost behind a dispatcher, docs/shared-ledger.md that of the latter something
    may be missing until the gateway comes back.
    """
    gone = {number for word, number in stories.carrier.said() if word == "gone"}
    told = collections.defaultdict(set)
    for side in (stories.carrier, stories.pbx):
        for word, number in side.said():
            told[number].add((side.name, word))
    ends = {("carrier", "answered"), ("carrier", "refused")}
    numbers = {call.called for call in stories.calls}
    death.lost = gone | {number for number in numbers if not told[number] & ends} | numbers & death.ringing
    death.late = numbers & (death.last_moment | stories.said_between(death.begin, death.ended + 1)) - death.lost
    death.late |= {call.called for call in roaming if call.said_between(death.begin, death.ended + 1)}
    say(f"allowance, a message in the last seconds of {death.victim}: {len(death.late)} calls")
    say(f"allowance, rang at {death.victim} when it died: {len(death.lost)} calls, of which {len(death.lost & death.ringing)} "
        f"are open in its ledger and {len(gone)} got 408 from the dispatcher")
    report.check("no call with an answer is among them", not death.lost & death.answered, first(sorted(death.lost & death.answered)))


def audit_roaming(report, field, calls):
    """Each call whose messages passed all gateways, at its end."""
    report.check(f"{len(calls)} calls through another gateway with each message went as planned", calls and not any(
        call.trouble for call in calls), first(call.trouble for call in calls if call.trouble))
    numbers, wrong = {call.called for call in calls}, []
    ledger, events = Ledger(field, numbers), accounts.told(Events(field, numbers))
    rows = collections.defaultdict(list)
    for row in ledger.calls():
        rows[row["destination"]].append(row)
    for call in calls:
        found = [(row.get("outcome"), span(row)) for row in rows[call.called]]
        outcome, end = ("MISSED", "missed") if call.kind == "carrier gives up" else ("ANSWERED", "call_seen")
        told = sorted(event.outcome for event in events[call.called])
        is_right = len(found) == 1 and found[0][0] == outcome and told == sorted(["displayed", end])
        if is_right and call.seconds:
            is_right = found[0][1] is not None and call.seconds - EXACT <= found[0][1] <= (call.most_seconds or call.seconds) + EXACT
        if not is_right and not call.trouble:
            wrong.append(f"{call.called} {call.kind} {call.seconds} to {call.most_seconds}: {found} {told}")
    report.check("each of them is in the ledger once, with outcome and duration, and in the directory once", not wrong, first(wrong))
    doubled = ledger.doubled()
    say(f"{len(doubled)} of them have rows of two gateways" if doubled else "none of them has rows of two gateways")


def facts(row):
    return row["callid"], row.get("outcome"), row.get("endedat")


def local_calls(node):
    status, text = node.command("calls", "--local", "--json", "--limit", "1000000")
    if status:
        raise Failed(f"herald calls --local of {node.name}: {text}")
    return read_json(text)


def span(call):
    """Seconds from the answer to the end; None without both."""
    if not call.get("answeredat") or not call.get("endedat"):
        return None
    return (moment(call["endedat"]) - moment(call["answeredat"])).total_seconds()


def moment(text):
    return datetime.datetime.fromisoformat(text.replace("Z", "+00:00"))


class Delays:
    """The time that the gateways add to an INVITE, from one moment to another."""

    def __init__(self, field):
        self.field, self.before = field, self.buckets(field)

    @staticmethod
    def buckets(field):
        found = collections.Counter()
        for node in field.cluster.running():
            for series, value in probes.metrics(node.admin).items():
                if series.startswith("herald_added_delay_seconds_bucket"):
                    found[series.split('le="')[1].split('"')[0]] += value
        return found

    def highest(self, share=0.99):
        """The upper bound of the bucket with this share of all since the begin."""
        now = self.buckets(self.field)
        since = sorted((float(bound), now[bound] - self.before[bound]) for bound in now)
        return next((bound for bound, count in since if count >= share * since[-1][1]), None)


__all__ = ["DATABASE", "Death", "Delays", "Failed", "Field", "PLACES", "apart", "audit", "audit_returns", "audit_roaming", "excuse", "say",
           "uncounted"]
