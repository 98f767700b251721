// SPDX-License-Identifier: Apache-2.0

package import CheckedHTTP
package import NIOSSL

/// The push services that Herald sends to.
package struct PushSettings: Sendable {
    package var web: WebPushSettings?
    package var apns: APNsSettings?
    package var fcm: FCMSettings?
    /// Permits push services in private networks, and plain HTTP to the machine itself.
    package var allowPrivateAddresses: Bool
    /// The longest time of one request, from the name to the last byte.
    package var timeout: Duration
    /// Authorities of push services; nil for those of the system.
    package var roots: [NIOSSLCertificate]?
    /// Resolves names; tests inject their own.
    package var resolve: HostResolver

    package init(
        web: WebPushSettings? = nil, apns: APNsSettings? = nil, fcm: FCMSettings? = nil,
        allowPrivateAddresses: Bool = false, timeout: Duration = .seconds(10), roots: [NIOSSLCertificate]? = nil,
        resolve: @escaping HostResolver = HostAddress.resolve
    ) {
        (self.web, self.apns, self.fcm) = (web, apns, fcm)
        (self.allowPrivateAddresses, self.timeout, self.roots) = (allowPrivateAddresses, timeout, roots)
        self.resolve = resolve
    }
}
