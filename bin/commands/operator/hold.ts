import { bootTime } from '../../../shared/operator/boot-clock.ts';
import { operatorFiles } from '../../../shared/operator/operator-files.ts';
import { endPresence, RENEW_MS, renewPresence, STALE_S } from '../../../shared/operator/presence.ts';
import { NodeCommand } from '../../node-command.ts';

export default class OperatorHoldCommand extends NodeCommand {
  static override summary =
    'Say that a person stands by, as long as this runs: AI clients may then use flight tools.';
  static override description =
    `Run it on the machine of the connector, as the same user. The signal is renewed every second and is stale after ${STALE_S} s. Ctrl-C ends it.`;
  static override examples = ['<%= config.bin %> operator hold'];

  async run(): Promise<void> {
    await this.parse(OperatorHoldCommand);
    const files = operatorFiles(process.env);
    const ended = new AbortController();
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, () => ended.abort());
    await renewPresence(files, bootTime(), process.pid);
    this.log('You stand by. AI clients of this machine may arm and fly. Ctrl-C to end it.');
    while (!ended.signal.aborted) {
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, RENEW_MS);
        ended.signal.addEventListener('abort', () => {
          clearTimeout(timer);
          resolve();
        });
      });
      if (!ended.signal.aborted) await renewPresence(files, bootTime(), process.pid);
    }
    await endPresence(files);
    this.log('You no longer stand by.');
  }
}
