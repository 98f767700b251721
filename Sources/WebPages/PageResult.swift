// SPDX-License-Identifier: Apache-2.0

package import Hummingbird
import NIOCore

/// The response of a page.
package enum PageResult: Sendable {
    /// A template in the layout; `content` is what the template sees as `content`.
    case page(
        template: String, title: String, content: any Sendable, status: HTTPResponse.Status = .ok,
        notice: PageNotice? = nil)
    /// Sends the browser to another page of the site (303) and shows the notice there.
    case redirect(to: String, notice: PageNotice? = nil)
    /// A file or picture as it is; `name` makes it a download.
    case file(bytes: [UInt8], type: String, name: String? = nil)
    /// A download of any size, sent as it is made.
    case download(ResponseBody, type: String, name: String)
    /// Parts of an open page that are sent again and again.
    case live(LiveParts)
}

/// A problem that a page shows: what was wrong, and what to do.
package struct PageProblem: Error, Hashable, Sendable {
    package let status: HTTPResponse.Status
    package let text: String

    package init(_ status: HTTPResponse.Status, _ text: String) {
        self.status = status
        self.text = text
    }
}

/// One page of a site.
package struct Page: Sendable {
    package enum Method: Sendable {
        case get, post
    }

    let method: Method
    let path: String
    let entry: String?
    let isListed: @Sendable () -> Bool
    /// The largest body in bytes.
    let limit: Int
    let handle: @Sendable (PageRequest) async throws -> PageResult

    /// - Parameters:
    ///   - path: a path of Hummingbird's router, such as `/calls/:id`.
    ///   - entry: the label in the navigation; nil leaves the page out of it.
    ///   - isListed: whether the navigation has the entry now.
    ///   - limit: the largest body of a form in bytes, with its files.
    package init(
        _ method: Method, _ path: String, entry: String? = nil, isListed: @escaping @Sendable () -> Bool = { true },
        limit: Int = 64 * 1024,
        handle: @escaping @Sendable (PageRequest) async throws -> PageResult
    ) {
        self.method = method
        self.path = path
        (self.entry, self.isListed) = (entry, isListed)
        self.limit = limit
        self.handle = handle
    }
}
