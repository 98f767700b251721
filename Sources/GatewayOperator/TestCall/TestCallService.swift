// SPDX-License-Identifier: Apache-2.0

import Branding
import CallAccounting
import CallPath
import ConfigurationFiles
import Foundation
import GatewayConfiguration
import Primitives
import SIPCore
import SIPTransport
import ServiceLifecycle
import Synchronization

/// The gateway's side of `herald test-call`: checks the order, and admits its caller while the command is connected.
///
/// One test at a time. The control socket alone reaches it, so neither a carrier nor a PBX can begin a test.
final class TestCallService: Service, TestCallSource {
    private struct Running {
        let id: Int
        let signs: AsyncStream<TestCallSign>.Continuation
    }

    private struct State {
        var running: Running?
        var next = 0
        var hasStopped = false
    }

    private let settings: LiveSettings
    private let shared: GatewayShared
    private let targets: @Sendable () async -> [GatewayStatus.Target]
    private let state = Mutex(State())

    /// - Parameter targets: the targets of calls with their states.
    init(
        _ settings: LiveSettings, _ shared: GatewayShared,
        targets: @escaping @Sendable () async -> [GatewayStatus.Target]
    ) {
        self.settings = settings
        self.shared = shared
        self.targets = targets
    }

    func plan(_ order: TestCallOrder) async throws(ControlProblem) -> TestCallPlan { try await checked(order).plan }

    func begin(
        _ order: TestCallOrder, caller: String, callID: String
    ) async throws(ControlProblem) -> AsyncStream<TestCallSign> {
        guard TestCallOrder.isCallID(callID) else {
            throw ControlProblem(
                error: "call_id must be the Call-ID of the test's INVITE: 16 to 128 letters, digits, - . _ or @")
        }
        let checked = try await checked(order, isBegun: true)
        guard let address = try? EndpointAddress.read(caller, defaultPort: nil).peer(),
            address.bareHostText == checked.plan.host, address.port != 0
        else { throw ControlProblem(error: "the caller must send from \(checked.plan.host)") }
        let callBack =
            order.awaitsReturn
            ? TestCaller.CallBack(
                number: checked.number,
                called: CalledParty(number: checked.destination.number, user: order.to),
                customer: checked.destination.route?.customer?.name) : nil
        let test = TestCaller(
            trunk: checked.plan.trunk, address: address, socket: checked.socket, callID: callID, callBack: callBack)
        return try open(test, for: .seconds(order.seconds))
    }

    private func open(_ test: TestCaller, for limit: Duration) throws(ControlProblem) -> AsyncStream<TestCallSign> {
        let (stream, signs) = AsyncStream.makeStream(of: TestCallSign.self, bufferingPolicy: .bufferingNewest(8))
        let id: Int? = state.withLock { state in
            guard !state.hasStopped, state.running == nil else { return nil }
            state.next += 1
            state.running = Running(id: state.next, signs: signs)
            settings.use(test)
            return state.next
        }
        guard let id else { throw ControlProblem(error: Self.busy) }
        let shared = shared
        let ticking = Task {
            signs.yield(TestCallSign(state: .open))
            let end = ContinuousClock.now + limit
            while !Task.isCancelled, ContinuousClock.now < end {
                try? await Task.sleep(for: .seconds(1))
                signs.yield(TestCallSign(state: shared.isDraining ? .draining : .alive))
            }
            signs.yield(TestCallSign(state: .end, reason: "its time is over"))
            signs.finish()
        }
        signs.onTermination = { [weak self] _ in
            ticking.cancel()
            self?.close(id)
        }
        return stream
    }

    private static let busy = "a test call runs already, or the gateway is stopping; wait for the end of the other one"

    private func close(_ id: Int) {
        state.withLock { state in
            guard state.running?.id == id else { return }
            state.running = nil
            settings.use(nil as TestCaller?)
        }
    }

    /// Runs until the service group shuts down; then a running test ends.
    func run() async throws {
        try? await gracefulShutdown()
        let running = state.withLock { state in
            state.hasStopped = true
            return state.running
        }
        running?.signs.yield(TestCallSign(state: .end, reason: "the gateway stops"))
        running?.signs.finish()
    }
}

extension TestCallService {
    /// A good order with what it means.
    private struct Checked {
        let plan: TestCallPlan
        let number: E164Number
        let destination: GatewayTopology.Destination
        /// Position of the local socket for the caller.
        let socket: Int
    }

