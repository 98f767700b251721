# SPDX-License-Identifier: Apache-2.0
"""The rules that are inverted: file, text with the rule in «», the inverted rule, targets of the tests, what it is about.

The text occurs once in its file. The inverted rule has the type of the rule.
"""
from typing import NamedTuple


class Rule(NamedTuple):
    file: str
    text: str
    inverted: str
    tests: str
    reason: str


MESSAGE = "Sources/SIPCore/Message/"
PROXY = "Sources/SIPCore/Proxy/"
SIP = "^(SIPCoreTests|CallPathTests)\\."
CALLS = "^CallPathTests\\."
BRANDS = "^BrandingTests\\."
ACCOUNTS = "^(CallAccountingTests|GatewayStoreTests)\\."
STORE = "^GatewayStoreTests\\."

RULES = (
    Rule(MESSAGE + "RequestValidity.swift", "return «version.upperBound == lineEnd» ? nil", "true", SIP,
         "nothing follows the version on its line"),
    Rule(MESSAGE + "RequestValidity.swift", "«value <= mostForwards» else", "true", SIP,
         "Max-Forwards is at most 255"),
    Rule(MESSAGE + "RequestValidity.swift", "guard message.has(.proxyRequire), «message.method != .ack»,", "true", SIP,
         "Proxy-Require of an ACK is ignored"),
    Rule(MESSAGE + "RequestValidity.swift", "«!response.repeats(.contentLength)» && body(response) == nil", "true", SIP,
         "a response with two lengths is dropped"),
    Rule(PROXY + "TargetHealth.swift",
         "hasRespondedToProbe = true\n        switch state {\n        case .up: break\n"
         "        case .resting(let until): if «now >= until» {", "true", SIP,
         "a probe does not end the rest that a target asked for"),
    Rule(PROXY + "TargetHealth.swift", "silences == 0 || «now > firstSilence + rules.window» {", "false", SIP,
         "silences count within a window"),
    Rule(PROXY + "TargetHealth.swift", "changedAt.map { «now < $0 + 10 * rules.window» } ?? false", "true", SIP,
         "a long good time is no relapse"),
    Rule(PROXY + "TargetHealth.swift", "UInt64(«min(seconds, rules.longestRest)») * 1000", "seconds", SIP,
         "Retry-After is followed up to a limit"),
    Rule(PROXY + "TargetHealth.swift", "rules.upAfter << «min(relapses, 3)» }", "relapses", SIP,
         "relapses raise the wanted probes at most eightfold"),
    Rule("Sources/CallPath/Admission/RateLimit.swift", "desired: «max(empty, now)» + interval", "now", CALLS,
         "calls above the rate use up the burst"),
    Rule("Sources/CallPath/Admission/CallsInProgress.swift", "guard «count < capacity» else { return }", "true", CALLS,
         "the table of calls is bounded"),
    Rule("Sources/CallPath/Admission/CallsInProgress.swift", "«status == 482» ? 1 : 2", "false", CALLS,
         "of two failures a merged request counts least"),
    Rule("Sources/CallPath/Admission/SenderAdmission.swift", "let method = arrival.message.method, «method != .ack»,",
         "true", CALLS, "the ACK of an unknown peer gets no response"),
    Rule("Sources/CallPath/Decoration/Decoration.swift", "return «quote > name.lowerBound»\n", "false", CALLS,
         "a name with a stray quote is not replaced"),
    Rule("Sources/CallPath/Identity/CallerIdentity.swift",
         "guard «isFailed || number != nil && claim.number(on: trunk) == number» else", "true", CALLS,
         "the attestation of another number is none of the caller's"),
    Rule("Sources/CallPath/Identity/CallerIdentity.swift", "guard «count <= Self.most» else { return nil }", "true",
         CALLS, "a caller with too many identities has no number"),
    Rule("Sources/CallPath/Core/CallReporter.swift",
         "«Self.seconds(now) &- transaction.ownerState.reportedAt >= 60»", "true", CALLS,
         "ringing is reported once a minute"),
    Rule("Sources/CallPath/Core/GatewayElement.swift", "if «now.milliseconds > settings.longestCall» {", "false", CALLS,
         "calls without a BYE end"),
    Rule("Sources/CallPath/Core/FoundEvidence.swift", "where «reason.isGate || reason == .stale»:", "reason.isGate",
         CALLS, "old brands held a brand back, like a gate"),
    Rule("Sources/CallPath/Core/CallReporter.swift", "Array(CallTexts.cut(bytes ?? [], to: «length»))", "length + 1",
         CALLS, "a called name is marked as the accounts keep it"),
    Rule("Sources/Branding/Numbers/NumberNormaliser.swift", "let isSettled = «!isForeign» && (", "true", BRANDS,
         "a number with two readings is not certain"),
    Rule("Sources/Branding/Index/UpdateTime.swift", "if «count < 6» {", "count < 18", BRANDS,
         "the fraction of a second has six digits"),
    Rule("Sources/Branding/Logos/LogoURL.swift", "«!authority.contains(UInt8(ascii: \"@\"))» else", "true", BRANDS,
         "a logo's URL has no user"),
    Rule("Sources/Branding/Rendering/HeaderText.swift", "guard «bytes <= maxBytes» else { break }", "true", BRANDS,
         "a name is cut by its bytes"),
    Rule("Sources/Branding/Decision/AttestationClaims.swift",
         "guard «worst.rawValue < other.worst.rawValue» else { return }", "worst.rawValue <= other.worst.rawValue",
         "^(BrandingTests|CallPathTests)\\.", "of equal claims the first one is the source"),
    Rule("Sources/CallAccounting/Outcome/ReturnPolicy.swift", "guard elapsed >= 0, «elapsed <= window * 1_000_000» else",
         "true", ACCOUNTS, "a return is within the window"),
    Rule("Sources/CallAccounting/Outcome/CallOutcome.swift", "case 603 where «alerted» && (q850Cause == 16", "true",
         ACCOUNTS, "603 with cause 16 is a decision unless a phone rang"),
    Rule("Sources/CallAccounting/Outcome/CallStateMachine.swift",
         "«record.lastMessageAt &- 1_000_000 <= now &- step» else", "true", ACCOUNTS,
         "a step of the clock leaves times that the old clock cannot have given"),
    Rule("Sources/CallAccounting/Outcome/CallStateMachine.swift",
         "Self.time(limits.unanswered, after: «max(record.lastMessageAt, otherMessageAt)»)", "record.lastMessageAt",
         ACCOUNTS, "an INVITE sent again keeps a call open"),
    Rule("Sources/GatewayStore/Outbox/EventOutboxStore.swift", "if due.count == limit, «failing.count > limit / 2» {",
         "false", STORE, "events that fail leave room for new ones"),
    Rule("Sources/GatewayStore/Outbox/EventOutboxStore.swift", "if «due.count < limit» {", "false", STORE,
         "events that wait beyond the longest pause are sent"),
    Rule("Sources/GatewayStore/Ledger/LedgerRetention.swift", "if «used <= limit / 10 * 9» { isDone = true }",
         "used <= limit", STORE, "a full ledger shrinks by a tenth"),
    Rule("Sources/DirectoryStore/Accounts/DeviceTokens.swift", "«now - rotated > Self.grace» {", "false", "TokenTests",
         "a token that was used twice revokes its device's tokens"),
    Rule("Sources/DirectoryStore/Accounts/AccountQuota.swift",
         "if try «taken(by: account, on: day, database) >= limit» {", "false", "AccountQuotaTests",
         "an account stores a limited number of bytes a day"),
    Rule("Sources/DirectoryStore/Feed/SyncCursor.swift", "return «head.last - change > modulus / 2»", "false",
         "^DirectoryServerTests\\.ChangeFeedTests", "a cursor of a newer database is ahead"),
    Rule("Sources/DirectoryStore/Brands/EntryRules.swift", "joined(separator: \"-\").prefix(«64»))", "200", "EntryRulesTests",
         "a derived identifier is as long as one may be"),
    Rule("Sources/DirectoryStore/Events/EventTime.swift", "$0 <= now && «$0 >= now - Self.window» ?", "true", "DirectoryServerTests.(EventTests|BatchTests|BilledMonthTests)",
         "an event counts in its own day for a week"),
    Rule("Sources/DirectoryStore/Accounts/APIKeys.swift", "if «grace <= 0» {", "false", "KeyRotationTests|TokenTests",
         "a key without grace takes its tokens along"),
)
