import { bootTime } from '../../../shared/boot-clock.ts';
import { ApiError, messageOf } from '../../../shared/errors.ts';
import { operatorFiles } from '../../../shared/operator/operator-files.ts';
import { ensureOperatorKey } from '../../../shared/operator/operator-key.ts';
import { endPresence, RENEW_MS, renewPresence, STALE_S } from '../../../shared/operator/presence.ts';
import { plainText } from '../../../shared/plain-text.ts';
import { EXIT } from '../../cli/exit-codes.ts';
import { NodeCommand } from '../../cli/node-command.ts';
import { operatorIdentity, operatorSigner } from './operator-signer.ts';

export default class OperatorHoldCommand extends NodeCommand {
  static override summary = 'Say that a person stands by, as long as this runs: AI clients may then fly.';
  static override description =
    `Run it in a terminal on the machine of the connector, as the same user. The signal is signed with your key. It is renewed every second and is stale after ${STALE_S} s. Each call that it lets through is shown with its time and its arguments. Calls to nodes of a fleet are signed one by one and shown, those of the class flight only. Ctrl-C ends it.`;
  static override examples = ['<%= config.bin %> operator hold'];

  async run(): Promise<void> {
    await this.parse(OperatorHoldCommand);
    if (!process.stdin.isTTY) this.error('A person must hold this, in a terminal.', { exit: EXIT.usage });
    const files = operatorFiles(process.env);
    if (await ensureOperatorKey(files)) this.log(`A key was made: ${files.key}`);
    const ended = new AbortController();
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, () => ended.abort());
    this.log(`Your key, for fleet.operators: ${(await operatorIdentity(files)).public}`);
    const signer = operatorSigner({
      files,
      path: files.holdSocket,
      how: 'hold',
      allow: async ({ node, method, path, body }, scope) => {
        if (scope !== 'flight')
          throw new ApiError(
            'E_SCOPE',
            'A call that destroys something is not signed by holding: a person runs `svc operator confirm CODE`.',
          );
        const what = body === undefined ? '' : ` ${JSON.stringify(body)}`;
        // Whole, and so that it steers no terminal.
        this.log(plainText(`signed  ${node}  ${method} ${path}${what}`));
        return Promise.resolve();
      },
      show: ({ tool, node, args }) => {
        const time = new Date().toTimeString().slice(0, 8);
        this.log(plainText(`${time}  ${tool}  ${node}  ${args}`));
      },
      onError: (error) => this.warn(messageOf(error)),
    });
    const shell = process.ppid;
    await signer.start();
    await renewPresence(files, bootTime(), process.pid);
    this.log('You stand by. AI clients of this machine may arm and fly. Ctrl-C to end it.');
    // Without the shell that started it, nobody holds it any more.
    while (!ended.signal.aborted && process.ppid === shell) {
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, RENEW_MS);
        ended.signal.addEventListener('abort', () => {
          clearTimeout(timer);
          resolve();
        });
      });
      if (!ended.signal.aborted && process.ppid === shell)
        await renewPresence(files, bootTime(), process.pid);
    }
    await signer.stop();
    await endPresence(files);
    this.log('You no longer stand by.');
  }
}