    /// - Parameter isBegun: whether the call may be one in progress, which goes on in a drain.
    private func checked(
        _ order: TestCallOrder, isBegun: Bool = false
    ) async throws(ControlProblem) -> Checked {
        if let problem = order.problem { throw ControlProblem(error: problem) }
        if shared.isDraining, !isBegun {
            throw ControlProblem(error: "the gateway drains and takes no new call; see herald drain --off")
        }
        let topology = settings.current.load().topology
        let trunk = try self.trunk(order.trunk, in: topology)
        let socket = try self.socket(for: trunk, in: topology)
        let invite = try self.invite(to: order.to, at: socket)
        guard !topology.isEmergency(invite, on: trunk) else {
            throw ControlProblem(
                error:
                    "\(TerminalText.visible(order.to)) is an emergency number on trunk \(trunk.name); no test calls it")
        }
        let destination = topology.destination(of: invite, on: trunk)
        guard !destination.isRejected else {
            throw ControlProblem(
                error: "no route has \(TerminalText.visible(order.to)), and routes.default rejects such a call with 404"
            )
        }
        if !isBegun { try await requireTarget(of: destination.pbx) }
        let index = (destination.route?.customer?.branding ?? shared.branding).load().index
        let number = try self.number(order.from, on: trunk, in: index)
        let host = Self.host(of: socket.address)
        let plan = TestCallPlan(
            trunk: trunk.name, isTrusted: trunk.isTrusted,
            policy: (destination.route?.policy ?? trunk.policy).rawValue, pbx: destination.pbx.name,
            from: number.description, brand: index.entry(for: number).map { index.text(.name, $0) }, to: order.to,
            returnsAnswered: settings.configuration.returnPolicy.originals == .any, host: host,
            port: Int(socket.address.port), transport: socket.transport == .tcp ? .tcp : .udp)
        return Checked(plan: plan, number: number, destination: destination, socket: socket.position)
    }

    private func trunk(_ name: String?, in topology: GatewayTopology) throws(ControlProblem) -> TrunkPeer {
        if let trunk = topology.trunks.first(where: { name == nil || $0.name == name }) { return trunk }
        throw ControlProblem(error: topology.noTrunk(named: name ?? ""))
    }

    /// The address for the caller: that of the trunk where it is one of UDP, else any of UDP, else one of TCP.
    ///
    /// A phone's BYE cannot come back by a TLS connection of the caller, which has proved no name (RFC 5923 §9).
    private func socket(
        for trunk: TrunkPeer, in topology: GatewayTopology
    ) throws(ControlProblem) -> LocalSocket {
        let away = shared.away.positions
        for transport in [SIPTransportKind.udp, .tcp] {
            let usable = topology.sockets.filter { $0.transport == transport && !away.contains($0.position) }
            if let socket = usable.first(where: { $0.position == trunk.socket }) ?? usable.first { return socket }
        }
        throw ControlProblem(
            error: "a test call comes by UDP or TCP, and this machine has no such address of listen; add one, such as "
                + "127.0.0.1:5060")
    }

    private func invite(to user: String, at socket: LocalSocket) throws(ControlProblem) -> SIPMessage {
        let host = Self.bracketed(Self.host(of: socket.address))
        let text = "INVITE sip:\(user)@\(host) SIP/2.0\r\nTo: <sip:\(user)@\(host)>\r\n\r\n"
        do {
            return try SIPMessage.index(Array(text.utf8).span, limits: SIPLimits())
        } catch {
            throw ControlProblem(error: "\(TerminalText.visible(user)) cannot be called: \(error)")
        }
    }

    private func requireTarget(of pbx: PBXPeer) async throws(ControlProblem) {
        guard !pbx.targets.isFit(at: Moment.now().milliseconds) else { return }
        let causes = await targets().filter { $0.group == "pbx \(pbx.name)" }.map(\.sentence)
        throw ControlProblem(
            error: "no target of pbx \(pbx.name) takes calls: " + causes.joined(separator: "; ")
                + "; see herald targets")
    }

    private func number(
        _ text: String?, on trunk: TrunkPeer, in index: BrandIndex
    ) throws(ControlProblem) -> E164Number {
        guard let text else {
            guard let number = index.lowestNumber else {
                throw ControlProblem(error: "no brand is stored here; give --from NUMBER, or see herald sync")
            }
            return number
        }
        guard let number = PastedCaller(text).number(by: trunk.normaliser) else {
            throw ControlProblem(
                error:
                    "\(TerminalText.visible(text)) is not certain on trunk \(trunk.name): write + and the country code")
        }
        return number
    }

    /// The host to send to; that of the loopback for a wildcard.
    private static func host(of address: PeerAddress) -> String {
        let isWildcard = address.high == 0 && address.low == 0
        guard isWildcard else { return address.bareHostText }
        return address.isIPv6 ? "::1" : "127.0.0.1"
    }

    static func bracketed(_ host: String) -> String { host.contains(":") ? "[\(host)]" : host }
}

/// The running gateway in the role of the place of test calls.
protocol TestCallSource: Sendable {
    /// Checks an order without a call.
    ///
    /// - Throws: for an order that cannot be carried out, and why.
    func plan(_ order: TestCallOrder) async throws(ControlProblem) -> TestCallPlan

    /// Takes the call of a caller as a test call, until the stream ends.
    ///
    /// - Parameters:
    ///   - caller: the address and port that the caller sends from.
    ///   - callID: the Call-ID of its INVITE; other messages from there are those of an unknown peer.
    /// - Throws: for an order that cannot be carried out, and while another test runs.
    func begin(
        _ order: TestCallOrder, caller: String, callID: String
    ) async throws(ControlProblem) -> AsyncStream<TestCallSign>
}
