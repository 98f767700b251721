// SPDX-License-Identifier: Apache-2.0

import Crypto
import Foundation
import Primitives
import Synchronization

/// The browsers that have opened a site, by the identifier in their cookie.
///
/// In memory: a restart of the program ends every session. A session is stored when a login or a form changes it. Until
/// then it consists of its cookie, which this process has sealed, so requests without a cookie take no place of others.
/// Safe on any thread.
final class PageSessions: Sendable {
    struct Session: Sendable, Redacted {
        let id: String
        /// The name of its cookie.
        let cookie: String
        /// Sent with every form of this browser.
        let token: String
        var isLoggedIn = false
        /// The text of `LoginTicket` for the secret of the login.
        var ticket: String?
        var showsNumbers = false
        /// Shown on the next page.
        var notice: PageNotice?
        var lastUse: ContinuousClock.Instant
    }

    /// Sessions end after this time without a request.
    static let idle = Duration.seconds(8 * 3600)
    /// Above it a session ends: one without login first, then the one that was used least recently.
    static let most = 500

    /// Seals identifiers and makes form tokens.
    private let key = Concealed(SymmetricKey(size: .bits256))
    private let sessions = Mutex<[String: Session]>([:])
    private let now: @Sendable () -> ContinuousClock.Instant

    init(now: @escaping @Sendable () -> ContinuousClock.Instant) { self.now = now }

    /// The session of a cookie; nil if it has ended, or if another process has made the cookie.
    ///
    /// - Parameter cookie: the name of the cookie.
    func find(_ id: String?, cookie: String) -> Session? {
        guard let id, isOwn(id) else { return nil }
        let now = now()
        return sessions.withLock { sessions in
            guard var session = sessions[id] else { return unstored(id, cookie) }
            guard now - session.lastUse < Self.idle else {
                sessions[id] = nil
                return nil
            }
            session.lastUse = now
            sessions[id] = session
            return session
        }
    }

    /// A new session without login, which is stored by its first change.
    func fresh(cookie: String) -> Session {
        let random = Self.secret()
        return unstored(random + "." + seal("id", random), cookie)
    }

    /// Begins a session with a login and stores it.
    func begin(cookie: String, ticket: String? = nil) -> Session {
        var session = fresh(cookie: cookie)
        (session.isLoggedIn, session.ticket) = (true, ticket)
        sessions.withLock { [session] in Self.store(session, in: &$0) }
        return session
    }

    private func unstored(_ id: String, _ cookie: String) -> Session {
        Session(id: id, cookie: cookie, token: seal("form", id), lastUse: now())
    }

    private static func store(_ session: Session, in sessions: inout [String: Session]) {
        if sessions[session.id] == nil, sessions.count >= most, let oldest = sessions.values.min(by: endsBefore) {
            sessions[oldest.id] = nil
        }
        sessions[session.id] = session
    }

    /// Whether this process has made an identifier.
    private func isOwn(_ id: String) -> Bool {
        let parts = id.split(separator: ".", omittingEmptySubsequences: false)
        return parts.count == 2 && Self.isEqual(String(parts[1]), seal("id", String(parts[0])))
    }

    /// A text that only this process can make.
    private func seal(_ use: String, _ text: String) -> String {
        let code = HMAC<SHA256>.authenticationCode(for: Data("\(use) \(text)".utf8), using: key.reveal())
        return Data(code.prefix(16)).map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined()
    }

    /// Whether a session goes on and is logged in; looking does not prolong it.
    func isLoggedIn(_ id: String) -> Bool {
        let now = now()
        return sessions.withLock { sessions in
            sessions[id].map { $0.isLoggedIn && now - $0.lastUse < Self.idle } ?? false
        }
    }

    /// Sessions without login end first: requests without a cookie must not end the session of a person.
    private static func endsBefore(_ first: Session, _ second: Session) -> Bool {
        first.isLoggedIn == second.isLoggedIn ? first.lastUse < second.lastUse : second.isLoggedIn
    }

    func end(_ id: String) {
        sessions.withLock { sessions in sessions[id] = nil }
    }

    /// Changes a session and stores it; a login that has ended meanwhile stays ended.
    func change(_ session: Session, _ body: @Sendable (inout Session) -> Void) {
        sessions.withLock { sessions in
            guard var changed = sessions[session.id] ?? (session.isLoggedIn ? nil : session) else { return }
            body(&changed)
            Self.store(changed, in: &sessions)
        }
    }

    /// Compares two secrets in constant time.
    static func isEqual(_ first: String, _ second: String) -> Bool {
        SHA256.hash(data: Data(first.utf8)) == SHA256.hash(data: Data(second.utf8))
    }

    private static func secret() -> String {
        SymmetricKey(size: .bits128).withUnsafeBytes { bytes in
            Data(bytes).base64EncodedString().filter { $0.isLetter || $0.isNumber }
        }
    }
}

/// Delays the responses to wrong logins; the right secret is never delayed.
///
/// One wrong login waits a second, more in a minute wait longer. Few wait at once, and the others are refused at once: a
/// client that guesses learns no more in a minute than the waiting places allow.
final class WrongLogins: Sendable {
    /// Wrong logins of all clients in a minute that wait a second.
    static let few = 30
    /// Wrong logins that wait at once.
    static let mostWaiting = 8
    private static let window = Duration.seconds(60)

    private struct State {
        var began: ContinuousClock.Instant?
        var count = 0
        var waiting = 0
    }

    private let state = Mutex(State())

    /// The wait of one more wrong login; nil if too many wait.
    ///
    /// `leave` ends it.
    func enter(_ now: ContinuousClock.Instant) -> Duration? {
        state.withLock { state in
            if state.began.map({ now - $0 >= Self.window }) ?? true { (state.began, state.count) = (now, 0) }
            state.count += 1
            guard state.waiting < Self.mostWaiting else { return nil }
            state.waiting += 1
            return state.count <= Self.few ? .seconds(1) : .seconds(4)
        }
    }

    func leave() { state.withLock { $0.waiting -= 1 } }
}
