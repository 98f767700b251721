// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import GatewayConfiguration
import Host

/// The entry point of the program.
@main
enum HeraldProgram {
    static func main() {
        ProgramStart.check(Herald.tree)
        ProgramStart.run {
            await Herald.main()
            Herald.exit()
        }
    }
}

/// The gateway and the operator's commands.
struct Herald: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "herald",
        abstract: "A SIP proxy that adds the caller's brand to calls: a name, a logo and a reason.",
        discussion: """
            Example:
              herald check-config --config /etc/herald/herald.yaml
              herald run --config /etc/herald/herald.yaml
            """,
        version: HeraldVersion.current,
        subcommands: [
            SetupCommand.self, RunCommand.self, CheckConfigCommand.self, DoctorCommand.self, LookupCommand.self,
            SimulateCommand.self, ReplayCommand.self, StatusCommand.self, SyncCommand.self, ReloadCommand.self,
            DrainCommand.self,
            LogLevelCommand.self, TargetsCommand.self, RoutesCommand.self, CustomersCommand.self, BrandsCommand.self,
            CallsCommand.self, AlarmsCommand.self,
            EventsCommand.self, LogosCommand.self, TraceCommand.self, TestCallCommand.self, TrustCommand.self,
            BackupCommand.self, RestoreCommand.self,
        ])
}

extension ParsableCommand {
    /// The command with its subcommands.
    fileprivate static var tree: CommandTree {
        CommandTree(
            _commandName, configuration.subcommands.map { $0.tree }, isComplete: configuration.defaultSubcommand != nil)
    }
}
