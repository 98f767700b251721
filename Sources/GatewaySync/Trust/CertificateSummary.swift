// SPDX-License-Identifier: Apache-2.0

import Foundation
import SwiftASN1
import X509

/// Subject and end of a certificate, for the operator.
package struct CertificateSummary: Hashable, Sendable {
    /// The name, without control characters.
    package let subject: String
    /// The last second in Unix time.
    package let end: Int64

    /// Reads a certificate in DER; nil for an unreadable one.
    package init?(der: [UInt8]) {
        guard let certificate = try? Certificate(derEncoded: der) else { return nil }
        subject = CertificateFacts(certificate).name
        end = Int64(certificate.notValidAfter.timeIntervalSince1970)
    }
}
