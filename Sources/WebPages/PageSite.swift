// SPDX-License-Identifier: Apache-2.0

import Foundation
import HTTPTypes
package import Hummingbird
package import Logging
import NIOCore
import Synchronization

/// The pages of one server: access, sessions, forms, navigation and assets.
///
/// Handlers run only for requests that passed all checks.
package final class PageSite: Sendable {
    /// Live streams that may be open at once.
    static let mostStreams = 16

    let name: String
    let version: String
    let templates: PageTemplates
    let access: PageAccess
    let pages: [Page]
    let masksNumbers: Bool
    /// A notice on the empty login page, such as how to make the first key.
    let loginNotice: (@Sendable () async -> PageNotice?)?
    let ticket: LoginTicket?
    /// Whether many wrong logins of anybody stop all logins for a minute.
    let limitsLogins: Bool
    let sessions: PageSessions
    let wrong = WrongLogins()
    let now: @Sendable () -> ContinuousClock.Instant
    let logger: Logger
    private let streams = Mutex(0)

    /// - Parameters:
    ///   - name: shown in the head of every page, such as `herald sbc-1`.
    ///   - masksNumbers: whether the layout has the switch for whole telephone numbers.
    ///   - loginNotice: a notice on the empty login page; nil for none.
    ///   - ticket: ends sessions whose secret has become invalid; nil keeps them.
    ///   - limitsLogins: false if the check of the access slows down wrong secrets itself.
    ///   - now: replaced by tests.
    package init(
        name: String, version: String, templates: PageTemplates, access: PageAccess, pages: [Page],
        masksNumbers: Bool = false, loginNotice: (@Sendable () async -> PageNotice?)? = nil,
        ticket: LoginTicket? = nil, limitsLogins: Bool = true, logger: Logger,
        now: @escaping @Sendable () -> ContinuousClock.Instant = { ContinuousClock.now }
    ) {
        self.name = name
        self.version = version
        self.templates = templates
        self.access = access
        self.pages = pages
        self.masksNumbers = masksNumbers
        self.loginNotice = loginNotice
        (self.ticket, self.limitsLogins) = (ticket, limitsLogins)
        self.logger = logger
        self.now = now
        sessions = PageSessions(now: now)
    }

    /// Adds all routes of the site to a router.
    ///
    /// - Parameter address: the client's address of a request, for the log.
    package func add<Context: RequestContext>(
        to router: Router<Context>, address: @escaping @Sendable (Context) -> String
    ) {
        PageAssets.add(to: router)
        for page in pages + ownPages {
            router.on(RouterPath(page.path), method: page.method == .get ? .get : .post) { [self] request, context in
                await response(of: page, request, context.parameters, address(context))
            }
            guard page.method == .get else { continue }
            router.head(RouterPath(page.path)) { [self] request, context in
                let whole = await response(of: page, request, context.parameters, address(context))
                if whole.headers[.contentType]?.hasPrefix("text/event-stream") == true { closeStream() }
                return whole.createHeadResponse()
            }
        }
        guard access.hasLogin else { return }
        router.get("/login") { [self] request, _ in
            if let refusal = refusalOfHost(request) { return refusal }
            return loginForm(request, notice: await loginNotice?())
        }
        router.head("/login") { [self] request, _ in
            refusalOfHost(request)?.createHeadResponse() ?? loginForm(request, notice: nil).createHeadResponse()
        }
        router.post("/login") { [self] request, context in
            if let refusal = refusalOfHost(request) { return refusal }
            return await login(request, address(context))
        }
    }

    private var ownPages: [Page] {
        let here: @Sendable (PageRequest) -> String = { Self.path($0.form["here"]) }
        var own = [
            Page(.post, "/numbers") { [self] page in
                change(page) { $0.showsNumbers.toggle() }
                return .redirect(to: here(page))
            }
        ]
        if access.hasLogin {
            own.append(
                Page(.post, "/logout") { [self] page in
                    if let id = Self.cookie(page.request, access) { sessions.end(id) }
                    return .redirect(to: "/login")
                })
        }
        return own
    }

    private func change(_ page: PageRequest, _ body: @Sendable (inout PageSessions.Session) -> Void) {
        if let id = Self.cookie(page.request, access) { sessions.change(id, body) }
    }

    /// A path of this site, or `/`: a form must not send the browser elsewhere.
    static func path(_ text: String) -> String {
        guard text.hasPrefix("/"), !text.hasPrefix("//"), !text.hasPrefix("/\\"),
            text.unicodeScalars.allSatisfy({ $0.value > 32 && $0.value < 127 })
        else { return "/" }
        return text
    }

    /// Reserves a live stream; false if too many are open.
    func openStream() -> Bool {
        streams.withLock { count in
            guard count < Self.mostStreams else { return false }
            count += 1
            return true
        }
    }

    func closeStream() { streams.withLock { $0 -= 1 } }

    /// The name of the session's cookie.
    ///
    /// It has the port of the site: browsers share cookies between all ports of a host (RFC 6265 §8.5), and two programs of
    /// one machine would end each other's sessions.
    static func cookieName(_ access: PageAccess, host: String?) -> String {
        let port = host?.wholeMatch(of: /.*:([0-9]{1,5})/).map { "-" + $0.1 } ?? ""
        return (access.isSecure ? "__Host-herald" : "herald-session") + port
    }

    static func cookie(_ request: Request, _ access: PageAccess) -> String? {
        request.cookies[cookieName(access, host: request.head.authority)]?.value
    }

    /// Whether the session that began a live stream may still see it.
    func mayWatch(_ id: String) -> Bool { !access.hasLogin || sessions.isLoggedIn(id) }

    /// Begins a session of the browser that sent a request.
    func beginSession(_ request: Request, isLoggedIn: Bool, ticket: String? = nil) -> PageSessions.Session {
        sessions.begin(
            isLoggedIn: isLoggedIn, cookie: Self.cookieName(access, host: request.head.authority), ticket: ticket)
    }
}
