// SPDX-License-Identifier: Apache-2.0

import Primitives

/// Schedules the OPTIONS that probe targets (RFC 3261 §11), and matches their responses.
///
/// Pure; time is an argument. Each target is probed once an interval, spread over time. Over UDP a probe without response is
/// repeated once, after half of its timeout.
public struct TargetProbes: Sendable {
    /// Interval and timeout of probes in milliseconds.
    public struct Rules: Hashable, Sendable {
        public var interval: UInt64 = 10_000
        public var timeout: UInt64 = 4_000

        public init() {}
    }

    /// One OPTIONS to send.
    public struct Probe: Sendable {
        /// Its number in branch and Call-ID.
        public let number: UInt64
        public let target: Target
        public let isRepeat: Bool
    }

    private struct Watch {
        let target: Target
        var nextAt: UInt64
        /// The pending probe; nil for none.
        var number: UInt64?
        var repeatAt: UInt64 = .max
        var expiresAt: UInt64 = .max
    }

    private var rules: Rules
    private var watches: [Watch] = []
    private var lastNumber: UInt64

    /// - Parameter seed: the number of the first probe; best a number that no earlier run used.
    public init(rules: Rules, seed: UInt64) {
        self.rules = rules
        lastNumber = seed
    }

    /// Sets the targets to probe; those that stay keep their schedule.
    public mutating func watch(_ targets: [Target], rules: Rules, at now: UInt64) {
        self.rules = rules
        var known: [ObjectIdentifier: Watch] = [:]
        for watch in watches { known[ObjectIdentifier(watch.target.targetState)] = watch }
        var seen: Set<ObjectIdentifier> = []
        let distinct = targets.filter { seen.insert(ObjectIdentifier($0.targetState)).inserted }
        watches = distinct.enumerated().map { position, target in
            if let old = known[ObjectIdentifier(target.targetState)] {
                return Watch(
                    target: target, nextAt: old.nextAt, number: old.number, repeatAt: old.repeatAt,
                    expiresAt: old.expiresAt)
            }
            // The first probe of each soon, spread over a second.
            return Watch(target: target, nextAt: now + UInt64(position) * 1000 / UInt64(distinct.count))
        }
    }

    /// The time of the next `due`; nil without targets.
    public var nextDeadline: UInt64? {
        watches.map { min($0.nextAt, $0.repeatAt, $0.expiresAt) }.min()
    }

    /// Gives the probes to send, and the targets that did not respond in time.
    public mutating func due(at now: UInt64) -> (send: [Probe], silent: [TargetState]) {
        var send: [Probe] = []
        var silent: [TargetState] = []
        for position in watches.indices {
            if let number = watches[position].number {
                if watches[position].expiresAt <= now {
                    silent.append(watches[position].target.targetState)
                    close(position)
                } else if watches[position].repeatAt <= now {
                    watches[position].repeatAt = .max
                    send.append(Probe(number: number, target: watches[position].target, isRepeat: true))
                }
            }
            if watches[position].nextAt <= now {
                lastNumber += 1
                watches[position].number = lastNumber
                watches[position].repeatAt = now + rules.timeout / 2
                watches[position].expiresAt = now + rules.timeout
                // A timeout longer than the interval must not leave probes without an end.
                watches[position].nextAt = now + max(rules.interval, rules.timeout + 1)
                send.append(Probe(number: lastNumber, target: watches[position].target, isRepeat: false))
            }
        }
        return (send, silent)
    }

    /// Takes the response to a probe and gives its target; nil for a late or foreign response.
    public mutating func responded(_ number: UInt64) -> TargetState? {
        guard let position = watches.firstIndex(where: { $0.number == number }) else { return nil }
        close(position)
        return watches[position].target.targetState
    }

    /// Takes the report that a probe was not delivered and gives its target; nil for a late or foreign report.
    public mutating func undelivered(_ number: UInt64) -> TargetState? { responded(number) }

    private mutating func close(_ position: Int) {
        watches[position].number = nil
        watches[position].repeatAt = .max
        watches[position].expiresAt = .max
    }
}

/// The OPTIONS of a probe (RFC 3261 §11.1).
public enum ProbeRequest {
    private static let prefix: StaticString = "z9hG4bKhdp"

    /// The bytes of one probe; `secret` seals its branch, so that nobody else can respond for a target.
    public static func bytes(number: UInt64, to target: PeerAddress, from socket: LocalSocket, secret: Secret)
        -> [UInt8]
    {
        var out: [UInt8] = []
        out.reserveCapacity(400)
        let parameter = socket.transport == .udp ? "" : socket.transport == .tls ? ";transport=tls" : ";transport=tcp"
        let host = String(decoding: socket.sentBy, as: UTF8.self)
        out.append("OPTIONS sip:")
        out.append(contentsOf: "\(target.description)\(parameter) SIP/2.0\r\n".utf8)
        out.append(contentsOf: socket.viaStart)
        out.append(prefix)
        out.append(hex: number)
        out.append(hex: seal(number, secret))
        out.append(contentsOf: ";rport\r\nMax-Forwards: 70\r\nFrom: <sip:herald@\(host)>;tag=".utf8)
        out.append(hex: seal(number, secret))
        out.append(contentsOf: "\r\nTo: <sip:\(target.description)>\r\nCall-ID: ".utf8)
        out.append(hex: number)
        out.append(contentsOf: "@\(host)\r\nCSeq: 1 OPTIONS\r\nAccept: application/sdp\r\n".utf8)
        out.append("User-Agent: Herald\r\nContent-Length: 0\r\n\r\n")
        return out
    }

    /// Reads the number of the probe out of a response's branch; nil for any other branch.
    ///
    /// A probe that was under way when the secret was replaced has the seal of the earlier one.
    public static func number(ofBranch text: ArraySlice<UInt8>, secret: Secret) -> UInt64? {
        let length = prefix.utf8CodeUnitCount
        guard text.count == length + 32, text.prefix(length).equalsIgnoringCase(prefix),
            let number = Hexadecimal.read(text.dropFirst(length).prefix(16)),
            let seal = Hexadecimal.read(text.suffix(16)),
            secret.age(where: { seal == Self.seal(number, $0) }) != nil
        else { return nil }
        return number
    }

    private static func seal(_ number: UInt64, _ secret: Secret) -> UInt64 {
        var hash = secret.hash(for: .probe)
        hash.combine(number)
        return hash.finish()
    }
}
