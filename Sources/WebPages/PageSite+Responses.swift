// SPDX-License-Identifier: Apache-2.0

import HTTPTypes
import Hummingbird
import Logging
import NIOCore

/// The way of one request: access, session, form token, page, response.
extension PageSite {
    func response(of page: Page, _ request: Request, _ parameters: Parameters, _ address: String) async -> Response {
        if case .off(let text) = access { return problem(PageProblem(.forbidden, text), nil) }
        let host = request.head.authority
        if let refusal = refusalOfHost(request) { return refusal }
        var session = await session(of: request)
        let isNew = session == nil
        if access.hasLogin, session?.isLoggedIn != true { return loginFirst(page, request) }
        let current = session ?? sessions.fresh(cookie: cookieName(of: request))
        session = current
        do {
            var form = PageForm.none
            if page.method == .post { form = try await checkedForm(page, request, isNew ? nil : current, host) }
            let asked = PageRequest(
                request: request, parameters: parameters, form: form, showsNumbers: current.showsNumbers)
            let result = try await page.handle(asked)
            return finished(result, page, request, current, isNew)
        } catch let refusal as PageProblem {
            return problem(refusal, framed(page, request, current, title: "Problem"), current, isNew)
        } catch {
            logger.error("a page failed", metadata: ["path": "\(page.path)", "reason": "\(error)"])
            let text = "The page failed: \(error). The program's log has the same line."
            return problem(
                PageProblem(.internalServerError, text), framed(page, request, current, title: "Problem"), current,
                isNew)
        }
    }

    /// The page of an address that has none; nil where the pages are off or the name in `Host` is a foreign one. Without a
    /// login it has no entries.
    func missingPage(_ request: Request) async -> Response? {
        if case .off = access { return nil }
        guard access.accepts(host: request.head.authority) else { return nil }
        let missing = PageProblem(.notFound, "There is no page \(request.uri.path.prefix(200)).")
        guard let session = await session(of: request), !access.hasLogin || session.isLoggedIn else {
            return problem(missing, nil)
        }
        return problem(missing, framed(nil, request, session, title: "Problem"), session)
    }

    /// The response to a foreign name in `Host`; nil if the site accepts it.
    func refusalOfHost(_ request: Request) -> Response? {
        if access.accepts(host: request.head.authority) { return nil }
        let text = "These pages are open to this machine only: use the name localhost or 127.0.0.1."
        return problem(PageProblem(.misdirectedRequest, text), nil)
    }

    /// The form of a POST that belongs to the session.
    private func checkedForm(
        _ page: Page, _ request: Request, _ session: PageSessions.Session?, _ host: String?
    ) async throws -> PageForm {
        guard PageAccess.isOwn(request.headers, host: host) else {
            throw PageProblem(.forbidden, "The form came from another site. Nothing was changed.")
        }
        let body: [UInt8]
        do {
            body = Array(buffer: try await request.body.collect(upTo: page.limit))
        } catch {
            throw PageProblem(.contentTooLarge, "More than \(page.limit) bytes were sent. Nothing was changed.")
        }
        guard let form = Self.form(body, type: request.headers[.contentType]) else {
            throw PageProblem(.badRequest, "The form cannot be read. Nothing was changed. Open the page again.")
        }
        guard let session, PageSessions.isEqual(form["token"], session.token) else {
            throw PageProblem(
                .forbidden,
                "This form is too old: the program or the session began anew. Nothing was changed. Open the page again."
            )
        }
        return form
    }

    /// The fields of a body; nil for a form with files that breaks the format.
    private static func form(_ body: [UInt8], type: String?) -> PageForm? {
        guard let boundary = MultipartForm.boundary(of: type) else { return PageForm.urlEncoded(body) }
        return MultipartForm.decoded(body, boundary: boundary)
    }

    private func loginFirst(_ page: Page, _ request: Request) -> Response {
        let isPage = page.method == .get && request.headers[.accept]?.contains("text/event-stream") != true
        guard isPage else {
            return problem(PageProblem(.unauthorized, "The session has ended. Log in again. Nothing was changed."), nil)
        }
        return redirect("/login")
    }

