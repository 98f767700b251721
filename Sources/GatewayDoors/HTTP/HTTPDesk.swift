// SPDX-License-Identifier: Apache-2.0

package import NIOCore
package import NIOHTTP1

/// The requests of one door by HTTP and its responses.
///
/// The event loop of the door calls it for each request, so no function waits. A response that needs time is a future.
package protocol HTTPDesk: Sendable {
    /// The key of the door's address, for an address in use.
    static var addressKey: String { get }
    /// The thread of the door, for the servers of all reloads.
    ///
    /// It lives as long as the process: the library of the server still uses it a moment after the server has ended.
    static var loops: any EventLoopGroup { get }
    /// The most bytes of a body that are kept; further ones are dropped.
    static var mostBody: Int { get }
    /// Whether bytes that no request line may have are escaped before the parser, which rejects them.
    static var escapesRequestLines: Bool { get }

    /// Whether requests of this address are served. 4 or 16 bytes.
    func serves(_ client: [UInt8]) -> Bool

    /// The response to a request whose body nobody waits for; nil for any other. The connection ends with it.
    ///
    /// - Parameter client: its address for the log.
    func refusal(of head: HTTPRequestHead, isAllowed: Bool, client: @autoclosure () -> String) -> DoorResponse?

    /// The response to a whole request.
    func response(
        to head: HTTPRequestHead, body: ByteBuffer, isAllowed: Bool, client: @autoclosure () -> String
    ) -> DoorResponse

    /// The response to a whole request of a served client that needs more than this round of the loop; nil where `response`
    /// has it at once.
    ///
    /// - Parameter address: of the client, 4 or 16 bytes.
    func laterResponse(
        to head: HTTPRequestHead, body: ByteBuffer, from address: [UInt8], client: String, on loop: any EventLoop
    ) -> EventLoopFuture<DoorResponse>?

    /// Ends the wait for all later responses, because the server ends. Any thread.
    func end()

    /// Counts and logs bytes that the HTTP parser rejects.
    func refuseBytes(isAllowed: Bool, of client: String)

    /// Counts and logs a connection that had no place.
    func refuseConnection(of client: String)
}

extension HTTPDesk {
    package func laterResponse(
        to head: HTTPRequestHead, body: ByteBuffer, from address: [UInt8], client: String, on loop: any EventLoop
    ) -> EventLoopFuture<DoorResponse>? { nil }

    package func end() {}
}
