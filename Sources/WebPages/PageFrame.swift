// SPDX-License-Identifier: Apache-2.0

/// The values of the layout around a page's content.
struct PageFrame: Sendable {
    struct Entry: Sendable {
        let label: String
        let path: String
        let isCurrent: Bool
    }

    let site: String
    let version: String
    let title: String
    let entries: [Entry]
    /// The form token of the session.
    let token: String
    /// The path of this page with its query, for forms that return here.
    let here: String
    /// Whether the site has a login.
    let hasLogin: Bool
    /// Whether the site masks telephone numbers, and this session has asked to see them.
    let masksNumbers: Bool
    let showsNumbers: Bool
    let notice: PageNotice?
}

/// A message at the top of a page: the result of the last form, or a trouble.
package struct PageNotice: Hashable, Sendable {
    package enum Kind: String, Sendable {
        case done, warning, error
    }

    package let kind: Kind
    package let text: String

    /// For templates, which see stored properties only: whether a screen reader interrupts to read it.
    private let isAlert: Bool

    package init(_ kind: Kind, _ text: String) {
        self.kind = kind
        self.text = text
        isAlert = kind == .error
    }
}

/// The values of a template: the frame and the page's own values as `content`.
struct FramedPage {
    let frame: PageFrame
    let content: Any
}
