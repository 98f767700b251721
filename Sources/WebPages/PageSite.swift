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
    let loginHelp: LoginHelp?
    let ticket: LoginTicket?
    /// Whether the responses to wrong logins are delayed.
    let limitsLogins: Bool
    let sessions: PageSessions
    let wrong = WrongLogins()
    let now: @Sendable () -> ContinuousClock.Instant
    let pause: @Sendable (Duration) async -> Void
    let logger: Logger
    private let streams = LiveStreams()

    /// - Parameters:
    ///   - name: shown in the head of every page, such as `herald sbc-1`.
    ///   - masksNumbers: whether the layout has the switch for whole telephone numbers.
    ///   - loginNotice: a notice on the empty login page; nil for none.
    ///   - loginHelp: the origin of the secret, on each login page; nil for none.
    ///   - ticket: ends sessions whose secret has become invalid; nil keeps them.
    ///   - limitsLogins: false if the check of the access slows down wrong secrets itself.
    ///   - now: replaced by tests, like `pause`.
    package init(
        name: String, version: String, templates: PageTemplates, access: PageAccess, pages: [Page],
        masksNumbers: Bool = false, loginNotice: (@Sendable () async -> PageNotice?)? = nil,
        loginHelp: LoginHelp? = nil,
        ticket: LoginTicket? = nil, limitsLogins: Bool = true, logger: Logger,
        now: @escaping @Sendable () -> ContinuousClock.Instant = { ContinuousClock.now },
        pause: @escaping @Sendable (Duration) async -> Void = { try? await Task.sleep(for: $0) }
    ) {
        self.name = name
        self.version = version
        self.templates = templates
        self.access = access
        self.pages = pages
        self.masksNumbers = masksNumbers
        self.loginNotice = loginNotice
        (self.loginHelp, self.ticket, self.limitsLogins) = (loginHelp, ticket, limitsLogins)
        self.logger = logger
        (self.now, self.pause) = (now, pause)
        sessions = PageSessions(now: now)
    }

    /// Adds all routes of the site to a router, and a page for addresses without a route.
    ///
    /// - Parameter address: the client's address of a request, for the log.
    package func add<Context: RequestContext>(
        to router: Router<Context>, address: @escaping @Sendable (Context) -> String
    ) {
        router.add(middleware: MissingPages { [self] in await missingPage($0) })
        PageAssets.add(to: router)
        for page in pages + ownPages {
            router.on(RouterPath(page.path), method: page.method == .get ? .get : .post) { [self] request, context in
                await response(of: page, request, context.parameters, address(context))
            }
            guard page.method == .get else { continue }
            router.head(RouterPath(page.path)) { [self] request, context in
                let whole = await response(of: page, request, context.parameters, address(context))
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
        let cookie = cookieName(of: page.request)
        guard let session = sessions.find(Self.cookie(page.request, access), cookie: cookie) else { return }
        sessions.change(session, body)
    }

    /// A path of this site, or `/`: a form must not send the browser elsewhere.
    static func path(_ text: String) -> String {
        guard text.hasPrefix("/"), !text.hasPrefix("//"), !text.hasPrefix("/\\"),
            text.unicodeScalars.allSatisfy({ $0.value > 32 && $0.value < 127 })
        else { return "/" }
        return text
    }

    /// Reserves a live stream; nil if too many are open.
    func openStream() -> LiveSlot? {
        let isFree = streams.count.withLock { count in
            guard count < Self.mostStreams else { return false }
            count += 1
            return true
        }
        return isFree ? LiveSlot(streams) : nil
    }

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
}

/// The number of live streams.
final class LiveStreams: Sendable {
    let count = Mutex(0)
}

/// A place among the live streams, free again when the last reference to it ends.
///
/// The body of a response has it. A client that goes before the first byte ends its response without the body.
final class LiveSlot: Sendable {
    private let streams: LiveStreams

    fileprivate init(_ streams: LiveStreams) { self.streams = streams }

    deinit { streams.count.withLock { $0 -= 1 } }
}
