// SPDX-License-Identifier: Apache-2.0

package import ConfigurationFiles
import GatewayConfiguration
package import GatewayStore
import GatewaySync
package import Logging
package import ServiceLifecycle
import Synchronization

/// The operator's own outputs of ended calls, which a reload replaces one by one.
///
/// An output whose settings are the same keeps running. The calls wait in the ledger's queue, so a change of an output
/// neither loses nor repeats one.
package final class CallOutputs: ReloadablePart {
    private let file: Slot<FileSettings>
    private let webhook: Slot<HeraldConfiguration.Webhook>
    private let kafka: Slot<KafkaOutputSettings>
    let queue: CallOutputStore
    private let links: CallLinks

    private struct FileSettings: Hashable, Sendable {
        let path: String
        let format: HeraldConfiguration.RecordFormat

        init?(_ outcomes: HeraldConfiguration.Outcomes) {
            guard let path = outcomes.recordFile else { return nil }
            self.path = path
            format = outcomes.recordFormat
        }
    }

    package init(_ configuration: HeraldConfiguration, _ database: HeraldDatabase, logger: Logger) {
        let (queue, links, outcomes) = (
            CallOutputStore(database), CallLinks(configuration), configuration.outcomes
        )
        (self.queue, self.links) = (queue, links)
        file = Slot(FileSettings(outcomes), logger) {
            CallFileOutput(queue, path: $0.path, format: $0.format, links: links)
        }
        webhook = Slot(outcomes.webhook, logger) {
            CallWebhookOutput(queue, CallWebhook(url: $0.url, secret: $0.secret.reveal()), links: links)
        }
        kafka = Slot(KafkaOutputSettings(outcomes), logger) {
            CallKafkaOutput(queue, $0.kafka, logger: logger, links: links)
        }
    }

    /// The services of all outputs.
    package var services: [any Service] { [file.services, webhook.services, kafka.services] }

    /// The configured outputs with their counts and problems.
    var standings: [(CallOutputSink, CallOutputStanding)] {
        (file.isUsed ? [(.file, file.standing)] : []) + (webhook.isUsed ? [(.webhook, webhook.standing)] : [])
            + (kafka.isUsed ? [(.kafka, kafka.standing)] : [])
    }

    package func prepare(_ next: HeraldConfiguration) -> (@Sendable () async -> Void)? {
        let steps = [
            file.change(to: FileSettings(next.outcomes)), webhook.change(to: next.outcomes.webhook),
            kafka.change(to: KafkaOutputSettings(next.outcomes)), links.change(to: next),
        ]
        let due = steps.compactMap { $0 }
        guard !due.isEmpty else { return nil }
        return { for step in due { step() } }
    }
}

/// One output with the settings that it runs with.
private final class Slot<Settings: Equatable & Sendable>: Sendable {
    let services: ReplaceableServices
    let standing = CallOutputStanding()
    private let running: Mutex<Settings?>
    private let logger: Logger
    private let make: @Sendable (Settings) -> any CallRecordOutput

    init(_ settings: Settings?, _ logger: Logger, make: @escaping @Sendable (Settings) -> any CallRecordOutput) {
        self.make = make
        self.logger = logger
        running = Mutex(settings)
        services = ReplaceableServices(logger: logger, Self.generation(settings, standing, logger, make))
    }

    /// Whether the output is configured.
    var isUsed: Bool { running.withLock { $0 != nil } }

    /// The step to other settings; nil where they are the same.
    func change(to next: Settings?) -> (@Sendable () -> Void)? {
        guard running.withLock({ $0 }) != next else { return nil }
        return { [self] in
            running.withLock { $0 = next }
            services.replace(with: Self.generation(next, standing, logger, make))
        }
    }

    private static func generation(
        _ settings: Settings?, _ standing: CallOutputStanding, _ logger: Logger,
        _ make: @escaping @Sendable (Settings) -> any CallRecordOutput
    ) -> ReplaceableServices.Generation {
        {
            standing.settle()
            guard let settings else { return [] }
            return [CallOutputService(make(settings), standing: standing, logger: logger)]
        }
    }
}
