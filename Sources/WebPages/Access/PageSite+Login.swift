// SPDX-License-Identifier: Apache-2.0

import HTTPTypes
import Hummingbird
import Logging

/// The login of a site on an address that others can reach.
extension PageSite {
    func loginForm(_ request: Request, problem text: String, status: HTTPResponse.Status) -> Response {
        loginForm(request, notice: PageNotice(.error, text), status: status)
    }

    func loginForm(_ request: Request, notice: PageNotice?, status: HTTPResponse.Status = .ok) -> Response {
        guard case .login(let label, _, _) = access else { return redirect("/") }
        let known = storedSession(of: request)
        let session = known ?? sessions.fresh(cookie: cookieName(of: request))
        let frame = PageFrame(
            site: name, version: version, title: "Log in", entries: [], token: session.token, here: "/",
            hasLogin: false,
            masksNumbers: false, showsNumbers: false, notice: notice)
        var content = ["label": label]
        (content["help"], content["command"]) = (loginHelp?.text, loginHelp?.command)
        let html = templates.render("login", FramedPage(frame: frame, content: content)) ?? label
        return withCookie(html: html, status, session, known == nil)
    }

    /// The session of a request, unless its secret has become invalid.
    func session(of request: Request) async -> PageSessions.Session? {
        guard let session = storedSession(of: request) else { return nil }
        guard let ticket, let text = session.ticket, (try? await ticket.isValid(text)) == false else { return session }
        sessions.end(session.id)
        return nil
    }

    func login(_ request: Request, _ address: String) async -> Response {
        guard case .login(let label, _, let check) = access else { return redirect("/") }
        guard PageAccess.isOwn(request.headers, host: request.head.authority),
            let session = storedSession(of: request),
            let body = try? await request.body.collect(upTo: 4096)
        else { return loginForm(request, problem: "The form is too old. Try again.", status: .forbidden) }
        let form = PageForm.urlEncoded(Array(buffer: body))
        guard PageSessions.isEqual(form["token"], session.token) else {
            return loginForm(request, problem: "The form is too old. Try again.", status: .forbidden)
        }
        do {
            guard try await check(form["secret"], address) else {
                return await refused(request, label, address)
            }
        } catch let problem as PageProblem {
            return loginForm(request, problem: problem.text, status: problem.status)
        } catch {
            return loginForm(request, problem: "The login cannot be checked: \(error)", status: .serviceUnavailable)
        }
        // A new identifier, so that one which somebody planted before the login is worth nothing.
        sessions.end(session.id)
        var response = redirect("/")
        setCookie(
            sessions.begin(cookie: cookieName(of: request), ticket: ticket?.text(form["secret"])), on: &response)
        return response
    }

    /// The response to a wrong secret, which comes late.
    private func refused(_ request: Request, _ label: String, _ address: String) async -> Response {
        logger.warning("wrong login for the pages", metadata: ["address": "\(address)"])
        guard limitsLogins else {
            return loginForm(request, problem: "This \(label) is wrong.", status: .unauthorized)
        }
        guard let wait = wrong.enter(now()) else {
            return loginForm(
                request, problem: "This \(label) is wrong, and too many wrong ones come at once.",
                status: .tooManyRequests)
        }
        defer { wrong.leave() }
        await pause(wait)
        return loginForm(request, problem: "This \(label) is wrong.", status: .unauthorized)
    }

    /// The session of the request's cookie.
    private func storedSession(of request: Request) -> PageSessions.Session? {
        sessions.find(Self.cookie(request, access), cookie: cookieName(of: request))
    }

    /// The name of the session's cookie at the host of a request.
    func cookieName(of request: Request) -> String { Self.cookieName(access, host: request.head.authority) }
}
