// SPDX-License-Identifier: Apache-2.0

import CallAccounting
import GatewayStore
import Primitives

/// The telephone numbers of a card, as its reader may see them.
///
/// The callee is a person whom the brand's desk need not know. A callee's user name is hidden too.
struct CardNumbers: Hashable, Sendable {
    enum Choice: Hashable, Sendable {
        /// All numbers in full.
        case all
        /// The caller's number in full; each other one masked.
        case withoutCallee
        case masked
    }

    private let choice: Choice
    private let caller: String?
    private let callees: Set<String>
    /// The last digits of the callees, by which any spelling of them is found.
    private let tails: Set<String>

    init(_ call: LedgerCallRow, _ choice: Choice) {
        self.choice = choice
        let parties = [call.destination, call.subscriber] + (call.alsoCalled ?? [])
        let isInbound = call.direction == "inbound"
        caller = isInbound ? call.caller ?? call.callerReceived : nil
        callees = Set(parties.compactMap { $0 }.filter { !$0.isEmpty })
        tails = Set(callees.map(Self.digits).filter { $0.utf8.count >= 7 }.map { String($0.suffix(8)) })
    }

    /// A text of the story without control characters, and without numbers that stay hidden.
    func text(_ story: StoryText) -> String {
        let parts = story.parts.map { part in
            switch part {
            case .text(let text): cleaned(text)
            case .number(let number): shown(number)
            }
        }
        return TerminalText.visible(parts.joined())
    }

    /// A free text, such as a Call-ID, with the numbers of callees masked.
    func cleaned(_ text: String) -> String {
        guard choice != .all, holdsCallee(text) else { return text }
        let masked = NumberMask.masked(text)
        return holdsCallee(masked) ? "hidden: it holds the callee's number" : masked
    }

    /// A Call-ID, which may have the callee's number, extension or user name.
    func identifier(_ text: String) -> String {
        guard choice != .all else { return text }
        let small = text.lowercased()
        let parts = Set(small.split { !$0.isLetter && !$0.isNumber }.map(String.init))
        let isNamed = callees.contains { callee in
            let name = callee.lowercased()
            return parts.contains(name) || name.count >= 3 && name.contains(where: \.isLetter) && small.contains(name)
        }
        return isNamed ? "hidden: it holds the callee's name" : cleaned(text)
    }

    /// A number, or a foreign text with one.
    func shown(_ number: String) -> String {
        guard choice != .all else { return number }
        if callees.contains(number) {
            let masked = NumberMask.masked(number)
            return masked == number ? "the callee" : masked
        }
        return choice == .withoutCallee && number == caller ? number : NumberMask.masked(number)
    }

    private func holdsCallee(_ text: String) -> Bool {
        let digits = Self.digits(text)
        return tails.contains { digits.contains($0) }
    }

    private static func digits(_ text: String) -> String {
        String(decoding: text.utf8.filter(NumberMask.isDigit), as: UTF8.self)
    }
}
