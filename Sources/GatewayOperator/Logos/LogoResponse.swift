// SPDX-License-Identifier: Apache-2.0

/// A brand's logo as `herald lookup` shows it: the URL for the phone, or the cause of its absence and the remedy.
struct LogoResponse: Hashable, Sendable {
    /// The gateway's copy of a logo, if it keeps copies.
    struct Copy: Hashable, Sendable {
        /// The failure of the last fetch; nil after a success or before the first.
        var problem: String?
    }

    /// The URL in the brand's record, if any.
    var named: String?
    /// The URL in Call-Info; nil without an icon.
    var shown: String?
    /// True for brands of a local file; only their shown logos are known.
    var isOfFile: Bool = false
    /// False if the gateway writes names only.
    var writesCallInfo: Bool
    /// True if `http` logos may be shown.
    var allowsInsecure: Bool
    /// Nil if the gateway keeps no copies.
    var copy: Copy?

    /// The cause of a missing logo; nil if phones get one.
    var obstacle: String? {
        guard let named else {
            return isOfFile
                ? "the file names none for this brand, or one that branding.allow_insecure_logos refuses"
                : "the directory names none for this brand"
        }
        if !writesCallInfo { return "branding.call_info is false" }
        guard shown == nil else { return nil }
        let isRefused = isInsecure(named) && !allowsInsecure
        // The gateway's copy is the remedy, whatever the original URL is.
        if copy != nil {
            let original = isRefused ? "calls get no http URL in its place" : "logos.missing is none"
            return "\(withoutCopy), and \(original): \(named)"
        }
        if isRefused {
            return """
                its URL is http: give the brand an https URL, or let section logos of herald.yaml keep copies \
                (branding.allow_insecure_logos sends it unprotected): \(named)
                """
        }
        return "its URL is not allowed in a header: \(named)"
    }

    /// The result as one line.
    var text: String {
        if let obstacle { return "none, \(obstacle)" }
        guard let shown, copy != nil else { return shown ?? "" }
        return shown == named ? "\(shown) (\(withoutCopy))" : "\(shown) (copy of \(named ?? ""))"
    }

    private var withoutCopy: String {
        copy?.problem.map { "no copy: \($0)" } ?? "no copy yet: the gateway fetches it after a sync; see herald logos"
    }

    private func isInsecure(_ url: String) -> Bool { url.lowercased().hasPrefix("http://") }
}
