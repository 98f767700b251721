// SPDX-License-Identifier: Apache-2.0

import Glibc
import NIOCore

/// Sends responses on the socket of a channel, each by a system call of its own.
///
/// The source of a datagram may be forged, such as a broadcast address or one without a route. NIO closes a datagram channel
/// on nearly each error of a write, so one such source would close the door. Here an error ends one response.
enum DatagramReply {
    /// Sends a datagram without waiting; false where the system does not take it.
    ///
    /// A full socket drops it, as the network does: it would wait in memory. Only on the event loop of the channel.
    static func send(_ bytes: [UInt8], to destination: SocketAddress, on channel: any Channel) -> Bool {
        let sent = try? channel.pipeline.syncOperations.withUnsafeTransportIfAvailable(of: NIOBSDSocket.Handle.self) {
            socket in
            destination.withSockAddr { address, length in
                sendto(socket, bytes, bytes.count, Int32(MSG_DONTWAIT), address, socklen_t(length))
            }
        }
        return sent == bytes.count
    }
}
