// SPDX-License-Identifier: Apache-2.0

/// What `herald lookup` says of a brand's logo: where the phone fetches it, or why there is none and what to change.
package struct LogoAnswer: Hashable, Sendable {
    /// The gateway's own copy of a logo, where it keeps copies.
    package struct Copy: Hashable, Sendable {
        /// What went wrong with the last fetch; nil where it went well or has not happened.
        package var problem: String?

        package init(problem: String?) { self.problem = problem }
    }

    /// The URL in the brand's record; nil where it names none.
    package var named: String?
    /// The URL in Call-Info; nil where there is no icon.
    package var shown: String?
    /// True where the brands are those of a local file, of which the shown logos alone are known.
    package var isOfFile: Bool
    /// False where the gateway writes names only.
    package var writesCallInfo: Bool
    /// True where `http` logos may be shown.
    package var allowsInsecure: Bool
    /// Nil where the gateway keeps no copies.
    package var copy: Copy?

    package init(
        named: String?, shown: String?, isOfFile: Bool = false, writesCallInfo: Bool, allowsInsecure: Bool, copy: Copy?
    ) {
        self.named = named
        self.shown = shown
        self.isOfFile = isOfFile
        self.writesCallInfo = writesCallInfo
        self.allowsInsecure = allowsInsecure
        self.copy = copy
    }

    /// Why no phone gets a logo; nil where one does.
    package var obstacle: String? {
        guard let named else {
            return isOfFile
                ? "the file names none for this brand, or one that branding.allow_insecure_logos refuses"
                : "the directory names none for this brand"
        }
        if !writesCallInfo { return "branding.call_info is false" }
        guard shown == nil else { return nil }
        if isInsecure(named), !allowsInsecure {
            return "http is refused unless branding.allow_insecure_logos is true: \(named)"
        }
        if copy != nil { return "\(withoutCopy), and logos.missing is none: \(named)" }
        return "its URL may not stand in a header: \(named)"
    }

    /// One line.
    package var text: String {
        if let obstacle { return "none, \(obstacle)" }
        guard let shown, copy != nil else { return shown ?? "" }
        return shown == named ? "\(shown) (\(withoutCopy))" : "\(shown) (copy of \(named ?? ""))"
    }

    private var withoutCopy: String {
        "no copy yet: " + (copy?.problem ?? "the gateway fetches it after a sync; see herald logos")
    }

    private func isInsecure(_ url: String) -> Bool { url.lowercased().hasPrefix("http://") }
}
