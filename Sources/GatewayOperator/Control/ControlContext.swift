// SPDX-License-Identifier: Apache-2.0

import Foundation
import Hummingbird
import NIOCore

/// A request of the control socket with its connection.
struct ControlContext: RequestContext {
    var coreContext: CoreRequestContextStorage
    private let channel: any Channel

    init(source: Source) {
        coreContext = .init(source: source)
        channel = source.channel
    }

    /// The user at the other end of the socket, such as `alice (uid 1000)`, as the kernel reports it (unix(7)).
    var sender: String {
        get async {
            guard let options = channel as? any SocketOptionProvider,
                let peer: PeerCredentials = try? await options.unsafeGetSocketOption(
                    level: .socket, name: .init(rawValue: SO_PEERCRED)
                ).get()
            else { return "an unknown user" }
            let name = getpwuid(peer.user).map { String(cString: $0.pointee.pw_name) }
            return "\(name ?? "a user without a name") (uid \(peer.user), pid \(peer.process))"
        }
    }
}

/// `struct ucred` of unix(7).
private struct PeerCredentials: Sendable {
    var process: Int32 = 0
    var user: UInt32 = 0
    var group: UInt32 = 0
}