    private func finished(
        _ result: PageResult, _ page: Page, _ request: Request, _ session: PageSessions.Session, _ isNew: Bool
    ) -> Response {
        switch result {
        case .page(let template, let title, let content, let status, let notice):
            let frame = framed(page, request, session, title: title, notice: notice ?? session.notice)
            if session.notice != nil { sessions.change(session) { $0.notice = nil } }
            guard let html = templates.render(template, FramedPage(frame: frame, content: content)) else {
                return problem(
                    PageProblem(.internalServerError, "There is no template \(template)."), frame, session, isNew)
            }
            return withCookie(html: html, status, session, isNew)
        case .redirect(let path, let notice):
            if let notice { sessions.change(session) { $0.notice = notice } }
            var response = redirect(Self.path(path))
            if isNew { setCookie(session, on: &response) }
            return response
        case .file(let bytes, let type, let name):
            return download(.init(byteBuffer: ByteBuffer(bytes: bytes)), type, name)
        case .download(let body, let type, let name):
            return download(body, type, name)
        case .live(let live):
            guard let slot = openStream() else {
                return problem(
                    PageProblem(.serviceUnavailable, "Too many pages are open; this one does not update itself."), nil)
            }
            var headers = PageHeaders.safe
            headers[.contentType] = "text/event-stream; charset=utf-8"
            return Response(
                status: .ok, headers: headers,
                body: live.body(templates, slot) { [self] in mayWatch(session.id) })
        }
    }

    /// A file; a name makes it a download.
    private func download(_ body: ResponseBody, _ type: String, _ name: String?) -> Response {
        var headers = PageHeaders.safe
        headers[.contentType] = type
        if let name {
            headers[.contentDisposition] =
                "attachment; filename=\"\(name.filter { $0.isASCII && $0 != "\"" && !$0.isNewline })\""
        }
        return Response(status: .ok, headers: headers, body: body)
    }

    private func framed(
        _ page: Page?, _ request: Request, _ session: PageSessions.Session, title: String, notice: PageNotice? = nil
    ) -> PageFrame {
        let path = request.uri.path
        let query = request.uri.query.map { "?\($0)" } ?? ""
        let entries = pages.filter { $0.isListed() }.compactMap { other in
            other.entry.map { label in
                PageFrame.Entry(
                    label: label, path: other.path,
                    isCurrent: other.path == "/" ? path == "/" : path == other.path || path.hasPrefix(other.path + "/"))
            }
        }
        return PageFrame(
            site: name, version: version, title: title, entries: entries, token: session.token,
            here: page?.method == .get ? path + query : "/", hasLogin: access.hasLogin, masksNumbers: masksNumbers,
            showsNumbers: session.showsNumbers, notice: notice)
    }

    func problem(
        _ problem: PageProblem, _ frame: PageFrame?, _ session: PageSessions.Session? = nil, _ isNew: Bool = false
    ) -> Response {
        let bare = PageFrame(
            site: name, version: version, title: "Problem", entries: [], token: "", here: "/", hasLogin: false,
            masksNumbers: false, showsNumbers: false, notice: nil)
        let page = FramedPage(frame: frame ?? bare, content: ["text": problem.text])
        return withCookie(
            html: templates.render("problem", page) ?? problem.text, problem.status, session, isNew && session != nil)
    }

    func withCookie(
        html: String, _ status: HTTPResponse.Status, _ session: PageSessions.Session?, _ isNew: Bool
    ) -> Response {
        var headers = PageHeaders.safe
        headers[.contentType] = "text/html; charset=utf-8"
        var response = Response(status: status, headers: headers, body: .init(byteBuffer: ByteBuffer(string: html)))
        if isNew, let session { setCookie(session, on: &response) }
        return response
    }

    func setCookie(_ session: PageSessions.Session, on response: inout Response) {
        response.setCookie(
            Cookie(
                name: session.cookie, value: session.id, path: "/", secure: access.isSecure, httpOnly: true,
                sameSite: .strict))
    }

    func redirect(_ path: String) -> Response {
        var headers = PageHeaders.safe
        headers[.location] = path
        return Response(status: .seeOther, headers: headers)
    }
}
