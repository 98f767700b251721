// SPDX-License-Identifier: Apache-2.0

package import ConfigurationFiles
import GatewayDoors
package import Host
import SIPCore

extension HeraldConfiguration {
    /// The limit of open files of this process, raised to the need of this configuration.
    package var openFiles: OpenFiles {
        let hasStreams = listen.contains { $0.transport != .udp }
        // The directory of each customer may have two connections. Copies of logos keep the brand file open.
        let accounts = 2 * customers.count + 6 * customers.count { $0.logoHosts != nil }
        let connections = (hasStreams ? streams.connections : 0) + accounts
        let http =
            (admin == nil ? 0 : AdminServer.mostConnections) + (logos == nil ? 0 : LogoServer.Limits().connections)
            + (doors.names == nil ? 0 : DoorPlaces.Limits().most)
            + (doors.outcomes == nil ? 0 : DoorPlaces.Limits().most)
            + (doors.verification == nil ? 0 : DoorPlaces.Limits().most)
            + (doors.callingNames == nil ? 0 : NumberZoneServer.mostSockets) + (doors.redirect == nil ? 0 : 1)
            + ControlServer.connections
        return OpenFiles.allow(connections: connections, http: http)
    }
}
