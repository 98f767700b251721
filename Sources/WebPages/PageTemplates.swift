// SPDX-License-Identifier: Apache-2.0

import Mustache

/// The templates of a site, parsed once at the start.
package struct PageTemplates: Sendable {
    private let library: MustacheLibrary

    /// Parses the templates of a site and adds the common layout.
    ///
    /// A page's template is a Mustache parent of `layout` with a block `content`. Values are escaped for HTML.
    ///
    /// - Parameter sources: name to UTF-8 bytes, as SwiftPM embeds them.
    /// - Throws: the parser's error, with name, line and column of the template.
    package init(_ sources: [String: [UInt8]]) throws {
        var library = MustacheLibrary()
        for (name, bytes) in sources.merging(Self.common, uniquingKeysWith: { own, _ in own }) {
            try library.register(HTMLText.pragma + String(decoding: bytes, as: UTF8.self), named: name)
        }
        self.library = library
    }

    /// Renders one template; nil if there is none of that name.
    package func render(_ name: String, _ values: Any) -> String? { library.render(values, withTemplate: name) }

    private static var common: [String: [UInt8]] {
        [
            "layout": PackageResources.layout_mustache, "login": PackageResources.login_mustache,
            "problem": PackageResources.problem_mustache,
        ]
    }
}
