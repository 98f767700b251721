// SPDX-License-Identifier: Apache-2.0

/// An incoming call of a brand about as phones show it, at the size of a phone, light and dark.
struct PhoneCard: Sendable {
    let phoneName: String
    let phoneReason: String?
    let phoneNumber: String
    /// The address of the picture on these pages; nil for none.
    let phoneLogo: String?
    /// Shown in place of a picture.
    let phoneInitial: String
    /// The reason for which the picture is not shown.
    let phoneRemark: String?
    let phoneLooks = [Look(lookClass: "day", lookName: "light"), Look(lookClass: "night", lookName: "dark")]

    struct Look: Sendable {
        let lookClass: String
        let lookName: String
    }

    /// - Parameters:
    ///   - number: a number of the brand as the session shows it; nil without one.
    ///   - logo: the address of the picture on these pages; nil for none.
    ///   - isElsewhere: true for a picture of another server.
    init(name: String, reason: String, number: String?, logo: String?, isElsewhere: Bool) {
        phoneName = name.isEmpty ? "Name of the brand" : name
        phoneReason = reason.isEmpty ? nil : reason
        phoneNumber = number ?? "the caller's number"
        phoneLogo = logo
        phoneInitial = name.first.map { "\($0)".uppercased() } ?? "–"
        phoneRemark =
            isElsewhere ? "These pages load no picture of another server, so the logo is not shown here." : nil
    }
}
