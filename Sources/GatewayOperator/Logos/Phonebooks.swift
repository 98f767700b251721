// SPDX-License-Identifier: Apache-2.0

import Branding
import CallAccounting
import Foundation
import Logging

/// Phonebooks of the brands, for phones that load their contacts from a server.
///
/// A phonebook has the first brands by name, up to a limit, because phones hold few contacts. It is made at the first
/// request after a change of the brands and kept until the next. While a gate stops branding it is empty.
actor Phonebooks {
    /// A phonebook, ready to send.
    struct Book: Sendable {
        let bytes: [UInt8]
        /// A hash of the content in quotes.
        let etag: String
    }

    private let current: CurrentBranding
    private let isEnabled: @Sendable () -> Bool
    private let logos: any LogoCache
    private let photos: Photos
    private let limit: Int
    private let logger: Logger
    private var books: [PhonebookFormat: Book] = [:]
    /// The brands of all formats; nil before the first request for them.
    private var listing: BrandListing?
    /// The index of `books` and `listing`; not kept alive for them.
    private weak var index: BrandIndex?
    private var wasOpen = true
    private var cards: CardLinks?
    private var hasReportedLimit = false

    /// The forms of logos in phonebooks.
    struct Photos: Sendable {
        /// Start of the URL of a logo, before `/logos/`.
        var publicURL: String
        /// Keys of forms by family; a family without one gets the usual form.
        var keys: [PhoneFamily: String]

        init(publicURL: String, families: [PhoneFamily]) {
            self.publicURL = publicURL
            keys = Dictionary(families.map { ($0, $0.form.key) }) { first, _ in first }
        }
    }

    /// Largest size of all pictures in one file, before Base64, in bytes.
    private static let mostPhotoBytes = 2 << 20

    /// - Parameters:
    ///   - isEnabled: false while the operator's settings stop branding.
    ///   - limit: the largest number of contacts.
    init(
        _ current: CurrentBranding, isEnabled: @escaping @Sendable () -> Bool, logos: any LogoCache, photos: Photos,
        limit: Int, logger: Logger
    ) {
        self.current = current
        self.isEnabled = isEnabled
        self.logos = logos
        self.photos = photos
        self.limit = limit
        self.logger = logger
    }

    /// Returns the phonebook of the present brands.
    func book(_ format: PhonebookFormat) -> Book {
        let snapshot = current.load()
        let isOpen = isEnabled() && snapshot.gates.closed == nil
        if index !== snapshot.index || isOpen != wasOpen || cards != snapshot.cards { (books, listing) = ([:], nil) }
        (index, wasOpen, cards) = (snapshot.index, isOpen, snapshot.cards)
        if let book = books[format] { return book }
        let bytes = Array(format.text(of: isOpen ? contacts(snapshot.index, format) : []).utf8)
        let book = Book(bytes: bytes, etag: "\"\(String(stableHash(bytes), radix: 16))\"")
        books[format] = book
        return book
    }

    private func contacts(_ index: BrandIndex, _ format: PhonebookFormat) -> [PhonebookContact] {
        var contacts: [PhonebookContact] = []
        var (numbers, photoBytes) = (0, 0)
        let listing = listing ?? BrandListing(index, limit: limit)
        self.listing = listing
        for brand in listing.brands {
            let file = photoFile(of: brand.entry, in: index, format)
            let photo = format.embedsPhotos ? file.flatMap(logos.read) : nil
            var rest = brand.numbers[...]
            while !rest.isEmpty, contacts.count < limit {
                var contact = PhonebookContact(name: brand.name, numbers: [])
                contact.numbers = rest.prefix(PhonebookContact.mostNumbers).map(\.description)
                contact.photoURL = file.map { "\(photos.publicURL)/logos/\($0)" } ?? index.logoURL(of: brand.entry)
                contact.cardURL = index.cardURL(of: brand.entry, at: cards)
                if let photo, photoBytes + photo.count <= Self.mostPhotoBytes {
                    photoBytes += photo.count
                    contact.photo = Data(photo).base64EncodedString()
                }
                contacts.append(contact)
                numbers += contact.numbers.count
                rest = rest.dropFirst(PhonebookContact.mostNumbers)
            }
        }
        report(numbers: numbers, of: index.count)
        return contacts
    }

    private func photoFile(of entry: BrandEntry, in index: BrandIndex, _ format: PhonebookFormat) -> String? {
        index.logoFile(of: entry, form: format.family.flatMap { photos.keys[$0] })
    }

    /// Logs the limit once, until all numbers fit again.
    private func report(numbers: Int, of all: Int) {
        let isLimited = numbers < all
        defer { hasReportedLimit = isLimited }
        guard isLimited, !hasReportedLimit else { return }
        logger.notice(
            "phonebooks have the first brands by name only; raise logos.phonebook_contacts if the phones hold more",
            metadata: ["numbers": "\(numbers)", "of": "\(all)", "contacts": "\(limit)"])
    }
}
