// SPDX-License-Identifier: Apache-2.0

import Crypto
import Foundation
import Synchronization

/// The browsers that have opened a site, by the secret in their cookie.
///
/// In memory: a restart of the program ends every session. Safe on any thread.
final class PageSessions: Sendable {
    struct Session: Sendable {
        let id: String
        /// The name of its cookie.
        let cookie: String
        /// Sent with every form of this browser.
        let token: String
        var isLoggedIn: Bool
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

    private let sessions = Mutex<[String: Session]>([:])
    private let now: @Sendable () -> ContinuousClock.Instant

    init(now: @escaping @Sendable () -> ContinuousClock.Instant) { self.now = now }

    /// The session of a cookie, or nil if it has ended.
    func find(_ id: String?) -> Session? {
        guard let id else { return nil }
        let now = now()
        return sessions.withLock { sessions in
            guard var session = sessions[id] else { return nil }
            guard now - session.lastUse < Self.idle else {
                sessions[id] = nil
                return nil
            }
            session.lastUse = now
            sessions[id] = session
            return session
        }
    }

    /// Begins a session with secrets of 128 bits.
    func begin(isLoggedIn: Bool, cookie: String, ticket: String? = nil) -> Session {
        let session = Session(
            id: Self.secret(), cookie: cookie, token: Self.secret(), isLoggedIn: isLoggedIn, ticket: ticket,
            notice: nil,
            lastUse: now())
        sessions.withLock { sessions in
            if sessions.count >= Self.most, let oldest = sessions.values.min(by: Self.endsBefore) {
                sessions[oldest.id] = nil
            }
            sessions[session.id] = session
        }
        return session
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

    /// Changes a session if it has not ended.
    func change(_ id: String, _ body: @Sendable (inout Session) -> Void) {
        sessions.withLock { sessions in
            guard var session = sessions[id] else { return }
            body(&session)
            sessions[id] = session
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

/// Counts wrong logins of all clients in a minute.
///
/// A counter for each client would let many clients try at once.
final class WrongLogins: Sendable {
    static let most = 30
    private static let window = Duration.seconds(60)
    private let state = Mutex<(began: ContinuousClock.Instant?, count: Int)>((nil, 0))

    /// Whether one more attempt is allowed.
    func allows(_ now: ContinuousClock.Instant) -> Bool {
        state.withLock { state in
            if let began = state.began, now - began < Self.window { return state.count < Self.most }
            return true
        }
    }

    func add(_ now: ContinuousClock.Instant) {
        state.withLock { state in
            if let began = state.began, now - began < Self.window {
                state.count += 1
            } else {
                state = (now, 1)
            }
        }
    }
}
